/* ergocl validate JOB.json */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_job *job = NULL;
    char *plan = NULL;
    enum ergo_status status = cli_load_job(ctx, arguments, &job);
    if (status == ERGO_OK)
        status = ergo_validate(ctx, job);
    if (status != ERGO_OK)
        goto out;
    size_t points = ergo_job_count_points(job);
    cli_put(ergo_job_name(job));
    printf(": a valid %s job, %zu point%s\n", ergo_job_sampler(job), points,
           points == 1 ? "" : "s");
    if (arguments->plan) {
        status = ergo_plan_text(ctx, job, arguments->device, &plan);
        status = cli_print(status, plan);
    }
out:
    ergo_job_destroy(job);
    return status;
}

const struct cli_command cli_command_validate = {
    .name = "validate",
    .operand = "JOB.json",
    .operand_required = true,
    .summary = "check a job, and with --plan what it needs on the device",
    .details = "Every error is listed with its JSON pointer; files that the job names are checked, "
               "too. No device is touched without --plan.",
    .options = CLI_BIT(CLI_PLAN) | CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SET),
    .run = run,
};
