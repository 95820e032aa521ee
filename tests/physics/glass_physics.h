/*
 * Spin glasses of up to 16 sites against enumeration (tests/oracle/glass_serial.h): shared by the
 * test and the test of its power (mutants). It uses the sampler's ops alone, without audits. The
 * exact averages are those of the very samples that the job has, so errors are thermal: from each
 * word's moments (means of its samples' sums, block by block) in 32 to 64 bins of time. Error
 * budget: |z| < 5.5 for each of at most 20,000 moments, which have Student's t with 31 degrees of
 * freedom and more: 5e-6 each, and a job's are strongly correlated. (So the mean z^2 of a job's
 * moments is shown and not judged: no band is known for it.) Judged is chi^2 of the energies at the
 * coldest temperature, one of each word, which are independent, within its 99.9% band, all jobs
 * together.
 */
#ifndef ERGO_TESTS_PHYSICS_GLASS_PHYSICS_H
#define ERGO_TESTS_PHYSICS_GLASS_PHYSICS_H

#include "kernel/glass_bench.h"
#include "physics_result.h"
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

/* Fields of a sample, in the same way. */
static inline void glass_physics_fields(struct ergo_context *ctx, const struct ergo_point *point,
                                        const struct glass_oracle *o, int sample, double *f) {
    const struct glass_shape s = glass_shape_of(point);
    if (!of_lattice(point)->field_file.present) {
        glass_oracle_fields(o, sample, f);
        return;
    }
    uint32_t *job = malloc(4 * glass_couplings_length(&s));
    assert_non_null(job);
    GLASS_BENCH_OK(ctx, "file", glass_couplings(ctx, point, &s, (uint32_t)sample / 32, job));
    for (size_t i = 0; i < s.sites; i++)
        f[i] = (int32_t)job[(s.d * s.sites + i) * 32 + (size_t)sample % 32] / 16777216.0;
    free(job);
}

/* Of a member, word by word, the moments of each temperature and the bins of P(q), exactly. */
static inline void glass_physics_exact(struct ergo_context *ctx, const struct ergo_point *point,
                                       double *expected, struct glass_verdict *v) {
    const struct glass_shape s = glass_shape_of(point);
    struct glass_oracle o = glass_oracle_of(point);
    const double unit = ergo_point_real(point, "/system/coupling");
    const size_t bins = s.copies > 1 ? glass_q_bins(&s) : 0;
    const size_t group = s.temperatures * (size_t)GLASS_MOMENTS + bins;
    double j[3 * GLASS_EXACT_SITES];
    memset(expected, 0, s.words * group * sizeof *expected);
    for (uint32_t sample = 0; sample < s.samples; sample++) {
        double *to = expected + sample / 32 * group, f[GLASS_EXACT_SITES];
        if (s.field)
            glass_physics_fields(ctx, point, &o, (int)sample, f);
        o.f = s.field ? f : NULL;
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
                                             x.m4,
                                             x.m,
                                             s.copies == 4 ? x.q * x.q : 0};
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
                                         size_t m, size_t group, size_t block,
                                         struct glass_verdict *v) {
    double *mean = malloc(2 * curve->size * sizeof *mean), *error = mean + curve->size;
    assert_non_null(mean);
    ergo_curve_result(curve, mean, error);
    for (size_t i = 0; i < curve->size; i++) {
        const double off = mean[i] - expected[i];
        /* what happens too rarely to be seen, or always, has no error */
        if (fabs(off) < 1e-12 || (mean[i] == 0 && expected[i] * (double)(curve->count * block) < 3))
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

/* A block's sums of samples, n of them, to what a word's samples mean. */
static inline void glass_physics_words(const struct ergo_point *point, const double *samples,
                                       size_t n, double *words) {
    const struct glass_shape s = glass_shape_of(point);
    const size_t moments = s.temperatures * (size_t)GLASS_MOMENTS;
    const size_t group = moments + (s.copies > 1 ? glass_q_bins(&s) : 0);
    struct glass_units u;
    glass_units_of(point, &s, &u);
    memset(words, 0, s.all * group * sizeof *words);
    for (size_t i = 0; i < s.samples * group; i++) {
        const size_t sample = i / group, at = i % group;
        const size_t lanes = sample / 32 + 1 == s.all ? (s.samples - 1) % 32 + 1 : 32;
        words[sample / 32 * group + at] += samples[i] *
                                           (at < moments    ? u.value[at % GLASS_MOMENTS]
                                            : s.copies == 4 ? 0.25
                                                            : 1) /
                                           (double)(n * lanes);
    }
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
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    size_t left = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    const struct glass_shape s = glass_shape_of(first);
    const size_t of_samples = ergo_point_curve_size(first, CURVE_SAMPLES), members = batch->count;
    const size_t size = of_samples / s.samples * s.all;
    assert_int_equal(job->n_batches, 1);
    GLASS_BENCH_OK(ctx, text, ergo_sampler_plan(ctx, ops, batch, device, &plan));
    GLASS_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    GLASS_BENCH_OK(ctx, text, ops->init(ctx, state));
    GLASS_BENCH_OK(ctx, text,
                   ergo_sampler_advance(ctx, ops, state, 0, 0,
                                        (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    const size_t halves = ergo_point_curve_size(first, CURVE_HALVES);
    const size_t block = plan.block_samples < 16 ? plan.block_samples : 16;
    struct ergo_samples samples = {.columns = malloc(block * members * COLUMNS * sizeof(double))};
    samples.curves[CURVE_HALVES] = malloc(block * members * halves * sizeof(double));
    samples.curves[CURVE_SAMPLES] = malloc(members * of_samples * sizeof(double));
    double *words = malloc(size * sizeof *words);
    struct ergo_curve *curves = calloc(members, sizeof *curves);
    double *expected = malloc(size * sizeof *expected);
    assert_true(samples.columns && samples.curves[CURVE_HALVES] && samples.curves[CURVE_SAMPLES]);
    assert_true(words && curves && expected);
    for (size_t m = 0; m < members; m++)
        assert_true(ergo_curve_init(&curves[m], size));
    while (left) {
        const size_t now = left < block ? left : block;
        GLASS_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, now, every, 0));
        GLASS_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        for (size_t m = 0; m < members && now == block; m++) { /* the rest is no whole bin */
            glass_physics_words(batch->points[m], samples.curves[CURVE_SAMPLES] + m * of_samples,
                                now, words);
            ergo_curve_add(&curves[m], words);
        }
        left -= now;
    }
    for (size_t m = 0; m < members; m++) {
        glass_physics_exact(ctx, batch->points[m], expected, v);
        glass_physics_compare(&curves[m], expected, m, size / s.words, block, v);
        ergo_curve_free(&curves[m]);
    }
    free(curves);
    free(expected);
    free(samples.columns);
    free(samples.curves[CURVE_HALVES]);
    free(samples.curves[CURVE_SAMPLES]);
    free(words);
    ergo_engine_destroy(state);
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
