/*
 * Facilitated dynamics on tiny tori against the exact Markov operator (tests/oracle/facilitated.h):
 * what the test of the engine and the test of its power (mutants) share. By the sampler's ops
 * alone, without audits, so that nothing but the statistics sees a wrong chain.
 *
 * Error budget, set before the first run. A job has 512 independent groups of 32 realisations, or
 * as many single ones, in each of four replicas, whose means are averaged; errors come from 32 to
 * 64 bins each, so that a z has Student's t with 124 degrees of freedom and more. At most 1,000
 * comparisons, of 4 curves at some 13 times: |z| < 5.5 has a chance below 4e-7 each, together below
 * 4e-4. The chi^2
 * of the replicas about the exact value, at t = 10, lies in its 99.9% band: errors are neither too
 * small (what is shared by 32 realisations counts) nor too large. Frozen sites: none may flip,
 * ever.
 */
#ifndef ERGO_TESTS_PHYSICS_FACILITATED_PHYSICS_H
#define ERGO_TESTS_PHYSICS_FACILITATED_PHYSICS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/facilitated.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

#define FAC_Z_MAX 5.5
enum { FAC_TIMES = 32 };

struct fac_verdict {
    size_t n;
    double worst;
    char where[200];
    double chi2; /* of phi at t = 10, and degrees of freedom */
    size_t dof;
    size_t broken; /* frozen sites that flipped */
    size_t frozen; /* frozen sites looked at */
};

/* Means and errors of one replica's curves. */
struct fac_curves {
    size_t n;
    double x[FAC_TIMES], mean[FACILITATED_CURVES][FAC_TIMES], error[FACILITATED_CURVES][FAC_TIMES];
};

static inline struct fac_oracle fac_oracle_of(const struct ergo_point *point) {
    const struct fac_shape s = fac_shape_of(point);
    const struct fac_physics p = fac_physics_of(point);
    return (struct fac_oracle){(int)s.lx,
                               (int)s.ly,
                               s.directions,
                               (int)s.needed,
                               p.j / p.t,
                               p.b / p.t,
                               strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0,
                               s.d == 3 ? (int)(s.sites / s.lx / s.ly) : 0};
}

/* Frozen sites that flipped, on every realisation, from the canonical state. */
static inline void fac_frozen(const struct ergo_point *point, const struct ergo_text *state,
                              struct fac_verdict *v) {
    const struct fac_shape s = fac_shape_of(point);
    const struct fac_oracle o = fac_oracle_of(point);
    if (s.lanes != 32)
        return;
    uint8_t *spins = malloc(2 * s.sites), *frozen = spins + s.sites;
    assert_non_null(spins);
    const uint32_t *words = (const uint32_t *)(const void *)state->data;
    for (size_t w = 0; w < s.words; w++, words += 3 * s.sites)
        for (unsigned lane = 0; lane < 32; lane++) {
            for (size_t i = 0; i < s.sites; i++)
                spins[i] = words[s.sites + i] >> lane & 1;
            fac_oracle_frozen(&o, spins, frozen);
            for (size_t i = 0; i < s.sites; i++) {
                v->frozen += frozen[i];
                v->broken += frozen[i] & (words[2 * s.sites + i] >> lane & 1);
            }
        }
    free(spins);
}

/* Sees the curves of every member of a run. */
static void (*fac_look)(const struct ergo_point *point, const struct ergo_curve *curves);

/* Runs the only batch of a job, with ' for "; curves[member]. Returns the members. */
static inline size_t fac_run(struct ergo_context *ctx, struct ergo_device *device, const char *text,
                             struct ergo_job **job, struct fac_curves *curves, size_t most,
                             struct fac_verdict *v) {
    char quoted[1024];
    snprintf(quoted, sizeof quoted, "%s", text);
    for (char *c = quoted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, quoted, strlen(quoted), "case", NULL, 0, job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_batch *batch = &(*job)->batches[0];
    const struct ergo_model *model = (*job)->model;
    const struct ergo_point *first = batch->points[0];
    assert_true((*job)->n_batches == 1 && batch->count <= most);
    void *state = NULL;
    const uint64_t sweeps = (uint64_t)ergo_point_int(first, "/run/equilibration") +
                            (uint64_t)ergo_point_int(first, "/run/sweeps");
    enum ergo_status status = ergo_sampler_create(ctx, model->ops, batch, device, &state);
    if (status == ERGO_OK)
        status = model->ops->init(ctx, state);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(ctx, model->ops, state, 0, 0, sweeps, 0);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        struct ergo_curve of[FACILITATED_CURVES];
        struct ergo_text saved = {0};
        curves[m].n = model->curve_size(first, CURVE_PERSISTENCE);
        assert_true(curves[m].n <= FAC_TIMES);
        for (size_t c = 0; c < FACILITATED_CURVES; c++)
            assert_true(ergo_curve_init(&of[c], model->curve_size(first, c)));
        model->curve_x(first, CURVE_PERSISTENCE, curves[m].x);
        status = model->ops->end_curves(ctx, state, m, of);
        for (size_t c = CURVE_PHI; c < FACILITATED_CURVES; c++)
            ergo_curve_result(&of[c], curves[m].mean[c], curves[m].error[c]);
        if (fac_look && status == ERGO_OK)
            fac_look(batch->points[m], of);
        for (size_t c = 0; c < FACILITATED_CURVES; c++)
            ergo_curve_free(&of[c]);
        if (status == ERGO_OK)
            status = model->ops->save(ctx, state, m, &saved);
        if (status == ERGO_OK)
            fac_frozen(batch->points[m], &saved, v);
        ergo_text_free(&saved);
    }
    if (status != ERGO_OK)
        fail_msg("%s: %s", text, ergo_error_message(ctx));
    ergo_engine_destroy(state);
    return batch->count;
}

/* Average of the members at time i of curve c. */
static inline double fac_mean(const struct fac_curves *curves, size_t members, size_t c, size_t i,
                              double *error) {
    double sum = 0, squares = 0;
    for (size_t m = 0; m < members; m++) {
        sum += curves[m].mean[c][i];
        squares += curves[m].error[c][i] * curves[m].error[c][i];
    }
    *error = sqrt(squares) / (double)members;
    return sum / (double)members;
}

static inline void fac_compare(struct fac_verdict *v, const char *what, double x, double mean,
                               double error, double exact) {
    const double z = (mean - exact) / error;
    v->n++;
    if (fabs(mean - exact) < 1e-12 || fabs(z) <= v->worst)
        return;
    v->worst = isnan(z) ? INFINITY : fabs(z);
    snprintf(v->where, sizeof v->where, "%.150s(%g) = %.6f(%.6f), exact %.6f", what, x, mean, error,
             exact);
}

/* Curve c of the members against its exact values at t = 0, 1, 2, ... */
static inline void fac_compare_curve(struct fac_verdict *v, const char *name, const char *curve,
                                     const struct fac_curves *curves, size_t members, size_t c,
                                     const double *exact) {
    char what[100];
    snprintf(what, sizeof what, "%.60s: %s", name, curve);
    for (size_t i = 0; i < curves[0].n; i++) {
        double error, mean = fac_mean(curves, members, c, i, &error);
        const size_t t = (size_t)curves[0].x[i];
        fac_compare(v, what, curves[0].x[i], mean, error, exact[t]);
        for (size_t m = 0; m < members && t == 10 && c == CURVE_PHI; m++, v->dof++)
            v->chi2 += pow((curves[m].mean[c][i] - exact[t]) / curves[m].error[c][i], 2);
    }
}

/* A job on a tiny torus against the master equation, from its start on. Returns the largest |z|. */
static inline double fac_markov_job(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *name, const char *text, struct fac_verdict *v) {
    enum { MEMBERS = 8, SWEEPS = 128 };
    struct fac_curves *curves = malloc(MEMBERS * sizeof *curves);
    struct ergo_job *job = NULL;
    struct fac_verdict own = {0};
    double m[SWEEPS], same[SWEEPS], persistence[SWEEPS], phi[SWEEPS], up[SWEEPS];
    assert_non_null(curves);
    const size_t members = fac_run(ctx, device, text, &job, curves, MEMBERS, &own);
    const struct ergo_point *point = &job->points[0];
    const struct fac_oracle o = fac_oracle_of(point);
    const char *start = ergo_point_text(point, "/system/start");
    const double begin = strcmp(start, "random") == 0 ? fac_physics_of(point).c
                         : strcmp(start, "up") == 0   ? 1
                                                      : 0;
    const size_t n = (size_t)curves[0].x[curves[0].n - 1] + 1;
    const struct ergo_value *waiting = ergo_point_value(point, "/system/waiting_time");
    const int64_t origin =
        ergo_point_int(point, "/run/equilibration") + (waiting->present ? waiting->integer : 0);
    assert_true(n <= SWEEPS);
    assert_true(fac_oracle_ageing(&o, begin, (size_t)origin, n, m, same, persistence));
    for (size_t t = 0; t < n; t++) {
        phi[t] = (same[t] - m[0] * m[t]) / (1 - m[0] * m[0]);
        up[t] = (1 + m[t]) / 2;
    }
    if (fabs(m[0]) < 1)
        fac_compare_curve(&own, name, "phi", curves, members, CURVE_PHI, phi);
    fac_compare_curve(&own, name, "autocorrelation", curves, members, CURVE_AUTOCORRELATION, same);
    fac_compare_curve(&own, name, "persistence", curves, members, CURVE_PERSISTENCE, persistence);
    fac_compare_curve(&own, name, "up_density", curves, members, CURVE_UP_DENSITY, up);
    if (fac_has_chi4(point)) {
        assert_true(fac_oracle_chi4(&o, begin, (size_t)origin, n, same, persistence, phi, up));
        fac_compare_curve(&own, name, "chi4_overlap", curves, members, CURVE_CHI4_OVERLAP, phi);
        fac_compare_curve(&own, name, "chi4", curves, members, CURVE_CHI4, up);
    }
    v->n += own.n, v->chi2 += own.chi2, v->dof += own.dof;
    v->broken += own.broken, v->frozen += own.frozen;
    if (own.worst > v->worst) {
        v->worst = own.worst;
        memcpy(v->where, own.where, sizeof v->where);
    }
    ergo_job_destroy(job);
    free(curves);
    return own.worst;
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *fac_judge(const struct fac_verdict *v) {
    static char reason[300];
    const double n = (double)v->dof, a = 2 / (9 * n); /* 0.05% on each side: 3.29 deviations */
    const double low = 1 - a - 3.29 * sqrt(a), high = 1 - a + 3.29 * sqrt(a);
    if (v->broken)
        snprintf(reason, sizeof reason, "%zu frozen sites flipped", v->broken);
    else if (!(v->worst < FAC_Z_MAX))
        snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
    else if (v->dof > 0 && !(v->chi2 < n * pow(high, 3) && (low < 0 || v->chi2 > n * pow(low, 3))))
        snprintf(reason, sizeof reason, "chi^2 of phi(10) is %.1f for %zu replicas", v->chi2,
                 v->dof);
    else
        return NULL;
    return reason;
}

#endif
