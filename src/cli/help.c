/* ergocl help [TOPIC] */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    const struct cli_command *command =
        arguments->operand ? cli_find_command(arguments->operand) : NULL;
    /* "devices" is a topic of the library too: its text is about selecting them, so show both. */
    if (command) {
        cli_print_command_help(command);
        if (command != &cli_command_devices)
            return ERGO_OK;
        printf("\n");
    }
    char *text = NULL;
    enum ergo_status status = ergo_help_text(ctx, arguments->operand, &text);
    if (status == ERGO_OK) {
        if (!arguments->operand) {
            cli_print_usage();
            printf("\n");
        }
        fputs(text, stdout);
    }
    free(text);
    return status;
}

const struct cli_command cli_command_help = {
    .name = "help",
    .operand = "[TOPIC]",
    .summary = "explain a sampler and its keys, a command, or a topic",
    .details =
        "Topics: a sampler's name, a command, job, devices, result, exit-codes, environment.",
    .run = run,
};
