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
 * "job", "devices", "result", "extend", "exit-codes", "environment". Unknown topics: ERGO_E_JOB
 * with the nearest name. */
enum ergo_status ergo_help_text(struct ergo_context *ctx, const char *topic, char **text);

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
 * it, all ranks call ergo_run and ergo_resume alike; results, files and tables are rank 0's, and
 * the others get no result. */
enum ergo_status ergo_ranks_start(struct ergo_context *ctx);
int ergo_ranks_rank(void);
/* The MPI that is used, "Open MPI v4.1.4", or "none": built without, one process runs a job, and
 * ergo_ranks_start refuses several. Cut at `size` bytes. */
void ergo_ranks_library(char *text, size_t size);
/* Call this at the end of each rank with its exit code, which it returns. A failure (neither 0 nor
 * 75) ends all ranks at once with that code. */
int ergo_ranks_finish(int exit_code);

/* ---- runs ---------------------------------------------------------------------------------- */

struct ergo_progress {
    double done, total;  /* work in the rate's unit, e.g. spin updates */
    double seconds, eta; /* wall time of the sampling so far, and expected rest */
    double rate;         /* in the sampler's unit, per second */
    const char *rate_unit;
    const char *phase; /* "equilibration", "sampling", "writing" */
};
typedef void (*ergo_progress_function)(void *user, const struct ergo_progress *progress);

struct ergo_run_watch;

struct ergo_run_options {
    const char *directory; /* run folder; NULL: ergo_job_name */
    const char *device;    /* selector; NULL: $ERGOCL_DEVICE, then the job's, then "auto" */
    bool overwrite; /* replace an earlier run in the folder, once this one has a checkpoint */
    /* Run only part `part` (from 1 on) of the n_parts that the job's points and replicas are dealt
     * out to; both 0: all. The parts of a run need nothing of each other; ergo_merge unites them.
     * Of ergo_run only: a folder knows which part it is. */
    unsigned part, n_parts;
    ergo_progress_function progress;
    void *user;
    const struct ergo_run_watch *watch; /* for the library's own use: NULL */
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

/* result.json as text, and the table that a terminal shows. */
enum ergo_status ergo_result_json(struct ergo_context *ctx, const struct ergo_result *result,
                                  char **text);
enum ergo_status ergo_result_table(struct ergo_context *ctx, const struct ergo_result *result,
                                   char **text);
/* Into a run's folder what people look at: report.html, configurations.png and snapshots. */
enum ergo_status ergo_result_write_page(struct ergo_context *ctx, const struct ergo_result *result,
                                        const char *directory);
void ergo_result_destroy(struct ergo_result *result); /* result may be NULL */

/* ---- reports ----------------------------------------------------------------------------------
 */

/* Writes one HTML page, `path`, of the runs in n_directories folders, which may be finished,
 * stopped or running. Their checkpoints are only read. The page needs no other file and no network.
 * path NULL: report.html in the folder of a single run, else in the current folder. An existing
 * file, unless it is the run's own report, is ERGO_E_IO without `overwrite`. */
enum ergo_status ergo_report(struct ergo_context *ctx, const char *const *directories,
                             size_t n_directories, const char *path, bool overwrite);

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
 * first step after which they do. A device that fails is part of the result. The call fails when
 * fewer than two devices are given, or none could run the job. `options` may be NULL: all zeros.
 * *comparison may be set after ERGO_STOPPED and after failures to write. */
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
