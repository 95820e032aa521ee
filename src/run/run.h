/*
 * One run: the sequence all samplers share. Internal to src/run.
 *
 *     setup.c       job, device, storage; ergo_run and ergo_resume
 *     folder.c      what is in the run folder before and after
 *     loop.c        blocks of steps, two in flight; signals, progress, wall time
 *     snapshot.c    the run as blobs of a checkpoint, and back
 *     trajectory.c  configurations as text
 *     spread.c      points spread over ranks; spread_parcel.c: points as messages; spread_store.c:
 *                   their checkpoints
 *     finish.c      digests, files
 *     estimate.c    means, errors, exact values; which errors may be shown
 *     replicas.c    the replicas of a point: their mean, and whether they agree
 *     warnings.c    the one list of what speaks against a result
 *     files.c       files that a chain depends on, in its checkpoints
 *     compare.c     scan points beside their reference
 *     cost.c        what steps and measurements cost; how often to measure
 *     plan.c        what a job would need; kernels as text
 *     tuning.c      launch shapes from profiles; tuning_file.c: the files; tune.c: finding them
 */
#ifndef ERGO_RUN_RUN_H
#define ERGO_RUN_RUN_H

#include "result/checkpoint.h"
#include "result/result.h"
#include "samplers/sampler.h"

/* Length of a batch's run in steps and samples. Sample i (from 0) is taken after
 * lead + (i + 1) * every steps; the first n_equilibration samples are not used for estimates. */
struct ergo_schedule {
    uint64_t lead; /* unsampled steps first: equilibration % every */
    uint64_t every;
    size_t n_equilibration, n_samples;
    uint64_t tail;  /* unsampled steps last: sweeps % every */
    uint64_t total; /* steps */
};

/* All names in a checkpoint. */
extern const char *const ergo_run_records[];

enum {
    ERGO_RUN_PICTURES = 64, /* of a point: what /output/snapshots allows */
};

struct ergo_run {
    struct ergo_context *ctx;
    const struct ergo_run_options *options;
    struct ergo_job *job; /* belongs to result */
    struct ergo_result *result;
    const struct ergo_sampler *sampler;
    const struct ergo_sampler_ops *ops; /* the sampler's, or those for systems cut over ranks */
    bool cut;                           /* all ranks run the same batches together */
    struct ergo_device *device;
    struct ergo_folder folder;
    int lock;
    bool made_folder; /* by this run: it was not there */
    bool replaces;    /* an earlier run, which goes when this one has a checkpoint */
    bool begun;       /* the folder holds this run, which can be resumed */

    /* where the run is */
    size_t batch;                  /* index of the current batch; n_batches: all done */
    struct ergo_schedule schedule; /* of the current batch */
    void *state;                   /* sampler's state of the current batch */
    uint64_t step;                 /* of the current batch: enqueued and collected */
    size_t samples;                /* collected of the current batch */
    struct ergo_curve **curves;    /* [members of the job][n_curves] */

    /* resumed: where states of the current batch's members come from, to load instead of init; NULL
     * once they are; and small records that are needed for a while, or those states */
    struct ergo_checkpoint *checkpoint;
    struct ergo_blobs restored;
    bool has_restored_states;

    /* of this session: reading back, converting, storing; and as much of it as the device was seen
     * to be busy during */
    double host_seconds, hidden_seconds;
    double work_done, work_total; /* in units of the rate */
    double seconds_before;        /* sampling time so far, while the clock rests */
    double sampling_started;      /* 0: the clock rests */
    double started, last_checkpoint, last_audit, last_progress; /* monotonic seconds */
    bool progressed; /* this session has done something: a wall time of nothing would loop for ever
                      */
    bool stopped;
    bool profiled; /* tuning profiles were asked: /tuning of a batch is theirs */

    struct ergo_spread *spread; /* points are spread over ranks (spread.h); NULL: they are not */
};

struct ergo_schedule ergo_schedule_of(const struct ergo_point *point);
/* Result of the batch member m. */
struct ergo_member_result *ergo_run_member(struct ergo_run *run, size_t batch, size_t m);
/* Sampling seconds over all sessions so far: building, audits and checkpoints do not count. */
double ergo_run_seconds(const struct ergo_run *run);
void ergo_run_clock_start(struct ergo_run *run);
void ergo_run_clock_rest(struct ergo_run *run);

/* What the clock or a signal of some rank makes due is due at all ranks that run together. */
enum { ERGO_DUE_STOP = 1, ERGO_DUE_AUDIT = 2, ERGO_DUE_SAVE = 4 };
unsigned ergo_run_agree(const struct ergo_run *run, unsigned due);

/* folder.c: create and lock the folder; an earlier run in it is refused, or kept for now. */
enum ergo_status ergo_run_take_folder(struct ergo_run *run, const char *path);
/* Lock the folder of a run, which is open. Folders in it that are links are refused. */
enum ergo_status ergo_run_lock_folder(struct ergo_run *run);
/* Before each write: the folder may have been taken away meanwhile. It is made again, unless
 * another run has come to be in one of that name. */
enum ergo_status ergo_run_hold_folder(struct ergo_run *run);
/* The device works and the first state is there: write a checkpoint, then away with the earlier
 * run. From here on a kill is resumable. */
enum ergo_status ergo_run_begin(struct ergo_run *run);
/* The second half of it, where the first checkpoint is files of ranks too: those whose names begin
 * with `own` stay (NULL: there are none). */
void ergo_run_stands(struct ergo_run *run, const char *own);
/* The same for a resumed run: its files stay, only what killed processes left half-written goes. */
void ergo_run_continue(struct ergo_run *run);
/* A number that no file of a rank has in its name, for the files of a new run's ranks. */
uint64_t ergo_run_generation(const struct ergo_run *run);
/* A run that never began takes its new folder away with it. */
void ergo_run_leave_folder(struct ergo_run *run);

/* plan.c: host memory for series and curves of all points, and for writing them to a checkpoint. */
double ergo_run_host_bytes(const struct ergo_job *job);
double ergo_run_memory(void); /* bytes that this machine has */

/* cost.c: seconds of a step of a batch, of a measurement on the device, and of its host work. */
struct ergo_cost {
    double step, measure, host;
};
/* By a short trial. Without `measurements` only the first. */
enum ergo_status ergo_run_cost(struct ergo_context *ctx, const struct ergo_model *model,
                               const struct ergo_batch *batch, struct ergo_device *device,
                               const struct ergo_plan *plan, bool measurements,
                               struct ergo_cost *cost);
uint64_t ergo_run_best_every(const struct ergo_cost *cost, double correlation);
/* /run/measure_every "auto": the same job with a number, which rank 0 chooses. */
enum ergo_status ergo_run_choose_every(struct ergo_run *run, struct ergo_job **job);
/* setup.c: as options, environment and job say. */
enum ergo_status ergo_run_open_device(struct ergo_run *run, const struct ergo_job *job,
                                      struct ergo_device **device);

bool ergo_run_stop_is_requested(void);
/* loop.c: the whole start of a state outside of a run's loop, for trials; ERGO_STOPPED when asked
 * to stop. */
enum ergo_status ergo_run_start_trial(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state);
/* loop.c: run all batches from where the run is; run->stopped when asked to stop. */
enum ergo_status ergo_run_loop(struct ergo_run *run);
enum ergo_status ergo_run_audit(struct ergo_run *run);
enum ergo_status ergo_run_count(struct ergo_run *run, const struct ergo_batch *batch); /* ops */

/* snapshot.c: a checkpoint, of a state that passes its audit. */
enum ergo_status ergo_run_save(struct ergo_run *run);
/* Fill run (step, samples, series, curves, pictures) from run->checkpoint; the job is already
 * parsed. */
enum ergo_status ergo_run_restore(struct ergo_run *run);
/* The states' records, of `most` bytes, into run->restored. */
enum ergo_status ergo_run_read_states(struct ergo_run *run, double most);
/* Of what a checkpoint says, could a run have written it? Otherwise memory is read that is not
 * there, or the run goes on as another chain without anyone noticing.
 * Curve c with that many samples in bins of that length: bins are indexed by these; two became one
 * when all were full. A sample adds one to a curve; of realisations, at the end of the run
 * (curves_at_end), there may be more. */
bool ergo_run_curve_fits(const struct ergo_model *model, size_t c, uint64_t count, uint64_t length,
                         uint64_t n_samples);
/* A step with that many samples behind it: between two, or before the first, or after the last. */
bool ergo_run_stands_between(const struct ergo_schedule *s, uint64_t step, uint64_t samples);
bool ergo_run_picture_fits(const struct ergo_member_result *m, uint64_t step, uint64_t width,
                           uint64_t height);
bool ergo_run_time_fits(double seconds);
/* When the run began, from its record; false: it is not there, or no time. */
bool ergo_run_take_started(struct ergo_run *run, const struct ergo_blobs *blobs);
/* Text becomes a record without a copy, and is empty then; false: out of memory. */
bool ergo_run_add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text);
/* Load the restored states into the sampler of the current batch. */
enum ergo_status ergo_run_load_states(struct ergo_run *run);

/* files.c: of a new run, what is in the files that its chain depends on, into its job; from there
 * into a checkpoint; and from there, for the job in it. */
enum ergo_status ergo_run_keep_files(struct ergo_run *run);
bool ergo_run_add_files(const struct ergo_run *run, struct ergo_blobs *blobs);
enum ergo_status ergo_run_restore_files(struct ergo_run *run, struct ergo_job_files *files);

/* trajectory.c: samples after which the next frame is due, beyond `samples`; SIZE_MAX: never. The
 * first measurement at or after each multiple of /output/trajectory_every steps of the measured
 * run. */
size_t ergo_run_next_frame(const struct ergo_run *run, size_t samples);
/* DIR/KIND/pPOINT-STEP.xyz for every stride-th point of the current batch. The pipeline is empty.
 */
enum ergo_status ergo_run_write_frames(struct ergo_run *run, const char *kind, size_t stride);

/* finish.c */
enum ergo_status ergo_run_digest_members(struct ergo_run *run);
enum ergo_status ergo_run_write(struct ergo_run *run);

/* estimate.c: estimates, exact values, means, warnings: everything result.json needs. */
enum ergo_status ergo_run_estimate(struct ergo_run *run);
/* Takes the error away unless it is trusted; sets the published value as reference. */
void ergo_run_refuse(struct ergo_observable_result *r, enum ergo_trust trust);
void ergo_run_refer(const struct ergo_point *point, struct ergo_observable_result *r);

/* compare.c: of a calibration (the model's `reference`), after the estimates: each point with its
 * reference.
 */
enum ergo_status ergo_run_compare(struct ergo_run *run);

#endif
