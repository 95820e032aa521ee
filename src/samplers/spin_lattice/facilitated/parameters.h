/* Values of keys at a point: facilitated spins. Where each comes from is in the rows of its keys.
 */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_PARAMETERS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_PARAMETERS_H

#include "samplers/lattice/parameters.h"

struct facilitated_parameters {
    struct lattice_parameters lattice; /* first: a pointer to it is one to this */
    const char *method;
    struct ergo_value lambda, sublattices, up_density;
    int64_t facilitation, halo, realisations, segment, tile_columns;
};

static inline const struct facilitated_parameters *of_facilitated(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define FACILITATED_KEY(field_, pointer_, type_)                                                   \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct facilitated_parameters, field_)

#endif
