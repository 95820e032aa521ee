/* Runs of lj-gcmc and lj-fluid compared with exact and published values: what the physics test and
 * the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_LJ_PHYSICS_H
#define ERGO_TESTS_PHYSICS_LJ_PHYSICS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "samplers/lj_gcmc/lj.h"
#include "stats/stats.h"

/* |z| below this in at most 60 comparisons: a right program fails with one choice of seeds in
 * 10^4. Set before the first run. */
#define LJ_Z_MAX 4.9

struct lj_run {
    struct ergo_context *ctx;
    struct ergo_device *device;
    size_t comparisons;
    double worst;
    char where[200];
};

/* Samples of all members of a job (' for "), after equilibration: [sample][member][LJ_COLUMNS]. */
struct lj_series {
    struct ergo_job *job;
    const struct ergo_batch *batch;
    size_t samples;
    double *columns;
};

/* The sampler without the run around it, whose audit would notice some mutants. */
static inline void lj_run_job(struct lj_run *r, const char *text, struct lj_series *s) {
    enum { BLOCK = 100 };
    char *json = strdup(text);
    void *state = NULL;
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(r->ctx, json, strlen(json), "physics", NULL, 0, &s->job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(r->ctx));
    free(json);
    const struct ergo_sampler_ops *ops = s->job->model->ops;
    s->batch = &s->job->batches[0];
    const struct ergo_point *first = s->batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const size_t members = s->batch->count;
    s->samples = (size_t)ergo_point_int(first, "/run/sweeps") / every / BLOCK * BLOCK;
    s->columns = calloc(s->samples * members * LJ_COLUMNS, sizeof(double));
    assert_true(s->columns && s->job->n_batches == 1 && lj_curve_every(first) == 0);
    enum ergo_status status = ergo_sampler_create(r->ctx, ops, s->batch, r->device, &state);
    if (status == ERGO_OK)
        status = ops->init(r->ctx, state);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(r->ctx, ops, state, 0, 0,
                                      (uint64_t)ergo_point_int(first, "/run/equilibration"), 0);
    for (size_t i = 0; i < s->samples && status == ERGO_OK; i += BLOCK) {
        struct ergo_samples block = {.columns = s->columns + i * members * LJ_COLUMNS};
        status = ergo_sampler_advance(r->ctx, ops, state, 0, BLOCK, every, i);
        if (status == ERGO_OK)
            status = ergo_sampler_collect(r->ctx, ops, state, 0, &block);
    }
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(r->ctx));
    ergo_engine_destroy(state);
}

static inline void lj_series_free(struct lj_series *s) {
    free(s->columns);
    ergo_job_destroy(s->job);
}

static inline double lj_note(struct lj_run *r, const char *what, const char *name, double mean,
                             double error, double expected, double uncertainty) {
    const double z = (mean - expected) / sqrt(error * error + uncertainty * uncertainty);
    print_message("  %-28s %-22s %.6g(%.2g), expected %.6g(%.2g): z = %+.2f\n", what, name, mean,
                  error, expected, uncertainty, z);
    r->comparisons++;
    if (!(fabs(z) <= r->worst)) {
        r->worst = isnan(z) ? INFINITY : fabs(z);
        snprintf(r->where, sizeof r->where, "%.80s of %.80s", name, what);
    }
    return z;
}

typedef double (*lj_function)(const struct ergo_point *point, const double *columns);

/* The ratio <f>/<g> over the replicas of scan point `scan`, errors from the series; its z. */
static inline double lj_expect(struct lj_run *r, const struct lj_series *s, size_t scan,
                               const char *what, const char *name, lj_function f, lj_function g,
                               double expected, double uncertainty) {
    double mean = 0, variance = 0, *series = malloc(2 * s->samples * sizeof(double));
    size_t replicas = 0;
    assert_non_null(series);
    for (size_t m = 0; m < s->batch->count; m++) {
        const struct ergo_point *point = s->batch->points[m];
        double top = 0, bottom = 0;
        struct ergo_estimate e;
        if (point->scan_index != scan)
            continue;
        for (size_t i = 0; i < s->samples; i++) {
            const double *c = s->columns + (i * s->batch->count + m) * LJ_COLUMNS;
            series[i] = f(point, c);
            series[s->samples + i] = g ? g(point, c) : 1;
            top += series[i];
            bottom += series[s->samples + i];
        }
        const double ratio = top / bottom;
        for (size_t i = 0; i < s->samples; i++) /* linearised */
            series[i] =
                ratio + (series[i] - ratio * series[s->samples + i]) * (double)s->samples / bottom;
        ergo_stats_estimate(series, s->samples, &e);
        mean += ratio;
        variance += e.error * e.error;
        replicas++;
    }
    free(series);
    const double n = (double)replicas;
    return lj_note(r, what, name, mean / n, sqrt(variance) / n, expected, uncertainty);
}

static inline double lj_particles(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES];
}

static inline double lj_particles_squared(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] * c[LJ_COLUMN_PARTICLES];
}

static inline double lj_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_ENERGY];
}

static inline double lj_virial_pressure(const struct ergo_point *point, const double *c) {
    const struct lj_system s = lj_system_of(point);
    return (c[LJ_COLUMN_PARTICLES] * s.temperature + c[LJ_COLUMN_VIRIAL] / 3) / s.volume;
}

/* The observable `pressure`, as results have it. */
static inline double lj_pressure(const struct ergo_point *point, const double *c) {
    const struct ergo_model *model = point->job->model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, "pressure") == 0)
            return ergo_observable_sample(&model->observables[o], point, c);
    return NAN;
}

static inline double lj_is_0(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] == 0;
}

static inline double lj_is_1(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] == 1;
}

static inline double lj_is_2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] == 2;
}

/* P(1)/P(0) = zV and P(2)/P(1) = z (V - 2 B2)/2, exact at any z: a box of 125 at T* = 2, where
 * B2(r_c = 2.5) = -1.046413958. What is between the braces of the job is given. */
static inline void lj_expect_small_n(struct lj_run *r, const char *more, const char *what) {
    struct lj_series s = {0};
    char job[600];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '31', 'replicas': 4, 'system': {'box': [5, 5, 5], "
             "'temperature': 2, 'activity': 0.01%s}, 'run': {'equilibration': 1000, 'sweeps': "
             "400000, 'measure_every': 5, 'curve_every': 0}}",
             more);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P(1)/P(0)", lj_is_1, lj_is_0, 1.25, 0);
    lj_expect(r, &s, 0, what, "P(2)/P(1)", lj_is_2, lj_is_1, 0.01 * (125 + 2 * 1.046413958) / 2, 0);
    lj_series_free(&s);
}

/* The ideal gas: Poisson. */
static inline void lj_expect_ideal(struct lj_run *r, const char *more, const char *what) {
    struct lj_series s = {0};
    char job[600];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '32', 'replicas': 4, 'system': {'box': [5, 6, 7], "
             "'cutoff': 2, 'temperature': 1.7, 'epsilon': 0, 'activity': 0.1%s}, 'run': "
             "{'equilibration': 2000, 'sweeps': 400000, 'measure_every': 10, 'curve_every': 0}}",
             more);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<N>", lj_particles, NULL, 21, 0);
    lj_expect(r, &s, 0, what, "<N^2>", lj_particles_squared, NULL, 21 * 21 + 21, 0);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, 0.17, 0);
    lj_series_free(&s);
}

/* The Monte Carlo point at T* = 2, z = 0.2 (data/reference/lj.md); `sweeps` of each chain. */
static inline void lj_expect_dense(struct lj_run *r, const char *more, const char *what,
                                   unsigned sweeps) {
    struct lj_series s = {0};
    char job[600];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '33', 'replicas': 6, 'system': {'box': [8, 8, 8], "
             "'temperature': 2, 'activity': 0.2, 'particles': 140%s}, 'run': {'equilibration': "
             "20000, 'sweeps': %u, 'measure_every': 200, 'curve_every': 0}}",
             more, sweeps);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<N>", lj_particles, NULL, 141.6706, 0.1104);
    lj_expect(r, &s, 0, what, "<U>/<N>", lj_energy, lj_particles, -1.63571, 0.00144);
    lj_expect(r, &s, 0, what, "P, virial", lj_virial_pressure, NULL, 0.53070, 0.00059);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, 0.48940, 0.00059);
    lj_series_free(&s);
}

/* B2 of the truncated potential, from u (or u - u(r_c)), by Simpson's rule. */
static inline double lj_second_virial(double cutoff, double temperature, bool shifted) {
    enum { N = 20000 };
    const double at_cutoff = 4 * (pow(cutoff, -12) - pow(cutoff, -6));
    double sum = 0;
    for (int i = 1; i <= N; i++) {
        const double r = cutoff * i / N, u = 4 * (pow(r, -12) - pow(r, -6));
        sum += (i == N  ? 1
                : i % 2 ? 4
                        : 2) *
               r * r * -expm1(-(u - (shifted ? at_cutoff : 0)) / temperature);
    }
    return 2 * 3.14159265358979323846 * sum * cutoff / N / 3;
}

/* Two particles, exact: Z = V (V - 2 B2)/2, P = T dlnZ/dV = T/V + T/(V - 2 B2). */
static inline void lj_expect_two(struct lj_run *r, double cutoff, double temperature, bool shifted,
                                 const char *what) {
    struct lj_series s = {0};
    char job[600];
    const double v = 5.0 * 5.2 * 5.1, b2 = lj_second_virial(cutoff, temperature, shifted);
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '41', 'replicas': 4, 'system': {'box': [5, 5.2, 5.1], "
             "'temperature': %g, 'cutoff': %g, 'shifted': %s, 'particles': 2, 'moves': "
             "{'displacement': 1, 'insertion': 0, 'deletion': 0}}, 'run': {'equilibration': 100, "
             "'sweeps': 400000, 'measure_every': 4, 'curve_every': 0}}",
             temperature, cutoff, shifted ? "true" : "false");
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, temperature / v + temperature / (v - 2 * b2),
              0);
    lj_series_free(&s);
}

#define LJ_BOARD ", 'decomposition': 'checkerboard'"

/* The checkerboard's ideal gas, and exact weights of small N, in a box of 512 at T* = 2. */
static inline void lj_expect_board(struct lj_run *r, const char *more, const char *what) {
    struct lj_series s = {0};
    char job[700];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '37', 'replicas': 4, 'system': {'box': [5, 6, 7], "
             "'cutoff': 1.2, 'temperature': 1.7, 'epsilon': 0, 'activity': 0.1" LJ_BOARD "%s}, "
             "'run': {'equilibration': 300, 'sweeps': 15000, 'measure_every': 1, 'curve_every': "
             "0}}",
             more);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<N>", lj_particles, NULL, 21, 0);
    lj_expect(r, &s, 0, what, "<N^2>", lj_particles_squared, NULL, 21 * 21 + 21, 0);
    lj_series_free(&s);
    snprintf(job, sizeof job,
             "{'sampler': 'lj-gcmc', 'seed': '38', 'replicas': 4, 'system': {'box': [8, 8, 8], "
             "'temperature': 2, 'activity': 0.0025, 'gap_cells': 4, 'cell_trials': 9" LJ_BOARD
             "%s}, 'run': {'equilibration': 300, 'sweeps': 30000, 'measure_every': 2, "
             "'curve_every': 0}}",
             more);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P(1)/P(0)", lj_is_1, lj_is_0, 1.28, 0);
    lj_expect(r, &s, 0, what, "P(2)/P(1)", lj_is_2, lj_is_1, 0.0025 * (512 + 2 * 1.046413958) / 2,
              0);
    lj_series_free(&s);
}

/* A checkerboard with a tail that is strong for its size: exact weights of small N. The tail's
 * exp(-a N^2) is in P(1)/P(0) once and in P(2)/P(1) three times. */
static inline void lj_expect_board_tail(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    const double v = 4.2 * 4.3 * 4.4, z = 0.6 / v, t = 0.5;
    const double a = -8 * 3.14159265358979323846 / 3 * 2 / 3 / v / t; /* r_c = sigma */
    char job[600];
    snprintf(
        job, sizeof job,
        "{'sampler': 'lj-gcmc', 'seed': '40', 'replicas': 4, 'system': {'box': [4.2, 4.3, "
        "4.4], 'cutoff': 1, 'temperature': 0.5, 'activity': %.17g, 'tail_correction': true, "
        "'cell_trials': 8, 'moves': {'displacement': 1, 'insertion': 4, 'deletion': 4}" LJ_BOARD
        "}, 'run': {'equilibration': 300, 'sweeps': 30000, 'measure_every': 1, "
        "'curve_every': 0}}",
        z);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P(1)/P(0)", lj_is_1, lj_is_0, z * v * exp(-a), 0);
    lj_expect(r, &s, 0, what, "P(2)/P(1)", lj_is_2, lj_is_1,
              z / 2 * (v - 2 * lj_second_virial(1, t, false)) * exp(-3 * a), 0);
    lj_series_free(&s);
}

static inline int lj_run_open(struct lj_run *r) {
    memset(r, 0, sizeof *r);
    r->ctx = ergo_context_create();
    if (!r->ctx || ergo_device_open(r->ctx, NULL, &r->device) != ERGO_OK) {
        print_message("%s\n", r->ctx ? ergo_error_message(r->ctx) : "no memory");
        return -1;
    }
    return 0;
}

static inline void lj_judge(const struct lj_run *r) {
    print_message("%zu comparisons, largest |z| %.2f (%s)\n", r->comparisons, r->worst, r->where);
    if (r->comparisons == 0 || r->comparisons > 60 || !(r->worst < LJ_Z_MAX))
        fail_msg("not the exact values: |z| = %.2f: %s", r->worst, r->where);
}

/* The mean of the pressure at constant pressure is the pressure that was given, exactly. system:
 * more keys of the job's; more: of its run. */
static inline void lj_expect_given_pressure(struct lj_run *r, const char *seed, const char *system,
                                            const char *more, const char *what) {
    struct lj_series s = {0};
    char job[900];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '%s', 'replicas': 4, 'system': {'ensemble': 'npt', "
             "'box': [4.2, 4, 4.1], 'temperature': 1.2, 'cutoff': 1.6, 'shifted': true, "
             "'pressure': 0.8, 'volume_every': 8, 'max_volume_change': 0.2, %s}, 'run': "
             "{'equilibration': 4000, 'sweeps': 60000, 'measure_every': 30%s}}",
             seed, system, more);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, 0.8, 0);
    lj_series_free(&s);
}

/* The end of a program of such tests: what its main returns. */
static inline int lj_run_close(struct lj_run *r, int failed) {
    ergo_device_close(r->device);
    ergo_context_destroy(r->ctx);
    return failed ? 1 : 0;
}

#endif
