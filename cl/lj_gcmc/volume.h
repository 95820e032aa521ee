/*
 * Volume moves, as pure functions in OpenCL C and C11. All sides of the box change by one factor.
 * Particles keep their fractions of the box, so all distances are scaled, and the sums over pairs
 * are found anew in fixed point. ln V (of V/sigma^3) is a whole number (common/volume.h). At
 * constant pressure a step in it is accepted with
 *
 *     min(1, exp((N + 1) (ln V' - ln V) - beta P (V' - V) - beta (U' - U)))
 *
 * R. Eppenga, D. Frenkel, Mol. Phys. 52, 1303 (1984). In a Gibbs ensemble the two boxes share a
 * volume V1 + V2, and a step in x = ln(V1/V2) is accepted with
 *
 *     min(1, product over the boxes of exp((N + 1) (ln V' - ln V) - beta (U' - U)))
 *
 * A. Z. Panagiotopoulos, Mol. Phys. 61, 813 (1987); the 1 is of dV1 = V1 V2/(V1 + V2) dx.
 */
#ifndef ERGO_CL_LJ_GCMC_VOLUME_H
#define ERGO_CL_LJ_GCMC_VOLUME_H

#include "common/volume.h"
#include "lj_gcmc/core.h"

/* Constants of a member's volume moves; logarithms in units of 2^-36. */
struct lj_volume_rules {
    struct ergo_volume_rules move; /* pressure and step; the chain knows N */
    lj_long start;                 /* ln V at the start */
    lj_long largest;   /* ln V of the first list of cells, which serves larger boxes too */
    lj_long total;     /* of a Gibbs ensemble: ln(V1 + V2) */
    lj_long limits[2]; /* of ln V */
    lj_long side[3];   /* ln of each side, less a third of ln V */
    lj_long tail;      /* ln of the tail's |beta U| V / N^2 */
    lj_long list;      /* ln V from one list of cells to the next, smaller one */
    uint has_tail;     /* 0: none; 1: of negative energy; 2: of positive energy */
    uint turns;        /* volume moves and trials of a transfer, each time */
};
#define LJ_VOLUME_RULES_BYTES 152
#define LJ_VOLUME_STEP_BITS 6 /* a tuned step is a multiple of 2^-30, of a chain in 30 bits */

/* exp(x) 2^-32 for sides up to 2^31, or exp(x) with shift 0: the upper 24 bits of the mantissa. */
ERGO_INLINE float lj_volume_float(lj_long x, uint shift) {
    const struct ergo_scaled e = ergo_volume_exp(x);
    const lj_long power = e.exponent - 23L - (lj_long)shift;
    return (float)(uint)(e.mantissa >> 39) * ergo_as_float((uint)(power + 127L) << 23);
}

/* Side k of the box / 2^32. */
ERGO_INLINE float lj_volume_scale(const struct lj_volume_rules *r, lj_long size, uint k) {
    return lj_volume_float(r->side[k] + size / 3L, 32u);
}

/* Its list of cells. */
ERGO_INLINE uint lj_volume_list(const struct lj_volume_rules *r, lj_long size) {
    return size >= r->largest ? 0u : (uint)((r->largest - size + r->list - 1L) / r->list);
}

/* Give a chain this volume. */
ERGO_INLINE void lj_volume_set(const struct lj_volume_rules *r, lj_long size, struct lj_chain *c) {
    c->size = size;
    for (uint k = 0u; k < 3u; k++)
        c->scale[k] = ergo_as_uint(lj_volume_scale(r, size, k));
    c->thinner = ergo_as_uint(lj_volume_float(r->start - size, 0u));
    c->list = lj_volume_list(r, size);
}

ERGO_INLINE struct ergo_words lj_volume_words(const struct lj_member *m, ulong step, uint draw) {
    return ergo_philox_words(0u, (uint)step, (uint)(step >> 32), ERGO_DRAW(LJ_PURPOSE_VOLUME, draw),
                             m->key0, m->key1);
}

/* The largest change of ln V: as tuned by the moves so far (lj_chain.moved), or the start's. */
ERGO_INLINE ulong lj_volume_step(const struct lj_volume_rules *r, uint moved) {
    return moved >> 2 ? (ulong)(moved >> 2) << LJ_VOLUME_STEP_BITS : r->move.step;
}

/* The trial ln V of the move before step `step`. */
ERGO_INLINE lj_long lj_volume_trial(const struct lj_volume_rules *r, const struct lj_member *m,
                                    ulong step, uint moved, lj_long size) {
    return size + ergo_volume_change(lj_volume_words(m, step, 0u), lj_volume_step(r, moved));
}

ERGO_INLINE uint lj_volume_limited(const struct lj_volume_rules *r, lj_long size) {
    return size < r->limits[0] || size > r->limits[1] ? 1u : 0u;
}

/* beta U in units of 2^-20, of a change of the sum over pairs; beyond 2^20 nothing depends on it.
 */
ERGO_INLINE lj_long lj_volume_energy(const struct lj_member *m, lj_long change) {
    const float x = (float)change * m->beta4;
    return (lj_long)((x > 0x1p20f ? 0x1p20f : x < -0x1p20f ? -0x1p20f : x) * 0x1p20f);
}

/* beta |U_tail| of n particles in units of 2^-20. */
ERGO_INLINE lj_long lj_volume_tail(const struct lj_volume_rules *r, uint n, lj_long size) {
    struct ergo_scaled e = ergo_volume_exp(r->tail - size);
    const ulong n2 = (ulong)n * n;
    const uint upper = (uint)(n2 >> 32), shift = upper ? ERGO_CLZ(upper) : 32u + ERGO_CLZ((uint)n2);
    e.mantissa = ergo_volume_high(e.mantissa, n2 << shift);
    e.exponent += 64L - (lj_long)shift;
    return (lj_long)ergo_volume_whole(e, 20u);
}

/* -beta (U' - U) in units of 2^-20, of a trial whose sums over pairs are given. */
ERGO_INLINE lj_long lj_volume_weight(const struct lj_volume_rules *r, const struct lj_member *m,
                                     const struct lj_chain *c, struct lj_sum sum, lj_long to) {
    lj_long exponent = -lj_volume_energy(m, sum.energy - c->energy);
    if (r->has_tail && c->particles) {
        const lj_long more =
            lj_volume_tail(r, c->particles, to) - lj_volume_tail(r, c->particles, c->size);
        exponent += r->has_tail == 1u ? more : -more;
    }
    return exponent;
}

/* Carry out the trial before step `step`, or do not. */
ERGO_INLINE void lj_volume_end(const struct lj_volume_rules *r, ulong step, struct lj_sum sum,
                               lj_long to, uint accepted, uint limited, struct lj_chain *c) {
    uint tuned = c->moved >> 2;
    if (step < r->move.tuned)
        tuned = (uint)ergo_volume_tuned(lj_volume_step(r, c->moved) >> LJ_VOLUME_STEP_BITS,
                                        r->move.most, c->volumes / r->turns, 3UL, accepted);
    c->volumes += 1UL;
    c->moved = accepted | limited << 1 | tuned << 2;
    if (accepted) {
        c->energy = sum.energy;
        c->virial = sum.virial;
        c->contacts = sum.contacts;
        lj_volume_set(r, to, c);
    }
}

/* Judge the trial, whose sums over pairs are given, and carry it out. */
ERGO_INLINE void lj_volume_judge(const struct lj_volume_rules *r, const struct lj_member *m,
                                 ulong step, struct lj_sum sum, struct lj_chain *c) {
    const lj_long to = lj_volume_trial(r, m, step, c->moved, c->size);
    const uint limited = lj_volume_limited(r, to);
    uint accepted = 0u;
    if (!limited && !sum.overlap) {
        struct ergo_volume_rules move = r->move;
        move.n = c->particles;
        const lj_long exponent =
            ergo_volume_exponent(move, c->size, to - c->size) + lj_volume_weight(r, m, c, sum, to);
        accepted = ergo_volume_accepts(exponent, lj_volume_words(m, step, 1u));
    }
    lj_volume_end(r, step, sum, to, accepted, limited, c);
}

#endif
