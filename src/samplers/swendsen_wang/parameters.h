/* Values of keys at a point: clusters. Where each comes from is in the rows of its keys. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_PARAMETERS_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_PARAMETERS_H

#include "samplers/lattice/keys.h"

struct sw_parameters {
    struct lattice_parameters lattice; /* first: a pointer to it is one to this */
    const char *hamiltonian, *merge, *update;
    double probability_step, probability_step_first, wrapping_share;
    int64_t tile_group, tile_words;
    bool correlations;
};

static inline const struct sw_parameters *of_sw(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define SW_KEY(field_, pointer_, type_)                                                            \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct sw_parameters, field_)

#endif
