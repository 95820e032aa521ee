/* Means, errors and exact values of every point, and which errors may be shown. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "result/result.h"

static const size_t drift_least = 100; /* samples of a series in which drifts are looked for */
static const double CURVE_TAU = 8;     /* a curve's bins are so many autocorrelation times long */

struct derive_call {
    const struct ergo_observable *observable;
    const struct ergo_point *point;
};

static double call_derive(const double *means, void *user) {
    const struct derive_call *call = user;
    return call->observable->derive(call->point, means);
}

static void derive(const struct ergo_model *model, const struct ergo_member_result *m,
                   const struct ergo_online *online, struct ergo_observable_result *result) {
    size_t inputs[ERGO_STATS_COLUMNS_MAX];
    const size_t n = ergo_measured_inputs(m->measured, model, result->observable, inputs);
    struct derive_call call = {result->observable, m->point};
    ergo_online_derived(online, inputs, n, call_derive, &call, &result->estimate);
}

static double call_from_curve(const double *mean, size_t size, void *user) {
    const struct derive_call *call = user;
    return ergo_observable_of_curve(call->observable, call->point, mean, size);
}

static void from_curve(const struct ergo_member_result *m, struct ergo_observable_result *result) {
    const struct ergo_model *model = m->point->job->model;
    struct derive_call call = {result->observable, m->point};
    for (size_t c = 0; c < model->n_curves; c++) {
        const struct ergo_curve *curve = &m->binned[c];
        if (strcmp(model->curves[c].name, result->observable->curve) != 0 || !curve->size)
            continue;
        ergo_curve_derived(curve, call_from_curve, &call, &result->estimate);
        result->estimate.tau = result->estimate.tau_error = NAN; /* of bins, not of samples */
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
    if (r->estimate.constant &&
        (ergo_observable_sampled(r->observable) || r->trust == ERGO_TRUST_FULL))
        return frozen_z(r);
    return r->estimate.error > 0 ? (r->estimate.mean - r->exact) / r->estimate.error : NAN;
}

double ergo_result_drift_level(const struct ergo_result *result) {
    const double n_observables = (double)result->job->model->n_observables;
    return sqrt(2 * log(1000 * fmax(1, (double)result->n_members * n_observables)));
}

/* The series of an observable; n_series: it has none. */
static size_t series_of(const struct ergo_member_result *m, size_t o) {
    size_t s = 0;
    while (s < m->measured->plan.n_series && m->measured->observable[s] != o)
        s++;
    return s;
}

static void estimate_one(const struct ergo_member_result *m, const struct ergo_online *online,
                         double level, struct ergo_observable_result *r) {
    const struct ergo_model *model = m->point->job->model;
    const size_t o = (size_t)(r->observable - model->observables);
    const size_t s = series_of(m, o);
    if (ergo_observable_sampled(r->observable))
        ergo_online_estimate(online, s, &r->estimate);
    else if (r->observable->derive)
        derive(model, m, online, r);
    else
        from_curve(m, r);
    if (!r->estimate.samples) /* its curve is not measured */
        return;
    r->exact = ergo_point_exact(m->point, r->observable->name);
    if (r->observable->fact) {
        ergo_fact_of_chain(r);
        return;
    }
    enum ergo_trust trust = ergo_trust_of(&r->estimate, r->observable->independent, r->exact);
    r->drift = r->observable->independent ? 0 : r->estimate.drift;
    if (ergo_observable_sampled(r->observable) && online->count >= drift_least)
        r->drift = ergo_online_drift(online, s);
    if (fabs(r->drift) > level) /* what flips once in a while drifts, too, at any time */
        trust = r->observable->slow && r->observable->slow(m->point) ? ERGO_TRUST_SHORT
                                                                     : ERGO_TRUST_DRIFT;
    r->one_way = ergo_observable_sampled(r->observable) && trust == ERGO_TRUST_SHORT &&
                 !(r->observable->slow && r->observable->slow(m->point)) &&
                 online->count >= drift_least &&
                 ergo_online_one_way(online, s, &r->first, &r->last);
    ergo_observable_refuse(r, trust);
    r->z = z_of(r);
    ergo_observable_refer(m->point, r);
}

/* False: there is no memory. */
static bool estimate_member(struct ergo_member_result *m, double level) {
    const struct ergo_model *model = m->point->job->model;
    struct ergo_online online = {.plan = m->online.plan};
    double tau;
    if (!ergo_member_catch_up(m) || !ergo_online_copy(&m->online, &online)) {
        ergo_online_free(&online);
        return false;
    }
    ergo_online_finish(&online); /* the member's own may go on */
    /* once more where a series of the chain remembers for longer than another's estimate knows */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t o = 0; o < model->n_observables; o++) {
            struct ergo_observable_result *r = &m->observables[o];
            if (pass && (r->observable->curve || !(r->estimate.window < online.window)))
                continue;
            *r = (struct ergo_observable_result){
                .observable = &model->observables[o],
                .estimate =
                    {.mean = NAN, .error = NAN, .error_binning = NAN, .tau = NAN, .tau_error = NAN},
                .trust = ERGO_TRUST_NONE,
                .exact = NAN,
                .z = NAN,
            };
            if (online.count && (ergo_point_asks(m->point, r->observable->name) ||
                                 ergo_observable_speaks(r->observable, m->point)))
                estimate_one(m, &online, level, r);
            else if (online.count && ergo_observable_warns(r->observable))
                ergo_online_estimate(&online, series_of(m, o), &r->estimate); /* for the warning */
        }
        online.window = ergo_chain_window(m, &tau);
    }
    ergo_chain_judge(m);
    ergo_online_free(&online);
    return true;
}

/* As of a mean over the chain: over bins longer than it remembers, and marked by its verdict. */
static void errors_of_curve(const struct ergo_member_result *m, const struct ergo_curve *curve,
                            double every, struct ergo_curve_result *r) {
    double tau;
    (void)ergo_chain_window(m, &tau);
    const double least = fmin(CURVE_TAU * tau / every, (double)curve->count);
    const bool enough =
        ergo_curve_result_joined(curve, (uint64_t)ceil(fmax(least, 1)), r->mean, r->error);
    if (!enough) /* better than none */
        ergo_curve_result(curve, r->mean, r->error);
    r->trust = m->verdict ? m->verdict : enough ? ERGO_TRUST_FULL : ERGO_TRUST_SHORT;
    r->because = m->because;
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
        const size_t from = model->x_from ? model->x_from(m->point, c) : c;
        const size_t of_x = m->binned[from].size; /* at least as many */
        r->x = malloc((of_x > r->size ? of_x : r->size) * sizeof(double));
        r->mean = malloc(r->size * sizeof(double));
        r->error = malloc((of_x > r->size ? of_x : r->size) * sizeof(double));
        if (!r->x || !r->mean || !r->error)
            return false;
        model->curve_x(m->point, c, r->x);
        if (from != c && m->binned[from].count)
            ergo_curve_result(&m->binned[from], r->x, r->error);
        if (model->curves_at_end >> c & 1) /* of independent realisations */
            ergo_curve_result(curve, r->mean, r->error);
        else
            errors_of_curve(m, curve, (double)ergo_point_every_of_curve(m->point, c), r);
    }
    return true;
}

struct members {
    struct ergo_member_result *members;
    double level;
    atomic_bool failed;
};

static void evaluate_member(size_t i, void *user) {
    struct members *all = user;
    if (!estimate_member(&all->members[i], all->level) || !curves_of(&all->members[i]))
        all->failed = true;
}

enum ergo_status ergo_result_evaluate(struct ergo_context *ctx, struct ergo_result *result) {
    struct members all = {result->members, ergo_result_drift_level(result), false};
    enum ergo_status status = ERGO_OK;
    ergo_parallel(result->n_members, SIZE_MAX, evaluate_member, &all);
    if (all.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the estimates");
    if (status == ERGO_OK)
        status = ergo_result_means(ctx, result);
    if (status == ERGO_OK)
        status = ergo_result_calibrate(ctx, result);
    return status == ERGO_OK ? ergo_result_warn(ctx, result) : status;
}
