/*
 * Spin glasses of up to 16 sites against enumeration (tests/oracle/glass_serial.h): what the test
 * and the test of its power (mutants) share. By the sampler's ops alone, without audits.
 *
 * The exact averages are those of the very samples that the job has, so that errors are thermal:
 * of each word's moments from 32 to 64 bins of time. Error budget: |z| < 5.5 for each of at most
 * 20,000 moments, which have Student's t with 31 degrees of freedom and more: 5e-6 each, and a
 * job's are strongly correlated. (For that reason the mean z^2 of a job's moments is shown, and not
 * judged: the first version did, and a band for it cannot be said.) What is judged: chi^2 of the
 * energies at the coldest temperature, one of each word, which are independent, within its 99.9%
 * band, all jobs together.
 */
#ifndef ERGO_TESTS_PHYSICS_GLASS_PHYSICS_H
#define ERGO_TESTS_PHYSICS_GLASS_PHYSICS_H

#include "kernel/glass_bench.h"
#include "samplers/spin_lattice/models.h"
#include "stats/stats.h"

#define GLASS_Z_MAX 5.5

struct glass_verdict {
    size_t n;
    double worst, squares;   /* largest |z|; sum of z^2 */
    double chi2;             /* of the energies, */
    size_t dof;              /* and how many */
    double left_out, ground; /* of the samples: largest weight that Metropolis misses; lowest e */
    char where[120];
};

/* Couplings of a sample as the job has them: the oracle's, or the file's. */
static inline void glass_physics_couplings(struct ergo_context *ctx, const struct ergo_point *point,
                                           const struct glass_oracle *o, int sample, double *j) {
    const struct glass_shape s = glass_shape_of(point);
    if (!ergo_point_value(point, "/system/disorder_file")->present) {
        glass_oracle_couplings(o, sample, j);
        return;
    }
    uint32_t *file = malloc(4 * glass_couplings_length(&s));
    assert_non_null(file);
    GLASS_BENCH_OK(ctx, "file", glass_couplings(ctx, point, &s, (uint32_t)sample / 32, file));
    for (size_t i = 0; i < s.d * s.sites; i++)
        j[i] = s.real ? (int32_t)file[i * 32 + (size_t)sample % 32] / 16777216.0
                      : (file[i] >> (sample % 32) & 1 ? -1 : 1);
    free(file);
}

/* The curve `groups` of a member, exactly. */
static inline void glass_physics_exact(struct ergo_context *ctx, const struct ergo_point *point,
                                       double *expected, struct glass_verdict *v) {
    const struct glass_shape s = glass_shape_of(point);
    const struct glass_oracle o = glass_oracle_of(point);
    const double unit = ergo_point_real(point, "/system/coupling");
    const size_t bins = s.copies > 1 ? glass_q_bins(&s) : 0;
    const size_t group = s.temperatures * (size_t)GLASS_MOMENTS + bins;
    double j[3 * GLASS_EXACT_SITES];
    memset(expected, 0, s.words * group * sizeof *expected);
    for (uint32_t sample = 0; sample < s.samples; sample++) {
        double *to = expected + sample / 32 * group;
        const uint32_t lanes = sample / 32 + 1 == s.words ? (s.samples - 1) % 32 + 1 : 32;
        glass_physics_couplings(ctx, point, &o, (int)sample, j);
        for (uint32_t t = 0; t < s.temperatures; t++, to += GLASS_MOMENTS) {
            struct glass_exact x;
            glass_oracle_exact(&o, j, o.t[t], !o.heat, &x);
            const double m[GLASS_MOMENTS] = {x.e * unit,
                                             x.e2 * unit * unit,
                                             x.e * x.e * unit * unit,
                                             x.abs_q,
                                             x.q2,
                                             x.q4,
                                             x.qk2,
                                             x.abs_m,
                                             x.m2,
                                             x.m4};
            for (int k = 0; k < GLASS_MOMENTS; k++)
                to[k] += m[k] / lanes;
            v->left_out = fmax(v->left_out, x.left_out);
            v->ground = fmin(v->ground, x.ground);
            double *p = expected + sample / 32 * group + s.temperatures * (size_t)GLASS_MOMENTS;
            for (uint64_t n = 0; n <= s.sites && t == 0 && bins; n++)
                p[bins - 1 - glass_q_bin(&s, n)] += x.p[n] / lanes;
        }
    }
}

static inline void glass_physics_compare(const struct ergo_curve *curve, const double *expected,
                                         size_t m, size_t group, struct glass_verdict *v) {
    double *mean = malloc(2 * curve->size * sizeof *mean), *error = mean + curve->size;
    assert_non_null(mean);
    ergo_curve_result(curve, mean, error);
    for (size_t i = 0; i < curve->size; i++) {
        const double off = mean[i] - expected[i];
        /* what happens too rarely to be seen, or always, has no error */
        if (fabs(off) < 1e-12 || (mean[i] == 0 && expected[i] * (double)curve->count < 3))
            continue;
        const double z = error[i] > 0 ? off / error[i] : INFINITY;
        v->n++;
        v->squares += z * z;
        v->chi2 += i % group == 0 ? z * z : 0;
        v->dof += i % group == 0;
        if (!(fabs(z) <= v->worst)) {
            v->worst = fabs(z);
            snprintf(v->where, sizeof v->where, "member %zu, number %zu: %.6g +- %.2g, exact %.6g",
                     m, i, mean[i], error[i], expected[i]);
        }
    }
    free(mean);
}

/* Runs the job's batch; equilibration and sweeps as in the run layer. */
static inline void glass_physics_job(struct ergo_context *ctx, struct ergo_device *device,
                                     const char *quoted, struct glass_verdict *v) {
    char *text = malloc(strlen(quoted) + 1);
    assert_non_null(text);
    strcpy(text, quoted);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    struct ergo_job *job = NULL;
    struct ergo_plan plan;
    void *state = NULL;
    GLASS_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = ergo_sampler_find("spin-lattice")->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    size_t left = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    const size_t size = ops->curve_size(first, CURVE_GROUPS), members = batch->count;
    assert_int_equal(job->n_batches, 1);
    GLASS_BENCH_OK(ctx, text, ops->plan(ctx, batch, device, &plan));
    GLASS_BENCH_OK(ctx, text, ops->create(ctx, batch, device, &state));
    GLASS_BENCH_OK(ctx, text, ops->init(ctx, state));
    GLASS_BENCH_OK(
        ctx, text,
        ops->advance(ctx, state, 0, 0, (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    const size_t block = plan.block_samples < 64 ? plan.block_samples : 64;
    struct ergo_samples samples = {.columns = malloc(block * members * COLUMNS * sizeof(double))};
    samples.curves[CURVE_GROUPS] = malloc(block * members * size * sizeof(double));
    struct ergo_curve *curves = calloc(members, sizeof *curves);
    double *expected = malloc(size * sizeof *expected);
    assert_true(samples.columns && samples.curves[CURVE_GROUPS] && curves && expected);
    for (size_t m = 0; m < members; m++)
        assert_true(ergo_curve_init(&curves[m], size));
    while (left) {
        const size_t now = left < block ? left : block;
        GLASS_BENCH_OK(ctx, text, ops->advance(ctx, state, 0, now, every, 0));
        GLASS_BENCH_OK(ctx, text, ops->collect(ctx, state, 0, &samples));
        for (size_t i = 0; i < now * members; i++)
            ergo_curve_add(&curves[i % members], samples.curves[CURVE_GROUPS] + i * size);
        left -= now;
    }
    for (size_t m = 0; m < members; m++) {
        glass_physics_exact(ctx, batch->points[m], expected, v);
        glass_physics_compare(&curves[m], expected, m, size / glass_shape_of(first).words, v);
        ergo_curve_free(&curves[m]);
    }
    free(curves);
    free(expected);
    free(samples.columns);
    free(samples.curves[CURVE_GROUPS]);
    ops->destroy(state);
    ergo_job_destroy(job);
    free(text);
}

static inline const char *glass_judge(const struct glass_verdict *v) {
    if (v->n < 10)
        return "hardly anything was compared";
    if (!(v->worst < GLASS_Z_MAX))
        return v->where;
    return NULL;
}

#endif
