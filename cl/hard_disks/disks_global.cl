/*
 * Hard disks in global memory, one launch per sub-sweep. DISKS_EXACT: the launch has exactly one
 * work-item per cell, so no work-item waits for a member's size before it loads its cells.
 */
#define DISKS_SPACE __global
#include "hard_disks/moves.h"

/* Plans of the `count` sweeps that begin at `step`: plans[member][capacity]. */
__kernel void disks_plans(__global const struct disks_member *members, __global uint *plans,
                          ulong step, uint count, uint capacity) {
    const uint k = (uint)get_global_id(0), member = (uint)get_global_id(1);
    if (k < count)
        plans[member * capacity + k] = disks_plan(members[member].key0, members[member].key1,
                                                  step + k, DISKS_W, DISKS_SHUFFLE_SETS);
}

/* Line 4 of Algorithm 1: all cells of set number `sub` in the sweep's order. */
__kernel void disks_subsweep(__global DISKS_RAW *cells, __global const struct disks_member *members,
                             __global const uint *plans, __global uint *tally, ulong step, uint k,
                             uint capacity, uint sub, uint note, uint second,
                             __global const struct ergo_walls *walls, __global const long *fields,
                             __global const ulong *grid) {
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint member = (uint)get_global_id(2);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y];
#ifndef DISKS_EXACT
    if (x >= h || y >= v)
        return;
#endif
    const uint set = plans[member * capacity + k] >> 2u * sub & 3u;
    const uint cx = 2u * x + (set & 1u), cy = 2u * y + (set >> 1);
    const struct disks_confined confined = disks_confined_of(
        mine, walls, fields, member, grid[2u * member], grid[2u * member + 1u], cx, cy);
    const uint done = disks_update(cells + mine->first, disks_place_of(h, v, cx, cy, second),
                                   cy * mine->cells[0] + cx, step, mine, &confined);
    if (note)
        tally[mine->first + (set * v + y) * h + x] = done;
}

/* Line 17 of Algorithm 1, into a second copy of the cells. grid: the place of cell (0, 0), in
 * units. A work-item has two by two cells, as two lines along the shift. In each line the
 * first cell takes disks from the other one, and that one from the next work-item's first cell. */
__kernel void disks_shift(__global const DISKS_RAW *from, __global DISKS_RAW *to,
                          __global const struct disks_member *members, __global const uint *plans,
                          __global ulong *grid, uint k, uint capacity, uint second) {
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint member = (uint)get_global_id(2);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y];
#ifndef DISKS_EXACT
    if (x >= h || y >= v)
        return;
#endif
    const uint plan = plans[member * capacity + k];
    from += mine->first;
    to += mine->first;
#ifdef DISKS_LEAVE
    for (uint set = 0u; set < 4u; set++)
        disks_store(
            to, second, (set * v + y) * h + x,
            disks_shifted_cell(from, second, h, v, 2u * x + (set & 1u), 2u * y + (set >> 1), plan));
#else
    const struct disks_shift s = disks_shift_of(plan);
    const uint along_y = (uint)(s.oy != 0), up = (uint)(s.ox + s.oy > 0);
    const uint fx = along_y ? x : up ? (x + 1u < h ? x + 1u : 0u) : x ? x - 1u : h - 1u;
    const uint fy = !along_y ? y : up ? (y + 1u < v ? y + 1u : 0u) : y ? y - 1u : v - 1u;
    uint first[2], other[2], next[2]; /* in the direction from which disks come */
    DISKS_RAW raw_first[2], raw_other[2], raw_next[2];
#pragma unroll
    for (uint line = 0u; line < 2u; line++) { /* all loads before anything that waits for one */
        const uint low = along_y ? line : 2u * line, high = low + (along_y ? 2u : 1u);
        first[line] = ((up ? low : high) * v + y) * h + x;
        other[line] = ((up ? high : low) * v + y) * h + x;
        next[line] = ((up ? low : high) * v + fy) * h + fx;
        raw_first[line] = from[first[line]];
        raw_other[line] = from[other[line]];
        raw_next[line] = from[next[line]];
    }
#pragma unroll
    for (uint line = 0u; line < 2u; line++) {
        const struct disks_cell one = disks_whole(from, second, first[line], raw_first[line]);
        const struct disks_cell two = disks_whole(from, second, other[line], raw_other[line]);
        const struct disks_cell three = disks_whole(from, second, next[line], raw_next[line]);
        disks_store(to, second, first[line], disks_shifted(one, two, s));
        disks_store(to, second, other[line], disks_shifted(two, three, s));
    }
#endif
    if (x + y == 0u) {
        const uint axis = plan >> (DISKS_PLAN_DIRECTION + 1u) & 1u;
        grid[2u * member + axis] = disks_grid(grid[2u * member + axis], plan,
                                              (ulong)DISKS_W * mine->cells[DISKS_Y ? axis : 0u]);
    }
}
