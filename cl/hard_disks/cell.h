/*
 * Cells in memory and in registers, and the shift of the grid. DISKS_SPACE is the address space of
 * the cells; `second` is where the second plane begins (params.h).
 *
 * Cells of one checkerboard set are contiguous: in a grid of 2 half_x by 2 half_y cells, cell (cx,
 * cy) is at row(cy) + col(cx).
 */
#ifndef ERGO_CL_HARD_DISKS_CELL_H
#define ERGO_CL_HARD_DISKS_CELL_H

#include "hard_disks/core.h"

#ifdef DISKS_PACKED
#define DISKS_W DISKS_W_PACKED
#define DISKS_RAW uint4
#else
#define DISKS_W DISKS_W_WIDE
#define DISKS_RAW float4
#endif
#define DISKS_WF ((float)DISKS_W)
#define DISKS_EMPTY (0.5f * DISKS_FAR) /* a slot is empty if its x is at least this */

struct disks_cell {
    float4 x, y;
};

ERGO_INLINE uint disks_col(uint half_x, uint half_y, uint cx) {
    return (cx & 1u) * half_x * half_y + (cx >> 1);
}

ERGO_INLINE uint disks_row(uint half_x, uint half_y, uint cy) {
    return (cy & 1u) * 2u * half_x * half_y + (cy >> 1) * half_x;
}

/* 1 if slots 2 and 3 hold disks, else 0. */
ERGO_INLINE uint disks_more(DISKS_RAW raw) {
#ifdef DISKS_PACKED
    return (uint)((raw.s2 & 0xffffu) != (uint)DISKS_W);
#else
    return (uint)(raw.s3 > 0.5f * DISKS_MORE);
#endif
}

/* Remove the mark that says so. */
ERGO_INLINE DISKS_RAW disks_plain(DISKS_RAW raw, uint more) {
#ifndef DISKS_PACKED
    raw.s3 = more ? raw.s3 - DISKS_MORE : raw.s3;
#endif
    return raw;
}

/* Slots 0 and 1 of a cell without that mark, as x0 x1 y0 y1. */
ERGO_INLINE float4 disks_first(DISKS_RAW raw) {
#ifdef DISKS_PACKED
    const uint x0 = raw.s0 & 0xffffu, x1 = raw.s1 & 0xffffu;
    return (float4)(x0 == (uint)DISKS_W ? DISKS_FAR : (float)x0,
                    x1 == (uint)DISKS_W ? DISKS_FAR : (float)x1, (float)(raw.s0 >> 16),
                    (float)(raw.s1 >> 16));
#else
    return raw;
#endif
}

/* Slots 2 and 3 as x2 x3 y2 y3, for a cell that has disks there. `raw` is its first part, `rest`
 * the second. */
ERGO_INLINE float4 disks_second(DISKS_RAW raw, DISKS_RAW rest) {
#ifdef DISKS_PACKED
    return disks_first((uint4)(raw.s2, raw.s3, DISKS_W, DISKS_W));
#else
    return rest;
#endif
}

ERGO_INLINE struct disks_cell disks_join(float4 first, float4 second) {
    const struct disks_cell c = {(float4)(first.s0, first.s1, second.s0, second.s1),
                                 (float4)(first.s2, first.s3, second.s2, second.s3)};
    return c;
}

/* Packed cells have no second plane. */
#ifdef DISKS_PACKED
#define DISKS_SECOND(second, at) (at)
#else
#define DISKS_SECOND(second, at) ((second) + (at))
#endif

#define DISKS_NOTHING ((float4)(DISKS_FAR, DISKS_FAR, 0.0f, 0.0f))

ERGO_INLINE uint disks_word(float x, float y) {
    return x < DISKS_EMPTY ? (uint)x | (uint)y << 16 : (uint)DISKS_W;
}

/* The first part of a cell as memory holds it. */
ERGO_INLINE DISKS_RAW disks_raw(struct disks_cell c) {
#ifdef DISKS_PACKED
    return (uint4)(disks_word(c.x.s0, c.y.s0), disks_word(c.x.s1, c.y.s1),
                   disks_word(c.x.s2, c.y.s2), disks_word(c.x.s3, c.y.s3));
#else
    return (float4)(c.x.s0, c.x.s1, c.y.s0, c.x.s2 < DISKS_EMPTY ? c.y.s1 + DISKS_MORE : c.y.s1);
#endif
}

ERGO_INLINE DISKS_RAW disks_raw_second(struct disks_cell c) {
#ifdef DISKS_PACKED
    return disks_raw(c);
#else
    return (float4)(c.x.s2, c.x.s3, c.y.s2, c.y.s3);
#endif
}

/* Access to all four slots of a cell, in one address space. `whole` loads a cell whose first part
 * has been read already. */
#define DISKS_DEFINE_ACCESS(whole, load, store, space)                                             \
    ERGO_INLINE struct disks_cell whole(space const DISKS_RAW *cells, uint second, uint at,        \
                                        DISKS_RAW raw) {                                           \
        const uint more = disks_more(raw);                                                         \
        float4 rest = DISKS_NOTHING;                                                               \
        if (more)                                                                                  \
            rest = disks_second(raw, cells[DISKS_SECOND(second, at)]);                             \
        return disks_join(disks_first(disks_plain(raw, more)), rest);                              \
    }                                                                                              \
    ERGO_INLINE struct disks_cell load(space const DISKS_RAW *cells, uint second, uint at) {       \
        return whole(cells, second, at, cells[at]);                                                \
    }                                                                                              \
    ERGO_INLINE void store(space DISKS_RAW *cells, uint second, uint at, struct disks_cell c) {    \
        cells[at] = disks_raw(c);                                                                  \
        if (c.x.s2 < DISKS_EMPTY)                                                                  \
            cells[DISKS_SECOND(second, at)] = disks_raw_second(c);                                 \
    }
DISKS_DEFINE_ACCESS(disks_whole, disks_load, disks_store, DISKS_SPACE)

/* Number of disks in a cell; they fill the first slots. */
ERGO_INLINE uint disks_count(struct disks_cell c) {
    const int4 used = c.x < (float4)(DISKS_EMPTY);
    return (uint) - (used.x + used.y + used.z + used.w);
}

/* ---- the shift of the grid (lines 15 to 17, Algorithm 4) ------------------------------------ */

/* What a sweep's shift means for a cell: the offset of the one other cell whose disks may move in,
 * and by how much the coordinates of disks change. */
struct disks_shift {
    int ox, oy;
    float dx, dy;             /* for the cell's own disks */
    float other_dx, other_dy; /* for the other cell's disks */
};

ERGO_INLINE struct disks_shift disks_shift_of(uint plan) {
    const uint direction = plan >> DISKS_PLAN_DIRECTION & 3u;
    const float distance = (float)(plan >> DISKS_PLAN_DISTANCE);
    const int sense = direction & 1u ? 1 : -1;
    const float by = direction & 1u ? 0.0f - distance : distance;
    struct disks_shift s = {0, 0, 0.0f, 0.0f, 0.0f, 0.0f};
    if (direction < 2u) {
        s.ox = sense;
        s.dx = by;
        s.other_dx = by + (float)sense * DISKS_WF;
    } else {
        s.oy = sense;
        s.dy = by;
        s.other_dy = by + (float)sense * DISKS_WF;
    }
    return s;
}

ERGO_INLINE struct disks_cell disks_append(struct disks_cell c, uint n, float x, float y) {
    const int4 slot = (int4)(0, 1, 2, 3) == (int4)((int)n);
    c.x = select(c.x, (float4)(x), slot);
    c.y = select(c.y, (float4)(y), slot);
    return c;
}

/* Is a disk in the cell after the shift? Both candidate cells subtract and compare the same exact
 * integers, so exactly one of them gets the disk. */
ERGO_INLINE uint disks_here(float x, float y) {
    /* 0 <= x < W in one comparison of bits: those of a negative number are greater. x is never -0.
     */
    return (uint)(as_uint(x) < as_uint(DISKS_WF)) & (uint)(as_uint(y) < as_uint(DISKS_WF));
}

#define DISKS_TAKE(s)                                                                              \
    {                                                                                              \
        const float x = from.x.s + dx, y = from.y.s + dy;                                          \
        const uint here = disks_here(x, y);                                                        \
        to = disks_append(to, here ? *n : DISKS_SLOTS, x, y);                                      \
        *n += here;                                                                                \
    }

/* Append those disks of `from` that are in the cell after moving by (dx, dy). */
ERGO_INLINE struct disks_cell disks_gather(struct disks_cell to, uint *n, struct disks_cell from,
                                           float dx, float dy) {
    DISKS_TAKE(s0)
    DISKS_TAKE(s1)
    if (from.x.s2 < DISKS_EMPTY) {
        DISKS_TAKE(s2)
        DISKS_TAKE(s3)
    }
    return to;
}

/* The new content of a cell: first the disks that stay, in their order, then those that move in. */
ERGO_INLINE struct disks_cell disks_shifted(struct disks_cell own, struct disks_cell other,
                                            struct disks_shift s) {
    /* lane by lane, because Oclgrind's memory check crashes on vectors made of vectors */
    const float4 x = (float4)(own.x.s0 + s.dx, own.x.s1 + s.dx, other.x.s0 + s.other_dx,
                              other.x.s1 + s.other_dx),
                 y = (float4)(own.y.s0 + s.dy, own.y.s1 + s.dy, other.y.s0 + s.other_dy,
                              other.y.s1 + s.other_dy);
    const uint h0 = disks_here(x.s0, y.s0), h1 = disks_here(x.s1, y.s1),
               h2 = disks_here(x.s2, y.s2), h3 = disks_here(x.s3, y.s3);
    const uint sum = h0 + h1 + h2 + h3;
    struct disks_cell to = {(float4)(DISKS_FAR), (float4)(0.0f)};
    if (sum > 2u || own.x.s2 < DISKS_EMPTY || other.x.s2 < DISKS_EMPTY) { /* seldom */
        uint n = 0u;
        to = disks_gather(to, &n, own, s.dx, s.dy);
        return disks_gather(to, &n, other, s.other_dx, s.other_dy);
    }
    /* the first disk that is here and, if there are two, the last one */
    to.x.s0 = h0 ? x.s0 : h1 ? x.s1 : h2 ? x.s2 : h3 ? x.s3 : DISKS_FAR;
    to.y.s0 = h0 ? y.s0 : h1 ? y.s1 : h2 ? y.s2 : h3 ? y.s3 : 0.0f;
    if (sum == 2u) {
        to.x.s1 = h3 ? x.s3 : h2 ? x.s2 : x.s1;
        to.y.s1 = h3 ? y.s3 : h2 ? y.s2 : y.s1;
    }
    return to;
}

/* The same from memory, for cell (cx, cy) of a whole member of 2 h by 2 v cells. */
ERGO_INLINE struct disks_cell disks_shifted_cell(DISKS_SPACE const DISKS_RAW *cells, uint second,
                                                 uint h, uint v, uint cx, uint cy, uint plan) {
    const uint m = 2u * h, rows = 2u * v;
    const struct disks_shift s = disks_shift_of(plan);
    const struct disks_cell own =
        disks_load(cells, second, disks_row(h, v, cy) + disks_col(h, v, cx));
#ifdef DISKS_LEAVE
    /* disks may lie outside of their cells, so look at all neighbours */
    struct disks_cell to = {(float4)(DISKS_FAR), (float4)(0.0f)};
    uint n = 0u;
    to = disks_gather(to, &n, own, s.dx, s.dy);
    for (int k = 0; k < 9; k++) {
        const int ox = k % 3 - 1, oy = k / 3 - 1;
        if (k == 4)
            continue;
        const uint nx = (cx + m + (uint)ox) % m, ny = (cy + rows + (uint)oy) % rows;
        to = disks_gather(to, &n,
                          disks_load(cells, second, disks_row(h, v, ny) + disks_col(h, v, nx)),
                          s.dx + (float)ox * DISKS_WF, s.dy + (float)oy * DISKS_WF);
    }
    return to;
#else
    const uint nx = s.ox < 0               ? (cx ? cx - 1u : m - 1u)
                    : s.ox && cx + 1u == m ? 0u
                                           : cx + (uint)s.ox;
    const uint ny = s.oy < 0                  ? (cy ? cy - 1u : rows - 1u)
                    : s.oy && cy + 1u == rows ? 0u
                                              : cy + (uint)s.oy;
    return disks_shifted(own, disks_load(cells, second, disks_row(h, v, ny) + disks_col(h, v, nx)),
                         s);
#endif
}

#endif
