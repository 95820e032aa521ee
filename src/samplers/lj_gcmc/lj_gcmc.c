/* lj-gcmc: the sampler's table, and the checks of a job that need no device. */
#include "samplers/lj_gcmc/lj_gcmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

static const struct ergo_curve_info curves[] = {
    [LJ_CURVE_GR] = {"gr", "r (length)", "",
                     "pair correlation g(r); each configuration by its own N"},
    [LJ_CURVE_PAIR_DENSITY] = {"pair_density", "r (length)", "1/length^6",
                               "rho^2 g(r): ordered pairs per volume of the box and of the shell"},
    [LJ_CURVE_HISTOGRAM] = {"particles_histogram", "N", "", "P(N), of every sample"},
};

enum { LJ_TUNABLE_SLOTS = 3, LJ_TUNABLE_CAPACITY };

static const struct ergo_tunable tunables[] = {
    {"work_group", "work-items per group (a power of two)", 0, 1024, true},
    {"teams",
     "trial moves that a work-group evaluates at once, each as if those before "
     "it were rejected (a power of two)",
     0, 32, true},
    {"microcell",
     "side of a cell in hundredths of sigma, where the device does not take cells of the cutoff; "
     "0: 100",
     30, 1000, false},
    [LJ_TUNABLE_SLOTS] = {"slots", "slots for particles in a cell at the start", 0, 4096, false},
    [LJ_TUNABLE_CAPACITY] = {"capacity", "most particles of a chain at the start", 0, 67108864,
                             false},
    {"tile", "most particles around an active cell of a checkerboard at the start", 0, 65536,
     false},
};

static const struct ergo_gone gone[] = {
    {"/system/neighbours",
     "leave it out. Neighbours are always found through cells, of the cutoff on CPUs and of "
     "/tuning/microcell elsewhere; the chain is the same"},
    {"/tuning/moves_per_launch", "leave it out. A launch is always many moves"},
    {"/tuning/blocks", "leave it out. A chain is always one work-group"},
};

static bool has(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->present;
}

/* Exactly one form of the activity, or none if there are no insertions and deletions. */
static enum ergo_status check_activity(struct ergo_context *ctx, const struct ergo_point *point,
                                       bool used) {
    const bool activity = has(point, "/system/activity"), beta_mu = has(point, "/system/beta_mu");
    const bool mu = has(point, "/system/mu"), lambda = has(point, "/system/lambda");
    const int ways = activity + beta_mu + (mu || lambda);
    if (!used && ways)
        return ergo_job_error(ctx, "/system/moves",
                              "no insertions and deletions, yet an activity or chemical potential "
                              "is given: it would have no effect");
    if (used && ways != 1)
        return ergo_job_error(ctx, "/system",
                              "%s: give exactly one of activity, beta_mu, and mu with lambda",
                              ways ? "the activity is given more than once" : "no activity");
    if (used && mu != lambda)
        return ergo_job_error(ctx, mu ? "/system/mu" : "/system/lambda",
                              "mu and lambda need each other: z = exp(mu/T)/lambda^3");
    const struct lj_system s = lj_system_of(point);
    const double zv = s.activity * s.volume;
    if (used && !(zv >= 1e-12 && zv <= 1e12))
        return ergo_job_error(ctx,
                              activity  ? "/system/activity"
                              : beta_mu ? "/system/beta_mu"
                                        : "/system/mu",
                              "activity times volume is %.4g; allowed: 1e-12 to 1e12", zv);
    return ERGO_OK;
}

/* The checkerboard is exact. Jobs for which it is not are refused. */
static enum ergo_status check_board(struct ergo_context *ctx, const struct lj_system *s,
                                    double shortest) {
    enum ergo_status status = ERGO_OK;
    if (!s->period)
        return status;
    if (s->tail)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "not with decomposition checkerboard: the tail's energy is "
                                "proportional to N^2, so that each acceptance would depend on what "
                                "the other active cells do at the same time, and the chain would "
                                "not be exact");
    if (shortest < lj_board_smallest(s))
        status = ergo_job_error(ctx, "/system/box",
                                "the shortest side is %.10g; a checkerboard with this cutoff needs "
                                "at least %.10g, for two active cells and two gaps. Leave "
                                "/system/decomposition out for small systems",
                                shortest, lj_board_smallest(s));
    const double cells = lj_board_cells(s);
    if (cells > 0x7fffffff)
        status = ergo_job_error(ctx, "/system/box",
                                "a checkerboard of this box and this cutoff has %.3g cells; at "
                                "most 2^31 - 1 are possible: use a smaller box or a longer cutoff",
                                cells);
    return status;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2]));
    const double displacement = ergo_point_real(point, "/system/moves/displacement");
    const double insertion = ergo_point_real(point, "/system/moves/insertion");
    const double deletion = ergo_point_real(point, "/system/moves/deletion");
    const bool open = insertion > 0 && deletion > 0;
    enum ergo_status status = check_board(ctx, &s, shortest);
    if ((insertion > 0) != (deletion > 0))
        status = ergo_job_error(ctx, "/system/moves",
                                "insertions without deletions, or the reverse, sample nothing: "
                                "both shares 0 or both above");
    else if (!open && displacement == 0)
        status = ergo_job_error(ctx, "/system/moves", "all shares are 0: nothing would move");
    else if (check_activity(ctx, point, open) != ERGO_OK)
        status = ERGO_E_JOB;
    if (open && fmin(insertion, deletion) < 1e-6 * (displacement + insertion + deletion))
        status = ergo_job_error(ctx, "/system/moves",
                                "a share of insertions or deletions below 1e-6 of all moves");
    if (!open && insertion == 0 && deletion == 0 && displacement > 0 &&
        ergo_point_int(point, "/system/particles") == 0 && !lj_start_file(point))
        status = ergo_job_error(ctx, "/system/particles",
                                "0, and no insertions: the box would stay empty");
    if (s.cutoff > shortest / 2)
        status = ergo_job_error(ctx, "/system/cutoff",
                                "%.10g is more than half the shortest side, %.10g: a particle "
                                "would meet several images of another",
                                s.cutoff, shortest / 2);
    /* pairs in a shell have a counter of 32 bits; the limit is for the density of a dense liquid */
    const double most = fmin(1.2 * s.volume / pow(s.sigma, 3), LJ_MOST_PARTICLES);
    const double contacts = 1.2 * 6.3 * pow(s.cutoff / s.sigma, 2) * lj_contact_width(&s) / s.sigma;
    if (most * contacts > 0x1p32)
        status = ergo_job_error(ctx, "/system/cutoff",
                                "%.10g is too long for so large a box: pairs at the cutoff could "
                                "no longer be counted",
                                s.cutoff);
    if (s.cutoff < 0.2 * s.sigma)
        status = ergo_job_error(ctx, "/system/cutoff", "%.10g is below 0.2 sigma", s.cutoff);
    if (s.epsilon > 0 && (s.temperature > 100 * s.epsilon || s.temperature < 1e-3 * s.epsilon))
        status = ergo_job_error(ctx, "/system/temperature",
                                "%.10g: allowed are 0.001 to 100 epsilon (epsilon 0 for an ideal "
                                "gas); beyond, energies leave the range of the arithmetic",
                                s.temperature);
    if (s.shifted && s.tail)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "a shifted potential has no tail to correct for");
    if (s.max_displacement > shortest / 2)
        status = ergo_job_error(ctx, "/system/max_displacement",
                                "%.10g is more than half the shortest side, %.10g; leave it out "
                                "to displace to anywhere",
                                s.max_displacement, shortest / 2);
    const int64_t tune = ergo_point_int(point, "/system/tune_steps");
    if (tune && s.max_displacement == 0)
        status = ergo_job_error(ctx, "/system/tune_steps", "without max_displacement");
    if (tune > ergo_point_int(point, "/run/equilibration"))
        status = ergo_job_error(ctx, "/system/tune_steps",
                                "%lld is longer than the equilibration: a chain that is steered "
                                "does not sample",
                                (long long)tune);
    if (status == ERGO_OK && !point->job->again)
        status = lj_start_check(ctx, point);
    return status;
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    if (ergo_point_int(point, "/run/curve_every") == 0)
        return 0;
    const struct lj_system s = lj_system_of(point);
    uint32_t width;
    if (c != LJ_CURVE_HISTOGRAM)
        return lj_bins(point);
    return lj_is_open(point) ? lj_histogram_size(&s, &width) : 0;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    const struct lj_system s = lj_system_of(point);
    const double bin = s.cutoff / (double)ergo_point_int(point, "/run/gr_bins");
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
    const int64_t every = ergo_point_int(point, "/run/curve_every");
    return every > 0 ? (uint64_t)every : 1;
}

/* Ideal gas: N has a Poisson distribution with mean zV. If N is fixed, so is the density. */
static double exact(const struct ergo_point *point, const char *observable) {
    const struct lj_system s = lj_system_of(point);
    const double n = (double)ergo_point_int(point, "/system/particles");
    if (!lj_is_open(point) && !lj_start_file(point)) {
        if (strcmp(observable, "particles") == 0)
            return n;
        if (strcmp(observable, "density") == 0)
            return n / s.volume;
        if (strcmp(observable, "pressure") == 0 && s.epsilon == 0)
            return n / s.volume * s.temperature;
    }
    if (s.epsilon != 0 || s.activity == 0)
        return NAN;
    if (strcmp(observable, "particles") == 0 || strcmp(observable, "particles_variance") == 0)
        return s.activity * s.volume;
    if (strcmp(observable, "density") == 0)
        return s.activity;
    if (strcmp(observable, "pressure") == 0)
        return s.activity * s.temperature;
    return NAN;
}

/* One move per particle of a dense fluid, because a single move hardly changes a sample. An
 * activation of the checkerboard makes as many. */
static uint64_t measure_every(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const double cubes = s.volume / (s.sigma * s.sigma * s.sigma);
    return s.period || !(cubes > 1) ? 1 : cubes < 1e15 ? (uint64_t)cubes : (uint64_t)1e15;
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
    if (!s.tail || s.epsilon != 1 || s.sigma != 1 || s.temperature != 1.5 || s.cutoff != 3 ||
        s.box[0] != 8 || s.box[1] != 8 || s.box[2] != 8 || s.activity == 0)
        return NAN;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].observable, observable) == 0 &&
            fabs(log(s.activity) - known[i].beta_mu) < 1e-9) {
            *error = known[i].error;
            return known[i].value;
        }
    return NAN;
}

static const struct ergo_sampler_ops ops = {
    .engine = &lj_model,
    .init = lj_init,
    .save = lj_save,
    .load = lj_load,
    .carry = lj_carry,
    .audit = lj_audit,
    .frame = lj_frame,
};

static const char *const first_job[] = {"/system/box=[6, 6, 6]",
                                        "/system/temperature=2",
                                        "/system/activity=0.1",
                                        "/system/cutoff=2.5",
                                        "/run/equilibration=20000",
                                        "/run/sweeps=200000",
                                        NULL};

static const struct ergo_model model = {
    .programs = {"lj_gcmc/run.cl", "lj_gcmc/total.cl", "lj_gcmc/board.cl", "lj_gcmc/board_end.cl"},
    .first = first_job,
    .keys = {{lj_keys, LJ_N_KEYS}},
    .columns = lj_columns,
    .n_columns = LJ_COLUMNS,
    .has_column = lj_has_column,
    .conjugates = lj_conjugates,
    .n_conjugates = LJ_CONJUGATES,
    .observables = lj_observables,
    .n_observables = LJ_N_OBSERVABLES,
    .relation_x = "density",
    .relation_y = "pressure",
    .relation_help = "isotherm: the points of the scan",
    .curves = curves,
    .n_curves = LJ_CURVES,
    .histograms = 1u << LJ_CURVE_HISTOGRAM,
    .tunables = tunables,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .gone = gone,
    .n_gone = sizeof gone / sizeof gone[0],
    .tunables_room = 1u << LJ_TUNABLE_SLOTS | 1u << LJ_TUNABLE_CAPACITY,
    .trajectory = "configurations, extended XYZ",
    .check = check,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .histogram_bin = histogram_bin,
    .curve_every = curve_every,
    .measure_every = measure_every,
    .exact = exact,
    .published = published,
    .ops = &ops,
};

static const struct ergo_model *const models[] = {&model};

const struct ergo_sampler ergo_lj_gcmc = {
    .name = "lj-gcmc",
    .summary = "Lennard-Jones fluid in the grand canonical ensemble, with microcell lists",
    .citation = "L. Schwiebert, E. Hailat, K. Rushaidat, J. Mick, J. Potoff, An efficient cell "
                "list implementation for Monte Carlo simulation on GPUs, arXiv:1408.3764 (2014)",
    .step_name = "move",
    .rate_unit = "trial moves per second",
    .state_version = 1,
    .models = models,
    .n_models = 1,
};
