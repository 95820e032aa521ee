/*
 * The disks that the trials of a cell are compared with, held in registers. DISKS_SPACE as in
 * cell.h.
 *
 * Let n be another disk and t the trial position, both from the middle of the cell. Then r^2 =
 * |n|^2 - 2 t.n + |t|^2, where |n|^2 is the same for all trials of a cell, so a pair costs two fma.
 * For a pair near contact (n within 1.71 W of the middle) the error in fp32 is below 2^23 units^2
 * (wide: the largest intermediate is below 2^46 and rounded by 2^21 at most). That is 2^-20 of the
 * contact distance squared.
 *
 * In boxes with different sides y keeps its own unit, and (w_y/w_x)^2, a float, goes into |n|^2 and
 * t_y. That is six more roundings, of numbers below 2^46: 2^25 units^2 or less together. contact is
 * more than (1 + (w_y/w_x)^2) W^2 / 4, and so 2^-17 of it covers them.
 */
#ifndef ERGO_CL_HARD_DISKS_NEIGHBOURS_H
#define ERGO_CL_HARD_DISKS_NEIGHBOURS_H

#include "hard_disks/cell.h"

/* Where a cell and its eight neighbours are: rows and columns before it, at it, and after it. */
struct disks_place {
    uint row[3], col[3];
    uint second;
};

/* No value is NaN. fmin and fmax are instructions on GPUs, but on CPUs they check for NaN first. */
#ifdef DISKS_CPU
#define DISKS_LESS(a, b) ((a) < (b) ? (a) : (b))
#define DISKS_LARGER(a, b) ((a) > (b) ? (a) : (b))
#else
#define DISKS_LESS(a, b) fmin(a, b)
#define DISKS_LARGER(a, b) fmax(a, b)
#endif

/* The smaller of two floats, as a minimum of integers, because GPUs have an instruction for the
 * minimum of three. Negative floats come out in the wrong order. This does no harm: from the middle
 * of a cell |t|^2 is at most W^2 / 2, which is less than contact, so both are overlaps. Centres
 * outside of their cell (DISKS_LEAVE) break that argument. */
#ifdef DISKS_LEAVE
#define DISKS_NEARER(a, b, floats, ints) DISKS_LESS(a, b)
#else
#define DISKS_NEARER(a, b, floats, ints) as_##floats(min(as_##ints(a), as_##ints(b)))
#endif

#define DISKS_NEAREST3(a, b, c, floats, ints)                                                      \
    DISKS_NEARER(DISKS_NEARER(a, b, floats, ints), c, floats, ints)

ERGO_INLINE float disks_least4(float4 x) {
    const float2 y = DISKS_LESS(x.lo, x.hi);
    return DISKS_LESS(y.x, y.y);
}

ERGO_INLINE float disks_least8(float8 x) {
    return disks_least4(DISKS_LESS(x.lo, x.hi));
}

/* Where cell (cx, cy) of a whole member of 2 h by 2 v cells and its neighbours are, with periodic
 * boundaries. */
ERGO_INLINE struct disks_place disks_place_of(uint h, uint v, uint cx, uint cy, uint second) {
    const uint m = 2u * h, rows = 2u * v;
    struct disks_place p;
    p.row[0] = disks_row(h, v, cy ? cy - 1u : rows - 1u);
    p.row[1] = disks_row(h, v, cy);
    p.row[2] = disks_row(h, v, cy + 1u < rows ? cy + 1u : 0u);
    p.col[0] = disks_col(h, v, cx ? cx - 1u : m - 1u);
    p.col[1] = disks_col(h, v, cx);
    p.col[2] = disks_col(h, v, cx + 1u < m ? cx + 1u : 0u);
    p.second = second;
    return p;
}

/* Eight disks in the form that the overlap test needs: n and |n|^2. */
struct disks_eight {
    float8 x, y, square;
};

/* y^2 and r^2 where y has units of its own. */
#ifdef DISKS_RECTANGULAR
#define DISKS_SCALED(y, square) ((y) * (square))
#else
#define DISKS_SCALED(y, square) (y)
#endif
#define DISKS_LENGTH2(x, y, square) fma(x, x, DISKS_SCALED((y) * (y), square))

ERGO_INLINE struct disks_eight disks_eight_of(float8 x, float8 y, float square) {
    const struct disks_eight e = {x, y, DISKS_LENGTH2(x, y, square)};
    return e;
}

/* Slots 0 and 1 of four neighbours. Lane by lane, because Oclgrind's memory check crashes on
 * vectors made of vectors. */
#define DISKS_FOUR(a, b, c, d, i, j)                                                               \
    (float8)((a).i, (a).j, (b).i, (b).j, (c).i, (c).j, (d).i, (d).j)

/* Slots 2 and 3 of neighbour k = 3 j + i, relative to the cell's middle, as x2 x3 y2 y3. */
ERGO_INLINE float4 disks_rest(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                              uint k) {
    const uint i = k % 3u, j = k / 3u;
    const uint at = (j == 0u   ? place.row[0]
                     : j == 1u ? place.row[1]
                               : place.row[2]) +
                    (i == 0u   ? place.col[0]
                     : i == 1u ? place.col[1]
                               : place.col[2]);
    const float ox = ((float)i - 1.5f) * DISKS_WF, oy = ((float)j - 1.5f) * DISKS_WF;
    return disks_second(cells[at], cells[DISKS_SECOND(place.second, at)]) +
           (float4)(ox, ox, oy, oy);
}

/* The disks around a cell that its trials are compared with. */
struct disks_around {
    struct disks_eight a, b; /* slots 0 and 1 of the neighbours */
    uint fuller;             /* bit 3 j + i: that neighbour has more than two disks */
    float4 rest;             /* slots 2 and 3 of one of those, as from disks_rest() */
    float2 rest_square;      /* |n|^2 of these two */
};

/* Smallest r^2 between (px, py) and the disks around, in fp32. Of fuller neighbours only the one in
 * `rest` counts. */
ERGO_INLINE float disks_nearest(struct disks_around around, float px, float py, float square) {
    const float ux = fma(-2.0f, px, DISKS_WF), uy = fma(-2.0f, py, DISKS_WF);
    const float8 tx = (float8)(ux), ty = (float8)(DISKS_SCALED(uy, square));
    const float8 sa = fma(around.a.x, tx, fma(around.a.y, ty, around.a.square));
    const float8 sb = fma(around.b.x, tx, fma(around.b.y, ty, around.b.square));
    const float2 sr =
        fma(around.rest.s01, tx.s01, fma(around.rest.s23, ty.s01, around.rest_square));
    const float4 four = DISKS_NEAREST3(sa.lo, sa.hi, sb.lo, float4, int4);
    const float2 two = DISKS_NEAREST3(DISKS_NEAREST3(four.lo, four.hi, sb.s45, float2, int2),
                                      sb.s67, sr, float2, int2);
    const float least = DISKS_NEARER(two.x, two.y, float, int);
    return fma(0.25f, DISKS_LENGTH2(ux, uy, square), least);
}

/* Does one of four cells have more than two disks? */
ERGO_INLINE uint disks_one_has_more(DISKS_RAW a, DISKS_RAW b, DISKS_RAW c, DISKS_RAW d) {
#ifdef DISKS_PACKED
    return (uint)((((a.s2 & b.s2) & (c.s2 & d.s2)) & 0xffffu) != (uint)DISKS_W);
#else
    return (uint)(DISKS_LARGER(DISKS_LARGER(a.s3, b.s3), DISKS_LARGER(c.s3, d.s3)) >
                  0.5f * DISKS_MORE);
#endif
}

/* Load a cell and its surroundings into registers. Returns the cell's slots 0 and 1; *crowded is 1
 * if it has more. */
ERGO_INLINE float4 disks_load_around(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                                     float square, struct disks_around *around, uint *crowded) {
    uint fuller = 0u;
    /* issue all loads before anything that waits for one of them */
#define DISKS_RAW_OF(i, j) cells[place.row[j] + place.col[i]]
    DISKS_RAW own = DISKS_RAW_OF(1, 1), a0 = DISKS_RAW_OF(0, 0), a1 = DISKS_RAW_OF(0, 1),
              a2 = DISKS_RAW_OF(0, 2), a3 = DISKS_RAW_OF(1, 0), b0 = DISKS_RAW_OF(2, 0),
              b1 = DISKS_RAW_OF(2, 1), b2 = DISKS_RAW_OF(2, 2), b3 = DISKS_RAW_OF(1, 2);
#undef DISKS_RAW_OF
    around->rest = DISKS_NOTHING;
    if (disks_one_has_more(a0, a1, a2, a3) | disks_one_has_more(b0, b1, b2, b3)) { /* seldom */
#define DISKS_NEIGHBOUR(name, i, j)                                                                \
    fuller |= disks_more(name) << (3 * j + i);                                                     \
    name = disks_plain(name, disks_more(name))
        DISKS_NEIGHBOUR(a0, 0, 0);
        DISKS_NEIGHBOUR(a1, 0, 1);
        DISKS_NEIGHBOUR(a2, 0, 2);
        DISKS_NEIGHBOUR(a3, 1, 0);
        DISKS_NEIGHBOUR(b0, 2, 0);
        DISKS_NEIGHBOUR(b1, 2, 1);
        DISKS_NEIGHBOUR(b2, 2, 2);
        DISKS_NEIGHBOUR(b3, 1, 2);
#undef DISKS_NEIGHBOUR
        around->rest = disks_rest(cells, place, 31u - clz(fuller));
    }
    around->fuller = fuller;
    around->rest_square = DISKS_LENGTH2(around->rest.s01, around->rest.s23, square);
    const float4 fa0 = disks_first(a0), fa1 = disks_first(a1), fa2 = disks_first(a2),
                 fa3 = disks_first(a3), fb0 = disks_first(b0), fb1 = disks_first(b1),
                 fb2 = disks_first(b2), fb3 = disks_first(b3);
    const float v = -1.5f * DISKS_WF, o = -0.5f * DISKS_WF, w = 0.5f * DISKS_WF;
    around->a = disks_eight_of(
        DISKS_FOUR(fa0, fa1, fa2, fa3, s0, s1) + (float8)(v, v, v, v, v, v, o, o),
        DISKS_FOUR(fa0, fa1, fa2, fa3, s2, s3) + (float8)(v, v, o, o, w, w, v, v), square);
    around->b = disks_eight_of(
        DISKS_FOUR(fb0, fb1, fb2, fb3, s0, s1) + (float8)(w, w, w, w, w, w, o, o),
        DISKS_FOUR(fb0, fb1, fb2, fb3, s2, s3) + (float8)(v, v, o, o, w, w, w, w), square);
    *crowded = disks_more(own);
    return disks_first(disks_plain(own, *crowded));
}

#endif
