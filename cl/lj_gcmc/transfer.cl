/*
 * Transfers of a Gibbs ensemble: a work-group makes those of two boxes, one after the other. They
 * follow the volume move before the same step. A trial whose particle finds no room waits for the
 * host (cl/lj_gcmc/run.cl), and with it the other box; lj_chain.volumes counts the trials, so the
 * same launch again goes on with that one.
 */
#include "lj_gcmc/chain.h"
#include "lj_gcmc/gibbs.h"
#include "lj_gcmc/group.h"

/* The moves that a transfer is made of. */
ERGO_INLINE struct lj_move lj_transfer_half(const struct lj_transfer *t, uint kind) {
    struct lj_move move;
    move.kind = kind;
    move.index = t->index;
    move.idle = 0u;
    move.word = 0u;
    move.to = t->to;
    return move;
}

/*
 * Trials up to that which is number `end` of what changes volumes or N: all boxes whose number is
 * `turn` or more, and not `end`. Trial number `turn` is the first of its step.
 */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_transfer(__global const struct lj_member *members, __global struct lj_chain *chains,
            __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
            ulong step, ulong turn, ulong end, uint capacity, uint slots,
            __global long *pair_energies) {
    const uint item = (uint)get_local_id(0), first = 2u * (uint)get_group_id(0);
    const uint n_chains = 2u * (uint)get_num_groups(0);
    const ulong made = chains[first].volumes;
    const uint due = chains[first].step == step && chains[first + 1u].step == step &&
                     chains[first].status == (uint)LJ_RUNNING &&
                     chains[first + 1u].status == (uint)LJ_RUNNING &&
                     chains[first + 1u].volumes == made && made >= turn;
    const long size1 = chains[first].size, size2 = chains[first + 1u].size;
    uint n1 = chains[first].particles, n2 = chains[first + 1u].particles;
    uint tried1 = 0u, tried2 = 0u, full = (uint)LJ_RUNNING, full_box = 0u;
    ulong at = due ? made : end;
    const ulong begin = at;
#ifdef LJ_ENERGIES
    __local uint gains[2], hit;
    __local uint sums[8]; /* of lj_add: virial and contacts of the one box and the other */
#endif
    while (at < end && full == (uint)LJ_RUNNING) {
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const struct lj_member keys = members[first];
        const struct lj_transfer t = lj_transfer_of(&keys, step, (uint)(at - turn), n1, n2);
        const uint loses = first + t.from, gets = first + (1u - t.from);
        const uint given = t.from ? n2 : n1, got = t.from ? n1 : n2;
        const struct lj_member m = lj_member_of(members, chains, loses);
        const struct lj_member m_to = lj_member_of(members, chains, gets);
        struct lj_home home, home_to;
        lj_home_of(&home, particles, cells, offsets, capacity, slots, loses, n_chains);
        lj_home_list(&home, chains[loses].list);
        lj_home_of(&home_to, particles, cells, offsets, capacity, slots, gets, n_chains);
        lj_home_list(&home_to, chains[gets].list);
        const struct lj_move leave = lj_transfer_half(&t, (uint)LJ_DELETION);
        const struct lj_move arrive = lj_transfer_half(&t, (uint)LJ_INSERTION);
        lj_position from = (uint4)(0u);
        if (!t.idle)
            from = lj_position_of(home.particles[t.index]);
        long gain = 0, left = 0, virial = 0, virial_to = 0, contacts = 0, contacts_to = 0;
        uint core = 0u;
        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
#ifdef LJ_ENERGIES
        home.energies = pair_energies + (ulong)loses * LJ_GRID;
        home_to.energies = pair_energies + (ulong)gets * LJ_GRID;
        if (item == 0u) {
            hit = gains[0] = gains[1] = 0u;
            for (uint k = 0u; k < 8u; k++)
                sums[k] = 0u;
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (!t.idle && !m.ideal) {
            lj_scan(&home_to, t.to, t.to, 0u, 1u, item, LJ_GROUP, &m_to, &sum);
            if (sum.overlap)
                atomic_or(&hit, 1u);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        core = hit;
        if (!t.idle && !m.ideal && !core) {
            lj_scan(&home_to, t.to, t.to, 0u, 0u, item, LJ_GROUP, &m_to, &sum);
            lj_add(gains, sum.energy);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        gain = lj_take(gains);
        if (!t.idle)
            from.w = lj_find(&home, from, &left);
        if (m.ideal)
            left = 0;
#else
        (void)pair_energies;
        if (!t.idle && !m.ideal) {
            lj_scan_new(&home_to, t.to, &m_to, &sum);
            core = sum.overlap;
            gain = sum.energy;
            virial_to = sum.virial;
            contacts_to = sum.contacts;
            sum.energy = sum.virial = sum.contacts = 0;
            sum.overlap = 0u;
            if (!core)
                lj_scan_all(&home, from, &m, &sum);
            left = sum.energy;
            virial = -sum.virial;
            contacts = -sum.contacts;
        }
#endif
        uint accepted = !t.idle && !core &&
                        lj_transfer_accepts(&m, &m_to, given, got, t.from ? size2 : size1, t.from ? size1 : size2, t.word,
                                            gain - left);
        if (accepted) {
            full = lj_room(&home_to, &arrive, from, got);
            full_box = gets;
        }
        if (full != (uint)LJ_RUNNING)
            accepted = 0u;
#ifdef LJ_ENERGIES
        struct lj_exchange out, in;
        if (accepted) {
            if (item == LJ_GROUP - 1u) {
                out = lj_exchange_of(&home, &leave, from, given);
                in = lj_exchange_of(&home_to, &arrive, t.to, got);
            }
            if (!m.ideal) {
                lj_update_neighbours(&home, from, 1u, from, 0u, item, &m, &virial, &contacts);
                lj_update_neighbours(&home_to, t.to, 0u, t.to, 1u, item, &m_to, &virial_to,
                                     &contacts_to);
            }
            lj_add(sums, virial);
            lj_add(sums + 2, contacts);
            lj_add(sums + 4, virial_to);
            lj_add(sums + 6, contacts_to);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        virial = lj_take(sums);
        contacts = lj_take(sums + 2);
        virial_to = lj_take(sums + 4);
        contacts_to = lj_take(sums + 6);
        if (accepted && item == LJ_GROUP - 1u) {
            lj_exchange_do(&home, &out, &leave, 0);
            lj_exchange_do(&home_to, &in, &arrive, gain);
        }
#else
        if (accepted) {
            lj_apply(&home, &leave, from, given);
            lj_apply(&home_to, &arrive, from, got);
        }
#endif
        if (accepted && item == 0u) {
            chains[loses].energy -= left;
            chains[loses].virial += virial;
            chains[loses].contacts += contacts;
            chains[loses].now.accepted_deletion += 1u;
            chains[gets].energy += gain;
            chains[gets].virial += virial_to;
            chains[gets].contacts += contacts_to;
            chains[gets].now.accepted += lj_one((uint)LJ_INSERTION);
        }
        if (full == (uint)LJ_RUNNING) {
            n1 += accepted ? (t.from ? 1u : 0xffffffffu) : 0u;
            n2 += accepted ? (t.from ? 0xffffffffu : 1u) : 0u;
            tried1 += t.from ? 1u : 0u;
            tried2 += t.from ? 0u : 1u;
            at++;
        }
    }
    if (item == 0u && begin < end) {
        chains[first].particles = n1;
        chains[first + 1u].particles = n2;
        chains[first].volumes = chains[first + 1u].volumes = at;
        chains[first].now.tried += lj_one((uint)LJ_INSERTION) * tried1;
        chains[first + 1u].now.tried += lj_one((uint)LJ_INSERTION) * tried2;
        if (full != (uint)LJ_RUNNING) {
            chains[first].status = full_box == first ? full : (uint)LJ_WAITS;
            chains[first + 1u].status = full_box == first ? (uint)LJ_WAITS : full;
        }
    }
}
