/*
 * The neighbours of a trial move, found through cells. The layout of cells in memory never changes
 * a sum.
 *
 * All cells have the same size (struct lj_shape), whatever the sides of the box. A cell is
 * floor(fraction x cells), so no last cell is thinner. The host makes a list of offsets to
 * neighbour cells, the nearest first. Every cell within the cutoff occurs once, also if the box has
 * few cells.
 *
 * On GPUs (planes.h) cells are about sigma wide. Plane s holds the s-th particle of every cell of
 * every chain; .w of plane 0 is the number of particles in the cell. On CPUs (LJ_SLOTTED,
 * slotted.h) cells are at least as wide as the cutoff, and a cell's particles lie side by side by
 * coordinate, so a work-group of one reads eight at once. One core of an EPYC with PoCL 3.1 does
 * 1.9e6 moves a second in this way, and 1.3e6 with planes.
 *
 * With LJ_ENERGIES each particle's pair energy is kept beside its position, as the integer that a
 * sum would give. A deletion or displacement then reads the old energy and need not sum it. An
 * accepted move must update the energies of its neighbours, but few moves are accepted.
 */
#ifndef ERGO_CL_LJ_GCMC_GATHER_H
#define ERGO_CL_LJ_GCMC_GATHER_H

#include "lj_gcmc/core.h"
#include "lj_gcmc/pairs8.h"

/* The first layer of cells in memory. LJ_CUT: the box is cut over ranks. */
#ifdef LJ_CUT
#define LJ_LOW(of) ((of)->low)
#else
#define LJ_LOW(of) 0u
#endif

/* A chain's memory. */
struct lj_home {
    struct lj_shape shape;        /* where volumes change, with the list of cells for this one */
    __global uint4 *particles;    /* [capacity] */
    __global uint4 *cells;        /* plane 0; each further one is `plane` entries later */
    __global const uint *offsets; /* with LJ_SLOTTED */
    __global const uint4 *lists;  /* without */
    __global const uint4 *heads;  /* of the lists for this volume */
    ulong plane;
    uint capacity, slots;
#ifdef LJ_CUT
    uint low; /* the first layer in memory */
#endif
#ifdef LJ_ENERGIES
    __global long *energies; /* a particle's sum over its pairs, laid out as the cells */
#endif
};

ERGO_INLINE lj_position lj_position_of(uint4 p) {
    return p;
}

ERGO_INLINE uint lj_same(lj_position a, lj_position b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Where cell x, y, z of the box is in memory, which begins with layer `low`. */
ERGO_INLINE uint lj_cell_at(const struct lj_shape *g, uint x, uint y, uint z, uint low) {
    return ((z - low + (z < low ? g->n[2] : 0u)) * g->n[1] + y) * g->n[0] + x;
}

ERGO_INLINE uint lj_cell_in(const struct lj_shape *g, lj_position p, uint low) {
    return lj_cell_at(g, mul_hi(p.x, g->n[0]), mul_hi(p.y, g->n[1]), mul_hi(p.z, g->n[2]), low);
}

ERGO_INLINE uint lj_cell_of(const struct lj_home *home, lj_position p) {
    return lj_cell_in(&home->shape, p, 0u);
}

/* Distance in cells from a place to the cell d further along an axis. f is the place's fraction
 * within its own cell. */
ERGO_INLINE float lj_gap(int d, float f) {
    return d > 0 ? (float)d - f : d < 0 ? f - (float)(d + 1) : 0.0f;
}

ERGO_INLINE int lj_wrap(int c, int n) {
    c += c < 0 ? n : 0;
    return c >= n ? c - n : c;
}

/* The same of coordinates up to once around the box. */
ERGO_INLINE uint lj_cell_around(const struct lj_shape *g, int x, int y, int z, uint low) {
    return lj_cell_at(g, (uint)lj_wrap(x, (int)g->n[0]), (uint)lj_wrap(y, (int)g->n[1]),
                      (uint)lj_wrap(z, (int)g->n[2]), low);
}

/* The cell of a position and, for culling, its place within the cell. */
struct lj_spot {
    int x, y, z;
    float fx, fy, fz;
};

ERGO_INLINE struct lj_spot lj_spot_of(const struct lj_shape *g, lj_position p) {
    struct lj_spot c;
    c.x = (int)mul_hi(p.x, g->n[0]);
    c.y = (int)mul_hi(p.y, g->n[1]);
    c.z = (int)mul_hi(p.z, g->n[2]);
    c.fx = (float)(p.x * g->n[0]) * 0x1p-32f;
    c.fy = (float)(p.y * g->n[1]) * 0x1p-32f;
    c.fz = (float)(p.z * g->n[2]) * 0x1p-32f;
    return c;
}

#include "lj_gcmc/field.h"
#ifdef LJ_SLOTTED
#include "lj_gcmc/slotted.h"
#else
#include "lj_gcmc/planes.h"
#endif

/* One work-item's share of the sums that a trial move changes. Phase 0 finds out whether a particle
 * in the nearest cells is inside the core of the new position. Phase 1 adds up the sums. The energy
 * at the old position is stored with LJ_ENERGIES, and is summed in phase 1 otherwise. */
ERGO_INLINE void lj_gather(const struct lj_home *home, const struct lj_move *move, lj_position from,
                           uint phase, uint item, uint items, const struct lj_member *m,
                           struct lj_sum *sum) {
    const uint has_old = move->kind != (uint)LJ_INSERTION;
    const uint has_new = move->kind != (uint)LJ_DELETION;
#ifdef LJ_FIELD
    if (has_new && !move->idle)
        lj_field_share(move->to, m, phase == 0u, item, items, sum);
#ifdef LJ_SLOTTED
    if (has_old && phase && !move->idle)
        sum->energy -= lj_field(from, m, &sum->overlap);
#endif
#endif
    if (m->ideal || move->idle)
        return;
#ifdef LJ_SLOTTED
    (void)item;
    (void)items;
    /* the new side, then the old one, in one loop around one copy of the code, because some
     * compilers inline everything */
    for (uint side = has_new ? 0u : 1u; side < (has_old && phase ? 2u : 1u); side++)
        lj_scan(home, side ? from : move->to, from, has_old, 1u - side,
                side    ? LJ_ALL
                : phase ? LJ_REST
                        : LJ_NEAREST,
                m, sum);
#else
    if (has_new)
        lj_scan(home, move->to, from, has_old, phase == 0u, item, items, m, sum);
#endif
}

/* LJ_RUNNING if there is room for the accepted move, or else what is full. */
ERGO_INLINE uint lj_room(const struct lj_home *home, const struct lj_move *move, lj_position from,
                         uint particles) {
    if (move->kind == (uint)LJ_INSERTION && particles >= home->capacity)
        return (uint)LJ_PARTICLES_FULL;
    if (move->kind == (uint)LJ_DELETION || (move->kind == (uint)LJ_DISPLACEMENT &&
                                            lj_cell_of(home, from) == lj_cell_of(home, move->to)))
        return (uint)LJ_RUNNING;
    return lj_is_full(home, move->to) ? (uint)LJ_CELL_FULL : (uint)LJ_RUNNING;
}

#endif
