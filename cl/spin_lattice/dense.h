/*
 * Fully connected spin glasses, H = -1/2 sum_{i != j} J_ij s_i s_j - h sum s_i: pure functions.
 *
 * A realisation has its couplings and, at each temperature, its copies. Slot = copies * temperature
 * + copy is where a chain stands on the ladder. Random numbers belong to slots. A configuration
 * has a place in memory that it keeps: an exchange of tempering swaps the places of two slots.
 *
 * Draws of a sweep: entity = realisation * DENSE_QUADS + site / 4, step = sweep, draw = slot; word
 * site % 4 is the site's. An exchange: entity = realisation, step = sweep, draw = the colder slot.
 *
 * Layout. A work-item has DENSE_EIGHTS times eight sites in a row. Spins, fields and rows of
 * couplings have DENSE_PADDED entries. Spins beyond the last site are 0 and never flip.
 *
 * Compile-time: DENSE_N (sites), DENSE_GROUP, DENSE_EIGHTS, DENSE_HEAT (heat bath), DENSE_RUNGS,
 * DENSE_COPIES.
 */
#ifndef ERGO_CL_SPIN_LATTICE_DENSE_H
#define ERGO_CL_SPIN_LATTICE_DENSE_H

#include "common/ladder.h"
#include "common/log.h"
#include "common/rng.h"
#include "spin_lattice/dense_params.h"

/* A spin flips if `cost` s_i f_i, half of what a flip costs, is below this limit. scale: T/2 in the
 * cost's unit. Costs are integers, so "below l" is "below the next integer above l". */
ERGO_INLINE int dense_limit(uint r, float scale, uint heat_bath) {
    const float most = 1073741824.0f; /* 2^30: above any cost */
    /* Metropolis: u < exp(-2 cost / T); heat bath: u < 1 / (1 + exp(2 cost / T)), where 1 - u is
     * ~r's */
    const float minus_log = ergo_minus_log(r);
    const float l = (heat_bath ? minus_log - ergo_minus_log(~r) : minus_log) * scale;
    if (l >= most)
        return (int)most;
    if (l <= -most)
        return -(int)most;
    return (int)l + (l >= 0.0f ? 1 : 0); /* (int) rounds towards zero */
}

#ifdef __OPENCL_VERSION__

#define DENSE_SLOTS ((uint)(DENSE_RUNGS) * (DENSE_COPIES))
#define DENSE_QUADS (((uint)(DENSE_N) + 3) / 4)
#define DENSE_EACH (8u * (DENSE_EIGHTS))
#define DENSE_PADDED ((DENSE_GROUP)*DENSE_EACH)
#define DENSE_NONE 0xffffffffu

/* Sites first, first + 1 ... of a vector. */
ERGO_INLINE int8 dense_sites(uint first) {
    return (int8)((int)first) + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
}

ERGO_INLINE uint4 dense_draw(uint entity, ulong step, uint draw, uint2 key) {
    return ergo_philox((uint4)(entity, (uint)step, (uint)(step >> 32), draw), key.x, key.y);
}

/* Limits of eight sites, which have the quads `entity` and entity + 1. */
ERGO_INLINE int8 dense_limits(uint entity, uint first, ulong step, uint slot, uint2 key,
                              float scale) {
    const uint draw = ERGO_DRAW(DENSE_PURPOSE_UPDATE, slot);
    const uint4 a = dense_draw(entity, step, draw, key),
                b = dense_draw(entity + 1, step, draw, key);
    int8 limit;
    limit.s0 = dense_limit(a.x, scale, DENSE_HEAT);
    limit.s1 = dense_limit(a.y, scale, DENSE_HEAT);
    limit.s2 = dense_limit(a.z, scale, DENSE_HEAT);
    limit.s3 = dense_limit(a.w, scale, DENSE_HEAT);
    limit.s4 = dense_limit(b.x, scale, DENSE_HEAT);
    limit.s5 = dense_limit(b.y, scale, DENSE_HEAT);
    limit.s6 = dense_limit(b.z, scale, DENSE_HEAT);
    limit.s7 = dense_limit(b.w, scale, DENSE_HEAT);
    /* no spin there */
    return dense_sites(first) < (int8)(DENSE_N) ? limit : (int8)(-0x7fffffff - 1);
}

/* The smallest number of a vector. */
ERGO_INLINE int dense_least(int8 x) {
    const int4 four = min(x.lo, x.hi);
    const int2 two = min(four.lo, four.hi);
    return min(two.x, two.y);
}

#endif
#endif
