/* Audits: which blocks of the run are made again, and what they hand over. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "run/replay.h"

/* Ranks that cut a system do as rank 0 says, which alone replays: the whole system. */
static void share(const struct ergo_work *work, void *value, size_t bytes) {
    if (work->cut)
        ergo_dist_share(value, bytes);
}

static void wait_for(struct ergo_audit *a, bool plan_only) {
    pthread_mutex_lock(&a->lock);
    while (a->task != NOTHING && !(plan_only && a->planned))
        pthread_cond_wait(&a->told, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static void ask(struct ergo_audit *a, enum ergo_replay_task task) {
    pthread_mutex_lock(&a->lock);
    while (a->task != NOTHING)
        pthread_cond_wait(&a->told, &a->lock);
    a->task = task;
    pthread_cond_broadcast(&a->told);
    pthread_mutex_unlock(&a->lock);
}

static struct ergo_audit *open_audit(struct ergo_work *work) {
    struct ergo_audit *a = calloc(1, sizeof *a);
    sigset_t all, before;
    if (!a || !(a->ctx = ergo_context_create())) {
        free(a);
        return NULL;
    }
    a->work = work;
    a->ops = work->cut ? work->job->model->ops : work->ops;
    a->follows = work->cut && ergo_ranks_rank() > 0;
    a->facts = &work->result->audits;
    ergo_context_set_log(a->ctx, ERGO_LOG_ERROR, NULL, NULL);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->told, NULL);
    if (a->follows)
        return a;
    sigfillset(&all); /* signals go to the threads of the program, which expect them */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool made = pthread_create(&a->thread, NULL, ergo_replay_serve, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        return a;
    ergo_context_destroy(a->ctx);
    free(a);
    return NULL;
}

static bool has_time(const struct ergo_work *work, double seconds) {
    const struct ergo_audit *a = work->audit;
    return a->facts->seconds + seconds <=
           ERGO_REPLAY_ALLOWED + 0.05 * ergo_session_seconds(work->session);
}

enum ergo_status ergo_audit_batch(struct ergo_work *work, const struct ergo_batch *batch) {
    const struct ergo_run_watch *watch = work->session->options->watch;
    if (watch && (watch->unaudited || watch->compared))
        return ERGO_OK;
    if (ergo_says(work->job->points[0].parameters->audit_device, "none")) {
        snprintf(work->result->audits.reason, sizeof work->result->audits.reason, "not asked");
        return ERGO_OK;
    }
    if (!work->audit && !(work->audit = open_audit(work)))
        return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for audits");
    const enum ergo_status status = ergo_audit_settle(work);
    if (status != ERGO_OK)
        return status;
    work->audit->whole = batch;
    work->audit->planned = work->audit->measured = work->audit->replayed = false;
    work->audit->begun = !has_time(work, 0);
    if (!work->audit->follows)
        ask(work->audit, BATCH);
    /* what the run's own driver does for the plan, it does before the run goes on */
    wait_for(work->audit, !work->device->quirks.one_thread);
    size_t count = work->audit->some.count;
    share(work, &count, sizeof count);
    return work->audit->follows ? ergo_replay_take(work->audit, count ? count : 1) : ERGO_OK;
}

/* Steps of a stretch; 0: there is no time for one. */
static uint64_t fitting(const struct ergo_work *work) {
    const struct ergo_audit *a = work->audit;
    const double hundredth = 0.01 * ergo_session_seconds(work->session);
    const double seconds = fmin(ERGO_REPLAY_MOST, fmax(ERGO_REPLAY_LEAST, hundredth));
    const double steps = fmax(1, floor(seconds / a->step_seconds));
    return has_time(work, a->state_seconds + steps * a->step_seconds) ? (uint64_t)steps : 0;
}

uint64_t ergo_audit_last(const struct ergo_work *work) {
    if (!work->audit)
        return 0;
    wait_for(work->audit, true);
    uint64_t steps = work->audit->follows || ergo_audit_gave_up(work->audit) ? 0 : fitting(work);
    share(work, &steps, sizeof steps);
    return steps;
}

uint64_t ergo_audit_due(struct ergo_work *work, uint64_t rest) {
    const double every = work->job->points[0].parameters->audit_every;
    if (!work->audit)
        return 0;
    const uint64_t steps = ergo_audit_last(work);
    const bool late = steps && every > 0 && ergo_clock() - work->audit->last >= every;
    bool due = steps && (!work->audit->begun || work->audit->wanted || late || rest <= steps);
    share(work, &due, sizeof due);
    return !due ? 0 : steps < rest ? steps : rest;
}

bool ergo_audit_wants(struct ergo_work *work) {
    return work->audit && !work->audit->fresh && ergo_audit_last(work) &&
           (work->audit->wanted = true);
}

bool ergo_audit_wanted(const struct ergo_work *work) {
    return work->audit && work->audit->wanted;
}

enum ergo_status ergo_audit_state(struct ergo_work *work, size_t member, const char *bytes,
                                  size_t length) {
    const struct ergo_audit *a = work->audit;
    if (!a || !a->replayed || ergo_audit_end(&a->block) != work->step)
        return ERGO_OK;
    for (size_t i = 0; i < a->some.count; i++)
        if (a->members[i] == member && a->after[i].length &&
            (length != a->after[i].length || memcmp(bytes, a->after[i].data, length) != 0))
            return ERGO_FAIL(work->ctx, ERGO_E_AUDIT,
                             "audit of %s failed on %s (%s): the state of member %zu after step "
                             "%llu was read twice, and differently: try another device",
                             work->job->sampler->name, work->device->summary.name,
                             work->device->summary.driver, member, (unsigned long long)work->step);
    return ERGO_OK;
}

void ergo_audit_saved(struct ergo_work *work) {
    if (work->audit)
        work->audit->fresh = false;
}

static enum ergo_status save_states(struct ergo_work *work, struct ergo_text *texts) {
    const struct ergo_audit *a = work->audit;
    enum ergo_status status = ERGO_OK;
    ergo_engine_read_ahead(work->state, true);
    for (size_t i = 0; i < a->some.count && status == ERGO_OK; i++) {
        ergo_text_free(&texts[i]);
        status = work->ops->save(work->ctx, work->state, a->members[i], &texts[i]);
        if (status == ERGO_OK && texts[i].failed)
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for an audit's states");
    }
    ergo_engine_read_ahead(work->state, false);
    return status;
}

enum ergo_status ergo_audit_before(struct ergo_work *work, const struct ergo_audit_block *block) {
    struct ergo_audit *a = work->audit;
    enum ergo_status status = ergo_audit_settle(work);
    bool over = ergo_audit_gave_up(a);
    if (status == ERGO_OK)
        share(work, &over, sizeof over);
    if (status != ERGO_OK || over) {
        if (a->follows)
            snprintf(a->facts->reason, sizeof a->facts->reason, "of rank 0");
        return status;
    }
    ergo_session_clock_rest(work->session);
    a->last = ergo_clock();
    a->begun = a->fresh = true;
    a->wanted = false;
    a->block = *block;
    a->starts = block->step == 0 && !ergo_work_follows(a->whole->points[0]);
    a->measures = block->first >= work->schedule.n_equilibration;
    ergo_samples_free(&a->given);
    ergo_samples_free(&a->found);
    if (!ergo_samples_create(&a->given, &a->some, block->count) ||
        !ergo_samples_create(&a->found, &a->some, block->count))
        return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for an audit's samples");
    status = save_states(work, a->before);
    ergo_session_clock_start(work->session);
    return status;
}

/* Rows of the members that are replayed. */
static void pick(const struct ergo_audit *a, double *to, const double *from, size_t rows,
                 size_t width) {
    for (size_t r = 0; r < rows && to && from; r++)
        for (size_t i = 0; i < a->some.count; i++)
            memcpy(to + (r * a->some.count + i) * width,
                   from + (r * a->whole->count + a->members[i]) * width, width * sizeof *to);
}

void ergo_audit_samples(struct ergo_work *work, const struct ergo_samples *samples) {
    struct ergo_audit *a = work->audit;
    const struct ergo_model *model = work->job->model;
    if (a->follows || ergo_audit_gave_up(a))
        return;
    pick(a, a->given.columns, samples->columns, samples->count, model->n_columns);
    for (size_t c = 0; c < model->n_curves; c++)
        pick(a, a->given.curves[c], samples->curves[c],
             model->curves_sums >> c & 1 ? 1 : samples->n_curve_samples,
             ergo_point_curve_size(a->some.points[0], c));
}

enum ergo_status ergo_audit_after(struct ergo_work *work) {
    struct ergo_audit *a = work->audit;
    if (ergo_audit_gave_up(a))
        return ERGO_OK;
    ergo_session_clock_rest(work->session);
    const enum ergo_status status = save_states(work, a->after);
    ergo_session_clock_start(work->session);
    a->replayed = status == ERGO_OK;
    if (a->replayed && !a->follows)
        ask(a, REPLAY);
    if (!a->other) /* Oclgrind gives wrong answers to two threads at once */
        wait_for(a, false);
    return status;
}

enum ergo_status ergo_audit_settle(struct ergo_work *work) {
    struct ergo_audit *a = work->audit;
    if (!a)
        return ERGO_OK;
    wait_for(a, false);
    const enum ergo_status status = a->status;
    a->status = ERGO_OK;
    if (status == ERGO_OK)
        return ERGO_OK;
    ERGO_FAIL(work->ctx, status, "%s", ergo_error_message(a->ctx));
    ergo_error_clear(a->ctx);
    return status;
}

void ergo_audit_close(struct ergo_work *work) {
    struct ergo_audit *a = work->audit;
    if (!a)
        return;
    wait_for(a, false);
    if (!a->facts->stretches && !ergo_audit_gave_up(a))
        snprintf(a->facts->reason, sizeof a->facts->reason,
                 "a stretch would take longer than %g s and a twentieth of the sampling",
                 ERGO_REPLAY_ALLOWED);
    if (a->follows) {
        ergo_replay_forget(a);
    } else {
        ask(a, END);
        pthread_join(a->thread, NULL);
    }
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->told);
    ergo_context_destroy(a->ctx);
    free(a);
    work->audit = NULL;
}
