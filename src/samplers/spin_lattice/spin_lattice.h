#ifndef ERGO_SAMPLERS_SPIN_LATTICE_H
#define ERGO_SAMPLERS_SPIN_LATTICE_H

#include "job/model.h"

extern const struct ergo_sampler ergo_spin_lattice;

#endif
