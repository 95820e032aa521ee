/* Tables of lj-gcmc that have files of their own: keys.c and observables.c. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_TABLES_H
#define ERGO_SAMPLERS_LJ_GCMC_TABLES_H

#include "samplers/sampler.h"

enum { LJ_N_KEYS = 23, LJ_N_OBSERVABLES = 28, LJ_CONJUGATES = 2 };

extern const struct ergo_key lj_keys[LJ_N_KEYS];
extern const struct ergo_column lj_columns[];
bool lj_has_column(const struct ergo_point *point, size_t c);
extern const struct ergo_conjugate lj_conjugates[LJ_CONJUGATES];
extern const struct ergo_observable lj_observables[LJ_N_OBSERVABLES];

#endif
