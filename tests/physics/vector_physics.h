/*
 * Spins that are unit vectors against exact values of closed chains and against means of the plain
 * serial oracle: what the test of the engine and the test of its power (mutants) share. By the
 * sampler's ops alone.
 *
 * Error budget, set before the first run. A job has 32 independent chains; means are averages of
 * theirs, errors come from their spread: Student's t with 31 degrees of freedom. At most 120
 * comparisons: |z| < 5.5 has a chance below 5e-6 each, together below 6e-4.
 */
#ifndef ERGO_TESTS_PHYSICS_VECTOR_PHYSICS_H
#define ERGO_TESTS_PHYSICS_VECTOR_PHYSICS_H

#include "kernel/vector_bench.h"

#define VECTOR_Z_MAX 5.5
enum { VECTOR_CHAINS = 32 };

struct vector_verdict {
    size_t n;
    double worst;
    char where[300];
};

static const char *const vector_mean_names[VECTOR_MEANS] = {
    "energy", "energy^2", "m^2",  "m^4",      "m along the field",
    "s.s'",   "current2", "sz^2", "vortices", "S(k)"};

/* A mean that is not known is NAN. */
static inline void vector_compare(struct vector_verdict *v, const char *what,
                                  double means[VECTOR_CHAINS][VECTOR_MEANS],
                                  const double expected[VECTOR_MEANS],
                                  const double errors[VECTOR_MEANS]) {
    for (int k = 0; k < VECTOR_MEANS; k++) {
        double mean = 0, squares = 0;
        if (isnan(expected[k]))
            continue;
        for (int m = 0; m < VECTOR_CHAINS; m++)
            mean += means[m][k] / VECTOR_CHAINS;
        for (int m = 0; m < VECTOR_CHAINS; m++)
            squares += (means[m][k] - mean) * (means[m][k] - mean);
        const double error = sqrt(squares / (VECTOR_CHAINS - 1) / VECTOR_CHAINS +
                                  (errors ? errors[k] * errors[k] : 0));
        const double z = (mean - expected[k]) / error;
        v->n++;
        if (fabs(mean - expected[k]) < 1e-9 || fabs(z) <= v->worst)
            continue;
        v->worst = isnan(z) ? INFINITY : fabs(z);
        snprintf(v->where, sizeof v->where, "%.180s: %s %.6f(%.6f), expected %.6f", what,
                 vector_mean_names[k], mean, error, expected[k]);
    }
}

/* A job of 32 replicas, with ' for ": the means of each over its samples, after
 * /run/equilibration. */
static inline struct vector_oracle vector_means(struct ergo_context *context,
                                                struct ergo_device *on, const char *job_text,
                                                double means[VECTOR_CHAINS][VECTOR_MEANS]) {
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const char *curves = "/run/correlation_every=1";
    VECTOR_BENCH_OK(context, text,
                    ergo_job_parse(context, text, strlen(text), "case", &curves, 1, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t count = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    const struct vector_oracle o = vector_bench_oracle(first);
    assert_true(job->n_batches == 1 && batch->count == VECTOR_CHAINS);
    VECTOR_BENCH_OK(context, text, ergo_sampler_create(context, ops, batch, on, &state));
    struct vector_state *s = state;
    const size_t block = s->e.block_samples < 200 ? s->e.block_samples : 200;
    double *columns = malloc(sizeof(double) * VECTOR_COLUMNS * VECTOR_CHAINS * block),
           *structure = malloc(sizeof(double) * VECTOR_WAVES_MAX * VECTOR_CHAINS * block);
    struct ergo_samples samples = {.columns = columns, .curves = {structure}};
    memset(means, 0, VECTOR_CHAINS * VECTOR_MEANS * sizeof(double));
    VECTOR_BENCH_OK(context, text, ops->init(context, state));
    VECTOR_BENCH_OK(context, text,
                    ergo_sampler_advance(context, ops, state, 0, 0,
                                         (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (size_t done = 0; done < count; done += block) {
        const size_t now = count - done < block ? count - done : block;
        VECTOR_BENCH_OK(context, text,
                        ergo_sampler_advance(context, ops, state, 0, now, every, done));
        VECTOR_BENCH_OK(context, text, ergo_sampler_collect(context, ops, state, 0, &samples));
        for (size_t i = 0; i < now * VECTOR_CHAINS; i++) {
            const double *c = columns + VECTOR_COLUMNS * i;
            const struct vector_oracle_sample sample = {
                .energy = c[VECTOR_ENERGY],
                .m = {c[VECTOR_X], c[VECTOR_Y], c[VECTOR_Z]},
                .alignment = c[VECTOR_ALIGNMENT],
                .current2 = c[VECTOR_CURRENT2],
                .z2 = c[VECTOR_Z2],
                .vortices = c[VECTOR_VORTICES],
                .structure = structure[s->waves.n * i + (size_t)o.d]};
            vector_oracle_add(&o, &sample, 1.0 / (double)count, means[i % VECTOR_CHAINS]);
        }
    }
    free(columns);
    free(structure);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
    return o;
}

/* A closed chain; or the square lattice of 2 x 2 sites, each of whose sites has two bonds to either
 * of its neighbours: a chain of four with 2 J. */
static inline void vector_ring(struct ergo_context *context, struct ergo_device *on,
                               const char *job, struct vector_verdict *v) {
    double means[VECTOR_CHAINS][VECTOR_MEANS], expected[VECTOR_MEANS];
    struct vector_oracle o = vector_means(context, on, job, means);
    const int n = vector_oracle_sites(&o);
    o.j *= o.d;
    const struct vector_oracle_ring exact = vector_oracle_ring(&o, n);
    for (int k = 0; k < VECTOR_MEANS; k++)
        expected[k] = NAN;
    expected[VECTOR_MEAN_ENERGY] = exact.energy;
    expected[VECTOR_MEAN_ENERGY2] = exact.heat * o.t * o.t / n + exact.energy * exact.energy;
    expected[VECTOR_MEAN_ALONG] = exact.along;
    if (o.space)
        expected[VECTOR_MEAN_Z2] = exact.z2;
    vector_compare(v, job, means, expected, NULL);
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *vector_judge(const struct vector_verdict *v) {
    static char reason[400];
    if (v->worst < VECTOR_Z_MAX)
        return NULL;
    snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
    return reason;
}

#endif
