/* The result of a whole run of a job. */
#ifndef ERGO_TESTS_PHYSICS_PHYSICS_RESULT_H
#define ERGO_TESTS_PHYSICS_PHYSICS_RESULT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result/result.h"

/* quoted: JSON with ' for ". */
static inline struct ergo_result *physics_result(struct ergo_context *ctx, const char *quoted) {
    char text[800], folder[] = "/tmp/ergo-physics-XXXXXX";
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    snprintf(text, sizeof text, "%s", quoted);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_non_null(mkdtemp(folder));
    static const char *const unaudited[] = {"/audit/device=none"};
    const struct ergo_run_options options = {.directory = folder, .overwrite = true};
    if (ergo_job_parse(ctx, text, strlen(text), "physics", unaudited, 1, &job) != ERGO_OK ||
        ergo_run(ctx, job, &options, &result) != ERGO_OK)
        fail_msg("%s: %s", text, ergo_error_message(ctx));
    ergo_job_destroy(job);
    snprintf(text, sizeof text, "rm -r %s", folder);
    assert_int_equal(system(text), 0);
    return result;
}

#endif
