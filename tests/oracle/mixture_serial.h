/*
 * Grand canonical Monte Carlo of a mixture of Lennard-Jones species, serial, in double precision,
 * from the definitions in Frenkel and Smit, Understanding Molecular Simulation, 5.6: as many
 * insertions as deletions of each species, whose particles are counted for themselves. It sums over
 * all pairs and has its own generator. It shares nothing with ergocl.
 */
#ifndef ERGO_ORACLE_MIXTURE_SERIAL_H
#define ERGO_ORACLE_MIXTURE_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ERGO_ORACLE_SPECIES = 4, ERGO_ORACLE_MIXTURE = 4096 };

struct ergo_oracle_mixture {
    double side[3], temperature;
    size_t species;
    double activity[ERGO_ORACLE_SPECIES];
    double epsilon[ERGO_ORACLE_SPECIES][ERGO_ORACLE_SPECIES],
        sigma[ERGO_ORACLE_SPECIES][ERGO_ORACLE_SPECIES],
        cutoff[ERGO_ORACLE_SPECIES][ERGO_ORACLE_SPECIES];
    bool tail;
    double (*r[ERGO_ORACLE_SPECIES])[3]; /* room for ERGO_ORACLE_MIXTURE each; malloc'ed */
    size_t n[ERGO_ORACLE_SPECIES];
    uint64_t random[4]; /* xoshiro256++ */
    double energy;      /* without tail */
};

/* Energy and virial of a pair. */
double ergo_oracle_mixture_pair(const struct ergo_oracle_mixture *o, size_t a, size_t b, double r2,
                                double *virial);
/* B2 of a pair of these species, and a: the tails of N_a and N_b particles are N_a N_b a/V, both
 * ways of unlike ones. */
double ergo_oracle_mixture_b2(const struct ergo_oracle_mixture *o, size_t a, size_t b);
double ergo_oracle_mixture_tail(const struct ergo_oracle_mixture *o, size_t a, size_t b);
/* Energy of all pairs; *virial: sum of r f; *near: pairs of species a and b (a not above b) in a
 * shell just inside their cutoff, [a][b], of this width. */
double ergo_oracle_mixture_total(const struct ergo_oracle_mixture *o, double *virial, double width,
                                 double near[ERGO_ORACLE_SPECIES][ERGO_ORACLE_SPECIES]);
/* Adds to counts[bins] the pairs of species a and b whose distance is in each bin of this width. */
void ergo_oracle_mixture_pairs(const struct ergo_oracle_mixture *o, size_t a, size_t b,
                               double width, size_t bins, size_t *counts);
bool ergo_oracle_mixture_start(struct ergo_oracle_mixture *o, uint64_t seed);
void ergo_oracle_mixture_free(struct ergo_oracle_mixture *o);
/* A displacement to anywhere (30%), insertion or deletion (35% each) of one species. */
void ergo_oracle_mixture_move(struct ergo_oracle_mixture *o);

#endif
