/* What the targets share: a file that holds the fuzzer's bytes, and what may be said of it. */
#ifndef ERGO_TESTS_FUZZ_H
#define ERGO_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "job/job.h"

static inline void expect(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* The name of a file with these bytes; the same file each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size) {
    static char name[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        expect(fd >= 0, "no file in memory");
        snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), fd);
    }
    expect(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
           "the file in memory cannot be written");
    return name;
}

/* A message is one that a terminal may show. */
static inline void expect_message(const char *message) {
    expect(*message != '\0', "refused without a message");
    for (const char *p = message; *p; p++)
        expect(((unsigned char)*p >= 0x20 || *p == '\n') && *p != 0x7F,
               "a control character in a message");
}

/* A job that names the file ("@" in its text): taken, or refused with a message within a second. */
static inline bool fuzz_job(const char *text, const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_text job = {0};
    struct ergo_job *parsed = NULL;
    expect(ctx != NULL, "no memory for a context");
    const char *name = fuzz_file(data, size);
    for (; *text; text++)
        if (*text == '@')
            ergo_text_append(&job, "%s", name);
        else
            ergo_text_append(&job, "%c", *text == '\'' ? '"' : *text);
    const clock_t start = clock();
    const enum ergo_status status =
        ergo_job_parse(ctx, job.data, job.length, "h", NULL, 0, &parsed);
    expect(clock() - start < 3 * CLOCKS_PER_SEC, "the answer took more than a second");
    expect(status == ERGO_OK || status == ERGO_E_JOB || status == ERGO_E_IO, "an odd status");
    expect((status == ERGO_OK) == (parsed != NULL), "a job without an answer, or the reverse");
    if (status != ERGO_OK)
        expect_message(ergo_error_message(ctx));
    ergo_job_destroy(parsed);
    ergo_text_free(&job);
    ergo_context_destroy(ctx);
    return status == ERGO_OK;
}

#endif
