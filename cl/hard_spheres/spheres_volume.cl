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
        ulong contact = contacts[SPHERES_CONTACT_WORDS * member];
        struct ergo_volume_rules now = rules[member];
#ifdef SPHERES_PER_AXIS
        __global const struct spheres_member *m = &members[member];
        now = spheres_rules_at(
            now, m->width[0], m->width[1], m->width[2],
            spheres_metric_at(spheres_volume_tried(m->key0, m->key1, volume, step)));
#endif
        ergo_volume_move(now, members[member].key0, members[member].key1, step,
                         SPHERES_PURPOSE_VOLUME, 3u, SPHERES_CONTACT_WORDS > 1, mine, &volume,
                         &contact);
        volumes[member] = volume;
        contacts[SPHERES_CONTACT_WORDS * member] = contact;
#ifdef SPHERES_PER_AXIS
        const struct spheres_metric metric = spheres_metric_at(volume);
        contacts[SPHERES_CONTACT_WORDS * member + 1u] = metric.y;
        contacts[SPHERES_CONTACT_WORDS * member + 2u] = metric.z;
#endif
    }
}
