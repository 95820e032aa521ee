/* ergocl merge PART... -o DIR */
#include "cli/cli.h"

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_result *result = NULL;
    if (!arguments->output) {
        cli_error("\"ergocl merge\" needs a folder for the whole run: -o DIR");
        return ERGO_E_JOB;
    }
    enum ergo_status status = ergo_merge(ctx, arguments->operands, arguments->n_operands,
                                         arguments->output, arguments->overwrite, &result);
    status = cli_report(ctx, arguments->output, arguments, status, result);
    ergo_result_destroy(result);
    return status;
}

const struct cli_command cli_command_merge = {
    .name = "merge",
    .operand = "DIR...",
    .operand_required = true,
    .operands_many = true,
    .summary = "unite the parts of a run (run --part)",
    .details =
        "Each DIR holds a part of one run, made by ergocl run JOB.json --part K/N -o DIR, on any\n"
        "machine. The folder -o gets what one run of all would have left: result.json, series.h5,\n"
        "report.html, the checkpoint. It can be reported, resumed and extended. A part that is\n"
        "missing or not finished is named. Points that two parts have must agree to the bit: exit\n"
        "code 5 and both folders if they do not. The parts stay as they are.",
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_OVERWRITE),
    .run = run,
};
