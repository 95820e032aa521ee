/*
 * Facilitated dynamics, written plainly: the exact Markov operator on tiny tori, one realisation at
 * a time in the order of its attempts, and the closure test. It shares nothing with the kernels but
 * the layout of the random counter (cl/common/rng.h, cl/spin_lattice/facilitated.h).
 */
#ifndef ERGO_TESTS_ORACLE_FACILITATED_H
#define ERGO_TESTS_ORACLE_FACILITATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* H = J sum s s + B sum s at temperature 1. Directions: 1 north (y - 1), 2 east (x + 1), 4 south, 8
 * west, 16 above (z - 1), 32 below; `needed` of these neighbours must be up. */
struct fac_oracle {
    int lx, ly;
    unsigned directions;
    int needed;
    double j, b;
    bool heat_bath;
    int lz; /* layers; 0: a square lattice, or, with ly = 1, a chain */
};

double fac_oracle_density(const struct fac_oracle *o); /* 1 / (1 + exp 2B) */
/* Probability that an attempt at an unconstrained site flips it: a spin up or not, with n up
 * neighbours. */
double fac_oracle_chance(const struct fac_oracle *o, bool up, int n);

/* From the master equation, at t = 0 .. n - 1 sweeps: <s(t)>, <s(0) s(t)> of a site, and the
 * probability that it has not flipped since t = 0. The start, `waiting` sweeps before t = 0, has
 * every spin up with probability `up`. lx ly <= 16. */
bool fac_oracle_ageing(const struct fac_oracle *o, double up, size_t waiting, size_t n, double *m,
                       double *same, double *persistence);
/* N times the variance of a realisation's sum s(0) s(t) / N, and of its share of spins that have
 * not flipped, where <s(0) s(t)> and persistence are known. lx ly <= 12. */
bool fac_oracle_chi4(const struct fac_oracle *o, double up, size_t waiting, size_t n,
                     const double *same, const double *persistence, double *overlap, double *never);
/* Phi and persistence from a start with density c: (<s(0) s(t)> - m^2) / (1 - m^2), m = 2c - 1. */
bool fac_oracle_markov(const struct fac_oracle *o, size_t n, double *phi, double *persistence);
/* Energy and up density of the Boltzmann measure on all states but all-down; lx ly <= 16. */
void fac_oracle_boltzmann(const struct fac_oracle *o, double *energy, double *up);

/* Realisation `lane` of word-lattice `word`: spins and flipped[lx ly] are 0 or 1. */
void fac_oracle_start(const struct fac_oracle *o, uint64_t stream, uint32_t word, int lane,
                      uint8_t *spins);
void fac_oracle_sweep(const struct fac_oracle *o, uint64_t stream, uint32_t word, int lane,
                      uint64_t step, uint8_t *spins, uint8_t *flipped);
/* The same by `lambda` concurrent picks in sub-lattices of 32 x 32 (the rules of
 * cl/spin_lattice/facilitated_lambda.h): shifted, fixed, coloured. */
enum fac_oracle_division { FAC_ORACLE_SHIFTED, FAC_ORACLE_FIXED, FAC_ORACLE_COLOURED };
void fac_oracle_lambda_sweep(const struct fac_oracle *o, int lambda,
                             enum fac_oracle_division division, uint64_t stream, uint32_t word,
                             int lane, uint64_t step, uint8_t *spins, uint8_t *flipped);
/* frozen[site]: the site can never flip. Found by repeated passes over a plain lattice. */
void fac_oracle_frozen(const struct fac_oracle *o, const uint8_t *spins, uint8_t *frozen);

#endif
