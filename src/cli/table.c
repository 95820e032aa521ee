/* ergocl table DIR... */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status print_csv(struct ergo_context *ctx,
                                  const struct ergo_result *const *results,
                                  const struct cli_arguments *arguments) {
    char *text = NULL;
    const enum ergo_status status =
        ergo_result_csv(ctx, results, arguments->n_operands > 1 ? arguments->operands : NULL,
                        arguments->n_operands, &text);
    if (status == ERGO_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

static enum ergo_status print_tables(struct ergo_context *ctx,
                                     const struct ergo_result *const *results,
                                     const struct cli_arguments *arguments) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < arguments->n_operands && status == ERGO_OK; k++) {
        char *text = NULL;
        status = ergo_result_table_of(ctx, results[k], arguments->observables,
                                      arguments->n_observables, &text);
        if (status == ERGO_OK && arguments->n_operands > 1) {
            printf("%s", k ? "\n" : "");
            cli_put(arguments->operands[k]);
            printf("\n");
        }
        if (status == ERGO_OK)
            fputs(text, stdout);
        free(text);
    }
    return status;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    if (arguments->csv && arguments->n_observables) {
        cli_error("--observable is of tables: --csv has all observables");
        return ERGO_E_JOB;
    }
    struct ergo_result **results = calloc(arguments->n_operands, sizeof *results);
    enum ergo_status status = results ? ERGO_OK : ERGO_E_MEMORY;
    if (!results)
        cli_error("out of memory");
    /* look at all folders, so that one call names all that are no runs */
    for (size_t k = 0; results && k < arguments->n_operands; k++) {
        const enum ergo_status one = ergo_result_load(ctx, arguments->operands[k], &results[k]);
        status = status == ERGO_OK ? one : status;
    }
    const struct ergo_result *const *loaded = (const struct ergo_result *const *)results;
    if (status == ERGO_OK)
        status = arguments->csv ? print_csv(ctx, loaded, arguments)
                                : print_tables(ctx, loaded, arguments);
    for (size_t k = 0; results && k < arguments->n_operands; k++)
        ergo_result_destroy(results[k]);
    free(results);
    return status;
}

const struct cli_command cli_command_table = {
    .name = "table",
    .operand = "DIR...",
    .operand_required = true,
    .operands_many = true,
    .summary = "print the results of run folders, as a table or CSV",
    .details =
        "Runs are only read, from their checkpoints: they may be finished, stopped or running.\n"
        "--csv: all points and means over replicas of all runs in one table, with the scanned\n"
        "parameters and what else makes the runs differ, the observables' means, errors,\n"
        "autocorrelation times and exact values; names and units are in the first line.\n"
        "Without it the first few observables, or those of --observable.",
    .options = CLI_BIT(CLI_CSV) | CLI_BIT(CLI_OBSERVABLE),
    .run = run,
};
