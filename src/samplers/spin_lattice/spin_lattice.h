#ifndef ERGO_SAMPLERS_SPIN_LATTICE_H
#define ERGO_SAMPLERS_SPIN_LATTICE_H

#include "samplers/spin_lattice/models.h"

/* keys.c, observables.c */
enum { SPIN_LATTICE_KEYS = 32, SPIN_LATTICE_OBSERVABLES = 34 };
extern const struct ergo_key spin_lattice_keys[SPIN_LATTICE_KEYS];
extern const struct ergo_column spin_lattice_columns[COLUMNS];
bool spin_lattice_has_column(const struct ergo_point *point, size_t c);
extern const struct ergo_observable spin_lattice_observables[SPIN_LATTICE_OBSERVABLES];
extern const struct ergo_curve_info spin_lattice_curves[CURVES];

extern const struct ergo_sampler ergo_spin_lattice;

#endif
