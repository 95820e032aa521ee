/* Volume moves, one work-group for each member. */
#include "common/least.h"
#include "hard_spheres/cell.h"

/* After the sweep of that step, where `parts` smallest r^2 of each member are in least[]. */
__kernel __attribute__((reqd_work_group_size(SPHERES_SUM_GROUP, 1, 1))) void
spheres_volume(__global const struct spheres_member *members,
               __global const struct ergo_volume_rules *rules, __global ulong *least, uint parts,
               __global struct ergo_volume *volumes, __global ulong *contacts, ulong step) {
    __local ulong nearest[SPHERES_SUM_GROUP];
    const uint item = (uint)get_local_id(0), member = (uint)get_group_id(0);
    ulong mine = SPHERES_EMPTY;
    for (uint i = item; i < parts; i += SPHERES_SUM_GROUP) {
        mine = min(mine, least[member * parts + i]);
        least[member * parts + i] = 0UL; /* found once, used once */
    }
    mine = ergo_least(nearest, item, SPHERES_SUM_GROUP, mine);
    if (item == 0u) {
        struct ergo_volume volume = volumes[member];
        ulong contact = contacts[member];
        ergo_volume_move(rules[member], members[member].key0, members[member].key1, step,
                         SPHERES_PURPOSE_VOLUME, 3u, 0u, mine, &volume, &contact);
        volumes[member] = volume;
        contacts[member] = contact;
    }
}
