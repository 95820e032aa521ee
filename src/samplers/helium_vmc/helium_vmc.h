#ifndef ERGO_SAMPLERS_HELIUM_VMC_HELIUM_VMC_H
#define ERGO_SAMPLERS_HELIUM_VMC_HELIUM_VMC_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_helium_vmc;

#endif
