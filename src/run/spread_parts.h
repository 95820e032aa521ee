/* Internal to spread*.c: points spread over ranks (spread.h). */
#ifndef ERGO_RUN_SPREAD_PARTS_H
#define ERGO_RUN_SPREAD_PARTS_H

#include "dist/dist.h"
#include "job/arena.h"
#include "run/spread.h"

/* Points of this rank that run together: of one batch, at one step. */
struct ergo_spread_unit {
    struct ergo_batch batch;
    double work, work_per_step;
    uint64_t order;
};

/* What a meeting has decided. */
enum ergo_spread_verdict {
    ERGO_SPREAD_ON,   /* all go on with what they have */
    ERGO_SPREAD_DEAL, /* points are dealt anew */
    ERGO_SPREAD_DONE, /* all points */
    ERGO_SPREAD_STOP, /* some rank was asked to stop */
    ERGO_SPREAD_LOST  /* no device is left */
};

struct ergo_spread {
    uint64_t ranks, old_ranks; /* old: of the generation before; 0: none */

    /* [n_points], batch by batch; all in lists */
    struct ergo_arena lists;
    struct ergo_point **order;
    size_t *place; /* of each point, by its number, in that order */
    /* Points that follow one another (/anneal) are dealt as one: the number of each one's chain. */
    uint32_t *chains;
    size_t n_chains;
    double *weights;          /* work per step */
    uint64_t *steps;          /* as of the last meeting, known to all */
    uint32_t *owners, *dealt; /* before and after it */

    struct ergo_spread_unit *units; /* of this rank, since the last deal */
    size_t n_units, at;             /* at: the next one */
    const struct ergo_spread_unit *current;

    enum ergo_spread_verdict verdict;
    bool fresh; /* nothing was done before this session */
    bool anew;  /* the deal begins all points again */
    size_t deals, meetings;
    double speed;                     /* of this rank, work per second; 0: not known */
    double prepared;                  /* of the session, before the current unit */
    double prepare;                   /* seconds it takes to begin a unit */
    double since_work, since_seconds; /* of the session, when speed was measured */
    double ask_at, patience;          /* of a rank without work: when it asks for some again */

    bool dead;                /* this rank's device has failed */
    struct ergo_text failure; /* how, for result.json */
};

static inline enum ergo_status ergo_spread_no_memory(struct ergo_work *work) {
    return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for the points of other ranks");
}

/* Steps that a point makes in this run: none where it belongs to another part. */
static inline uint64_t ergo_spread_total(const struct ergo_work *work,
                                         const struct ergo_point *point) {
    return ergo_result_has(work->result, point->index) ? ergo_schedule_of(point).total : 0;
}

/* Is point k of the order this rank's? Ranks that cut systems have all of them together. */
static inline bool ergo_spread_owns(const struct ergo_work *work, size_t k) {
    return work->cut || work->spread->owners[k] == (uint32_t)ergo_ranks_rank();
}

/* spread.c: units of this rank, of the points that it has now; parcels of others, for
 * ergo_dist_gather. */
enum ergo_status ergo_spread_make_units(struct ergo_work *work);
void ergo_spread_forget_units(struct ergo_spread *spread);
enum ergo_status ergo_spread_take(void *work, int rank, const char *data, size_t length);

/* spread_deal.c: points of nobody get ranks, in equal parts where none was measured yet. */
enum ergo_status ergo_spread_deal_first(struct ergo_work *work);
/* A rank without work waits for a meeting, and holds it. */
enum ergo_status ergo_spread_wait(struct ergo_work *work);
/* After a meeting that dealt: points go to their new ranks, or begin again. */
enum ergo_status ergo_spread_exchange(struct ergo_work *work);

/* spread_fail.c: this rank's device has failed during the current unit. Where points are given to
 * others then, they are put back to their last checkpoint or note: ERGO_OK, and the rank is dead.
 */
enum ergo_status ergo_spread_fail(struct ergo_work *work, enum ergo_status status);
/* What devices have failed becomes warnings of the result, on rank 0. */
enum ergo_status ergo_spread_tell_failures(struct ergo_work *work);

#endif
