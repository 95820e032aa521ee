/*
 * Volume moves of hard particles at constant pressure, in whole numbers: no float, so all devices
 * and hosts have the same bits.
 *
 * The volume V is kept as its logarithm, in 2^-36. Particles keep their places in units of their
 * cells, which grow and shrink with the box: only r^2 of contact changes, as V^(-2/d). A trial
 * changes ln V by a number that is uniform and as likely up as down, so it is accepted with
 *
 *     min(1, exp((N + 1) (ln V' - ln V) - beta P (V' - V)))
 *
 * if no pair is nearer than contact then is: N powers of V are from scaled positions, one is the
 * Jacobian of a step in ln V (R. Eppenga, D. Frenkel, Mol. Phys. 52, 1303 (1984)).
 */
#ifndef ERGO_CL_VOLUME_H
#define ERGO_CL_VOLUME_H

#include "common/rng.h"

#ifdef __OPENCL_VERSION__
typedef long ergo_long;
#define ERGO_VOLUME_TABLE __constant
#else
typedef int64_t ergo_long;
#define ERGO_VOLUME_TABLE static const
#endif

#define ERGO_VOLUME_BITS 36
#define ERGO_VOLUME_ONE 0x4000000000000000UL /* 1 in 2^-62 */
#define ERGO_VOLUME_LARGEST 44 /* ln V in whole numbers, either way: V up to e^44 = 1e19 */

/* The high half of a product. */
ERGO_INLINE ulong ergo_volume_high(ulong a, ulong b) {
    const ulong al = a & 0xffffffffUL, ah = a >> 32, bl = b & 0xffffffffUL, bh = b >> 32;
    const ulong low = al * bl, one = ah * bl + (low >> 32), two = al * bh + (one & 0xffffffffUL);
    return ah * bh + (one >> 32) + (two >> 32);
}

/* A positive number: mantissa 2^(exponent - 62), with 2^62 <= mantissa < 2^63. */
struct ergo_scaled {
    ulong mantissa;
    ergo_long exponent;
};

/* 2^(63 + s)/i rounded up, where 2^s is the largest power of two in i = 1 to 24. */
ERGO_VOLUME_TABLE ulong ergo_volume_parts[24] = {
    0x8000000000000000UL, 0x8000000000000000UL, 0x5555555555555556UL, 0x8000000000000000UL,
    0x6666666666666667UL, 0x5555555555555556UL, 0x4924924924924925UL, 0x8000000000000000UL,
    0x71c71c71c71c71c8UL, 0x6666666666666667UL, 0x5d1745d1745d1746UL, 0x5555555555555556UL,
    0x4ec4ec4ec4ec4ec5UL, 0x4924924924924925UL, 0x4444444444444445UL, 0x8000000000000000UL,
    0x7878787878787879UL, 0x71c71c71c71c71c8UL, 0x6bca1af286bca1b0UL, 0x6666666666666667UL,
    0x6186186186186187UL, 0x5d1745d1745d1746UL, 0x590b21642c8590b3UL, 0x5555555555555556UL,
};

/* x / i rounded down, for x up to 2^62. GPUs have no division: one of 64 bits is some 70
 * instructions. A part is too large by less than 1, and so the quotient by less than 2^-(s + 1),
 * which is below 1/i. */
ERGO_INLINE ulong ergo_volume_divided(ulong x, uint i) {
    return ergo_volume_high(2UL * x, ergo_volume_parts[i - 1u]) >> (31u - ERGO_CLZ(i));
}

/* exp of x 2^-36, |x| < 2^42, to 2^-50 of itself: powers of two, then the series of what is left of
 * x, below ln 2. */
ERGO_INLINE struct ergo_scaled ergo_volume_exp(ergo_long x) {
    const ergo_long ln2 = 49946518145322874L; /* in 2^-56 */
    struct ergo_scaled e;
    const ergo_long wide = x * 1048576L; /* in 2^-56 */
    e.exponent = wide / ln2 - (wide % ln2 < 0L ? 1L : 0L);
    const ulong rest = (ulong)(wide - e.exponent * ln2) << 7; /* in 2^-63 */
    e.mantissa = 1UL << 62;
    for (uint i = 24u; i > 0u; i--)
        e.mantissa = (1UL << 62) + ergo_volume_divided(2UL * ergo_volume_high(rest, e.mantissa), i);
    return e;
}

/* Such a number in units of 2^-bits, rounded down; it has to be below 2^63 then. */
ERGO_INLINE ulong ergo_volume_whole(struct ergo_scaled e, uint bits) {
    const ergo_long shift = 62L - (ergo_long)bits - e.exponent;
    return shift > 63L ? 0UL : shift >= 0L ? e.mantissa >> shift : e.mantissa << -shift;
}

/* r^2 of contact at that ln V: exp(scale - (2/d) ln V), rounded up. `scale` is for V = 1. */
ERGO_INLINE ulong ergo_volume_contact(ergo_long scale, ergo_long volume, uint dimensions) {
    const struct ergo_scaled e =
        ergo_volume_exp((dimensions * scale - 2L * volume) / (ergo_long)dimensions);
    const uint shift = (uint)(62L - e.exponent);
    return (e.mantissa >> shift) + ((e.mantissa & ((1UL << shift) - 1UL)) ? 1UL : 0UL);
}

/* Constants of a member's volume moves. */
struct ergo_volume_rules {
    ulong n;            /* particles */
    ergo_long pressure; /* ln(beta P), in 2^-36 */
    ergo_long scale;    /* see ergo_volume_contact */
    ulong step;         /* largest change of ln V, of the start where it is tuned */
    ulong contact[2];   /* smallest and largest r^2 of contact that the cells allow */
    ulong tuned;        /* sweeps during which it is tuned; 0: it is not */
    ulong most;         /* and the largest one allowed then */
};
#define ERGO_VOLUME_RULES_BYTES 64
/* A tuned step is a multiple of this: a flipped bit makes another number of it. */
#define ERGO_VOLUME_UNIT 17UL

struct ergo_volume {
    ergo_long size; /* ln V */
    /* per axis: ln(L_y/L_x) and ln(L_z/L_x) less those of the start, else 0 */
    ergo_long stretch[2];
    uint accepted; /* of the last trial: accepted, */
    uint limited;  /* refused because of the cells */
    ulong trace; /* a checksum of the closest pairs of all trials: most of them decide nothing, and
                    an audit has to see that each was found */
    ulong step;  /* largest change of ln V */
};
#define ERGO_VOLUME_BYTES 48

/* A trial change of ln V, from 65 random bits. */
ERGO_INLINE ergo_long ergo_volume_change(struct ergo_words r, ulong step) {
    const ergo_long size = (ergo_long)ergo_volume_high((ulong)r.x << 32 | r.y, step + 1UL);
    return r.z >> 31 ? size : -size;
}

/* The volume that a trial proposes. Where sides change one by one, the axis is from word 3 of draw
 * 0, and the change of ln V that of ln of its side: each side has a step of its own, so the
 * Jacobian is the product of the sides, V, as for all together. */
ERGO_INLINE struct ergo_volume ergo_volume_proposed(struct ergo_volume volume,
                                                    struct ergo_words one, uint dimensions,
                                                    uint per_axis) {
    const ergo_long change = ergo_volume_change(one, volume.step);
    volume.size += change;
    if (per_axis) {
        const uint axis = ergo_below(one.w, dimensions);
        volume.stretch[0] += axis == 0u ? -change : axis == 1u ? change : 0L;
        if (dimensions > 2u)
            volume.stretch[1] += axis == 0u ? -change : axis == 2u ? change : 0L;
    }
    return volume;
}

/* exp of x 2^-36 in 2^-62, from 1/3.9999 to 3.9999: the square of a ratio of cells' sides, of which
 * cells allow less. */
ERGO_INLINE ulong ergo_volume_ratio(ergo_long x) {
    const ergo_long most = 95263705089L;
    return ergo_volume_whole(ergo_volume_exp(x > most ? most : x < -most ? -most : x), 62u);
}

/* a + (b y)^2 rounded down, where b^2 is such a ratio. */
ERGO_INLINE ulong ergo_volume_add_square(ulong a, ergo_long y, ulong ratio) {
    const ulong y2 = (ulong)(y * y);
    return a + (ratio == ERGO_VOLUME_ONE ? y2 : ergo_volume_high(y2 << 2, ratio));
}

/* d ln(L_x) and a constant, which is 0 where all sides change together. */
ERGO_INLINE ergo_long ergo_volume_along(struct ergo_volume volume) {
    return volume.size - volume.stretch[0] - volume.stretch[1];
}

/* The exponent (N + 1) change - beta P (V' - V), in 2^-20. */
ERGO_INLINE ergo_long ergo_volume_exponent(struct ergo_volume_rules rules, ergo_long size,
                                           ergo_long change) {
    const ulong now = ergo_volume_whole(ergo_volume_exp(rules.pressure + size), 20u);
    const ulong then = ergo_volume_whole(ergo_volume_exp(rules.pressure + size + change), 20u);
    return (ergo_long)(rules.n + 1UL) * change / 65536L - ((ergo_long)then - (ergo_long)now);
}

/* With probability exp(exponent 2^-20), from 64 random bits. */
ERGO_INLINE uint ergo_volume_accepts(ergo_long exponent, struct ergo_words r) {
    if (exponent >= 0L)
        return 1u;
    if (exponent < -46137344L) /* below 2^-63 */
        return 0u;
    const struct ergo_scaled e = ergo_volume_exp(exponent * 65536L);
    const ergo_long shift = -e.exponent - 2L;
    return (uint)(((ulong)r.x << 32 | r.y) <
                  (shift < 0L ? e.mantissa << -shift : e.mantissa >> shift));
}

/* A trial: *volume and *contact afterwards. `least`: smallest r^2 of two particles; where sides
 * change one by one, with the proposed ones. */
ERGO_INLINE void ergo_volume_trial(struct ergo_volume_rules rules, struct ergo_words one,
                                   struct ergo_words two, uint dimensions, uint per_axis,
                                   ulong least, struct ergo_volume *volume, ulong *contact) {
    const struct ergo_volume next = ergo_volume_proposed(*volume, one, dimensions, per_axis);
    const ergo_long change = next.size - volume->size;
    volume->trace = (volume->trace ^ least) * 0x9E3779B97F4A7C15UL;
    const ulong to = ergo_volume_contact(rules.scale, ergo_volume_along(next), dimensions);
    volume->limited = (uint)(to < rules.contact[0] || to > rules.contact[1]);
    volume->accepted = !volume->limited && least >= to &&
                       ergo_volume_accepts(ergo_volume_exponent(rules, volume->size, change), two);
    if (volume->accepted) {
        volume->size = next.size;
        volume->stretch[0] = next.stretch[0];
        volume->stretch[1] = next.stretch[1];
        *contact = to;
    }
}

/* The step after a trial, the tuning's number `before`: it grows by `up` parts or shrinks by 2, so
 * of 5, 2/7 are accepted in the end. For hard particles whose places are scaled, ln V lies above
 * the volume at which the first two touch by a length with an exponential distribution. Of a
 * uniform step s in units of its mean, (1 - exp(-s)) / s are accepted, and the mean square change
 * is largest at s = 3.4, where that is 0.286. Of a normal distribution, soft particles', it is
 * 0.42. */
ERGO_INLINE ulong ergo_volume_tuned(ulong step, ulong most, ulong before, ulong up, uint accepted) {
    const ulong parts = 8UL + (before < 248UL ? before : 248UL), now = step / ERGO_VOLUME_UNIT;
    const ulong next = accepted ? now + (up * now + parts - 1UL) / parts : now - 2UL * now / parts;
    return ERGO_VOLUME_UNIT * (next < most / ERGO_VOLUME_UNIT ? next : most / ERGO_VOLUME_UNIT);
}

/* A draw of the move after the sweep of that step. */
ERGO_INLINE struct ergo_words ergo_volume_words(uint key0, uint key1, ulong step, uint purpose,
                                                uint draw) {
    return ergo_philox_words(0u, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, draw), key0,
                             key1);
}

/* A trial after the sweep of that step, with draws 0 and 1 of `purpose` and entity 0. Where the
 * step is tuned and the closest pair is the same for all trials, it has four, with two draws each:
 * the density decorrelates three times as fast. */
ERGO_INLINE void ergo_volume_move(struct ergo_volume_rules rules, uint key0, uint key1, ulong step,
                                  uint purpose, uint dimensions, uint per_axis, ulong least,
                                  struct ergo_volume *volume, ulong *contact) {
    const uint draws = rules.tuned && !per_axis ? 8u : 2u;
    for (uint draw = 0u; draw < draws; draw += 2u) {
        const struct ergo_words one = ergo_volume_words(key0, key1, step, purpose, draw);
        const struct ergo_words two = ergo_volume_words(key0, key1, step, purpose, draw + 1u);
        ergo_volume_trial(rules, one, two, dimensions, per_axis, least, volume, contact);
        if (step < rules.tuned)
            volume->step = ergo_volume_tuned(volume->step, rules.most, step, 5UL, volume->accepted);
    }
}

#ifndef __OPENCL_VERSION__
/* The largest x with exp(x 2^-36) <= value, for e^-44 <= value <= e^44: a logarithm that does not
 * depend on the host's. */
ERGO_INLINE ergo_long ergo_volume_log(double value) {
    ergo_long low = -(44L << ERGO_VOLUME_BITS), high = 44L << ERGO_VOLUME_BITS;
    while (low + 1L < high) {
        const ergo_long middle = low + (high - low) / 2L;
        const struct ergo_scaled e = ergo_volume_exp(middle);
        double power = (double)e.mantissa * 0x1p-62; /* exactly scaled by powers of two */
        for (ergo_long k = 0; k < e.exponent; k++)
            power *= 2.0;
        for (ergo_long k = 0; k > e.exponent; k--)
            power *= 0.5;
        if (power <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}
#endif

#endif
