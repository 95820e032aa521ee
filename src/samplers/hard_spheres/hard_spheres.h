#ifndef ERGO_SAMPLERS_HARD_SPHERES_H
#define ERGO_SAMPLERS_HARD_SPHERES_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_hard_spheres;

#endif
