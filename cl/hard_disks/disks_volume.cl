/* Volume moves at constant pressure, for paths that leave cells in global memory. */
#define DISKS_SPACE __global
#include "hard_disks/volume.h"

/* r^2 of the closest pair: least[member][group]. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_closest(__global const DISKS_RAW *cells, __global const struct disks_member *members,
              __global const struct disks_rules *rules, __global const struct disks_size *sizes,
              __global ulong *least, ulong step, uint second) {
    __local ulong parts[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_global_id(1);
    const uint items = (uint)get_global_size(0), m = members[member].cells[0];
    const uint all = m * members[member].cells[DISKS_Y];
    const ulong ratio = disks_closest_ratio(&members[member], &rules[member], &sizes[member], step);
    ulong mine = ~0UL;
    for (uint id = (uint)get_global_id(0); id < all; id += items)
        mine = disks_closest_of(cells + members[member].first, second, &members[member], ratio,
                                id % m, id / m, mine);
    mine = ergo_least(parts, item, DISKS_SUM_GROUP, mine);
    if (item == 0u)
        least[member * (items / DISKS_SUM_GROUP) + (uint)get_group_id(0)] = mine;
}

/* A work-group for each member, after the sweep of that step, where `parts` smallest r^2 of each
 * member are in least[]. */
__kernel __attribute__((reqd_work_group_size(DISKS_SUM_GROUP, 1, 1))) void
disks_volume(__global struct disks_member *members, __global const struct disks_rules *rules,
             __global ulong *least, uint parts, __global struct disks_size *sizes, ulong step) {
    __local ulong nearest[DISKS_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_group_id(0);
    ulong mine = ~0UL;
    for (uint i = item; i < parts; i += DISKS_SUM_GROUP) {
        mine = min(mine, least[member * parts + i]);
        least[member * parts + i] = 0UL; /* found once, used once */
    }
    mine = ergo_least(nearest, item, DISKS_SUM_GROUP, mine);
    if (item == 0u)
        disks_volume_move(&members[member], &rules[member], &sizes[member], step, mine);
}
