/* Whole runs of helium's samplers, and what they found, as the library has it. */
#ifndef ERGO_TEST_HELIUM_PHYSICS_H
#define ERGO_TEST_HELIUM_PHYSICS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "result/result.h"
#include "samplers/sampler.h"

static struct ergo_context *ctx;

/* In a folder of its own, because implementations are tested side by side. */
static inline enum ergo_status helium_run(const char *json, struct ergo_result **result) {
    char folder[] = "/tmp/ergo-helium-XXXXXX", command[64];
    struct ergo_job *job = NULL;
    assert_non_null(mkdtemp(folder));
    static const char *const unaudited[] = {"/audit/device=none"};
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    enum ergo_status status =
        ergo_job_parse(ctx, json, strlen(json), "physics", unaudited, 1, &job);
    if (status == ERGO_OK)
        status = ergo_run(ctx, job, &options, result);
    ergo_job_destroy(job);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return status;
}

/* A folder for tables that is the current one, because their names are part of streams. */
static char helium_room[] = "/tmp/ergo-tables-XXXXXX";

static inline bool helium_enter(void) {
    return mkdtemp(helium_room) && chdir(helium_room) == 0;
}

/* 1: the folder is still there. */
static inline int helium_leave(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", helium_room);
    return system(command) != 0;
}

static inline struct ergo_result *helium_result(const char *json) {
    struct ergo_result *result = NULL;
    if (helium_run(json, &result) != ERGO_OK)
        fail_msg("%s: %s", json, ergo_error_message(ctx));
    return result;
}

/* Of a sampler, without pictures. common: keys of all systems of a test, or ""; rest: scan, run. */
static inline struct ergo_result *helium_system(const char *sampler, const char *seed,
                                                const char *common, const char *keys,
                                                const char *rest) {
    char json[1024];
    const int length = snprintf(json, sizeof json,
                                "{\"sampler\": \"%s\", \"seed\": \"%s\", \"system\": {%s%s}, %s, "
                                "\"output\": {\"snapshots\": 0}}",
                                sampler, seed, common, keys, rest);
    assert_true(length > 0 && (size_t)length < sizeof json);
    return helium_result(json);
}

static inline struct ergo_estimate estimate(const struct ergo_result *r, size_t member,
                                            const char *name) {
    const struct ergo_model *model = r->members[0].point->job->model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, name) == 0)
            return r->members[member].observables[o].estimate;
    fail_msg("no observable %s", name);
    return (struct ergo_estimate){0};
}

static inline const struct ergo_curve_result *curve_of(const struct ergo_result *r, size_t member,
                                                       const char *name) {
    const struct ergo_model *model = r->members[0].point->job->model;
    for (size_t c = 0; c < model->n_curves; c++)
        if (strcmp(model->curves[c].name, name) == 0)
            return &r->members[member].curves[c];
    fail_msg("no curve %s", name);
    return NULL;
}

/* Within four standard errors. */
static inline void helium_check(const char *name, double found, double error, double expected) {
    const double z = (found - expected) / error;
    print_message("  %-20s %10.5f +- %.5f  expected %10.5f  z %5.2f\n", name, found, error,
                  expected, z);
    if (!(fabs(z) < 4))
        fail_msg("%s: %.6g +- %.2g, expected %.6g: z = %.2f", name, found, error, expected, z);
}

static inline void helium_agrees(const struct ergo_result *r, size_t member, const char *name,
                                 double expected) {
    const struct ergo_estimate e = estimate(r, member, name);
    helium_check(name, e.mean, e.error, expected);
}

/* Without the error of the time step, which falls with its square: members 0 and 1 have tau and
 * tau/2. error: of what is expected. */
static inline void helium_extrapolated(const struct ergo_result *r, const char *name,
                                       double expected, double error) {
    const struct ergo_estimate a = estimate(r, 0, name), b = estimate(r, 1, name);
    const double own = sqrt(16 * b.error * b.error + a.error * a.error) / 3;
    print_message("  %-20s %10.5f +- %.5f, %10.5f +- %.5f\n", name, a.mean, a.error, b.mean,
                  b.error);
    helium_check(name, (4 * b.mean - a.mean) / 3, hypot(own, error), expected);
}

/* All replicas scatter as their errors say: chi^2, which has one degree of freedom less than there
 * are replicas, is within four times `deviation` of that. */
static inline void errors_cover_scatter(const struct ergo_result *r, const char *const *names,
                                        size_t count, double deviation) {
    const double n = (double)r->n_members;
    for (size_t k = 0; k < count; k++) {
        double sum = 0, squares = 0, quoted = 0;
        for (size_t m = 0; m < r->n_members; m++) {
            const struct ergo_estimate e = estimate(r, m, names[k]);
            sum += e.mean;
            squares += e.mean * e.mean;
            quoted += e.error * e.error / n;
        }
        const double chi2 = (squares - sum * sum / n) / quoted;
        print_message("  %-20s chi^2 of the scatter %.1f of %.0f\n", names[k], chi2, n - 1);
        assert_true(chi2 > n - 1 - 4 * deviation && chi2 < n - 1 + 4 * deviation);
    }
}

#endif
