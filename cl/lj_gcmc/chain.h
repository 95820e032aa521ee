/* A chain's memory, the place of the particle that a trial moves, and counters after a trial. */
#ifndef ERGO_CL_LJ_GCMC_CHAIN_H
#define ERGO_CL_LJ_GCMC_CHAIN_H

#include "lj_gcmc/gather.h"

/* Which box of a Gibbs ensemble this is. */
#ifdef LJ_GIBBS
#define LJ_BOX(m) ((m)->box)
#else
#define LJ_BOX(m) 0u
#endif

ERGO_INLINE void lj_home_of(struct lj_home *home, const struct lj_shape *shape,
                            __global uint4 *particles, __global uint4 *cells,
                            __global const uint *offsets, __global long *pair_energies,
                            uint capacity, uint slots, uint chain, uint chains) {
    home->shape = *shape;
    home->particles = particles + (ulong)chain * capacity;
    home->capacity = capacity;
    home->slots = slots;
    home->offsets = offsets;
    home->lists = home->heads = (__global const uint4 *)offsets;
#ifdef LJ_CUT
    home->low = 0u;
#endif
#ifdef LJ_SLOTTED
    home->cells = cells + (ulong)chain * shape->cells * slots;
    home->plane = 0UL;
    (void)chains;
#else
    home->cells = cells + (ulong)chain * shape->cells;
    home->plane = (ulong)chains * shape->cells;
#endif
#ifdef LJ_ENERGIES
    home->energies = pair_energies + (ulong)chain * shape->cells;
#else
    (void)pair_energies;
#endif
}

/* Where volumes change (LJ_NPT) there are lists of cells for several of them, and this is the one
 * to take. */
ERGO_INLINE void lj_home_list(struct lj_home *home, uint list) {
#ifdef LJ_NPT
#ifdef LJ_SLOTTED
    const uint4 head = home->lists[list];
    home->offsets += head.x;
    home->shape.offsets = head.y;
    home->shape.near = head.z;
#else
    home->heads += list * (LJ_PARTS * LJ_PARTS * LJ_PARTS);
#endif
#else
    (void)home;
    (void)list;
#endif
}

/* A chain's parameters, with the sides of its box where volumes change. */
ERGO_INLINE struct lj_member lj_member_of(__global const struct lj_member *members,
                                          __global const struct lj_chain *chains,
                                          __global const float4 *tables, uint chain) {
    struct lj_member m = members[chain];
    lj_tables_at(&m, tables);
#ifdef LJ_NPT
    for (uint k = 0u; k < 3u; k++)
        m.scale[k] = ergo_as_float(chains[chain].scale[k]);
    m.tail *= ergo_as_float(chains[chain].thinner);
#else
    (void)chains;
#endif
    return m;
}

/* The place of the particle that a move concerns. For a displacement in steps, or of a mixture,
 * also sets its target. */
ERGO_INLINE lj_position lj_start(const struct lj_home *home, const struct lj_member *m,
                                 uint step_size, struct lj_move *move) {
    lj_position from = (uint4)(0u);
    if (move->kind != (uint)LJ_INSERTION && !move->idle)
        from = lj_position_of(home->particles[move->index]);
#ifdef LJ_SPECIES
    if (move->kind == (uint)LJ_DISPLACEMENT)
        lj_mixed_target(m, from, step_size, move);
#else
    if (move->kind == (uint)LJ_DISPLACEMENT && m->local_moves)
        lj_local_target(m, from, step_size, move);
#endif
    return from;
}

/* Is the move accepted, with this change of the pairs' energy? */
ERGO_INLINE uint lj_accept_move(const struct lj_member *m, const struct lj_chain *c,
                                const struct lj_move *move, lj_position from, long energy_change) {
#ifdef LJ_SPECIES
    return lj_accept_mixed(m, move->kind, move->word, c->particles, c->numbers, from, move->to,
                           energy_change);
#else
    (void)from;
    return lj_accept(m, move->kind, move->word, c->particles, energy_change);
#endif
}

/* What a move adds to the counters of its kind. */
ERGO_INLINE uint lj_one(uint kind) {
    return kind == (uint)LJ_DISPLACEMENT ? 1u : kind == (uint)LJ_INSERTION ? 0x10000u : 0u;
}

/* End `moves` steps, at most the last of which ends a window: update counters and tuning. tried:
 * the sum of lj_one over the moves. */
ERGO_INLINE void lj_pass(struct lj_chain *c, const struct lj_member *m, uint tried, uint moves) {
    c->now.tried += tried;
    c->step += moves;
    if (moves != 0u && c->step % LJ_WINDOW == 0UL) {
        if (c->step <= m->tune_until)
            c->step_size =
                lj_tuned(c->step_size, c->now.tried & 0xffffu, c->now.accepted & 0xffffu);
        c->last = c->now;
        c->now.tried = c->now.accepted = c->now.accepted_deletion = 0u;
    }
}

/* An accepted move of a step that has not ended, of a particle at `from`: counters and running
 * energy. */
ERGO_INLINE void lj_count(struct lj_chain *c, const struct lj_move *move, lj_position from,
                          long energy) {
    const uint kind = move->kind, one = lj_one(kind);
#ifdef LJ_SPECIES
    ERGO_UNROLL
    for (uint t = 0u; t < LJ_SPECIES; t++) {
        if (kind != (uint)LJ_INSERTION && (from.x & LJ_SPECIES_MASK) == t)
            c->numbers[t] -= 1u;
        if (kind != (uint)LJ_DELETION && (move->to.x & LJ_SPECIES_MASK) == t)
            c->numbers[t] += 1u;
    }
#else
    (void)from;
#endif
    c->now.accepted += one;
    c->now.accepted_deletion += one ? 0u : 1u;
    c->particles += kind == (uint)LJ_INSERTION ? 1u : one ? 0u : 0xffffffffu;
    c->energy += energy;
}

/* Write a chain after its moves. What they do not change would wait in private memory. */
ERGO_INLINE void lj_chain_end(__global struct lj_chain *to, const struct lj_chain *c) {
    to->step = c->step;
    to->energy = c->energy;
    to->virial = c->virial;
    to->contacts = c->contacts;
    to->particles = c->particles;
    to->step_size = c->step_size;
    to->status = c->status;
    to->now = c->now;
    to->last = c->last;
#ifdef LJ_SPECIES
    for (uint k = 0u; k < LJ_SPECIES; k++)
        to->numbers[k] = c->numbers[k];
#endif
}

ERGO_INLINE struct lj_sample lj_sample_of(const struct lj_chain *c) {
    struct lj_sample s;
    s.energy = c->energy;
    s.virial = c->virial;
    s.contacts = c->contacts;
    s.particles = c->particles;
    s.size = c->size;
    s.now = c->now;
    s.last = c->last;
    s.moved = c->moved;
    for (uint k = 0u; k < LJ_MOST_SPECIES; k++)
#ifdef LJ_SPECIES
        s.numbers[k] = c->numbers[k];
#else
        s.numbers[k] = 0u;
#endif
    return s;
}

#endif
