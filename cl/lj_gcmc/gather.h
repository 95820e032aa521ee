/*
 * The neighbours of a trial move, found in one of three ways; which one never changes a sum.
 *
 * LJ_CELLS 0: all particles. Otherwise cells of equal size, LJ_NX x LJ_NY x LJ_NZ, whatever the
 * sides of the box: cell = floor(fraction x cells), so there is no thin last cell. LJ_OFFSETS
 * neighbour offsets, nearest first, made by the host such that every cell within the cutoff comes
 * once, also where the box has few cells. LJ_LANES work-items share a cell.
 *
 * A cell's particles: plane s holds the s-th particle of every cell of every chain; .w of plane 0
 * is their number. With LJ_SLOTTED, for CPUs, a cell's particles are together instead, coordinate
 * by coordinate, and a group of one looks at eight of them at once.
 *
 * With LJ_OWN each particle's pair energy is kept beside its position, as the integer that a sum
 * would give: what a deletion or a displacement takes away is read, not summed. An accepted move
 * tells its neighbours; few are accepted.
 */
#ifndef ERGO_CL_LJ_GCMC_GATHER_H
#define ERGO_CL_LJ_GCMC_GATHER_H

#include "lj_gcmc/core.h"
#include "lj_gcmc/pairs8.h"

#if LJ_CELLS
#define LJ_GRID ((uint)(LJ_NX) * (LJ_NY) * (LJ_NZ))
enum lj_which { LJ_NEAREST, LJ_REST, LJ_ALL }; /* of the cells within the cutoff */
#endif

/* A chain's memory. */
struct lj_home {
    __global uint4 *particles;    /* [capacity] */
    __global uint4 *cells;        /* plane 0; the next is `plane` further */
    __global const uint *offsets; /* LJ_SLOTTED */
    __global const uint4 *lists;  /* else */
    ulong plane;
    uint capacity, slots;
#ifdef LJ_OWN
    __global long *own; /* as the cells: a particle's sum over its pairs */
#endif
};

ERGO_INLINE lj_position lj_position_of(uint4 p) {
    return p;
}

ERGO_INLINE uint lj_same(lj_position a, lj_position b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* One pair. `away` is the place the moving particle has or had: no partner of its own. cores: no
 * sum, only whether a core is hit. */
ERGO_INLINE void lj_visit(lj_position q, lj_position at, lj_position away, uint has_away,
                          uint is_new, uint cores, const struct lj_member *m, struct lj_sum *sum) {
    const float r2 = lj_distance2(q, at, m->scale);
    if (r2 >= (cores ? m->core2 : m->cutoff2) || (has_away && lj_same(q, away)))
        return;
    if (r2 < m->core2) {
        sum->overlap = 1u;
        return;
    }
#ifdef LJ_QUEUE
    if (sum->queued < LJ_QUEUE) {
        sum->queue[LJ_GROUP * sum->queued++] = is_new ? r2 : -r2;
        return;
    }
#endif
    long energy, virial;
    lj_pair(r2, m->shift, &energy, &virial);
    sum->energy += is_new ? energy : -energy;
    sum->virial += is_new ? virial : -virial;
    const long contact = lj_contact(r2, m);
    sum->contacts += is_new ? contact : -contact;
}

#ifdef LJ_QUEUE
/* The pairs that were put aside. */
ERGO_INLINE void lj_visit_queued(const struct lj_member *m, struct lj_sum *sum) {
    for (uint k = 0u; k < sum->queued; k++) {
        const float r2 = sum->queue[LJ_GROUP * k];
        long energy, virial;
        lj_pair(fabs(r2), m->shift, &energy, &virial);
        sum->energy += r2 > 0.0f ? energy : -energy;
        sum->virial += r2 > 0.0f ? virial : -virial;
        const long contact = lj_contact(fabs(r2), m);
        sum->contacts += r2 > 0.0f ? contact : -contact;
    }
}
#endif

#if LJ_CELLS
ERGO_INLINE uint lj_cell_of(lj_position p) {
    return (mul_hi(p.z, (uint)LJ_NZ) * (uint)LJ_NY + mul_hi(p.y, (uint)LJ_NY)) * (uint)LJ_NX +
           mul_hi(p.x, (uint)LJ_NX);
}

/* Distance from a place to the cell d further along an axis, in cells. */
ERGO_INLINE float lj_gap(int d, float f) {
    return d > 0 ? (float)d - f : d < 0 ? f - (float)(d + 1) : 0.0f;
}

ERGO_INLINE int lj_wrap(int c, int n) {
    c += c < 0 ? n : 0;
    return c >= n ? c - n : c;
}

#ifdef LJ_SLOTTED
#include "lj_gcmc/slotted.h"
#else
#include "lj_gcmc/planes.h"
#endif
#endif

#ifdef LJ_OWN
#define LJ_OLD_SUMMED 0u
#else
#define LJ_OLD_SUMMED 1u
#endif

/* The sums that a trial move changes, the share of one work-item: phase 0 the nearest cells of the
 * new position, where a core may be hit; phase 1 the rest (with LJ_OWN all), and the old position.
 */
ERGO_INLINE void lj_gather(const struct lj_home *home, const struct lj_move *move, lj_position from,
                           uint particles, uint phase, uint item, uint items,
                           const struct lj_member *m, struct lj_sum *sum) {
    const uint has_old = move->kind != (uint)LJ_INSERTION;
    const uint has_new = move->kind != (uint)LJ_DELETION;
    if (m->ideal || move->idle)
        return;
#if LJ_CELLS
    /* new, then old: one loop around one copy of the code, for compilers that inline everything */
    for (uint side = has_new ? 0u : 1u; side < (has_old && phase && LJ_OLD_SUMMED ? 2u : 1u);
         side++)
        lj_scan(home, side ? from : move->to, from, has_old, 1u - side,
                side    ? LJ_ALL
                : phase ? LJ_REST
                        : LJ_NEAREST,
                item, items, m, sum);
#else
    if (phase == 0u)
        return;
    for (uint j = item; j < particles; j += items) {
        const lj_position q = lj_position_of(home->particles[j]);
        for (uint side = has_new ? 0u : 1u; side < (has_old ? 2u : 1u); side++)
            lj_visit(q, side ? from : move->to, from, has_old, 1u - side, 0u, m, sum);
    }
#endif
}

/* Would the accepted move need more room than there is? LJ_RUNNING: no. */
ERGO_INLINE uint lj_room(const struct lj_home *home, const struct lj_move *move, lj_position from,
                         uint particles) {
    if (move->kind == (uint)LJ_INSERTION && particles >= home->capacity)
        return (uint)LJ_PARTICLES_FULL;
#if LJ_CELLS
    if (move->kind == (uint)LJ_DELETION ||
        (move->kind == (uint)LJ_DISPLACEMENT && lj_cell_of(from) == lj_cell_of(move->to)))
        return (uint)LJ_RUNNING;
    return lj_is_full(home, move->to) ? (uint)LJ_CELL_FULL : (uint)LJ_RUNNING;
#else
    return (uint)LJ_RUNNING;
#endif
}

/* Carry out an accepted move; the last particle fills the place of a deleted one. own: the pair
 * energy at the new place, with LJ_OWN. */
ERGO_INLINE void lj_apply(const struct lj_home *home, const struct lj_move *move, lj_position from,
                          uint particles, long own) {
#ifndef LJ_OWN
    (void)own;
#endif
    const uint4 to = (uint4)(move->to.x, move->to.y, move->to.z, 0u);
#if LJ_CELLS
    if (move->kind != (uint)LJ_INSERTION)
        lj_cell_remove(home, from);
#ifdef LJ_OWN
    if (move->kind != (uint)LJ_DELETION) {
        const uint cell = lj_cell_of(move->to);
        home->own[cell + home->cells[cell].w * home->plane] = own;
    }
#endif
    if (move->kind != (uint)LJ_DELETION)
        lj_cell_add(home, move->to);
#endif
    if (move->kind == (uint)LJ_DELETION)
        home->particles[move->index] = home->particles[particles - 1u];
    else
        home->particles[move->kind == (uint)LJ_INSERTION ? particles : move->index] = to;
}

#endif
