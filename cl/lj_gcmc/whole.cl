/*
 * One chain per work-group, as in run.cl, where the number of particles is constant and so small
 * that all their places are in local memory. A move looks at all pairs of its particle at the old
 * place and at the new one. That is some ten times as many distances as cells would find pairs, but
 * nothing is read from far memory: with half of the moves accepted, lists of cells and stored pair
 * energies were read and written so often that their lines were the limit.
 *
 * Energies are integers, so the chain is that of run.cl. Others find the particles through cells,
 * which are made anew at the end.
 */
#include "lj_gcmc/draws.h"
#include "lj_gcmc/group.h"

/* Pairs within the cutoff that a work-item keeps before it evaluates them: side by side they are
 * evaluated together, while of the distances only one in four or less is short enough. */
#define LJ_KEPT 8u

/* Words of the sums of a move. */
#define LJ_ENERGY 0u
#define LJ_VIRIAL 2u
#define LJ_CONTACTS 4u
#define LJ_OVERLAP 6u
#define LJ_SUMS 7u

/* A pair that the move makes, or ends (r2 < 0). */
ERGO_INLINE void lj_change_by(float r2, const struct lj_member *m, struct lj_sum *sum) {
    const long sign = r2 < 0.0f ? -1L : 1L;
    long energy, virial;
    r2 = fabs(r2);
    lj_pair(r2, m, &energy, &virial);
    sum->energy += sign * energy;
    sum->virial += sign * virial;
    sum->contacts += sign * lj_contact(r2, m);
}

/* This work-item's share of what a move changes. places: x of all particles, y, z. */
ERGO_INLINE void lj_change(__local const uint *places, uint particles, const struct lj_move *move,
                           lj_position from, uint item, const struct lj_member *m,
                           __local float *kept, struct lj_sum *sum) {
    uint count = 0u;
    for (uint j = item; j < particles; j += LJ_GROUP) {
        const lj_position q =
            (uint4)(places[j], places[LJ_WHOLE + j], places[2u * LJ_WHOLE + j], 0u);
        const float to_new = lj_distance2(q, move->to, m->scale);
        const float to_old = lj_distance2(q, from, m->scale);
        if (j == move->index)
            continue;
        if (to_new < m->core2) {
            sum->overlap = 1u;
        } else if (to_new < m->cutoff2) {
            if (count < LJ_KEPT)
                kept[LJ_GROUP * count++] = to_new;
            else
                lj_change_by(to_new, m, sum);
        }
        if (to_old < m->cutoff2) {
            if (count < LJ_KEPT)
                kept[LJ_GROUP * count++] = -to_old;
            else
                lj_change_by(-to_old, m, sum);
        }
    }
    for (uint k = 0u; k < count; k++)
        lj_change_by(kept[LJ_GROUP * k], m, sum);
}

/* The particles into the cells. *full: a cell has too few slots, and lacks some. */
ERGO_INLINE void lj_fill_cells(const struct lj_home *home, __local const uint *places,
                               uint particles, uint item, __local uint *full) {
    for (uint c = item; c < LJ_GRID; c += LJ_GROUP)
        home->cells[c].w = 0u;
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = item; i < particles; i += LJ_GROUP) {
        const uint4 p = (uint4)(places[i], places[LJ_WHOLE + i], places[2u * LJ_WHOLE + i], 0u);
        const uint cell = lj_cell_of(p);
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
       uint capacity, uint slots, __global long *pair_energies, __global const float4 *tables) {
    __local uint4 draws[2u * LJ_AHEAD];
    __local uint places[3u * LJ_WHOLE], sums[3u * LJ_SUMS], full;
    __local float kept[LJ_KEPT * LJ_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint n_chains = (uint)get_num_groups(0);
    const struct lj_member m = lj_member_of(members, chains, tables, chain);
    struct lj_chain c = chains[chain];
    struct lj_home home;
    (void)pair_energies;
    if (c.status != (uint)LJ_RUNNING)
        return;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, n_chains);
    ulong next = c.step >= start ? start + ((c.step - start) / every + 1UL) * every : start;
    lj_draw_ahead(&m, c.step - c.step % LJ_AHEAD, item, draws);
    for (uint i = item; i < c.particles; i += LJ_GROUP) {
        const uint4 p = home.particles[i];
        places[i] = p.x;
        places[LJ_WHOLE + i] = p.y;
        places[2u * LJ_WHOLE + i] = p.z;
    }
    for (uint k = item; k < 3u * LJ_SUMS; k += LJ_GROUP)
        sums[k] = 0u;
    if (item == 0u)
        full = 0u;
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
    uint turn = 0u;
    while (c.step < target) {
        struct lj_move move =
            lj_move_of_words(&m, c.particles, draws + 2u * ((uint)c.step % LJ_AHEAD));
        const uint i = move.idle ? 0u : move.index;
        const lj_position from =
            (uint4)(places[i], places[LJ_WHOLE + i], places[2u * LJ_WHOLE + i], 0u);
        if (m.local_moves)
            lj_local_target(&m, from, c.step_size, &move);
        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
#ifdef LJ_FIELD
        uint out = 0u;
        if (item == 0u && !move.idle)
            sum.energy = lj_field(move.to, &m, &sum.overlap) - lj_field(from, &m, &out);
#endif
        if (!m.ideal && !move.idle)
            lj_change(places, c.particles, &move, from, item, &m, kept + item, &sum);
        /* Three sets of sums take turns: the next one is cleared while this one is added to, and
         * the one before may still be read. */
        __local uint *now = sums + turn * LJ_SUMS;
        turn = turn == 2u ? 0u : turn + 1u;
        for (uint k = item; k < LJ_SUMS; k += LJ_GROUP)
            sums[turn * LJ_SUMS + k] = 0u;
        lj_add(now + LJ_ENERGY, sum.energy);
        if (sum.overlap)
            atomic_or(now + LJ_OVERLAP, 1u);
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        const long gain = lj_take(now + LJ_ENERGY);
        if (!move.idle && now[LJ_OVERLAP] == 0u &&
            lj_accept(&m, move.kind, move.word, c.particles, gain)) {
            lj_add(now + LJ_VIRIAL, sum.virial);
            lj_add(now + LJ_CONTACTS, sum.contacts);
            if (item == 0u) {
                places[i] = move.to.x;
                places[LJ_WHOLE + i] = move.to.y;
                places[2u * LJ_WHOLE + i] = move.to.z;
            }
            LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
            c.virial += lj_take(now + LJ_VIRIAL);
            c.contacts += lj_take(now + LJ_CONTACTS);
            lj_count(&c, move.kind, gain);
        }
        lj_pass(&c, &m, lj_one(move.kind), 1u);
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
    lj_fill_cells(&home, places, c.particles, item, &full);
    LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (item == 0u) {
        c.status = full ? (uint)LJ_CELL_FULL : (uint)LJ_RUNNING;
        chains[chain] = c;
    }
}
