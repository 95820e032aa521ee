#ifndef ERGO_SAMPLERS_HELIUM_DMC_HELIUM_DMC_H
#define ERGO_SAMPLERS_HELIUM_DMC_HELIUM_DMC_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_helium_dmc;

#endif
