/*
 * libFuzzer's target for jobs: parser and checker with all samplers. Any bytes get an answer within
 * a second: a job with points, or a reason that names the place and has no character that a
 * terminal would obey. Built and run by `make fuzz` (clang, ASan, UBSan).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/job.h"

static void expect(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "fuzz_job: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    expect(ctx != NULL, "no memory for a context");
    const clock_t start = clock();
    const enum ergo_status status =
        ergo_job_parse(ctx, (const char *)data, size, "h", NULL, 0, &job);
    /* sanitizers cost a factor of three */
    expect(clock() - start < 3 * CLOCKS_PER_SEC, "the answer took more than a second");
    if (status == ERGO_OK) {
        expect(job && job->n_points > 0 && job->n_batches > 0, "a good job without points");
    } else {
        const char *message = ergo_error_message(ctx);
        /* or a file that it names is not there */
        expect((status == ERGO_E_JOB || status == ERGO_E_IO) && !job,
               "a broken job is not refused as one");
        expect(strncmp(message, "h:", 2) == 0, "the message does not say where");
        for (const char *p = message; *p; p++)
            expect(((unsigned char)*p >= 0x20 || *p == '\n') && *p != 0x7F,
                   "a control character in a message");
    }
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
    return 0;
}
