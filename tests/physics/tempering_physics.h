/*
 * Parallel tempering by the engine against exact values at each temperature: enumeration of small
 * lattices, transfer matrices of closed chains. What the test of the engine and the test of its
 * power (mutants) share. By the sampler's ops alone, without audits.
 *
 * Error budget, set before the first run. A job has 32 independent ladders; means are averages of
 * theirs, errors come from their spread: Student's t with 31 degrees of freedom. At most 120
 * comparisons: |z| < 5.5 has a chance below 5e-6 each, together below 6e-4.
 */
#ifndef ERGO_TESTS_PHYSICS_TEMPERING_PHYSICS_H
#define ERGO_TESTS_PHYSICS_TEMPERING_PHYSICS_H

#include "kernel/bytes_bench.h"
#include "kernel/vector_bench.h"
#include "samplers/tempered.h"

#define TEMPERING_Z_MAX 5.5
enum { TEMPERING_LADDERS = 32, TEMPERING_RUNGS = 8 };

struct tempering_verdict {
    size_t n;
    double worst;
    char where[400];
};

/* Means of energy and |order parameter| (spins that are vectors: NAN) at a temperature. */
static inline void tempering_exact(const struct ergo_point *point, double t, double exact[2]) {
    const char *model = ergo_point_text(point, "/system/model");
    exact[1] = NAN;
    if (strcmp(model, "xy") == 0 || strcmp(model, "clock") == 0 ||
        strcmp(model, "heisenberg") == 0) {
        struct vector_oracle o = vector_bench_oracle(point);
        o.t = t;
        exact[0] = vector_oracle_ring(&o, vector_oracle_sites(&o)).energy;
        return;
    }
    double f[64] = {0};
    struct bytes_member member;
    bytes_member_fill(point, &member);
    struct bytes_oracle o = bytes_bench_oracle(point, &member);
    o.t = t;
    bytes_oracle_fields(&o, f);
    const struct bytes_oracle_means means = bytes_oracle_enumerate(&o, f);
    exact[0] = means.energy;
    exact[1] = means.abs_order;
}

static inline size_t tempering_moment(const struct ergo_model *model, const char *a,
                                      const char *b) {
    size_t at = 0;
    for (size_t o = 0; o < model->n_observables; o++) {
        if (strcmp(model->observables[o].name, a) == 0 ||
            strcmp(model->observables[o].name, b) == 0)
            break;
        at += ergo_observable_sampled(&model->observables[o]);
    }
    return at;
}

/* off[ladder]: means less what is exact, of one rung. */
static inline void tempering_compare(struct tempering_verdict *v, const char *job, const char *what,
                                     const double off[TEMPERING_LADDERS]) {
    double mean = 0, squares = 0;
    for (int l = 0; l < TEMPERING_LADDERS; l++)
        mean += off[l] / TEMPERING_LADDERS;
    for (int l = 0; l < TEMPERING_LADDERS; l++)
        squares += (off[l] - mean) * (off[l] - mean);
    const double error = sqrt(squares / (TEMPERING_LADDERS - 1) / TEMPERING_LADDERS);
    const double z = fabs(mean) < 1e-9 ? 0 : mean / error;
    v->n++;
    if (fabs(z) <= v->worst)
        return;
    v->worst = isnan(z) ? INFINITY : fabs(z);
    snprintf(v->where, sizeof v->where, "%.200s: %s off by %.6f(%.6f)", job, what, mean, error);
}

static inline void tempering_job(struct ergo_context *context, struct ergo_device *on,
                                 const char *quoted, struct tempering_verdict *v) {
    enum { BLOCK = 50 };
    char text[800];
    struct ergo_job *job = NULL;
    void *state = NULL;
    snprintf(text, sizeof text, "%s", quoted);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    VECTOR_BENCH_OK(context, text,
                    ergo_job_parse(context, text, strlen(text), "case", NULL, 0, &job));
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_model *model = job->model;
    const struct ergo_sampler_ops *ops = model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t blocks = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every) / BLOCK;
    const size_t rungs = ergo_ladder_rungs(first), moments = ergo_temper_moments(model);
    const size_t row = rungs * moments, of = ergo_temper_curve(model, "ladder_moments");
    const size_t which[2] = {tempering_moment(model, "energy", "energy"),
                             tempering_moment(model, "abs_magnetization", "order_parameter")};
    double *mean = calloc(TEMPERING_LADDERS * row, sizeof *mean);
    struct ergo_samples samples = {
        .columns = malloc(BLOCK * TEMPERING_LADDERS * model->n_columns * sizeof(double))};
    samples.curves[of] = malloc(BLOCK * TEMPERING_LADDERS * row * sizeof(double));
    assert_true(job->n_batches == 1 && batch->count == TEMPERING_LADDERS &&
                rungs <= TEMPERING_RUNGS && mean && samples.columns && samples.curves[of]);
    VECTOR_BENCH_OK(context, text, ergo_sampler_create(context, ops, batch, on, &state));
    VECTOR_BENCH_OK(context, text, ops->init(context, state));
    VECTOR_BENCH_OK(context, text,
                    ergo_sampler_advance(context, ops, state, 0, 0,
                                         (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (size_t b = 0; b < blocks; b++) {
        VECTOR_BENCH_OK(context, text,
                        ergo_sampler_advance(context, ops, state, 0, BLOCK, every, BLOCK * b));
        VECTOR_BENCH_OK(context, text, ergo_sampler_collect(context, ops, state, 0, &samples));
        assert_int_equal(samples.n_curve_samples, BLOCK);
        for (size_t i = 0; i < BLOCK * TEMPERING_LADDERS * row; i++)
            mean[i % (TEMPERING_LADDERS * row)] += samples.curves[of][i] / (double)(BLOCK * blocks);
    }
    for (uint32_t r = 0; r < rungs; r++) {
        double off[2][TEMPERING_LADDERS], exact[2], ladder[ERGO_LADDER_MAX];
        for (size_t l = 0; l < TEMPERING_LADDERS; l++) {
            /* couplings, fields or temperatures of its own */
            if (l == 0 || ergo_ladder_automatic(first) || of_lattice(first)->random_field.present) {
                ergo_temper_temperatures(ergo_temper_of(state), l, ladder);
                tempering_exact(batch->points[l], ladder[r], exact);
            }
            for (int k = 0; k < 2; k++)
                off[k][l] = mean[l * row + r * moments + which[k]] - exact[k];
        }
        tempering_compare(v, quoted, "energy", off[0]);
        if (!isnan(off[1][0]))
            tempering_compare(v, quoted, "order", off[1]);
    }
    free(mean);
    free(samples.columns);
    free(samples.curves[of]);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *tempering_judge(const struct tempering_verdict *v) {
    static char reason[500];
    if (v->worst < TEMPERING_Z_MAX)
        return NULL;
    snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
    return reason;
}

#endif
