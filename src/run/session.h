/*
 * One call of ergo_run or ergo_resume: its folder, clocks, and how it is asked to stop.
 *
 *     session.c  clocks, requests to stop, progress
 *     folder.c   what is in the run folder before and after
 */
#ifndef ERGO_RUN_SESSION_H
#define ERGO_RUN_SESSION_H

#include "base/file.h"
#include "device/device.h"
#include "job/job.h"
#include "run/eta.h"

struct ergo_session {
    struct ergo_context *ctx;
    const struct ergo_run_options *options;

    struct ergo_folder folder;
    int lock;         /* -1: none */
    bool made_folder; /* by this run: it was not there */
    bool replaces;    /* an earlier run, which goes when this one has a checkpoint */
    bool begun;       /* the folder holds this run, which can be resumed */
    bool extends;     /* it has become another job's, which goes further: */
    bool renumbers;   /* with other numbers of its points */

    double started, last_checkpoint, last_audit, last_progress; /* monotonic seconds */
    double seconds_before;        /* sampling time so far, while the clock rests */
    double sampling_started;      /* 0: the clock rests */
    double wall_time;             /* seconds after which to stop; INFINITY: none */
    double work_done, work_total; /* in units of the rate */
    struct ergo_eta eta;          /* of this call's batches; owned */

    bool apart; /* ranks with work of their own, who hear of each other's requests as they come */
    bool progressed; /* it has done something: a wall time of nothing would loop for ever */
    bool stopped;
};

/* Sampling seconds over all sessions so far: building, audits and checkpoints do not count. */
double ergo_session_seconds(const struct ergo_session *session);
void ergo_session_clock_start(struct ergo_session *session);
void ergo_session_clock_rest(struct ergo_session *session);
/* Steps of the current batch are done, each so much work. */
void ergo_session_worked(struct ergo_session *session, uint64_t steps, double work_per_step);

/* By its own handle (NULL: there is none), or as all of the process. */
bool ergo_session_stop_is_requested(const struct ergo_stop *stop);
/* By a request or the wall time. */
bool ergo_session_must_stop(const struct ergo_session *session);
/* Tell the caller's progress function, now and then or at once. */
void ergo_session_report(struct ergo_session *session, const char *rate_unit, const char *phase,
                         bool force);

/* Option, environment, job: in this order. */
const char *ergo_session_device(const struct ergo_session *session, const struct ergo_job *job);

/* ---- folder.c ---------------------------------------------------------------------------------
 */

/* Create and lock the folder; an earlier run in it is kept for now. */
enum ergo_status ergo_session_take_folder(struct ergo_session *session, const char *path);
/* Lock the folder of a run, which is open. Folders in it that are links are refused. */
enum ergo_status ergo_session_lock_folder(struct ergo_session *session);
/* Before each write: the folder may have been removed meanwhile. It is made again, unless its name
 * now belongs to another run's folder. */
enum ergo_status ergo_session_hold_folder(struct ergo_session *session);
/* The first checkpoint is there: away with the earlier run. From here on a kill is resumable.
 * Files of ranks whose names begin with `own` stay (NULL: there are none). */
void ergo_session_stands(struct ergo_session *session, const char *own);
/* The same for a resumed run: its files stay, only what killed processes left half-written goes.
 * fresh: it stands at its beginning, so that results in the folder are an earlier run's. */
void ergo_session_continue(struct ergo_session *session, bool fresh);
/* Removes what the run had written of its points' numbers and length, before it was extended to
 * the job. */
void ergo_session_forget_files(struct ergo_session *session, const struct ergo_job *job);
/* Copies what another run has in its folders of configurations. */
enum ergo_status ergo_session_copy_frames(struct ergo_session *session,
                                          const struct ergo_folder *from);
/* A number that is not in the name of any rank's file yet, for the files of a new run's ranks. */
uint64_t ergo_session_generation(const struct ergo_session *session);
/* Removes the folder that a run made and never began in. */
void ergo_session_leave_folder(struct ergo_session *session);
/* Unlock and close it. */
void ergo_session_close(struct ergo_session *session);

#endif
