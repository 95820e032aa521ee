/*
 * Hard disks by tiles: a work-group takes a rectangle of cells into local memory, shifted by the
 * sweep before, makes the four sub-sweeps, and writes it to a second copy: a launch a sweep.
 *
 * Around the tile lie four more cells on each side. A sub-sweep changes a cell by what its
 * neighbours are, so that after sub-sweep s (from 0) all is right that is more than s cells from
 * the edge of what was loaded: after the last one, the tile. Cells of the rim are updated by
 * several groups, with the same random numbers and the same result.
 */
#define DISKS_SPACE __local
#include "hard_disks/moves.h"

DISKS_DEFINE_ACCESS(disks_load_global, disks_store_global, __global)

#define DISKS_RIM 4u

/* A direction of a tile: where it begins in the member, pairs of cells along it with and without
 * rim.
 */
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

/* Cell of the member for cell `at` along a tile. */
ERGO_INLINE uint disks_outer(struct disks_extent e, uint m, uint at) {
    return (e.begin + at + DISKS_RIM * (m - 1u)) % m;
}

/* pairs_x, pairs_y: pairs of cells along a tile at most. after: the shift of sweep k - 1 is to be
 * made first. room: cells a plane of local memory. */
__kernel void disks_tile(__global const DISKS_RAW *all_from, __global DISKS_RAW *all_to,
                         __global const struct disks_member *members, __global const uint *plans,
                         __global ulong *grid, __global uint *tally, ulong step, uint k,
                         uint capacity, uint after, uint note, uint second, uint pairs_x,
                         uint pairs_y, uint room, __local DISKS_RAW *cells) {
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);
    const uint member = (uint)get_group_id(1);
    __global const struct disks_member *mine = &members[member];
    __global const DISKS_RAW *from = all_from + mine->first;
    __global DISKS_RAW *to = all_to + mine->first;
    const uint m = mine->cells, h = mine->columns;
    const uint tiles_x = (h + pairs_x - 1u) / pairs_x, tiles_y = (h + pairs_y - 1u) / pairs_y;
    const uint live = (uint)(tile < tiles_x * tiles_y); /* members differ in size */
    const struct disks_extent ex = disks_extent_of(tile % tiles_x, tiles_x, h);
    const struct disks_extent ey = disks_extent_of(tile / tiles_x % tiles_y, tiles_y, h);
    const uint quarter = ex.pairs * ey.pairs;
    const uint plan = plans[member * capacity + k];
    const uint before = plans[member * capacity + (after ? k - 1u : k)];

    for (uint id = item; id < 4u * quarter * live; id += DISKS_GROUP) {
        const uint set = id / quarter, place = id - set * quarter;
        const uint cx = disks_outer(ex, m, 2u * (place % ex.pairs) + (set & 1u));
        const uint cy = disks_outer(ey, m, 2u * (place / ex.pairs) + (set >> 1));
        struct disks_cell cell =
            disks_load_global(from, second, disks_row(h, h, cy) + disks_col(h, h, cx));
        if (after) {
            const struct disks_shift s = disks_shift_of(before);
            const uint nx = (cx + m + (uint)s.ox) % m, ny = (cy + m + (uint)s.oy) % m;
            cell = disks_shifted(
                cell, disks_load_global(from, second, disks_row(h, h, ny) + disks_col(h, h, nx)),
                s);
        }
        disks_store(cells, room, id, cell);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint sub = 0u; sub < 4u; sub++) {
        const uint set = plan >> 2u * sub & 3u;
        /* cells sub + 1 .. 2 pairs - 2 - sub of this set's parity */
        const uint x0 = sub + 1u + ((sub + 1u + set) & 1u);
        const uint y0 = sub + 1u + ((sub + 1u + (set >> 1)) & 1u);
        const uint nx = (2u * ex.pairs - sub - x0) / 2u, ny = (2u * ey.pairs - sub - y0) / 2u;
        for (uint id = item; id < nx * ny * live; id += DISKS_GROUP) {
            const uint x = x0 + 2u * (id % nx), y = y0 + 2u * (id / nx);
            const uint cx = disks_outer(ex, m, x), cy = disks_outer(ey, m, y);
            struct disks_place p;
            for (uint i = 0u; i < 3u; i++) {
                p.row[i] = disks_row(ex.pairs, ey.pairs, y + i - 1u);
                p.col[i] = disks_col(ex.pairs, ey.pairs, x + i - 1u);
            }
            p.second = room;
            const uint done = disks_update(cells, p, cy * m + cx, step, mine);
            if (note && x >= DISKS_RIM && x < 2u * ex.pairs - DISKS_RIM && y >= DISKS_RIM &&
                y < 2u * ey.pairs - DISKS_RIM)
                tally[mine->first + disks_row(h, h, cy) + disks_col(h, h, cx)] = done;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint inner = ex.inner * ey.inner;
    for (uint id = item; id < 4u * inner * live; id += DISKS_GROUP) {
        const uint set = id / inner, place = id - set * inner;
        const uint x = 2u * (place % ex.inner) + (set & 1u) + DISKS_RIM;
        const uint y = 2u * (place / ex.inner) + (set >> 1) + DISKS_RIM;
        disks_store_global(
            to, second,
            disks_row(h, h, disks_outer(ey, m, y)) + disks_col(h, h, disks_outer(ex, m, x)),
            disks_load(cells, room,
                       disks_row(ex.pairs, ey.pairs, y) + disks_col(ex.pairs, ey.pairs, x)));
    }
    if (after && tile == 0u && item == 0u)
        grid[2u * member + (before >> (DISKS_PLAN_DIRECTION + 1u) & 1u)] =
            disks_grid(grid[2u * member + (before >> (DISKS_PLAN_DIRECTION + 1u) & 1u)], before,
                       (ulong)DISKS_W * m);
}
