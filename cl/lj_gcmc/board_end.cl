/* The end of an activation of the checkerboard, and the list of particles made from the cells. */
#include "lj_gcmc/board_sums.h"

/* Sums of shares of the active cells. Dimension 0: shares; dimension 1: chains. */
__kernel __attribute__((reqd_work_group_size(LJ_SUM_GROUP, 1, 1))) void
lj_board_sum(__global const struct lj_chain *chains, __global const struct lj_part *parts,
             __global const uint *full, __global struct lj_turn *turns, ulong target,
             struct lj_shape shape) {
    __local struct lj_board_room room;
    lj_board_share(chains, parts, full, turns, target, 0u, shape.active, shape.active, &room);
}

/* One work-item per chain. Adds the changes of the active cells, which are in `shares` sums, to
 * the chain's sums, and ends the step. If a cell lacked room, the chain waits for the host before
 * the end of that step. Samples are as in lj_run. */
__kernel void lj_board_end(__global const struct lj_member *members,
                           __global struct lj_chain *chains, __global const struct lj_turn *turns,
                           __global struct lj_sample *samples, ulong start, ulong target,
                           ulong every, uint count, uint capacity, uint shares,
                           struct lj_shape shape) {
    const uint chain = (uint)get_global_id(0), n_chains = (uint)get_global_size(0);
    struct lj_chain c = chains[chain];
    struct lj_turn turn = turns[(ulong)chain * shares];
    for (uint i = 1u; i < shares; i++) {
        const struct lj_turn more = turns[(ulong)chain * shares + i];
        turn.energy += more.energy;
        turn.virial += more.virial;
        turn.contacts += more.contacts;
        turn.particles += more.particles;
        for (uint k = 0u; k < 3u; k++) {
            turn.tried[k] += more.tried[k];
            turn.accepted[k] += more.accepted[k];
        }
        turn.blocks += more.blocks;
        turn.cells_full += more.cells_full;
        turn.tiles_full += more.tiles_full;
    }
    if (c.status != (uint)LJ_RUNNING || c.step >= target)
        return;
    if (turn.cells_full || turn.tiles_full) {
        chains[chain].status = turn.tiles_full ? (uint)LJ_TILE_FULL : (uint)LJ_CELL_FULL;
        chains[chain].torn = 1u;
        return;
    }
    if (turn.blocks != shape.active) /* a launch was lost: the chain does not move on, and the audit
                                     notices */
        return;
    if (c.particles + (uint)turn.particles > capacity) {
        chains[chain].status = (uint)LJ_PARTICLES_FULL;
        chains[chain].torn = 1u;
        return;
    }
    lj_board_next(&c, &turn, members[chain].tune_until);
    if (count && c.step > start && (c.step - start) % every == 0UL)
        samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
    chains[chain] = c;
}

/* Lists a chain's particles, cell by cell. One work-group per chain. */
__kernel __attribute__((reqd_work_group_size(LJ_END_GROUP, 1, 1))) void
lj_board_list(__global const uint4 *cells, __global uint4 *particles, uint capacity,
              struct lj_shape shape) {
    __local uint counts[LJ_END_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    __global const uint4 *mine = cells + (ulong)chain * shape.cells;
    const ulong plane = (ulong)get_num_groups(0) * shape.cells;
    const uint share = (shape.cells + LJ_END_GROUP - 1u) / LJ_END_GROUP;
    const uint first = item * share;
    const uint last = first + share < shape.cells ? first + share : shape.cells;
    uint count = 0u, at = 0u;
    for (uint i = first; i < last; i++)
        count += mine[i].w;
    counts[item] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0u; i < item; i++)
        at += counts[i];
    for (uint i = first; i < last; i++) {
        const uint inside = mine[i].w;
        for (uint s = 0u; s < inside && at < capacity; s++, at++)
            particles[(ulong)chain * capacity + at] = mine[i + s * plane];
    }
}
