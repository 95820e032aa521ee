/* What both launch shapes share: book-keeping of a move that was decided. */
#ifndef ERGO_CL_LJ_GCMC_CHAIN_H
#define ERGO_CL_LJ_GCMC_CHAIN_H

#include "lj_gcmc/gather.h"

ERGO_INLINE struct lj_home lj_home_of(__global uint4 *particles, __global uint4 *cells,
                                      __global const uint *offsets, uint capacity, uint slots,
                                      uint chain, uint chains) {
    struct lj_home home;
    home.particles = particles + (ulong)chain * capacity;
    home.capacity = capacity;
    home.slots = slots;
    home.offsets = offsets;
#if LJ_CELLS
    home.cells = cells + (ulong)chain * LJ_GRID;
    home.plane = (ulong)chains * LJ_GRID;
#else
    home.cells = cells;
    home.plane = 0UL;
#endif
    return home;
}

/* The trial move of this step; *from: where its particle is. */
ERGO_INLINE struct lj_move lj_propose(const struct lj_home *home, const struct lj_member *m,
                                      const struct lj_chain *c, struct lj_position *from) {
    struct lj_move move = lj_draw(m, c->particles, c->step_size, c->step);
    from->x = from->y = from->z = 0u;
    if (move.kind != (uint)LJ_INSERTION && !move.idle)
        *from = lj_position_of(home->particles[move.index]);
    if (move.kind == (uint)LJ_DISPLACEMENT && m->local_moves)
        lj_local_target(m, *from, c->step_size, &move);
    return move;
}

/* Counters, running sums, tuning; then the step is done. */
ERGO_INLINE void lj_finish(struct lj_chain *c, const struct lj_member *m,
                           const struct lj_move *move, uint accepted, lj_long energy,
                           lj_long virial) {
    const uint displaced = move->kind == (uint)LJ_DISPLACEMENT ? 1u : 0u;
    const uint inserted = move->kind == (uint)LJ_INSERTION ? 1u : 0u;
    const uint deleted = move->kind == (uint)LJ_DELETION ? 1u : 0u;
    c->tried[0] += displaced;
    c->tried[1] += inserted;
    c->tried[2] += deleted;
    if (accepted) {
        c->accepted[0] += displaced;
        c->accepted[1] += inserted;
        c->accepted[2] += deleted;
        c->particles += inserted - deleted;
        c->energy += energy;
        c->virial += virial;
    }
    if (c->step < m->tune_until) {
        c->tried_window += displaced;
        c->accepted_window += accepted & displaced;
        if ((c->step + 1UL) % LJ_TUNE_EVERY == 0UL) {
            c->step_size = lj_tuned(c->step_size, c->tried_window, c->accepted_window);
            c->tried_window = c->accepted_window = 0u;
        }
    }
    c->step++;
}

ERGO_INLINE void lj_reset_counters(struct lj_chain *c) {
    for (int k = 0; k < 3; k++)
        c->tried[k] = c->accepted[k] = 0u;
}

ERGO_INLINE struct lj_sample lj_sample_of(const struct lj_chain *c) {
    struct lj_sample s;
    s.energy = c->energy;
    s.virial = c->virial;
    s.particles = c->particles;
    for (int k = 0; k < 3; k++) {
        s.tried[k] = c->tried[k];
        s.accepted[k] = c->accepted[k];
    }
    s.pad = 0u;
    return s;
}

#endif
