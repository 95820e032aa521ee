/*
 * Spins on graphs against enumeration of all states: what the test of the engine and the test of
 * its power (mutants) share. By the sampler's ops alone.
 *
 * Error budget, set before the first run. A job has 32 independent chains; means are averages of
 * theirs, errors come from their spread: Student's t with 31 degrees of freedom. At most 60
 * comparisons of single temperatures and 200 of ladders, populations and walks: |z| < 5.5 has a
 * chance below 5e-6 each, together below 1e-3.
 */
#ifndef ERGO_TESTS_PHYSICS_GRAPH_PHYSICS_H
#define ERGO_TESTS_PHYSICS_GRAPH_PHYSICS_H

#include "kernel/graph_bench.h"

#define GRAPH_Z_MAX 5.5
enum { GRAPH_CHAINS = 32 };

struct graph_verdict {
    size_t n;
    double worst;
    char where[300];
};

static inline void graph_compare(struct graph_verdict *v, const char *what, const char *name,
                                 const double *means, double exact) {
    double mean = 0, squares = 0;
    for (int m = 0; m < GRAPH_CHAINS; m++)
        mean += means[m] / GRAPH_CHAINS;
    for (int m = 0; m < GRAPH_CHAINS; m++)
        squares += (means[m] - mean) * (means[m] - mean);
    const double error = sqrt(squares / (GRAPH_CHAINS - 1) / GRAPH_CHAINS);
    const double z = (mean - exact) / error;
    v->n++;
    if (fabs(mean - exact) < 1e-12 || fabs(z) <= v->worst)
        return;
    v->worst = isnan(z) ? INFINITY : fabs(z);
    snprintf(v->where, sizeof v->where, "%.180s: %s %.6f(%.6f), exact %.6f", what, name, mean,
             error, exact);
}

/* Means of energy per site, |m|, m^2 of the chains of a job of 32 replicas, with ' for "; returns
 * the lowest total energy. */
static inline double graph_means(struct ergo_context *context, struct ergo_device *on,
                                 const char *text, double means[3][GRAPH_CHAINS]) {
    struct ergo_job *job = graph_bench_job(context, text);
    const struct ergo_batch *batch = &job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t count = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    double lowest = INFINITY;
    void *state = NULL;
    assert_int_equal(batch->count, GRAPH_CHAINS);
    memset(means, 0, 3 * GRAPH_CHAINS * sizeof(double));
    GRAPH_BENCH_OK(context, text, ergo_sampler_create(context, ops, batch, on, &state));
    struct graph_state *s = state;
    const size_t block = s->e.block_samples < 250 ? s->e.block_samples : 250;
    double *columns = malloc(sizeof *columns * GRAPH_COLUMNS * GRAPH_CHAINS * block);
    struct ergo_samples samples = {.columns = columns};
    GRAPH_BENCH_OK(context, text, ops->init(context, state));
    GRAPH_BENCH_OK(context, text,
                   ergo_sampler_advance(context, ops, state, 0, 0,
                                        (uint64_t)ergo_point_int(first, "/run/equilibration"), 0));
    for (size_t done = 0; done < count; done += block) {
        const size_t now = count - done < block ? count - done : block;
        GRAPH_BENCH_OK(context, text,
                       ergo_sampler_advance(context, ops, state, 0, now, every, done));
        GRAPH_BENCH_OK(context, text, ergo_sampler_collect(context, ops, state, 0, &samples));
        for (size_t i = 0; i < now * GRAPH_CHAINS; i++) {
            const double *own = columns + GRAPH_COLUMNS * i, m = own[COLUMN_GRAPH_M];
            means[0][i % GRAPH_CHAINS] += own[COLUMN_TOTAL] / s->net.n / (double)count;
            means[1][i % GRAPH_CHAINS] += fabs(m) / (double)count;
            means[2][i % GRAPH_CHAINS] += m * m / (double)count;
            lowest = fmin(lowest, own[COLUMN_TOTAL]);
        }
    }
    free(columns);
    ergo_engine_destroy(state);
    ergo_job_destroy(job);
    return lowest;
}

static inline void graph_enumerated(struct ergo_context *context, struct ergo_device *on,
                                    const char *text, struct graph_verdict *v) {
    struct ergo_job *job = graph_bench_job(context, text);
    const struct ergo_point *first = job->batches[0].points[0];
    double means[3][GRAPH_CHAINS];
    struct graph_oracle o = {0};
    graph_bench_oracle(first, &o);
    const struct graph_oracle_means exact =
        graph_oracle_enumerate(&o, ergo_point_real(first, "/system/temperature"));
    const double lowest = graph_means(context, on, text, means);
    graph_compare(v, text, "energy", means[0], exact.energy);
    graph_compare(v, text, "|m|", means[1], exact.abs_m);
    graph_compare(v, text, "m^2", means[2], exact.m2);
    if (fabs(lowest - exact.lowest) > 1e-5)
        fail_msg("%s: lowest energy %.9g, by enumeration %.9g", text, lowest, exact.lowest);
    graph_oracle_free(&o);
    ergo_job_destroy(job);
}

/* The energy alone, which is known. */
static inline void graph_energy(struct ergo_context *context, struct ergo_device *on,
                                const char *text, double exact, struct graph_verdict *v) {
    double means[3][GRAPH_CHAINS];
    graph_means(context, on, text, means);
    graph_compare(v, text, "energy", means[0], exact);
}

/* ---- ladders, populations, Wang-Landau walks: curves at the end
 * ----------------------------------------
 */

struct graph_run {
    struct ergo_job *job;
    void *state;
    struct ergo_curve curves[GRAPH_CHAINS][GRAPH_CURVES];
};

static inline void graph_run_block(struct ergo_context *context, const char *text,
                                   struct graph_run *run, size_t count, uint64_t every,
                                   size_t first, struct ergo_samples *samples) {
    const struct ergo_sampler_ops *ops = run->job->model->ops;
    GRAPH_BENCH_OK(context, text,
                   ergo_sampler_advance(context, ops, run->state, 0, count, every, first));
    GRAPH_BENCH_OK(context, text, ergo_sampler_collect(context, ops, run->state, 0, samples));
    for (int m = 0; m < GRAPH_CHAINS; m++) {
        struct ergo_curve *c = run->curves[m];
        const double *census = samples->curves[CURVE_CENSUS];
        if (c[CURVE_CENSUS].size)
            ergo_curve_add_sum(&c[CURVE_CENSUS], census + (size_t)m * c[CURVE_CENSUS].size, count);
        for (size_t i = 0; i < count && c[CURVE_CHAIN_MOMENTS].size; i++)
            ergo_curve_add(&c[CURVE_CHAIN_MOMENTS],
                           samples->curves[CURVE_CHAIN_MOMENTS] +
                               (i * GRAPH_CHAINS + (size_t)m) * c[CURVE_CHAIN_MOMENTS].size);
    }
}

/* A whole run of a job of 32 replicas, and its curves. */
static inline void graph_run_job(struct ergo_context *context, struct ergo_device *on,
                                 const char *text, struct graph_run *run) {
    run->job = graph_bench_job(context, text);
    const struct ergo_batch *batch = &run->job->batches[0];
    const struct ergo_point *first = batch->points[0];
    const struct ergo_sampler_ops *ops = run->job->model->ops;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t count = (size_t)((uint64_t)ergo_point_int(first, "/run/sweeps") / every);
    const int64_t lead = ergo_point_int(first, "/run/equilibration");
    assert_int_equal(batch->count, GRAPH_CHAINS);
    for (int m = 0; m < GRAPH_CHAINS; m++)
        for (size_t c = 0; c < GRAPH_CURVES; c++)
            assert_true((c == CURVE_CENSUS ? ergo_curve_init_sum : ergo_curve_init)(
                &run->curves[m][c], ergo_point_curve_size(first, c)));
    GRAPH_BENCH_OK(context, text, ergo_sampler_create(context, ops, batch, on, &run->state));
    const struct ergo_engine *e = run->state;
    const size_t block = e->block_samples < 250 ? e->block_samples : 250;
    struct ergo_samples samples = {.columns =
                                       malloc(8 * GRAPH_COLUMNS * GRAPH_CHAINS * (block + 1))};
    samples.curves[CURVE_CENSUS] =
        malloc(8 * GRAPH_CHAINS * ergo_point_curve_size(first, CURVE_CENSUS) + 8);
    samples.curves[CURVE_CHAIN_MOMENTS] =
        malloc(8 * GRAPH_CHAINS * block * ergo_point_curve_size(first, CURVE_CHAIN_MOMENTS) + 8);
    GRAPH_BENCH_OK(context, text, ops->init(context, run->state));
    if (lead)
        GRAPH_BENCH_OK(context, text,
                       ergo_sampler_advance(context, ops, run->state, 0, 0, (uint64_t)lead, 0));
    for (size_t done = 0; done < count; done += block)
        graph_run_block(context, text, run, count - done < block ? count - done : block, every,
                        done, &samples);
    for (size_t m = 0; m < GRAPH_CHAINS; m++)
        GRAPH_BENCH_OK(context, text, ops->end_curves(context, run->state, m, run->curves[m]));
    free(samples.columns);
    free(samples.curves[CURVE_CENSUS]);
    free(samples.curves[CURVE_CHAIN_MOMENTS]);
}

static inline void graph_run_free(struct graph_run *run) {
    for (int m = 0; m < GRAPH_CHAINS; m++)
        for (size_t c = 0; c < GRAPH_CURVES; c++)
            ergo_curve_free(&run->curves[m][c]);
    ergo_engine_destroy(run->state);
    ergo_job_destroy(run->job);
}

/* Point `at` of a curve of all replicas, each beside its exact value. */
static inline void graph_compare_point(struct graph_verdict *v, const char *text,
                                       const struct graph_run *run, size_t c, size_t at,
                                       const char *name, const double *exact) {
    double means[GRAPH_CHAINS];
    for (int m = 0; m < GRAPH_CHAINS; m++) {
        const struct ergo_curve *curve = &run->curves[m][c];
        double *mean = malloc(2 * sizeof *mean * curve->size);
        ergo_curve_result(curve, mean, mean + curve->size);
        means[m] = mean[at] - (exact[m] - exact[0]);
        free(mean);
    }
    graph_compare(v, text, name, means, exact[0]);
}

/* Energies and so on at each temperature, of populations and walks also F, against enumeration.
 * Ladders with feedback have temperatures of their own in each replica. */
static inline void graph_temperatures(struct ergo_context *context, struct ergo_device *on,
                                      const char *text, struct graph_verdict *v) {
    struct graph_run run = {0};
    struct graph_oracle o = {0};
    double t[GRAPH_STAGES / 64];
    graph_run_job(context, on, text, &run);
    const struct ergo_point *first = run.job->batches[0].points[0];
    const size_t n = ergo_point_curve_size(first, CURVE_CHAIN_ENERGY);
    assert_true(n > 1 && n < sizeof t / sizeof t[0]);
    graph_bench_oracle(first, &o);
    run.job->model->curve_x(first, CURVE_CHAIN_ENERGY, t);
    const bool walk = graph_is_walk(first);
    const struct graph_state *s = walk ? NULL : run.state;
    for (size_t i = 0; i < n; i++) {
        double exact[5][GRAPH_CHAINS];
        for (size_t m = 0; m < GRAPH_CHAINS; m++) {
            const bool own = s && s->feedback.automatic;
            if (!own && m > 0) {
                for (int k = 0; k < 5; k++)
                    exact[k][m] = exact[k][0];
                continue;
            }
            const struct graph_oracle_means e =
                graph_oracle_enumerate(&o, own ? s->ladders[m * n + i] : t[i]);
            exact[0][m] = e.energy;
            exact[1][m] = e.heat;
            exact[2][m] = e.abs_m;
            exact[3][m] = 1 - e.m4 / (3 * e.m2 * e.m2);
            exact[4][m] = e.free_energy;
        }
        char name[5][40];
        snprintf(name[0], sizeof name[0], "energy at T = %.4f", t[i]);
        snprintf(name[1], sizeof name[1], "heat capacity at T = %.4f", t[i]);
        snprintf(name[2], sizeof name[2], "|m| at T = %.4f", t[i]);
        snprintf(name[3], sizeof name[3], "Binder at T = %.4f", t[i]);
        snprintf(name[4], sizeof name[4], "free energy at T = %.4f", t[i]);
        graph_compare_point(v, text, &run, CURVE_CHAIN_ENERGY, i, name[0], exact[0]);
        graph_compare_point(v, text, &run, CURVE_CHAIN_HEAT, i, name[1], exact[1]);
        if (!walk)
            graph_compare_point(v, text, &run, CURVE_CHAIN_ORDER, i, name[2], exact[2]);
        if (walk || graph_is_population(first))
            graph_compare_point(v, text, &run, CURVE_FREE_ENERGY, i, name[4], exact[4]);
        else
            graph_compare_point(v, text, &run, CURVE_CHAIN_BINDER, i, name[3], exact[3]);
    }
    graph_oracle_free(&o);
    graph_run_free(&run);
}

/* ln g of an Ising model on a square of this side at each level, against the exact one
 * (data/reference/ising-density.txt). */
static inline void graph_density(struct ergo_context *context, struct ergo_device *on,
                                 const char *text, int side, struct graph_verdict *v) {
    FILE *file = fopen("data/reference/ising-density.txt", "r");
    struct graph_run run = {0};
    char line[200], name[60];
    int l = 0;
    double energy = 0, ln_g = 0;
    assert_non_null(file);
    graph_run_job(context, on, text, &run);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%d %lf %lf", &l, &energy, &ln_g) == 3 && l == side)
            for (int sign = -1; sign < 2; sign += 2) {
                double exact[GRAPH_CHAINS];
                for (int m = 0; m < GRAPH_CHAINS; m++)
                    exact[m] = ln_g;
                snprintf(name, sizeof name, "ln g at E = %g", sign * energy);
                if (sign < 0 || energy < 0)
                    graph_compare_point(v, text, &run, CURVE_LN_G,
                                        (size_t)(sign * energy + 2 * side * side) / 4, name, exact);
            }
    fclose(file);
    graph_run_free(&run);
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *graph_judge(const struct graph_verdict *v) {
    static char reason[400];
    if (v->worst < GRAPH_Z_MAX)
        return NULL;
    snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
    return reason;
}

#endif
