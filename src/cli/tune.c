/* ergocl tune JOB.json */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_job *job = NULL;
    char *text = NULL;
    struct cli_progress progress = {.quiet = arguments->quiet, .verbose = arguments->verbose > 0};
    struct ergo_tune_options options = {.device = arguments->device,
                                        .seconds = 60,
                                        .path = arguments->output,
                                        .progress = cli_progress,
                                        .user = &progress};
    if (!cli_seconds_of(arguments, &options.seconds))
        return ERGO_E_JOB;
    enum ergo_status status = cli_load_job(ctx, arguments, &job);
    if (status == ERGO_OK) {
        cli_catch_stop_signals();
        status = ergo_tune(ctx, job, &options, &text);
        cli_progress_end();
    }
    if (status == ERGO_OK && !arguments->quiet)
        fputs(text, stdout);
    if (status == ERGO_STOPPED)
        cli_note("stopped; no profile was written");
    free(text);
    ergo_job_destroy(job);
    return status;
}

const struct cli_command cli_command_tune = {
    .name = "tune",
    .operand = "JOB.json",
    .operand_required = true,
    .summary = "find the fastest launch for jobs like this one",
    .details =
        "Tries values of the sampler's /tuning keys for the job's first batch, a minute long "
        "unless\n"
        "--seconds says otherwise, compares the best with the automatic launch, and keeps it in\n"
        "the user's profile: $ERGOCL_CONFIG_DIR, $XDG_CONFIG_HOME/ergocl or ~/.config/ergocl,\n"
        "tuning.json; or in -o FILE. Runs of jobs of the same sampler, model and kernels, with\n"
        "members and work within a factor of 1.5, use it on that device. Their chains, digests "
        "and\n"
        "samples are the same. ERGOCL_CONFIG_DIR= (set and empty) leaves profiles out.",
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SET) | CLI_BIT(CLI_SECONDS),
    .run = run,
};
