/* ergocl new [SAMPLER [MODEL]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    char *topic = cli_join(arguments), *text = NULL;
    if (!topic)
        return ERGO_E_MEMORY;
    enum ergo_status status = ergo_new_text(ctx, arguments->operand ? topic : NULL, &text);
    if (status == ERGO_OK && arguments->output) {
        status = ergo_file_may_write(ctx, arguments->output, arguments->overwrite);
        if (status == ERGO_OK)
            status = ergo_file_write(ctx, NULL, arguments->output, text, strlen(text));
        if (status == ERGO_OK && !arguments->quiet)
            cli_note("wrote %s; to run it: ergocl run %s", arguments->output, arguments->output);
    } else if (status == ERGO_OK) {
        fputs(text, stdout);
    }
    free(topic);
    free(text);
    return status;
}

const struct cli_command cli_command_new = {
    .name = "new",
    .operand = "[SAMPLER [MODEL]]",
    .operands_many = true,
    .summary = "print a small job to begin with, of any sampler and model",
    .details =
        "The job runs for seconds on any device. It goes to stdout, or to a file with -o:\n"
        "    ergocl new spin-lattice potts -o job.json && ergocl run job.json\n"
        "A model's name alone will do. Without a name: the Ising model. What else a job can hold:\n"
        "ergocl help SAMPLER MODEL, ergocl help job.",
    .one_file = true,
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_OVERWRITE),
    .run = run,
};
