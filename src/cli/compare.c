/* ergocl compare JOB.json, ergocl compare --merge FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Selectors with commas between them, cut in place. */
static size_t split(char *text, const char **parts) {
    size_t n = 0;
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ","))
        parts[n++] = part;
    return n;
}

static enum ergo_status print(struct ergo_context *ctx, const struct ergo_comparison *comparison,
                              const struct cli_arguments *arguments) {
    char *text = NULL;
    const enum ergo_status status = arguments->json ? ergo_comparison_json(ctx, comparison, &text)
                                                    : ergo_comparison_table(ctx, comparison, &text);
    return cli_print(status, text);
}

static enum ergo_status merge(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    const char *page = arguments->output ? arguments->output : "compare.html";
    char *table = NULL;
    bool agree = false;
    if (arguments->all || arguments->devices || arguments->json || arguments->n_sets) {
        cli_error("\"ergocl compare --merge\" runs nothing: of the options it takes --output, "
                  "--overwrite and --quiet");
        return ERGO_E_JOB;
    }
    enum ergo_status status = ergo_compare_merge(ctx, arguments->operands, arguments->n_operands,
                                                 page, arguments->overwrite, &agree, &table);
    if (status == ERGO_OK && !arguments->quiet) {
        fputs(table, stdout);
        cli_note("wrote %s", page);
    }
    if (status == ERGO_OK && !agree) {
        fflush(stdout);
        cli_error("a device failed, or devices do not agree");
        status = ERGO_E_AUDIT;
    }
    free(table);
    return status;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    const char *list = arguments->devices ? arguments->devices : "";
    char *copy = malloc(strlen(list) + 1);
    const char **devices = calloc(strlen(list) + 1, sizeof *devices);
    struct ergo_job *job = NULL;
    struct ergo_comparison *comparison = NULL;
    enum ergo_status status = ERGO_E_MEMORY;
    if (!copy || !devices)
        goto out;
    if (arguments->merge) {
        status = merge(ctx, arguments);
        goto out;
    }
    status = ERGO_E_JOB;
    if (arguments->n_operands > 1) {
        cli_error("\"ergocl compare\" takes one job; results of several machines go after --merge");
        goto out;
    }
    if (arguments->all == (arguments->devices != NULL)) {
        cli_error("\"ergocl compare\" needs either --devices A,B,... or --all");
        goto out;
    }
    status = cli_load_job(ctx, arguments, &job);
    if (status != ERGO_OK)
        goto out;
    struct cli_progress progress = {.quiet = arguments->quiet, .verbose = arguments->verbose > 0};
    struct ergo_compare_options options = {.directory = arguments->output,
                                           .devices = devices,
                                           .n_devices = split(strcpy(copy, list), devices),
                                           .overwrite = arguments->overwrite,
                                           .progress = cli_progress,
                                           .user = &progress};
    if (arguments->devices && options.n_devices == 0) {
        cli_error("--devices names no device");
        status = ERGO_E_JOB;
        goto out;
    }
    cli_catch_stop_signals();
    status = ergo_compare(ctx, job, &options, &comparison);
    cli_progress_end();
    if (status == ERGO_OK && (!arguments->quiet || arguments->json))
        status = print(ctx, comparison, arguments);
    if (status == ERGO_OK && !ergo_comparison_agrees(comparison)) {
        fflush(stdout);
        cli_error("the devices do not agree; details are in %s/compare.json",
                  arguments->output ? arguments->output : ergo_job_name(job));
        status = ERGO_E_AUDIT;
    }
    if (status == ERGO_STOPPED)
        cli_note("stopped; nothing was compared");
out:
    ergo_comparison_destroy(comparison);
    ergo_job_destroy(job);
    free(devices);
    free(copy);
    return status;
}

const struct cli_command cli_command_compare = {
    .name = "compare",
    .operand = "JOB.json | --merge FILE...",
    .operand_required = true,
    .operands_many = true,
    .summary = "run a job on several devices and compare bits and speed",
    .details =
        "Each device's run gets a folder below the output folder; compare.json and compare.html\n"
        "say it all: rates, time by phase and kernel, bytes, copy rate, energy where it is told.\n"
        "Final states and all samples are compared bit for bit with those of the first device;\n"
        "where states differ, shorter runs find the first step after which they do, and the "
        "kernel\n"
        "where the devices make the same launches: vendor.txt is for the device's vendor.\n"
        "Exit code 5: some device differs or failed; 3: a named device is not there. With --all "
        "on\n"
        "a machine of one device that one runs, audited, and gets its rates.\n"
        "\n"
        "--merge makes one page, -o FILE or compare.html, of compare.json files and results of\n"
        "\"ergocl bench -o\" from several machines: bits, rates, share of the limit, energy.",
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_SET) | CLI_BIT(CLI_OVERWRITE) | CLI_BIT(CLI_JSON) |
               CLI_BIT(CLI_DEVICES) | CLI_BIT(CLI_ALL) | CLI_BIT(CLI_MERGE),
    .run = run,
};
