/*
 * A cell's update in registers: lines 5 to 12 of Algorithm 1. DISKS_SPACE as in cell.h.
 *
 * The overlap test is exact. With n the other disk and t the trial position, r^2 = |n|^2 - 2 t.n +
 * |t|^2, of which |n|^2 is the same for all trials of a cell: two fma a pair. In fp32 that is off
 * by less than 2^24 units^2 (wide; coordinates are below 2^23, so squares below 2^47 are rounded by
 * at most 2^22, four times), 2^-18 of the contact distance squared. Where the smallest r^2 is
 * within 2^-17 of contact, disks_gap() decides: one move in some thousand near melting. The filter
 * is conservative, so a device's rounding cannot change the chain.
 *
 * Cells of about one disk hold more than two in one case of 1500: a neighbour's slots 2 and 3 are
 * looked at in memory, after all else has let a move pass; a cell's own have code of their own.
 */
#ifndef ERGO_CL_HARD_DISKS_MOVES_H
#define ERGO_CL_HARD_DISKS_MOVES_H

#include "hard_disks/cell.h"

/* Where a cell and its eight neighbours are: rows and columns below, at, and above it. */
struct disks_place {
    uint row[3], col[3];
    uint second;
};

/* No value is NaN. GPUs have an instruction for fmin; on CPUs it asks for NaN first. */
#ifdef DISKS_CPU
#define DISKS_LESS(a, b) ((a) < (b) ? (a) : (b))
#else
#define DISKS_LESS(a, b) fmin(a, b)
#endif

#define DISKS_NO_UNROLL _Pragma("unroll 1")

/* ---- exact ------------------------------------------------------------------------------------
 */

/*
 * r^2 - contact, of which the sign is exact (negative: an overlap), from differences that are whole
 * numbers below 2^26. Squares and their sum are split into a float and the error of it, another
 * whole number (Dekker, Numer. Math. 18, 224 (1971); Knuth's two-sum). Near contact, s - high is
 * exact, since s and high are within a factor of two; the errors are below 2^21 and so is their sum
 * below 2^24, and exact; and the last sum, like every correctly rounded one, has the right sign.
 * Elsewhere s - high is rounded, but larger than all errors.
 */
#define DISKS_DEFINE_GAP(name, type)                                                               \
    ERGO_INLINE type name(type dx, type dy, float high, float low) {                               \
        const type a = dx * dx, b = dy * dy, s = a + b;                                            \
        const type ea = fma(dx, dx, -a), eb = fma(dy, dy, -b);                                     \
        const type t = s - a, es = (a - (s - t)) + (b - t);                                        \
        return (s - high) + ((es + ea) + (eb - low));                                              \
    }
DISKS_DEFINE_GAP(disks_gap8, float8)
DISKS_DEFINE_GAP(disks_gap4, float4)

ERGO_INLINE float disks_least4(float4 x) {
    const float2 y = DISKS_LESS(x.lo, x.hi);
    return DISKS_LESS(y.x, y.y);
}

ERGO_INLINE float disks_least8(float8 x) {
    return disks_least4(DISKS_LESS(x.lo, x.hi));
}

/* ---- trial moves ------------------------------------------------------------------------------
 */

/* disks_displacement, four at a time: the same operations. */
ERGO_INLINE float4 disks_sine4(float4 t) {
    const float4 u = t * t;
    float4 p = fma(u, (float4)(0.00015148419f), (float4)(-0.00467376557f));
    p = fma(u, p, (float4)(0.07968967928f));
    p = fma(u, p, (float4)(-0.64596371106f));
    p = fma(u, p, (float4)(1.57079631847f));
    return t * p;
}

ERGO_INLINE void disks_displacements(uint4 a, uint4 b, float step, float4 *dx, float4 *dy) {
    const uint4 high = a >> 16, low = a & 0xffffu, larger = max(high, low);
    const float4 radius = convert_float4(2u * larger + 1u) * step;
    const float4 t = convert_float4(((b & 0xffffffu) >> 2) * 2u + 1u) * 0x1p-23f;
    const float4 x = radius * disks_sine4(1.0f - t), y = radius * disks_sine4(t);
    const float4 rx = (x + 12582912.0f) - 12582912.0f, ry = (y + 12582912.0f) - 12582912.0f;
    *dx = as_float4(as_uint4(rx) ^ (b << 31));
    *dy = as_float4(as_uint4(ry) ^ ((b & 2u) << 30));
}

ERGO_INLINE uint disks_inside(float x, float y, float leave) {
#ifdef DISKS_LEAVE
    return (uint)(x + leave >= 0.0f) & (uint)(x < DISKS_WF + leave) & (uint)(y + leave >= 0.0f) &
           (uint)(y < DISKS_WF + leave);
#else
    /* 0 <= x < W by bits: those of a negative number are greater (x is never -0) */
    return (uint)(as_uint(x) < as_uint(DISKS_WF)) & (uint)(as_uint(y) < as_uint(DISKS_WF));
#endif
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

/* Fisher-Yates over the n slots in use (line 5); crowded: more than two. */
ERGO_INLINE struct disks_cell disks_shuffle(struct disks_cell c, uint n, uint crowded, uint bits) {
    uint k = disks_below(bits, 2u);
    if (crowded) {
        k = disks_below(bits, n == 4u ? 24u : 6u);
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

/* Eight disks as the overlap test wants them: n and |n|^2. */
struct disks_eight {
    float8 x, y, square;
};

ERGO_INLINE struct disks_eight disks_eight_of(float8 x, float8 y) {
    const struct disks_eight e = {x, y, fma(x, x, y * y)};
    return e;
}

/* Slots 0 and 1 of four neighbours. Lane by lane: Oclgrind's memory check crashes on vectors of
 * vectors. */
#define DISKS_FOUR(a, b, c, d, i, j)                                                               \
    (float8)((a).i, (a).j, (b).i, (b).j, (c).i, (c).j, (d).i, (d).j)

/* Slots 2 and 3 of neighbour k = 3 j + i, in the cell's own coordinates, as x2 x3 y2 y3. */
ERGO_INLINE float4 disks_rest(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                              uint k) {
    const uint i = k % 3u, j = k / 3u;
    const uint at = (j == 0u   ? place.row[0]
                     : j == 1u ? place.row[1]
                               : place.row[2]) +
                    (i == 0u   ? place.col[0]
                     : i == 1u ? place.col[1]
                               : place.col[2]);
    const float ox = ((float)i - 1.0f) * DISKS_WF, oy = ((float)j - 1.0f) * DISKS_WF;
    return disks_second(cells[at], cells[DISKS_SECOND(place.second, at)]) +
           (float4)(ox, ox, oy, oy);
}

/* What a cell's trials look at besides the cell itself. */
struct disks_around {
    struct disks_eight a, b; /* slots 0 and 1 of the neighbours */
    uint fuller;             /* bit 3 j + i: that neighbour has more */
    float4 rest;             /* of one of those, as disks_rest() */
};

/* May a disk be at (px, py)? own: smallest r^2 to the others of its cell, which are in (ox, oy). */
ERGO_INLINE uint disks_free(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                            struct disks_around around, float own, float4 ox, float4 oy, float px,
                            float py, __global const struct disks_member *member) {
    const float8 tx = (float8)(-2.0f * px), ty = (float8)(-2.0f * py);
    const float8 sa = fma(around.a.x, tx, fma(around.a.y, ty, around.a.square));
    const float8 sb = fma(around.b.x, tx, fma(around.b.y, ty, around.b.square));
    const float outer = disks_least8(DISKS_LESS(sa, sb)) + fma(px, px, py * py);
    float least = DISKS_LESS(outer, own);
    if (around.fuller) {
        const float2 x = around.rest.s01 - px, y = around.rest.s23 - py, r2 = fma(x, x, y * y);
        least = DISKS_LESS(least, DISKS_LESS(r2.x, r2.y));
    }
    uint good = disks_inside(px, py, member->leave) & (uint)(least > member->low);
    if (good && (least < member->high || (around.fuller & (around.fuller - 1u)))) {
        const float high = member->contact_high, low = member->contact_low;
        float gap = disks_least4(disks_gap4(ox - px, oy - py, high, low));
        for (uint k = 0u, left = around.fuller; left; k++, left >>= 1)
            if (left & 1u) {
                const float4 r = disks_rest(cells, place, k);
                gap = DISKS_LESS(
                    gap, disks_least4(disks_gap4((float4)(r.s01 - px, r.s01 - px),
                                                 (float4)(r.s23 - py, r.s23 - py), high, low)));
            }
        gap =
            DISKS_LESS(gap, disks_least8(disks_gap8(around.a.x - px, around.a.y - py, high, low)));
        gap =
            DISKS_LESS(gap, disks_least8(disks_gap8(around.b.x - px, around.b.y - py, high, low)));
        good = (uint)(gap >= 0.0f);
    }
    return good;
}

/* Where cell (cx, cy) of a whole member is, with periodic boundaries. */
ERGO_INLINE struct disks_place disks_place_of(uint m, uint cx, uint cy, uint second) {
    const uint h = m / 2u;
    struct disks_place p;
    p.row[0] = disks_row(h, h, cy ? cy - 1u : m - 1u);
    p.row[1] = disks_row(h, h, cy);
    p.row[2] = disks_row(h, h, cy + 1u < m ? cy + 1u : 0u);
    p.col[0] = disks_col(h, h, cx ? cx - 1u : m - 1u);
    p.col[1] = disks_col(h, h, cx);
    p.col[2] = disks_col(h, h, cx + 1u < m ? cx + 1u : 0u);
    p.second = second;
    return p;
}

/* Draw number `draw` of a cell: two moves. */
#define DISKS_WORDS(draw)                                                                          \
    ergo_philox_words(entity, (uint)step, (uint)(step >> 32), ERGO_DRAW(DISKS_PURPOSE_CELL, draw), \
                      member->key0, member->key1)

/* What a trial does where its result is stored; k: 0 or 1, first or second of a pair. */
#define DISKS_TRIAL(k, DX, DY)                                                                     \
    do {                                                                                           \
        const uint last = (k) && n > 1u; /* slot 1, in a cell of one or two */                     \
        float4 ox = (float4)(DISKS_FAR), oy = (float4)(0.0f); /* the cell's other disks */         \
        float px = (last ? all.x.s1 : all.x.s0) + (DX), py = (last ? all.y.s1 : all.y.s0) + (DY);  \
        ox.s0 = last ? all.x.s0 : all.x.s1;                                                        \
        oy.s0 = last ? all.y.s0 : all.y.s1;                                                        \
        const float ux = ox.s0 - px, uy = oy.s0 - py;                                              \
        float least = fma(ux, ux, uy * uy);                                                        \
        if (crowded) {                                                                             \
            const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)slot);                               \
            const float4 mx = select((float4)(0.0f), all.x, me),                                   \
                         my = select((float4)(0.0f), all.y, me);                                   \
            px = mx.s0 + mx.s1 + mx.s2 + mx.s3 + (DX);                                             \
            py = my.s0 + my.s1 + my.s2 + my.s3 + (DY);                                             \
            ox = select(all.x, (float4)(DISKS_FAR), me);                                           \
            oy = all.y;                                                                            \
            const float4 vx = ox - px, vy = oy - py, r2 = fma(vx, vx, vy * vy);                    \
            least = disks_least4(r2);                                                              \
        }                                                                                          \
        const uint good = disks_free(cells, place, around, least, ox, oy, px, py, member);         \
        accepted += good;                                                                          \
        if (crowded) {                                                                             \
            const int4 change = ((int4)(0, 1, 2, 3) == (int4)((int)slot)) & (int4)(-(int)good);    \
            all.x = select(all.x, (float4)(px), change);                                           \
            all.y = select(all.y, (float4)(py), change);                                           \
            slot = slot + 1u < n ? slot + 1u : 0u;                                                 \
        } else {                                                                                   \
            all.x.s0 = good && !last ? px : all.x.s0;                                              \
            all.y.s0 = good && !last ? py : all.y.s0;                                              \
            all.x.s1 = good && last ? px : all.x.s1;                                               \
            all.y.s1 = good && last ? py : all.y.s1;                                               \
        }                                                                                          \
    } while (0)

/* A sub-sweep's work on one cell; returns accepted moves, plus 2^16 when there are disks. */
ERGO_INLINE uint disks_update(DISKS_SPACE DISKS_RAW *cells, struct disks_place place, uint entity,
                              ulong step, __global const struct disks_member *member) {
    const uint at = place.row[1] + place.col[1];
    /* all loads before anything that waits for one of them */
#define DISKS_RAW_OF(i, j) cells[place.row[j] + place.col[i]]
    const DISKS_RAW raw = cells[at], raw_a0 = DISKS_RAW_OF(0, 0), raw_a1 = DISKS_RAW_OF(0, 1),
                    raw_a2 = DISKS_RAW_OF(0, 2), raw_a3 = DISKS_RAW_OF(1, 0),
                    raw_b0 = DISKS_RAW_OF(2, 0), raw_b1 = DISKS_RAW_OF(2, 1),
                    raw_b2 = DISKS_RAW_OF(2, 2), raw_b3 = DISKS_RAW_OF(1, 2);
#undef DISKS_RAW_OF
    struct disks_around around;
    uint crowded, more;
    const float4 own = disks_first(raw, &crowded);
    if (!(own.s0 < DISKS_EMPTY))
        return 0u;
    around.fuller = 0u;
#define DISKS_NEIGHBOUR(name, i, j)                                                                \
    const float4 name = disks_first(raw_##name, &more);                                            \
    around.fuller |= more ? 1u << (3 * j + i) : 0u
    DISKS_NEIGHBOUR(a0, 0, 0);
    DISKS_NEIGHBOUR(a1, 0, 1);
    DISKS_NEIGHBOUR(a2, 0, 2);
    DISKS_NEIGHBOUR(a3, 1, 0);
    DISKS_NEIGHBOUR(b0, 2, 0);
    DISKS_NEIGHBOUR(b1, 2, 1);
    DISKS_NEIGHBOUR(b2, 2, 2);
    DISKS_NEIGHBOUR(b3, 1, 2);
#undef DISKS_NEIGHBOUR
    /* what is seldom needed is on its way while the random numbers are made */
    float4 own_rest = DISKS_NOTHING;
    around.rest = DISKS_NOTHING;
    if (crowded)
        own_rest = disks_second(raw, cells[DISKS_SECOND(place.second, at)]);
    if (around.fuller)
        around.rest = disks_rest(cells, place, 31u - clz(around.fuller));
    struct ergo_words r0 = DISKS_WORDS(0u), r1 = DISKS_WORDS(1u);
    const float w = DISKS_WF, v = 0.0f - DISKS_WF;
    around.a =
        disks_eight_of(DISKS_FOUR(a0, a1, a2, a3, s0, s1) + (float8)(v, v, v, v, v, v, 0.0f, 0.0f),
                       DISKS_FOUR(a0, a1, a2, a3, s2, s3) + (float8)(v, v, 0.0f, 0.0f, w, w, v, v));
    around.b =
        disks_eight_of(DISKS_FOUR(b0, b1, b2, b3, s0, s1) + (float8)(w, w, w, w, w, w, 0.0f, 0.0f),
                       DISKS_FOUR(b0, b1, b2, b3, s2, s3) + (float8)(v, v, 0.0f, 0.0f, w, w, w, w));
    struct disks_cell all = disks_join(own, own_rest);
    uint accepted = 0u, slot = 0u;
    const uint n = crowded ? disks_count(all) : own.s1 < DISKS_EMPTY ? 2u : 1u;
#ifndef DISKS_NO_SHUFFLE
    all = disks_shuffle(all, n, crowded, disks_spare(r0, r1));
#endif
    for (uint done = 0u; done < (uint)DISKS_MOVES; done += 4u) {
        float4 dx, dy;
        if (done) {
            r0 = DISKS_WORDS(done / 2u);
            r1 = DISKS_WORDS(done / 2u + 1u);
        }
        disks_displacements((uint4)(r0.x, r0.z, r1.x, r1.z), (uint4)(r0.y, r0.w, r1.y, r1.w),
                            member->step, &dx, &dy);
        /* in pairs, not all unrolled: what is seldom needed is large */
        DISKS_NO_UNROLL
        for (uint s = done; s < done + 4u && s < (uint)DISKS_MOVES; s += 2u) {
            DISKS_TRIAL(0, dx.s0, dy.s0);
            if (s + 1u < (uint)DISKS_MOVES)
                DISKS_TRIAL(1, dx.s1, dy.s1);
            dx.s01 = dx.s23;
            dy.s01 = dy.s23;
        }
    }
    cells[at] = disks_raw(all);
    if (crowded)
        cells[DISKS_SECOND(place.second, at)] = disks_raw_second(all);
    return accepted + 0x10000u;
}

#endif
