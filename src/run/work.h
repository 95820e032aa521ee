/*
 * The work of a run: batches of a job on a device, one after the other, into a result.
 *
 *     loop.c        blocks of steps, two in flight
 *     audit.c       which blocks are made again on another device (replay.c), and compared
 *     known.c       what a device without another is asked first, and has to know
 *     save.c        states and digests; a checkpoint, and its states back
 *     follow.c      starts from last states of other chains
 *     frames.c      pictures and configurations on the way
 *     packed.c      configurations.h5
 *     spread.c      points spread over ranks (spread.h, with its files)
 *     setup.c       ergo_run: what all runs do, from the first checks to the files
 *     merge.c       ergo_merge: parts of a run, without a device
 *     extend.c      ergo_resume and ergo_extend: runs that go on, as they were or further
 */
#ifndef ERGO_RUN_WORK_H
#define ERGO_RUN_WORK_H

#include "job/schedule.h"
#include "result/configurations.h"
#include "result/store.h"
#include "run/audit.h"
#include "run/session.h"
#include "run/watch.h"
#include "samplers/sampler.h"

struct ergo_work {
    struct ergo_context *ctx;
    struct ergo_session *session;
    struct ergo_result *result;         /* owned, until it is given away */
    const struct ergo_job *job;         /* belongs to result */
    struct ergo_device *device;         /* owned */
    const struct ergo_sampler_ops *ops; /* the sampler's, or those for systems cut over ranks */
    bool cut;                           /* all ranks run the same batches together */
    double *speeds;                     /* [ranks] of whole systems, work per second, where they
                                           are not cut after a trial; else NULL */
    bool profiled; /* tuning profiles were asked: /tuning of a batch is theirs */

    /* where it is */
    const struct ergo_batch *batches; /* the job's, or a piece of one (spread.c) */
    size_t n_batches, batch;          /* n_batches: all done */
    struct ergo_schedule schedule;    /* of the current batch */
    void *state;                      /* sampler's state of the current batch */
    void *planned;  /* owned; the only batch's, by which it was planned: becomes its state */
    uint64_t step;  /* of the current batch: enqueued and collected */
    size_t samples; /* collected of the current batch */
    /* owned, [n_points] in job order: where points stand in the checkpoint. Their states are here
     * until they are loaded, and while they are saved; where points are spread over ranks always */
    struct ergo_point_progress *progress;
    struct ergo_rank_files files; /* that the checkpoint has */
    struct ergo_stored stored;    /* of a run that goes on */

    /* host work of this session (reading back, converting, storing), and the part of it during
     * which the device was busy */
    double host_seconds, hidden_seconds;

    struct ergo_configurations configurations; /* owned; where the job writes them */
    bool unsynced;                             /* frames were written since the last checkpoint */

    struct ergo_audit *audit;   /* replays (audit.h); NULL: none */
    struct ergo_spread *spread; /* points are spread over ranks (spread.h); NULL: they are not */
};

/* Result of member m of the current batch. */
struct ergo_member_result *ergo_work_member(const struct ergo_work *work, size_t m);

/* What a clock or a signal makes due on one rank is due on all ranks that run together. */
enum { ERGO_DUE_STOP = 1, ERGO_DUE_AUDIT = 2, ERGO_DUE_SAVE = 4, ERGO_DUE_DIVIDE = 8 };
unsigned ergo_work_agree(const struct ergo_work *work, unsigned due);

/* ---- loop.c: run all batches from where the work is; session->stopped when asked to stop -------
 */

enum ergo_status ergo_work_loop(struct ergo_work *work);

/* ---- save.c -----------------------------------------------------------------------------------
 */

/* A checkpoint of a state that passes its audit: of all points, or of what this rank knows. */
enum ergo_status ergo_work_save(struct ergo_work *work);
/* The states of the current batch, which pass their audit, become the progress of its points. */
enum ergo_status ergo_work_note(struct ergo_work *work);
/* The index of files of ranks. */
enum ergo_status ergo_work_save_index(struct ergo_work *work);
/* ergo_work_save during the run. If it cannot be written (a full disk), the last one is still
 * valid, and the next attempt may succeed: a warning. */
enum ergo_status ergo_work_checkpoint(struct ergo_work *work);
/* Is the last one old? And between batches, where it is: another. */
bool ergo_work_save_is_due(const struct ergo_work *work);
enum ergo_status ergo_work_save_if_due(struct ergo_work *work);
/* The checkpoint of a run that is complete, with checksums: resume only reports. */
enum ergo_status ergo_work_finished(struct ergo_work *work, struct ergo_blobs *blobs);
/* The device works and the first state is there: write a checkpoint, then away with the earlier
 * run. */
enum ergo_status ergo_work_begin(struct ergo_work *work);
enum ergo_status ergo_work_audit(struct ergo_work *work);
/* Samples of all members of a batch, from the first-th of the run on, into the result: series, and
 * after equilibration histograms and curves. */
enum ergo_status ergo_work_store(struct ergo_work *work, const struct ergo_batch *batch,
                                 const struct ergo_samples *samples, size_t first);
/* Room for `count` samples of a batch; false: no memory, and some may be there. NULL where nothing
 * is measured. */
bool ergo_samples_create(struct ergo_samples *samples, const struct ergo_batch *batch,
                         size_t count);
void ergo_samples_free(struct ergo_samples *samples);
/* Counts of states into the curves (ops->count). */
enum ergo_status ergo_work_count(struct ergo_work *work, const struct ergo_batch *batch);
/* Of a cut system whose shares are measured as its state is made: makes it again, where it stands.
 * No block is in flight. */
enum ergo_status ergo_work_divide(struct ergo_work *work);
/* From progress into the sampler of the current batch. */
enum ergo_status ergo_work_load_states(struct ergo_work *work);
enum ergo_status ergo_work_digest_members(struct ergo_work *work);

/* ---- follow.c ---------------------------------------------------------------------------------
 */

/* Does a chain start from the last state of another? Then all of its batch do. */
bool ergo_work_follows(const struct ergo_point *first);
/* The current batch's chains at their start: the job's, or last states of others. *done: nothing is
 * left for ops->start. */
enum ergo_status ergo_work_follow(struct ergo_work *work, bool *done);

/* ---- frames.c ---------------------------------------------------------------------------------
 */

/* Snapshots that the job asks for; 0: none. */
size_t ergo_work_snapshots(const struct ergo_work *work);
enum ergo_status ergo_work_take_snapshots(struct ergo_work *work);
/* Samples after which the next frame is due, beyond `samples`; SIZE_MAX: never. The first
 * measurement at or after each multiple of /output/trajectory_every steps of the measured run. */
size_t ergo_work_next_frame(const struct ergo_work *work, size_t samples);
/* DIR/KIND/pPOINT-STEP.xyz for every stride-th point of the current batch. The pipeline is empty.
 */
enum ergo_status ergo_work_write_frames(struct ergo_work *work, const char *kind, size_t stride);
/*
 * configurations.h5. The file of this run, made by the rank that has the folder (fresh: what is
 * there is not of this run); the number of the frame that is due after so many samples, or
 * SIZE_MAX; that frame of the current batch, with an empty pipeline; frames to the disk, before a
 * checkpoint behind them; a warning at the end of what is missing (an extension that asked for
 * frames later than the run).
 */
enum ergo_status ergo_work_prepare_configurations(struct ergo_work *work, bool fresh);
size_t ergo_work_next_configuration(const struct ergo_work *work, size_t samples);
size_t ergo_work_configuration_due(const struct ergo_work *work, size_t samples);
enum ergo_status ergo_work_write_configurations(struct ergo_work *work, size_t frame);
enum ergo_status ergo_work_sync_configurations(struct ergo_work *work);
enum ergo_status ergo_work_copy_configurations(struct ergo_work *work,
                                               const struct ergo_folder *from);
enum ergo_status ergo_work_check_configurations(struct ergo_work *work);
/* What the model has found, at the end (ops->states). */
enum ergo_status ergo_work_write_states(struct ergo_work *work);

/* ---- cut.c ----------------------------------------------------------------------------------
 */

/* Is each system cut over all ranks? A single rank does so only if the job insists: it is slower.
 */
bool ergo_work_cuts(const struct ergo_job *job);
/* work->cut and ->ops; with "distribute": "auto" by a trial of unequal devices, which are opened.
 */
enum ergo_status ergo_work_choose_ops(struct ergo_work *work, const struct ergo_job *job);

/* ---- setup.c ----------------------------------------------------------------------------------
 */

/* options NULL: all as it is by default. */
void ergo_work_init(struct ergo_work *work, struct ergo_session *session, struct ergo_context *ctx,
                    const struct ergo_run_options *options);
/* This rank's, unless it is open. */
enum ergo_status ergo_work_open_device(struct ergo_work *work, const struct ergo_job *job);
/* The work takes the result, and where its points stand (NULL: no memory). */
void ergo_work_take(struct ergo_work *work, struct ergo_result *result,
                    struct ergo_point_progress *progress);
/* Executes the run once the job and the folder are known. */
enum ergo_status ergo_work_execute(struct ergo_work *work, struct ergo_result **result);
/* Estimates and files. */
enum ergo_status ergo_work_finish(struct ergo_work *work);
void ergo_work_release(struct ergo_work *work);

/* ---- extend.c ---------------------------------------------------------------------------------
 */

/* Is there a run in the folder that was taken? *extends: one that this job extends, in work->stored
 * (the job is taken then, and *job NULL); any other is refused, unless it is to be replaced. */
enum ergo_status ergo_work_find_earlier(struct ergo_work *work, struct ergo_job **job,
                                        bool *extends);
/* From work->stored to the end. */
enum ergo_status ergo_work_go_on(struct ergo_work *work, struct ergo_result **result);

#endif
