/*
 * Unit vectors by clusters (swendsen-wang: xy, clock, heisenberg) against exact values of a closed
 * chain and against means of the plain serial oracle, which moves single spins. By the sampler's
 * ops alone. Error budget: as in vector_physics.h, at most 120 comparisons.
 */
#ifndef ERGO_TESTS_PHYSICS_CLUSTER_PHYSICS_H
#define ERGO_TESTS_PHYSICS_CLUSTER_PHYSICS_H

#include "physics/vector_physics.h"
#include "samplers/swendsen_wang/sites/sites.h"

struct cluster_means {
    double of[VECTOR_CHAINS][VECTOR_MEANS];
    double improved2[VECTOR_CHAINS]; /* <m^2> from Wolff's clusters */
    bool wolff;
};

/* A job of 32 replicas, with ' for ". */
static inline struct vector_oracle cluster_run(struct ergo_context *context, struct ergo_device *on,
                                               const char *job_text, struct cluster_means *means) {
    enum { BLOCK = 50 };
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", job_text);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    VECTOR_BENCH_OK(context, text,
                    ergo_job_parse(context, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct sw_sites_shape h = sw_sites_shape_of(first);
    const struct ergo_sampler_ops *ops = job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t count =
        (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every) / BLOCK * BLOCK;
    const struct vector_oracle o = {.d = ergo_point_value(first, "/system/size")->items,
                                    .l = {(int)h.lx, (int)h.ly, (int)h.lz},
                                    .triangular = h.lattice == SW_LATTICE_TRIANGULAR,
                                    .space = h.model == SW_MODEL_HEISENBERG,
                                    .q = h.model == SW_MODEL_CLOCK ? (int)h.q : 0,
                                    .t = ergo_point_real(first, "/system/temperature"),
                                    .j = ergo_point_real(first, "/system/coupling")};
    assert_true(job->n_batches == 1 && batch->count == VECTOR_CHAINS);
    VECTOR_BENCH_OK(context, text, ergo_sampler_create(context, ops, batch, on, &state));
    double *columns = malloc(sizeof(double) * SW_VECTOR_COLUMNS * VECTOR_CHAINS * BLOCK);
    memset(means, 0, sizeof *means);
    means->wolff = h.wolff;
    VECTOR_BENCH_OK(context, text, ops->init(context, state));
    VECTOR_BENCH_OK(context, text,
                    ergo_sampler_advance(context, ops, state, 0, 0,
                                         (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (size_t done = 0; done < count; done += BLOCK) {
        struct ergo_samples samples = {.columns = columns};
        VECTOR_BENCH_OK(context, text,
                        ergo_sampler_advance(context, ops, state, 0, BLOCK, every, done));
        VECTOR_BENCH_OK(context, text, ergo_sampler_collect(context, ops, state, 0, &samples));
        for (size_t i = 0; i < BLOCK * VECTOR_CHAINS; i++) {
            const double *c = columns + SW_VECTOR_COLUMNS * i;
            const struct vector_oracle_sample sample = {
                .energy = c[SW_VECTOR_ENERGY],
                .m = {c[SW_VECTOR_X], c[SW_VECTOR_Y], c[SW_VECTOR_Z]},
                .alignment = c[SW_VECTOR_ALIGNMENT],
                .current2 = c[SW_VECTOR_CURRENT2],
                .vortices = c[SW_VECTOR_VORTICES],
                .structure = c[SW_VECTOR_WAVE2]};
            vector_oracle_add(&o, &sample, 1.0 / (double)count, means->of[i % VECTOR_CHAINS]);
            means->improved2[i % VECTOR_CHAINS] += c[SW_VECTOR_IMPROVED2] / (double)count;
        }
    }
    free(columns);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
    return o;
}

/* Compare all means that are known, and <m^2> once more from clusters. */
static inline void cluster_compare(struct vector_verdict *v, const char *what,
                                   struct cluster_means *means, double expected[VECTOR_MEANS],
                                   double errors[VECTOR_MEANS]) {
    vector_compare(v, what, means->of, expected, errors);
    if (!means->wolff || isnan(expected[VECTOR_MEAN_M2]))
        return;
    for (int k = 0; k < VECTOR_MEANS; k++)
        expected[k] = k == VECTOR_MEAN_M2 ? expected[k] : NAN;
    for (int m = 0; m < VECTOR_CHAINS; m++)
        means->of[m][VECTOR_MEAN_M2] = means->improved2[m];
    vector_compare(v, what, means->of, expected, errors);
}

/* 2 x 2 sites, each with two bonds to either of its neighbours: a closed chain of four with 2 J. */
static inline void cluster_ring(struct ergo_context *context, struct ergo_device *on,
                                const char *job, struct vector_verdict *v) {
    struct cluster_means means;
    double expected[VECTOR_MEANS];
    struct vector_oracle o = cluster_run(context, on, job, &means);
    o.j *= 2;
    const struct vector_oracle_ring exact = vector_oracle_ring(&o, 4);
    for (int k = 0; k < VECTOR_MEANS; k++)
        expected[k] = NAN;
    expected[VECTOR_MEAN_ENERGY] = exact.energy;
    expected[VECTOR_MEAN_ENERGY2] = exact.heat * o.t * o.t / 4 + exact.energy * exact.energy;
    vector_compare(v, job, means.of, expected, NULL);
}

/* Against single spins of the oracle, for a second or two. */
static inline void cluster_serial(struct ergo_context *context, struct ergo_device *on,
                                  const char *job, struct vector_verdict *v) {
    struct cluster_means means;
    double expected[VECTOR_MEANS], errors[VECTOR_MEANS];
    const struct vector_oracle o = cluster_run(context, on, job, &means);
    vector_oracle_run(&o, 77, 60, 120000 / vector_oracle_sites(&o), expected, errors);
    expected[VECTOR_MEAN_ALONG] = expected[VECTOR_MEAN_Z2] = NAN;
    cluster_compare(v, job, &means, expected, errors);
}

#endif
