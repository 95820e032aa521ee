/*
 * An active cell of the checkerboard and all that is within the cutoff of it, in local memory:
 * frozen neighbours first, then the cell's own particles, which trial moves change.
 *
 * LJ_TILE places; LJ_PERIOD cells from one active cell to the next; LJ_GROUP work-items share a
 * tile. A group of one looks at LJ_VECTOR particles at once: for CPUs.
 */
#ifndef ERGO_CL_LJ_GCMC_TILE_H
#define ERGO_CL_LJ_GCMC_TILE_H

#include "lj_gcmc/gather.h"

#define LJ_GAP (LJ_PERIOD - LJ_ACTIVE)
#define LJ_SPAN (LJ_ACTIVE + 2u * LJ_GAP)

/* Of a group of one a barrier orders nothing, and PoCL's compiler cuts kernels at barriers. */
#if LJ_GROUP == 1
#define LJ_BARRIER()
#else
#define LJ_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
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

#define LJ_V8(name) name##8
#define LJ_WIDTH 8u

/* Sums of `at` with all of the tile but `me`; sum->overlap: a core was hit, and no sums. */
ERGO_INLINE void lj_tile_sum(const struct lj_tile *t, lj_position at, uint me,
                             const struct lj_member *m, struct lj_sum *sum) {
    const uint count = t->env + t->n;
    const float8 sx = (float8)(m->scale[0]), sy = (float8)(m->scale[1]), sz = (float8)(m->scale[2]);
    const int8 lane = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    long8 energy = (long8)(0L), virial = (long8)(0L);
    for (uint j = 0u; j < count; j += LJ_WIDTH) {
        const float8 x = convert_float8(as_int8(vload8(0, t->x + j) - (uint8)(at.x))) * sx;
        const float8 y = convert_float8(as_int8(vload8(0, t->y + j) - (uint8)(at.y))) * sy;
        const float8 z = convert_float8(as_int8(vload8(0, t->z + j) - (uint8)(at.z))) * sz;
        const float8 r2 = fma(z, z, fma(y, y, x * x));
        const int8 index = (int8)((int)j) + lane;
        const int8 near = (r2 < (float8)(m->cutoff2)) & (index != (int8)((int)me)) &
                          (index < (int8)((int)count));
        if (!any(near))
            continue;
        if (any(near & (r2 < (float8)(m->core2)))) {
            sum->overlap = 1u;
            return;
        }
        /* lanes that are not near: so far away that nothing is left of them */
        const float8 d = select((float8)(1e6f), r2, near);
        float8 s2 = as_float8((uint8)(0x7EF311C7u) - as_uint8(d));
        s2 = fma(s2, fma(-d, s2, (float8)(1.0f)), s2);
        s2 = fma(s2, fma(-d, s2, (float8)(1.0f)), s2);
        s2 = fma(s2, fma(-d, s2, (float8)(1.0f)), s2);
        const float8 s6 = s2 * s2 * s2, s12 = s6 * s6;
        const long8 a = convert_long8(s12 * (float8)(0x1p30f)),
                    b = convert_long8(s6 * (float8)(0x1p30f));
        energy += a - b - (convert_long8(near) & (long8)(m->shift));
        virial += a + a - b;
    }
    const long4 e4 = energy.lo + energy.hi, v4 = virial.lo + virial.hi;
    const long2 e2 = e4.lo + e4.hi, v2 = v4.lo + v4.hi;
    sum->energy += e2.x + e2.y;
    sum->virial += v2.x + v2.y;
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

/* Sums of the places seen, added (is_new) or taken off. */
ERGO_INLINE void lj_tile_pairs(const struct lj_tile *t, lj_position at, uint is_new, uint item,
                               const struct lj_member *m, const struct lj_seen *seen,
                               struct lj_sum *sum) {
    for (uint q = 0u; q < LJ_WORDS; q++) {
        for (uint word = seen->word[q]; word != 0u; word &= word - 1u) {
            const uint j = item + LJ_GROUP * (32u * q + (31u - clz(word & (0u - word))));
            const float r2 = lj_distance2(lj_tile_get(t, j), at, m->scale);
            long energy, virial;
            lj_pair(r2, m->shift, &energy, &virial);
            sum->energy += is_new ? energy : -energy;
            sum->virial += is_new ? virial : -virial;
        }
    }
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
#if LJ_GROUP <= 8
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
