/* Values of keys at a point: what particles in a box have in common. Where each comes from is in
 * the rows of its keys. */
#ifndef ERGO_SAMPLERS_PARTICLE_PARAMETERS_H
#define ERGO_SAMPLERS_PARTICLE_PARAMETERS_H

#include "job/job.h"

struct particle_parameters {
    struct ergo_parameters job; /* first: a pointer to it is one to this */
    const char *volume_moves, *walls;
    struct ergo_value axis, box, field, gravity, harmonic, max_displacement, packing_fraction,
        start;
    double contact_bin, contact_range, gr_bin, gr_max, max_volume_change, pressure;
    int64_t contact_degree, curves_every, moves_per_cell, n, profile_bins, tile, volume_every;
};

static inline const struct particle_parameters *of_particle(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define PARTICLE_KEY(field_, pointer_, type_)                                                      \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct particle_parameters, field_)

#endif
