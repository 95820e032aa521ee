/* ergocl help [TOPIC...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

char *cli_join(const struct cli_arguments *arguments) {
    size_t length = 1;
    for (size_t i = 0; i < arguments->n_operands; i++)
        length += strlen(arguments->operands[i]) + 1;
    char *topic = calloc(length, 1);
    for (size_t i = 0; topic && i < arguments->n_operands; i++) {
        strcat(topic, i ? " " : "");
        strcat(topic, arguments->operands[i]);
    }
    return topic;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    const struct cli_command *command =
        arguments->n_operands == 1 ? cli_find_command(arguments->operand) : NULL;
    /* "devices" is a topic of the library too: its text is about selecting them, so show both. */
    if (command) {
        cli_print_command_help(command);
        if (command != &cli_command_devices)
            return ERGO_OK;
        printf("\n");
    }
    char *text = NULL, *topic = cli_join(arguments);
    if (!topic)
        return ERGO_E_MEMORY;
    enum ergo_status status = ERGO_OK;
    if (arguments->search)
        status = ergo_help_search(ctx, arguments->search, &text);
    else
        status = ergo_help_text(ctx, arguments->operand ? topic : NULL, &text);
    if (status == ERGO_OK && !arguments->search && !arguments->operand) {
        cli_print_usage();
        printf("\n");
    }
    free(topic);
    return cli_print(status, text);
}

const struct cli_command cli_command_help = {
    .name = "help",
    .operand = "[TOPIC...]",
    .operands_many = true,
    .summary = "explain a sampler, a model, a key or an observable, a command, or a topic",
    .details =
        "Topics: a sampler's name (SAMPLER MODEL: one of its models), a model, a key, an\n"
        "observable, a command, job, devices, result, errors, configurations, extend,\n"
        "exit-codes, environment, words (units, steps, what other programs call otherwise).\n"
        "--search finds words in all names and texts: ergocl help --search 'heat capacity'.",
    .options = CLI_BIT(CLI_SEARCH),
    .run = run,
};
