/*
 * A cell's update in registers: lines 5 to 12 of Algorithm 1. DISKS_SPACE as in cell.h.
 *
 * With n another disk and t the trial position, r^2 = |n|^2 - 2 t.n + |t|^2, of which |n|^2 is the
 * same for all trials of a cell: two fma a pair. For a pair near contact (n within sqrt(5.8) W of
 * the cell's corner) fp32 is off by less than 2^24 units^2 (wide; the largest intermediate is below
 * 2^47 and rounded by 2^22 at most), 2^-19 of the contact distance squared. A cell where an r^2
 * comes closer to contact than that is done again by disks_update_slowly(), which decides exactly
 * where it must; one in some thousand near melting. The filter is conservative, so a device's
 * rounding cannot change the chain.
 *
 * The same goes for cells of more than two disks (one in 1500, with cells of about one disk), and
 * for those with two neighbours of more than two. Nothing of this is in the way of the others: it
 * costs registers and instructions if it is among the trials. With cells so large that in every
 * row of 32 one is crowded (DISKS_FULL), all cells take the slow way at once.
 */
#ifndef ERGO_CL_HARD_DISKS_MOVES_H
#define ERGO_CL_HARD_DISKS_MOVES_H

#include "hard_disks/cell.h"

/* Where a cell and its eight neighbours are: rows and columns below, at, and above it. */
struct disks_place {
    uint row[3], col[3];
    uint second;
};

/* No value is NaN. GPUs have instructions for fmin and fmax; on CPUs these ask for NaN first. */
#ifdef DISKS_CPU
#define DISKS_LESS(a, b) ((a) < (b) ? (a) : (b))
#define DISKS_LARGER(a, b) ((a) > (b) ? (a) : (b))
#else
#define DISKS_LESS(a, b) fmin(a, b)
#define DISKS_LARGER(a, b) fmax(a, b)
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

DISKS_DEFINE_SINE(disks_sine4, float4)

/* disks_displacement, four at a time: the same operations. */
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
    return disks_here(x, y);
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

/* Fisher-Yates over the n slots in use (line 5). */
ERGO_INLINE struct disks_cell disks_shuffle(struct disks_cell c, uint n, uint bits) {
    uint k = disks_below(bits, n == 4u ? 24u : n == 3u ? 6u : 2u);
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

/* Smallest r^2 between (px, py) and the disks around, in fp32. */
ERGO_INLINE float disks_nearest(struct disks_around around, float px, float py) {
    const float8 tx = (float8)(-2.0f * px), ty = (float8)(-2.0f * py);
    const float8 sa = fma(around.a.x, tx, fma(around.a.y, ty, around.a.square));
    const float8 sb = fma(around.b.x, tx, fma(around.b.y, ty, around.b.square));
    const float2 x = around.rest.s01 - px, y = around.rest.s23 - py, r2 = fma(x, x, y * y);
    return DISKS_LESS(disks_least8(DISKS_LESS(sa, sb)) + fma(px, px, py * py),
                      DISKS_LESS(r2.x, r2.y));
}

/* Smallest r^2 - contact between (px, py), the others of its cell in (ox, oy), and the disks
 * around: its sign is exact. */
ERGO_INLINE float disks_gap_of(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                               struct disks_around around, float4 ox, float4 oy, float px, float py,
                               float high, float low) {
    const float8 a = disks_gap8(around.a.x - px, around.a.y - py, high, low);
    const float8 b = disks_gap8(around.b.x - px, around.b.y - py, high, low);
    float gap = DISKS_LESS(disks_least4(disks_gap4(ox - px, oy - py, high, low)),
                           disks_least8(DISKS_LESS(a, b)));
    for (uint k = 0u, left = around.fuller; left; k++, left >>= 1)
        if (left & 1u) {
            const float4 r = disks_rest(cells, place, k);
            gap = DISKS_LESS(
                gap, disks_least4(disks_gap4((float4)(r.s0, r.s1, r.s0, r.s1) - px,
                                             (float4)(r.s2, r.s3, r.s2, r.s3) - py, high, low)));
        }
    return gap;
}

/* Smallest r^2 between (px, py), the others of its cell, and all disks around, in fp32. */
ERGO_INLINE float disks_nearest_of_all(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                                       struct disks_around around, float4 ox, float4 oy, float px,
                                       float py) {
    const float4 ux = ox - px, uy = oy - py;
    float least = DISKS_LESS(disks_nearest(around, px, py), disks_least4(fma(ux, ux, uy * uy)));
    uint left = around.fuller;
    while (left & (left - 1u)) { /* the last of them is in around.rest */
        const uint k = 31u - clz(left & (0u - left));
        const float4 r = disks_rest(cells, place, k);
        const float2 x = r.s01 - px, y = r.s23 - py, r2 = fma(x, x, y * y);
        least = DISKS_LESS(least, DISKS_LESS(r2.x, r2.y));
        left &= left - 1u;
    }
    return least;
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

/* Four moves of a cell in turn, and the bits that they leave over. */
struct disks_four {
    float4 dx, dy;
    uint spare;
};

/* Those from move `first` (a multiple of four) on: two from a draw. */
ERGO_INLINE struct disks_four disks_four_from(__global const struct disks_member *member,
                                              uint entity, ulong step, uint first) {
#define DISKS_WORDS(draw)                                                                          \
    ergo_philox_words(entity, (uint)step, (uint)(step >> 32), ERGO_DRAW(DISKS_PURPOSE_CELL, draw), \
                      member->key0, member->key1)
    const struct ergo_words r0 = DISKS_WORDS(first / 2u), r1 = DISKS_WORDS(first / 2u + 1u);
#undef DISKS_WORDS
    struct disks_four four;
    disks_displacements((uint4)(r0.x, r0.z, r1.x, r1.z), (uint4)(r0.y, r0.w, r1.y, r1.w),
                        member->step, &four.dx, &four.dy);
    four.spare = disks_spare(r0, r1);
    return four;
}

/* Has one of four cells more than two disks? */
ERGO_INLINE uint disks_one_has_more(DISKS_RAW a, DISKS_RAW b, DISKS_RAW c, DISKS_RAW d) {
#ifdef DISKS_PACKED
    return (uint)((((a.s2 & b.s2) & (c.s2 & d.s2)) & 0xffffu) != (uint)DISKS_W);
#else
    return (uint)(DISKS_LARGER(DISKS_LARGER(a.s3, b.s3), DISKS_LARGER(c.s3, d.s3)) >
                  0.5f * DISKS_MORE);
#endif
}

/* A cell and its surroundings in registers. Returns the cell's slots 0 and 1; *crowded: it has
 * more. */
ERGO_INLINE float4 disks_look(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                              struct disks_around *around, uint *crowded) {
    uint fuller = 0u;
    /* all loads before anything that waits for one of them */
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
    const float4 fa0 = disks_first(a0), fa1 = disks_first(a1), fa2 = disks_first(a2),
                 fa3 = disks_first(a3), fb0 = disks_first(b0), fb1 = disks_first(b1),
                 fb2 = disks_first(b2), fb3 = disks_first(b3);
    const float w = DISKS_WF, v = 0.0f - DISKS_WF;
    around->a = disks_eight_of(
        DISKS_FOUR(fa0, fa1, fa2, fa3, s0, s1) + (float8)(v, v, v, v, v, v, 0.0f, 0.0f),
        DISKS_FOUR(fa0, fa1, fa2, fa3, s2, s3) + (float8)(v, v, 0.0f, 0.0f, w, w, v, v));
    around->b = disks_eight_of(
        DISKS_FOUR(fb0, fb1, fb2, fb3, s0, s1) + (float8)(w, w, w, w, w, w, 0.0f, 0.0f),
        DISKS_FOUR(fb0, fb1, fb2, fb3, s2, s3) + (float8)(v, v, 0.0f, 0.0f, w, w, w, w));
    *crowded = disks_more(own);
    return disks_first(disks_plain(own, *crowded));
}

/*
 * A cell's trials, whatever it holds and however close a disk comes: exact, and slow. (Not from
 * where the fast ones ended: `around` is as it was, the cell is read again.) Returns the number of
 * accepted moves.
 */
ERGO_INLINE uint disks_update_slowly(DISKS_SPACE DISKS_RAW *cells, struct disks_place place,
                                     struct disks_around around, uint entity, ulong step,
                                     __global const struct disks_member *member) {
    const uint at = place.row[1] + place.col[1];
    uint accepted = 0u, slot = 0u;
    struct disks_cell all = disks_load(cells, place.second, at);
    const uint n = disks_count(all);
    DISKS_NO_UNROLL
    for (uint done = 0u; done < (uint)DISKS_MOVES; done += 4u) {
        struct disks_four four = disks_four_from(member, entity, step, done);
#ifndef DISKS_NO_SHUFFLE
        if (done == 0u)
            all = disks_shuffle(all, n, four.spare);
#endif
        DISKS_NO_UNROLL
        for (uint s = done; s < done + 4u && s < (uint)DISKS_MOVES; s++) {
            const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)slot);
            const float4 ox = select(all.x, (float4)(DISKS_FAR), me);
            const float4 mx = select((float4)(0.0f), all.x, me);
            const float4 my = select((float4)(0.0f), all.y, me);
            const float px = mx.s0 + mx.s1 + mx.s2 + mx.s3 + four.dx.s0;
            const float py = my.s0 + my.s1 + my.s2 + my.s3 + four.dy.s0;
            uint good = disks_inside(px, py, member->leave);
            if (good) {
                const float least = disks_nearest_of_all(cells, place, around, ox, all.y, px, py);
                good = (uint)(least > member->low);
                if (good && least < member->high)
                    good = (uint)(disks_gap_of(cells, place, around, ox, all.y, px, py,
                                               member->contact_high, member->contact_low) >= 0.0f);
            }
            if (good) {
                all.x = select(all.x, (float4)(px), me);
                all.y = select(all.y, (float4)(py), me);
                accepted++;
            }
            slot = slot + 1u < n ? slot + 1u : 0u;
            four.dx = four.dx.s1230;
            four.dy = four.dy.s1230;
        }
    }
    disks_store(cells, place.second, at, all);
    return accepted;
}

/* A trial of slot 1 if `second`, else 0, of a cell of one or two disks (x0 x1 y0 y1 in own). */
#define DISKS_TRIAL(second, DX, DY)                                                                \
    do {                                                                                           \
        const uint last = (second);                                                                \
        const float px = (last ? own.s1 : own.s0) + (DX), py = (last ? own.s3 : own.s2) + (DY);    \
        const float ux = (last ? own.s0 : own.s1) - px, uy = (last ? own.s2 : own.s3) - py;        \
        const float least = DISKS_LESS(disks_nearest(around, px, py), fma(ux, ux, uy * uy));       \
        const uint good = disks_inside(px, py, member->leave) & (uint)(least > member->low);       \
        close |= good & (uint)(least < member->high);                                              \
        accepted += good;                                                                          \
        own.s0 = good & ~last & 1u ? px : own.s0;                                                  \
        own.s2 = good & ~last & 1u ? py : own.s2;                                                  \
        own.s1 = good & last ? px : own.s1;                                                        \
        own.s3 = good & last ? py : own.s3;                                                        \
    } while (0)

/* A sub-sweep's work on one cell; returns accepted moves, plus 2^16 when there are disks. */
ERGO_INLINE uint disks_update(DISKS_SPACE DISKS_RAW *cells, struct disks_place place, uint entity,
                              ulong step, __global const struct disks_member *member) {
    struct disks_around around;
    uint crowded, accepted = 0u, close = 0u;
    /* here, while the cells are under way */
    const struct disks_four first = disks_four_from(member, entity, step, 0u);
    float4 own = disks_look(cells, place, &around, &crowded);
#if defined(DISKS_CPU) || defined(DISKS_FULL)
    /* elsewhere an empty cell waits for the others of its row, and a way out here would have the
     * compiler put the moves behind it */
    if (!(own.s0 < DISKS_EMPTY))
        return 0u;
#endif
#ifdef DISKS_FULL
    return disks_update_slowly(cells, place, around, entity, step, member) + 0x10000u;
#else
    const uint two = (uint)(own.s1 < DISKS_EMPTY);
#ifndef DISKS_NO_SHUFFLE
    if (two && disks_below(first.spare, 2u) == 0u)
        own = own.s1032;
#endif
    for (uint done = 0u; done < (uint)DISKS_MOVES; done += 4u) {
        const struct disks_four four = done ? disks_four_from(member, entity, step, done) : first;
        DISKS_TRIAL(0u, four.dx.s0, four.dy.s0);
        if (done + 1u < (uint)DISKS_MOVES)
            DISKS_TRIAL(two, four.dx.s1, four.dy.s1);
        if (done + 2u < (uint)DISKS_MOVES)
            DISKS_TRIAL(0u, four.dx.s2, four.dy.s2);
        if (done + 3u < (uint)DISKS_MOVES)
            DISKS_TRIAL(two, four.dx.s3, four.dy.s3);
    }
    if (crowded | close | (around.fuller & (around.fuller - 1u)))
        accepted = disks_update_slowly(cells, place, around, entity, step, member);
    else
        cells[place.row[1] + place.col[1]] = disks_raw(disks_join(own, DISKS_NOTHING));
    return own.s0 < DISKS_EMPTY ? accepted + 0x10000u : 0u;
#endif
}

#endif
