#ifndef ERGO_SAMPLERS_LJ_GCMC_H
#define ERGO_SAMPLERS_LJ_GCMC_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_lj_gcmc, ergo_lj_fluid;

#endif
