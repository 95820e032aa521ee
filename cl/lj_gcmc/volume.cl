/* Volume moves: sums over all pairs in the trial's box, and its verdict. A chain makes the move
 * before step `step`, which is its number `turn`, once, also where it waits for room there and the
 * launches are repeated. With LJ_GIBBS two chains are the boxes of a Gibbs ensemble, and move
 * together. */
#include "lj_gcmc/gibbs.h"
#include "lj_gcmc/totals.h"
#ifdef LJ_WHOLE
#include "lj_gcmc/coarse.h"
#endif

/* Has the chain still to make this move? */
ERGO_INLINE uint lj_volume_due(const struct lj_chain *c, ulong step, ulong turn) {
    return c->step == step && c->volumes == turn && c->status == (uint)LJ_RUNNING;
}

#ifdef LJ_WHOLE
/* Local memory of a group: pairs that may be within the cutoff, 32 places of each work-item; how
 * many there are, in turns. Coarse places follow the last one once more, half of them, and then a
 * few of no matter. */
struct lj_volume_room {
    uint x[LJ_WHOLE], y[LJ_WHOLE], z[LJ_WHOLE], coarse[LJ_WHOLE + LJ_WHOLE / 2u + LJ_LOOKS];
    uint pairs[32u * LJ_TOTAL_GROUP], listed[2];
};

/* This group's share of the sums over all pairs of the first n particles, with all places in local
 * memory. A particle meets the half of the others that follow it, the first after the last, so that
 * each has as many, and side by side they are at places side by side. */
ERGO_INLINE void lj_volume_share(__global const uint4 *particles, const struct lj_member *m, uint n,
                                 uint part, uint n_parts, uint item,
                                 __local struct lj_volume_room *room, struct lj_sum *sum) {
    const struct lj_places places = {room->x, room->y, room->z, room->coarse};
    const int limit = lj_coarse_limit(m);
    uint turn = 0u;
    lj_places_read(particles, n, item, LJ_TOTAL_GROUP, &places);
    if (item < 2u)
        room->listed[item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < n / 2u + LJ_LOOKS; i += LJ_TOTAL_GROUP)
        room->coarse[n + i] = i < n ? room->coarse[i] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = part * LJ_TOTAL_GROUP; row < n; row += n_parts * LJ_TOTAL_GROUP) {
        const uint i = row + item < n ? row + item : 0u;
        const uint centre = lj_coarse_centre(lj_whole_at(&places, i));
        /* two that face each other meet once; others than i are after the last particle */
        const uint last = row + item >= n ? 0u : n % 2u == 0u && i >= n / 2u ? n / 2u - 1u : n / 2u;
        for (uint base = 1u; base <= n / 2u; base += 32u) {
            const uint rounds = min(32u, (n / 2u - base + LJ_LOOKS) / LJ_LOOKS * LJ_LOOKS);
            const uint own = min(rounds, max(last + 1u, base) - base);
            uint near = lj_near(room->coarse + i + base, 1u, rounds, centre, centre, limit);
            near = own ? near >> (rounds - own) : 0u;
            uint to = near ? atomic_add(&room->listed[turn], popcount(near)) : 0u;
            while (near) {
                const uint first = clz(near), j = i + base + own - 32u + first;
                near ^= 0x80000000u >> first;
                room->pairs[to++] = i << 16 | (j < n ? j : j - n);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint k = item; k < room->listed[turn]; k += LJ_TOTAL_GROUP) {
                const uint pair = room->pairs[k];
                const lj_position a = lj_whole_at(&places, pair & 0xffffu),
                                  b = lj_whole_at(&places, pair >> 16);
                const float r2 = lj_distance2(a, b, m->scale);
                if (r2 < lj_core2_at(m, a, b)) {
                    sum->overlap = 1u;
                } else if (r2 < lj_cutoff2_at(m, a, b)) {
                    long energy, virial, contact;
                    lj_pair_at(r2, a, b, m, &energy, &virial, &contact);
                    sum->energy += 2 * energy;
                    sum->virial += 2 * virial;
                    sum->contacts += 2 * contact;
                }
            }
            turn ^= 1u;
            if (item == 0u) /* nobody reads it since the last barrier but one */
                room->listed[turn] = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif

/* Sums in the trial's box, as lj_total. keep: in the box that there is, and store the pair energies
 * of particles in boxes that this move has changed. */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_volume_sums(__global const struct lj_member *members,
               __global const struct lj_volume_rules *rules, __global const struct lj_chain *chains,
               __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
               __global long *parts, ulong step, ulong turn, uint capacity, uint slots,
               __global long *pair_energies, uint keep, __global const float4 *tables,
               struct lj_shape shape) {
    __local struct lj_total_room room;
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    struct lj_member m = lj_member_of(members, chains, tables, chain);
    const struct lj_volume_rules r = rules[chain];
    struct lj_chain c = chains[chain];
    struct lj_home home;
    lj_home_of(&home, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,
               (uint)get_num_groups(1));
    __local float scale[3];
    uint due = !m.ideal;
    if (keep) {
        due = due && lj_volume_due(&c, step, turn + 1UL) && (c.moved & 1u);
    } else {
#ifdef LJ_GIBBS
        const struct lj_chain other = chains[chain ^ 1u];
        const uint second = chain & 1u;
        const long x = lj_gibbs_trial(&r, &m, step, c.moved, second ? other.size : c.size,
                                      second ? c.size : other.size);
        const long to = lj_gibbs_size(&r, x, second);
        due = due && lj_volume_due(&other, step, turn);
#else
        const long to = lj_volume_trial(&r, &m, step, c.moved, c.size);
#endif
        due = due && lj_volume_due(&c, step, turn) && !lj_volume_limited(&r, to);
        /* exponentials are long: each side has a work-item of its own */
        for (uint k = item; due && k < 3u; k += LJ_TOTAL_GROUP)
            scale[k] = lj_volume_scale(&r, to, k);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0u; due && k < 3u; k++)
            m.scale[k] = scale[k];
        c.list = due ? lj_volume_list(&r, to) : c.list;
    }
    const uint n = due ? c.particles : 0u;
    __global long *mine = parts + LJ_TOTALS * ((ulong)chain * n_parts + part);
#ifdef LJ_WHOLE
    __local struct lj_volume_room places;
    struct lj_sum sum = {0, 0, 0, 0u};
    lj_volume_share(home.particles, &m, n, part, n_parts, item, &places, &sum);
    lj_total_reduce(&sum, 0u, item, &room, mine);
#else
    lj_home_list(&home, c.list);
    lj_total_share(&home, &m, n, part, n_parts, item, keep, 0u, &room, mine);
#endif
}

/* The sums of a chain over its work-groups. */
ERGO_INLINE struct lj_sum lj_volume_sum(__global const long *of, uint n_parts) {
    struct lj_sum sum = {0, 0, 0, 0u};
    for (uint p = 0u; p < n_parts; p++, of += LJ_TOTALS) {
        sum.energy += of[0];
        sum.virial += of[1];
        sum.contacts += of[2];
        sum.overlap |= of[3] != 0;
    }
    sum.energy /= 2; /* each pair was counted from both particles */
    sum.virial /= 2;
    sum.contacts /= 2;
    return sum;
}

/* What a volume move changes. What it does not would wait in private memory. */
ERGO_INLINE void lj_volume_write(__global struct lj_chain *to, const struct lj_chain *c) {
    to->energy = c->energy;
    to->virial = c->virial;
    to->contacts = c->contacts;
    to->size = c->size;
    to->volumes = c->volumes;
    to->status = c->status;
    to->moved = c->moved;
    to->scale[0] = c->scale[0];
    to->scale[1] = c->scale[1];
    to->scale[2] = c->scale[2];
    to->thinner = c->thinner;
    to->list = c->list;
}

/* A work-item for each chain, or for each two boxes. */
__kernel void lj_volume_move(__global const struct lj_member *members,
                             __global const struct lj_volume_rules *rules,
                             __global struct lj_chain *chains, __global const long *parts,
                             ulong step, ulong turn, uint n_parts, uint count) {
    const uint all = (uint)get_global_id(0), at = all < count ? all : 0u;
    if (all >= count) /* the first ones' chains are being written */
        return;
#ifdef LJ_GIBBS
    struct lj_chain c[2];
    struct lj_member m[2];
    struct lj_volume_rules r[2];
    struct lj_sum sum[2];
    uint due[2];
    for (uint b = 0u; b < 2u; b++) {
        c[b] = chains[2u * at + b];
        m[b] = members[2u * at + b];
        r[b] = rules[2u * at + b];
        sum[b] = lj_volume_sum(parts + LJ_TOTALS * (2UL * at + b) * n_parts, n_parts);
        due[b] = lj_volume_due(&c[b], step, turn);
    }
    if (due[0] && due[1])
        lj_gibbs_judge(r, m, step, sum, c);
    else /* a box that has come here waits for the other one, which has no room */
        for (uint b = 0u; b < 2u; b++)
            if (due[b] && c[1u - b].status != (uint)LJ_RUNNING)
                c[b].status = (uint)LJ_WAITS;
    for (uint b = 0u; b < 2u; b++)
        if (due[b])
            lj_volume_write(chains + 2u * at + b, &c[b]);
#else
    struct lj_chain c = chains[at];
    const struct lj_member m = members[at];
    const struct lj_volume_rules r = rules[at];
    const struct lj_sum sum = lj_volume_sum(parts + LJ_TOTALS * (ulong)at * n_parts, n_parts);
    const uint due = lj_volume_due(&c, step, turn);
    if (due)
        lj_volume_judge(&r, &m, step, sum, &c);
    if (due)
        lj_volume_write(chains + at, &c);
#endif
}
