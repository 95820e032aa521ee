/* The table of options, the parser, and the help made from both. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const struct cli_option cli_options[CLI_N_OPTIONS] = {
    [CLI_OUTPUT] =
        {"output", 'o', "DIR",
         "run folder (default: the job's name); of new, report, analyse, tune, bench the file"},
    [CLI_DEVICE] = {"device", 'd', "SEL",
                    "\"auto\", \"gpu\", \"cpu\", an id like \"0:1\", or part of a name"},
    [CLI_SET] = {"set", 's', "/PTR=VALUE",
                 "change a key of the job (null: take it away); may be repeated"},
    [CLI_OVERWRITE] = {"overwrite", 0, NULL,
                       "replace an earlier run, or the file of report, analyse"},
    [CLI_ON_FAILURE] = {"on-failure", 0, "WHAT",
                        "\"stop\", or \"redistribute\": other ranks go on with a failed device's "
                        "points"},
    [CLI_PLAN] = {"plan", 0, NULL, "say what the job needs on the device, without running it"},
    [CLI_CHECK] = {"check", 0, NULL, "probe each device's arithmetic, atomics and barriers"},
    [CLI_REPORT] = {"report", 0, NULL, "probe, and print a page about devices to send to somebody"},
    [CLI_JSON] = {"json", 0, NULL, "print JSON"},
    [CLI_CSV] = {"csv", 0, NULL, "print comma-separated values"},
    [CLI_REWEIGHT] = {"reweight", 0, "KEY=VALUES", "FROM:TO:STEP or A,B,...; may be repeated"},
    [CLI_OBSERVABLE] = {"observable", 0, "NAME", "only this one; may be repeated"},
    [CLI_CURVE] = {"curve", 0, "NAME", "this curve at every point: x, mean, error"},
    [CLI_CROSSING] = {"crossing", 0, "NAME", "where curves of sizes cross: NAME, NAME/L^POWER"},
    [CLI_FIT] = {"fit", 0, "NAME", "fit of finite-size scaling: NAME, NAME/L^POWER"},
    [CLI_WINDOW] = {"window", 0, "FROM:TO", "points that the fit takes"},
    [CLI_CORRECTION] = {"correction", 0, "W", "exponent of corrections L^-W"},
    [CLI_COEXISTENCE] = {"coexistence", 0, "KEY", "its value where two phases weigh the same"},
    [CLI_CRITICAL] = {"critical", 0, NULL, "critical point of a fluid, from its N and energy"},
    [CLI_DUMP] = {"dump", 0, NULL, "print the flattened OpenCL C"},
    [CLI_PROGRAMS] = {"programs", 0, "DIR",
                      "write the job's programs, each with its build options"},
    [CLI_DEVICES] = {"devices", 0, "SEL,SEL,...", "devices to compare, the first is the reference"},
    [CLI_ALL] = {"all", 0, NULL, "every usable device"},
    [CLI_MERGE] = {"merge", 0, NULL, "one page of the results of several machines"},
    [CLI_PART] = {"part", 0, "K/N",
                  "run the K-th of N shares of the points and replicas, for merge"},
    [CLI_SECONDS] = {"seconds", 0, "S", "how long to search, or to measure each case"},
    [CLI_SAMPLER] = {"sampler", 0, "NAME", "only cases of this sampler"},
    [CLI_LIST] = {"list", 0, NULL, "name the cases; with CASE, its job"},
    [CLI_SEARCH] = {"search", 0, "WORDS", "what has these words in its name or help"},
    [CLI_QUIET] = {"quiet", 'q', NULL, "no progress, no warnings, no table"},
    [CLI_VERBOSE] = {"verbose", 'v', NULL, "more messages; twice: still more"},
    [CLI_HELP] = {"help", 'h', NULL, "show this help"},
};

static const unsigned common_options =
    CLI_BIT(CLI_QUIET) | CLI_BIT(CLI_VERBOSE) | CLI_BIT(CLI_HELP);

static bool takes(const struct cli_command *command, size_t id) {
    return ((command->options | common_options) >> id & 1u) != 0;
}

const struct cli_command *cli_find_command(const char *name) {
    for (size_t i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name))
            return cli_commands[i];
    return NULL;
}

/* ---- suggestions ---------------------------------------------------------------------------- */

enum { WORD_MAX = 32 }; /* a longer word is not a typo of one of our short names */

/* Damerau-Levenshtein distance (adjacent swaps count once): "relpicas" is one slip. */
static size_t word_distance(const char *a, const char *b) {
    size_t row[3][WORD_MAX + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > WORD_MAX || length_b > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= length_b; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[length_a % 3][length_b];
}

const char *cli_nearest(const char *word, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t least = 1 + strlen(word) / 3; /* a third of the letters may be wrong */
    for (size_t i = 0; i < count; i++) {
        size_t distance = word_distance(word, names[i]);
        if (distance <= least && (!nearest || distance < least)) {
            nearest = names[i];
            least = distance;
        }
    }
    return nearest;
}

/* ---- parsing -------------------------------------------------------------------------------- */

static void unknown_option(const struct cli_command *command, const char *word, size_t length) {
    const char *names[CLI_N_OPTIONS];
    char name[WORD_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < CLI_N_OPTIONS; i++)
        if (takes(command, i))
            names[count++] = cli_options[i].name;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_error("unknown option \"--%.*s\" of \"ergocl %s\"; did you mean \"--%s\"?", (int)length,
                  word, command->name, nearest);
    else
        cli_error("unknown option \"--%.*s\"; \"ergocl %s --help\" lists them%s", (int)length, word,
                  command->name,
                  takes(command, CLI_SET) ? "; keys of the job: --set /system/NAME=VALUE" : "");
}

static void store(struct cli_arguments *arguments, size_t id, const char *value) {
    switch (id) {
    case CLI_OUTPUT:
        arguments->output = value;
        break;
    case CLI_DEVICE:
        arguments->device = value;
        break;
    case CLI_DEVICES:
        arguments->devices = value;
        break;
    case CLI_SET:
        arguments->sets[arguments->n_sets++] = value;
        break;
    case CLI_OVERWRITE:
        arguments->overwrite = true;
        break;
    case CLI_ON_FAILURE:
        arguments->on_failure = value;
        break;
    case CLI_PLAN:
        arguments->plan = true;
        break;
    case CLI_CHECK:
        arguments->check = true;
        break;
    case CLI_REPORT:
        arguments->report = true;
        break;
    case CLI_JSON:
        arguments->json = true;
        break;
    case CLI_CSV:
        arguments->csv = true;
        break;
    case CLI_REWEIGHT:
        arguments->reweight[arguments->n_reweight++] = value;
        break;
    case CLI_OBSERVABLE:
        arguments->observables[arguments->n_observables++] = value;
        break;
    case CLI_CURVE:
        arguments->curve = value;
        break;
    case CLI_CROSSING:
        arguments->crossing = value;
        break;
    case CLI_FIT:
        arguments->fit = value;
        break;
    case CLI_WINDOW:
        arguments->window = value;
        break;
    case CLI_CORRECTION:
        arguments->correction = value;
        break;
    case CLI_COEXISTENCE:
        arguments->coexistence = value;
        break;
    case CLI_CRITICAL:
        arguments->critical = true;
        break;
    case CLI_DUMP:
        arguments->dump = true;
        break;
    case CLI_MERGE:
        arguments->merge = true;
        break;
    case CLI_PART:
        arguments->part = value;
        break;
    case CLI_PROGRAMS:
        arguments->programs = value;
        break;
    case CLI_ALL:
        arguments->all = true;
        break;
    case CLI_SECONDS:
        arguments->seconds = value;
        break;
    case CLI_SAMPLER:
        arguments->sampler = value;
        break;
    case CLI_SEARCH:
        arguments->search = value;
        break;
    case CLI_LIST:
        arguments->list = true;
        break;
    case CLI_QUIET:
        arguments->quiet = true;
        break;
    case CLI_VERBOSE:
        arguments->verbose++;
        break;
    default:
        arguments->help = true;
        break;
    }
}

/* One "--name", "--name=value" or "--name value". Returns words used, 0 after an error. */
static int parse_long(const struct cli_command *command, int left, char **words,
                      struct cli_arguments *arguments) {
    const char *name = words[0] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    for (size_t i = 0; i < CLI_N_OPTIONS; i++) {
        const struct cli_option *option = &cli_options[i];
        if (!takes(command, i) || strlen(option->name) != length ||
            strncmp(option->name, name, length) != 0)
            continue;
        if (!option->value && equals) {
            cli_error("option \"--%s\" takes no value", option->name);
            return 0;
        }
        if (!option->value || equals) {
            store(arguments, i, equals ? equals + 1 : NULL);
            return 1;
        }
        if (left < 2) {
            cli_error("option \"--%s\" needs a value: %s", option->name, option->value);
            return 0;
        }
        store(arguments, i, words[1]);
        return 2;
    }
    unknown_option(command, name, length);
    return 0;
}

/* A group "-qv", or "-oDIR", or "-o DIR". Returns words used, 0 after an error. */
static int parse_short(const struct cli_command *command, int left, char **words,
                       struct cli_arguments *arguments) {
    for (const char *letter = words[0] + 1; *letter; letter++) {
        size_t i = 0;
        while (i < CLI_N_OPTIONS && !(takes(command, i) && cli_options[i].letter == *letter))
            i++;
        if (i == CLI_N_OPTIONS) {
            cli_error("unknown option \"-%c\"; \"ergocl %s --help\" lists them", *letter,
                      command->name);
            return 0;
        }
        if (!cli_options[i].value) {
            store(arguments, i, NULL);
            continue;
        }
        if (letter[1]) {
            store(arguments, i, letter + 1);
            return 1;
        }
        if (left < 2) {
            cli_error("option \"-%c\" needs a value: %s", *letter, cli_options[i].value);
            return 0;
        }
        store(arguments, i, words[1]);
        return 2;
    }
    return 1;
}

/* With "-o -" the file is all that goes to stdout. */
static bool look_at_output(const struct cli_command *command, struct cli_arguments *arguments) {
    if (!arguments->output || strcmp(arguments->output, "-") != 0)
        return true;
    arguments->quiet = true;
    if ((command->one_file || arguments->merge) && !arguments->json && !arguments->csv)
        return true;
    cli_error(
        "\"ergocl %s%s\" does not send to standard output what --output names; \"./-\" is the "
        "name",
        command->name,
        arguments->json  ? " --json"
        : arguments->csv ? " --csv"
                         : "");
    return false;
}

bool cli_parse(const struct cli_command *command, int argc, char **argv,
               struct cli_arguments *arguments) {
    bool options_end = false;
    for (int i = 0; i < argc;) {
        const char *word = argv[i];
        bool is_option = !options_end && word[0] == '-' && word[1] != '\0';
        int used = 1;
        if (is_option && !strcmp(word, "--"))
            options_end = true;
        else if (is_option && word[1] == '-')
            used = parse_long(command, argc - i, argv + i, arguments);
        else if (is_option)
            used = parse_short(command, argc - i, argv + i, arguments);
        else if (!command->operand || (arguments->operand && !command->operands_many)) {
            cli_error("\"ergocl %s\" does not know what to do with \"%s\"; usage: ergocl %s%s%s",
                      command->name, word, command->name, command->operand ? " " : "",
                      command->operand ? command->operand : "");
            used = 0;
        } else {
            arguments->operands[arguments->n_operands++] = word;
            arguments->operand = arguments->operands[0];
        }
        if (used == 0)
            return false;
        i += used;
    }
    if (command->operand_required && !arguments->operand && !arguments->help) {
        cli_error("\"ergocl %s\" needs %s; \"ergocl %s --help\" says more", command->name,
                  command->operand, command->name);
        return false;
    }
    return look_at_output(command, arguments);
}

/* ---- help ----------------------------------------------------------------------------------- */

void cli_print_usage(void) {
    printf("ergocl %s: Monte Carlo on any OpenCL device, the same bits on each of them\n\n"
           "usage: ergocl COMMAND ...\n\n",
           ERGO_VERSION);
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        char head[64];
        snprintf(head, sizeof head, "%s%s%s", command->name, command->operand ? " " : "",
                 command->operand ? command->operand : "");
        printf("  %-22s %s\n", head, command->summary);
    }
    printf("  %-22s %s\n  %-22s %s\n\n", "--version", "print the version", "--help",
           "print this; COMMAND --help says more about each");
    printf("Exit codes: 0 done, 2 job or command line, 3 device, 4 file, 5 audit failed,\n"
           "75 stopped with a checkpoint (\"ergocl resume DIR\" continues).\n");
}

void cli_print_command_help(const struct cli_command *command) {
    printf("usage: ergocl %s%s%s [options]\n\n%s\n", command->name, command->operand ? " " : "",
           command->operand ? command->operand : "", command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    printf("\noptions:\n");
    for (size_t i = 0; i < CLI_N_OPTIONS; i++) {
        const struct cli_option *option = &cli_options[i];
        if (!takes(command, i))
            continue;
        char head[64];
        if (option->letter)
            snprintf(head, sizeof head, "-%c, --%s%s%s", option->letter, option->name,
                     option->value ? " " : "", option->value ? option->value : "");
        else
            snprintf(head, sizeof head, "    --%s%s%s", option->name, option->value ? " " : "",
                     option->value ? option->value : "");
        printf("  %-22s %s\n", head, option->help);
    }
}
