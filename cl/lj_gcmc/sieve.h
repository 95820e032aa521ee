/*
 * The neighbours of a trial move for a team of work-items on a GPU, whose instructions are what a
 * move costs: first distances alone, eight items to a cell, then the few that are within the cutoff
 * evaluated side by side. The order in which they were found does not matter to sums of integers.
 */
#ifndef ERGO_CL_LJ_GCMC_SIEVE_H
#define ERGO_CL_LJ_GCMC_SIEVE_H

#include "lj_gcmc/gather.h"

#ifdef LJ_SIEVE
#define LJ_HITS 128u /* room of a team; more are evaluated where they are found */

struct lj_hits {
    __local float *r2; /* negative: of the old place */
    __local uint *count;
};

/* Is there a core within reach of the new place? One item's share. */
ERGO_INLINE uint lj_sieve_core(const struct lj_home *home, lj_position at, lj_position away,
                               uint has_away, uint lane, uint width, const struct lj_member *m) {
    const struct lj_place c = lj_place_of(at);
    const uint slots = home->slots;
    uint overlap = 0u;
    for (uint i = lane / 8u; i < LJ_OFFSETS; i += width / 8u) {
        uint cell;
        if (!lj_cell_near(home, &c, i, m->core2, m, &cell))
            continue;
        __global const uint *words = lj_cell_words(home, cell);
        const uint count = lj_cell_counts(home)[cell];
        for (uint s = lane % 8u; s < count; s += 8u) {
            const lj_position q = (uint4)(words[s], words[slots + s], words[2u * slots + s], 0u);
            if (lj_distance2(q, at, m->scale) < m->core2 && !(has_away && lj_same(q, away)))
                overlap = 1u;
        }
    }
    return overlap;
}

/* All within the cutoff of the new place, then of the old one. */
ERGO_INLINE void lj_sieve(const struct lj_home *home, const struct lj_move *move, lj_position from,
                          uint lane, uint width, const struct lj_member *m,
                          const struct lj_hits *hits, struct lj_sum *sum) {
    const uint has_old = move->kind != (uint)LJ_INSERTION;
    const uint slots = home->slots;
    for (uint side = move->kind != (uint)LJ_DELETION ? 0u : 1u; side < (has_old ? 2u : 1u);
         side++) {
        const lj_position at = side ? from : move->to;
        const struct lj_place c = lj_place_of(at);
        for (uint i = lane / 8u; i < LJ_OFFSETS; i += width / 8u) {
            uint cell;
            if (!lj_cell_near(home, &c, i, m->cutoff2, m, &cell))
                continue;
            __global const uint *words = lj_cell_words(home, cell);
            const uint count = lj_cell_counts(home)[cell];
            for (uint s = lane % 8u; s < count; s += 8u) {
                const lj_position q =
                    (uint4)(words[s], words[slots + s], words[2u * slots + s], 0u);
                const float r2 = lj_distance2(q, at, m->scale);
                if (r2 >= m->cutoff2 || (has_old && lj_same(q, from)))
                    continue;
                const uint k = atomic_inc(hits->count);
                if (k < LJ_HITS)
                    hits->r2[k] = side ? -r2 : r2;
                else
                    lj_visit(q, at, from, has_old, 1u - side, m, sum);
            }
        }
    }
}

ERGO_INLINE void lj_sieve_sum(const struct lj_hits *hits, uint lane, uint width,
                              const struct lj_member *m, struct lj_sum *sum) {
    const uint all = *hits->count, count = all < LJ_HITS ? all : LJ_HITS;
    for (uint k = lane; k < count; k += width) {
        const float r2 = hits->r2[k];
        long energy, virial;
        lj_pair(fabs(r2), m->shift, &energy, &virial);
        sum->energy += r2 > 0.0f ? energy : -energy;
        sum->virial += r2 > 0.0f ? virial : -virial;
    }
}
#endif

#endif
