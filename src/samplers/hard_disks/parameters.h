/* Values of keys at a point: hard disks. Where each comes from is in the rows of its keys. */
#ifndef ERGO_SAMPLERS_HARD_DISKS_PARAMETERS_H
#define ERGO_SAMPLERS_HARD_DISKS_PARAMETERS_H

#include "samplers/particle_parameters.h"

struct disks_parameters {
    struct particle_parameters particle; /* first: a pointer to it is one to this */
    const char *coordinates, *moves;
    double hexatic_block, neighbour_cutoff;
    int64_t block_cells, cells, hexatic_every;
    bool leave_cell, shuffle_checkerboard, shuffle_particles;
};

static inline const struct disks_parameters *of_disks(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define DISKS_KEY(field_, pointer_, type_)                                                         \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct disks_parameters, field_)

#endif
