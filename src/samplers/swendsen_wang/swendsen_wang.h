#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_swendsen_wang;

#endif
