/*
 * A cell and its update, lines 5 to 12 of Algorithm 1, in registers. DISKS_SPACE is the address
 * space in which cells lie.
 *
 * Cells of one checkerboard set are contiguous: cell (cx, cy) of a member is at row(cy) + col(cx).
 *
 * The overlap test is exact. Differences of coordinates are integers below 2^24 and so exact in
 * fp32; r^2 in fp32 decides unless it is within 2^-20 of the contact distance squared, where 64-bit
 * integers decide (one move in 10^5 near melting).
 */
#ifndef ERGO_CL_HARD_DISKS_CELL_H
#define ERGO_CL_HARD_DISKS_CELL_H

#include "hard_disks/core.h"

#ifdef DISKS_PACKED
#define DISKS_W DISKS_W_PACKED
#define DISKS_RAW uint4 /* x in the lower half, y in the upper */
#else
#define DISKS_W DISKS_W_WIDE
#define DISKS_RAW float8 /* four x, four y */
#endif
#define DISKS_WF ((float)DISKS_W)

/* H200: 3.96e10 against 3.64e10 trial moves a second. */
#if DISKS_MOVES <= 8
#define DISKS_UNROLL ERGO_UNROLL
#else
#define DISKS_UNROLL
#endif

/* Two lanes of four vectors. Lane by lane: Oclgrind's memory check crashes on vectors of vectors.
 */
#define DISKS_JOIN(a, b, c, d, i, j)                                                               \
    (float8)((a).i, (a).j, (b).i, (b).j, (c).i, (c).j, (d).i, (d).j)

struct disks_cell {
    float4 x, y;
};

ERGO_INLINE uint disks_col(uint half_cells, uint cx) {
    return (cx & 1u) * half_cells * half_cells + (cx >> 1);
}

ERGO_INLINE uint disks_row(uint half_cells, uint cy) {
    return (cy & 1u) * 2u * half_cells * half_cells + (cy >> 1) * half_cells;
}

ERGO_INLINE struct disks_cell disks_unpack(DISKS_RAW raw) {
    struct disks_cell c;
#ifdef DISKS_PACKED
    const uint4 x = raw & 0xffffu;
    const int4 empty = x == (uint4)(DISKS_W);
    c.x = select(convert_float4(x), (float4)(DISKS_FAR), empty);
    c.y = convert_float4(raw >> 16);
#else
    c.x = raw.lo;
    c.y = raw.hi;
#endif
    return c;
}

ERGO_INLINE DISKS_RAW disks_pack(struct disks_cell c) {
#ifdef DISKS_PACKED
    const uint4 x = select(convert_uint4(c.x), (uint4)(DISKS_W), c.x == (float4)(DISKS_FAR));
    return x | convert_uint4(c.y) << 16;
#else
    return (float8)(c.x.s0, c.x.s1, c.x.s2, c.x.s3, c.y.s0, c.y.s1, c.y.s2, c.y.s3);
#endif
}

/* Disks of a cell: they fill the first slots. */
ERGO_INLINE uint disks_count(struct disks_cell c) {
    const int4 used = c.x < (float4)(0.5f * DISKS_FAR);
    return (uint) - (used.x + used.y + used.z + used.w);
}

ERGO_INLINE float8 disks_distance2(float8 x, float8 y, float px, float py) {
    const float8 dx = x - px, dy = y - py;
    return fma(dx, dx, dy * dy);
}

/* Does a disk of `c`, set off by (ox, oy) cells, overlap one at (px, py)? */
ERGO_INLINE uint disks_meets(struct disks_cell c, int ox, int oy, float px, float py,
                             ulong contact) {
    uint found = 0u;
#define DISKS_MEETS(s)                                                                             \
    {                                                                                              \
        const long dx = (long)(c.x.s - px) + (long)ox * DISKS_W;                                   \
        const long dy = (long)(c.y.s - py) + (long)oy * DISKS_W;                                   \
        found |= (uint)((ulong)(dx * dx + dy * dy) < contact);                                     \
    }
    DISKS_MEETS(s0)
    DISKS_MEETS(s1)
    DISKS_MEETS(s2)
    DISKS_MEETS(s3)
#undef DISKS_MEETS
    return found;
}

/* The exact test, rarely needed: neighbours are read again rather than held in registers twice. */
ERGO_INLINE uint disks_overlaps(DISKS_SPACE const DISKS_RAW *cells, uint cx, uint cy,
                                struct disks_cell others, float px, float py,
                                __global const struct disks_member *member) {
    const uint m = member->cells, h = member->columns;
    uint found = disks_meets(others, 0, 0, px, py, member->contact);
    for (int k = 0; k < 9; k++) {
        const int ox = k % 3 - 1, oy = k / 3 - 1;
        if (k == 4)
            continue;
        const uint nx = (cx + m + (uint)ox) % m, ny = (cy + m + (uint)oy) % m;
        found |= disks_meets(disks_unpack(cells[disks_row(h, ny) + disks_col(h, nx)]), ox, oy, px,
                             py, member->contact);
    }
    return found;
}

ERGO_INLINE float8 disks_less(float8 a, float8 b) {
    return a < b ? a : b;
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

/* Fisher-Yates over the first n slots (line 5). */
ERGO_INLINE struct disks_cell disks_shuffle(struct disks_cell c, uint n, uint bits) {
    uint k = disks_below(bits, n == 4u ? 24u : n == 3u ? 6u : n);
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

/* Move slot i by the random words a and b, unless it overlaps or leaves the cell (lines 8 to 11).
 */
ERGO_INLINE uint disks_try(DISKS_SPACE const DISKS_RAW *cells, uint cx, uint cy,
                           struct disks_cell *own, const float8 *x, const float8 *y, int more,
                           uint i, uint a, uint b, __global const struct disks_member *member) {
    const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)i);
    float dx, dy;
    disks_displacement(a, b, member->step, &dx, &dy);
    const float px = (i == 0u   ? own->x.s0
                      : i == 1u ? own->x.s1
                      : i == 2u ? own->x.s2
                                : own->x.s3) +
                     dx;
    const float py = (i == 0u   ? own->y.s0
                      : i == 1u ? own->y.s1
                      : i == 2u ? own->y.s2
                                : own->y.s3) +
                     dy;
    const float4 others = select(own->x, (float4)(DISKS_FAR), me);
    const float4 ex = others - px, ey = own->y - py;
    const float4 near4 = fma(ex, ex, ey * ey);
    float8 near8 =
        disks_less(disks_distance2(x[0], y[0], px, py), disks_distance2(x[1], y[1], px, py));
    if (more) {
        near8 = disks_less(near8, disks_distance2(x[2], y[2], px, py));
        near8 = disks_less(near8, disks_distance2(x[3], y[3], px, py));
    }
    float4 least4 = near8.lo < near8.hi ? near8.lo : near8.hi;
    least4 = least4 < near4 ? least4 : near4;
    const float2 least2 = least4.lo < least4.hi ? least4.lo : least4.hi;
    const float least = least2.x < least2.y ? least2.x : least2.y;
    uint good = (uint)(px + member->leave >= 0.0f) & (uint)(px < DISKS_WF + member->leave) &
                (uint)(py + member->leave >= 0.0f) & (uint)(py < DISKS_WF + member->leave) &
                (uint)(least > member->low);
    if (good && least < member->high) {
        const struct disks_cell rest = {others, own->y};
        good = 1u - disks_overlaps(cells, cx, cy, rest, px, py, member);
    }
    const int4 change = me & (int4)(-(int)good);
    own->x = select(own->x, (float4)(px), change);
    own->y = select(own->y, (float4)(py), change);
    return good;
}

/*
 * All of a cell's trial moves. x, y: the 32 slots of the eight neighbours, in the cell's own
 * coordinates. Returns the number of accepted moves.
 */
ERGO_INLINE uint disks_moves(DISKS_SPACE const DISKS_RAW *cells, uint cx, uint cy,
                             struct disks_cell *own, uint n, const float8 *x, const float8 *y,
                             ulong step, __global const struct disks_member *member) {
    const uint entity = cy * member->cells + cx;
    const uint s0 = (uint)step, s1 = (uint)(step >> 32), k0 = member->key0, k1 = member->key1;
    const struct ergo_words r0 =
        ergo_philox_words(entity, s0, s1, ERGO_DRAW(DISKS_PURPOSE_CELL, 0), k0, k1);
    const struct ergo_words r1 =
        ergo_philox_words(entity, s0, s1, ERGO_DRAW(DISKS_PURPOSE_CELL, 1), k0, k1);
    const int more = any(disks_less(x[2], x[3]) < (float8)(0.5f * DISKS_FAR));
    uint accepted = 0u, i = 0u;
#ifndef DISKS_NO_SHUFFLE
    *own = disks_shuffle(*own, n, disks_spare(r0, r1));
#endif
    DISKS_UNROLL
    for (uint draw = 0u; 2u * draw < (uint)DISKS_MOVES; draw++) {
        struct ergo_words r = draw == 0u ? r0 : r1;
#if DISKS_MOVES > 4
        if (draw > 1u)
            r = ergo_philox_words(entity, s0, s1, ERGO_DRAW(DISKS_PURPOSE_CELL, draw), k0, k1);
#endif
        accepted += disks_try(cells, cx, cy, own, x, y, more, i, r.x, r.y, member);
        i = i + 1u < n ? i + 1u : 0u;
        if (2u * draw + 1u < (uint)DISKS_MOVES) {
            accepted += disks_try(cells, cx, cy, own, x, y, more, i, r.z, r.w, member);
            i = i + 1u < n ? i + 1u : 0u;
        }
    }
    return accepted;
}

/* A sub-sweep's work on one cell; returns accepted moves, plus 2^16 when there are disks. */
ERGO_INLINE uint disks_update(DISKS_SPACE DISKS_RAW *cells, uint cx, uint cy, ulong step,
                              __global const struct disks_member *member) {
    const uint m = member->cells, h = member->columns;
    const uint left = disks_col(h, cx ? cx - 1u : m - 1u), col = disks_col(h, cx),
               right = disks_col(h, cx + 1u < m ? cx + 1u : 0u);
    const uint down = disks_row(h, cy ? cy - 1u : m - 1u), row = disks_row(h, cy),
               up = disks_row(h, cy + 1u < m ? cy + 1u : 0u);
    struct disks_cell own = disks_unpack(cells[row + col]);
    const uint n = disks_count(own);
    if (n == 0u)
        return 0u;
    /* Slots 0 and 1 of four cells to a vector, then slots 2 and 3, which are seldom in use. */
    const struct disks_cell a0 = disks_unpack(cells[down + left]),
                            a1 = disks_unpack(cells[row + left]),
                            a2 = disks_unpack(cells[up + left]),
                            a3 = disks_unpack(cells[down + col]),
                            b0 = disks_unpack(cells[down + right]),
                            b1 = disks_unpack(cells[row + right]),
                            b2 = disks_unpack(cells[up + right]),
                            b3 = disks_unpack(cells[up + col]);
    const float w = DISKS_WF, v = 0.0f - DISKS_WF;
    const float8 ax = (float8)(v, v, v, v, v, v, 0.0f, 0.0f),
                 bx = (float8)(w, w, w, w, w, w, 0.0f, 0.0f);
    const float8 ay = (float8)(v, v, 0.0f, 0.0f, w, w, v, v),
                 by = (float8)(v, v, 0.0f, 0.0f, w, w, w, w);
    float8 x[4], y[4];
    x[0] = DISKS_JOIN(a0.x, a1.x, a2.x, a3.x, s0, s1) + ax;
    y[0] = DISKS_JOIN(a0.y, a1.y, a2.y, a3.y, s0, s1) + ay;
    x[1] = DISKS_JOIN(b0.x, b1.x, b2.x, b3.x, s0, s1) + bx;
    y[1] = DISKS_JOIN(b0.y, b1.y, b2.y, b3.y, s0, s1) + by;
    x[2] = DISKS_JOIN(a0.x, a1.x, a2.x, a3.x, s2, s3) + ax;
    y[2] = DISKS_JOIN(a0.y, a1.y, a2.y, a3.y, s2, s3) + ay;
    x[3] = DISKS_JOIN(b0.x, b1.x, b2.x, b3.x, s2, s3) + bx;
    y[3] = DISKS_JOIN(b0.y, b1.y, b2.y, b3.y, s2, s3) + by;
    const uint accepted = disks_moves(cells, cx, cy, &own, n, x, y, step, member);
    cells[row + col] = disks_pack(own);
    return accepted + 0x10000u;
}

/* ---- the shift of the grid (lines 15 to 17, Algorithm 4) --------------------------------------
 */

ERGO_INLINE struct disks_cell disks_append(struct disks_cell c, uint n, float x, float y) {
    const int4 slot = (int4)(0, 1, 2, 3) == (int4)((int)n);
    c.x = select(c.x, (float4)(x), slot);
    c.y = select(c.y, (float4)(y), slot);
    return c;
}

/* Append those disks of `from`, moved by (dx, dy), that are in the cell. The two cells that could
 * get a disk subtract and compare the same exact integers: it is in exactly one of them. */
ERGO_INLINE struct disks_cell disks_gather(struct disks_cell to, uint *n, struct disks_cell from,
                                           float dx, float dy) {
#define DISKS_TAKE(s)                                                                              \
    {                                                                                              \
        const float x = from.x.s + dx, y = from.y.s + dy;                                          \
        const uint here =                                                                          \
            (uint)(x >= 0.0f) & (uint)(x < DISKS_WF) & (uint)(y >= 0.0f) & (uint)(y < DISKS_WF);   \
        to = disks_append(to, here ? *n : DISKS_SLOTS, x, y);                                      \
        *n += here;                                                                                \
    }
    DISKS_TAKE(s0)
    DISKS_TAKE(s1)
    DISKS_TAKE(s2)
    DISKS_TAKE(s3)
#undef DISKS_TAKE
    return to;
}

/* The new content of a cell: disks that stay, then those that come in. */
ERGO_INLINE DISKS_RAW disks_shifted(DISKS_SPACE const DISKS_RAW *cells, uint cx, uint cy, uint plan,
                                    __global const struct disks_member *member) {
    const uint m = member->cells, h = member->columns;
    const uint direction = plan >> DISKS_PLAN_DIRECTION & 3u;
    const float distance = (float)(plan >> DISKS_PLAN_DISTANCE);
    const float sense = direction & 1u ? 1.0f : -1.0f;
    const float dx = direction < 2u ? 0.0f - sense * distance : 0.0f;
    const float dy = direction < 2u ? 0.0f : 0.0f - sense * distance;
    struct disks_cell to = {(float4)(DISKS_FAR), (float4)(0.0f)};
    uint n = 0u;
    to = disks_gather(to, &n, disks_unpack(cells[disks_row(h, cy) + disks_col(h, cx)]), dx, dy);
#ifdef DISKS_LEAVE
    /* disks may be outside of their cells: look at all neighbours */
    for (int k = 0; k < 9; k++) {
        const int ox = k % 3 - 1, oy = k / 3 - 1;
        if (k == 4)
            continue;
        const uint nx = (cx + m + (uint)ox) % m, ny = (cy + m + (uint)oy) % m;
        to = disks_gather(to, &n, disks_unpack(cells[disks_row(h, ny) + disks_col(h, nx)]),
                          dx + (float)ox * DISKS_WF, dy + (float)oy * DISKS_WF);
    }
#else
    uint nx = cx, ny = cy;
    if (direction == 0u)
        nx = cx ? cx - 1u : m - 1u;
    else if (direction == 1u)
        nx = cx + 1u < m ? cx + 1u : 0u;
    else if (direction == 2u)
        ny = cy ? cy - 1u : m - 1u;
    else
        ny = cy + 1u < m ? cy + 1u : 0u;
    to = disks_gather(to, &n, disks_unpack(cells[disks_row(h, ny) + disks_col(h, nx)]),
                      direction < 2u ? dx + sense * DISKS_WF : 0.0f,
                      direction < 2u ? 0.0f : dy + sense * DISKS_WF);
#endif
    return disks_pack(to);
}

#endif
