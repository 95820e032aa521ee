/* ergocl resume DIR [--set ...] */
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_result *result = NULL;
    bool redistribute = false;
    if (!cli_redistribute_of(arguments, &redistribute))
        return ERGO_E_JOB;
    struct cli_progress progress = {.quiet = arguments->quiet, .verbose = arguments->verbose > 0};
    struct ergo_run_options options = {
        .directory = arguments->operand,
        .device = arguments->device,
        .redistribute = redistribute,
        .progress = cli_progress,
        .user = &progress,
    };
    cli_catch_stop_signals();
    enum ergo_status status = ergo_ranks_start(ctx);
    if (ergo_ranks_rank() > 0)
        options.progress = NULL;
    if (status == ERGO_OK)
        status = ergo_extend(ctx, arguments->operand, arguments->sets, arguments->n_sets, &options,
                             &result);
    status = cli_report(ctx, arguments->operand, arguments, status, result);
    ergo_result_destroy(result);
    return status;
}

const struct cli_command cli_command_resume = {
    .name = "resume",
    .operand = "DIR",
    .operand_required = true,
    .summary = "continue the run in a folder from its checkpoint",
    .details =
        "The job is taken from the checkpoint, so nothing else is needed. The device may be\n"
        "another one than before: the chain is the same. A run that is complete is only reported.\n"
        "--on-failure is said anew for each session; \"ergocl run --help\" explains it.\n"
        "\n"
        "With --set the run goes further: --set /run/sweeps=400000 makes it longer, --set\n"
        "/replicas=8 adds chains, --set '/scan={\"/system/temperature\": [2.2, 2.3, 2.4]}' adds\n"
        "points to those that it has. The results are those of a run that asked for all of it at\n"
        "once. A run may be finished or stopped, and extended again. What would change its chains\n"
        "is refused; keys that no chain depends on (/device, /output, /wall_time ...) may be set.",
    .options = CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SET) | CLI_BIT(CLI_ON_FAILURE),
    .run = run,
};
