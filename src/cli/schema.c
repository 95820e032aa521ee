/* ergocl schema */
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    (void)arguments;
    char *text = NULL;
    const enum ergo_status status = ergo_schema_text(ctx, &text);
    return cli_print(status, text);
}

const struct cli_command cli_command_schema = {
    .name = "schema",
    .summary = "print the JSON schema of jobs",
    .details = "Generated from the same tables that check a job; for editors and other programs.",
    .run = run,
};
