/*
 * Fully connected spin glasses of up to 20 spins against enumeration (tests/oracle/dense_serial.h):
 * shared by the test and the test of its power (mutants). It uses the sampler's ops alone, without
 * audits. The exact averages are those of the very realisations that the job has, so errors are
 * thermal: from each realisation's sums over blocks in 32 to 64 bins of time. Error budget: |z| <
 * 5.5 for each of at most 5,000 moments, which have Student's t with 31 degrees of freedom and
 * more: 5e-6 each.
 */
#ifndef ERGO_TESTS_PHYSICS_DENSE_PHYSICS_H
#define ERGO_TESTS_PHYSICS_DENSE_PHYSICS_H

#include "kernel/dense_bench.h"
#include "samplers/spin_lattice/models.h"
#include "stats/stats.h"

#define DENSE_Z_MAX 5.5

struct dense_verdict {
    size_t n;
    double worst, squares, ground; /* largest |z|; sum of z^2; lowest energy per site */
    char where[120];
};

/* A member's realisations one after the other: the moments of each temperature, P(q). */
static inline void dense_physics_exact(const struct ergo_point *point, double *expected,
                                       struct dense_verdict *v) {
    const struct dense_shape s = dense_shape_of(point);
    const struct dense_oracle o = dense_oracle_of(point);
    const size_t length = dense_row_length(&s);
    double j[DENSE_EXACT_SITES * DENSE_EXACT_SITES];
    memset(expected, 0, s.samples * length * sizeof *expected);
    for (uint32_t sample = 0; sample < s.samples; sample++) {
        double *to = expected + sample * length;
        dense_oracle_couplings(&o, (int)sample, j);
        for (uint32_t t = 0; t < s.rungs; t++, to += DENSE_MOMENTS) {
            struct dense_exact x;
            dense_oracle_exact(&o, j, o.t[t], &x);
            const double m[DENSE_MOMENTS] = {
                [DENSE_E] = x.e,         [DENSE_E2] = x.e2, [DENSE_EE] = x.e * x.e,
                [DENSE_ABS_Q] = x.abs_q, [DENSE_Q2] = x.q2, [DENSE_Q4] = x.q4,
                [DENSE_M] = x.m,         [DENSE_M2] = x.m2};
            memcpy(to, m, sizeof m);
            v->ground = fmin(v->ground, x.ground);
            double *p = expected + sample * length + s.rungs * (size_t)DENSE_MOMENTS;
            for (uint32_t k = 0; k <= s.n && t == 0; k++)
                p[dense_bin(&s, k)] += x.p[k];
        }
    }
}

static inline void dense_physics_compare(const struct ergo_curve *curve, const double *expected,
                                         size_t length, size_t moments, size_t block,
                                         struct dense_verdict *v) {
    double *mean = malloc(2 * curve->size * sizeof *mean), *error = mean + curve->size;
    assert_non_null(mean);
    ergo_curve_result(curve, mean, error);
    for (size_t i = 0; i < curve->size; i++) {
        const double unit = (i % length < moments ? 0x1p-28 : 1) / (double)block;
        const double off = mean[i] * unit - expected[i], sigma = error[i] * unit;
        /* what happens too rarely to be seen has no error */
        if (fabs(off) < 1e-8 ||
            (mean[i] <= 0 && mean[i] >= 0 && expected[i] * (double)(curve->count * block) < 3))
            continue;
        const double z = sigma > 0 ? off / sigma : INFINITY;
        v->n++;
        v->squares += z * z;
        if (!(fabs(z) <= v->worst)) {
            v->worst = fabs(z);
            snprintf(v->where, sizeof v->where, "number %zu: %.6g +- %.2g, exact %.6g", i,
                     mean[i] * unit, sigma, expected[i]);
        }
    }
    free(mean);
}

/* Runs the job's batch of several samples and copies; ' for ". */
static inline void dense_physics_job(struct ergo_context *ctx, struct ergo_device *device,
                                     const char *quoted, struct dense_verdict *v) {
    enum { BLOCK = 16 };
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", quoted);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    DENSE_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const struct dense_shape s = dense_shape_of(first);
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t size = s.samples * dense_row_length(&s);
    struct ergo_curve curve;
    struct ergo_samples samples = {.columns = malloc(BLOCK * COLUMNS * sizeof(double))};
    double *expected = malloc(size * sizeof *expected);
    samples.curves[DENSE_CURVE_SAMPLES] = malloc(size * sizeof(double));
    assert_true(job->n_batches == 1 && batch->count == 1 && s.samples > 1 && s.copies == 2);
    assert_true(samples.columns && samples.curves[DENSE_CURVE_SAMPLES] && expected);
    assert_true(ergo_curve_init(&curve, size));
    DENSE_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    DENSE_BENCH_OK(ctx, text, ops->init(ctx, state));
    DENSE_BENCH_OK(ctx, text,
                   ergo_sampler_advance(ctx, ops, state, 0, 0,
                                        (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (int64_t left = ergo_point_int(first, "/run/sweeps") / (int64_t)every; left >= BLOCK;
         left -= BLOCK) {
        DENSE_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, BLOCK, every, 0));
        DENSE_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        ergo_curve_add(&curve, samples.curves[DENSE_CURVE_SAMPLES]);
    }
    dense_physics_exact(first, expected, v);
    dense_physics_compare(&curve, expected, dense_row_length(&s), s.rungs * (size_t)DENSE_MOMENTS,
                          BLOCK, v);
    ergo_curve_free(&curve);
    free(expected);
    free(samples.columns);
    free(samples.curves[DENSE_CURVE_SAMPLES]);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

static inline const char *dense_judge(const struct dense_verdict *v) {
    if (v->n < 10)
        return "hardly anything was compared";
    if (!(v->worst < DENSE_Z_MAX))
        return v->where;
    return NULL;
}

#endif
