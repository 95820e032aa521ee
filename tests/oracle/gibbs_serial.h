/*
 * The Gibbs ensemble of Lennard-Jones particles, serial, in double precision: A. Z.
 * Panagiotopoulos, Mol. Phys. 61, 813 (1987), as in Frenkel and Smit, Understanding Molecular
 * Simulation, 8.3: a random particle of all is displaced, one of either box goes to a random place
 * in the other one, ln(V1/V2) changes. It sums over all pairs, has its own generator, and shares
 * nothing with ergocl.
 */
#ifndef ERGO_ORACLE_GIBBS_SERIAL_H
#define ERGO_ORACLE_GIBBS_SERIAL_H

#include "oracle/lj_serial.h"

struct ergo_oracle_gibbs {
    struct ergo_oracle_lj box[2]; /* temperature, cutoff, tail: those of the first */
    double step;                  /* largest displacement along an axis */
    double change;                /* largest change of ln(V1/V2) */
    double smallest;              /* volume of a box */
    uint64_t random[4];
};

/* Cubes of these volumes with so many particles on lattices. false: no memory. */
bool ergo_oracle_gibbs_start(struct ergo_oracle_gibbs *g, const size_t particles[2],
                             const double volumes[2], uint64_t seed);
/* One trial: a displacement (60%), a transfer (35%), an exchange of volume (5%). */
void ergo_oracle_gibbs_move(struct ergo_oracle_gibbs *g);
double ergo_oracle_gibbs_volume(const struct ergo_oracle_gibbs *g, int box);
void ergo_oracle_gibbs_free(struct ergo_oracle_gibbs *g);

#endif
