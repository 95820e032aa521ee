/* Values of keys at a point: Lennard-Jones and Mie fluids. Where each comes from is in the rows of
 * its keys. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_PARAMETERS_H
#define ERGO_SAMPLERS_LJ_GCMC_PARAMETERS_H

#include "samplers/particle_parameters.h"

struct lj_parameters {
    struct particle_parameters particle; /* first: a pointer to it is one to this */
    const char *potential, *profile_axis, *run_method;
    struct ergo_value activity, beta_mu, cell_trials, cutoff, decomposition, density,
        frozen_epsilon, frozen_file, frozen_sigma, gap_cells, insertions, lambda, mu, particles,
        second_volume, slit_bulk_density, slit_density, slit_epsilon, slit_excess_width, slit_sigma,
        slit_spacing, slit_width, species_activity, species_epsilon, species_fractions,
        species_names, species_pair_epsilon, species_pair_sigma, species_sigma;
    double epsilon, field_unit, moves_deletion, moves_displacement, moves_insertion, sigma,
        species_identity_changes;
    int64_t all_pairs, attractive_exponent, capacity, curve_every, gr_bins, microcell,
        repulsive_exponent, second_particles, slots, teams, transfers, tune_steps;
    bool shifted, species_cutoff_in_sigma, tail_correction;
};

static inline const struct lj_parameters *of_lj(const struct ergo_point *point) {
    return (const void *)point->parameters;
}

#define LJ_KEY(field_, pointer_, type_)                                                            \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct lj_parameters, field_)

#endif
