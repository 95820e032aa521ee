/*
 * What a user waits for: `ergocl run` of a case's job as a process of its own, by the wall clock,
 * with the start, the audits, estimates and files. Programs are in the cache, as the case's check
 * has built them.
 */
#include "bench.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

/* Runs a program and waits. Its output goes to `log`. */
static bool run(char *const argv[], const char *log) {
    posix_spawn_file_actions_t files;
    pid_t child;
    int ended = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    const int code = posix_spawn(&child, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (code != 0)
        return false;
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

/* "rate": {"seconds": ...} of the run's result.json; NAN: there is none. */
static double sampling_seconds(struct ergo_context *ctx, const char *folder) {
    char path[96];
    char *text = NULL;
    size_t length = 0;
    double seconds = NAN;
    snprintf(path, sizeof path, "%s/result.json", folder);
    if (ergo_file_read(ctx, NULL, path, SIZE_MAX, &text, &length) != ERGO_OK)
        return NAN;
    cJSON *json = cJSON_ParseWithLength(text, length);
    const cJSON *item =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "rate"), "seconds");
    if (cJSON_IsNumber(item))
        seconds = item->valuedouble;
    cJSON_Delete(json);
    free(text);
    return seconds;
}

static void remove_folder(const char *folder) {
    char *const argv[] = {"/bin/rm", "-rf", "--", (char *)folder, NULL};
    run(argv, "/dev/null");
}

enum ergo_status ergo_bench_whole_run(struct ergo_bench *bench, const char *job, double work,
                                      uint64_t steps, struct ergo_bench_whole *whole) {
    static const char *const places[] = {"../ergocl", "../../bin/ergocl"}; /* built, installed */
    char folder[] = "/tmp/ergocl-bench-XXXXXX", file[64], out[64], log[64];
    char sweeps[48];
    *whole = (struct ergo_bench_whole){steps, NAN, NAN, NAN};
    char *program = ergo_path_beside(places, 2, X_OK);
    if (!program || !mkdtemp(folder)) {
        free(program);
        return ERGO_FAIL(bench->ctx, ERGO_E_IO, "no ergocl beside this program, or no /tmp");
    }
    snprintf(file, sizeof file, "%s/job.json", folder);
    snprintf(out, sizeof out, "%s/run", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(sweeps, sizeof sweeps, "/run/sweeps=%llu", (unsigned long long)steps);
    enum ergo_status status = ergo_file_write(bench->ctx, NULL, file, job, strlen(job));
    char *const argv[] = {program,
                          "run",
                          file,
                          "-o",
                          out,
                          "--set",
                          "/seed=1",
                          "--set",
                          sweeps,
                          bench->selector ? "--device" : NULL,
                          (char *)bench->selector,
                          NULL};
    const double begin = ergo_bench_wall();
    if (status == ERGO_OK && !run(argv, log)) {
        char *said = NULL;
        size_t length = 0;
        if (ergo_file_read(bench->ctx, NULL, log, SIZE_MAX, &said, &length) == ERGO_OK)
            status = ERGO_FAIL(bench->ctx, ERGO_E_INTERNAL, "ergocl run failed: %s", said);
        free(said);
    }
    if (status == ERGO_OK) {
        whole->seconds = ergo_bench_wall() - begin;
        whole->sampling = sampling_seconds(bench->ctx, out);
        whole->rate = work * (double)steps * 1e-9 / whole->seconds;
    }
    remove_folder(folder);
    free(program);
    return status;
}
