/* Shared by the files of src/stats; d: deviations from the mean. */
#ifndef ERGO_STATS_COVARIANCE_H
#define ERGO_STATS_COVARIANCE_H

#include <stddef.h>

/* Gamma(lag) = sum_i d[i] d[i + lag] / (n - lag), lag < n. */
double ergo_stats_covariance(const double *d, size_t n, size_t lag);

/* Means of neighbouring pairs, in place; an odd last one is dropped. Returns the new length. */
size_t ergo_stats_join_pairs(double *d, size_t n);

#endif
