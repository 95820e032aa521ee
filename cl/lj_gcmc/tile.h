/*
 * An active cell of the checkerboard and all particles within the cutoff of it, in local memory.
 * The frozen neighbours come first, then the cell's own particles, which trial moves change.
 *
 * LJ_TILE is the number of places.
 * LJ_GROUP work-items share a tile. With LJ_VECTOR a work-group of one evaluates eight particles at
 * once, for CPUs.
 */
#ifndef ERGO_CL_LJ_GCMC_TILE_H
#define ERGO_CL_LJ_GCMC_TILE_H

#include "common/log.h"
#include "common/unit.h"
#include "lj_gcmc/gather.h"
#include "lj_gcmc/pairs8.h"

/* A work-group of one needs no barrier, and PoCL's compiler splits kernels at barriers. */
#if LJ_GROUP == 1
#define LJ_BARRIER()
#define LJ_BARRIER_ALL()
#else
#define LJ_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LJ_BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

/*
 * What a particle more adds to -beta U by the tail of the potential, during an activation that
 * begins with n particles. The tail's weight exp(-a n^2), a < 0, is the mean of exp(x n) over x
 * from a normal distribution of mean 0 and variance -2 a (Hubbard and Stratonovich). So x is drawn
 * as it is distributed for this n, with mean -2 a n, and while it stands still the tail acts as an
 * activity does: active cells do not see each other, and n and x together sample what they should.
 * -2 a n alone would be no such draw: the variance of n would be too small.
 */
ERGO_INLINE float lj_board_tail(const struct lj_member *m, ulong step, uint n) {
    const struct ergo_words w = ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                                                  ERGO_DRAW(LJ_PURPOSE_BOARD, 1), m->key0, m->key1);
    const float variance = -2.0f * m->tail;
    const float normal = ergo_sqrt(2.0f * ergo_minus_log(w.x)) * ergo_cos(w.y);
    return ERGO_FMA(variance, (float)n, ergo_sqrt(variance) * normal);
}

struct lj_tile {
    __local uint *x, *y, *z;
    uint env, n; /* numbers of neighbours and of own particles */
};

ERGO_INLINE lj_position lj_tile_get(const struct lj_tile *t, uint i) {
    return (uint4)(t->x[i], t->y[i], t->z[i], 0u);
}

ERGO_INLINE void lj_tile_put(const struct lj_tile *t, uint i, lj_position p) {
    t->x[i] = p.x;
    t->y[i] = p.y;
    t->z[i] = p.z;
}

/* How far p is outside [low, low + width), in units of 2^-32 of the side. */
ERGO_INLINE float lj_outside(uint p, uint low, uint width) {
    const uint d = p - low, beyond = d - width, before = 0u - d;
    return d < width ? 0.0f : (float)(beyond < before ? beyond : before);
}

/* Can p be within the cutoff of the active cell? The factor covers rounding. */
ERGO_INLINE uint lj_tile_needs(lj_position p, lj_position low, lj_position width,
                               const struct lj_member *m) {
    const float x = lj_outside(p.x, low.x, width.x) * m->scale[0],
                y = lj_outside(p.y, low.y, width.y) * m->scale[1],
                z = lj_outside(p.z, low.z, width.z) * m->scale[2];
    return fma(x, x, fma(y, y, z * z)) <= m->cutoff2 * 1.0001f ? 1u : 0u;
}

#ifdef LJ_VECTOR

/* Sums of `at` with all particles of the tile except `me`. If one is inside the core, sum->overlap
 * is set and the sums have no meaning. */
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

/* Places within the cutoff, for one work-item: bit i of word q is place item + LJ_GROUP (32 q + i).
 */
#define LJ_WORDS ((LJ_TILE + 32u * LJ_GROUP - 1u) / (32u * LJ_GROUP))

struct lj_seen {
    uint word[LJ_WORDS];
};

/* Find the places of the tile, except `me`, within the cutoff of `at`. Returns 1 if one is inside
 * the core. */
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

/* Add the sums over the places found (is_new), or subtract them. A work-item has fewer than 2^16
 * contacts in either shell, because a tile has no more places. So they are counted in halves of a
 * word, which is 4% faster than long words on an H200. */
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
            lj_pair(r2, m, &energy, &virial);
            sum->energy += is_new ? energy : -energy;
            sum->virial += is_new ? virial : -virial;
            contacts += r2 < inner ? 0u : r2 < outer ? 0x10000u : 1u;
        }
    }
    const long both = (long)(contacts >> 16) << 32 | (long)(contacts & 0xffffu);
    sum->contacts += is_new ? both : -both;
}

#endif

/* The sum over the work-items, returned to all of them. `firsts` has room for eight. Between two
 * calls all work-items must pass another barrier. */
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
#if LJ_GROUP == 2 /* PoCL 5.0's compiler crashes on the loop below if it has two rounds */
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
