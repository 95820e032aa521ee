/*
 * Checkerboard chains of hard disks as different programs define them, serial and in doubles. Disks
 * keep their identity, so that displacements can be followed. Generator: xoshiro256++. Schemes
 * differ in:
 *
 *   cells   number per side (even; w >= sigma, so that disks of two cells of a set never meet)
 *   moves   consecutive trials of a cell, while its neighbours stand still
 *   rounds  over the four sets, before the grid is shifted
 *   drawn   each trial draws a disk of the cell at random; else they are shuffled and take turns
 *   square  displacements uniform in [-d, d]^2; else in the circle of radius d
 *   lines   a disk is put anywhere on the free part of a line through its centre, along x and y in
 * turn, within its cell: uniformly (1), or reflected in the middle of that part (2), or reflected
 * three times of four (3) both    shift by -w/2 .. w/2 along x and along y; else by 0 .. w/2 along
 * one of +-x, +-y
 */
#ifndef ERGO_ORACLE_DISKS_SCHEMES_H
#define ERGO_ORACLE_DISKS_SCHEMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ergo_oracle_scheme {
    int cells, moves, rounds;
    bool drawn, square, both;
    double d;
    int lines;
};

enum { ERGO_ORACLE_SCHEME_SLOTS = 16 };

struct ergo_oracle_chain {
    struct ergo_oracle_scheme scheme;
    int n;
    double box, width;
    double *x, *y;     /* [n] from the grid's origin, 0 <= x, y < box */
    double *ux, *uy;   /* [n] sum of all accepted displacements of a disk */
    int *count, *list; /* [cells^2], [cells^2][SLOTS]: disks of a cell */
    uint64_t random[4];
    uint64_t sweeps, updates, trials, accepted; /* updates: of cells that had disks */
};

/* rows^2 disks (rows even) of diameter 1, every other row shifted by half a spacing. False: no such
 * checkerboard, an overlap, or no memory. */
bool ergo_oracle_chain_init(struct ergo_oracle_chain *c, struct ergo_oracle_scheme scheme, int rows,
                            double packing_fraction, uint64_t seed);
void ergo_oracle_chain_free(struct ergo_oracle_chain *c);
void ergo_oracle_chain_sweep(struct ergo_oracle_chain *c);
/* |mean of local psi_6|, neighbours within `cutoff`. */
double ergo_oracle_chain_psi6(const struct ergo_oracle_chain *c, double cutoff);
/* Pairs closer than `cutoff`. *overlaps: pairs closer than 1, within 1e-9. Tests all pairs. */
size_t ergo_oracle_chain_pairs(const struct ergo_oracle_chain *c, double cutoff, size_t *overlaps);

#endif
