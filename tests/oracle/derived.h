/* As ergo_online_derived, of series that are there as arrays. */
#ifndef TESTS_ORACLE_DERIVED_H
#define TESTS_ORACLE_DERIVED_H

#include "stats/stats.h"

/* columns: n_columns (1 to ERGO_STATS_COLUMNS_MAX) pointers to n samples each. */
void ergo_stats_derived(const double *const *columns, size_t n_columns, size_t n,
                        ergo_stats_function function, void *user, struct ergo_estimate *estimate);

#endif
