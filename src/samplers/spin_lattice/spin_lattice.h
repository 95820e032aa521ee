#ifndef ERGO_SAMPLERS_SPIN_LATTICE_H
#define ERGO_SAMPLERS_SPIN_LATTICE_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_spin_lattice;

#endif
