/*
 * Two serial programs for hard spheres, from the paper (Anderson et al. 2013) with a third axis:
 *
 *  - the checkerboard chain of ergocl, bit for bit, by the definition in
 *    src/samplers/hard_spheres/README.md, with Random123's Philox. Overlaps are looked for among
 * all pairs, by nearest images in the whole box. Energies in a field are in doubles, and so is
 * their exponential: a decision differs from ergocl's once in a million;
 *  - plain Metropolis Monte Carlo in doubles: one sphere is drawn at random and displaced, and in
 * the isobaric ensemble the volume is changed now and then. No cells, and its own generator. It
 *    shares only the model with the chain.
 */
#ifndef ERGO_ORACLE_SPHERES_SERIAL_H
#define ERGO_ORACLE_SPHERES_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ERGO_ORACLE_SLOTS = 16 };

struct ergo_oracle_cube {
    int n;
    int64_t at[ERGO_ORACLE_SLOTS][3];
};

struct ergo_oracle_spheres {
    int64_t cells[3], width[3]; /* along each axis; units along a cell */
    uint64_t contact;           /* squared, in units */
    int64_t step;               /* max_displacement in units, rounded down */
    int moves;
    uint32_t key[2];
    int64_t grid[3];
    /* Walls: centres are from first to last along each axis, in the box; last 0: no walls. A field
     * along an axis: beta u = gravity z + harmonic (z - middle)^2 / 2, z from the lower face of the
     * box; sigma: in units. */
    int64_t first[3], last[3];
    int axis;
    double gravity, harmonic, middle, sigma;
    struct ergo_oracle_cube *cube; /* x, then y, then z */
    uint64_t accepted, tried;      /* of the last sweep: moves, and cells with spheres */
    bool lost;                     /* more spheres entered a cell than there is room for */
};

/* One sweep; `step` is the number of sweeps before it. */
void ergo_oracle_spheres_sweep(struct ergo_oracle_spheres *o, uint64_t step);
/* Pairs with limits[b] <= r^2 < limits[b + 1], each once, by all pairs; nearest images. */
void ergo_oracle_spheres_pairs(const struct ergo_oracle_spheres *o, const uint64_t *limits,
                               size_t bins, uint64_t *counts);
/* Of each sphere its place along the field's axis, in units, in the order of cells; returns their
 * number. */
size_t ergo_oracle_spheres_places(const struct ergo_oracle_spheres *o, int64_t *places);
/* beta u there. */
double ergo_oracle_spheres_energy(const struct ergo_oracle_spheres *o, int64_t place);
/* The smallest squared distance of two spheres. */
uint64_t ergo_oracle_spheres_closest(const struct ergo_oracle_spheres *o);

struct ergo_oracle_balls {
    size_t n;
    double side[3], step;
    double (*at)[3];
    uint64_t random[4];
};

void ergo_oracle_balls_sweep(struct ergo_oracle_balls *b); /* n trial moves */
/* A trial change of ln V, uniform within +-most, at beta P sigma^3. True: accepted. */
bool ergo_oracle_balls_volume(struct ergo_oracle_balls *b, double pressure, double most);
/* Pairs at distance 1 + range i / bins to 1 + range (i + 1) / bins, added to counts. */
void ergo_oracle_balls_contacts(const struct ergo_oracle_balls *b, double range, size_t bins,
                                uint64_t *counts);

#endif
