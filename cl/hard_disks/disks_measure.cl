/* Measurements of hard disks. Sums are integers, so their order does not matter. */
#define DISKS_SPACE __global
#include "common/histogram.h"
#include "hard_disks/cell.h"

ERGO_INLINE float disks_pick(float4 of, uint i) {
    return i == 0u ? of.s0 : i == 1u ? of.s1 : i == 2u ? of.s2 : of.s3;
}

/* Add the bonds of a disk at (px, py) to the disks of a cell, all in units of w/W. */
ERGO_INLINE struct disks_bonds disks_bonds_to(struct disks_bonds sum, struct disks_cell c, float px,
                                              float py,
                                              __global const struct disks_member *member) {
    const float4 sx = (c.x - px) * member->inverse,
                 sy =
                     (c.y - py) * (DISKS_Y ? member->inverse * member->aspect[0] : member->inverse);
    const float xs[4] = {sx.s0, sx.s1, sx.s2, sx.s3}, ys[4] = {sy.s0, sy.s1, sy.s2, sy.s3};
    for (int i = 0; i < 4; i++)
        sum = disks_bond(sum, xs[i], ys[i], member->neighbour);
    return sum;
}

/* Each work-item adds up cells of its member, then a work-group adds up its work-items:
 * sums[sample][member][group]. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_measure(__global const DISKS_RAW *cells, __global const struct disks_member *members,
              __global const uint *tally, __global struct disks_sum *sums,
              __global const struct disks_size *sizes, __global struct ergo_volume *seen,
              uint sample, uint n_members, uint second) {
    __local struct disks_sum parts[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = 2u * h, rows = 2u * v;
    struct disks_sum sum = {0, 0, 0, 0, 0, 0};
    for (uint id = (uint)get_global_id(0); id < m * rows; id += items) {
        const uint cx = id % m, cy = id / m;
        const uint at = mine->first + disks_row(h, v, cy) + disks_col(h, v, cx);
        const struct disks_cell own = disks_load(cells, second, at);
        const uint n = disks_count(own);
        sum.disks += n;
        sum.occupied += n > 0u;
        sum.accepted += tally[at] & 0xffffu;
        sum.tried += tally[at] >> 16;
        for (uint i = 0u; i < n; i++) {
            const float px = disks_pick(own.x, i);
            const float py = disks_pick(own.y, i);
            struct disks_bonds bonds = {0.0f, 0.0f, 0.0f};
            for (int oy = -2; oy <= 2; oy++) {
                const uint row = disks_row(h, v, (uint)((int)(cy + 2u * rows) + oy) % rows);
                for (int ox = -2; ox <= 2; ox++) {
                    const struct disks_cell c = disks_load(
                        cells, second,
                        mine->first + row + disks_col(h, v, (uint)((int)(cx + 2u * m) + ox) % m));
                    bonds = disks_bonds_to(bonds, c, px - (float)ox * DISKS_WF,
                                           py - (float)oy * DISKS_WF, mine);
                }
            }
            if (bonds.count > 0.0f) {
                const float scale = disks_inverse(bonds.count) * DISKS_PSI6_UNIT;
                sum.re += convert_int_rte(bonds.re * scale);
                sum.im += convert_int_rte(bonds.im * scale);
            }
        }
    }
    parts[item] = sum;
    for (uint some = DISKS_SUM_GROUP / 2u; some > 0u; some /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < some) {
            parts[item].re += parts[item + some].re;
            parts[item].im += parts[item + some].im;
            parts[item].disks += parts[item + some].disks;
            parts[item].occupied += parts[item + some].occupied;
            parts[item].accepted += parts[item + some].accepted;
            parts[item].tried += parts[item + some].tried;
        }
    }
#ifdef DISKS_NPT
    if (get_global_id(0) == 0u)
        seen[sample * n_members + member] = sizes[member].volume;
#endif
    if (item == 0u)
        sums[(sample * n_members + member) * (items / DISKS_SUM_GROUP) + (uint)get_group_id(0)] =
            parts[0];
}

/*
 * Histogram of pair distances, each pair once: counts[curve][member][bin]. Bin b holds limits[b] <=
 * r^2 < limits[b + 1]. The comparison is in exact integers; fp32 only guesses the bin to begin
 * with. A launch handles the rows of cells above at distances `from` to `to` - 1.
 */
__kernel void disks_pairs(__global const DISKS_RAW *cells,
                          __global const struct disks_member *members,
                          __global const struct disks_size *sizes, __global const ulong *all_limits,
                          __global uint *counts, uint curve, uint n_members, uint bins, uint which,
                          uint second, uint from, uint to) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = 2u * h, rows = 2u * v;
    if (id >= m * rows)
        return;
    __global const ulong *limits = all_limits + (size_t)member * (bins + 1u);
    __global uint *count = counts + (size_t)(curve * n_members + member) * bins;
    const uint cx = id % m, cy = id / m;
    const int reach = (int)mine->reach[which];
    const struct disks_cell own =
        disks_load(cells, second, mine->first + disks_row(h, v, cy) + disks_col(h, v, cx));
    const uint n = disks_count(own);
    const ulong first = limits[0], last = limits[bins];
    const float origin = sqrt((float)first);
    const float scale = (float)bins / (sqrt((float)last) - origin);
    for (int oy = (int)from; oy <= reach && oy < (int)to && n > 0u; oy++) {
        const uint row = disks_row(h, v, (cy + (uint)oy) % rows);
        for (int ox = oy ? -reach : 0; ox <= reach; ox++) {
            const bool same = ox == 0 && oy == 0;
            const struct disks_cell c = disks_load(
                cells, second,
                mine->first + row +
                    disks_col(h, v, (uint)((int)cx + ox + (int)(((uint)reach / m + 1u) * m)) % m));
            const uint others = disks_count(c);
            for (uint i = 0u; i < n; i++) {
                const float px = disks_pick(own.x, i);
                const float py = disks_pick(own.y, i);
                for (uint j = same ? i + 1u : 0u; j < others; j++) {
                    const float qx = disks_pick(c.x, j);
                    const float qy = disks_pick(c.y, j);
                    const long dx = (long)(int)qx - (long)(int)px + (long)ox * DISKS_W;
                    const long dy = (long)(int)qy - (long)(int)py + (long)oy * DISKS_W;
                    ulong r2 = disks_r2(dx, dy, DISKS_Y ? mine->ratio : DISKS_SQUARE);
#ifdef DISKS_NPT /* limits are those of the start's diameter */
                    r2 = disks_at_start(r2, sizes[member].growth);
#endif
                    if (r2 < first || r2 >= last)
                        continue;
                    const float guess = (sqrt((float)r2) - origin) * scale;
                    atomic_inc(&count[ergo_bin(limits, bins, r2, guess)]);
                }
            }
        }
    }
}

/* Histogram of the number of disks in sub-blocks of block x block cells:
 * counts[curve][member][number]. The grid moves with every sweep, so the blocks' places are random.
 */
__kernel void disks_blocks(__global const DISKS_RAW *cells,
                           __global const struct disks_member *members, __global uint *counts,
                           uint curve, uint n_members, uint bins, uint second) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], block = mine->block;
    const uint side = 2u * h / block;
    if (id >= side * (2u * v / block))
        return;
    const uint bx = id % side * block, by = id / side * block;
    uint n = 0u;
    for (uint y = by; y < by + block; y++)
        for (uint x = bx; x < bx + block; x++)
            n += disks_count(
                disks_load(cells, second, mine->first + disks_row(h, v, y) + disks_col(h, v, x)));
    atomic_inc(&counts[(size_t)(curve * n_members + member) * bins + (n < bins ? n : bins - 1u)]);
}
