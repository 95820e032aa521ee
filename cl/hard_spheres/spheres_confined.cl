/* Measurements of hard spheres between walls and in fields. Sums are integers, so their order does
 * not matter. */
#include "common/sum64.h"
#include "hard_spheres/cell.h"

/* The place along the axis of cell number id of a member, in the order of memory. */
ERGO_INLINE ulong spheres_corner_of(__global const struct spheres_member *m,
                                    __global const ulong *grid, uint id, uint axis, ulong side) {
    const uint hx = m->cells[0] / 2u, hy = m->cells[1] / 2u, quarter = hx * hy * (m->cells[2] / 2u);
    const uint set = id / quarter, in = id - set * quarter;
    const uint pair = axis == 0u ? in % hx : axis == 1u ? in / hx % hy : in / hx / hy;
    return ergo_walls_corner(grid[axis], 2u * pair + (set >> axis & 1u), m->width[axis], side);
}

#define SPHERES_ALONG(sphere, axis)                                                                \
    ((axis) == 0u ? spheres_x(sphere) : (axis) == 1u ? spheres_y(sphere) : spheres_z(sphere))

/* beta u of all spheres: sums[sample][member][group], in groups as spheres_measure's. */
__kernel __attribute__((reqd_work_group_size(SPHERES_SUM_GROUP, 1, 1))) void
spheres_energy(__global const ulong2 *cells, __global const struct spheres_member *members,
               __global const struct ergo_walls *walls, __global const long *fields,
               __global const ulong *grid, __global long *sums, uint sample, uint n_members,
               uint plane) {
    __local long parts[SPHERES_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct spheres_member *m = &members[member];
    __global const long *nodes = fields + (size_t)member * ERGO_FIELD_NODES;
    const uint all = m->cells[0] * m->cells[1] * m->cells[2];
    const uint axis = walls[member].axis, shift = walls[member].shift;
    const ulong side = (ulong)m->width[axis] * m->cells[axis];
    long sum = 0L;
    for (uint id = (uint)get_global_id(0); id < all; id += items) {
        const ulong corner = spheres_corner_of(m, grid + 3u * member, id, axis, side);
        SPHERES_EACH(cells, plane, m->first + id, {
            const ulong place = ergo_walls_place(corner, SPHERES_ALONG(sphere, axis), side);
            sum += ERGO_FIELD_AT(nodes, shift, place);
        })
    }
    sum = ergo_sum_long(parts, item, SPHERES_SUM_GROUP, sum);
    if (item == 0u)
        sums[(sample * n_members + member) * (items / SPHERES_SUM_GROUP) + (uint)get_group_id(0)] =
            sum;
}

/* Histograms of places along the axis, counts[curve][member][bin]: of all, and next to the lower
 * and the upper wall, where there are any (wall_bins 0). */
__kernel void spheres_profile(__global const ulong2 *cells,
                              __global const struct spheres_member *members,
                              __global const struct ergo_walls *walls, __global const ulong *grid,
                              __global uint *profile, __global uint *low, __global uint *high,
                              uint curve, uint n_members, uint bins, uint wall_bins, uint plane) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct spheres_member *m = &members[member];
    if (id >= m->cells[0] * m->cells[1] * m->cells[2])
        return;
    const uint axis = walls[member].axis;
    const ulong side = (ulong)m->width[axis] * m->cells[axis];
    const ulong corner = spheres_corner_of(m, grid + 3u * member, id, axis, side);
    const size_t row = (size_t)curve * n_members + member;
    SPHERES_EACH(cells, plane, m->first + id, {
        const ulong place = ergo_walls_place(corner, SPHERES_ALONG(sphere, axis), side);
        ergo_walls_counted(&walls[member], place, profile + row * bins, bins, low + row * wall_bins,
                           high + row * wall_bins, wall_bins);
    })
}
