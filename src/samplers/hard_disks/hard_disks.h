#ifndef ERGO_SAMPLERS_HARD_DISKS_H
#define ERGO_SAMPLERS_HARD_DISKS_H

#include "samplers/sampler.h"

extern const struct ergo_sampler ergo_hard_disks;

#endif
