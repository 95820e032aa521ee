/* The models of spin-lattice, in the order of lists for people: a new one is a line here. Two
 * implementations of a name follow each other: Ising has a bit per spin in two dimensions with one
 * coupling and a uniform field, a byte else. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_LIST_H
#define ERGO_SAMPLERS_SPIN_LATTICE_LIST_H

#include "job/model.h"

/* clang-format off */
#define SPIN_LATTICE_MODELS(MODEL) \
    MODEL(ising_model) \
    MODEL(ising_lattice_model) \
    MODEL(potts_model) \
    MODEL(blume_capel_model) \
    MODEL(north_east_model) \
    MODEL(north_or_east_model) \
    MODEL(east_model) \
    MODEL(fredrickson_andersen_model) \
    MODEL(spin_glass_model) \
    MODEL(graph_model) \
    MODEL(graph_walk_model) \
    MODEL(sherrington_kirkpatrick_model) \
    MODEL(random_orthogonal_model) \
    MODEL(xy_model) \
    MODEL(clock_model) \
    MODEL(heisenberg_model) \
    /* the end */
/* clang-format on */
#define SPIN_LATTICE_MODEL(name) extern const struct ergo_model name;
SPIN_LATTICE_MODELS(SPIN_LATTICE_MODEL)

#endif
