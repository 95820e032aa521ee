/*
 * Hard disks with a whole member in local memory: one member per work-group, many sweeps per
 * launch. This suits many small systems side by side. It also suits CPUs, where a work-group is one
 * work-item and local memory is the cache.
 */
#define DISKS_SPACE __local
#include "hard_disks/moves.h"
#ifdef DISKS_NPT
#include "hard_disks/volume.h"
#endif

DISKS_DEFINE_ACCESS(disks_whole_global, disks_load_global, disks_store_global, __global)

#ifdef DISKS_PACKED
#define DISKS_PLANES 1u
#else
#define DISKS_PLANES 2u
#endif

#if DISKS_GROUP == 1
#define DISKS_BARRIER
#else
#define DISKS_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* Parameters are written at constant pressure, where a volume move follows each sweep that ends a
 * multiple of `volume_every`. */
#ifdef DISKS_NPT
#define DISKS_MEMBERS __global struct disks_member
#else
#define DISKS_MEMBERS __global const struct disks_member
#endif

__kernel __attribute__((reqd_work_group_size(DISKS_GROUP, 1, 1))) void
disks_local(__global DISKS_RAW *all, DISKS_MEMBERS *members,
            __global const struct disks_rules *rules, __global struct disks_size *sizes,
            __global ulong *grid, __global uint *tally, ulong step, uint sweeps, uint volume_every,
            uint room, uint second, __local DISKS_RAW *memory,
            __global const struct ergo_walls *walls, __global const long *fields) {
#ifdef DISKS_NPT
    __local ulong nearest[DISKS_GROUP];
#endif
    const uint item = (uint)get_local_id(0), member = (uint)get_group_id(0);
    __global const struct disks_member *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], quarter = h * v;
    __global DISKS_RAW *cells = all + mine->first;
    /* used by the first work-item, which writes it back, and with walls or a field by all */
    ulong origin[2] = {0UL, 0UL};
    if (item == 0u) {
        origin[0] = grid[2u * member];
        origin[1] = grid[2u * member + 1u];
    }
#ifdef DISKS_WALLS
    __local ulong shared_origin[2];
    if (item == 0u) {
        shared_origin[0] = origin[0];
        shared_origin[1] = origin[1];
    }
#endif
    uint now = 0u; /* which half of local memory holds the cells now */

    /* room: cells for which a plane has space */
    for (uint id = item; id < 4u * quarter; id += DISKS_GROUP)
        disks_store(memory, room, id, disks_load_global(cells, second, id));
    DISKS_BARRIER;
#ifdef DISKS_WALLS
    origin[0] = shared_origin[0];
    origin[1] = shared_origin[1];
#endif
    for (uint sweep = 0u; sweep < sweeps; sweep++) {
        const uint plan =
            disks_plan(mine->key0, mine->key1, step + sweep, DISKS_W, DISKS_SHUFFLE_SETS);
        __local DISKS_RAW *from = memory + now * DISKS_PLANES * room;
        __local DISKS_RAW *to = memory + (1u - now) * DISKS_PLANES * room;
        for (uint sub = 0u; sub < 4u; sub++) {
            const uint set = plan >> 2u * sub & 3u;
            for (uint id = item; id < quarter; id += DISKS_GROUP) {
                const uint cx = 2u * (id % h) + (set & 1u), cy = 2u * (id / h) + (set >> 1);
                const struct disks_confined confined =
                    disks_confined_of(mine, walls, fields, member, origin[0], origin[1], cx, cy);
                const uint done = disks_update(from, disks_place_of(h, v, cx, cy, room),
                                               cy * 2u * h + cx, step + sweep, mine, &confined);
                if (sweep + 1u == sweeps)
                    tally[mine->first + set * quarter + id] = done;
            }
            DISKS_BARRIER;
        }
#ifdef DISKS_NPT
        if ((step + sweep + 1UL) % volume_every == 0UL) {
            const ulong ratio =
                disks_closest_ratio(&members[member], &rules[member], &sizes[member], step + sweep);
            ulong least = ~0UL;
            for (uint id = item; id < 4u * quarter; id += DISKS_GROUP)
                least = disks_closest_of(from, room, &members[member], ratio, id % (2u * h),
                                         id / (2u * h), least);
            least = ergo_least(nearest, item, DISKS_GROUP, least);
            if (item == 0u)
                disks_volume_move(&members[member], &rules[member], &sizes[member], step + sweep,
                                  least);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all see the new parameters */
        }
#endif
        for (uint id = item; id < 4u * quarter; id += DISKS_GROUP) {
            const uint set = id / quarter, place = id - set * quarter;
            const uint cx = 2u * (place % h) + (set & 1u), cy = 2u * (place / h) + (set >> 1);
            disks_store(to, room, id, disks_shifted_cell(from, room, h, v, cx, cy, plan));
        }
        DISKS_BARRIER;
        const uint axis = plan >> (DISKS_PLAN_DIRECTION + 1u) & 1u;
        const ulong moved = disks_grid(axis ? origin[1] : origin[0], plan,
                                       (ulong)DISKS_W * mine->cells[DISKS_Y ? axis : 0u]);
        origin[0] = axis ? origin[0] : moved;
        origin[1] = axis ? moved : origin[1];
        now = 1u - now;
    }
    for (uint id = item; id < 4u * quarter; id += DISKS_GROUP)
        disks_store_global(cells, second, id,
                           disks_load(memory + now * DISKS_PLANES * room, room, id));
    if (item == 0u) {
        grid[2u * member] = origin[0];
        grid[2u * member + 1u] = origin[1];
    }
}
