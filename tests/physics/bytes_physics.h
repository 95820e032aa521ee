/*
 * Models with a byte per spin against enumeration of all states and against published values: what
 * the test of the engine and the test of its power (mutants) share. By the sampler's ops alone.
 *
 * Error budget, set before the first run. A job has 32 independent chains; means are averages of
 * theirs, errors come from their spread: Student's t with 31 degrees of freedom. At most 120
 * comparisons: |z| < 5.5 has a chance below 5e-6 each, together below 6e-4.
 */
#ifndef ERGO_TESTS_PHYSICS_BYTES_PHYSICS_H
#define ERGO_TESTS_PHYSICS_BYTES_PHYSICS_H

#include "kernel/bytes_bench.h"

#define BYTES_Z_MAX 5.5
enum { BYTES_CHAINS = 32, BYTES_MEANS = 5 };

struct bytes_verdict {
    size_t n;
    double worst;
    char where[300];
};

static inline void bytes_compare(struct bytes_verdict *v, const char *what, const char *name,
                                 const double *means, double exact) {
    double mean = 0, squares = 0;
    for (int m = 0; m < BYTES_CHAINS; m++)
        mean += means[m] / BYTES_CHAINS;
    for (int m = 0; m < BYTES_CHAINS; m++)
        squares += (means[m] - mean) * (means[m] - mean);
    const double error = sqrt(squares / (BYTES_CHAINS - 1) / BYTES_CHAINS);
    const double z = (mean - exact) / error;
    v->n++;
    if (fabs(mean - exact) < 1e-12 || fabs(z) <= v->worst)
        return;
    v->worst = isnan(z) ? INFINITY : fabs(z);
    snprintf(v->where, sizeof v->where, "%.180s: %s %.6f(%.6f), exact %.6f", what, name, mean,
             error, exact);
}

/* A job of 32 replicas, with ' for ": means of energy, order, |order|, order^2, quadrupole of each
 * over `count` samples, after /run/equilibration. */
static inline struct ergo_job *bytes_run(struct ergo_context *ctx, struct ergo_device *device,
                                         const char *job_text,
                                         double means[BYTES_MEANS][BYTES_CHAINS],
                                         struct bytes_oracle *oracle) {
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const char *no_curves = "/run/correlation_every=0";
    const size_t given = strstr(text, "blume-capel") ? 0 : 1; /* which has no curves */
    BYTES_BENCH_OK(ctx, text,
                   ergo_job_parse(ctx, text, strlen(text), "case", &no_curves, given, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t count = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    assert_true(job->n_batches == 1 && batch->count == BYTES_CHAINS);
    BYTES_BENCH_OK(ctx, text, ergo_sampler_create(ctx, ops, batch, device, &state));
    struct bytes_state *s = state;
    *oracle = bytes_bench_oracle(first, &s->members[0]);
    const size_t block = s->e.block_samples < 200 ? s->e.block_samples : 200;
    const size_t width = job->model->n_columns;
    double *columns = malloc(sizeof *columns * width * BYTES_CHAINS * block);
    struct ergo_samples samples = {.columns = columns};
    memset(means, 0, BYTES_MEANS * BYTES_CHAINS * sizeof(double));
    BYTES_BENCH_OK(ctx, text, ops->init(ctx, state));
    BYTES_BENCH_OK(ctx, text,
                   ergo_sampler_advance(ctx, ops, state, 0, 0,
                                        (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (size_t done = 0; done < count; done += block) {
        const size_t now = count - done < block ? count - done : block;
        BYTES_BENCH_OK(ctx, text, ergo_sampler_advance(ctx, ops, state, 0, now, every, done));
        BYTES_BENCH_OK(ctx, text, ergo_sampler_collect(ctx, ops, state, 0, &samples));
        for (size_t i = 0; i < now * BYTES_CHAINS; i++) {
            const double e = columns[width * i], m = columns[width * i + 1];
            const size_t chain = i % BYTES_CHAINS;
            means[0][chain] += e / (double)count;
            means[1][chain] += m / (double)count;
            means[2][chain] += fabs(m) / (double)count;
            means[3][chain] += m * m / (double)count;
            means[4][chain] += width > 2 ? columns[width * i + 2] / (double)count : 0;
        }
    }
    free(columns);
    ergo_engine_destroy(state);
    return job;
}

/* A job on a lattice small enough to enumerate. A random field is the first replica's: such a job
 * has one replica's field for all (bytes_run's chains differ in it), so its h must be 0. */
static inline void bytes_enumerated(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *text, struct bytes_verdict *v) {
    double means[BYTES_MEANS][BYTES_CHAINS];
    struct bytes_oracle o;
    struct ergo_job *job = bytes_run(ctx, device, text, means, &o);
    const struct bytes_oracle_means exact = bytes_oracle_enumerate(&o, NULL);
    bytes_compare(v, text, "energy", means[0], exact.energy);
    bytes_compare(v, text, "order", means[1], exact.order);
    bytes_compare(v, text, "|order|", means[2], exact.abs_order);
    bytes_compare(v, text, "order^2", means[3], exact.order2);
    if (o.q)
        bytes_compare(v, text, o.capel ? "quadrupole" : "first state", means[4], exact.third);
    ergo_job_destroy(job);
}

/* A random field: each replica has its own, and its own exact energy. */
static inline void bytes_enumerated_fields(struct ergo_context *ctx, struct ergo_device *device,
                                           const char *text, struct bytes_verdict *v) {
    double means[BYTES_MEANS][BYTES_CHAINS], off[3][BYTES_CHAINS];
    struct bytes_oracle o;
    struct ergo_job *job = bytes_run(ctx, device, text, means, &o);
    double f[24 * 6];
    for (size_t m = 0; m < BYTES_CHAINS; m++) {
        struct bytes_member member;
        bytes_member_fill(job->batches[0].points[m], &member);
        o = bytes_bench_oracle(job->batches[0].points[m], &member);
        bytes_oracle_fields(&o, f);
        const struct bytes_oracle_means exact = bytes_oracle_enumerate(&o, f);
        off[0][m] = means[0][m] - exact.energy;
        off[1][m] = means[1][m] - exact.order;
        off[2][m] = means[4][m] - exact.third;
    }
    bytes_compare(v, text, "energy", off[0], 0);
    bytes_compare(v, text, "order", off[1], 0);
    if (o.q)
        bytes_compare(v, text, o.capel ? "quadrupole" : "first state", off[2], 0);
    ergo_job_destroy(job);
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *bytes_judge(const struct bytes_verdict *v) {
    static char reason[400];
    if (v->worst < BYTES_Z_MAX)
        return NULL;
    snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
    return reason;
}

#endif
