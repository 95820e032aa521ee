/*
 * Results of jobs of real models without a device: series that a plain chain on the host fills; and
 * analyses of them.
 */
#ifndef ERGO_TESTS_UNIT_ANALYSE_RESULTS_H
#define ERGO_TESTS_UNIT_ANALYSE_RESULTS_H

#include "random_series.h"

#include <stdio.h>
#include <string.h>

#include "analyse/analyse.h"
#include "context.h"
#include "job/schedule.h"
#include "samplers/spin_lattice/exact.h"

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

/* ---- results --------------------------------------------------------------------------------- */

typedef void (*fill_function)(const struct ergo_point *point, size_t n, size_t n_columns,
                              double *rows);

static inline struct ergo_result *make_result(const char *text, fill_function fill) {
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "job.json", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_result_create(ctx, job, &result), ERGO_OK);
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_schedule s = ergo_schedule_of(&job->points[m]);
        double *rows = numbers(s.n_samples * job->model->n_columns);
        memset(rows, 0, s.n_samples * job->model->n_columns * sizeof *rows);
        fill(&job->points[m], s.n_samples, job->model->n_columns, rows);
        assert_true(ergo_member_add(&result->members[m], 0, s.n_samples, rows));
        result->members[m].steps = s.total;
        free(rows);
    }
    result->status = "complete";
    assert_int_equal(ergo_result_evaluate(ctx, result), ERGO_OK);
    ergo_result_drop_binned(result);
    return result;
}

/* Takes the results. */
static inline struct ergo_analysis *analyse(struct ergo_result **results, size_t n,
                                            const struct ergo_analyse_options *o,
                                            enum ergo_status expected) {
    struct ergo_analysis *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->n_runs = n;
    a->names = calloc(n, sizeof *a->names);
    a->results = calloc(n, sizeof *a->results);
    assert_true(a->names && a->results);
    for (size_t r = 0; r < n; r++) {
        a->names[r] = malloc(24);
        assert_non_null(a->names[r]);
        snprintf(a->names[r], 24, "run%zu", r);
        a->results[r] = results[r];
    }
    const enum ergo_status status = ergo_analysis_make(ctx, a, o);
    if (status != expected)
        fprintf(stderr, "%s\n", ergo_error_message(ctx));
    assert_int_equal(status, expected);
    return a;
}

/* ---- small Ising lattices -------------------------------------------------------------------- */

/* Heat bath at random sites, a quarter of the lattice between samples. A side of 2 has two bonds
 * between the same neighbours. */
static inline void fill_ising(const struct ergo_point *point, size_t n, size_t n_columns,
                              double *rows) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double b = ergo_point_real(point, "/system/field");
    const int l = (int)ergo_point_value(point, "/system/size")->size[0], sites = l * l;
    double up[5];
    int spin[16];
    seed = point->stream;
    assert_true(sites <= 16);
    for (int k = 0; k < 5; k++)
        up[k] = 1 / (1 + exp(-2 * (2 * k - 4 + b) / t));
    for (int i = 0; i < 16; i++)
        spin[i] = 1;
    for (size_t s = 0; s < n; s++) {
        int e = 0, m = 0;
        for (int k = 0; k < (sites + 3) / 4; k++) {
            const int i = (int)(uniform() * sites), x = i % l, y = i / l;
            const int sum = spin[y * l + (x + 1) % l] + spin[y * l + (x + l - 1) % l] +
                            spin[(y + 1) % l * l + x] + spin[(y + l - 1) % l * l + x];
            spin[i] = uniform() < up[(sum + 4) / 2] ? 1 : -1;
        }
        for (int i = 0; i < sites; i++) {
            e -= spin[i] * (spin[i / l * l + (i % l + 1) % l] + spin[(i / l + 1) % l * l + i % l]);
            m += spin[i];
        }
        rows[s * n_columns] = (e - b * m) / sites;
        rows[s * n_columns + 1] = (double)m / sites;
    }
}

#define ISING(more, sweeps, scan)                                                                  \
    "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"system\":{\"model\":\"ising\",\"size\":[4,4]" \
    ","                                                                                            \
    "\"temperature\":2.5" more "},\"run\":{\"equilibration\":200,\"sweeps\":" sweeps               \
    ",\"measure_every\":1,\"correlation_every\":0},\"scan\":{" scan                                \
    "},\"output\":{\"series\":\"full\"}}"

#endif
