/* Fully connected spin glasses: what can be said of a job without a device. */
#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

_Static_assert(sizeof(struct dense_record) == DENSE_RECORD_BYTES, "dense_record has no padding");

struct dense_shape dense_shape_of(const struct ergo_point *point) {
    struct dense_shape s = {.n = (uint32_t)of_lattice(point)->n.integer};
    s.disorder = point->job->model->rule                                   ? DENSE_ORTHOGONAL
                 : ergo_says(of_lattice(point)->disorder.text, "gaussian") ? DENSE_GAUSSIAN
                                                                           : DENSE_BIMODAL;
    s.samples = (uint32_t)of_lattice(point)->samples.integer;
    s.rungs = ergo_ladder_rungs(point);
    s.copies = (uint32_t)of_lattice(point)->copies;
    s.slots = s.rungs * s.copies;
    s.swap_every = ergo_ladder_every(point);
    s.heat = ergo_says(of_lattice(point)->dynamics, "heat-bath");
    return s;
}

double dense_unit(const struct dense_shape *s) {
    return 1 / (sqrt(s->n) * (1 << DENSE_UNIT_BITS));
}

int32_t dense_external(const struct ergo_point *point, const struct dense_shape *s) {
    return (int32_t)floor(of_lattice(point)->field.real / dense_unit(s) + 0.5);
}

void dense_tables(const struct dense_shape *s, const double *t, float *scales, float *slopes) {
    for (uint32_t i = 0; i < s->rungs; i++) {
        scales[i] = (float)(t[i] / (2 * dense_unit(s)));
        /* twice the energy is counted */
        slopes[i] = ergo_ladder_slope(t, s->rungs, i, dense_unit(s) / 2);
    }
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Sums over so many measurements are exact (sums.c). */
static const double measurements_most = 0x1p24;

static bool metropolis_samples(const struct ergo_point *point) {
    const struct dense_shape s = dense_shape_of(point);
    return s.disorder != DENSE_BIMODAL || ergodic_complete(s.n, of_lattice(point)->field.real);
}

const char *dense_instead(const struct ergo_point *point) {
    return metropolis_samples(point) ? NULL : "heat-bath";
}

/* A method of graphs, or no temperature. */
static enum ergo_status check_method(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct dense_shape s = dense_shape_of(point);
    if (!ergo_says(of_lattice(point)->run_method, "sample"))
        return ergo_job_error(ctx, "/run/method",
                              "\"%s\" is a method of model \"graph\": \"system\": {\"model\": "
                              "\"graph\", \"graph\": \"%s\", \"n\": %u}",
                              of_lattice(point)->run_method, point->job->model->name, s.n);
    return point->parameters->temperature > 0
               ? ERGO_OK
               : ergo_job_error(ctx, "/system/temperature", "missing; needed: a number > 0");
}

enum ergo_status dense_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct dense_shape s = dense_shape_of(point);
    const struct ergo_value *every = &point->parameters->measure_every;
    enum ergo_status status = check_method(ctx, point);
    if (status != ERGO_OK)
        return status;
    const double t = point->parameters->temperature;
    const double step = every->automatic || every->integer < 1 ? 1 : (double)every->integer;
    status = ergo_ladder_check(ctx, point);
    if (status == ERGO_OK)
        status = ergo_feedback_check(ctx, point);
    if (s.disorder == DENSE_ORTHOGONAL && s.n % 2)
        status = ergo_job_error(ctx, "/system/n",
                                "%u is odd; half of the eigenvalues are 1, half of them -1", s.n);
    if (!model_rounds(of_lattice(point)->field.real, dense_unit(&s), 0x1p-13 * t))
        status = ergo_job_error(ctx, "/system/field",
                                "%g is rounded to a multiple of 2^-12/sqrt(n), %.2g, which is too "
                                "coarse at temperature %g",
                                of_lattice(point)->field.real, dense_unit(&s), t);
    if (model_dynamics_check(ctx, point, metropolis_samples(point)) != ERGO_OK)
        status = ERGO_E_JOB;
    if (!s.heat && t > 1000)
        status = ergo_job_error(ctx, "/system/temperature",
                                "%g is more than 1000: Metropolis would accept every flip; use "
                                "dynamics \"heat-bath\"",
                                t);
    const uint32_t quads = (s.n + 3) / 4;
    if ((double)s.samples * s.slots >= 0x1p31 || (double)s.samples * quads >= 0x1p32)
        status = ergo_job_error(ctx, "/system/samples",
                                "%u realisations of %u sites with %u chains each need more random "
                                "numbers than there are names for",
                                s.samples, s.n, s.slots);
    if ((double)s.samples * s.n * (double)s.n > 0x1p40)
        status = ergo_job_error(ctx, "/system/samples",
                                "%u: couplings of so many realisations of %u sites need more than "
                                "2 TiB",
                                s.samples, s.n);
    if ((double)point->parameters->sweeps / step > measurements_most)
        status = ergo_job_error(ctx, "/run/sweeps",
                                "more than %.0f measurements: measure less often "
                                "(/run/measure_every)",
                                measurements_most);
    return status;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* P(q) as finely as q goes, of few sites. */
size_t dense_bins(const struct dense_shape *s) {
    return s->copies < 2 ? 0 : s->n <= 128 ? (size_t)s->n + 1 : 65;
}

size_t dense_bin(const struct dense_shape *s, uint32_t unequal) {
    const size_t bins = dense_bins(s);
    return bins - 1 - (size_t)((uint64_t)unequal * bins / ((uint64_t)s->n + 1));
}

size_t dense_row_length(const struct dense_shape *s) {
    return s->rungs * (size_t)DENSE_MOMENTS + dense_bins(s);
}

size_t dense_curve_size(const struct ergo_point *point, size_t c) {
    const struct dense_shape s = dense_shape_of(point);
    const bool pairs = s.copies > 1;
    switch (c) {
    case DENSE_CURVE_ENERGY:
    case DENSE_CURVE_ACCEPTANCE:
        return s.rungs;
    case DENSE_CURVE_HEAT:
    case DENSE_CURVE_Q2:
    case DENSE_CURVE_BINDER:
        return pairs ? s.rungs : 0;
    case DENSE_CURVE_SWAPS:
        return s.rungs - 1;
    case DENSE_CURVE_OVERLAP:
        return dense_bins(&s);
    case DENSE_CURVE_MOMENTS:
        return DENSE_RESULTS;
    case DENSE_CURVE_SAMPLES:
        return s.samples > 1 ? s.samples * dense_row_length(&s) : 0;
    case DENSE_CURVE_TIMES:
        return s.samples > 1 ? 0 : dense_row_length(&s);
    case DENSE_CURVE_ROUND_TRIPS:
        return s.rungs > 1;
    case DENSE_CURVE_TEMPERATURES:
        return ergo_feedback_of(point).automatic ? s.rungs : 0;
    default:
        return 0;
    }
}

void dense_curve_x(const struct ergo_point *point, size_t c, double *x) {
    const struct dense_shape s = dense_shape_of(point);
    const size_t size = dense_curve_size(point, c);
    double t[ERGO_LADDER_MAX];
    ergo_ladder_temperatures(point, t);
    for (size_t i = 0; i < size; i++)
        x[i] = c <= DENSE_CURVE_SWAPS ? t[i] : (double)i;
    if (c != DENSE_CURVE_OVERLAP)
        return;
    /* the mean of the overlaps that fall into a bin */
    size_t count[130] = {0};
    memset(x, 0, size * sizeof *x);
    for (uint32_t k = 0; k <= s.n; k++) {
        const size_t bin = dense_bin(&s, k);
        x[bin] += 1 - 2 * (double)k / (double)s.n;
        count[bin]++;
    }
    for (size_t i = 0; i < size; i++)
        x[i] /= (double)count[i];
}
