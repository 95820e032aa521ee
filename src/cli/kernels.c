/* ergocl kernels --dump [SAMPLER] */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    if (!arguments->dump) {
        cli_error("say what to do with the kernels: ergocl kernels --dump [SAMPLER]");
        return ERGO_E_JOB;
    }
    char *text = NULL;
    enum ergo_status status = ergo_kernels_text(ctx, arguments->operand, &text);
    if (status == ERGO_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

const struct cli_command cli_command_kernels = {
    .name = "kernels",
    .operand = "[SAMPLER]",
    .summary = "print with --dump the OpenCL C that a device gets to compile",
    .details = "All includes are resolved: the text is what clBuildProgram receives.\n"
               "$ERGOCL_CL_DIR, a folder of .cl files, replaces the embedded ones.",
    .options = CLI_BIT(CLI_DUMP),
    .run = run,
};
