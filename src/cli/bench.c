/* ergocl bench [CASE...]: the program ergocl-bench, which is built and installed beside this one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATH_MAX_HERE = 4096 };

/* The folder of this program, without the last slash; false: unknown. */
static bool own_folder(char *path, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Finds the first of two places below `folder` that exists, into `path`. */
static bool find(const char *folder, const char *built, const char *installed, int mode, char *path,
                 size_t size) {
    const char *const places[] = {built, installed};
    for (size_t i = 0; i < 2; i++) {
        const int n = snprintf(path, size, "%s/%s", folder, places[i]);
        if (n > 0 && (size_t)n < size && access(path, mode) == 0)
            return true;
    }
    return false;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    static char folder[PATH_MAX_HERE], program[PATH_MAX_HERE + 64], results[PATH_MAX_HERE + 64];
    const size_t room = arguments->n_operands + 16;
    size_t n = 0;
    double seconds = 0;
    (void)ctx;
    if (!cli_seconds_of(arguments, &seconds))
        return ERGO_E_JOB;
    if (!own_folder(folder, sizeof folder) ||
        !find(folder, "bench/ergocl-bench", "../libexec/ergocl/ergocl-bench", X_OK, program,
              sizeof program)) {
        cli_error("ergocl-bench is not beside this program: \"make bench-program\" builds it, "
                  "\"make install\" installs it");
        return ERGO_E_IO;
    }
    const char **words = calloc(room, sizeof *words);
    if (!words) {
        cli_error("out of memory");
        return ERGO_E_MEMORY;
    }
    words[n++] = program;
    if (arguments->list)
        words[n++] = "--list";
    const struct {
        const char *option, *value;
    } texts[] = {{"--device", arguments->device},
                 {"--seconds", arguments->seconds},
                 {"--json", arguments->output},
                 {"--sampler", arguments->sampler}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].value) {
            words[n++] = texts[i].option;
            words[n++] = texts[i].value;
        }
    if (find(folder, "../bench/results", "../share/ergocl/bench", R_OK, results, sizeof results)) {
        words[n++] = "--results";
        words[n++] = results;
    }
    if (arguments->n_operands)
        words[n++] = "--case";
    for (size_t i = 0; i < arguments->n_operands; i++)
        words[n++] = arguments->operands[i];
    words[n] = NULL;
    fflush(stdout);
    execv(program, (char *const *)words);
    cli_error("%s could not be started: %s", program, strerror(errno));
    free(words);
    return ERGO_E_IO;
}

const struct cli_command cli_command_bench = {
    .name = "bench",
    .operand = "[CASE...]",
    .operands_many = true,
    .summary = "measure named cases, each checked first, beside recorded results",
    .details =
        "Without a CASE all of the device's class, for minutes; --list names them. Each is "
        "checked\n"
        "against an oracle or another launch before it gets a rate; exit code 5 when one fails.\n"
        "-o FILE gets the results as JSON, as those in bench/results, to which it may be added.",
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SAMPLER) |
               CLI_BIT(CLI_SECONDS) | CLI_BIT(CLI_LIST),
    .run = run,
};
