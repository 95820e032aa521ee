/*
 * The command line program: a thin shell over the public API (and of the library base alone).
 * Data goes to stdout, everything else to stderr; only main decides the exit code.
 */
#ifndef ERGO_CLI_CLI_H
#define ERGO_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "ergocl/ergocl.h"

/* Every option of every command, so that a name means the same thing everywhere. */
enum cli_option_id {
    CLI_OUTPUT,
    CLI_DEVICE,
    CLI_SET,
    CLI_OVERWRITE,
    CLI_ON_FAILURE,
    CLI_PLAN,
    CLI_CHECK,
    CLI_REPORT,
    CLI_JSON,
    CLI_CSV,
    CLI_REWEIGHT,
    CLI_OBSERVABLE,
    CLI_CURVE,
    CLI_CROSSING,
    CLI_FIT,
    CLI_WINDOW,
    CLI_CORRECTION,
    CLI_COEXISTENCE,
    CLI_CRITICAL,
    CLI_DUMP,
    CLI_PROGRAMS,
    CLI_DEVICES,
    CLI_ALL,
    CLI_MERGE,
    CLI_PART,
    CLI_SECONDS,
    CLI_SAMPLER,
    CLI_LIST,
    CLI_SEARCH,
    CLI_QUIET,
    CLI_VERBOSE,
    CLI_HELP,
    CLI_N_OPTIONS
};
#define CLI_BIT(id) (1u << (id))

struct cli_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0: no short form */
    const char *value; /* name of the value in help; NULL: the option takes none */
    const char *help;
};
extern const struct cli_option cli_options[CLI_N_OPTIONS];

/* The command line after parsing. Texts point into argv. */
struct cli_arguments {
    const char *operand;   /* JOB.json, DIR, topic; NULL when absent; the first of several */
    const char **operands; /* room for all of argv; owned by main */
    size_t n_operands;
    const char *output, *device;
    const char *devices; /* selectors with commas between them */
    const char *seconds, *sampler, *programs, *on_failure, *search;
    const char *part;  /* "K/N" */
    const char **sets; /* room for all of argv; owned by main */
    size_t n_sets;
    const char **reweight, **observables; /* the same */
    size_t n_reweight, n_observables;
    const char *curve;
    const char *crossing, *fit, *window, *correction, *coexistence;
    bool critical;
    bool overwrite, plan, check, report, json, csv, dump, all, merge, list, quiet, help;
    int verbose;
};

struct cli_command {
    const char *name;
    const char *operand; /* "JOB.json", "[TOPIC]"; NULL: takes none */
    bool operand_required, operands_many;
    const char *summary; /* one line */
    const char *details; /* what --help adds */
    bool one_file;       /* --output names one file, which "-" sends to stdout */
    unsigned options;    /* CLI_BIT of the options that it takes; all take quiet, verbose and
                          * help */
    enum ergo_status (*run)(struct ergo_context *ctx, const struct cli_arguments *arguments);
};

extern const struct cli_command cli_command_run, cli_command_resume, cli_command_merge,
    cli_command_validate, cli_command_compare, cli_command_report, cli_command_table,
    cli_command_analyse, cli_command_tune, cli_command_bench, cli_command_devices, cli_command_help,
    cli_command_schema, cli_command_kernels, cli_command_new, cli_command_examples;
extern const struct cli_command *const cli_commands[]; /* NULL-terminated, in order of help */

/* ---- options.c ---- */

/* Parse the words after the command. false: a message was printed, the exit code is 2. */
bool cli_parse(const struct cli_command *command, int argc, char **argv,
               struct cli_arguments *arguments);
const struct cli_command *cli_find_command(const char *name);
/* Nearest of `count` names to `word`, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);
/* The operands with blanks between them, "spin-lattice potts"; NULL: no memory. */
char *cli_join(const struct cli_arguments *arguments);
void cli_print_usage(void);
void cli_print_command_help(const struct cli_command *command);

/* ---- terminal.c ---- */

double cli_clock(void); /* monotonic seconds */
/* To stderr, "ergocl: error: ..." for every line; a progress bar is wiped first. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* To stdout: a name from others, escaped by ergo_message_show. */
void cli_put(const char *text);
/* To stdout: the text that a call has made, which is freed; nothing where it failed. Its status. */
enum ergo_status cli_print(enum ergo_status status, char *text);
/* Log function of the context. */
void cli_log(void *user, enum ergo_log_level level, const char *message);
/* Progress function of a run; user: struct cli_progress. */
struct cli_progress {
    bool quiet, verbose;
    double next; /* monotonic seconds: time of the next drawing */
};
void cli_progress(void *user, const struct ergo_progress *progress);
void cli_progress_end(void);

/* ---- job.c: what run, resume and validate share ---- */

/* Load JOB.json, or standard input when it is "-". */
enum ergo_status cli_load_job(struct ergo_context *ctx, const struct cli_arguments *arguments,
                              struct ergo_job **job);
/* --seconds as a number above 0; unchanged when it is not given. false: a message was printed. */
bool cli_seconds_of(const struct cli_arguments *arguments, double *seconds);
/* Does --on-failure say so? false: a message was printed. */
bool cli_redistribute_of(const struct cli_arguments *arguments, bool *redistribute);
/* SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and SIGHUP ask the run for a checkpoint and an orderly end. */
void cli_catch_stop_signals(void);
/* Was this process asked to end? */
bool cli_stop_signal_came(void);
/* Print the table and the files of a run that ended with `status`; returns the final status. */
enum ergo_status cli_report(struct ergo_context *ctx, const char *directory,
                            const struct cli_arguments *arguments, enum ergo_status status,
                            const struct ergo_result *result);

#endif
