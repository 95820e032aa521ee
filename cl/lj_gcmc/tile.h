/*
 * An active cell of the checkerboard and all that is within the cutoff of it, in local memory:
 * frozen neighbours first, then the cell's own particles, which trial moves change.
 *
 * LJ_TILE places; LJ_PERIOD cells from one active cell to the next; LJ_GROUP work-items share a
 * tile. With LJ_VECTOR a group of one looks at
 * eight particles at once: for CPUs.
 */
#ifndef ERGO_CL_LJ_GCMC_TILE_H
#define ERGO_CL_LJ_GCMC_TILE_H

#include "lj_gcmc/gather.h"
#include "lj_gcmc/pairs8.h"

#define LJ_GAP (LJ_PERIOD - LJ_ACTIVE)
#define LJ_SPAN (LJ_ACTIVE + 2u * LJ_GAP)

/* Of a group of one a barrier orders nothing, and PoCL's compiler cuts kernels at barriers. */
#if LJ_GROUP == 1
#define LJ_BARRIER()
#define LJ_BARRIER_ALL()
#else
#define LJ_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LJ_BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

struct lj_tile {
    __local uint *x, *y, *z;
    uint env, n; /* neighbours, own particles */
};

ERGO_INLINE lj_position lj_tile_get(const struct lj_tile *t, uint i) {
    return (uint4)(t->x[i], t->y[i], t->z[i], 0u);
}

ERGO_INLINE void lj_tile_put(const struct lj_tile *t, uint i, lj_position p) {
    t->x[i] = p.x;
    t->y[i] = p.y;
    t->z[i] = p.z;
}

/* How far outside [low, low + width) is p, in units of 2^-32 of the side? */
ERGO_INLINE float lj_outside(uint p, uint low, uint width) {
    const uint d = p - low, beyond = d - width, before = 0u - d;
    return d < width ? 0.0f : (float)(beyond < before ? beyond : before);
}

/* May p be within the cutoff of the active cell? The factor covers rounding. */
ERGO_INLINE uint lj_tile_needs(lj_position p, lj_position low, lj_position width,
                               const struct lj_member *m) {
    const float x = lj_outside(p.x, low.x, width.x) * m->scale[0],
                y = lj_outside(p.y, low.y, width.y) * m->scale[1],
                z = lj_outside(p.z, low.z, width.z) * m->scale[2];
    return fma(x, x, fma(y, y, z * z)) <= m->cutoff2 * 1.0001f ? 1u : 0u;
}

#ifdef LJ_VECTOR

/* Sums of `at` with all of the tile but `me`; sum->overlap: a core was hit, and no sums. */
ERGO_INLINE void lj_tile_sum(const struct lj_tile *t, lj_position at, uint me,
                             const struct lj_member *m, struct lj_sum *sum) {
    const uint count = t->env + t->n;
    struct lj_sum8 eight = {(long8)(0L), (long8)(0L), (int8)(0), 0u};
    for (uint j = 0u; j < count && !eight.overlap; j += 8u)
        lj_pairs8(vload8(0, t->x + j), vload8(0, t->y + j), vload8(0, t->z + j), at,
                  lj_below8(count - j) & ((int8)(0, 1, 2, 3, 4, 5, 6, 7) != (int8)((int)(me - j))),
                  m, &eight);
    sum->overlap |= eight.overlap;
    sum->energy += lj_total8(eight.energy);
    sum->virial += lj_total8(eight.virial);
    sum->contacts += lj_contacts8(eight.contacts);
}

#else

/* Candidates of one work-item: bit i of word q is place item + LJ_GROUP (32 q + i). */
#define LJ_WORDS ((LJ_TILE + 32u * LJ_GROUP - 1u) / (32u * LJ_GROUP))

struct lj_seen {
    uint word[LJ_WORDS];
};

/* Which places of the tile, but `me`, are within the cutoff of `at`? 1: a core was hit. */
ERGO_INLINE uint lj_tile_look(const struct lj_tile *t, lj_position at, uint me, uint item,
                              const struct lj_member *m, struct lj_seen *seen) {
    const uint count = t->env + t->n;
    uint overlap = 0u, j = item;
    for (uint q = 0u; q < LJ_WORDS; q++) {
        uint word = 0u;
        for (uint bit = 1u; bit != 0u && j < count; bit <<= 1) {
            const float r2 = lj_distance2(lj_tile_get(t, j), at, m->scale);
            word |= r2 < m->cutoff2 && j != me ? bit : 0u;
            overlap |= r2 < m->core2 && j != me ? 1u : 0u;
            j += LJ_GROUP;
        }
        seen->word[q] = word;
    }
    return overlap;
}

/* Sums of the places seen, added (is_new) or taken off. Contacts of one work-item and place are
 * fewer than 2^16 in either shell (a tile has no more places): they are counted in halves of a
 * word (262,144 particles on an H200: 0.79 trial moves/ns; in long ones 0.76; 0.92 without). */
ERGO_INLINE void lj_tile_pairs(const struct lj_tile *t, lj_position at, uint is_new, uint item,
                               const struct lj_member *m, const struct lj_seen *seen,
                               struct lj_sum *sum) {
    const float inner = m->contact2[1], outer = m->contact2[0];
    uint contacts = 0u;
    for (uint q = 0u; q < LJ_WORDS; q++) {
        for (uint word = seen->word[q]; word != 0u; word &= word - 1u) {
            const uint j = item + LJ_GROUP * (32u * q + (31u - clz(word & (0u - word))));
            const float r2 = lj_distance2(lj_tile_get(t, j), at, m->scale);
            long energy, virial;
            lj_pair(r2, m->shift, &energy, &virial);
            sum->energy += is_new ? energy : -energy;
            sum->virial += is_new ? virial : -virial;
            contacts += r2 < inner ? 0u : r2 < outer ? 0x10000u : 1u;
        }
    }
    const long both = (long)(contacts >> 16) << 32 | (long)(contacts & 0xffffu);
    sum->contacts += is_new ? both : -both;
}

#endif

/* The sum over the work-items, known to all; `firsts` has room for eight. Between two calls every
 * item passes another barrier. */
ERGO_INLINE long lj_tile_reduce(long mine, __local long *all, __local long *firsts, uint item) {
#if LJ_GROUP == 1
    (void)all;
    (void)firsts;
    (void)item;
    return mine;
#else
    long total = 0;
    all[item] = mine;
    LJ_BARRIER();
#if LJ_GROUP == 2 /* PoCL 5.0's compiler ends the process at the loop below with two turns */
    total = all[0] + all[1];
#elif LJ_GROUP <= 8
    for (uint i = 0u; i < LJ_GROUP; i++)
        total += all[i];
#else
    if (item < 8u) {
        for (uint i = item; i < LJ_GROUP; i += 8u)
            total += all[i];
        firsts[item] = total;
    }
    LJ_BARRIER();
    total = 0;
    for (uint i = 0u; i < 8u; i++)
        total += firsts[i];
#endif
    return total;
#endif
}

#endif
