/*
 * Hard disks by tiles, one launch per sweep. A work-group loads a rectangle of cells into local
 * memory, applies the shift of the sweep before, makes the four sub-sweeps, and writes the tile to
 * a second copy.
 *
 * Four more cells on each side are loaded as a rim. A sub-sweep changes a cell by what its
 * neighbours are, so after sub-sweep s (from 0) a cell is right if it is more than s cells from the
 * edge of what was loaded. After the last sub-sweep these are the cells of the tile. Several
 * work-groups update the cells of a rim, with the same random numbers and the same result.
 */
#define DISKS_SPACE __local
#define DISKS_WAITS
#include "hard_disks/moves.h"

DISKS_DEFINE_ACCESS(disks_whole_global, disks_load_global, disks_store_global, __global)

#define DISKS_RIM 4u
#ifdef DISKS_CPU
#define DISKS_AT_ONCE 1u
#else
#define DISKS_AT_ONCE 2u /* cells that a work-item loads at once */
#endif

/* Work-items go over cells in rows of this length, so the loops need no division. A work-group's
 * size is a power of two. */
#define DISKS_ROW (DISKS_GROUP < 32 ? (uint)DISKS_GROUP : 32u)
#define DISKS_SET_ROW (DISKS_GROUP < 16 ? (uint)DISKS_GROUP : 16u)

/* One direction of a tile: its first cell in the member, and the pairs of cells along it with the
 * rim and without. */
struct disks_extent {
    uint begin, pairs, inner;
};

ERGO_INLINE struct disks_extent disks_extent_of(uint tile, uint tiles, uint h) {
    struct disks_extent e;
    const uint first = tile * h / tiles;
    e.begin = 2u * first;
    e.inner = (tile + 1u) * h / tiles - first;
    e.pairs = e.inner + DISKS_RIM;
    return e;
}

/* Wrap `at`, from -m to 2 m - 1, into 0 to m - 1. */
ERGO_INLINE int disks_wrap(int at, uint m) {
    return at < 0 ? at + (int)m : at >= (int)m ? at - (int)m : at;
}

/* The member's cell for cell `at` along a tile. m is at least 2. */
ERGO_INLINE uint disks_outer(struct disks_extent e, uint m, uint at) {
    return (uint)disks_wrap(disks_wrap((int)(e.begin + at) - (int)DISKS_RIM, m), m);
}

/* pairs_x, pairs_y: most pairs of cells along a tile, without rim. after: first make the shift of
 * sweep k - 1. room: cells per plane of local memory. */
__kernel __attribute__((reqd_work_group_size(DISKS_GROUP, 1, 1))) void
disks_tile(__global const DISKS_RAW *all_from, __global DISKS_RAW *all_to,
           __global const struct disks_member *members, __global const uint *plans,
           __global ulong *grid, __global uint *tally, ulong step, uint k, uint capacity,
           uint after, uint note, uint second, uint pairs_x, uint pairs_y, uint room,
           __local DISKS_RAW *cells) {
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);
    const uint member = (uint)get_group_id(1);
    __global const struct disks_member *mine = &members[member];
    __global const DISKS_RAW *from = all_from + mine->first;
    __global DISKS_RAW *to = all_to + mine->first;
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = 2u * h, all_rows = 2u * v;
    const uint tiles_x = (h + pairs_x - 1u) / pairs_x, tiles_y = (v + pairs_y - 1u) / pairs_y;
    const uint live = (uint)(tile < tiles_x * tiles_y); /* smaller members have fewer tiles */
    const struct disks_extent ex = disks_extent_of(tile % tiles_x, tiles_x, h);
    const struct disks_extent ey = disks_extent_of(tile / tiles_x % tiles_y, tiles_y, v);
    const uint plan = plans[member * capacity + k];
    const uint before = plans[member * capacity + (after ? k - 1u : k)];
    const struct disks_shift s = disks_shift_of(before);
    const uint column = item % DISKS_ROW, row = item / DISKS_ROW, rows = DISKS_GROUP / DISKS_ROW;
    const uint wide = 2u * ex.pairs, high = 2u * ey.pairs * live;

    for (uint x = column; x < wide; x += DISKS_ROW) {
        const uint cx = disks_outer(ex, m, x), nx = (uint)disks_wrap((int)cx + s.ox, m);
        for (uint base = row; base < high; base += DISKS_AT_ONCE * rows) {
            /* issue all loads before anything that waits for one of them */
            DISKS_RAW own[DISKS_AT_ONCE], other[DISKS_AT_ONCE];
            uint own_at[DISKS_AT_ONCE], other_at[DISKS_AT_ONCE];
#pragma unroll
            for (uint i = 0u; i < DISKS_AT_ONCE; i++) {
                const uint y = base + i * rows < high ? base + i * rows : base;
                const uint cy = disks_outer(ey, all_rows, y),
                           ny = (uint)disks_wrap((int)cy + s.oy, all_rows);
                own_at[i] = disks_row(h, v, cy) + disks_col(h, v, cx);
                other_at[i] = after ? disks_row(h, v, ny) + disks_col(h, v, nx) : own_at[i];
                own[i] = from[own_at[i]];
                other[i] = from[other_at[i]];
            }
#pragma unroll
            for (uint i = 0u; i < DISKS_AT_ONCE; i++) {
                struct disks_cell cell = disks_whole_global(from, second, own_at[i], own[i]);
                if (after)
                    cell = disks_shifted(
                        cell, disks_whole_global(from, second, other_at[i], other[i]), s);
                if (base + i * rows < high)
                    disks_store(cells, room,
                                disks_row(ex.pairs, ey.pairs, base + i * rows) +
                                    disks_col(ex.pairs, ey.pairs, x),
                                cell);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint sub = 0u; sub < 4u; sub++) {
        const uint set = plan >> 2u * sub & 3u;
        /* from sub + 1 to 2 pairs - 2 - sub, those of this set's parity */
        const uint x0 = sub + 1u + ((sub + 1u + set) & 1u);
        const uint y0 = sub + 1u + ((sub + 1u + (set >> 1)) & 1u);
        for (uint y = y0 + 2u * (item / DISKS_SET_ROW); y + sub + 1u < high;
             y += 2u * (DISKS_GROUP / DISKS_SET_ROW))
            for (uint x = x0 + 2u * (item % DISKS_SET_ROW); x + sub + 1u < wide;
                 x += 2u * DISKS_SET_ROW) {
                const uint cx = disks_outer(ex, m, x), cy = disks_outer(ey, all_rows, y);
                struct disks_place p;
                for (uint i = 0u; i < 3u; i++) {
                    p.row[i] = disks_row(ex.pairs, ey.pairs, y + i - 1u);
                    p.col[i] = disks_col(ex.pairs, ey.pairs, x + i - 1u);
                }
                p.second = room;
                const struct disks_confined none; /* tiles are for systems without walls */
                const uint done = disks_update(cells, p, cy * m + cx, step, mine, &none);
                if (note && x >= DISKS_RIM && x < wide - DISKS_RIM && y >= DISKS_RIM &&
                    y < high - DISKS_RIM)
                    tally[mine->first + disks_row(h, v, cy) + disks_col(h, v, cx)] = done;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint y = row + DISKS_RIM; y + DISKS_RIM < high; y += rows)
        for (uint x = column + DISKS_RIM; x + DISKS_RIM < wide; x += DISKS_ROW)
            disks_store_global(
                to, second,
                disks_row(h, v, disks_outer(ey, all_rows, y)) +
                    disks_col(h, v, disks_outer(ex, m, x)),
                disks_load(cells, room,
                           disks_row(ex.pairs, ey.pairs, y) + disks_col(ex.pairs, ey.pairs, x)));
    if (after && tile == 0u && item == 0u) {
        const uint axis = before >> (DISKS_PLAN_DIRECTION + 1u) & 1u;
        grid[2u * member + axis] = disks_grid(grid[2u * member + axis], before,
                                              (ulong)DISKS_W * mine->cells[DISKS_Y ? axis : 0u]);
    }
}
