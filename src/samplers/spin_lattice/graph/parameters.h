/* Values of keys at a point: spins on graphs. Where each comes from is in the rows of its keys. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_PARAMETERS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_PARAMETERS_H

#include "samplers/lattice/parameters.h"

struct graph_parameters {
    struct lattice_parameters lattice; /* first: a pointer to it is one to this */
    const char *graph, *graph_format, *schedule, *temperature_scale;
    struct ergo_value long_range, lowest_every, target_energy, temperature_final,
        temperature_initial, walk_max, walk_min;
    double flatness;
    int64_t check_every, estimates, lowest_states, population, realisation, temperature_points,
        temperatures, walkers;
};

static inline const struct graph_parameters *of_graph(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define GRAPH_KEY(field_, pointer_, type_)                                                         \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct graph_parameters, field_)

#endif
