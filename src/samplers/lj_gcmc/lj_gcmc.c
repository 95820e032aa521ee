/* lj-gcmc and lj-fluid: the samplers' tables, and functions of a job that need no device. */
#include "samplers/lj_gcmc/lj_gcmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/cut.h"
#include "samplers/lj_gcmc/tables.h"

/* Of a mixture. In a configuration without such pairs both are 0. */
#define PAIRS_OF(k, st, which)                                                                     \
    [LJ_CURVE_GR_OF + (k)] = {"gr_" st, "r (length)", "",                                          \
                              "of a mixture: pair correlation g(r) of " which                      \
                              ", 1 in an ideal gas: each configuration by its own numbers of "     \
                              "particles, 0 without pairs"},                                       \
                      [LJ_CURVE_DENSITY_OF +                                                       \
                          (k)] = {"pair_density_" st, "r (length)", "1/length^6",                  \
                                  "of a mixture (muvt): rho_s rho_t g(r) of " which}

static const struct ergo_curve_info curves[] = {
    [LJ_CURVE_GR] =
        {"gr", "r (length)", "",
         "pair correlation g(r), 1 in an ideal gas: each configuration by its own N (N - 1), "
         "0 where N < 2"},
    [LJ_CURVE_PAIR_DENSITY] = {"pair_density", "r (length)", "1/length^6",
                               "rho^2 g(r): ordered pairs per volume of the box and of the shell"},
    [LJ_CURVE_PROFILE] = {"density_profile", "z (length)", "1/length^3",
                          "density of layers of a slit or field at z (or x, y: profile_axis)"},
    [LJ_CURVE_HISTOGRAM] =
        {"particles_histogram", "N", "",
         "P(N), of every sample; N up to 1.2 per sigma^3 (of a mixture: of the first species) "
         "and 16 more, beyond which samples are in no bin"},
    PAIRS_OF(0, "11", "the first species"),
    PAIRS_OF(1, "12", "the first and the second species"),
    PAIRS_OF(2, "22", "the second species"),
    PAIRS_OF(3, "13", "the first and the third species"),
    PAIRS_OF(4, "23", "the second and the third species"),
    PAIRS_OF(5, "33", "the third species"),
    PAIRS_OF(6, "14", "the first and the fourth species"),
    PAIRS_OF(7, "24", "the second and the fourth species"),
    PAIRS_OF(8, "34", "the third and the fourth species"),
    PAIRS_OF(9, "44", "the fourth species"),
};

enum { LJ_TUNABLE_SLOTS = 3, LJ_TUNABLE_CAPACITY };

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(lj_parameters, teams),
     "trial moves that a work-group evaluates at once, each as if those before "
     "it were rejected (a power of two)",
     0, 32, true},
    {ERGO_TUNABLE(lj_parameters, microcell),
     "side of a cell in hundredths of sigma, where the device does not take cells of the cutoff; "
     "0: 100",
     30, 1000, false},
    [LJ_TUNABLE_SLOTS] = {ERGO_TUNABLE(lj_parameters, slots),
                          "slots for particles in a cell at the start", 0, 4096, false},
    [LJ_TUNABLE_CAPACITY] = {ERGO_TUNABLE(lj_parameters, capacity),
                             "most particles of a chain at the start", 0, 134217728, false},
    {ERGO_TUNABLE(particle_parameters, tile),
     "most particles around an active cell of a checkerboard at the start", 0, 65536, false},
    {ERGO_TUNABLE(lj_parameters, all_pairs),
     "1: all pairs of a particle that moves, in local memory: only where N is constant, said by "
     "the "
     "job and not by a file, all of them have room, and no atoms are frozen (else cells, with a "
     "warning); 2: cells; 0: all pairs where that is possible, but on CPUs",
     0, 2, true},
};

static const struct ergo_gone gone[] = {
    {"/system/neighbours",
     "leave it out. Neighbours are always found through cells, of the cutoff on CPUs and of "
     "/tuning/microcell elsewhere; the chain is the same"},
    {"/tuning/moves_per_launch", "leave it out. A launch is always many moves"},
    {"/tuning/blocks", "leave it out. A chain is always one work-group"},
};

static size_t curve_size(const struct ergo_point *point, size_t c) {
    if (lj_curve_every(point) == 0)
        return 0;
    const struct lj_system s = lj_system_of(point);
    uint32_t width;
    if (c >= LJ_CURVE_DENSITY_OF && !lj_is_open(point)) /* in proportion to g(r) */
        return 0;
    if (c >= LJ_CURVE_GR_OF)
        return s.species.n && (c - LJ_CURVE_GR_OF) % (LJ_CURVE_DENSITY_OF - LJ_CURVE_GR_OF) <
                                  lj_pair_kinds(&s)
                   ? lj_bins(point)
                   : 0;
    if (c != LJ_CURVE_HISTOGRAM)
        return (c == LJ_CURVE_PROFILE) == lj_has_field(point) ? lj_bins(point) : 0;
    return lj_is_open(point) ? lj_histogram_size(&s, &width) : 0;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    const struct lj_system s = lj_system_of(point);
    const double bin = lj_has_field(point) ? s.length / (double)curve_size(point, c)
                                           : s.cutoff / lj_gr_bins(point);
    uint32_t width;
    lj_histogram_size(&s, &width);
    for (size_t i = 0; i < curve_size(point, c); i++)
        x[i] = c == LJ_CURVE_HISTOGRAM ? (double)i * width + 0.5 * (width - 1)
                                       : ((double)i + 0.5) * bin;
}

static size_t histogram_bin(const struct ergo_point *point, size_t c, const double *columns,
                            double *count) {
    const struct lj_system s = lj_system_of(point);
    uint32_t width;
    (void)c;
    lj_histogram_size(&s, &width);
    *count = 1.0 / width;
    return (size_t)columns[LJ_COLUMN_PARTICLES] / width;
}

static uint64_t curve_every(const struct ergo_point *point) {
    const uint64_t every = lj_curve_every(point);
    return every > 0 ? every : 1;
}

/* Ideal gas in a slit: N has a Poisson distribution with mean z A times Henry's integral. */
static double exact_slit(const struct ergo_point *point, const struct lj_system *s,
                         const char *observable) {
    if (strcmp(observable, "henry_constant") == 0 && lj_has_fixed(point, 0))
        return s->box[0] * s->box[1] * lj_slit_henry(s) / s->temperature;
    if (!lj_is_open(point) || s->epsilon != 0)
        return NAN;
    const double adsorbed = s->activity * lj_slit_henry(s);
    if (strcmp(observable, "adsorption") == 0)
        return adsorbed;
    if (strcmp(observable, "particles") == 0 || strcmp(observable, "particles_variance") == 0)
        return adsorbed * s->box[0] * s->box[1];
    return NAN;
}

/* Ideal gas: N has a Poisson distribution with mean zV. If N is fixed, so is the density. */
static double exact(const struct ergo_point *point, const char *observable) {
    const struct lj_system s = lj_system_of(point);
    const int64_t n = lj_particles_of(point);
    if (lj_has_field(point) && lj_has_fixed(point, n) && strcmp(observable, "density") == 0)
        return (double)n / (lj_has_slit(point) ? s.volume / s.box[2] * s.slit.width : s.volume);
    if (lj_has_voxels(point) || lj_has_frozen(point))
        return NAN;
    if (lj_has_slit(point))
        return exact_slit(point, &s, observable);
    if (s.ensemble == LJ_GIBBS) /* N and V of a box change */
        return NAN;
    if (s.ensemble == LJ_NPT)
        return s.epsilon == 0 && strcmp(observable, "density") == 0 ? s.pressure / s.temperature
                                                                    : NAN;
    if (!lj_is_open(point) && !lj_start_file(point)) {
        if (strcmp(observable, "particles") == 0)
            return (double)n;
        if (strcmp(observable, "density") == 0)
            return (double)n / s.volume;
        if (strcmp(observable, "pressure") == 0 && s.epsilon == 0)
            return (double)n / s.volume * s.temperature;
    }
    if (s.epsilon != 0 || s.activity == 0)
        return NAN;
    double z = s.species.n ? 0 : s.activity; /* of all species together */
    for (uint32_t k = 0; k < s.species.n; k++)
        z += s.activity * s.species.activity[k];
    if (strcmp(observable, "particles") == 0 || strcmp(observable, "particles_variance") == 0)
        return z * s.volume;
    if (strcmp(observable, "density") == 0)
        return z;
    if (strcmp(observable, "pressure") == 0)
        return z * s.temperature;
    return NAN;
}

/* One move per particle of a dense fluid, because a single move hardly changes a sample. An
 * activation of the checkerboard makes as many. */
static uint64_t measure_every(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const double cubes = s.volume / (s.sigma * s.sigma * s.sigma);
    return s.period || !(cubes > 1) ? 1 : cubes < 1e15 ? (uint64_t)cubes : (uint64_t)1e15;
}

/* Trials of an empty box, or of an empty active cell of a checkerboard, are refused whatever the
 * steps; a few particles are displaced to nearly anywhere; and anywhere is as far as steps go. */
static bool judges_steps(const struct ergo_point *point, double particles, double accepted) {
    const struct lj_system s = lj_system_of(point);
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2]));
    if (accepted > 0.5 && (s.max_displacement == 0 || s.max_displacement > 0.49 * shortest))
        return false;
    if (s.period) {
        uint32_t blocks[3];
        const double share = pow((double)LJ_ACTIVE / s.period, 3);
        particles *= share / (double)lj_board_blocks(&s, blocks);
        return !(particles < 3);
    }
    return !(particles < 8);
}

/* NIST, transition-matrix Monte Carlo (data/reference/lj.md), box of 512 sigma^3 at T* = 1.5.
 * NIST gives no errors; here half a unit of the last digit. */
static double published(const struct ergo_point *point, const char *observable, double *error) {
    static const struct {
        const char *observable;
        double beta_mu, value, error;
    } known[] = {{"particles", -2.5, 90.010, 0.0005},
                 {"energy", -2.5, -1.28270, 5e-6},
                 {"pressure", -2.5, 0.16905, 5e-6},
                 {"pressure", -2, 0.4396, 5e-5}};
    const struct lj_system s = lj_system_of(point);
    if (!s.tail || s.mie || s.species.n || s.epsilon != 1 || s.sigma != 1 || s.temperature != 1.5 ||
        s.cutoff != 3 || s.box[0] != 8 || s.box[1] != 8 || s.box[2] != 8 || s.activity == 0)
        return NAN;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].observable, observable) == 0 &&
            fabs(log(s.activity) - known[i].beta_mu) < 1e-9) {
            *error = known[i].error;
            return known[i].value;
        }
    return NAN;
}

#define OPS(name)                                                                                  \
    {                                                                                              \
        .engine = &(name), .init = lj_init, .save = lj_save, .load = lj_load, .carry = lj_carry,   \
        .frame = lj_frame,                                                                         \
    }
static const struct ergo_sampler_ops ops = OPS(lj_model), fluid_ops = OPS(lj_fluid_engine);

static const char *const first_job[] = {"/system/box=[6, 6, 6]",
                                        "/system/temperature=2",
                                        "/system/activity=0.1",
                                        "/system/cutoff=2.5",
                                        "/run/equilibration=20000",
                                        "/run/sweeps=200000",
                                        NULL};

static const char *const first_nvt[] = {"/system/box=[6, 6, 6]",
                                        "/system/temperature=1.5",
                                        "/system/particles=108",
                                        "/system/cutoff=2.5",
                                        "/run/equilibration=20000",
                                        "/run/sweeps=200000",
                                        NULL};

static const char *const first_npt[] = {
    "/system/box=[6, 6, 6]",    "/system/temperature=1.5",  "/system/particles=108",
    "/system/pressure=0.8",     "/system/volume_every=108", "/system/cutoff=2.5",
    "/run/equilibration=20000", "/run/sweeps=200000",       NULL};

static const char *const first_gibbs[] = {"/system/box=[6, 6, 6]", "/system/temperature=1",
                                          "/system/particles=150", "/system/second_particles=6",
                                          "/system/cutoff=2.5",    "/system/volume_every=100",
                                          "/system/transfers=100", "/run/equilibration=20000",
                                          "/run/sweeps=100000",    NULL};

#define ROWS(name)                                                                                 \
    { lj_keys_##name, sizeof lj_keys_##name / sizeof lj_keys_##name[0] }
#define KEYS_OPEN                                                                                  \
    ROWS(box), ROWS(activity), ROWS(potential), ROWS(moves), ROWS(start), ROWS(board), ROWS(curves)
#define MUVT                                                                                       \
    .first = first_job, ERGO_TABLE(conjugates, lj_conjugates), .relation_x = "density",            \
    .relation_y = "pressure", .relation_help = "isotherm: the points of the scan",                 \
    .published = published
#define SHARED                                                                                     \
    .tunables_room = 1u << LJ_TUNABLE_SLOTS | 1u << LJ_TUNABLE_CAPACITY, ERGO_TABLE(gone, gone),   \
    ERGO_TABLE(tunables, tunables), .trajectory = "configurations, extended XYZ",                  \
    .check = lj_check, .measure_every = measure_every, .exact = exact,                             \
    .judges_steps = judges_steps
#define ONE_BOX .columns = lj_columns, .n_columns = LJ_COLUMNS, .has_column = lj_has_column
#define CURVES(n)                                                                                  \
    .curves = curves, .n_curves = (n), .histograms = 1u << LJ_CURVE_HISTOGRAM,                     \
    .curve_size = curve_size, .curve_x = curve_x, .histogram_bin = histogram_bin,                  \
    .curve_every = curve_every

static const struct ergo_model gcmc = {
    SHARED,
    ONE_BOX,
    CURVES(LJ_CURVE_GR_OF),
    MUVT,
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/board.cl", "lj_gcmc/board_end.cl",
                 "lj_gcmc/board_cut.cl"},
    .parameters = sizeof(struct lj_parameters),
    .keys = {KEYS_OPEN},
    ERGO_TABLE(observables, lj_observables),
    .ops = &ops,
    .cut = &lj_cut_ops,
    .cuts = lj_cut_is_worth,
};

static const char *unweighted(const struct ergo_point *point) {
    return lj_is_matrix(point) ? "each run of a transition matrix has an N of its own" : NULL;
}

static const struct ergo_model muvt = {
    SHARED,
    ONE_BOX,
    CURVES(LJ_CURVES),
    MUVT,
    .name = "muvt",
    .rule = &(const enum lj_ensemble){LJ_MUVT},
    .summary = "Grand canonical: particles come and go at an activity. The chains and keys of "
               "lj-gcmc. Or its transition matrix in N: ln Pi(N), and with it two phases.",
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/board.cl", "lj_gcmc/board_end.cl",
                 "lj_gcmc/board_cut.cl", "lj_gcmc/ghost.cl"},
    .parameters = sizeof(struct lj_parameters),
    .keys = {KEYS_OPEN, ROWS(mie), ROWS(species), ROWS(field), ROWS(method)},
    .observables = lj_observables_muvt,
    .unweighted = unweighted,
    .n_observables = LJ_N_OBSERVABLES_MUVT,
    .ops = &fluid_ops,
    .cut = &lj_fluid_cut_ops,
    .cuts = lj_cut_is_worth,
};

static const struct ergo_model nvt = {
    SHARED,
    ONE_BOX,
    CURVES(LJ_CURVES),
    .name = "nvt",
    .rule = &(const enum lj_ensemble){LJ_NVT},
    .summary = "Constant volume and number of particles: pressure, and by test insertions the "
               "chemical potential.",
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/ghost.cl"},
    .first = first_nvt,
    .parameters = sizeof(struct lj_parameters),
    .keys = {ROWS(size), ROWS(potential), ROWS(mie), ROWS(species), ROWS(field), ROWS(start),
             ROWS(closed), ROWS(curves)},
    ERGO_TABLE(conjugates, lj_conjugates_nvt),
    ERGO_TABLE(observables, lj_observables_nvt),
    .relation_x = "density",
    .relation_y = "pressure",
    .relation_help = "the points of the scan",
    .ops = &fluid_ops,
};

static const struct ergo_model npt = {
    SHARED,
    ONE_BOX,
    .name = "npt",
    .rule = &(const enum lj_ensemble){LJ_NPT},
    .summary =
        "Constant pressure and number of particles: the box grows and shrinks, and keeps its "
        "shape.",
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/ghost.cl", "lj_gcmc/volume.cl"},
    .first = first_npt,
    .parameters = sizeof(struct lj_parameters),
    .keys = {ROWS(size), ROWS(npt), ROWS(potential), ROWS(mie), ROWS(species), ROWS(start),
             ROWS(closed)},
    ERGO_TABLE(conjugates, lj_conjugates_npt),
    ERGO_TABLE(observables, lj_observables_npt),
    .tuned = ergo_isobaric_tuned,
    .ops = &fluid_ops,
};

static const struct ergo_model gibbs = {
    SHARED,
    .columns = lj_gibbs_columns,
    .n_columns = LJ_GIBBS_COLUMNS,
    .has_column = lj_gibbs_has_column,
    .name = "gibbs",
    .rule = &(const enum lj_ensemble){LJ_GIBBS},
    .summary = "Vapour and liquid in two boxes that exchange particles and volume: densities, "
               "saturation pressure, chemical potential.",
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/ghost.cl", "lj_gcmc/volume.cl",
                 "lj_gcmc/transfer.cl"},
    .first = first_gibbs,
    .parameters = sizeof(struct lj_parameters),
    .keys = {ROWS(size), ROWS(gibbs), ROWS(potential), ROWS(mie), ROWS(species), ROWS(closed)},
    ERGO_TABLE(observables, lj_observables_gibbs),
    .tuned = ergo_isobaric_tuned,
    .relation_x = "density_vapour",
    .relation_y = "pressure",
    .relation_help = "saturation: the points of the scan",
    .ops = &fluid_ops,
};

static const struct ergo_model *const models[] = {&gcmc};
static const struct ergo_model *const fluid_models[] = {&nvt, &npt, &muvt, &gibbs};

#define CITATION                                                                                   \
    "L. Schwiebert, E. Hailat, K. Rushaidat, J. Mick, J. Potoff, An efficient cell list "          \
    "implementation for Monte Carlo simulation on GPUs, arXiv:1408.3764 (2014)"

const struct ergo_sampler ergo_lj_gcmc = {
    .name = "lj-gcmc",
    .summary = "Lennard-Jones fluid in the grand canonical ensemble, with microcell lists",
    .citation = CITATION,
    .step_name = "move",
    .rate_unit = "trial moves per second",
    .state_version = 1,
    .models = models,
    .n_models = 1,
};

static const struct ergo_key ensemble_key = {
    .pointer = "/system/ensemble",
    .type = ERGO_KEY_ENUM,
    .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
    .fallback = "\"nvt\"",
    .unit = "",
    .help = "Ensemble: nvt, constant volume and number of particles; npt, constant pressure; muvt, "
            "grand canonical; gibbs, vapour and liquid in two boxes. `ergocl help lj-fluid "
            "ENSEMBLE` lists its keys and observables.",
};

const struct ergo_sampler ergo_lj_fluid = {
    .name = "lj-fluid",
    .summary = "Lennard-Jones fluid in several ensembles, with the kernels of lj-gcmc",
    .citation = CITATION,
    .step_name = "move",
    .rate_unit = "trial moves per second",
    .state_version = 1,
    .model_key = &ensemble_key,
    .models = fluid_models,
    .n_models = sizeof fluid_models / sizeof fluid_models[0],
};
