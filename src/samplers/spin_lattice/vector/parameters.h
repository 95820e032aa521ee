/* Values of keys at a point: unit vectors. Where each comes from is in the rows of its keys. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_VECTOR_PARAMETERS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_VECTOR_PARAMETERS_H

#include "samplers/lattice/parameters.h"

struct vector_parameters {
    struct lattice_parameters lattice; /* first: a pointer to it is one to this */
    struct ergo_value wave_vectors;
    double anisotropy, step;
    int64_t over_relaxation, tile_sites;
};

static inline const struct vector_parameters *of_vector(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define VECTOR_KEY(field_, pointer_, type_)                                                        \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct vector_parameters, field_)

#endif
