/* Values of keys at a point: variational Monte Carlo. Where each comes from is in the rows of its
 * keys. */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_PARAMETERS_H
#define ERGO_SAMPLERS_HELIUM_VMC_PARAMETERS_H

#include "samplers/helium/parameters.h"

struct vmc_parameters {
    struct quantum_parameters quantum; /* first: a pointer to it is one to this */
    const char *optimise;
    struct ergo_value target_acceptance;
    double displacement, optimise_rate;
    int64_t optimise_every, optimise_knots, optimise_updates, start_steps, start_walkers,
        table_copies, tile, walkers_per_group, warps;
};

static inline const struct vmc_parameters *of_vmc(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define VMC_KEY(field_, pointer_, type_)                                                           \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct vmc_parameters, field_)

#endif
