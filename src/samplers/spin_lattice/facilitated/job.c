/* Facilitated dynamics: what a job tells without a device. */
#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/facilitated/parameters.h"
#include "samplers/spin_lattice/models.h"

_Static_assert(sizeof(struct fac_member) == FAC_MEMBER_BYTES, "fac_member has no padding");

static const struct fac_rule *rule_of(const struct ergo_point *point) {
    return point->job->model->rule;
}

static bool is_lambda(const struct ergo_point *point) {
    return ergo_says(of_facilitated(point)->method, "lambda");
}

static uint32_t lambda_of(const struct ergo_point *point) {
    const struct ergo_value *lambda = &of_facilitated(point)->lambda;
    /* 16 is the paper's choice (Fig. 5) */
    return !is_lambda(point) ? 0 : lambda->present ? (uint32_t)lambda->integer : 16;
}

static bool is_serial(const struct ergo_point *point) {
    return ergo_says(of_facilitated(point)->method, "serial");
}

struct fac_shape fac_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct fac_rule *rule = rule_of(point);
    struct fac_shape s = {.d = (unsigned)size->items, .lx = (uint32_t)size->size[0], .ly = 1};
    if (s.d > 1)
        s.ly = (uint32_t)size->size[1];
    s.sites = (uint64_t)s.lx * s.ly * (s.d > 2 ? (uint64_t)size->size[2] : 1);
    s.lanes = is_serial(point) ? 1 : 32;
    s.words = (uint32_t)(of_facilitated(point)->realisations / s.lanes);
    s.directions = s.d == 1   ? rule->directions & (2 | 8)
                   : s.d == 3 ? rule->directions | 16 | 32
                              : rule->directions;
    s.needed = rule->needed ? rule->needed : (unsigned)of_facilitated(point)->facilitation;
    s.coupled = fac_physics_of(point).j != 0;
    s.lambda = lambda_of(point);
    const struct ergo_value *division = &of_facilitated(point)->sublattices;
    s.division = !division->present                        ? FAC_SHIFTED
                 : strcmp(division->text, "coloured") == 0 ? FAC_COLOURED
                 : strcmp(division->text, "fixed") == 0    ? FAC_FIXED
                                                           : FAC_SHIFTED;
    return s;
}

/* The chain depends on `ratio` and c, so they use neither logarithms nor exp of libm. */
struct fac_physics fac_physics_of(const struct ergo_point *point) {
    const struct ergo_value *c = &of_facilitated(point)->up_density;
    const double t = point->parameters->temperature;
    struct fac_physics p = {.t = t > 0 ? t : 1};
    p.j = of_lattice(point)->coupling.real;
    if (c->present) {
        p.c = c->real;
        p.ratio = (1 - p.c) / p.c;
        p.b = 0.5 * p.t * log(p.ratio);
    } else {
        p.b = of_lattice(point)->field.real;
        p.ratio = ergo_portable_exp(2 * p.b / p.t);
        p.c = 1 / (1 + p.ratio);
    }
    return p;
}

static void set_threshold(struct fac_member *member, int k, double p) {
    const double scaled = p * 0x1p39 + 0.5;
    if (scaled >= 0x1p39)
        member->always |= 1u << k;
    else
        member->threshold[k] = (uint64_t)scaled;
}

void fac_member_fill(const struct ergo_point *point, struct fac_member *member) {
    const struct fac_physics p = fac_physics_of(point);
    const bool heat_bath = ergo_says(of_lattice(point)->dynamics, "heat-bath");
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    const bool chain = of_lattice(point)->size.items == 1;
    for (int k = 0; k < 10; k++) {
        /* a flip of s among neighbours with sum n changes H = J sum ss + B sum s by -2 s (J n +
         * B); of four in a chain two are the site itself */
        const double own = !chain ? 0 : k < 5 ? 2 : -2, n = 2.0 * (k % 5) - 4.0 - own;
        const double e = ergo_portable_exp(2 * p.j * n / p.t);
        const double weight = k < 5 ? e * p.ratio : 1 / (e * p.ratio); /* exp(-cost / T) */
        set_threshold(member, k, heat_bath ? weight / (1 + weight) : fmin(1, weight));
    }
    set_threshold(member, FAC_CLASS_START, p.c);
}

/* Checks of the keys of method lambda. */
static enum ergo_status check_lambda(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const uint32_t lambda = lambda_of(point);
    const bool coloured = fac_shape_of(point).division == FAC_COLOURED;
    enum ergo_status status = ERGO_OK;
    if (!is_lambda(point))
        return status;
    if (lambda & (lambda - 1) || lambda > (coloured ? 256 : 512))
        status = ergo_job_error(ctx, "/system/lambda",
                                "%u is neither 0 nor a power of two up to %u, of which a whole "
                                "number of rounds makes half as many picks as a sub-lattice has "
                                "sites",
                                lambda, coloured ? 256 : 512);
    if (size->items != 2)
        return ergo_job_error(ctx, "/system/method", "lambda divides lattices of two dimensions");
    for (int k = 0; k < 2; k++)
        if (size->size[k] % (coloured ? 64 : 32) || size->size[k] < 64)
            status = ergo_job_error(ctx, "/system/size",
                                    "a side of %lld: sub-lattices of 32 x 32%s need multiples of "
                                    "%d, from 64 on (none may be its own neighbour)",
                                    (long long)size->size[k], coloured ? " in four classes" : "",
                                    coloured ? 64 : 32);
    return status;
}

/* Checks of the lattice. */
static enum ergo_status check_size(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct fac_rule *rule = rule_of(point);
    const struct fac_shape s = fac_shape_of(point);
    enum ergo_status status = ERGO_OK;
    if (lattice_sites(point) > 0x1p30)
        status = ergo_job_error(ctx, "/system/size", "more than 2^30 sites");
    if (s.d < rule->fewest || (s.d > rule->most && rule->fewest == rule->most))
        status = ergo_job_error(ctx, "/system/size", "has %u side%s; %s needs two, [Lx, Ly]", s.d,
                                s.d == 1 ? "" : "s", point->job->model->name);
    else if (s.d > rule->most)
        status = ergo_job_error(ctx, "/system/size",
                                "has three sides; rows of the east model know nothing of "
                                "each other: give [Lx] or [Lx, Ly]");
    if (!rule->needed && s.needed > 2 * s.d)
        status = ergo_job_error(ctx, "/system/facilitation",
                                "%u; a site has %u neighbours in %u dimension%s", s.needed, 2 * s.d,
                                s.d, s.d == 1 ? "" : "s");
    if (s.d == 3 && s.coupled)
        status = ergo_job_error(ctx, "/system/coupling",
                                "not 0 in three dimensions, where only models without a coupling "
                                "are");
    return status;
}

enum ergo_status fac_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *c = &of_facilitated(point)->up_density;
    const double t = point->parameters->temperature;
    const char *model = point->job->model->name;
    const struct fac_physics p = fac_physics_of(point);
    const int64_t realisations = of_facilitated(point)->realisations;
    if (!c->present && !(t > 0))
        return ergo_job_error(ctx, "/system/up_density",
                              "missing; model \"%s\" needs it, or temperature and field", model);
    if (!c->present && !of_lattice(point)->field.given && !of_lattice(point)->coupling.given)
        status = ergo_job_error(ctx, "/system/temperature",
                                "alone it says nothing: without a field every c is 1/2 (c = 1/(1 + "
                                "exp(2 B/T))); give /system/field, 0 if that is meant, or "
                                "/system/up_density");
    if (c->present && of_lattice(point)->field.given)
        status = ergo_job_error(ctx, "/system/field",
                                "given together with up_density, which says the same: c = 1/(1 + "
                                "exp(2 B/T)); give one of them");
    if (c->present && c->real >= 1)
        status = ergo_job_error(ctx, "/system/up_density", "%g is not below 1", c->real);
    if (!(p.c * 0x1p39 >= 0.5 && p.ratio < INFINITY && p.ratio > 0))
        status = ergo_job_error(ctx, "/system/temperature",
                                "the density of up spins is %g: no spin could flip", p.c);
    if (fac_has_chi4(point) && fac_shape_of(point).words < 3)
        status = ergo_job_error(ctx, "/run/chi4",
                                "needs three independent groups of realisations at least: "
                                "/system/realisations is %lld, and %d are a group",
                                (long long)realisations, (int)fac_shape_of(point).lanes);
    if (fac_has_chi4(point) && fac_shape_of(point).sites > UINT64_C(1) << 29)
        status = ergo_job_error(ctx, "/run/chi4", "lattices may have up to 2^29 sites with it");
    if (!fac_has_phi(point) && !ergo_says(point->parameters->observables, "all") &&
        ergo_point_asks(point, "phi"))
        status = ergo_job_error(ctx, "/run/observables",
                                "phi is undefined where all spins are alike at t = 0: give a "
                                "/system/waiting_time, or start \"random\", or ask for "
                                "autocorrelation");
    if (p.j != 0 && !(t > 0))
        status = ergo_job_error(ctx, "/system/temperature",
                                "missing; a coupling needs it (with up_density: T = 1 is the unit "
                                "of a model without coupling only)");
    if (fabs(p.j) > 50 * p.t)
        status = ergo_job_error(ctx, "/system/coupling", "%g is more than 50 T", p.j);
    if (!is_serial(point) && realisations % 32)
        status = ergo_job_error(ctx, "/system/realisations",
                                "%lld is not a multiple of 32: method %s runs 32 to a word",
                                (long long)realisations, of_facilitated(point)->method);
    if (check_lambda(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    if (check_size(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    if (realisations / (is_serial(point) ? 1 : 32) > (int64_t)FAC_WORDS_MAX)
        status = ergo_job_error(ctx, "/system/realisations",
                                "%lld are more than %u word-lattices; use replicas",
                                (long long)realisations, FAC_WORDS_MAX);
    if (model_origin_check(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    return status;
}

const char *fac_reference(const struct ergo_point *point) {
    return is_lambda(point) ? "/system/lambda" : NULL;
}

bool fac_has_chi4(const struct ergo_point *point) {
    return of_lattice(point)->chi4;
}

size_t fac_numbers(const struct ergo_point *point) {
    return FAC_COUNTS + (fac_has_chi4(point) ? FAC_SQUARES : 0);
}

size_t fac_curve_size(const struct ergo_point *point, size_t c) {
    if (c == CURVE_PHI && !fac_has_phi(point))
        return 0;
    if (c == CURVE_PHI || c == CURVE_AUTOCORRELATION || c == CURVE_PERSISTENCE ||
        c == CURVE_UP_DENSITY ||
        ((c == CURVE_CHI4 || c == CURVE_CHI4_OVERLAP) && fac_has_chi4(point)))
        return model_times(model_length(point), NULL);
    return c == CURVE_FROZEN;
}

void fac_curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (c == CURVE_FROZEN)
        x[0] = 0;
    else
        model_times(model_length(point), x);
}

double fac_relaxation_time(const struct ergo_point *point, const double *mean, size_t size) {
    double x[256] = {0};
    if (size > sizeof x / sizeof x[0])
        return NAN;
    fac_curve_x(point, CURVE_PHI, x);
    const double level = exp(-1);
    for (size_t i = 1; i < size; i++) {
        if (!(mean[i] <= level))
            continue;
        /* linear in log t between the times, from t = 0 on linear in t */
        const double f = (mean[i - 1] - level) / (mean[i - 1] - mean[i]);
        return i == 1 ? f * x[1] : x[i - 1] * pow(x[i] / x[i - 1], f);
    }
    return NAN;
}

/* Without a coupling the product measure is stationary, whatever the constraint. */
bool fac_is_stationary(const struct ergo_point *point) {
    return fac_physics_of(point).j == 0 && ergo_says(of_lattice(point)->start, "random");
}

bool fac_has_phi(const struct ergo_point *point) {
    return model_origin(point) > 0 || ergo_says(of_lattice(point)->start, "random");
}

double fac_exact(const struct ergo_point *point, const char *observable) {
    const struct fac_physics p = fac_physics_of(point);
    if (p.j == 0 && p.b == 0 && strcmp(observable, "energy") == 0)
        return 0; /* for every start */
    return fac_is_stationary(point) && strcmp(observable, "up_density") == 0 ? p.c : NAN;
}
