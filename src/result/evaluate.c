/* Means, errors and exact values of every point, and which errors may be shown. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "result/result.h"

/* Drifts are looked for in series of at least drift_least samples. All points are looked at while
 * they have at most drift_most samples together, else only every k-th. */
static const size_t drift_least = 100, drift_most = 1000000;
static const double drift_samples = 2e7;

/* The sample series of every observable of a member, after equilibration: [n_observables][n]. */
static double **observable_series(const struct ergo_model *model,
                                  const struct ergo_member_result *m, size_t n) {
    double **series = calloc(model->n_observables, sizeof *series);
    double columns[ERGO_COLUMNS_MAX];
    bool ok = series != NULL;
    for (size_t o = 0; o < model->n_observables && ok; o++) {
        if (!model->observables[o].sample)
            continue;
        series[o] = malloc((n + 1) * sizeof(double)); /* + 1: malloc(0) may return NULL */
        ok = series[o] != NULL;
        for (size_t i = 0; i < n && ok; i++) {
            for (size_t c = 0; c < model->n_columns; c++)
                columns[c] = m->series[c] ? m->series[c][m->n_equilibration + i] : 0;
            series[o][i] = model->observables[o].sample(m->point, columns);
        }
    }
    if (!ok && series) {
        for (size_t o = 0; o < model->n_observables; o++)
            free(series[o]);
        free(series);
        series = NULL;
    }
    return series;
}

struct derive_call {
    const struct ergo_observable *observable;
    const struct ergo_point *point;
};

static double call_derive(const double *means, void *user) {
    const struct derive_call *call = user;
    return call->observable->derive(call->point, means);
}

static void derive(const struct ergo_model *model, const struct ergo_member_result *m,
                   double **series, size_t n, struct ergo_observable_result *result) {
    const struct ergo_observable *observable = result->observable;
    const double *inputs[8];
    size_t n_inputs = 0;
    for (size_t k = 0; k < 8 && observable->inputs[k]; k++)
        for (size_t o = 0; o < model->n_observables; o++)
            if (series[o] && strcmp(model->observables[o].name, observable->inputs[k]) == 0)
                inputs[n_inputs++] = series[o];
    struct derive_call call = {observable, m->point};
    ergo_stats_derived(inputs, n_inputs, n, call_derive, &call, &result->estimate);
}

static double call_from_curve(const double *mean, size_t size, void *user) {
    const struct derive_call *call = user;
    return call->observable->from_curve(call->point, mean, size);
}

static void from_curve(const struct ergo_member_result *m, struct ergo_observable_result *result) {
    const struct ergo_model *model = m->point->job->model;
    struct derive_call call = {result->observable, m->point};
    for (size_t c = 0; c < model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        if (strcmp(model->curves[c].name, result->observable->curve) != 0 || !curve->size)
            continue;
        /* in samples of the series, as everywhere */
        const double every = (double)ergo_point_curve_every(m->point);
        ergo_curve_derived(curve, call_from_curve, &call, &result->estimate);
        result->estimate.tau *= every;
        result->estimate.tau_error *= every;
        if (result->observable->independent)
            result->estimate.tau = result->estimate.tau_error = NAN;
    }
}

/* z of a series that never changed, which has no error. n samples cannot see a state whose weight
 * is below 1/n, so a mean within that distance of the exact value agrees. NAN: no exact value. */
static double frozen_z(const struct ergo_observable_result *r) {
    const double off = r->estimate.mean - r->exact;
    if (isnan(off))
        return NAN;
    return fabs(off) * (double)r->estimate.samples <= fabs(r->exact) ? 0
           : off > 0                                                 ? INFINITY
                                                                     : -INFINITY;
}

/* z of an observable; of a constant series as above. */
static double z_of(const struct ergo_observable_result *r) {
    if (r->estimate.constant && (r->observable->sample || r->trust == ERGO_TRUST_FULL))
        return frozen_z(r);
    return r->estimate.error > 0 ? (r->estimate.mean - r->exact) / r->estimate.error : NAN;
}

/* Are all observables that are too short at this point slow by their physics, while all others have
 * errors that can be trusted? Then running somewhat longer would not help. */
static void find_slow(struct ergo_member_result *m, size_t n_observables) {
    bool only_slow = true;
    for (size_t o = 0; o < n_observables; o++) {
        const struct ergo_observable *observable = m->observables[o].observable;
        if (m->observables[o].trust == ERGO_TRUST_SHORT &&
            ergo_observable_shown(observable, m->point))
            only_slow = only_slow && observable->slow && observable->slow(m->point);
    }
    for (size_t o = 0; o < n_observables && only_slow; o++)
        if (m->observables[o].trust == ERGO_TRUST_SHORT)
            m->observables[o].trust = ERGO_TRUST_SLOW;
}

/* At which points drifts are looked for, and from which size on they count. With many tests a drift
 * of four standard errors is expected by chance: the level is the one that one run in a thousand
 * exceeds without any drift. */
struct drift_search {
    size_t stride;
    double level;
};

static struct drift_search drift_search_of(const struct ergo_result *result) {
    const double n_observables = (double)result->job->model->n_observables;
    const double looks = fmax(1, (double)result->n_members * n_observables);
    double samples = 0;
    for (size_t i = 0; i < result->n_members; i++)
        samples += (double)result->members[i].n_samples * n_observables;
    return (struct drift_search){(size_t)fmax(1, ceil(samples / drift_samples)),
                                 sqrt(2 * log(1000 * looks))};
}

static void estimate_one(const struct ergo_member_result *m, double **series, size_t n,
                         const struct drift_search *search, struct ergo_observable_result *r) {
    const struct ergo_model *model = m->point->job->model;
    if (r->observable->sample)
        ergo_stats_estimate(series[r->observable - model->observables], n, &r->estimate);
    else if (r->observable->derive)
        derive(model, m, series, n, r);
    else
        from_curve(m, r);
    if (!r->estimate.samples) /* its curve is not measured */
        return;
    r->exact = ergo_point_exact(m->point, r->observable->name);
    enum ergo_trust trust = ergo_trust_of(&r->estimate, r->observable->independent, r->exact);
    if (r->observable->sample && n >= drift_least && n <= drift_most &&
        m->point->index % search->stride == 0)
        r->drift = ergo_stats_drift(series[r->observable - model->observables], n);
    if (r->drift > search->level) /* what flips once in a while drifts, too, at any time */
        trust = r->observable->slow && r->observable->slow(m->point) ? ERGO_TRUST_SHORT
                                                                     : ERGO_TRUST_DRIFT;
    ergo_observable_refuse(r, trust);
    r->z = z_of(r);
    ergo_observable_refer(m->point, r);
}

/* False: there is no memory. */
static bool estimate_member(struct ergo_member_result *m, const struct drift_search *search) {
    const struct ergo_model *model = m->point->job->model;
    const size_t n = m->n_samples > m->n_equilibration ? m->n_samples - m->n_equilibration : 0;
    double **series = observable_series(model, m, n);
    if (!series)
        return false;
    for (size_t o = 0; o < model->n_observables; o++) {
        struct ergo_observable_result *r = &m->observables[o];
        *r = (struct ergo_observable_result){
            .observable = &model->observables[o],
            .estimate =
                {.mean = NAN, .error = NAN, .error_binning = NAN, .tau = NAN, .tau_error = NAN},
            .trust = ERGO_TRUST_NONE,
            .exact = NAN,
            .z = NAN,
        };
        if (n && ergo_point_asks(m->point, r->observable->name))
            estimate_one(m, series, n, search, r);
    }
    find_slow(m, model->n_observables);
    for (size_t o = 0; o < model->n_observables; o++)
        free(series[o]);
    free(series);
    return true;
}

/* False: there is no memory. */
static bool curves_of(struct ergo_member_result *m) {
    const struct ergo_model *model = m->point->job->model;
    for (size_t c = 0; c < model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        struct ergo_curve_result *r = &m->curves[c];
        r->info = &model->curves[c];
        r->size =
            curve->count && ergo_point_asks(m->point, model->curves[c].name) ? curve->size : 0;
        if (!r->size)
            continue;
        r->x = malloc(r->size * sizeof(double));
        r->mean = malloc(r->size * sizeof(double));
        r->error = malloc(r->size * sizeof(double));
        if (!r->x || !r->mean || !r->error)
            return false;
        model->curve_x(m->point, c, r->x);
        ergo_curve_result(curve, r->mean, r->error);
    }
    return true;
}

struct members {
    struct ergo_member_result *members;
    struct drift_search search;
    atomic_bool failed;
};

/* Series of observables that may be in memory at a time, in bytes, beside those of one point. */
static const double most_memory = 1 << 30;

/* At how many points at a time the longest series fit that. */
static size_t points_at_a_time(const struct ergo_result *result) {
    uint64_t longest = 1;
    for (size_t i = 0; i < result->n_members; i++)
        if (result->members[i].n_samples > longest)
            longest = result->members[i].n_samples;
    return 1 + (size_t)(most_memory /
                        (8.0 * (double)longest * (double)result->job->model->n_observables));
}

static void evaluate_member(size_t i, void *user) {
    struct members *all = user;
    if (!estimate_member(&all->members[i], &all->search) || !curves_of(&all->members[i]))
        all->failed = true;
}

enum ergo_status ergo_result_evaluate(struct ergo_context *ctx, struct ergo_result *result) {
    struct members all = {result->members, drift_search_of(result), false};
    enum ergo_status status = ERGO_OK;
    ergo_parallel(result->n_members, points_at_a_time(result), evaluate_member, &all);
    if (all.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the estimates");
    if (status == ERGO_OK)
        status = ergo_result_means(ctx, result);
    if (status == ERGO_OK)
        status = ergo_result_calibrate(ctx, result);
    return status == ERGO_OK ? ergo_result_warn(ctx, result) : status;
}
