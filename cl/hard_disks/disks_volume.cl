/* Constant pressure: the closest pair of each member, and volume moves (common/volume.h). */
#define DISKS_SPACE __global
#include "common/least.h"
#include "hard_disks/cell.h"

/* The smallest r^2 of pairs of disks, one of them in slot i of `own`. Of its own cell, the disks of
 * later slots alone. */
ERGO_INLINE ulong disks_closest_to(ulong least, float px, float py, struct disks_cell c, uint from,
                                   uint n, int ox, int oy) {
    const float xs[4] = {c.x.s0, c.x.s1, c.x.s2, c.x.s3};
    const float ys[4] = {c.y.s0, c.y.s1, c.y.s2, c.y.s3};
    for (uint j = from; j < n; j++) {
        const long dx = (long)((int)xs[j] + ox * DISKS_W - (int)px);
        const long dy = (long)((int)ys[j] + oy * DISKS_W - (int)py);
        least = min(least, (ulong)(dx * dx) + (ulong)(dy * dy));
    }
    return least;
}

/* least[member][group]. Pairs in cells that are no neighbours are farther apart than contact ever
 * is. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_closest(__global const DISKS_RAW *cells, __global const struct disks_member *members,
              __global ulong *least, uint second) {
    __local ulong parts[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0);
    __global const struct disks_member *mine = &members[member];
    const uint m = mine->cells, h = mine->columns;
    ulong nearest = ~0UL;
    for (uint id = (uint)get_global_id(0); id < m * m; id += items) {
        const uint cx = id % m, cy = id / m;
        const struct disks_cell own =
            disks_load(cells, second, mine->first + disks_row(h, h, cy) + disks_col(h, h, cx));
        const uint n = disks_count(own);
        const float xs[4] = {own.x.s0, own.x.s1, own.x.s2, own.x.s3};
        const float ys[4] = {own.y.s0, own.y.s1, own.y.s2, own.y.s3};
        for (int o = 4; o < 9 && n > 0u; o++) { /* each pair of cells once */
            const int ox = o % 3 - 1, oy = o / 3 - 1;
            const uint nx = ox < 0              ? (cx ? cx - 1u : m - 1u)
                            : cx + (uint)ox < m ? cx + (uint)ox
                                                : 0u;
            const uint ny = cy + (uint)oy < m ? cy + (uint)oy : 0u;
            const struct disks_cell c =
                disks_load(cells, second, mine->first + disks_row(h, h, ny) + disks_col(h, h, nx));
            const uint others = disks_count(c);
            for (uint i = 0u; i < n; i++)
                nearest = disks_closest_to(nearest, xs[i], ys[i], c, o == 4 ? i + 1u : 0u, others,
                                           ox, oy);
        }
    }
    nearest = ergo_least(parts, item, DISKS_SUM_GROUP, nearest);
    if (item == 0u)
        least[member * (items / DISKS_SUM_GROUP) + (uint)get_group_id(0)] = nearest;
}

/* A work-group for each member, after the sweep of that step, where `parts` smallest r^2 of each
 * member are in least[]. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_volume(__global struct disks_member *members, __global const struct disks_rules *all_rules,
             __global ulong *least, uint parts, __global struct disks_size *sizes, ulong step) {
    __local ulong nearest[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_group_id(0);
    ulong mine = ~0UL;
    for (uint i = item; i < parts; i += DISKS_SUM_GROUP) {
        mine = min(mine, least[member * parts + i]);
        least[member * parts + i] = 0UL; /* found once, used once */
    }
    mine = ergo_least(nearest, item, DISKS_SUM_GROUP, mine);
    if (item == 0u) {
        struct ergo_volume volume = sizes[member].volume;
        ulong contact = sizes[member].contact;
        const struct disks_member before = members[member];
        const struct disks_rules rules = all_rules[member];
        ergo_volume_move(rules.volume, before.key0, before.key1, step, DISKS_PURPOSE_VOLUME, 2u,
                         mine, &volume, &contact);
        const struct disks_size size = disks_size_at(rules, volume);
        sizes[member] = size;
        members[member] = disks_resized(before, rules, size);
    }
}
