/* ergocl table DIR... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

static enum ergo_status print_csv(struct ergo_context *ctx,
                                  const struct ergo_result *const *results,
                                  const struct cli_arguments *arguments) {
    char *text = NULL;
    const enum ergo_status status =
        ergo_result_csv(ctx, results, arguments->n_operands > 1 ? arguments->operands : NULL,
                        arguments->n_operands, &text);
    return cli_print(status, text);
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
        status = cli_print(status, text);
    }
    return status;
}

static void put_number(double value) {
    struct ergo_text text = {0};
    if (isfinite(value))
        ergo_text_append_number(&text, value);
    printf("%s", text.data ? text.data : "");
    ergo_text_free(&text);
}

/* And the comma behind it. */
static void put_cell(const char *cell) {
    struct ergo_text text = {0};
    ergo_text_append_cell(&text, cell);
    printf("%s,", text.data ? text.data : "");
    ergo_text_free(&text);
}

/* Names without repeats of what the results scan; NULL: no memory. */
static const char **scanned(struct ergo_context *ctx, const struct ergo_result *const *results,
                            size_t n_results, size_t *n) {
    size_t room = 1;
    for (size_t k = 0; k < n_results; k++)
        room += ergo_result_count(results[k], ERGO_RESULT_PARAMETERS);
    const char **names = calloc(room, sizeof *names);
    *n = 0;
    for (size_t k = 0; names && k < n_results; k++)
        for (size_t p = 0; p < ergo_result_count(results[k], ERGO_RESULT_PARAMETERS); p++) {
            struct ergo_result_name name;
            size_t i = 0;
            if (ergo_result_get_name(ctx, results[k], ERGO_RESULT_PARAMETERS, p, &name) != ERGO_OK)
                continue;
            while (i < *n && strcmp(names[i], name.name) != 0)
                i++;
            names[i] = name.name;
            *n += i == *n;
        }
    return names;
}

/* What is scanned, at a point: "/system/temperature = 0.9, " or "0.9,", which is empty for a key
 * that the job has not. */
static enum ergo_status print_place(struct ergo_context *ctx, const struct ergo_result *result,
                                    size_t point, const char *const *names, size_t n, bool csv) {
    struct ergo_result_point at;
    for (size_t p = 0; p < n; p++) {
        struct ergo_result_value value;
        if (ergo_result_get_value(ctx, result, ERGO_RESULT_POINTS, point, names[p], &value) !=
            ERGO_OK)
            value.number = NAN;
        if (!csv)
            printf("%s = ", names[p]);
        put_number(value.number);
        printf(csv ? "," : ", ");
    }
    const enum ergo_status status =
        ergo_result_get_point(ctx, result, ERGO_RESULT_POINTS, point, &at);
    if (status == ERGO_OK)
        printf(csv ? "%u" : "replica %u", (unsigned)at.replica);
    return status;
}

static enum ergo_status print_curve(struct ergo_context *ctx, const struct ergo_result *result,
                                    const struct cli_arguments *arguments, const char *folder,
                                    const char *const *names, size_t n_names) {
    struct ergo_result_curve curve;
    struct ergo_result_name name;
    size_t index = 0, shown = 0;
    enum ergo_status status =
        ergo_result_find(ctx, result, ERGO_RESULT_CURVES, arguments->curve, &index);
    if (status == ERGO_OK)
        status = ergo_result_get_name(ctx, result, ERGO_RESULT_CURVES, index, &name);
    for (size_t i = 0; status == ERGO_OK && i < ergo_result_count(result, ERGO_RESULT_POINTS);
         i++) {
        status = ergo_result_get_curve(ctx, result, i, index, &curve);
        if (status != ERGO_OK || !curve.size)
            continue;
        if (!arguments->csv) {
            printf("%s# ", shown ? "\n\n" : "");
            if (folder) {
                cli_put(folder);
                printf(": ");
            }
            status = print_place(ctx, result, i, names, n_names, false);
            printf("\n# %s, %s%s%s, error%s%s\n", name.axis, name.name, *name.unit ? " in " : "",
                   name.unit, curve.untrusted ? " (?): " : "",
                   curve.untrusted ? curve.untrusted : "");
        }
        for (size_t k = 0; k < curve.size && status == ERGO_OK; k++) {
            if (arguments->csv && folder)
                put_cell(folder);
            if (!arguments->csv) {
                printf("%.9g %.9g %.3g\n", curve.x[k], curve.mean[k], curve.error[k]);
                continue;
            }
            status = print_place(ctx, result, i, names, n_names, true);
            printf(",");
            put_number(curve.x[k]);
            printf(",");
            put_number(curve.mean[k]);
            printf(",");
            put_number(curve.error[k]);
            printf(",%s\n", curve.untrusted ? curve.untrusted : "");
        }
        shown++;
    }
    if (status == ERGO_OK && !shown)
        status =
            ERGO_FAIL(ctx, ERGO_E_JOB,
                      "no point has the curve \"%s\": it is not measured in this job", name.name);
    return status;
}

static enum ergo_status print_curves(struct ergo_context *ctx,
                                     const struct ergo_result *const *results,
                                     const struct cli_arguments *arguments) {
    const bool several = arguments->n_operands > 1;
    enum ergo_status status = ERGO_OK;
    size_t n_names;
    const char **names = scanned(ctx, results, arguments->n_operands, &n_names);
    if (!names)
        return ERGO_E_MEMORY;
    if (arguments->csv) {
        printf("%s", several ? "run," : "");
        for (size_t p = 0; p < n_names; p++)
            put_cell(names[p]);
        printf("replica,x,%s,%s.error,%s.untrusted\n", arguments->curve, arguments->curve,
               arguments->curve);
    }
    for (size_t k = 0; k < arguments->n_operands && status == ERGO_OK; k++) {
        /* without --csv each run tells what it scans itself */
        size_t n_own;
        const char **own = scanned(ctx, results + k, 1, &n_own);
        printf("%s", k && !arguments->csv ? "\n\n" : "");
        status =
            own ? print_curve(ctx, results[k], arguments, several ? arguments->operands[k] : NULL,
                              arguments->csv ? names : own, arguments->csv ? n_names : n_own)
                : ERGO_E_MEMORY;
        free(own);
    }
    free(names);
    return status;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    if (arguments->csv && arguments->n_observables) {
        cli_error("--observable is of tables: --csv has all observables");
        return ERGO_E_JOB;
    }
    if (arguments->curve && arguments->n_observables) {
        cli_error("a table is of observables, or of one curve: either --observable or --curve");
        return ERGO_E_JOB;
    }
    struct ergo_result **results = calloc(arguments->n_operands, sizeof *results);
    enum ergo_status status = results ? ERGO_OK : ERGO_E_MEMORY;
    /* look at all folders, so that one call names all that are no runs */
    for (size_t k = 0; results && k < arguments->n_operands; k++) {
        const enum ergo_status one = ergo_result_load(ctx, arguments->operands[k], &results[k]);
        status = status == ERGO_OK ? one : status;
    }
    const struct ergo_result *const *loaded = (const struct ergo_result *const *)results;
    if (status == ERGO_OK && arguments->curve)
        status = print_curves(ctx, loaded, arguments);
    else if (status == ERGO_OK)
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
        "Without it the first few observables, or those of --observable.\n"
        "--curve gr: a curve at every point, as lines \"x mean error\" (with --csv in one table).",
    .options = CLI_BIT(CLI_CSV) | CLI_BIT(CLI_OBSERVABLE) | CLI_BIT(CLI_CURVE),
    .run = run,
};
