/* Shared by the files of src/stats; d: deviations from the mean. */
#ifndef ERGO_STATS_COVARIANCE_H
#define ERGO_STATS_COVARIANCE_H

#include "stats/stats.h"

enum {
    ERGO_STATS_LAGS = 128,                  /* longest window before neighbours are joined */
    ERGO_STATS_WHOLE = 8 * ERGO_STATS_LAGS, /* so many values and more are joined */
};

/* Gamma(lag) = sum_i d[i] d[i + lag] / (n - lag), lag < n. */
double ergo_stats_covariance(const double *d, size_t n, size_t lag);

/* Means of neighbouring pairs, in place; an odd last one is dropped. Returns the new length. */
size_t ergo_stats_join_pairs(double *d, size_t n);

/* lagged[t] += sum_i v[i] v[i - t], t <= ERGO_STATS_LAGS; v[-ERGO_STATS_LAGS] ... are there. The
 * second with vectors that every machine has: the same bits. */
void ergo_stats_correlate(double *lagged, const double *v, size_t n);
void ergo_stats_correlate_narrow(double *lagged, const double *v, size_t n);
double ergo_stats_sum(const double *v, size_t n);

/*
 * All that errors are estimated from. Level l is the series joined to means of 2^l samples, n >> l
 * values. Of a level with ERGO_STATS_WHOLE values or more a table is enough; the first level with
 * fewer is there as it is.
 */
struct ergo_levels {
    size_t n;              /* samples */
    size_t closed;         /* levels in tables */
    double window;         /* how long another series of the chain remembers; 0: not known */
    const double *gamma;   /* [closed][ERGO_STATS_LAGS + 1]: covariances about the series' mean */
    const double *squares; /* [closed]: sum of squares about the level's own mean */
    const double *top;     /* level `closed`, as deviations from the mean */
};

/* All but the mean, of a series that varies; `scale`: the unit of the levels. */
void ergo_stats_estimate_levels(const struct ergo_levels *levels, double scale,
                                struct ergo_estimate *estimate);
/* Of a constant series: all but the mean. NANs, of n samples. */
void ergo_stats_estimate_constant(struct ergo_estimate *estimate);
void ergo_stats_estimate_none(size_t n, struct ergo_estimate *estimate);

/* df/dm_a at means `at`, restored on return; step: one standard error. */
double ergo_stats_derivative(ergo_stats_function function, void *user, double *at, size_t a,
                             double step);

#endif
