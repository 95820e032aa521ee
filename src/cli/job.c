/* What the commands that handle jobs and run folders share. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/cli.h"

static atomic_bool reading; /* a job, maybe from a terminal: there is nothing to stop */

enum ergo_status cli_load_job(struct ergo_context *ctx, const struct cli_arguments *arguments,
                              struct ergo_job **job) {
    const bool standard = strcmp(arguments->operand, "-") == 0; /* which rank 0 alone has */
    enum ergo_status status = ERGO_OK;
    *job = NULL;
    reading = true;
    if (!standard || ergo_ranks_rank() == 0)
        status = ergo_job_load(ctx, arguments->operand, arguments->sets, arguments->n_sets, job);
    reading = false;
    return standard && status == ERGO_OK ? ergo_ranks_share_job(ctx, job) : status;
}

/*
 * Ends the process without waiting for anything: a driver may compile for minutes and sees no
 * request. Files are written whole, so the last checkpoint is valid; without one, the signal ends
 * the program.
 */
static void end_at_once(int number) {
    static const char message[] = "ergocl: ended at once by a second signal; the last checkpoint "
                                  "is valid, ergocl resume continues from it\n";
    if (ergo_run_has_checkpoint()) {
        /* not through stdio, which the blocked thread may have locked */
        const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
        (void)written;
        _exit(ergo_status_exit_code(ERGO_STOPPED));
    }
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

/*
 * A thread that waits for signals, which all other threads block. Handlers would not do: OpenCL
 * implementations built on LLVM install their own while they compile (PoCL 3.1 takes SIGUSR1 away
 * and prints a stack, seen on Debian 12, 2026-11). The first signal asks for a stop, a second
 * SIGINT or SIGTERM ends. The second counts only after half a second: timeout(1) and batch systems
 * signal the process and its group, so that one request comes twice.
 */
static atomic_bool signal_came;

bool cli_stop_signal_came(void) {
    return signal_came;
}

static void *wait_for_signals(void *set_of_signals) {
    const sigset_t *set = set_of_signals;
    double first = 0;
    int number = 0;
    while (sigwait(set, &number) == 0) {
        const bool ends = number == SIGINT || number == SIGTERM;
        const double now = cli_clock();
        if (ends && (reading || (first > 0 && now - first > 0.5)))
            end_at_once(number);
        if (ends && first <= 0)
            first = now;
        signal_came = true;
        ergo_run_request_stop();
    }
    return NULL;
}

bool cli_seconds_of(const struct cli_arguments *arguments, double *seconds) {
    char *end = NULL;
    if (!arguments->seconds)
        return true;
    const double value = strtod(arguments->seconds, &end);
    if (*end || end == arguments->seconds || !(value > 0 && value <= 1e6)) {
        cli_error("--seconds: found \"%s\"; allowed: a number above 0, at most 1e6",
                  arguments->seconds);
        return false;
    }
    *seconds = value;
    return true;
}

bool cli_redistribute_of(const struct cli_arguments *arguments, bool *redistribute) {
    const char *what = arguments->on_failure;
    *redistribute = what && !strcmp(what, "redistribute");
    if (!what || *redistribute || !strcmp(what, "stop"))
        return true;
    cli_error("--on-failure: found \"%s\"; allowed: \"stop\", \"redistribute\"", what);
    return false;
}

void cli_catch_stop_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP};
    static sigset_t set; /* outlives this call, for the thread */
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        /* nohup and background jobs of a shell ignore a signal on purpose: leave that. */
        if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    /* Threads inherit the mask: this comes before the library makes any. */
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, &set) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* without the thread a signal at least ends
                                                   * the program */
}

static void print_files(const char *directory) {
    static const char *const names[] = {"result.json",
                                        "series.h5",
                                        "report.html",
                                        "configurations.png",
                                        "configurations.h5",
                                        "snapshots",
                                        "trajectory",
                                        "states",
                                        "blocks"};
    const size_t before = strlen(directory);
    const char *slash = before && directory[before - 1] == '/' ? "" : "/";
    printf("\nfiles:\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s%s%s", directory, slash, names[i]);
        if (length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0) {
            printf("  ");
            cli_put(path);
            printf("\n");
        }
    }
}

/* A page that fails costs no run: `ergocl report` makes it again. It is said whatever is asked, for
 * nothing else shows that a file is missing. */
static void write_page(struct ergo_context *ctx, const struct ergo_result *result,
                       const char *directory) {
    if (ergo_result_write_page(ctx, result, directory) == ERGO_OK)
        return;
    char said[2048];
    snprintf(said, sizeof said, "%s; the results are complete without it", ergo_error_message(ctx));
    cli_log(NULL, ERGO_LOG_WARNING, said);
    ergo_error_clear(ctx);
    ergo_memory_set_failed(false); /* if that was the reason */
}

enum ergo_status cli_report(struct ergo_context *ctx, const char *directory,
                            const struct cli_arguments *arguments, enum ergo_status status,
                            const struct ergo_result *result) {
    const bool shown = result && !arguments->quiet;
    cli_progress_end();
    if (shown) {
        char *table = NULL;
        const enum ergo_status made = ergo_result_table(ctx, result, &table);
        if (made == ERGO_OK)
            fputs(table, stdout);
        else if (status == ERGO_OK)
            status = made;
        free(table);
        fflush(stdout); /* the table stands above what follows when both go to one place */
    }
    if (result)
        write_page(ctx, result, directory);
    if (shown) {
        print_files(directory);
        fflush(stdout);
    }
    if (status == ERGO_STOPPED)
        cli_note("stopped with a checkpoint; to continue: ergocl resume %s", directory);
    return status;
}
