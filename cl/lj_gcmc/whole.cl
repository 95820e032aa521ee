/*
 * One chain per work-group, as in run.cl, where the number of particles is constant and so small
 * that all their places are in local memory. With half of the moves accepted, lists of cells and
 * stored pair energies were read and written so often that their lines were the limit; here nothing
 * is read from far memory.
 *
 * A move looks at all particles twice. First at a byte of each coordinate, whose differences come
 * by one subtraction for all three: which may be within the cutoff of the old place or the new one?
 * Those few are listed, and their pairs evaluated side by side, whoever found them.
 *
 * Energies are integers, so the chain is that of run.cl. Others find the particles through cells,
 * which are made anew at the end.
 */
#include "lj_gcmc/coarse.h"
#include "lj_gcmc/draws.h"
#include "lj_gcmc/group.h"

/* Words of the sums of a move. */
#define LJ_ENERGY 0u
#define LJ_VIRIAL 2u
#define LJ_CONTACTS 4u
#define LJ_LISTED 6u
#define LJ_SUMS 7u

/* Energy of a pair inside the core: beyond any sum of others (group.h), even of a dozen. */
#define LJ_IN_CORE (1L << 44)

/* List the particles that may be within the cutoff of one of the places, in any order. */
ERGO_INLINE void lj_find(const struct lj_places *p, uint particles, lj_position to,
                         lj_position from, int limit, uint item, __local ushort *list,
                         __local uint *listed) {
    for (uint base = 0u; base < particles; base += 32u * LJ_GROUP) {
        /* as many for all work-items; what lies beyond the last particle is shifted out */
        const uint left = particles - base, step = LJ_LOOKS * LJ_GROUP;
        const uint rounds = min(32u, (left + step - 1u) / step * LJ_LOOKS);
        const uint own = min(rounds, (max(left, item) - item + LJ_GROUP - 1u) / LJ_GROUP);
        uint near = lj_near(p->coarse + base + item, LJ_GROUP, rounds, lj_coarse_centre(to),
                            lj_coarse_centre(from), limit);
        near >>= rounds - own;
        uint to_list = near ? atomic_add(listed, popcount(near)) : 0u;
        while (near) {
            const uint first = clz(near);
            near ^= 0x80000000u >> first;
            list[to_list++] = (ushort)(base + item + LJ_GROUP * (own - 32u + first));
        }
    }
}

/* Energy, virial and contacts (the inner shell's in the upper 16 bits) of a pair; of one beyond the
 * cutoff 0. */
#ifdef LJ_SPECIES
/* The same of a mixture; contacts in their own unit. */
#define LJ_CONTACTS_OF long
ERGO_INLINE void lj_pair_within(lj_position a, lj_position b, const struct lj_member *m,
                                long *energy, long *virial, long *contacts) {
    const float r2 = lj_distance2(a, b, m->scale), reach = lj_cutoff2_at(m, a, b);
    const uint in = r2 < reach, core = in && r2 < lj_core2_at(m, a, b);
    *energy = *virial = *contacts = 0;
    if (in && !core)
        lj_pair_at(r2, a, b, m, energy, virial, contacts);
    *energy = core ? LJ_IN_CORE : *energy;
}
#else
#define LJ_CONTACTS_OF int
ERGO_INLINE void lj_pair_within(lj_position a, lj_position b, const struct lj_member *m,
                                long *energy, long *virial, int *contacts) {
    const float r2 = lj_distance2(a, b, m->scale);
    const uint in = r2 < m->cutoff2, core = r2 < m->core2;
    lj_pair(in && !core ? r2 : m->cutoff2, m, energy, virial);
    *energy = core ? LJ_IN_CORE : in ? *energy : 0;
    *virial = in ? *virial : 0;
    *contacts = !in || r2 < m->contact2[1] ? 0 : r2 < m->contact2[0] ? 0x10000 : 1;
}
#endif

/* This work-item's share of what a move changes: sums over the particles in the list. */
ERGO_INLINE void lj_change(const struct lj_places *p, __local const ushort *list, uint listed,
                           const struct lj_move *move, lj_position from, uint item,
                           const struct lj_member *m, struct lj_sum *sum) {
    LJ_CONTACTS_OF contacts = 0;
    for (uint k = item; k < listed; k += LJ_GROUP) {
        const uint j = list[k];
        const lj_position q = lj_whole_at(p, j);
        long energy, virial, less_energy, less_virial;
        LJ_CONTACTS_OF contact, less_contact;
        if (j == move->index)
            continue;
        lj_pair_within(q, move->to, m, &energy, &virial, &contact);
        lj_pair_within(q, from, m, &less_energy, &less_virial, &less_contact);
        sum->energy += energy - less_energy;
        sum->virial += virial - less_virial;
        contacts += contact - less_contact;
    }
#ifdef LJ_SPECIES
    sum->contacts += contacts;
#else
    const int outer = (int)(short)contacts; /* LJ_WHOLE is at most 2^15 */
    sum->contacts += (long)((contacts - outer) >> 16) * 0x100000000L + (long)outer;
#endif
}

/* Sums over the work-items, which each of them gets. Between LJ_GATHER and LJ_GATHERED they pass a
 * barrier; a single warp needs none, nor local memory. */
#if defined(LJ_WARP) && LJ_GROUP == 32
#define LJ_GATHER(sum, value) (value) = ergo_warp_sum(value)
#define LJ_GATHERED(sum, value) (value)
#define LJ_GATHER_BARRIER()
#else
#define LJ_GATHER(sum, value) lj_add(sum, value)
#define LJ_GATHERED(sum, value) lj_take(sum)
#define LJ_GATHER_BARRIER() LJ_BARRIER(CLK_LOCAL_MEM_FENCE)
#endif

/* The particles into the cells. *full: a cell has too few slots, and lacks some. */
ERGO_INLINE void lj_fill_cells(const struct lj_home *home, const struct lj_places *places,
                               uint particles, uint item, __local uint *full) {
    for (uint c = item; c < home->shape.cells; c += LJ_GROUP)
        home->cells[c].w = 0u;
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = item; i < particles; i += LJ_GROUP) {
        const lj_position p = lj_whole_at(places, i);
        const uint cell = lj_cell_of(home, p);
        /* .w of the first slot is the number of particles, and counts meanwhile */
        volatile __global uint *number = (volatile __global uint *)(home->cells + cell) + 3;
        const uint slot = atomic_inc(number);
        home->particles[i] = p;
        if (slot >= home->slots) {
            atomic_dec(number);
            atomic_or(full, 1u);
        } else {
            __global uint *to = (__global uint *)(home->cells + cell + slot * home->plane);
            to[0] = p.x;
            to[1] = p.y;
            to[2] = p.z;
        }
    }
}

/* As lj_run of run.cl. A chain whose cells lack room has made its moves (status LJ_CELL_FULL): the
 * host makes room, and the cells are filled by a launch that moves nothing. */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_run(__global const struct lj_member *members, __global struct lj_chain *chains,
       __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
       __global struct lj_sample *samples, ulong start, ulong target, ulong every, uint count,
       uint capacity, uint slots, __global long *pair_energies, __global const float4 *tables,
       struct lj_shape shape) {
    __local uint4 draws[2u * LJ_AHEAD];
    __local uint x[LJ_WHOLE], y[LJ_WHOLE], z[LJ_WHOLE], coarse[LJ_WHOLE + LJ_LOOKS * LJ_GROUP];
    __local ushort list[LJ_WHOLE];
    __local uint sums[3u * LJ_SUMS], full;
    const struct lj_places places = {x, y, z, coarse};
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint n_chains = (uint)get_num_groups(0);
    const struct lj_member m = lj_member_of(members, chains, tables, chain);
    struct lj_chain c = chains[chain];
    struct lj_home home;
    if (c.status != (uint)LJ_RUNNING)
        return;
    lj_home_of(&home, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,
               n_chains);
    ulong next = c.step >= start ? start + ((c.step - start) / every + 1UL) * every : start;
    lj_draw_ahead(&m, c.step - c.step % LJ_AHEAD, item, draws);
    lj_places_read(home.particles, c.particles, item, LJ_GROUP, &places);
    for (uint i = c.particles + item; i < c.particles + LJ_LOOKS * LJ_GROUP; i += LJ_GROUP)
        coarse[i] = 0u; /* read, and of no matter */
    for (uint k = item; k < 3u * LJ_SUMS; k += LJ_GROUP)
        sums[k] = 0u;
    if (item == 0u)
        full = 0u;
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
    const int limit = lj_coarse_limit(&m);
    uint turn = 0u;
    while (c.step < target) {
        /* moves whose words are there, up to the next sample */
        const ulong goal = next < target ? next : target;
        const uint first = (uint)c.step % LJ_AHEAD;
        const uint moves = (uint)min(goal - c.step, (ulong)(LJ_AHEAD - first));
        uint accepted = 0u;
        for (uint k = first; c.particles != 0u && k < first + moves; k++) {
            struct lj_move move = lj_move_of_words(&m, c.particles, draws + 2u * k);
            const lj_position from = lj_whole_at(&places, move.index);
            move.kind = (uint)LJ_DISPLACEMENT;
#ifdef LJ_SPECIES
            lj_mixed_target(&m, from, c.step_size, &move);
#else
            if (m.local_moves)
                lj_local_target(&m, from, c.step_size, &move);
#endif
            struct lj_sum sum;
            sum.energy = sum.virial = sum.contacts = 0;
            /* Three sets of sums take turns: the next one is cleared while this one is added to,
             * and the one before may still be read. */
            __local uint *now = sums + turn * LJ_SUMS;
            turn = turn == 2u ? 0u : turn + 1u;
            for (uint w = item; w < LJ_SUMS; w += LJ_GROUP)
                sums[turn * LJ_SUMS + w] = 0u;
            if (!m.ideal) {
                lj_find(&places, c.particles, move.to, from, limit, item, list, now + LJ_LISTED);
                LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
                lj_change(&places, list, now[LJ_LISTED], &move, from, item, &m, &sum);
            }
#ifdef LJ_FIELD
            uint wall = 0u, out = 0u;
            if (item == 0u) {
                sum.energy += lj_field(move.to, &m, &wall) - lj_field(from, &m, &out);
                sum.energy = wall ? LJ_IN_CORE : sum.energy;
            }
#endif
            LJ_GATHER(now + LJ_ENERGY, sum.energy);
            LJ_GATHER_BARRIER();
            const long gain = LJ_GATHERED(now + LJ_ENERGY, sum.energy);
            if (gain < LJ_IN_CORE / 2 && lj_accept_move(&m, &c, &move, from, gain)) {
                LJ_GATHER(now + LJ_VIRIAL, sum.virial);
                LJ_GATHER(now + LJ_CONTACTS, sum.contacts);
                if (item == 0u)
                    lj_places_set(&places, move.index, move.to);
                LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
                c.energy += gain;
                c.virial += LJ_GATHERED(now + LJ_VIRIAL, sum.virial);
                c.contacts += LJ_GATHERED(now + LJ_CONTACTS, sum.contacts);
                accepted++;
            }
        }
        c.now.accepted += accepted * lj_one((uint)LJ_DISPLACEMENT);
        lj_pass(&c, &m, moves * lj_one((uint)LJ_DISPLACEMENT), moves);
        if (c.step == next) {
            if (count && item == 0u && c.step > start)
                samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
            next += every;
        }
        if (c.step % LJ_AHEAD == 0UL) {
            lj_draw_ahead(&m, c.step, item, draws);
            LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        }
    }
    lj_fill_cells(&home, &places, c.particles, item, &full);
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
    c.status = full ? (uint)LJ_CELL_FULL : (uint)LJ_RUNNING;
    if (item == 0u)
        lj_chain_end(chains + chain, &c);
}
