/* All places of a chain in local memory. Beside them coarse ones, a byte for each coordinate, whose
 * differences come by one subtraction for all three. They tell which particles may be within the
 * cutoff. */
#ifndef ERGO_CL_LJ_GCMC_COARSE_H
#define ERGO_CL_LJ_GCMC_COARSE_H

#include "lj_gcmc/chain.h"

struct lj_places {
    __local uint *x, *y, *z, *coarse;
};

ERGO_INLINE lj_position lj_whole_at(const struct lj_places *p, uint i) {
    return (uint4)(p->x[i], p->y[i], p->z[i], 0u);
}

/* The upper bytes of x, y, z. */
ERGO_INLINE uint lj_coarse(lj_position p) {
    return p.x >> 24 | (p.y >> 16 & 0xff00u) | (p.z >> 8 & 0xff0000u);
}

/* The same of a place that others are compared with, half a unit lower in y and z: see
 * lj_coarse_limit. */
ERGO_INLINE uint lj_coarse_centre(lj_position p) {
    return lj_coarse((uint4)(p.x, p.y - 0x800000u, p.z - 0x800000u, 0u));
}

ERGO_INLINE void lj_places_set(const struct lj_places *p, uint i, lj_position to) {
    p->x[i] = to.x;
    p->y[i] = to.y;
    p->z[i] = to.z;
    p->coarse[i] = lj_coarse(to);
}

/* Read them, as one of `items` work-items. */
ERGO_INLINE void lj_places_read(__global const uint4 *particles, uint n, uint item, uint items,
                                const struct lj_places *p) {
    for (uint i = item; i < n; i += items)
        lj_places_set(p, i, lj_position_of(particles[i]));
}

/*
 * Squared distances of coarse places below this may be within the cutoff; in units of the shortest
 * side / 256, where longer sides only make distances smaller. A byte of the difference of two words
 * is that of the coordinates, truncated, and for y and z less 1 if the bytes below borrow: with the
 * half unit it is off by less than 1 in x and 3/2 in y and z, together sqrt(11/2) = 2.345. The
 * fourth byte, which only borrows, adds at most 1 to the square.
 */
ERGO_INLINE int lj_coarse_limit(const struct lj_member *m) {
    const float unit = fmin(m->scale[0], fmin(m->scale[1], m->scale[2])) * 0x1p24f;
    const float reach2 = m->cutoff2 * ergo_inverse(unit * unit);
    const float reach = ERGO_FMA(reach2, ergo_rsqrt(reach2), 2.36f);
    return (int)(reach * reach) + 2;
}

/* The square of a vector of three signed bytes, less `limit`. */
ERGO_INLINE int lj_coarse_beyond(uint bytes, int limit) {
#ifdef LJ_WARP /* NVIDIA, from 8.0 on */
    int sum;
    __asm__("dp4a.s32.s32 %0, %1, %1, %2;" : "=r"(sum) : "r"(bytes), "r"(0 - limit));
    return sum;
#else
    const int x = (int)(bytes << 24) >> 24, y = (int)(bytes << 16) >> 24,
              z = (int)(bytes << 8) >> 24;
    return x * x + y * y + z * z - limit;
#endif
}

/* Which of `rounds` coarse places, `stride` apart, may be within the cutoff of one of two: the last
 * one is bit 0. A multiple of LJ_LOOKS, at most 32: so many are looked at without an end of the
 * loop between them. */
#define LJ_LOOKS 4u
ERGO_INLINE uint lj_near(__local const uint *coarse, uint stride, uint rounds, uint one, uint other,
                         int limit) {
    uint near = 0u;
    for (uint k = 0u; k < rounds; k += LJ_LOOKS) {
        ERGO_UNROLL
        for (uint j = 0u; j < LJ_LOOKS; j++) {
            const uint at = coarse[stride * j];
            const int beyond_one = lj_coarse_beyond(at - one, limit),
                      beyond_other = lj_coarse_beyond(at - other, limit);
            near = near << 1 | (uint)(beyond_one | beyond_other) >> 31;
        }
        coarse += LJ_LOOKS * stride;
    }
    return near;
}

#endif
