/*
 * Fully connected spin glasses, written plainly: one realisation, spins as numbers, sums of J s in
 * double precision, and exact averages by enumeration. H = -1/2 sum_{i != j} J_ij s_i s_j - h sum
 * s_i.
 */
#ifndef ERGO_ORACLE_DENSE_SERIAL_H
#define ERGO_ORACLE_DENSE_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

struct dense_oracle {
    int n, temperatures, copies;
    enum { DENSE_ORACLE_BIMODAL, DENSE_ORACLE_GAUSSIAN, DENSE_ORACLE_ORTHOGONAL } disorder;
    double t[16], h;
    bool heat;
    uint64_t stream, key; /* Philox keys of chain and couplings */
};

/* j[n][n], drawn as a job does. */
void dense_oracle_couplings(const struct dense_oracle *o, int sample, double *j);
/* spins[slot][n], slot = copies * temperature + copy. */
void dense_oracle_start(const struct dense_oracle *o, int sample, int *spins);
/* flips[slot] grows. */
void dense_oracle_sweep(const struct dense_oracle *o, int sample, const double *j, uint64_t step,
                        int *spins, uint64_t *flips);
/* came[slot]: was this walker at the hot end more recently than at the cold one? accepted[slot],
 * of the colder ones, and trips[copy] grow. */
void dense_oracle_swap(const struct dense_oracle *o, int sample, const double *j, uint64_t step,
                       int parity, int *spins, int *came, uint64_t *accepted, uint64_t *trips);
double dense_oracle_energy(const struct dense_oracle *o, const double *j, const int *spins);

/* Exact averages of one realisation at temperature t. */
enum { DENSE_EXACT_SITES = 20 };
struct dense_exact {
    double ground; /* lowest energy per site */
    double e, e2, abs_q, q2, q4, m, m2;
    double p[DENSE_EXACT_SITES + 1]; /* probability of this number of unequal spins of two copies */
};
void dense_oracle_exact(const struct dense_oracle *o, const double *j, double t,
                        struct dense_exact *exact);

#endif
