/* The models of spin-lattice, and what their tables share. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_MODELS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_MODELS_H

#include <math.h>
#include <string.h>

#include "samplers/lattice/moments.h"
#include "samplers/lattice/sites.h"
#include "samplers/lattice/keys.h"
#include "samplers/sampler.h"
#include "samplers/tempered.h"

/* Functions of those who have a device. */
extern const struct ergo_sampler_ops ising_ops, facilitated_ops, bytes_ops, glass_ops, dense_ops;
extern const struct ergo_sampler_ops vector_ops;
extern const struct ergo_sampler_ops graph_ops;
extern const struct ergo_sampler_ops glass_cut_ops; /* spin glasses over ranks */
/* a lattice over ranks */
extern const struct ergo_sampler_ops ising_cut_ops, bytes_cut_ops, vector_cut_ops;

/* Curves of ising and potts, of facilitated dynamics, of spin glasses, in the order of the tables.
 */
enum {
    CURVE_CORRELATION,
    CURVE_CORRELATION_X,
    CURVE_CORRELATION_Y,
    CURVE_CORRELATION_Z,
    CURVE_STRUCTURE,
    LATTICE_CURVES,
    CURVE_TWO_TIMES = LATTICE_CURVES /* is known at the end of a run (two_times.h) */
};
/* Behind these, of ladders: order parameter, susceptibility, Binder's cumulant, and what all have.
 */
enum {
    ORDERED_CURVES = 3 + ERGO_N_LADDER_CURVES,
    TEMPERED_CURVES = CURVE_TWO_TIMES + 1 + ORDERED_CURVES
};
enum {
    CURVE_PHI,
    CURVE_AUTOCORRELATION,
    CURVE_PERSISTENCE,
    CURVE_UP_DENSITY,
    CURVE_FROZEN,
    CURVE_CHI4,
    CURVE_CHI4_OVERLAP,
    FACILITATED_CURVES
};
enum {
    CURVE_LADDER_ENERGY,
    CURVE_LADDER_HEAT,
    CURVE_LADDER_Q2,
    CURVE_LADDER_BINDER,
    CURVE_LADDER_XI,
    CURVE_LADDER_SWAPS,
    CURVE_OVERLAP,
    CURVE_MOMENTS,
    CURVE_HALVES,
    CURVE_SAMPLES,
    CURVE_EXCHANGES,
    CURVE_ROUND_TRIPS,
    CURVE_LADDER_TEMPERATURES,
    CURVE_GLASS_TWO_TIMES,
    CURVE_GLASS_CHI4,
    GLASS_CURVES
};
/* Columns: all models have the first two, ising, potts and blume-capel one more. */
enum { COLUMN_ENERGY, COLUMN_MAGNETIZATION, COLUMN_STAGGERED, ISING_COLUMNS };
enum {
    COLUMNS = COLUMN_STAGGERED,
    COLUMN_QUADRUPOLE = COLUMN_STAGGERED,
    COLUMN_FIRST_STATE = COLUMN_STAGGERED
};

/* ---- shared.c -------------------------------------------------------------------------------- */

extern const char *const model_dynamics[], *const model_starts[], *const model_disorders[];
/* Keys and curves of ising and potts: what a system is; what is measured. */
enum { LATTICE_KEYS = 6, LATTICE_RUN_KEYS = 3 };
/* Of models with a byte per spin. */
enum { BYTES_TUNABLES = 6 };
extern const struct ergo_tunable bytes_tunables[BYTES_TUNABLES];
/* The first two and the last are blume-capel's, too: size, temperature; start. */
extern const struct ergo_key lattice_keys[LATTICE_KEYS], lattice_run_keys[LATTICE_RUN_KEYS];
/* Blume-Capel has those of ladders alone. */
extern const struct ergo_curve_info curves_of_ising[TEMPERED_CURVES],
    curves_of_potts[TEMPERED_CURVES];
/* /run/correlation_every; with a ladder 0 unless it is given. */
int64_t model_correlation_every(const struct ergo_point *point);
uint64_t lattice_curve_every(const struct ergo_point *point);
/* Random fields and couplings of models with a byte per spin. Potts has its own in place of those
 * about the fields of a site. */
enum { FIELD_KEYS = 3, DISORDER_KEYS = 5 };
extern const struct ergo_key field_keys[FIELD_KEYS], disorder_keys[DISORDER_KEYS];
bool model_draws_fields(const struct ergo_point *point);
/* dynamics.c: does Metropolis sample this point of ising or potts (ergodic.h)? The default of
 * /system/dynamics where it does not. And a check, also of other models: the answer is `samples`.
 */
bool model_metropolis_samples(const struct ergo_point *point);
const char *model_dynamics_instead(const struct ergo_point *point);
enum ergo_status model_dynamics_check(struct ergo_context *ctx, const struct ergo_point *point,
                                      bool samples);
/* What is drawn may be the same for all replicas: a field of 0, one coupling alone. */
bool model_samples_differ(const struct ergo_point *point);
/* Sites of a lattice that are in one place, a slab's: n from number `first` on, around its end. */
struct model_sites {
    uint64_t first, n;
};
/* fields.c: read /system/field_file, `of_site` numbers for each site, whose name is said where they
 * do not fit ("states"; NULL: one). fields: [of a site][site]; the second only of some sites. The
 * third only checks it, and records a job error; bits: fields are rounded to 2^-bits of the
 * largest.
 */
enum ergo_status model_fields_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   uint64_t sites, uint64_t of_site, const char *each_has,
                                   double *fields);
enum ergo_status model_fields_of(struct ergo_context *ctx, const struct ergo_point *point,
                                 uint64_t sites, uint64_t of_site, const char *each_has,
                                 struct model_sites of, double *fields);
enum ergo_status model_fields_check(struct ergo_context *ctx, const struct ergo_point *point,
                                    uint64_t sites, uint64_t of_site, const char *each_has,
                                    int bits);
/* Of a lattice that can be cut over ranks: the shares of these. */
enum { SLAB_KEYS = 1 };
extern const struct ergo_key slab_keys[SLAB_KEYS];
/* Keys of parallel tempering (engine/ladder.h). */
enum { LADDER_KEYS = 5 };
extern const struct ergo_key ladder_keys[LADDER_KEYS];
bool model_has_ladder(const struct ergo_point *point);

/* two_times.c: the step of t = 0, /run/equilibration and /system/waiting_time; sweeps from there to
 * the end of the run, 0: it ends before; is this refused? */
uint64_t model_origin(const struct ergo_point *point);
uint64_t model_length(const struct ergo_point *point);
enum ergo_status model_origin_check(struct ergo_context *ctx, const struct ergo_point *point);
/* Times t = 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40 ... up to `sweeps` (the rounded
 * Renard series R''10 of ISO 3); times may be NULL. Returns how many. */
size_t model_times(uint64_t sweeps, double *times);
/* Fluctuations between groups of realisations that share no random number, without bias: a, b
 * [groups > 2], of each the means of a number and of its square. values[groups][stride]: pseudo-
 * values of the jackknife, whose mean is factor (<b> - <a>^2), the second from pairs of different
 * groups. False: no memory. */
bool model_chi4(size_t groups, size_t stride, const double *a, const double *b, double factor,
                double *values);

/* Samples of a spin glass: /system/samples. */
uint32_t model_samples(const struct ergo_point *point);
/* Key of a random field, from seed and replica. seeded: the model has /system/disorder_seed. */
uint64_t model_field_key(const struct ergo_point *point, bool seeded);
/* The hash of couplings at the beginning of states that have one. */
void model_couplings(const void *state, struct ergo_extent *x);
bool model_has_frames(const struct ergo_point *point);
/* Of m: why it is slow where it is as often negative as positive. */
const char *model_slow_sign(const struct ergo_point *point);

/* May a coupling or field be rounded to whole multiples of `unit`? It changes by no more than
 * `negligible`, or 2^-13 of itself: less than errors of means. */
static inline bool model_rounds(double x, double unit, double negligible) {
    return fabs(x - unit * floor(x / unit + 0.5)) <= fmax(negligible, 0x1p-13 * fabs(x));
}

/* Of lattices that are cut into slabs. */
/* clang-format off */
#define SLAB_TUNABLES                                                                              \
    {ERGO_TUNABLE(ergo_parameters, halo_sweeps),                                                   \
     "cut over ranks: sweeps from one exchange of halos to the next", 0, 256, false},              \
    {ERGO_TUNABLE(ergo_parameters, halo_colours),                                                  \
     "cut over ranks: 1 an exchange of halos after each colour, 2 after several, 0 automatic",     \
     0, 2, false}
/* clang-format on */

#endif
