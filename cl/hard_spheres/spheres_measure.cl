/* Measurements of hard spheres. Sums are integers, so their order does not matter. */
#include "common/histogram.h"
#include "common/least.h"
#include "hard_spheres/cell.h"

/* Each work-item adds up cells of its member, then a work-group adds up its work-items:
 * sums[sample][member][group]. */
__kernel __attribute__((reqd_work_group_size(SPHERES_SUM_GROUP, 1, 1))) void
spheres_measure(__global const ulong2 *cells, __global const struct spheres_member *members,
                __global const uint *tally, __global struct spheres_sum *sums,
                __global const struct ergo_volume *volumes, __global struct ergo_volume *seen,
                uint sample, uint n_members, uint plane) {
    __local struct spheres_sum parts[SPHERES_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct spheres_member *m = &members[member];
    const uint all = m->cells[0] * m->cells[1] * m->cells[2];
    struct spheres_sum sum = {0u, 0u, 0u, 0u};
    for (uint id = (uint)get_global_id(0); id < all; id += items) {
        uint n = 0u;
        SPHERES_EACH(cells, plane, m->first + id, { n += (uint)(sphere != SPHERES_EMPTY); })
        sum.spheres += n;
        sum.occupied += n > 0u;
        sum.accepted += tally[m->first + id] & 0xffffu;
        sum.tried += tally[m->first + id] >> 16;
    }
    parts[item] = sum;
    for (uint some = SPHERES_SUM_GROUP / 2u; some > 0u; some /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < some) {
            parts[item].spheres += parts[item + some].spheres;
            parts[item].occupied += parts[item + some].occupied;
            parts[item].accepted += parts[item + some].accepted;
            parts[item].tried += parts[item + some].tried;
        }
    }
#ifdef SPHERES_NPT
    if (get_global_id(0) == 0u)
        seen[sample * n_members + member] = volumes[member];
#endif
    if (item == 0u)
        sums[(sample * n_members + member) * (items / SPHERES_SUM_GROUP) + (uint)get_group_id(0)] =
            parts[0];
}

/*
 * Histogram of pair distances, each pair once: counts[curve][member][bin]. Bin b holds limits[b] <=
 * r^2 < limits[b + 1]. The comparison is in exact integers; fp32 only guesses the bin to begin
 * with. A launch handles the layers of cells above at distances `from` to `to` - 1.
 */
__kernel void spheres_pairs(__global const ulong2 *cells,
                            __global const struct spheres_member *members,
                            __global const ulong *all_limits, __global uint *counts, uint curve,
                            uint n_members, uint bins, uint which, uint plane, uint from, uint to,
                            uint look) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct spheres_member *m = &members[member];
    const uint nx = m->cells[0], ny = m->cells[1], nz = m->cells[2];
    if (id >= nx * ny * nz || id >= look)
        return;
    __global const ulong *limits = all_limits + (size_t)member * (bins + 1u);
    __global uint *count = counts + (size_t)(curve * n_members + member) * bins;
    const uint cx = id % nx, cy = id / nx % ny, cz = id / nx / ny;
    const int rx = (int)m->reach[which][0], ry = (int)m->reach[which][1],
              rz = (int)m->reach[which][2];
    ulong own[SPHERES_SLOTS];
    const uint n = spheres_load(cells + m->first, plane, spheres_at(m, cx, cy, cz), own);
    const ulong first = limits[0], last = limits[bins];
    const float origin = sqrt((float)first);
    const float scale = (float)bins / (sqrt((float)last) - origin);
    for (int oz = (int)from; oz <= rz && oz < (int)to && n > 0u; oz++) {
        const uint z = (cz + (uint)oz) % nz;
        for (int oy = oz ? -ry : 0; oy <= ry; oy++) {
            const uint y = (uint)((int)cy + oy + (int)(((uint)ry / ny + 1u) * ny)) % ny;
            for (int ox = oz | oy ? -rx : 0; ox <= rx; ox++) {
                const uint x = (uint)((int)cx + ox + (int)(((uint)rx / nx + 1u) * nx)) % nx;
                const bool same = ox == 0 && oy == 0 && oz == 0;
                uint seen = 0u; /* of the other cell */
                SPHERES_EACH(cells + m->first, plane, spheres_at(m, x, y, z), {
                    const long qx = (long)spheres_x(sphere) + (long)ox * m->width[0];
                    const long qy = (long)spheres_y(sphere) + (long)oy * m->width[1];
                    const long qz = (long)spheres_z(sphere) + (long)oz * m->width[2];
                    const uint most = same ? seen : n;
                    for (uint i = 0u; i < most; i++) {
                        const long dx = qx - spheres_x(own[i]);
                        const long dy = qy - spheres_y(own[i]);
                        const long dz = qz - spheres_z(own[i]);
                        const ulong r2 = (ulong)(dx * dx + dy * dy + dz * dz);
                        if (r2 >= first && r2 < last)
                            atomic_inc(&count[ergo_bin(limits, bins, r2,
                                                       (sqrt((float)r2) - origin) * scale)]);
                    }
                    seen++;
                })
            }
        }
    }
}

/* The smallest r^2 of two spheres in one cell or in neighbours: a partial one for each work-group,
 * least[member][group]. Other pairs are farther apart than cells are wide. tried: by the sides that
 * the move of that step proposes, where they change one by one; else all units are alike.
 */
__kernel __attribute__((reqd_work_group_size(SPHERES_SUM_GROUP, 1, 1))) void
spheres_closest(__global const ulong2 *cells, __global const struct spheres_member *members,
                __global const struct ergo_volume *volumes, __global ulong *least, ulong step,
                uint tried, uint plane) {
    __local ulong parts[SPHERES_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct spheres_member *m = &members[member];
    const uint nx = m->cells[0], ny = m->cells[1], nz = m->cells[2];
    struct spheres_metric metric = {0UL, ERGO_VOLUME_ONE, ERGO_VOLUME_ONE};
#ifdef SPHERES_PER_AXIS
    if (tried)
        metric = spheres_metric_at(spheres_volume_tried(m->key0, m->key1, volumes[member], step));
#endif
    ulong own[SPHERES_SLOTS];
    ulong nearest = SPHERES_EMPTY;
    for (uint id = (uint)get_global_id(0); id < nx * ny * nz; id += items) {
        const uint cx = id % nx, cy = id / nx % ny, cz = id / nx / ny;
        const uint n = spheres_load(cells + m->first, plane, spheres_at(m, cx, cy, cz), own);
        for (int o = 13; o < 27 && n > 0u; o++) { /* each pair of cells once */
            const int ox = o % 3 - 1, oy = o / 3 % 3 - 1, oz = o / 9 - 1;
            const uint at = spheres_at(m, spheres_beside(cx, ox, nx), spheres_beside(cy, oy, ny),
                                       spheres_beside(cz, oz, nz));
            uint seen = 0u;
            SPHERES_EACH(cells + m->first, plane, at, {
                const long qx = (long)spheres_x(sphere) + (long)ox * m->width[0];
                const long qy = (long)spheres_y(sphere) + (long)oy * m->width[1];
                const long qz = (long)spheres_z(sphere) + (long)oz * m->width[2];
                const uint most = o == 13 ? seen : n;
                for (uint i = 0u; i < most; i++) {
                    const long dx = qx - spheres_x(own[i]);
                    const long dy = qy - spheres_y(own[i]);
                    const long dz = qz - spheres_z(own[i]);
                    nearest = min(nearest, spheres_r2(dx, dy, dz, metric));
                }
                seen++;
            })
        }
    }
    nearest = ergo_least(parts, item, SPHERES_SUM_GROUP, nearest);
    if (item == 0u)
        least[member * (items / SPHERES_SUM_GROUP) + (uint)get_group_id(0)] = nearest;
}
