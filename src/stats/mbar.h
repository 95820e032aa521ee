/*
 * Samples of several states of one system, weighted for any other: MBAR (Shirts, Chodera, J. Chem.
 * Phys. 129, 124105 (2008)), which on a histogram is WHAM (Ferrenberg, Swendsen, Phys. Rev. Lett.
 * 63, 1195 (1989)). Numbers in, numbers out; all sums of exponentials are about their largest term.
 *
 * The weight of a configuration in a state is exp(sum_r a_r x_r): x are its values (energy, number
 * of particles), a the state's coefficients (-beta, beta mu). A state's f is -ln of the sum of
 * these weights over all configurations, up to a constant common to all states.
 */
#ifndef ERGO_STATS_MBAR_H
#define ERGO_STATS_MBAR_H

#include <stdbool.h>
#include <stddef.h>

enum { ERGO_MBAR_ROWS = 4, ERGO_MBAR_STATES = 1024 };

struct ergo_mbar {
    size_t n_rows, n_states, n_values;
    const double *x;     /* [n_values][n_rows] */
    const double *a;     /* [n_states][n_rows] */
    const double *n;     /* [n_states]: samples of each, > 0 */
    const double *count; /* [n_values]: samples that have the values, of all states together */
};

/* sum_r a_r x_r */
static inline double ergo_mbar_exponent(size_t n_rows, const double *a, const double *x) {
    double sum = 0;
    for (size_t r = 0; r < n_rows; r++)
        sum += a[r] * x[r];
    return sum;
}

/*
 * f[n_states], which holds a start (zeros, ergo_mbar_start, or f of almost the same samples), so
 * that the expected number of samples of each state is what it has, to 1e-9 of it; f[0] = 0.
 * By Newton's method on Shirts' and Chodera's convex function, with the plain iteration where a
 * step of Newton's does not help. log_sum[n_values]: ln sum_k n_k exp(f_k + a_k x), by which
 * weights are divided. False: out of memory, or it did not converge (states without any overlap).
 */
bool ergo_mbar_solve(const struct ergo_mbar *m, double *f, double *log_sum);
/* A start from the states' mean values, means[n_states][n_rows], by the trapezoidal rule along the
 * states in the order given. */
void ergo_mbar_start(const struct ergo_mbar *m, const double *means, double *f);
/* overlap[k][l]: of a sample that state k would take, the probability that it is of state l (rows
 * sum to 1). False: out of memory. */
bool ergo_mbar_overlap(const struct ergo_mbar *m, const double *f, double *overlap);
/* Weights of a state with coefficients a: weight[n_values], of one sample, normalised so that the
 * weights of all samples sum to 1. Returns the logarithm of the sum before, which is -f of the
 * state. */
double ergo_mbar_weights(const struct ergo_mbar *m, const double *log_sum, const double *a,
                         double *weight);

#endif
