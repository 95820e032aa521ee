/* What the commands that handle jobs and run folders share. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* All of standard input; NULL after a message. */
static char *read_stdin(size_t *length) {
    size_t capacity = 0;
    char *data = NULL;
    *length = 0;
    for (;;) {
        if (capacity - *length < 4096) {
            capacity = capacity ? 2 * capacity : 16384;
            char *grown = realloc(data, capacity);
            if (!grown) {
                cli_error("out of memory while reading the job from standard input");
                break;
            }
            data = grown;
        }
        size_t got = fread(data + *length, 1, capacity - *length, stdin);
        *length += got;
        if (got == 0 && ferror(stdin)) {
            cli_error("the job could not be read from standard input: %s", strerror(errno));
            break;
        }
        if (got == 0)
            return data;
    }
    free(data);
    return NULL;
}

enum ergo_status cli_load_job(struct ergo_context *ctx, const struct cli_arguments *arguments,
                              struct ergo_job **job) {
    if (strcmp(arguments->operand, "-") != 0)
        return ergo_job_load(ctx, arguments->operand, arguments->sets, arguments->n_sets, job);
    size_t length = 0;
    char *text = read_stdin(&length);
    if (!text)
        return ERGO_E_IO;
    enum ergo_status status =
        ergo_job_parse(ctx, text, length, "stdin", arguments->sets, arguments->n_sets, job);
    free(text);
    return status;
}

static void on_stop(int signal_number) {
    (void)signal_number;
    ergo_run_request_stop();
}

void cli_catch_stop_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old, action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        /* The first Ctrl-C asks, the second one kills. */
        if (signals[i] == SIGINT)
            action.sa_flags |= (int)SA_RESETHAND;
        /* nohup and background jobs of a shell ignore a signal on purpose: leave that. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigaction(signals[i], &action, NULL);
    }
}

static void print_files(const char *directory) {
    static const char *const names[] = {"result.json", "series.h5", "report.html",
                                        "configurations.png", "snapshots"};
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    printf("\nfiles:\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s%s%s", directory, slash, names[i]);
        if (length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0)
            printf("  %s\n", path);
    }
}

enum ergo_status cli_report(struct ergo_context *ctx, const char *directory,
                            const struct cli_arguments *arguments, enum ergo_status status,
                            const struct ergo_result *result) {
    cli_progress_end();
    if (result && !arguments->quiet) {
        char *table = NULL;
        enum ergo_status shown = ergo_result_table(ctx, result, &table);
        if (shown == ERGO_OK) {
            fputs(table, stdout);
            print_files(directory);
        } else if (status == ERGO_OK)
            status = shown;
        free(table);
        fflush(stdout); /* the table stands above the advice below when both go to one place */
    }
    if (status == ERGO_STOPPED)
        cli_note("stopped with a checkpoint; to go on: ergocl resume %s", directory);
    return status;
}
