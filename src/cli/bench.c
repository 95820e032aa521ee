/* ergocl bench [CASE...]: the program ergocl-bench, which is built and installed beside this one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    static const char *const programs[] = {"bench/ergocl-bench", "../libexec/ergocl/ergocl-bench"},
                             *const recorded[] = {"../bench/results", "../share/ergocl/bench"};
    const size_t room = arguments->n_operands + 16;
    size_t n = 0;
    double seconds = 0;
    if (!cli_seconds_of(arguments, &seconds))
        return ERGO_E_JOB;
    char *program = ergo_path_beside(programs, 2, X_OK);
    if (!program)
        return ERGO_FAIL(
            ctx, ERGO_E_IO,
            "ergocl-bench is not beside this program: \"make bench-program\" builds it, "
            "\"make install\" installs it");
    const char **words = calloc(room, sizeof *words);
    if (!words) {
        free(program);
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
    char *results = ergo_path_beside(recorded, 2, R_OK);
    if (results) {
        words[n++] = "--results";
        words[n++] = results;
    }
    if (arguments->n_operands)
        words[n++] = "--case";
    for (size_t i = 0; i < arguments->n_operands; i++)
        words[n++] = arguments->operands[i];
    words[n] = NULL;
    fflush(stdout);
    if (!ergo_memory_failed())
        execv(program, (char *const *)words);
    const enum ergo_status status =
        ERGO_FAIL(ctx, ERGO_E_IO, "%s could not be started: %s", program, strerror(errno));
    free(words);
    free(results);
    free(program);
    return status;
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
