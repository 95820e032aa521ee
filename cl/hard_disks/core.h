/*
 * Hard disks in checkerboard cells (Anderson, Jankowski, Grubb, Engel, Glotzer, J. Comput. Phys.
 * 254, 27 (2013)): the random choices of a sweep as pure functions, in C and in OpenCL C.
 */
#ifndef ERGO_CL_HARD_DISKS_CORE_H
#define ERGO_CL_HARD_DISKS_CORE_H

#include "common/rng.h"
#include "common/unit.h"
#include "hard_disks/params.h"

/* The plan of a sweep: lines 2, 15 and 16 of Algorithm 1. The distance has a bias of 2^-10 of a
 * unit. It breaks no balance, because both senses of a shift are equally likely at every distance.
 */
ERGO_INLINE uint disks_plan_for(uint purpose, uint key0, uint key1, ulong step, uint width,
                                uint shuffle) {
    const struct ergo_words r =
        ergo_philox_words(0u, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, 0), key0, key1);
    uint order = 0xE4u; /* 0, 1, 2, 3 */
    if (shuffle) {      /* Fisher-Yates, all of it from one number below 4! */
        uint k = ergo_below(r.x, 24u);
        for (uint i = 3u; i > 0u; i--) {
            const uint j = k % (i + 1u);
            const uint change = ((order >> 2u * i) ^ (order >> 2u * j)) & 3u;
            k /= i + 1u;
            order ^= (change << 2u * i) | (change << 2u * j); /* if i == j, change is 0 */
        }
    }
    return order | (r.z >> 30) << DISKS_PLAN_DIRECTION |
           ergo_below(r.y, width / 2u) << DISKS_PLAN_DISTANCE;
}

ERGO_INLINE uint disks_plan(uint key0, uint key1, ulong step, uint width, uint shuffle) {
    return disks_plan_for(DISKS_PURPOSE_GRID, key0, key1, step, width, shuffle);
}

/* r^2 in units of x, of differences below 2^31; ratio: (w_y/w_x)^2 in 2^-62. */
ERGO_INLINE ulong disks_r2(disks_long dx, disks_long dy, ulong ratio) {
    return ergo_volume_add_square((ulong)(dx * dx), dy, ratio);
}

/* To the nearest integer, |x| <= 2^22. */
ERGO_INLINE float disks_round(float x) {
    return (x + 12582912.0f) - 12582912.0f;
}

/*
 * A displacement uniform in a circle (line 8 of Algorithm 1), in whole units, from 56 random bits.
 * It needs no square root: the larger of two uniform numbers has the distribution of the radius.
 *
 * The direction is taken in one quadrant and reflected by two random bits. So (dx, dy), (-dx, dy),
 * (dx, -dy) and (-dx, -dy) have exactly the same probability, whatever the rounding. Detailed
 * balance asks no more. Where units differ along x and y, so do the steps.
 */
ERGO_INLINE void disks_displacement(uint a, uint b, float step_x, float step_y, float *dx,
                                    float *dy) {
    const uint high = a >> 16, low = a & 0xffffu, larger = high > low ? high : low;
    const float radius = (float)(2u * larger + 1u);
    const float t = (float)(((b & 0xffffffu) >> 2) * 2u + 1u) * 0x1p-23f;
    const float x = disks_round(radius * step_x * ergo_quarter_sine(1.0f - t));
    const float y = disks_round(radius * step_y * ergo_quarter_sine(t));
    *dx = ergo_as_float(ergo_as_uint(x) ^ (b << 31));
    *dy = ergo_as_float(ergo_as_uint(y) ^ ((b & 2u) << 30));
}

/* ---- reflections (reflect.h) ------------------------------------------------------------------
 */

/*
 * How far along a line, from a point `across` beside a disk, another disk's centre must be away:
 * not more than sqrt(contact - across^2), and 0 if that is not positive. A reciprocal square root
 * by bits and one step of Newton, which never leads too far: with the first number below, the best
 * by trial, 0.9982 to 1 of the root. The second is 3 / 4^(1/3), which saves a product, less 2e-6
 * for rounding. Only * and fma.
 */
#define DISKS_DEFINE_CHORD(name, type, uints, as_uints, as_floats)                                 \
    ERGO_INLINE type name(type across, float contact) {                                            \
        const type rest = ERGO_FMA((type)0.0f - across, across, (type)(contact));                  \
        const type h = DISKS_MORE_THAN_NONE(rest);                                                 \
        const type r = as_floats((uints)(0x5f0b2c22u) - (as_uints(h) >> 1)), a = h * r;            \
        return a * ERGO_FMA((type)0.0f - a, r, (type)(1.8898777f));                                \
    }
#ifdef __OPENCL_VERSION__
#define DISKS_MORE_THAN_NONE(x) fmax(x, 0.0f)
#else
#define DISKS_MORE_THAN_NONE(x) ((x) > 0.0f ? (x) : 0.0f)
#endif
DISKS_DEFINE_CHORD(disks_chord, float, uint, ergo_as_uint, ergo_as_float)

/* The move of a disk at u, if `low` to `high` are free. */
ERGO_INLINE float disks_reflection(float u, float low, float high, uint bits) {
    const float any = low + (float)ergo_below(bits, (uint)(high - low) + 1u);
    return bits & 3u ? (low - u) + high : any;
}

/* Does line number s of a sweep run along y? */
ERGO_INLINE uint disks_along_y(ulong step, uint s) {
    return ((uint)step ^ s) & 1u;
}

/* One coordinate of the grid's origin after a shift. `side` is the box length in units. */
ERGO_INLINE ulong disks_grid(ulong origin, uint plan, ulong side) {
    const ulong distance = plan >> DISKS_PLAN_DISTANCE;
    const ulong moved =
        plan >> DISKS_PLAN_DIRECTION & 1u ? origin + distance : origin + side - distance;
    return moved >= side ? moved - side : moved;
}

/* Random bits for the shuffle of a cell: those that the moves of draws 0 and 1 do not use. */
ERGO_INLINE uint disks_spare(struct ergo_words r0, struct ergo_words r1) {
    return (r0.y >> 24) | (r0.w >> 24) << 8 | (r1.y >> 24) << 16 | (r1.w >> 24) << 24;
}

/* ---- constant pressure ----------------------------------------------------------------------- */

/* (w_y/w_x)^2 at that volume. */
ERGO_INLINE ulong disks_ratio_at(struct disks_rules rules, struct ergo_volume volume) {
    return ergo_volume_ratio(rules.aspect + 2L * volume.stretch[0]);
}

/* What cells of that ratio allow of contact: the smaller side's square at most, and more than
 * (w_x^2 + w_y^2) / 4, because two of five disks are in one quarter of a cell. */
ERGO_INLINE struct ergo_volume_rules disks_rules_at(struct ergo_volume_rules rules, uint width,
                                                    ulong ratio) {
    const ulong x2 = (ulong)width * width, y2 = disks_r2(0L, (disks_long)width, ratio);
    rules.contact[0] = (x2 + y2) / 4UL + 1UL;
    rules.contact[1] = y2 < x2 ? y2 : x2;
    return rules;
}

/* The ratio by which the closest pair is looked for, before the move of that step. */
ERGO_INLINE ulong disks_ratio_tried(uint key0, uint key1, struct disks_rules rules,
                                    struct ergo_volume volume, ulong step) {
    return disks_ratio_at(
        rules,
        ergo_volume_proposed(volume, ergo_volume_words(key0, key1, step, DISKS_PURPOSE_VOLUME, 0u),
                             2u, (uint)rules.per_axis));
}

/* A positive number as a float, cut to 24 bits. */
ERGO_INLINE float disks_scaled(struct ergo_scaled e) {
    return (float)(uint)(e.mantissa >> 39) * ergo_as_float((uint)(104L + e.exponent) << 23);
}

/* A member's size at that volume; its sides are less than twice those of the start, because cells
 * are. */
ERGO_INLINE struct disks_size disks_size_at(struct disks_rules rules, struct ergo_volume volume) {
    const struct disks_size size = {
        volume, ergo_volume_contact(rules.volume.scale, ergo_volume_along(volume), 2u),
        ergo_volume_whole(ergo_volume_exp(ergo_volume_along(volume) - rules.first), 62u),
        disks_ratio_at(rules, volume)};
    return size;
}

/* r^2 in units of the start, rounded up: contact does not fall below what it was there. */
ERGO_INLINE ulong disks_at_start(ulong r2, ulong growth) {
    return ergo_volume_high(r2 << 2, growth) + 1UL;
}

/* What a member's kernels know of its size. The bounds of r^2 are those of disks_member_fill, each
 * rounded twice: so a little wider. 1/sigma is exp(-ln(sigma^2) / 2), cut to 24 bits. */
ERGO_INLINE struct disks_member disks_resized(struct disks_member member, struct disks_rules rules,
                                              struct disks_size size) {
    const struct ergo_scaled e =
        ergo_volume_exp((ergo_volume_along(size.volume) - rules.volume.scale) / 2L);
    member.contact_high = (float)size.contact;
    /* contact_high as a whole number, by its bits (contact is above 2^24): Mesa 22.3 takes an
     * integer that becomes a float and an integer again for unchanged */
    const uint bits = ergo_as_uint(member.contact_high);
    const ulong high = (ulong)((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23) - 150u);
    const float away =
        (float)(uint)(size.contact < high ? high - size.contact : size.contact - high);
    member.contact_low = size.contact < high ? -away : away;
    const float margin = size.ratio == DISKS_SQUARE ? 0x1.4p-20f : DISKS_MARGIN;
    member.low = member.contact_high * (1.0f - margin);
    member.high = member.contact_high * (1.0f + margin);
    member.contact = size.contact;
    member.inverse = disks_scaled(e);
    if (rules.per_axis) {
        const ergo_long aspect = rules.aspect + 2L * size.volume.stretch[0];
        member.ratio = size.ratio;
        member.square = disks_scaled(ergo_volume_exp(aspect));
        member.aspect[0] = disks_scaled(ergo_volume_exp(aspect / 2L));
        member.aspect[1] = disks_scaled(ergo_volume_exp(aspect / -2L));
    }
    return member;
}

/* ---- random starts -------------------------------------------------------------------------- */

/* r^2 of contact in a sweep of a random start. It grows linearly in the packing fraction, and stays
 * below 2^46, so the product cannot overflow. */
ERGO_INLINE ulong disks_growth_contact(ulong first, ulong last, uint sweep) {
    const uint grown = sweep < DISKS_START_MELT ? 0u : sweep - DISKS_START_MELT;
    return grown < DISKS_START_GROW ? first + (last - first) * grown / DISKS_START_GROW : last;
}

/* Choose one of a cell's n disks, from the bits that its displacement does not use. */
ERGO_INLINE uint disks_growth_slot(uint b, uint n) {
    return (b >> 24) * n >> 8;
}

/* ---- psi_6 ---------------------------------------------------------------------------------- */

/* 1/x for x from 0.5 to 2^20, by Newton's method, because devices do not divide alike. */
ERGO_INLINE float disks_inverse(float x) {
    const float minus = 0.0f - x; /* no sign change: Oclgrind's memory check lacks fneg */
    float y = ergo_as_float(0x7EF311C7u - ergo_as_uint(x));
    y = y * ERGO_FMA(minus, y, 2.0f);
    y = y * ERGO_FMA(minus, y, 2.0f);
    y = y * ERGO_FMA(minus, y, 2.0f);
    return y * ERGO_FMA(minus, y, 2.0f);
}

/* The bonds of a disk: their number, and the sum of exp(6 i theta) over them. */
struct disks_bonds {
    float re, im, count;
};

/*
 * Add a bond to the image of a disk at (u, v) from this one, in sigma, if r^2 <= neighbour. Each
 * image counts separately, also images of the disk itself. The test r^2 > 0.5 leaves out only the
 * disk itself, because nothing else is at a distance below 1.
 */
ERGO_INLINE struct disks_bonds disks_bond(struct disks_bonds sum, float u, float v,
                                          float neighbour) {
    const float r2 = ERGO_FMA(u, u, v * v);
    if (r2 > 0.5f && r2 <= neighbour) {
        const float a = u * u - v * v, b = 2.0f * u * v; /* z^2 */
        const float scale = disks_inverse(r2 * r2 * r2);
        sum.re += (a * a * a - 3.0f * a * b * b) * scale;
        sum.im += (3.0f * a * a * b - b * b * b) * scale;
        sum.count += 1.0f;
    }
    return sum;
}

#endif
