/* The random choices of a cell's update, for four moves at a time. DISKS_SPACE as in cell.h. */
#ifndef ERGO_CL_HARD_DISKS_DRAWS_H
#define ERGO_CL_HARD_DISKS_DRAWS_H

#include "hard_disks/cell.h"

ERGO_DEFINE_QUARTER_SINE(disks_sine4, float4)

/* Four times disks_displacement, by the same operations. */
ERGO_INLINE void disks_displacements(uint4 a, uint4 b, float step_x, float step_y, float4 *dx,
                                     float4 *dy) {
    const uint4 high = a >> 16, low = a & 0xffffu, larger = max(high, low);
    const float4 radius = convert_float4(2u * larger + 1u);
    const float4 t1 = as_float4((b >> 1 & 0x7ffffeu) | 0x3f800001u);
    const float4 x = radius * step_x * disks_sine4(2.0f - t1),
                 y = radius * step_y * disks_sine4(t1 - 1.0f);
    const float4 rx = (x + 12582912.0f) - 12582912.0f, ry = (y + 12582912.0f) - 12582912.0f;
    *dx = as_float4(as_uint4(rx) ^ (b << 31));
    *dy = as_float4(as_uint4(ry) ^ ((b & 2u) << 30));
}

/* Swap slots i and j of a cell. */
#define DISKS_SWAP(c, i, j)                                                                        \
    do {                                                                                           \
        const float sx = (c).x.i, sy = (c).y.i;                                                    \
        (c).x.i = (c).x.j;                                                                         \
        (c).y.i = (c).y.j;                                                                         \
        (c).x.j = sx;                                                                              \
        (c).y.j = sy;                                                                              \
    } while (0)

/* Fisher-Yates over the n used slots (line 5). */
ERGO_INLINE struct disks_cell disks_shuffle(struct disks_cell c, uint n, uint bits) {
    uint k = ergo_below(bits, n == 4u ? 24u : n == 3u ? 6u : 2u);
    if (n == 4u) {
        const uint j = k & 3u;
        k >>= 2;
        if (j == 0u)
            DISKS_SWAP(c, s3, s0);
        else if (j == 1u)
            DISKS_SWAP(c, s3, s1);
        else if (j == 2u)
            DISKS_SWAP(c, s3, s2);
    }
    if (n >= 3u) {
        const uint j = k % 3u;
        k /= 3u;
        if (j == 0u)
            DISKS_SWAP(c, s2, s0);
        else if (j == 1u)
            DISKS_SWAP(c, s2, s1);
    }
    if (n >= 2u && k == 0u)
        DISKS_SWAP(c, s1, s0);
    return c;
}

/* Four consecutive moves of a cell, and the random bits that they do not use. */
struct disks_four {
#ifdef DISKS_REFLECT
    uint4 bits;
#else
    float4 dx, dy;
#endif
#ifdef DISKS_FIELD
    uint4 fates;
#endif
    uint spare;
};

#ifdef DISKS_FIELD
#define DISKS_FATE(four, i) (four).fates.i
#else
#define DISKS_FATE(four, i) 0u
#endif

/* The moves from number `first` on, a multiple of four. A draw gives two. */
ERGO_INLINE struct disks_four disks_four_from(__global const struct disks_member *member,
                                              uint entity, ulong step, uint first) {
#define DISKS_WORDS(draw)                                                                          \
    ergo_philox_words(entity, (uint)step, (uint)(step >> 32), ERGO_DRAW(DISKS_PURPOSE_CELL, draw), \
                      member->key0, member->key1)
    const struct ergo_words r0 = DISKS_WORDS(first / 2u), r1 = DISKS_WORDS(first / 2u + 1u);
#undef DISKS_WORDS
    struct disks_four four;
#ifdef DISKS_FIELD
    const struct ergo_words fates =
        ergo_philox_words(entity, (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(DISKS_PURPOSE_FIELD, first / 4u), member->key0, member->key1);
    four.fates = (uint4)(fates.x, fates.y, fates.z, fates.w);
#endif
#ifdef DISKS_REFLECT
    four.bits = (uint4)(r0.x, r0.y, r1.x, r1.y);
    four.spare = r0.z;
    return four;
#else
    disks_displacements((uint4)(r0.x, r0.z, r1.x, r1.z), (uint4)(r0.y, r0.w, r1.y, r1.w),
                        member->step[0], member->step[DISKS_Y], &four.dx, &four.dy);
    four.spare = disks_spare(r0, r1);
    return four;
#endif
}

#endif
