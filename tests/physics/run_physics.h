/* A whole run of a job, and its result.json, or what ergo_analyse says of it, as a tree. */
#ifndef ERGO_TEST_RUN_PHYSICS_H
#define ERGO_TEST_RUN_PHYSICS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ergocl/ergocl.h"

/* job: JSON with ' for "; name: for messages; analyse: NULL for the result itself. The caller frees
 * the tree. */
static inline cJSON *physics_analyse(struct ergo_context *context, const char *job,
                                     const char *name, const struct ergo_analyse_options *analyse) {
    char folder[] = "/tmp/ergo-physics-XXXXXX", text[2048], path[200];
    struct ergo_job *parsed = NULL;
    struct ergo_result *result = NULL;
    struct ergo_analysis *analysis = NULL;
    char *json = NULL;
    snprintf(text, sizeof text, "%s", job);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_non_null(mkdtemp(folder));
    const char *folders[] = {folder};
    static const char *const unaudited[] = {"/audit/device=none"};
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    if (ergo_job_parse(context, text, strlen(text), name, unaudited, 1, &parsed) != ERGO_OK ||
        ergo_run(context, parsed, &options, &result) != ERGO_OK ||
        (analyse ? ergo_analyse(context, folders, 1, analyse, &analysis) != ERGO_OK ||
                       ergo_analysis_json(context, analysis, &json) != ERGO_OK
                 : ergo_result_json(context, result, &json) != ERGO_OK))
        fail_msg("%s: %s", name, ergo_error_message(context));
    cJSON *tree = cJSON_Parse(json);
    assert_non_null(tree);
    free(json);
    ergo_analysis_destroy(analysis);
    ergo_result_destroy(result);
    ergo_job_destroy(parsed);
    static const char *const files[] = {"result.json", "checkpoint", "series.h5", "report.html",
                                        "lock"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return tree;
}

static inline cJSON *physics_run(struct ergo_context *context, const char *job, const char *name) {
    return physics_analyse(context, job, name, NULL);
}

/* One standard error of an observable in result.json; of one that another of the chain takes the
 * error from (a slow orientation), by binning: tests compare means beside it. */
static inline double physics_error(const cJSON *o) {
    const bool shared = cJSON_GetObjectItem(o, "because") != NULL;
    return cJSON_GetNumberValue(cJSON_GetObjectItem(o, shared ? "error_binning" : "error"));
}

/* Mean of the replicas of a scan point. */
static inline void physics_value(const cJSON *tree, size_t point, size_t replicas, const char *name,
                                 double *mean, double *error) {
    const cJSON *points = cJSON_GetObjectItem(tree, "points");
    double sum = 0, variance = 0;
    for (size_t r = 0; r < replicas; r++) {
        const cJSON *o = cJSON_GetObjectItem(
            cJSON_GetObjectItem(cJSON_GetArrayItem(points, (int)(point * replicas + r)),
                                "observables"),
            name);
        sum += cJSON_GetNumberValue(cJSON_GetObjectItem(o, "mean"));
        variance += pow(physics_error(o), 2);
    }
    *mean = sum / (double)replicas;
    *error = sqrt(variance) / (double)replicas;
}

#endif
