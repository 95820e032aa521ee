/* Values of keys at a point: what both samplers of helium have. Where each comes from is in the
 * rows of its keys. */
#ifndef ERGO_SAMPLERS_HELIUM_PARAMETERS_H
#define ERGO_SAMPLERS_HELIUM_PARAMETERS_H

#include "job/job.h"

struct quantum_parameters {
    struct ergo_parameters job; /* first: a pointer to it is one to this */
    const char *external, *one_body, *one_body_factor, *potential, *wave_function;
    struct ergo_value aspect, start;
    double b, density, epsilon, healing, localisation, mass, sigma, sk_max, trap_length,
        triplet_centre, triplet_range, triplet_strength, triplet_width;
    int64_t density_matrix_points, dimensions, energy_group, frame_walkers, gr_bins, n,
        pair_map_bins, structure_every, structure_walkers, walkers;
    bool symmetrised, tail_correction;
};

static inline const struct quantum_parameters *of_quantum(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define QUANTUM_KEY(field_, pointer_, type_)                                                       \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct quantum_parameters, field_)

#endif
