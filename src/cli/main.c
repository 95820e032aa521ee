/* ergocl: Monte Carlo on any OpenCL device. Finds the subcommand; only this file sets exit codes.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

const struct cli_command *const cli_commands[] = {&cli_command_new,
                                                  &cli_command_examples,
                                                  &cli_command_run,
                                                  &cli_command_resume,
                                                  &cli_command_merge,
                                                  &cli_command_validate,
                                                  &cli_command_report,
                                                  &cli_command_table,
                                                  &cli_command_analyse,
                                                  &cli_command_compare,
                                                  &cli_command_tune,
                                                  &cli_command_bench,
                                                  &cli_command_devices,
                                                  &cli_command_help,
                                                  &cli_command_schema,
                                                  &cli_command_kernels,
                                                  NULL};

enum { EXIT_USAGE = 2, EXIT_FILE = 4, EXIT_HOST = 3 };

/* With a closed standard file, the next file opened would take its place and a table would be
 * printed into it. Read-only, so that writing to a closed stdout still fails. */
static void occupy_standard_files(void) {
    int fd = 0;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Output counts only when it is written: `ergocl schema > /dev/full` must not report success. */
static int close_stdout(int code) {
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0)
        failed = true;
    if (!failed)
        return code;
    /* The reader of a pipe has read what it wanted (`| head`): nothing has failed. (Not by errno,
     * which may be of something later.) */
    struct pollfd pipe = {.fd = STDOUT_FILENO};
    if (poll(&pipe, 1, 0) > 0 && pipe.revents & POLLERR)
        return code;
    cli_error("standard output could not be written: %s", strerror(errno));
    return code == 0 ? EXIT_FILE : code;
}

/* Ranks of other hosts than the first one's, and processes that a launcher started and that start
 * no ranks, are mostly ended before the pause is over: there it was said, too. */
static bool speaks(void) {
    enum { ROUNDS = 50 };
    const struct timespec pause = {.tv_nsec = 20000000};
    bool elsewhere = false;
    if (!ergo_ranks_speak(&elsewhere))
        return false;
    for (int i = 0; elsewhere && i < ROUNDS && !cli_stop_signal_came(); i++)
        nanosleep(&pause, NULL);
    return !elsewhere || !cli_stop_signal_came();
}

static int run_command(const struct cli_command *command, int argc, char **argv) {
    struct cli_arguments arguments = {0};
    int code = EXIT_USAGE;
    struct ergo_context *ctx = NULL;

    arguments.sets = calloc((size_t)argc + 1, sizeof *arguments.sets);
    arguments.operands = calloc((size_t)argc + 1, sizeof *arguments.operands);
    ctx = ergo_context_create();
    arguments.reweight = calloc((size_t)argc + 1, sizeof *arguments.reweight);
    arguments.observables = calloc((size_t)argc + 1, sizeof *arguments.observables);
    if (!arguments.sets || !arguments.operands || !arguments.reweight || !arguments.observables ||
        !ctx) {
        cli_error("out of memory");
        code = EXIT_HOST;
        goto out;
    }
    if (!cli_parse(command, argc, argv, &arguments))
        goto out;
    if (arguments.help) {
        cli_print_command_help(command);
        code = 0;
        goto out;
    }
    enum ergo_log_level level = ERGO_LOG_WARNING;
    if (arguments.quiet)
        level = ERGO_LOG_ERROR;
    else if (arguments.verbose)
        level = arguments.verbose > 1 ? ERGO_LOG_DEBUG : ERGO_LOG_INFO;
    ergo_context_set_log(ctx, level, cli_log, NULL);

    enum ergo_status status = command->run(ctx, &arguments);
    cli_progress_end();
    /* what was made without an allocation that failed is no answer; a stop and an audit say more */
    if (status != ERGO_STOPPED && status != ERGO_E_AUDIT && status != ERGO_E_INTERNAL)
        status = ergo_memory_told(ctx, status);
    if (status != ERGO_OK && *ergo_error_message(ctx) && speaks())
        cli_error("%s", ergo_error_message(ctx));
    code = ergo_ranks_finish(ergo_status_exit_code(status));
out:
    ergo_context_destroy(ctx);
    free(arguments.operands);
    free(arguments.reweight);
    free(arguments.observables);
    free(arguments.sets);
    return code;
}

static void print_version(void) {
    char mpi[128];
    ergo_ranks_library(mpi, sizeof mpi);
    printf("ergocl %s\nMPI: %s\n", ERGO_VERSION, mpi);
}

static int unknown_command(const char *word) {
    const char *names[2 + sizeof cli_commands / sizeof *cli_commands] = {"--version", "--help"};
    size_t count = 2;
    for (size_t i = 0; cli_commands[i]; i++)
        names[count++] = cli_commands[i]->name;
    const char *nearest = cli_nearest(word, names, count);
    const char *kind = word[0] == '-' ? "option" : "command";
    if (nearest)
        cli_error("unknown %s \"%s\"; did you mean \"%s\"?", kind, word, nearest);
    else
        cli_error("unknown %s \"%s\"; \"ergocl --help\" lists the commands", kind, word);
    return EXIT_USAGE;
}

/* Leaves without exit handlers; everything is closed and flushed. Drivers' handlers take apart what
 * their threads still use: with Mesa 22.3.6 (rusticl) 6 of 60 processes that planned a job and
 * ended died of it, and none without the handlers (2026-11-21). Under sanitizers handlers run,
 * because they report leaks. */
static _Noreturn void leave(int code) {
#ifdef __SANITIZE_ADDRESS__
    exit(code);
#else
    _exit(code);
#endif
}

int main(int argc, char **argv) {
    occupy_standard_files();
    /* here, not in the library: hooks are the program's, and another one may have its own */
    cJSON_InitHooks(&(cJSON_Hooks){ergo_malloc, free});
    /* A closed pipe and a file size limit become errors of the write: a run must not die of either
     * without its checkpoint. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    if (argc < 2) { /* as git does: help for who asks nothing, and a code for scripts */
        cli_print_usage();
        leave(close_stdout(EXIT_USAGE));
    }
    const char *word = argv[1];
    int code = 0;
    if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        print_version();
    else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        cli_print_usage();
    else {
        const struct cli_command *command = cli_find_command(word);
        code = command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
    }
    leave(close_stdout(code));
}
