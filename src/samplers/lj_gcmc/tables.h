/* Tables of lj-gcmc and lj-fluid that have files of their own: keys.c and observables.c. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_TABLES_H
#define ERGO_SAMPLERS_LJ_GCMC_TABLES_H

#include "samplers/sampler.h"

enum {
    LJ_KEYS_BOX_N = 2,
    LJ_KEYS_SIZE_N = 3,
    LJ_KEYS_ACTIVITY_N = 4,
    LJ_KEYS_POTENTIAL_N = 5,
    LJ_KEYS_MIE_N = 3,
    LJ_KEYS_SPECIES_N = 9,
    LJ_KEYS_MOVES_N = 4,
    LJ_KEYS_START_N = 3,
    LJ_KEYS_BOARD_N = 3,
    LJ_KEYS_CURVES_N = 2,
    LJ_KEYS_CLOSED_N = 2,
    LJ_KEYS_NPT_N = 3,
    LJ_KEYS_GIBBS_N = 7,
    LJ_KEYS_METHOD_N = 2,
    LJ_KEYS_FIELD_N = 15,
    LJ_N_OBSERVABLES = 29,
    LJ_N_OBSERVABLES_MUVT = 45,
    LJ_N_OBSERVABLES_NVT = 36,
    LJ_N_OBSERVABLES_NPT = 38,
    LJ_N_OBSERVABLES_GIBBS = 46,
    LJ_CONJUGATES = 2,
    LJ_CONJUGATES_NVT = 1,
    LJ_CONJUGATES_NPT = 2,
};

/* Rows of keys; lj_keys_size (in the place of lj_keys_box) and lj_keys_closed: of ensembles with a
 * fixed N. */
extern const struct ergo_key lj_keys_box[LJ_KEYS_BOX_N];
extern const struct ergo_key lj_keys_size[LJ_KEYS_SIZE_N];
extern const struct ergo_key lj_keys_activity[LJ_KEYS_ACTIVITY_N];
extern const struct ergo_key lj_keys_potential[LJ_KEYS_POTENTIAL_N];
extern const struct ergo_key lj_keys_mie[LJ_KEYS_MIE_N];
extern const struct ergo_key lj_keys_species[LJ_KEYS_SPECIES_N];
extern const struct ergo_key lj_keys_moves[LJ_KEYS_MOVES_N];
extern const struct ergo_key lj_keys_start[LJ_KEYS_START_N];
extern const struct ergo_key lj_keys_board[LJ_KEYS_BOARD_N];
extern const struct ergo_key lj_keys_curves[LJ_KEYS_CURVES_N];
extern const struct ergo_key lj_keys_closed[LJ_KEYS_CLOSED_N];
extern const struct ergo_key lj_keys_npt[LJ_KEYS_NPT_N];
extern const struct ergo_key lj_keys_gibbs[LJ_KEYS_GIBBS_N];
extern const struct ergo_key lj_keys_method[LJ_KEYS_METHOD_N];
extern const struct ergo_key lj_keys_field[LJ_KEYS_FIELD_N];
enum ergo_status lj_check(struct ergo_context *ctx, const struct ergo_point *point);
extern const struct ergo_column lj_columns[];
bool lj_has_column(const struct ergo_point *point, size_t c);
bool lj_has_pressure(const struct ergo_point *point);
extern const struct ergo_conjugate lj_conjugates[LJ_CONJUGATES];
extern const struct ergo_conjugate lj_conjugates_nvt[LJ_CONJUGATES_NVT];
extern const struct ergo_conjugate lj_conjugates_npt[LJ_CONJUGATES_NPT];
extern const struct ergo_observable lj_observables[LJ_N_OBSERVABLES];
extern const struct ergo_observable lj_observables_muvt[LJ_N_OBSERVABLES_MUVT];
extern const struct ergo_observable lj_observables_nvt[LJ_N_OBSERVABLES_NVT];
extern const struct ergo_observable lj_observables_npt[LJ_N_OBSERVABLES_NPT];

/* pressure.c: of a sample */
double lj_volume_at(const struct ergo_point *point, const double *columns);
double lj_pressure_whole(const struct ergo_point *point, const double *columns);
double lj_pressure_virial(const struct ergo_point *point, const double *columns);
double lj_pressure_impulsive(const struct ergo_point *point, const double *columns);
double lj_pressure_tail(const struct ergo_point *point, const double *columns);
double lj_pressure_corrected(const struct ergo_point *point, const double *columns);

/* gibbs.c */
extern const struct ergo_column lj_gibbs_columns[];
bool lj_gibbs_has_column(const struct ergo_point *point, size_t c);
extern const struct ergo_observable lj_observables_gibbs[LJ_N_OBSERVABLES_GIBBS];

#endif
