/*
 * Statistical comparison of Ising runs with exact values: what the test of the engine and the test
 * of its power (mutants) share. The verdict is one function, so that a mutant is caught by exactly
 * the criterion that the engine passes.
 */
#ifndef ERGO_TESTS_PHYSICS_ISING_PHYSICS_H
#define ERGO_TESTS_PHYSICS_ISING_PHYSICS_H

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
#include <unistd.h>

#include "job/job.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/exact.h"
#include "stats/stats.h"

/*
 * The error budget. Every |z| of at most N_MAX comparisons is below Z_MAX: two-sided normal tails
 * of 5e-4 together (5e-4 / 640 = 7.8e-7: 4.94), whatever their correlations. The chi^2 over one z
 * per independent chain lies in its 99.9% band, from both sides (errors too large are as wrong as
 * too small): 1e-3 for energy, 1e-3 for heat capacity. A right program so fails with fewer than one
 * choice of seeds in 400. With the seeds in the jobs it always passes or always fails.
 */
#define PHYSICS_Z_MAX 4.94
enum { PHYSICS_N_MAX = 640 };

struct physics_verdict {
    size_t n;         /* comparisons */
    double worst;     /* largest |z| */
    char where[160];  /* of which */
    size_t chains[2]; /* independent z of energy, heat capacity */
    double chi2[2];
    size_t dishonest; /* comparisons with series shorter than 100 tau */
    size_t samples;
};

/* The quantile of chi^2(n) at `normal` standard deviations (Wilson and Hilferty 1931); 0.3% at
 * n = 5 and better beyond. */
static inline double physics_chi2_quantile(double n, double normal) {
    const double a = 2 / (9 * n), q = 1 - a + normal * sqrt(a);
    return q > 0 ? n * q * q * q : 0;
}

static inline void physics_compare(struct physics_verdict *v, const char *where, const char *name,
                                   double mean, double error, double tau, size_t samples,
                                   double exact) {
    const double z = (mean - exact) / error;
    v->n++;
    if (!((double)samples >= 100 * fmax(tau, 0.5)))
        v->dishonest++;
    if (!(fabs(z) <= v->worst)) {
        v->worst = isnan(z) ? INFINITY : fabs(z);
        snprintf(v->where, sizeof v->where, "%s of %.100s: %.8g(%.2g), exact %.8g", name, where,
                 mean, error, exact);
    }
    const int kind = strcmp(name, "energy") == 0 ? 0 : strcmp(name, "heat_capacity") == 0 ? 1 : -1;
    if (kind >= 0) {
        v->chains[kind]++;
        v->chi2[kind] += z * z;
    }
}

/* NULL: agrees. Otherwise what does not. */
static inline const char *physics_judge(const struct physics_verdict *v) {
    static char reason[400];
    if (v->n == 0 || v->n > PHYSICS_N_MAX)
        return "the number of comparisons is not what the error budget was made for";
    if (!(v->worst < PHYSICS_Z_MAX)) {
        snprintf(reason, sizeof reason, "|z| = %.2f: %s", v->worst, v->where);
        return reason;
    }
    for (int kind = 0; kind < 2; kind++) {
        const double n = (double)v->chains[kind]; /* 0.05% on each side: 3.29 deviations */
        const double low = physics_chi2_quantile(n, -3.29), high = physics_chi2_quantile(n, 3.29);
        if (n > 0 && !(v->chi2[kind] > low && v->chi2[kind] < high)) {
            snprintf(reason, sizeof reason,
                     "chi^2 of %s is %.1f for %.0f chains, outside %.1f to %.1f",
                     kind ? "heat_capacity" : "energy", v->chi2[kind], n, low, high);
            return reason;
        }
    }
    if (v->dishonest) {
        snprintf(reason, sizeof reason, "%zu series are shorter than 100 tau", v->dishonest);
        return reason;
    }
    return NULL;
}

/* Exact values of a point; false: not known for this observable. By enumeration up to 24 sites,
 * else Kaufman. Moments of m need the enumeration; m itself only where its chain decorrelates. */
static inline bool physics_exact(const struct ergo_point *point, const char *name, double *exact) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    const double b = ergo_point_real(point, "/system/field");
    if (size->size[0] * size->size[1] > ERGO_ISING_ENUMERATE_MAX) {
        struct ergo_ising_exact e;
        if (!ergo_ising_exact_torus(size->size[0], size->size[1], t, j, &e) || b != 0)
            return false;
        *exact = strcmp(name, "energy") == 0 ? e.energy : e.heat_capacity;
        return strcmp(name, "energy") == 0 || strcmp(name, "heat_capacity") == 0;
    }
    static struct { /* one point after the other: 2^24 states are enumerated once */
        int64_t size[2];
        double t, j, b;
        struct ergo_ising_moments m;
    } last;
    if (last.size[0] != size->size[0] || last.size[1] != size->size[1] || last.t != t ||
        last.j != j || last.b != b) {
        last.size[0] = size->size[0], last.size[1] = size->size[1];
        last.t = t, last.j = j, last.b = b;
        if (!ergo_ising_enumerate((int)size->size[0], (int)size->size[1], t, j, b, &last.m))
            return false;
    }
    const struct {
        const char *name;
        double value;
    } known[] = {{"energy", last.m.energy},
                 {"heat_capacity", last.m.heat_capacity},
                 {"abs_magnetization", last.m.abs_magnetization},
                 {"magnetization2", last.m.magnetization2},
                 {"magnetization4", last.m.magnetization4},
                 {"binder", last.m.binder},
                 {b != 0 ? "magnetization" : "", last.m.magnetization}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) {
            *exact = known[i].value;
            return true;
        }
    return false;
}

static inline void physics_remove_folder(const char *folder) {
    static const char *const files[] = {"result.json", "checkpoint",         "series.h5",
                                        "report.html", "configurations.png", "lock"};
    char path[200];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Run a job (what follows the sampler, with ' for ") through the public API; its result.json, with
 * one entry of "points" for each of the job's. */
static inline cJSON *physics_run(struct ergo_context *ctx, const char *name, const char *more,
                                 struct ergo_job **job) {
    char folder[] = "/tmp/ergo-physics-XXXXXX", text[1200] = "{'sampler': 'spin-lattice', ";
    struct ergo_result *result = NULL;
    char *json = NULL;
    strncat(text, more, sizeof text - strlen(text) - 40);
    strcat(text, ", 'output': {'snapshots': 0}}");
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_non_null(mkdtemp(folder));
    static const char *const unaudited[] = {"/audit/device=none"};
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    if (ergo_job_parse(ctx, text, strlen(text), name, unaudited, 1, job) != ERGO_OK ||
        ergo_run(ctx, *job, &options, &result) != ERGO_OK ||
        ergo_result_json(ctx, result, &json) != ERGO_OK)
        fail_msg("%s: %s", name, ergo_error_message(ctx));
    cJSON *tree = cJSON_Parse(json);
    assert_string_equal(cJSON_GetObjectItem(tree, "status")->valuestring, "complete");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(tree, "points")), (*job)->n_points);
    free(json);
    ergo_result_destroy(result);
    physics_remove_folder(folder);
    return tree;
}

#endif
