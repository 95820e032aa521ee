/* Measurements of hard disks between walls and in fields. Sums are integers, so their order does
 * not matter. */
#define DISKS_SPACE __global
#include "common/sum64.h"
#include "hard_disks/confined.h"

/* Places along the axis of the disks of a cell, and their number. */
ERGO_INLINE uint disks_places(__global const DISKS_RAW *cells,
                              __global const struct disks_member *m, __global const ulong *grid,
                              uint axis, uint second, uint cx, uint cy, ulong *places) {
    const uint h = m->columns[0], v = m->columns[DISKS_Y];
    const ulong side = (ulong)DISKS_W * m->cells[axis ? DISKS_Y : 0];
    const ulong corner = ergo_walls_corner(grid[axis], axis ? cy : cx, DISKS_W, side);
    const struct disks_cell c =
        disks_load(cells, second, m->first + disks_row(h, v, cy) + disks_col(h, v, cx));
    const float4 at = axis ? c.y : c.x;
    const float all[4] = {at.s0, at.s1, at.s2, at.s3};
    const uint n = disks_count(c);
    for (uint i = 0u; i < n; i++)
        places[i] = ergo_walls_place(corner, (int)all[i], side);
    return n;
}

/* beta u of all disks: sums[sample][member][group], in groups as disks_measure's. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_energy(__global const DISKS_RAW *cells, __global const struct disks_member *members,
             __global const struct ergo_walls *walls, __global const long *fields,
             __global const ulong *grid, __global long *sums, uint sample, uint n_members,
             uint second) {
    __local long parts[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct disks_member *mine = &members[member];
    __global const long *nodes = fields + (size_t)member * ERGO_FIELD_NODES;
    const uint m = mine->cells[0], all = m * mine->cells[DISKS_Y];
    const uint axis = walls[member].axis, shift = walls[member].shift;
    long sum = 0L;
    for (uint id = (uint)get_global_id(0); id < all; id += items) {
        ulong places[DISKS_SLOTS];
        const uint n =
            disks_places(cells, mine, grid + 2u * member, axis, second, id % m, id / m, places);
        for (uint i = 0u; i < n; i++)
            sum += ERGO_FIELD_AT(nodes, shift, places[i]);
    }
    sum = ergo_sum_long(parts, item, DISKS_SUM_GROUP, sum);
    if (item == 0u)
        sums[(sample * n_members + member) * (items / DISKS_SUM_GROUP) + (uint)get_group_id(0)] =
            sum;
}

/* Histograms of places along the axis, counts[curve][member][bin]: of all, and next to the lower
 * and the upper wall, where there are any (wall_bins 0). */
__kernel void disks_profile(__global const DISKS_RAW *cells,
                            __global const struct disks_member *members,
                            __global const struct ergo_walls *walls, __global const ulong *grid,
                            __global uint *profile, __global uint *low, __global uint *high,
                            uint curve, uint n_members, uint bins, uint wall_bins, uint second) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct disks_member *mine = &members[member];
    const uint m = mine->cells[0];
    if (id >= m * mine->cells[DISKS_Y])
        return;
    const size_t row = (size_t)curve * n_members + member;
    ulong places[DISKS_SLOTS];
    const uint n = disks_places(cells, mine, grid + 2u * member, walls[member].axis, second, id % m,
                                id / m, places);
    for (uint i = 0u; i < n; i++)
        ergo_walls_counted(&walls[member], places[i], profile + row * bins, bins,
                           low + row * wall_bins, high + row * wall_bins, wall_bins);
}
