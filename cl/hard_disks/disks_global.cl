/* Hard disks in global memory: a sub-sweep a launch. */
#define DISKS_SPACE __global
#include "hard_disks/moves.h"

/* Plans of `count` sweeps from `step` on, [member][capacity]. */
__kernel void disks_plans(__global const struct disks_member *members, __global uint *plans,
                          ulong step, uint count, uint capacity) {
    const uint k = (uint)get_global_id(0), member = (uint)get_global_id(1);
    if (k < count)
        plans[member * capacity + k] = disks_plan(members[member].key0, members[member].key1,
                                                  step + k, DISKS_W, DISKS_SHUFFLE_SETS);
}

/* Line 4: all cells of set number `sub` of the sweep's order. */
__kernel void disks_subsweep(__global DISKS_RAW *cells, __global const struct disks_member *members,
                             __global const uint *plans, __global uint *tally, ulong step, uint k,
                             uint capacity, uint sub, uint note, uint second) {
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint member = (uint)get_global_id(2);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns;
    if (x >= h || y >= h)
        return;
    const uint set = plans[member * capacity + k] >> 2u * sub & 3u;
    const uint cx = 2u * x + (set & 1u), cy = 2u * y + (set >> 1);
    const uint done = disks_update(cells + mine->first, disks_place_of(mine->cells, cx, cy, second),
                                   cy * mine->cells + cx, step, mine);
    if (note)
        tally[mine->first + (set * h + y) * h + x] = done;
}

/* Line 17, into a second copy of the cells; grid: where cell (0, 0) is, in units. */
__kernel void disks_shift(__global const DISKS_RAW *from, __global DISKS_RAW *to,
                          __global const struct disks_member *members, __global const uint *plans,
                          __global ulong *grid, uint k, uint capacity, uint second) {
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint set = (uint)get_global_id(2) & 3u, member = (uint)get_global_id(2) >> 2;
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns;
    if (x >= h || y >= h)
        return;
    const uint plan = plans[member * capacity + k];
    const uint cx = 2u * x + (set & 1u), cy = 2u * y + (set >> 1);
    disks_store(to + mine->first, second, (set * h + y) * h + x,
                disks_shifted_cell(from + mine->first, second, mine->cells, cx, cy, plan));
    if (x + y + set == 0u)
        grid[2u * member + (plan >> (DISKS_PLAN_DIRECTION + 1u) & 1u)] =
            disks_grid(grid[2u * member + (plan >> (DISKS_PLAN_DIRECTION + 1u) & 1u)], plan,
                       (ulong)DISKS_W * mine->cells);
}
