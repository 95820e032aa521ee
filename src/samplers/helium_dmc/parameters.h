/* Values of keys at a point: diffusion Monte Carlo. Where each comes from is in the rows of its
 * keys. */
#ifndef ERGO_SAMPLERS_HELIUM_DMC_PARAMETERS_H
#define ERGO_SAMPLERS_HELIUM_DMC_PARAMETERS_H

#include "samplers/helium/parameters.h"

struct dmc_parameters {
    struct quantum_parameters quantum; /* first: a pointer to it is one to this */
    struct ergo_value correction_steps, forward_steps;
    double time_step;
    int64_t comb_group;
    bool forward_structure;
};

static inline const struct dmc_parameters *of_dmc(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define DMC_KEY(field_, pointer_, type_)                                                           \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct dmc_parameters, field_)

#endif
