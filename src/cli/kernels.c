/* ergocl kernels --dump [SAMPLER], ergocl kernels --programs DIR JOB.json */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status write_programs(struct ergo_context *ctx,
                                       const struct cli_arguments *arguments, char **text) {
    struct ergo_job *job = NULL;
    if (!arguments->operand) {
        cli_error("\"--programs DIR\" needs a job: ergocl kernels --programs DIR JOB.json");
        return ERGO_E_JOB;
    }
    enum ergo_status status = cli_load_job(ctx, arguments, &job);
    if (status == ERGO_OK)
        status = ergo_kernels_write(ctx, job, arguments->device, arguments->programs, text);
    ergo_job_destroy(job);
    return status;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    char *text = NULL;
    if (arguments->dump == (arguments->programs != NULL)) {
        cli_error("say what to do with the kernels: ergocl kernels --dump [SAMPLER], or ergocl "
                  "kernels --programs DIR JOB.json");
        return ERGO_E_JOB;
    }
    if (arguments->dump && (arguments->device || arguments->n_sets)) {
        cli_error("\"--dump\" prints texts without a job: \"--device\" and \"--set\" are for "
                  "\"--programs\"");
        return ERGO_E_JOB;
    }
    const enum ergo_status status = arguments->dump
                                        ? ergo_kernels_text(ctx, arguments->operand, &text)
                                        : write_programs(ctx, arguments, &text);
    if (!arguments->programs || !arguments->quiet)
        return cli_print(status, text);
    free(text);
    return status;
}

const struct cli_command cli_command_kernels = {
    .name = "kernels",
    .operand = "[SAMPLER|JOB]",
    .summary = "print the OpenCL C of a sampler, or write that of a job",
    .details =
        "--dump prints what clBuildProgram receives for a sampler (without one: for all), with all "
        "includes\n"
        "resolved. --programs DIR JOB.json writes each program of the job, as it would be built "
        "for\n"
        "the device: NAME.cl, which compiles by itself, and NAME.json with its build options,\n"
        "kernels and launches. Nothing is built or run.\n"
        "$ERGOCL_PRETEND=mi300x, or another device that is not at hand, asks for its programs; a "
        "wrong\n"
        "name lists those there are. $ERGOCL_CL_DIR, a folder of .cl files, replaces the embedded "
        "ones.",
    .options = CLI_BIT(CLI_DUMP) | CLI_BIT(CLI_PROGRAMS) | CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SET),
    .run = run,
};
