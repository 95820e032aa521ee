/*
 * ergocl: a portable Monte Carlo engine on OpenCL. Public C API.
 *
 * Every function that can fail returns an enum ergo_status and leaves its message(s) in the
 * context. A context is used by one thread at a time; different contexts are independent.
 * No function of the library exits or writes to stdout. Text returned through `char **` is
 * allocated with malloc() and belongs to the caller.
 *
 * Pointers must not be NULL unless it is said that they may: one that is makes a function return
 * ERGO_E_JOB with a message that names it (without one where it is the context). Functions that
 * return no status then return "", 0 or false, or do nothing. What a function returns by a pointer
 * is NULL (0) after a failure, unless it is said otherwise.
 *
 * Numbers in files and texts have decimal points whatever the program's locale, which is the
 * thread's own again when a function returns, and in callbacks.
 */
#ifndef ERGOCL_ERGOCL_H
#define ERGOCL_ERGOCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ERGO_VERSION "0.1.0"

/* What happened. `ergo_status_exit_code` maps it to the documented exit code of the program. */
enum ergo_status {
    ERGO_OK = 0,
    ERGO_E_JOB,      /* the job or the call's arguments are wrong              exit  2 */
    ERGO_E_DEVICE,   /* no usable device, or it failed                         exit  3 */
    ERGO_E_IO,       /* a file could not be read or written                    exit  4 */
    ERGO_E_AUDIT,    /* an audit failed: the state is wrong, never continue    exit  5 */
    ERGO_STOPPED,    /* stopped on request or wall time, checkpoint written    exit 75 */
    ERGO_E_MEMORY,   /* host memory ran out                                    exit  3 */
    ERGO_E_INTERNAL, /* a bug in ergocl                                        exit 70 */
};

int ergo_status_exit_code(enum ergo_status status);

/* ---- context ------------------------------------------------------------------------------- */

struct ergo_context;

enum ergo_log_level { ERGO_LOG_ERROR, ERGO_LOG_WARNING, ERGO_LOG_INFO, ERGO_LOG_DEBUG };

typedef void (*ergo_log_function)(void *user, enum ergo_log_level level, const char *message);

/* NULL when memory ran out. Warnings go to stderr until a log function is set. */
struct ergo_context *ergo_context_create(void);
void ergo_context_destroy(struct ergo_context *ctx); /* ctx may be NULL */
/* Messages of `level` and more severe ones are passed to `log`; log == NULL: stderr. user: handed
 * on, may be NULL. */
void ergo_context_set_log(struct ergo_context *ctx, enum ergo_log_level level,
                          ergo_log_function log, void *user);
/* All errors since the last ergo_error_clear, one message a line; "" if there are none. */
const char *ergo_error_message(const struct ergo_context *ctx);
void ergo_error_clear(struct ergo_context *ctx);
/* Makes text from others (names of files and jobs, words of a command line) safe for a terminal, as
 * in all messages and tables of the library: control characters except line ends become "\u001B",
 * bytes that are not UTF-8 "\xFF", tabs blanks. As snprintf: writes as many characters as fit into
 * `size` bytes, and returns the length of the whole text. out may be NULL when size is 0. */
size_t ergo_message_show(char *out, size_t size, const char *text);

/* ---- jobs ---------------------------------------------------------------------------------- */

struct ergo_job;

/*
 * Read and check a job whole: every error (JSON pointer, found, allowed, nearest right name) is
 * collected before the call returns ERGO_E_JOB. No device is touched.
 * `path`: "-" is standard input. `sets`: n_sets texts "/json/pointer=value" applied over the file
 * before checking; may be NULL when there are none.
 */
enum ergo_status ergo_job_load(struct ergo_context *ctx, const char *path, const char *const *sets,
                               size_t n_sets, struct ergo_job **job);
/* The same from memory; `name` stands for the file in messages and names the default run folder. */
enum ergo_status ergo_job_parse(struct ergo_context *ctx, const char *text, size_t length,
                                const char *name, const char *const *sets, size_t n_sets,
                                struct ergo_job **job);
void ergo_job_destroy(struct ergo_job *job);           /* job may be NULL */
const char *ergo_job_name(const struct ergo_job *job); /* file name without .json */
const char *ergo_job_sampler(const struct ergo_job *job);
size_t ergo_job_count_points(const struct ergo_job *job); /* scan points times replicas */

/* JSON schema (draft 2020-12) of all samplers' jobs, generated from the key tables. */
enum ergo_status ergo_schema_text(struct ergo_context *ctx, char **text);
/* topic: NULL (overview), a sampler, one of its models ("spin-lattice potts", or "potts"), the name
 * of a key, observable, curve, column or tunable ("temperature": of whatever has one), or one of
 * "job", "devices", "result", "configurations", "extend", "exit-codes", "environment". Unknown
 * topics: ERGO_E_JOB with the nearest name. */
enum ergo_status ergo_help_text(struct ergo_context *ctx, const char *topic, char **text);

/* What has all words of `words` in its name or its help, in any case: samplers, models, keys,
 * observables, curves, columns, tunables, those with the words in their name first. None:
 * ERGO_E_JOB. */
enum ergo_status ergo_help_search(struct ergo_context *ctx, const char *words, char **text);
/* A job that runs for seconds on any device, as JSON to begin with, of a sampler or a model
 * ("potts", "spin-lattice potts"; a sampler alone: its default model; NULL: spin-lattice). */
enum ergo_status ergo_new_text(struct ergo_context *ctx, const char *topic, char **text);

/* ---- devices ------------------------------------------------------------------------------- */

struct ergo_device_summary {
    char id[24]; /* "platform:device", by index */
    char name[128];
    char platform[128];
    char driver[128];
    char version[128];
    char type[16]; /* "gpu", "cpu", "accelerator" */
    unsigned compute_units;
    uint64_t global_memory, local_memory, largest_buffer; /* bytes */
    uint64_t largest_group;
    bool fp64, atomics64;
    bool usable;
    char verdict[512]; /* one sentence: what it can do, or why it is refused */
};

/* Every platform and device. probe: run the start-up probe on each (cached), else only query.
 * `list` is allocated; free() it. Without any device: ERGO_OK with *count == 0. */
enum ergo_status ergo_device_list(struct ergo_context *ctx, bool probe,
                                  struct ergo_device_summary **list, size_t *count);
/* The list as JSON. */
enum ergo_status ergo_device_json(struct ergo_context *ctx, const struct ergo_device_summary *list,
                                  size_t count, char **text);

/* ---- ranks --------------------------------------------------------------------------------- */

/* Call this before the first run of a process that mpirun (or srun) has started: its ranks then
 * share the points of a job. In any other process it does nothing, and MPI is not touched. After
 * it, all ranks call ergo_run and ergo_resume alike, with one job (others are refused); results,
 * files and tables are rank 0's, and the others get no result. */
enum ergo_status ergo_ranks_start(struct ergo_context *ctx);
int ergo_ranks_rank(void);
/* Gives rank 0's job to all other ranks, which pass NULL in *job: one that was read from standard
 * input, say, which rank 0 alone has. Of one process: nothing is done. */
enum ergo_status ergo_ranks_share_job(struct ergo_context *ctx, struct ergo_job **job);
/* Is this rank 0, or no rank? Known before ergo_ranks_start, too, from the launcher's environment.
 */
bool ergo_ranks_first(void);
/* The MPI that is used, "Open MPI v4.1.4", or "none": built without, one process runs a job, and
 * ergo_ranks_start refuses several. Cut at `size` bytes. */
void ergo_ranks_library(char *text, size_t size);
/* A rank that failed asks whether to show its message. What one cannot do, mostly none can: of a
 * host the first that asks gets true. *elsewhere: rank 0 is on another host, or ranks are not
 * started (ergo_ranks_start), and it may be said there, too; wait a moment for being ended. Show
 * the message, then call ergo_ranks_finish, which ends no rank that still speaks. */
bool ergo_ranks_speak(bool *elsewhere);
/* Call this at the end of each rank with its exit code, which it returns. A failure (neither 0 nor
 * 75) ends all ranks at once with that code. */
int ergo_ranks_finish(int exit_code);

/* ---- runs ---------------------------------------------------------------------------------- */

/* Told now and then by the thread that called ergo_run, ergo_resume, ergo_compare or ergo_tune, and
 * by no other; it may call ergo_stop_request. */
struct ergo_progress {
    double done, total; /* work in the rate's unit, e.g. spin updates */
    double seconds;     /* wall time of the sampling so far */
    double eta;  /* expected rest, from what points of each size have cost; NAN: not known yet */
    double rate; /* in the sampler's unit, per second */
    const char *rate_unit;
    const char *phase; /* "equilibration", "sampling", "writing" */
    bool rough;        /* eta is a guess: some sizes have not been run yet */
};
typedef void (*ergo_progress_function)(void *user, const struct ergo_progress *progress);

/* A request to stop for those runs alone that were given it. It may be requested from any thread
 * and from a signal handler, before a run and while it goes on, and stays requested. */
struct ergo_stop;

struct ergo_stop *ergo_stop_create(void);       /* NULL when memory ran out */
void ergo_stop_destroy(struct ergo_stop *stop); /* NULL: nothing; once its runs have returned */
void ergo_stop_request(struct ergo_stop *stop); /* NULL: nothing. Async-signal-safe */
bool ergo_stop_is_requested(const struct ergo_stop *stop); /* NULL: false */

struct ergo_run_watch;

struct ergo_run_options {
    const char *directory; /* run folder; NULL: ergo_job_name */
    const char *device;    /* selector; NULL: $ERGOCL_DEVICE, then the job's, then "auto" */
    bool overwrite; /* replace an earlier run in the folder, once this one has a checkpoint */
    /* With several ranks that have points of their own: what a device that fails (an OpenCL error
     * while its points are made) had to do goes to the other ranks, from its last checkpoint or
     * from its beginning, with the same results; result.json has a warning. Without it, for a
     * system that is cut over ranks, and when no device is left, the run ends with ERGO_E_DEVICE
     * and goes on from its last checkpoint by ergo_resume. A process that ends by a signal, and an
     * audit that fails, end all ranks in any case. */
    bool redistribute;
    /* Run only part `part` (from 1 on) of the n_parts that the job's points and replicas are dealt
     * out to; both 0: all. The parts of a run need nothing of each other; ergo_merge unites them.
     * Of ergo_run only: a folder knows which part it is. */
    unsigned part, n_parts;
    ergo_progress_function progress;
    void *user;
    const struct ergo_run_watch *watch; /* for the library's own use: NULL */
    const struct ergo_stop *stop;       /* asks this run to checkpoint and stop; NULL: only
                                         * ergo_run_request_stop does */
};

struct ergo_result;

/* Run a job to the end, or to a checkpoint (ERGO_STOPPED, with the results so far in *result).
 * `options` may be NULL: all zeros. A folder with a finished run of the same job, but shorter or of
 * fewer points, is extended (ergo_extend), and a warning says so; any other run in it is ERGO_E_JOB
 * without `overwrite`. */
enum ergo_status ergo_run(struct ergo_context *ctx, const struct ergo_job *job,
                          const struct ergo_run_options *options, struct ergo_result **result);
/* Continue the run in `directory`. For a finished run: ERGO_OK and its result. */
enum ergo_status ergo_resume(struct ergo_context *ctx, const char *directory,
                             const struct ergo_run_options *options, struct ergo_result **result);
/*
 * Continue the run in `directory` as its job with n_sets changes "/json/pointer=value": longer
 * (/run/sweeps, in the sampler's steps), with more replicas, with a scan that has the points it had
 * and more of them. Chains, samples and estimates are those of a run that asked for all of it at
 * once. The run may be finished or not, and extended again. ERGO_E_JOB, before anything is touched,
 * for a change that would make another run of it, with the key and the reason; keys that no chain
 * depends on (/device, /output, /checkpoint, /wall_time, /tuning ...) may have any value.
 * n_sets 0: ergo_resume; `sets` may be NULL then.
 */
enum ergo_status ergo_extend(struct ergo_context *ctx, const char *directory,
                             const char *const *sets, size_t n_sets,
                             const struct ergo_run_options *options, struct ergo_result **result);
/*
 * Unite the parts of a run (ergo_run_options.part), which are finished, in the folder `directory`:
 * checkpoint, result.json, series.h5 and configurations as of one run, which can be reported,
 * resumed and extended. *result: of the whole; device and rate are of all parts together.
 * ERGO_E_JOB for parts of different jobs, and where a part is missing or not finished, with its
 * number; ERGO_E_AUDIT where two parts have the same point and do not agree to the bit. The parts
 * are only read. `overwrite`: replace a run in `directory`.
 */
enum ergo_status ergo_merge(struct ergo_context *ctx, const char *const *directories,
                            size_t n_directories, const char *directory, bool overwrite,
                            struct ergo_result **result);
/* Ask all runs of this process to checkpoint and stop. Async-signal-safe. */
void ergo_run_request_stop(void);
/* Has the latest run of this process a checkpoint? Then ending the process loses only what came
 * after it. Async-signal-safe. */
bool ergo_run_has_checkpoint(void);
/* Withdraw the request: runs that begin after this call are not stopped. */
void ergo_run_withdraw_stop(void);
/* Refuses what a run of this job would refuse on this machine before it opens a device:
 * ERGO_E_MEMORY where its results do not fit. */
enum ergo_status ergo_validate(struct ergo_context *ctx, const struct ergo_job *job);
/* Memory, launches and expected time of the job on the selected device, as text. `device`: as in
 * ergo_run_options. */
enum ergo_status ergo_plan_text(struct ergo_context *ctx, const struct ergo_job *job,
                                const char *device, char **text);

/* The result of the run in a folder, finished, stopped or running, from its checkpoint; result.json
 * and series.h5 are not read back. Needs no device, and leaves folder and run alone. What only the
 * process that ran it knew is not there: the rate of a run that was stopped is 0, and of the device
 * only id, name, platform and driver are known. ERGO_E_IO: no run is there, or it is damaged. */
enum ergo_status ergo_result_load(struct ergo_context *ctx, const char *directory,
                                  struct ergo_result **result);

/* result.json as text, and the table that a terminal shows. */
enum ergo_status ergo_result_json(struct ergo_context *ctx, const struct ergo_result *result,
                                  char **text);
enum ergo_status ergo_result_table(struct ergo_context *ctx, const struct ergo_result *result,
                                   char **text);
/* The table of these observables alone. ERGO_E_JOB: the result has none of a name, one is NULL, or
 * the table has no room for so many. */
enum ergo_status ergo_result_table_of(struct ergo_context *ctx, const struct ergo_result *result,
                                      const char *const *names, size_t n_names, char **text);
/* All points and means of n_results results as CSV (RFC 4180; lines end in \n): a line with the
 * columns' names and, in brackets, units; then a line for each point, and behind those of a scan
 * point their mean, whose replica is "mean". Columns: run (only where `names`, one for each result,
 * is not NULL); by their pointers the scanned parameters and other keys by which the chains of
 * several results differ; replica, steps, digest; of each observable the mean ("energy [J per
 * site]"), "energy.error", "energy.tau" (in steps), "energy.untrusted" (why there is no error), and
 * where some point has them "energy.exact", "energy.reference", "energy.reference_error". Numbers
 * read back as the same doubles; what a point does not have is empty. */
enum ergo_status ergo_result_csv(struct ergo_context *ctx, const struct ergo_result *const *results,
                                 const char *const *names, size_t n_results, char **text);
/* Into a run's folder what people look at: report.html, configurations.png and snapshots. */
enum ergo_status ergo_result_write_page(struct ergo_context *ctx, const struct ergo_result *result,
                                        const char *directory);
void ergo_result_destroy(struct ergo_result *result); /* result may be NULL */

/* ---- results as numbers ------------------------------------------------------------------------
 *
 * The numbers of result.json, and the samples. Texts and arrays that are pointed to belong to the
 * result and live as long. Unknown numbers are NAN, unknown texts NULL, unless it is said
 * otherwise. An index beyond a count is ERGO_E_JOB.
 */

/* What a result has several of; each is numbered from 0. */
enum ergo_result_part {
    ERGO_RESULT_POINTS,      /* chains: scan points times replicas, in the job's order */
    ERGO_RESULT_MEANS,       /* scan points, over their replicas; none where /replicas is 1 */
    ERGO_RESULT_PARAMETERS,  /* scanned keys; of a scan over whole sizes one for each element */
    ERGO_RESULT_OBSERVABLES, /* of the model; not every point has each */
    ERGO_RESULT_CURVES,
    ERGO_RESULT_COLUMNS, /* of the time series */
    ERGO_RESULT_DEVICES, /* one for each rank */
    ERGO_RESULT_WARNINGS,
};

/* How many: 0 for NULL and for an unknown part. */
size_t ergo_result_count(const struct ergo_result *result, enum ergo_result_part part);

struct ergo_result_info {
    const char *name;      /* of the job */
    const char *job;       /* the whole job as JSON */
    const char *sampler;   /* "spin-lattice" */
    const char *model;     /* "ising"; NULL: its sampler has only one */
    const char *status;    /* "complete", or "stopped": it is not, and may be running */
    const char *started;   /* UTC, ISO 8601 */
    const char *step_unit; /* "sweep" */
    const char *rate_unit; /* "spin updates per second" */
    const char *series;    /* what is kept of the samples: "full", "blocks" or "none" */
    uint64_t seed;
    double rate, seconds; /* rate over that many seconds of sampling; 0: not known */
};
enum ergo_status ergo_result_get_info(struct ergo_context *ctx, const struct ergo_result *result,
                                      struct ergo_result_info *info);

struct ergo_result_name {
    const char *name; /* "energy"; of a parameter its JSON pointer, "/system/temperature" */
    const char *unit; /* "": dimensionless */
    const char *help; /* its definition, in a sentence */
    const char *axis; /* of a curve: what x is, with its unit; else NULL */
};
/* Parameters, observables, curves and columns have names. */
enum ergo_status ergo_result_get_name(struct ergo_context *ctx, const struct ergo_result *result,
                                      enum ergo_result_part part, size_t index,
                                      struct ergo_result_name *name);
/* The index of a name; ERGO_E_JOB with the nearest one where there is none. */
enum ergo_status ergo_result_find(struct ergo_context *ctx, const struct ergo_result *result,
                                  enum ergo_result_part part, const char *name, size_t *index);

struct ergo_result_point {
    size_t scan_index;       /* of the scan point */
    uint32_t replica;        /* from 0; of a mean: 0 */
    uint32_t replicas;       /* chains in it: 1; of a mean more */
    uint32_t measured;       /* of these with samples after equilibration */
    const char *status;      /* "complete", "stopped", or "waiting": not begun; of a mean: of all */
    uint64_t steps, planned; /* done, and in all; equilibration included. Of a mean: the least */
    uint64_t digest;         /* of the state; 0: of a mean, and where a run has not told it yet */
    uint64_t stream;         /* key of its random numbers; of a mean: 0 */
};
/* part: ERGO_RESULT_POINTS or ERGO_RESULT_MEANS, here and below. */
enum ergo_status ergo_result_get_point(struct ergo_context *ctx, const struct ergo_result *result,
                                       enum ergo_result_part part, size_t index,
                                       struct ergo_result_point *point);

enum ergo_value_kind {
    ERGO_VALUE_ABSENT, /* not given, and without a default */
    ERGO_VALUE_NUMBER,
    ERGO_VALUE_SEED, /* a whole number of 64 bits without sign */
    ERGO_VALUE_BOOL, /* number is 0 or 1 */
    ERGO_VALUE_TEXT,
    ERGO_VALUE_LIST, /* of numbers: sizes, vectors */
};
struct ergo_result_value {
    enum ergo_value_kind kind;
    double number;
    uint64_t seed;
    const char *text;
    size_t n_items;
    double items[4];
};
/* The value at a point of any key of the job, scanned or not, defaults filled in. An element of a
 * list is "/system/size/0". A pointer that is no key is ERGO_E_JOB. */
enum ergo_status ergo_result_get_value(struct ergo_context *ctx, const struct ergo_result *result,
                                       enum ergo_result_part part, size_t index,
                                       const char *pointer, struct ergo_result_value *value);

struct ergo_result_estimate {
    bool present;          /* false: the point does not have this observable, and the rest is
                            * unknown */
    const char *unit;      /* "": dimensionless */
    double mean, error;    /* in this unit; error is NAN where it is not trusted: */
    const char *untrusted; /* why: "too-short", "drift", ... (help errors); NULL: it is */
    double error_binning;  /* by binning; for comparison, and too small where untrusted */
    double tau, tau_error; /* integrated autocorrelation time in steps; independent: every/2 */
    uint64_t samples;      /* measured */
    double exact, z;       /* value by theory, and (mean - exact) / error */
    double reference;      /* a value that has an error of its own: published, or of a
                            * calibration's reference point */
    double reference_error;
    double reference_z; /* (mean - reference) in units of the error of the difference */
    /* Of a mean over replicas, else NAN and 0: its error by the chains' own errors and by their
     * scatter; chi^2 of the chains about the mean, its degrees of freedom, and the probability of
     * this or a larger one. */
    double error_chains, error_scatter, chi2, tail;
    size_t dof;
};
enum ergo_status ergo_result_get_estimate(struct ergo_context *ctx,
                                          const struct ergo_result *result,
                                          enum ergo_result_part part, size_t index,
                                          size_t observable, struct ergo_result_estimate *estimate);

struct ergo_result_curve {
    size_t size;                    /* 0: the point does not have this curve */
    const double *x, *mean, *error; /* [size]; errors may be NAN */
    const double *reference_z;      /* [size], against a calibration's reference; NULL: none */
    const char *untrusted;          /* why its errors are not, as of an estimate; NULL: they are */
};
enum ergo_status ergo_result_get_curve(struct ergo_context *ctx, const struct ergo_result *result,
                                       size_t point, size_t curve,
                                       struct ergo_result_curve *values);

/* Sample i, from 0, was taken after lead + (i + 1) * every steps. */
struct ergo_result_series {
    size_t size;           /* samples, equilibration included */
    size_t equilibration;  /* the first of these, which no mean contains */
    const double *samples; /* [size]; NULL: this column is not recorded, or samples are not kept */
    uint64_t lead, every;
};
enum ergo_status ergo_result_get_series(struct ergo_context *ctx, const struct ergo_result *result,
                                        size_t point, size_t column,
                                        struct ergo_result_series *series);

/* What is not known of a device is "", 0 and false. */
enum ergo_status ergo_result_get_device(struct ergo_context *ctx, const struct ergo_result *result,
                                        size_t index, struct ergo_device_summary *device);
/* A sentence; "" for NULL and beyond the count. */
const char *ergo_result_warning(const struct ergo_result *result, size_t index);

/* ---- reports ----------------------------------------------------------------------------------
 */

/* Writes one HTML page, `path`, of the runs in n_directories folders, which may be finished,
 * stopped or running. Their checkpoints are only read. The page needs no other file and no network.
 * path NULL: report.html in the folder of a single run, else in the current folder. An existing
 * file, unless it is the run's own report, is ERGO_E_IO without `overwrite`. */
enum ergo_status ergo_report(struct ergo_context *ctx, const char *const *directories,
                             size_t n_directories, const char *path, bool overwrite);

/* ---- analyses ---------------------------------------------------------------------------------
 */

/*
 * What to find out from several runs. All zeros: what the runs offer by themselves: pooled means of
 * chains of the same physics, observables reweighted over the range that was simulated, and where
 * curves of sizes cross. A key is named by its pointer or its last word, "/system/temperature" or
 * "temperature", and is one that weights of configurations depend on (temperature, field,
 * activity, ...).
 */
struct ergo_analyse_options {
    /* n_reweight texts "KEY=FROM:TO:STEP" or "KEY=VALUE,VALUE,...", of different keys: observables
     * there, on the grid of all keys. */
    const char *const *reweight;
    size_t n_reweight;
    const char *const *observables; /* n_observables names; none: all that can be weighted */
    size_t n_observables;
    /* "NAME", "NAME/L" or "NAME/L^POWER", L the last side of the lattice: where curves of sizes
     * that follow each other cross, and where to for large sizes. NULL: what the model says
     * crosses. */
    const char *crossing;
    /* The same: a fit of finite-size scaling y = L^power F((x - x_c) L^(1/nu)) to the points that
     * were simulated; power is 0 where curves of sizes cross, and of "NAME/L". NULL: none. */
    const char *fit;
    const char *window; /* "FROM:TO" of the axis, for the fit; NULL: all points */
    /* Exponent w > 0 of a correction L^-w: in the fit beside the leading term; of crossings,
     * instead of a free one, w + 1/nu of the fit, or without a fit w itself. 0: none. */
    double correction;
    /* The key whose value is looked for at which two phases have the same weight; NULL: none. */
    const char *coexistence;
    /* Of a fluid whose number of particles changes: the critical point of each cube, by mixed-field
     * finite-size scaling, and of an infinite one. */
    bool critical;
};

struct ergo_analysis;

/*
 * Analyses the runs in n_directories folders, which may be finished, stopped or running. Their
 * checkpoints are only read; no device is touched. They have one sampler and model; points that
 * differ in other keys than those of weights are systems of their own. Samples are weighted by
 * MBAR, errors are from a jackknife over blocks of 10 autocorrelation times and more; with fewer
 * than 10 blocks there are none. `options` may be NULL: all zeros.
 *
 * ERGO_E_JOB: an option does not fit the runs; samples cannot be weighted (the message says why and
 * what to do), or all values asked for are outside of the overlap, where fewer than 100 independent
 * samples would be left for the error to rest on, K^3/E^2 (`ergocl help analyse`; the message has
 * the range inside). ERGO_E_IO: no run is there.
 */
enum ergo_status ergo_analyse(struct ergo_context *ctx, const char *const *directories,
                              size_t n_directories, const struct ergo_analyse_options *options,
                              struct ergo_analysis **analysis);
/* For a terminal; as JSON; as CSV with a line for each value: kind, system, key, at, observable,
 * value, error. */
enum ergo_status ergo_analysis_table(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                     char **text);
enum ergo_status ergo_analysis_json(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                    char **text);
enum ergo_status ergo_analysis_csv(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                   char **text);
/* One HTML page with figures, which needs no other file and no network. An existing file is
 * ERGO_E_IO without `overwrite`. */
enum ergo_status ergo_analysis_write_page(struct ergo_context *ctx,
                                          const struct ergo_analysis *analysis, const char *path,
                                          bool overwrite);
void ergo_analysis_destroy(struct ergo_analysis *analysis); /* may be NULL */

/* ---- the same job on several devices --------------------------------------------------------- */

struct ergo_compare_options {
    const char *directory;      /* gets a run folder per device; NULL: ergo_job_name */
    const char *const *devices; /* n_devices selectors; none: every usable device */
    size_t n_devices;
    bool overwrite; /* replace earlier runs */
    ergo_progress_function progress;
    void *user;
};

struct ergo_comparison;

/* Runs the job on each device, one after the other, and compares final states and all samples, bit
 * for bit, with those of the first device that finished. Where states differ, shorter runs find the
 * first step after which they do. A device that fails is part of the result; where every usable
 * device is meant and there is one, it runs alone. The call fails when a single device is named,
 * one is not there, or none could run the job. `options` may be NULL: all zeros. *comparison may be
 * set after ERGO_STOPPED and after failures to write. */
enum ergo_status ergo_compare(struct ergo_context *ctx, const struct ergo_job *job,
                              const struct ergo_compare_options *options,
                              struct ergo_comparison **comparison);
/* Has every device finished, with the same bits? */
bool ergo_comparison_agrees(const struct ergo_comparison *comparison);
enum ergo_status ergo_comparison_table(struct ergo_context *ctx,
                                       const struct ergo_comparison *comparison, char **text);
enum ergo_status ergo_comparison_json(struct ergo_context *ctx,
                                      const struct ergo_comparison *comparison, char **text);
/* Results of several machines on one page: each file is a compare.json, or what `ergocl bench -o`
 * wrote. Writes the HTML page `page`, and refuses one that is there unless `overwrite`. *agree: no
 * device failed, and all with digests of one job have the same. *table: for a terminal, to be freed
 * by free(). ERGO_E_JOB for a file that is neither. */
enum ergo_status ergo_compare_merge(struct ergo_context *ctx, const char *const *files,
                                    size_t n_files, const char *page, bool overwrite, bool *agree,
                                    char **table);
void ergo_comparison_destroy(struct ergo_comparison *comparison); /* may be NULL */

/* ---- tuning -----------------------------------------------------------------------------------
 */

struct ergo_tune_options {
    const char *device; /* as in ergo_run_options */
    double seconds;     /* to search; a last comparison takes more */
    const char *path;   /* of the profile; NULL: the user's profile, which runs read */
    ergo_progress_function progress;
    void *user;
};

/* Searches the launch parameters (/tuning) that are fastest for the job's first batch, and writes
 * them to a profile. Later runs of jobs like it use them on that device; their chains are the same.
 * An older entry for the same jobs is removed, even when nothing is faster. *text reports the gain.
 */
enum ergo_status ergo_tune(struct ergo_context *ctx, const struct ergo_job *job,
                           const struct ergo_tune_options *options, char **text);

/* ---- kernels ------------------------------------------------------------------------------- */

/* The flattened OpenCL C from which a sampler's programs are built; NULL: of all samplers. */
enum ergo_status ergo_kernels_text(struct ergo_context *ctx, const char *sampler, char **text);

/* Writes each program of a job, as it would be built for `device` (as in ergo_run_options), to the
 * folder `directory`, which is made if it does not exist: NAME.cl, the whole source, and NAME.json
 * with the build options, the kernels that are used, and the batches' launches. Files of these
 * names are replaced. Nothing is built or run. *text lists what was written. */
enum ergo_status ergo_kernels_write(struct ergo_context *ctx, const struct ergo_job *job,
                                    const char *device, const char *directory, char **text);

#ifdef __cplusplus
}
#endif
#endif
