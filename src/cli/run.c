/* ergocl run JOB.json */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* "3/8"; unchanged without --part. false: a message was printed. */
static bool part_of(const struct cli_arguments *arguments, struct ergo_run_options *options) {
    unsigned part = 0, n_parts = 0;
    char rest = 0;
    if (!arguments->part)
        return true;
    if (arguments->part[strspn(arguments->part, "0123456789/")] ||
        sscanf(arguments->part, "%7u/%7u%c", &part, &n_parts, &rest) != 2 || !part ||
        part > n_parts) {
        cli_error("--part: found \"%s\"; allowed: K/N, two integers, K from 1 to N: 1/4 to 4/4",
                  arguments->part);
        return false;
    }
    if (!arguments->output) {
        cli_error("--part: each part needs a folder of its own: -o DIR");
        return false;
    }
    options->part = part;
    options->n_parts = n_parts;
    return true;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    bool redistribute = false;
    if (!cli_redistribute_of(arguments, &redistribute))
        return ERGO_E_JOB;
    /* signals before MPI makes threads, and ranks before the job is read: those that fail alike say
     * so once */
    cli_catch_stop_signals();
    enum ergo_status status = ergo_ranks_start(ctx);
    if (status == ERGO_OK)
        status = cli_load_job(ctx, arguments, &job);
    if (status != ERGO_OK)
        goto out;
    struct cli_progress progress = {.quiet = arguments->quiet, .verbose = arguments->verbose > 0};
    struct ergo_run_options options = {
        .directory = arguments->output,
        .device = arguments->device,
        .overwrite = arguments->overwrite,
        .redistribute = redistribute,
        .progress = cli_progress,
        .user = &progress,
    };
    if (!part_of(arguments, &options)) {
        status = ERGO_E_JOB;
        goto out;
    }
    if (ergo_ranks_rank() > 0)
        options.progress = NULL;
    status = ergo_run(ctx, job, &options, &result);
    status = cli_report(ctx, arguments->output ? arguments->output : ergo_job_name(job), arguments,
                        status, result);
out:
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    return status;
}

const struct cli_command cli_command_run = {
    .name = "run",
    .operand = "JOB.json",
    .operand_required = true,
    .summary = "run a job",
    .details =
        "JOB.json may be \"-\": standard input. The table of results goes to stdout; result.json,\n"
        "series.h5, report.html and the checkpoint go to the run folder.\n"
        "SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and SIGHUP write a checkpoint and stop with exit code "
        "75;\n"
        "a second SIGINT or SIGTERM ends at once.\n"
        "Under mpirun, with --on-failure redistribute, a device that fails while points are spread "
        "over\n"
        "ranks costs no more than what it did since its last checkpoint: the other ranks go on "
        "from\n"
        "there, with the same results and a warning in result.json. A system that is cut over "
        "ranks\n"
        "stops; so does everything when a process is killed, or an audit fails.\n"
        "A folder with a finished run of the same job, but shorter or of fewer points, is "
        "extended,\n"
        "as by ergocl resume --set; the command says so.\n"
        "--part K/N runs a share of the points and replicas, with nothing between the machines: "
        "an\n"
        "array of a batch system, nodes that may be taken away, devices of different vendors. "
        "Each\n"
        "part has a folder of its own, is resumed by itself, and ergocl merge unites them.",
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_DEVICE) | CLI_BIT(CLI_SET) |
               CLI_BIT(CLI_OVERWRITE) | CLI_BIT(CLI_PART) | CLI_BIT(CLI_ON_FAILURE),
    .run = run,
};
