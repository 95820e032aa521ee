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

/* Of a mixture: the particle keeps its species. `first`: the first box, with its particles. */
ERGO_INLINE void lj_transfer_species(struct lj_transfer *t, __global const uint4 *first,
                                     uint capacity) {
#ifdef LJ_SPECIES
    if (!t->idle)
        t->to.x = (t->to.x & ~LJ_SPECIES_MASK) |
                  (first[(ulong)t->from * capacity + t->index].x & LJ_SPECIES_MASK);
#else
    (void)t;
    (void)first;
    (void)capacity;
#endif
}

/* The memory of a chain of the trial. */
#define LJ_HOME(name, chain)                                                                       \
    struct lj_home name;                                                                           \
    lj_home_of(&name, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,    \
               n_chains);                                                                          \
    lj_home_list(&name, chains[chain].list)

/*
 * Trials up to that which is number `end` of what changes volumes or N, of boxes that have made
 * `turn` or more. Trial number `turn` is the first of its step.
 *
 * In a round LJ_TEAMS teams of work-items find the pair energies of as many consecutive trials. All
 * up to the first that is accepted were rejected, and those behind it belong to the next round: few
 * are accepted.
 */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_transfer(__global const struct lj_member *members, __global struct lj_chain *chains,
            __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
            ulong step, ulong turn, ulong end, uint capacity, uint slots,
            __global long *pair_energies, __global const float4 *tables, struct lj_shape shape) {
    const uint item = (uint)get_local_id(0), first = 2u * (uint)get_group_id(0);
    const uint n_chains = 2u * (uint)get_num_groups(0);
    const ulong made = chains[first].volumes;
    const uint due = chains[first].step == step && chains[first + 1u].step == step &&
                     chains[first].status == (uint)LJ_RUNNING &&
                     chains[first + 1u].status == (uint)LJ_RUNNING &&
                     chains[first + 1u].volumes == made && made >= turn;
    const long size1 = chains[first].size, size2 = chains[first + 1u].size;
    const struct lj_member keys = members[first];
    uint n1 = chains[first].particles, n2 = chains[first + 1u].particles;
    uint tried1 = 0u, tried2 = 0u, full = (uint)LJ_RUNNING, full_box = 0u;
    ulong at = due ? made : end;
    const ulong begin = at;
#ifdef LJ_ENERGIES
    const uint team = item / LJ_WIDTH, lane = item % LJ_WIDTH;
    /* of the round's trials: pair energies by lj_add, those with a core at the new place and those
     * that leave the second box as bits, pair energies and slots at the old place; the first that
     * is accepted; sums of its virials and contacts */
    __local uint gains[2u * LJ_TEAMS], hits, seconds, olds[LJ_TEAMS], accepted_first, sums[8];
    __local long lefts[LJ_TEAMS];
#endif
    while (at < end && full == (uint)LJ_RUNNING) {
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        long gain = 0, left = 0, virial = 0, virial_to = 0, contacts = 0, contacts_to = 0;
        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
#ifdef LJ_ENERGIES
        const uint trials = end - at < LJ_TEAMS ? (uint)(end - at) : LJ_TEAMS;
        if (item < LJ_TEAMS)
            gains[2u * item] = gains[2u * item + 1u] = 0u;
        if (item < 8u)
            sums[item] = 0u;
        for (uint k = LJ_GROUP; k < 8u && item == 0u; k++)
            sums[k] = 0u;
        if (item == 0u) {
            hits = seconds = 0u;
            accepted_first = LJ_TEAMS;
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        struct lj_transfer mine = lj_transfer_of(&keys, step, (uint)(at - turn) + team, n1, n2);
        lj_transfer_species(&mine, particles + (ulong)first * capacity, capacity);
        const uint sums_pairs = team < trials && !mine.idle && !keys.ideal;
        const uint mine_to = first + (1u - mine.from);
        if (sums_pairs) {
            const struct lj_member m_to = lj_member_of(members, chains, tables, mine_to);
            LJ_HOME(home_to, mine_to);
            lj_scan(&home_to, mine.to, mine.to, 0u, 1u, lane, LJ_WIDTH, &m_to, &sum);
            if (sum.overlap)
                atomic_or(&hits, 1u << team);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (sums_pairs && !(hits >> team & 1u)) {
            const struct lj_member m_to = lj_member_of(members, chains, tables, mine_to);
            LJ_HOME(home_to, mine_to);
            lj_scan(&home_to, mine.to, mine.to, 0u, 0u, lane, LJ_WIDTH, &m_to, &sum);
            lj_add(&gains[2u * team], sum.energy);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (item < trials) {
            const struct lj_transfer t =
                lj_transfer_of(&keys, step, (uint)(at - turn) + item, n1, n2);
            const uint loses = first + t.from, gets = first + (1u - t.from);
            if (t.from)
                atomic_or(&seconds, 1u << item);
            if (!t.idle && !(hits >> item & 1u)) {
                const struct lj_member m = lj_member_of(members, chains, tables, loses);
                const struct lj_member m_to = lj_member_of(members, chains, tables, gets);
                LJ_HOME(home, loses);
                long old = 0;
                olds[item] = lj_find(&home, lj_position_of(home.particles[t.index]), &old);
                old = m.ideal ? 0 : old;
                lefts[item] = old;
                if (lj_transfer_accepts(&m, &m_to, t.from ? n2 : n1, t.from ? n1 : n2,
                                        t.from ? size2 : size1, t.from ? size1 : size2, t.word,
                                        lj_take(&gains[2u * item]) - old))
                    atomic_min(&accepted_first, item);
            }
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        const uint by = accepted_first < trials ? accepted_first : trials - 1u;
        uint accepted = accepted_first < trials ? 1u : 0u;
#else
        const uint by = 0u;
#endif
        struct lj_transfer t = lj_transfer_of(&keys, step, (uint)(at - turn) + by, n1, n2);
        lj_transfer_species(&t, particles + (ulong)first * capacity, capacity);
        const uint loses = first + t.from, gets = first + (1u - t.from);
        const uint given = t.from ? n2 : n1, got = t.from ? n1 : n2;
        const struct lj_member m = lj_member_of(members, chains, tables, loses);
        const struct lj_member m_to = lj_member_of(members, chains, tables, gets);
        LJ_HOME(home, loses);
        LJ_HOME(home_to, gets);
        const struct lj_move leave = lj_transfer_half(&t, (uint)LJ_DELETION);
        const struct lj_move arrive = lj_transfer_half(&t, (uint)LJ_INSERTION);
        lj_position from = (uint4)(0u);
        if (!t.idle)
            from = lj_position_of(home.particles[t.index]);
#ifdef LJ_ENERGIES
        from.w = accepted ? olds[by] : 0u;
        gain = lj_take(&gains[2u * by]);
        left = accepted ? lefts[by] : 0;
#else
        if (!t.idle && !m.ideal) {
            lj_scan_new(&home_to, t.to, &m_to, &sum);
            gain = sum.energy;
            virial_to = sum.virial;
            contacts_to = sum.contacts;
            if (!sum.overlap) {
                struct lj_sum away = {0, 0, 0, 0u};
                lj_scan_all(&home, from, &m, &away);
                left = away.energy;
                virial = -away.virial;
                contacts = -away.contacts;
            }
        }
        uint accepted = !t.idle && !sum.overlap &&
                        lj_transfer_accepts(&m, &m_to, given, got, t.from ? size2 : size1,
                                            t.from ? size1 : size2, t.word, gain - left);
#endif
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
#ifdef LJ_SPECIES
            chains[loses].numbers[t.to.x & LJ_SPECIES_MASK] -= 1u;
            chains[gets].numbers[t.to.x & LJ_SPECIES_MASK] += 1u;
#endif
        }
        /* trials that are done; one without room is not */
        const uint done = by + (full == (uint)LJ_RUNNING ? 1u : 0u);
#ifdef LJ_ENERGIES
        const uint second = done ? popcount(seconds & (0xffffffffu >> (32u - done))) : 0u;
#else
        const uint second = done && t.from ? 1u : 0u;
#endif
        n1 += accepted ? (t.from ? 1u : 0xffffffffu) : 0u;
        n2 += accepted ? (t.from ? 0xffffffffu : 1u) : 0u;
        tried1 += second;
        tried2 += done - second;
        at += done;
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
