/* ergocl table DIR... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The shortest text that reads back as the same number; nothing for one that is not known. */
static void put_number(double value) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    printf("%s", isnan(value) ? "" : text);
}

/* A folder's name as a cell of a CSV, with its comma. */
static void put_folder(const char *folder) {
    const char *quote = folder[strcspn(folder, ",\"\r\n")] ? "\"" : "";
    printf("%s", quote);
    for (const char *p = folder; *p; p++)
        printf(*p == '"' ? "\"\"" : "%c", *p);
    printf("%s,", quote);
}

/* Names of what is scanned in some of the runs. */
struct parameters {
    size_t n;
    const char **names;
};

static enum ergo_status find_parameters(struct ergo_context *ctx,
                                        const struct ergo_result *const *results, size_t n,
                                        struct parameters *p) {
    struct ergo_result_name name;
    size_t most = 1;
    for (size_t k = 0; k < n; k++)
        most += ergo_result_count(results[k], ERGO_RESULT_PARAMETERS);
    *p = (struct parameters){.names = calloc(most, sizeof *p->names)};
    enum ergo_status status = p->names ? ERGO_OK : ERGO_E_MEMORY;
    if (!p->names)
        cli_error("out of memory");
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0;
             status == ERGO_OK && i < ergo_result_count(results[k], ERGO_RESULT_PARAMETERS); i++) {
            size_t at = 0;
            status = ergo_result_get_name(ctx, results[k], ERGO_RESULT_PARAMETERS, i, &name);
            while (status == ERGO_OK && at < p->n && strcmp(p->names[at], name.name) != 0)
                at++;
            if (status == ERGO_OK && at == p->n)
                p->names[p->n++] = name.name;
        }
    return status;
}

/* The parameters at a point: "/system/temperature = 0.9, replica 0" or "0.9,0". */
static enum ergo_status print_place(struct ergo_context *ctx, const struct ergo_result *result,
                                    const struct parameters *parameters, size_t point, bool csv) {
    struct ergo_result_value value;
    struct ergo_result_point at;
    for (size_t p = 0; p < parameters->n; p++) {
        const char *name = parameters->names[p];
        /* a key that this job does not have is empty */
        if (ergo_result_get_value(ctx, result, ERGO_RESULT_POINTS, point, name, &value) != ERGO_OK)
            value.number = NAN;
        if (!csv)
            printf("%s = ", name);
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
                                    const struct parameters *parameters,
                                    const struct cli_arguments *arguments, const char *folder) {
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
            status = print_place(ctx, result, parameters, i, false);
            printf("\n# %s, %s%s%s, error\n", name.axis, name.name, *name.unit ? " in " : "",
                   name.unit);
        }
        for (size_t k = 0; k < curve.size && status == ERGO_OK; k++) {
            if (!arguments->csv) {
                printf("%.9g %.9g %.3g\n", curve.x[k], curve.mean[k], curve.error[k]);
                continue;
            }
            if (folder)
                put_folder(folder);
            status = print_place(ctx, result, parameters, i, true);
            printf(",");
            put_number(curve.x[k]);
            printf(",");
            put_number(curve.mean[k]);
            printf(",");
            put_number(curve.error[k]);
            printf("\n");
        }
        shown++;
    }
    if (status == ERGO_OK && !shown) {
        cli_error("no point has the curve \"%s\": it is not measured in this job", name.name);
        return ERGO_E_JOB;
    }
    return status;
}

/* In one table the columns are the same in all runs; else each has what it scans. */
static enum ergo_status print_curves(struct ergo_context *ctx,
                                     const struct ergo_result *const *results,
                                     const struct cli_arguments *arguments) {
    const bool several = arguments->n_operands > 1;
    struct parameters parameters = {0};
    enum ergo_status status = ERGO_OK;
    if (arguments->csv) {
        status = find_parameters(ctx, results, arguments->n_operands, &parameters);
        printf("%s", several ? "run," : "");
        for (size_t p = 0; p < parameters.n; p++)
            printf("%s,", parameters.names[p]);
        printf("replica,x,%s,%s.error\n", arguments->curve, arguments->curve);
    }
    for (size_t k = 0; k < arguments->n_operands && status == ERGO_OK; k++) {
        printf("%s", k && !arguments->csv ? "\n\n" : "");
        if (!arguments->csv) {
            free(parameters.names);
            status = find_parameters(ctx, results + k, 1, &parameters);
        }
        if (status == ERGO_OK)
            status = print_curve(ctx, results[k], &parameters, arguments,
                                 several ? arguments->operands[k] : NULL);
    }
    free(parameters.names);
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
    if (!results)
        cli_error("out of memory");
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
