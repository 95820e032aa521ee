/* Values of keys at a point: hard spheres. Where each comes from is in the rows of its keys. */
#ifndef ERGO_SAMPLERS_HARD_SPHERES_PARAMETERS_H
#define ERGO_SAMPLERS_HARD_SPHERES_PARAMETERS_H

#include "samplers/particle_parameters.h"

struct spheres_parameters {
    struct particle_parameters particle; /* first: a pointer to it is one to this */
    double sk_max;
    int64_t listed, order_every, team;
};

static inline const struct spheres_parameters *of_spheres(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define SPHERES_KEY(field_, pointer_, type_)                                                       \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct spheres_parameters, field_)

#endif
