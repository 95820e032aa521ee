/*
 * Two serial programs for hard disks, from the paper (Anderson et al. 2013, Algorithms 1 and 4):
 *
 *  - the checkerboard chain of ergocl, bit for bit, by the definition in
 *    src/samplers/hard_disks/README.md, with Random123's Philox;
 *  - plain Metropolis Monte Carlo in doubles: one disk is drawn at random and displaced, without
 *    cells in the physics, and with its own generator. It shares only the model with the chain.
 */
#ifndef ERGO_ORACLE_DISKS_SERIAL_H
#define ERGO_ORACLE_DISKS_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ergo_oracle_cell {
    int n;
    int64_t x[4], y[4];
};

struct ergo_oracle_disks {
    int64_t cells, rows, width; /* along x and y; units along a cell */
    uint64_t contact;           /* squared, in units of x */
    uint64_t ratio;             /* (w_y/w_x)^2 in 2^-62 */
    float step, step_y;         /* max_displacement in units of x and of y, / 2^17 */
    int64_t leave;              /* units that a centre may be outside of its cell */
    int moves;
    bool shuffle_particles, shuffle_checkerboard;
    bool reflect; /* moves are reflections, else displacements */
    /* constant pressure, if it is positive: beta P sigma^2, the number of disks, sweeps from one
     * move to the next; in 2^-36 the largest step, ln V, and ln(V sigma^2) in units */
    double pressure;
    uint64_t n, volume_every;
    int64_t volume_step, volume, scale;
    uint64_t tuned;        /* sweeps during which the step is tuned; 0: it is not */
    int64_t volume_most;   /* and the largest one allowed then */
    bool per_axis;         /* a move changes one side: */
    int64_t stretch;       /* ln(Ly/Lx) less that of the start, */
    long double stretched; /* and ln (w_y/w_x)^2 of the start */
    bool volume_accepted;  /* the last move */
    uint32_t key[2];
    int64_t grid[2];
    struct ergo_oracle_cell *cell; /* [rows][cells] */
    uint64_t accepted, tried;      /* of the last sweep: moves, and cells with disks */
    bool lost;                     /* a fifth disk entered a cell */
    /* Walls: centres are from first to last along each axis, in the box; last 0: no walls. A field
     * along an axis: beta u = gravity z + harmonic (z - middle)^2 / 2, z from the lower face of the
     * box; unit: of sigma along that axis. In doubles: a decision differs from ergocl's once in a
     * million. */
    int64_t first[2], last[2];
    int axis;
    double gravity, harmonic, middle, unit;
};

/* One sweep, and a volume move if it is due; `step` is the number of sweeps before it. */
void ergo_oracle_disks_sweep(struct ergo_oracle_disks *o, uint64_t step);
/* Pairs with limits[b] <= r^2 < limits[b + 1], each once, by all pairs; nearest images. */
void ergo_oracle_disks_pairs(const struct ergo_oracle_disks *o, const uint64_t *limits, size_t bins,
                             uint64_t *counts);
bool ergo_oracle_disks_overlap(const struct ergo_oracle_disks *o);
/* Of each disk its place along the field's axis, in units; returns their number. beta u there. */
size_t ergo_oracle_disks_places(const struct ergo_oracle_disks *o, int64_t *places);
double ergo_oracle_disks_energy(const struct ergo_oracle_disks *o, int64_t place);
/* The smallest squared distance of two disks, of all pairs and nearest images. */
uint64_t ergo_oracle_disks_closest(const struct ergo_oracle_disks *o);

/*
 * psi_6 of a configuration, by its definition. For each disk, take the mean of exp(6 i theta) over
 * its bonds, or 0 without bonds; then average over all disks. A disk has a bond to every image of
 * every disk (also its own images) with 0 < distance <= cutoff. Tests all pairs and images.
 */
void ergo_oracle_psi6(size_t n, const double box[2], double cutoff, const double *x,
                      const double *y, double *re, double *im);

struct ergo_oracle_plain {
    size_t n;
    double box, step;
    double *x, *y;
    size_t cells; /* per side; cells only serve to find neighbours */
    size_t *head, *next;
    uint64_t random;
};

bool ergo_oracle_plain_init(struct ergo_oracle_plain *p, size_t n, double box, double step,
                            const double *x, const double *y, uint64_t seed);
void ergo_oracle_plain_free(struct ergo_oracle_plain *p);
void ergo_oracle_plain_sweep(struct ergo_oracle_plain *p); /* n trial moves */
/* A trial change of ln V, uniform within +-most, at beta P sigma^2. True: accepted. */
bool ergo_oracle_plain_volume(struct ergo_oracle_plain *p, double pressure, double most);
/* Pairs at distance 1 + range i / bins to 1 + range (i + 1) / bins, added to counts. */
void ergo_oracle_plain_contacts(const struct ergo_oracle_plain *p, double range, size_t bins,
                                uint64_t *counts);

#endif
