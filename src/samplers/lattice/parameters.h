/* Values of keys at a point: what lattice models have in common. Where each comes from is in the
 * rows of its keys. */
#ifndef ERGO_SAMPLERS_LATTICE_PARAMETERS_H
#define ERGO_SAMPLERS_LATTICE_PARAMETERS_H

#include "job/job.h"

struct lattice_parameters {
    struct ergo_parameters job; /* first: a pointer to it is one to this */
    const char *boundary, *dynamics, *run_method, *start;
    struct ergo_value cluster_every, correlation_every, coupling, couplings, disorder,
        disorder_file, disorder_ratio, disorder_seed, field, field_distribution, field_file,
        lattice, n, negative_fraction, random_field, samples, size, waiting_time;
    double crystal_field;
    int64_t copies, correlation_max, lanes, q, tile_rows, tile_sweeps;
    bool chi4;
};

static inline const struct lattice_parameters *of_lattice(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define LATTICE_KEY(field_, pointer_, type_)                                                       \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct lattice_parameters, field_)

#endif
