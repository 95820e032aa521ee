/* The end of an activation of the checkerboard: what its active cells have changed, and the chain
 * after it. */
#ifndef ERGO_CL_LJ_GCMC_BOARD_SUMS_H
#define ERGO_CL_LJ_GCMC_BOARD_SUMS_H

#include "lj_gcmc/chain.h"

struct lj_board_room {
    long energies[LJ_SUM_GROUP], virials[LJ_SUM_GROUP], contacts[LJ_SUM_GROUP];
    uint counts[8][LJ_SUM_GROUP]; /* tried and accepted by kind, N, active cells that are done */
};

/* Adds up what active cells `from` to `to` - 1 have done in the step that `stamp` ends. A
 * work-group; the result is of work-item 0. */
ERGO_INLINE void lj_board_add(__global const struct lj_part *parts, uint from, uint to, ulong stamp,
                              uint item, __local struct lj_board_room *room, struct lj_turn *turn) {
    long energy = 0, virial = 0, contact = 0;
    uint mine_of[8] = {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
    for (uint b = from + item; b < to; b += LJ_SUM_GROUP) {
        const struct lj_part p = parts[b];
        if (p.stamp != stamp)
            continue;
        energy += p.energy;
        virial += p.virial;
        contact += p.contacts;
        const uint displaced = p.tried & 0xffffu, inserted = p.tried >> 16;
        mine_of[0] += displaced;
        mine_of[1] += inserted;
        mine_of[2] += LJ_TRIALS - displaced - inserted;
        mine_of[3] += p.accepted & 0xffffu;
        mine_of[4] += p.accepted >> 16;
        mine_of[5] += p.accepted_deletion;
        mine_of[6] += (uint)p.particles;
        mine_of[7] += 1u;
    }
    room->energies[item] = energy;
    room->virials[item] = virial;
    room->contacts[item] = contact;
    for (uint k = 0u; k < 8u; k++)
        room->counts[k][item] = mine_of[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = LJ_SUM_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            room->energies[item] += room->energies[item + width];
            room->virials[item] += room->virials[item + width];
            room->contacts[item] += room->contacts[item + width];
            for (uint k = 0u; k < 8u; k++)
                room->counts[k][item] += room->counts[k][item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    turn->energy = room->energies[0];
    turn->virial = room->virials[0];
    turn->contacts = room->contacts[0];
    for (uint k = 0u; k < 3u; k++) {
        turn->tried[k] = room->counts[k][0];
        turn->accepted[k] = room->counts[3u + k][0];
    }
    turn->particles = (ulong)(long)(int)room->counts[6][0];
    turn->blocks = room->counts[7][0];
}

/* A share of active cells `from` to `to` - 1 for each work-group of a chain, of so many: what they
 * have done so far in this activation. Chains that make none are done. */
ERGO_INLINE void lj_board_share(__global const struct lj_chain *chains,
                                __global const struct lj_part *parts, __global const uint *full,
                                __global struct lj_turn *turns, ulong target, uint from, uint to,
                                uint blocks, __local struct lj_board_room *room) {
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(1);
    const uint part = (uint)get_group_id(0), n_parts = (uint)get_num_groups(0);
    const uint each = (to - from + n_parts - 1u) / n_parts;
    const uint first = part * each < to - from ? from + part * each : to;
    const uint last = to - first < each ? to : first + each;
    const struct lj_chain c = chains[chain];
    const uint runs = c.status == (uint)LJ_RUNNING && c.step < target;
    struct lj_turn turn;
    lj_board_add(parts + (ulong)chain * blocks, first, runs ? last : first, c.step + 1UL, item,
                 room, &turn);
    turn.blocks = runs ? turn.blocks : last - first;
    turn.cells_full = part == 0u ? full[chain] & 1u : 0u;
    turn.tiles_full = part == 0u ? full[chain] >> 1 & 1u : 0u;
    if (item == 0u)
        turns[(ulong)chain * n_parts + part] = turn;
}

/* The chain after an activation, which made these changes in the whole box. */
ERGO_INLINE void lj_board_next(struct lj_chain *c, const struct lj_turn *turn, ulong tune_until) {
    c->energy += turn->energy;
    c->virial += turn->virial;
    c->contacts += turn->contacts;
    c->particles += (uint)turn->particles;
    c->now.tried = (uint)turn->tried[0];
    c->now.accepted = (uint)turn->tried[1];
    c->now.accepted_deletion = (uint)turn->tried[2];
    c->last.tried = (uint)turn->accepted[0];
    c->last.accepted = (uint)turn->accepted[1];
    c->last.accepted_deletion = (uint)turn->accepted[2];
    c->torn = 0u;
    c->step++;
    if (c->step <= tune_until)
        c->step_size = lj_tuned(c->step_size, c->now.tried, c->last.tried);
}

#endif
