/* Inside of audits: the run's side (audit.c), and the other device in its thread (replay.c). */
#ifndef ERGO_RUN_REPLAY_H
#define ERGO_RUN_REPLAY_H

#include <pthread.h>

#include "run/audit.h"
#include "run/work.h"

/* Seconds of the other device: the steps of a stretch take about a hundredth of the sampling so
 * far, but no less than this; all together a twentieth of it, beyond what a short run is allowed.
 */
#define ERGO_REPLAY_LEAST 0.05
#define ERGO_REPLAY_MOST 0.5
#define ERGO_REPLAY_ALLOWED 0.2

enum ergo_replay_task { NOTHING, BATCH, REPLAY, END };

struct ergo_audit {
    const struct ergo_work *work;       /* the thread reads what stays: job, the device's summary */
    const struct ergo_sampler_ops *ops; /* of the replay: never those of a system that is cut */
    bool follows; /* another rank than 0 of a system that is cut: takes part in saving states */
    struct ergo_context *ctx; /* of the thread */
    struct ergo_result_audits *facts;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    enum ergo_replay_task task; /* NOTHING: the thread waits, and what is below is the run's */
    bool planned;               /* the batch's: step_seconds is known, or why there is nothing */
    enum ergo_status status;    /* of the last replay, until the run has heard of it */
    struct ergo_device *device; /* owned; NULL: none */
    bool other, varied;         /* another implementation; groups of another size */
    bool asked;                 /* where there is no other: for a known answer */
    /* the current batch's */
    const struct ergo_batch *whole;
    struct ergo_batch some; /* copies of the points that are replayed, */
    struct ergo_point *points;
    size_t *members;                    /* and which they are */
    void *state;                        /* NULL: not made yet */
    double step_seconds, state_seconds; /* of a step; of states before and after */
    double last;                        /* when the last stretch began */
    bool measured, begun;
    bool replayed;      /* a stretch of this batch; the thread is beyond its plan */
    bool fresh, wanted; /* a stretch since the last checkpoint; one before the next */
    /* the current stretch's */
    struct ergo_audit_block block;
    bool starts;                      /* it begins with the job's start */
    bool measures;                    /* it is beyond equilibration */
    struct ergo_text *before, *after; /* [some.count] */
    struct ergo_samples given, found; /* the run's, of these members; the replay's */
};

/* The step at which a block ends. */
static inline uint64_t ergo_audit_end(const struct ergo_audit_block *b) {
    return b->step + (b->count ? b->count : 1) * b->every;
}
/* There are no more audits, for a reason that result.json says. */
static inline bool ergo_audit_gave_up(const struct ergo_audit *a) {
    return *a->facts->reason;
}
/* The batch's `count` members that are replayed; and none. */
enum ergo_status ergo_replay_take(struct ergo_audit *a, size_t count);
void ergo_replay_forget(struct ergo_audit *a);
/* The thread; user: the audit. */
void *ergo_replay_serve(void *user);

#endif
