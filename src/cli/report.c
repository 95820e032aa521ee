/* ergocl report DIR... */
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    const enum ergo_status status = ergo_report(ctx, arguments->operands, arguments->n_operands,
                                                arguments->output, arguments->overwrite);
    if (status == ERGO_OK && !arguments->quiet)
        cli_note("wrote %s%s",
                 arguments->output            ? arguments->output
                 : arguments->n_operands == 1 ? arguments->operand
                                              : "report.html",
                 arguments->output || arguments->n_operands > 1 ? "" : "/report.html");
    return status;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .operand = "DIR...",
    .operand_required = true,
    .operands_many = true,
    .summary = "make one HTML page from run folders",
    .details =
        "Parameters, device, observables with error bars, curves, time series with equilibration\n"
        "marked, autocorrelation, histograms, configurations, warnings. Several runs of a\n"
        "sampler are also drawn together. The page needs no network and no other file.\n"
        "Runs are only read, from their checkpoints: they may be finished, stopped or running.\n"
        "-o FILE names the page (- is stdout); without it DIR/report.html of one run, report.html "
        "of several.",
    .one_file = true,
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_OVERWRITE),
    .run = run,
};
