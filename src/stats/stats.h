/* Statistics of correlated time series. Pure functions of arrays; no I/O. */
#ifndef ERGO_STATS_STATS_H
#define ERGO_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * error = sqrt(2 tau sigma^2 / n), tau from the Gamma method (U. Wolff, Comput. Phys. Commun. 156,
 * 143 (2004), automatic windowing); error_binning from the plateau of logarithmic binning
 * (Flyvbjerg and Petersen 1989). In samples: tau >= 1/2 means independent (tau = 1/2).
 */
struct ergo_estimate {
    double mean, error, error_binning;
    double tau, tau_error; /* in samples */
    uint64_t samples;
    bool too_short; /* n too small against tau, or the two errors disagree: errors are not honest */
};

/* n >= 1. A constant series has error 0 and tau 1/2. n < 4: error NAN, too_short. */
void ergo_stats_estimate(const double *x, size_t n, struct ergo_estimate *estimate);

/* A quantity derived from means, e.g. heat capacity from <e>, <e^2>. */
typedef double (*ergo_stats_function)(const double *means, void *user);

/*
 * f(means of columns) with errors by linear propagation: the projected series
 * sum_a df/dm_a (x_a - m_a) goes through the same two estimators (Wolff 2004, section 3). The
 * mean is corrected for the bias of order 1/n by the jackknife over blocks longer than tau.
 * columns: n_columns pointers to n samples each.
 */
enum { ERGO_STATS_COLUMNS_MAX = 16 };
void ergo_stats_derived(const double *const *columns, size_t n_columns, size_t n,
                        ergo_stats_function function, void *user, struct ergo_estimate *estimate);

/* Normalised autocorrelation function rho[0..n_lags-1] of x (KISS FFT). False: out of memory. */
bool ergo_stats_autocorrelation(const double *x, size_t n, double *rho, size_t n_lags);

/*
 * A curve measured many times (g(r), spin correlation): means and errors from up to 64 bins, whose
 * length doubles as samples come in; serialisable as plain doubles for checkpoints.
 */
enum { ERGO_CURVE_BINS = 64 };
struct ergo_curve {
    size_t size;        /* points on the curve */
    uint64_t count;     /* samples added */
    uint64_t bin_length;/* samples per full bin */
    double *bins;       /* [ERGO_CURVE_BINS][size] sums of samples */
};
bool ergo_curve_init(struct ergo_curve *curve, size_t size); /* false: out of memory */
void ergo_curve_free(struct ergo_curve *curve);
void ergo_curve_add(struct ergo_curve *curve, const double *sample);
/* mean[size], error[size] (NAN with fewer than two full bins). */
void ergo_curve_result(const struct ergo_curve *curve, double *mean, double *error);

#endif
