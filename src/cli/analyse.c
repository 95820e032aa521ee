/* ergocl analyse DIR... */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static enum ergo_status print(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                              const struct cli_arguments *arguments) {
    char *text = NULL;
    const enum ergo_status status = arguments->json  ? ergo_analysis_json(ctx, analysis, &text)
                                    : arguments->csv ? ergo_analysis_csv(ctx, analysis, &text)
                                                     : ergo_analysis_table(ctx, analysis, &text);
    return cli_print(status, text);
}

/* --correction as a number above 0; 0 when it is not given. */
static bool read_correction(const struct cli_arguments *arguments, double *correction) {
    char *end = NULL;
    *correction = arguments->correction ? strtod(arguments->correction, &end) : 0;
    if (!arguments->correction || (end != arguments->correction && !*end && *correction > 0))
        return true;
    cli_error("--correction: \"%s\" is no exponent above 0", arguments->correction);
    return false;
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_analysis *analysis = NULL;
    struct ergo_analyse_options options = {.reweight = arguments->reweight,
                                           .n_reweight = arguments->n_reweight,
                                           .observables = arguments->observables,
                                           .n_observables = arguments->n_observables,
                                           .crossing = arguments->crossing,
                                           .fit = arguments->fit,
                                           .window = arguments->window,
                                           .coexistence = arguments->coexistence,
                                           .critical = arguments->critical};
    if (arguments->json && arguments->csv) {
        cli_error("\"ergocl analyse\" prints either --json or --csv");
        return ERGO_E_JOB;
    }
    if (!read_correction(arguments, &options.correction))
        return ERGO_E_JOB;
    enum ergo_status status =
        ergo_analyse(ctx, arguments->operands, arguments->n_operands, &options, &analysis);
    if (status == ERGO_OK && (!arguments->quiet || arguments->json || arguments->csv))
        status = print(ctx, analysis, arguments);
    if (status == ERGO_OK && arguments->output) {
        status = ergo_analysis_write_page(ctx, analysis, arguments->output, arguments->overwrite);
        if (status == ERGO_OK && !arguments->quiet)
            cli_note("wrote %s", arguments->output);
    }
    ergo_analysis_destroy(analysis);
    return status;
}

const struct cli_command cli_command_analyse = {
    .name = "analyse",
    .operand = "DIR...",
    .operand_required = true,
    .operands_many = true,
    .summary = "reweight runs, find crossings, critical points, coexisting phases",
    .details =
        "Reads the samples kept with finished, stopped or running runs (/output/series \"full\");\n"
        "no device is used. Chains of the same physics are pooled. Points of one system (equal "
        "but\n"
        "for keys of weights: temperature, field, activity ...) are weighted together by MBAR, "
        "for\n"
        "any value inside of their overlap, with jackknife errors over blocks of 10\n"
        "autocorrelation times and more; outside of it, with fewer than 100 independent samples\n"
        "left for the error to rest on, there is no value, and the range inside is said. Those\n"
        "are fewer than the mean rests on: K (K/E)^2, with Kish's number K = 1 / sum p^2 and the\n"
        "entropy's E = exp(-sum p ln p) of the weights p, both over 2 tau.\n"
        "\n"
        "Without options: pooled means, a table over the range that was simulated, crossings of\n"
        "what is known to cross (Binder's cumulant first) and where they go to for large sizes.\n"
        "\n"
        "  --reweight temperature=2.2:2.35:0.01   observables there (several keys: their grid)\n"
        "  --crossing correlation_length/L        what cannot be reweighted is interpolated\n"
        "  --fit order_parameter --window 2.2:2.35\n"
        "            y = L^power F((x - x_c) L^(1/nu)), F a polynomial, to the points simulated;\n"
        "            power is 0 of what crosses and of NAME/L^POWER, else fitted\n"
        "            The fit is made without the smallest size, and what that moves is in its\n"
        "            errors; a note says where it does not settle or disagrees with crossings\n"
        "  --correction 1.75   exponent W of corrections to scaling, L^-W. Crossings go as L^-V,\n"
        "            V = W + 1/nu of --fit; without a fit V is what is given\n"
        "  --coexistence activity   where two phases, peaks of the histogram of N or of the\n"
        "            energy, have the same weight; densities and energies of both\n"
        "  --critical   critical point of a fluid from muvt samples near it: T, ln z and density\n"
        "            where N - s E is distributed as an Ising model's magnetization, in each box\n"
        "            (mixed-field finite-size scaling, Bruce and Wilding 1992), and in an "
        "infinite\n"
        "            one: T_c + a L^-2.42, rho_c + b L^-1.41, of three boxes and more with what\n"
        "            the smallest moves in the error\n"
        "\n"
        "Of lj-fluid, runs in a slit, a field or among atoms beside a run of the bulk fluid: "
        "excess\n"
        "adsorption at equal temperatures and activities.\n"
        "\n"
        "  -o PAGE.html   figures",
    .one_file = true,
    .options = CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_OVERWRITE) | CLI_BIT(CLI_JSON) | CLI_BIT(CLI_CSV) |
               CLI_BIT(CLI_REWEIGHT) | CLI_BIT(CLI_OBSERVABLE) | CLI_BIT(CLI_CROSSING) |
               CLI_BIT(CLI_FIT) | CLI_BIT(CLI_WINDOW) | CLI_BIT(CLI_CORRECTION) |
               CLI_BIT(CLI_COEXISTENCE) | CLI_BIT(CLI_CRITICAL),
    .run = run,
};
