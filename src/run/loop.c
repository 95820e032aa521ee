/*
 * The loop. Two blocks are in flight: while the device works on one, the host reads back and
 * stores the other. Block lengths follow the clock (engine/pace.h); the chain does not depend on
 * them.
 */
#include <math.h>
#include <stdlib.h>

#include "dist/dist.h"
#include "run/slowdown.h"
#include "run/spread.h"
#include "run/work.h"
#include "run/tuning.h"

/* A block that is enqueued but not collected. */
struct block {
    bool busy;
    bool whole;   /* as long as blocks might be */
    bool audited; /* it is replayed, and no other is in flight */
    size_t first, count;
    uint64_t every; /* steps a sample that are enqueued with it */
    cl_event mark;  /* event at its end; NULL: already waited for */
};

/* What one batch needs while it runs. */
struct loop {
    struct ergo_work *work;
    const struct ergo_batch *batch;
    struct ergo_plan plan;
    struct ergo_samples samples; /* buffers for one block */
    struct block blocks[2];
    unsigned next;         /* slot of the next block */
    size_t enqueued;       /* samples */
    struct ergo_pace pace; /* steps of the next block */
    double last_collect;
    struct ergo_slowdown slowdown;
};

static void report(const struct ergo_work *work, const char *phase, bool force) {
    ergo_session_report(work->session, work->job->sampler->rate_unit, phase, force);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void loop_free(struct loop *loop) {
    ergo_mark_done(&loop->blocks[0].mark);
    ergo_mark_done(&loop->blocks[1].mark);
    ergo_samples_free(&loop->samples);
}

/* The host's work on a block was hidden if the device was still busy with the next block when it
 * ended. */
static void count_host_work(struct loop *loop, unsigned slot, double begin, double waited) {
    struct ergo_work *work = loop->work;
    struct block *next = &loop->blocks[1 - slot];
    const double seconds = fmax(0, ergo_clock() - begin - waited);
    const bool hidden = next->busy && !ergo_mark_done(&next->mark);
    work->host_seconds += seconds;
    work->hidden_seconds += hidden ? seconds : 0;
}

/* A block's end is a meeting of ranks, at which devices idle. Where each step of a system that is
 * cut has launches of its own, no launch gets longer by blocks this much longer. */
enum { CUT_LONGER = 5 };

/* So many steps were a block as long as it might be, and took so long. Ranks that cut a system
 * agree, because clocks differ. */
static void note(struct loop *loop, uint64_t steps, double seconds) {
    const bool longer = loop->work->cut && loop->plan.launches_per_step >= 1;
    ergo_pace_note(&loop->pace, steps, longer ? seconds / CUT_LONGER : seconds);
    if (loop->work->cut)
        ergo_dist_share(&loop->pace, sizeof loop->pace);
}

/* Most samples of a block. */
static size_t block_samples(const struct loop *loop) {
    const uint64_t fit = loop->pace.now / loop->work->schedule.every;
    return fit < 1 ? 1 : fit < loop->plan.block_samples ? (size_t)fit : loop->plan.block_samples;
}

static enum ergo_status collect(struct loop *loop, unsigned slot) {
    struct ergo_work *work = loop->work;
    struct block *block = &loop->blocks[slot];
    if (!block->busy)
        return ERGO_OK;
    const double begin = ergo_clock(), waited = work->device->waited;
    enum ergo_status status =
        ergo_sampler_collect(work->ctx, work->ops, work->state, slot, &loop->samples);
    block->busy = false;
    ergo_mark_done(&block->mark);
    if (status != ERGO_OK)
        return status;
    status = ergo_work_store(work, loop->batch, &loop->samples, block->first);
    if (status != ERGO_OK)
        return status;
    if (block->audited)
        ergo_audit_samples(work, &loop->samples);
    count_host_work(loop, slot, begin, work->device->waited - waited);
    work->samples = block->first + block->count;
    work->step += block->count * block->every;
    ergo_session_worked(work->session, block->count * block->every, loop->plan.work_per_step);

    const double now = ergo_clock(), seconds = now - loop->last_collect;
    loop->last_collect = now;
    if (block->whole)
        note(loop, block->count * block->every, seconds);
    report(work, work->samples <= work->schedule.n_equilibration ? "equilibration" : "sampling",
           false);
    return ERGO_OK;
}

/* Nothing after an error: ranks that cut a system add up what they collect, and others of them may
 * wait elsewhere for the one that has failed. */
static enum ergo_status drain(struct loop *loop) {
    const enum ergo_status status = collect(loop, loop->next); /* the older one first */
    return status == ERGO_OK ? collect(loop, 1 - loop->next) : status;
}

/* ---- one batch ------------------------------------------------------------------------------- */

/* Samples of the run's last block, if it is replayed. */
static size_t replayed_last(const struct loop *loop) {
    const struct ergo_schedule *s = &loop->work->schedule;
    const uint64_t steps = ergo_audit_last(loop->work), samples = steps / s->every;
    return !steps ? 0 : samples < 1 ? 1 : samples < s->n_samples ? (size_t)samples : s->n_samples;
}

/* How many samples the next block may have: it ends at the next snapshot or frame or at the end,
 * and does not mix equilibration with measurement (curves_sums). */
static size_t next_block(const struct loop *loop) {
    const struct ergo_schedule *s = &loop->work->schedule;
    size_t until = loop->enqueued < s->n_equilibration ? s->n_equilibration : s->n_samples;
    const size_t n = ergo_work_snapshots(loop->work);
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t at = ergo_schedule_snapshot(s, k, n);
        if (at > loop->enqueued && at < until)
            until = at;
    }
    const size_t frame = ergo_work_next_frame(loop->work, loop->enqueued);
    until = frame < until ? frame : until;
    const size_t packed = ergo_work_next_configuration(loop->work, loop->enqueued);
    until = packed < until ? packed : until;
    const size_t last = s->n_samples - replayed_last(loop);
    until = last > loop->enqueued && last < until ? last : until;
    const size_t rest = until - loop->enqueued;
    const size_t most = block_samples(loop);
    return rest < most ? rest : most;
}

static enum ergo_status snapshots_due(struct loop *loop) {
    struct ergo_work *work = loop->work;
    const size_t n = ergo_work_snapshots(work);
    enum ergo_status status = ERGO_OK;
    if (loop->enqueued && ergo_work_next_frame(work, loop->enqueued - 1) == loop->enqueued) {
        status = drain(loop);
        if (status == ERGO_OK)
            status = ergo_work_write_frames(work, "trajectory", 1);
    }
    const size_t frame = ergo_work_configuration_due(work, loop->enqueued);
    if (status == ERGO_OK && frame != SIZE_MAX) {
        status = drain(loop);
        if (status == ERGO_OK)
            status = ergo_work_write_configurations(work, frame);
    }
    for (size_t k = 0; k + 1 < n && status == ERGO_OK; k++)
        if (ergo_schedule_snapshot(&work->schedule, k, n) == loop->enqueued) {
            status = drain(loop);
            if (status == ERGO_OK)
                status = ergo_work_take_snapshots(work);
        }
    return status;
}

/* Rank 0 sees all wait for one whose device has become slower. */
static bool divide_due(struct loop *loop) {
    const struct ergo_work *work = loop->work;
    return work->cut && ergo_ranks_rank() == 0 && work->ops->adapts &&
           ergo_slowdown_notice(&loop->slowdown, ergo_session_seconds(work->session),
                                work->session->work_done) &&
           work->ops->adapts(work->state);
}

/* Between blocks: audit, checkpoint, meeting, stop. If one is due, wait for all blocks in flight
 * first. (run_batch writes the checkpoint of a stop.) */
static enum ergo_status duties(struct loop *loop) {
    struct ergo_work *work = loop->work;
    const double every = work->job->points[0].parameters->audit_every;
    const bool late = every > 0 && ergo_clock() - work->session->last_audit >= every;
    const bool saves =
        ergo_work_agree(work, ergo_work_save_is_due(work)) && !ergo_audit_wants(work);
    const unsigned due =
        ergo_work_agree(work, (ergo_session_must_stop(work->session) ? ERGO_DUE_STOP : 0) |
                                  (late ? ERGO_DUE_AUDIT : 0) | (saves ? ERGO_DUE_SAVE : 0) |
                                  (divide_due(loop) ? ERGO_DUE_DIVIDE : 0));
    const bool meeting = work->spread && ergo_spread_due(work);
    work->session->stopped = due & ERGO_DUE_STOP;
    if (!meeting && !(due & (ERGO_DUE_AUDIT | ERGO_DUE_SAVE | ERGO_DUE_DIVIDE)))
        return ERGO_OK;
    enum ergo_status status = drain(loop);
    ergo_session_clock_rest(work->session);
    const double begun = ergo_clock();
    if (status == ERGO_OK && due & ERGO_DUE_SAVE)
        status = ergo_work_checkpoint(work);
    else if (status == ERGO_OK && due & ERGO_DUE_AUDIT)
        status = ergo_work_audit(work);
    if (status == ERGO_OK && due & ERGO_DUE_DIVIDE && !work->session->stopped) {
        status = ergo_work_divide(work);
        loop->slowdown = (struct ergo_slowdown){0};
    }
    if (status == ERGO_OK && meeting)
        status = ergo_spread_meet(work);
    work->result->phases[ERGO_PHASE_AUDIT] += ergo_clock() - begun;
    ergo_session_clock_start(work->session);
    loop->last_collect = ergo_clock();
    return status;
}

/* Steps without a sample, until step `until`, in pieces so short that a stop request never waits
 * for long. */
static enum ergo_status steps(struct loop *loop, uint64_t until) {
    struct ergo_work *work = loop->work;
    enum ergo_status status = ERGO_OK;
    while (work->step < until && status == ERGO_OK) {
        status = duties(loop);
        if (status != ERGO_OK || work->session->stopped)
            break;
        const uint64_t rest = until - work->step;
        const uint64_t most = ergo_plan_launch(&loop->plan, loop->pace.now);
        uint64_t piece = rest < most ? rest : most;
        /* of those before a sample the last one is replayed, with it */
        const bool alone = work->step < work->schedule.lead || ergo_audit_wanted(work);
        const uint64_t due = alone ? ergo_audit_due(work, work->schedule.total) : 0;
        piece = due && due < piece ? due : piece;
        const struct ergo_audit_block block = {.step = work->step, .every = piece};
        const double begun = ergo_clock();
        if (due)
            status = ergo_audit_before(work, &block);
        if (status == ERGO_OK)
            status = ergo_sampler_advance(work->ctx, work->ops, work->state, 0, 0, piece, 0);
        if (status == ERGO_OK)
            status = ergo_device_finish(work->ctx, work->device);
        if (status == ERGO_OK && due)
            status = ergo_audit_after(work);
        if (status != ERGO_OK) /* before anything that ranks do together: others wait in vain */
            break;
        if (piece == most)
            note(loop, piece, ergo_clock() - begun);
        work->step += piece;
        ergo_session_worked(work->session, piece, loop->plan.work_per_step);
        report(work, work->samples ? "sampling" : "equilibration", false);
    }
    return status;
}

/* A block of samples; one that is replayed alone in flight. */
static enum ergo_status enqueue_block(struct loop *loop, size_t count, uint64_t every, bool whole,
                                      bool audited) {
    struct ergo_work *work = loop->work;
    enum ergo_status status = audited ? drain(loop) : collect(loop, loop->next);
    struct block *block = &loop->blocks[loop->next];
    const struct ergo_audit_block replay = {work->step, loop->enqueued, count, every};
    if (status == ERGO_OK && audited)
        status = ergo_audit_before(work, &replay);
    if (status != ERGO_OK)
        return status;
    block->first = loop->enqueued;
    block->count = count;
    block->whole = whole;
    block->audited = audited;
    block->every = every;
    status = ergo_sampler_advance(work->ctx, work->ops, work->state, loop->next, count, every,
                                  block->first);
    block->busy = status == ERGO_OK;
    block->mark = ergo_device_mark(work->device);
    loop->enqueued += count;
    loop->next = 1 - loop->next;
    if (status != ERGO_OK || !audited)
        return status;
    status = drain(loop);
    return status == ERGO_OK ? ergo_audit_after(work) : status;
}

/* Enqueue the next samples: a whole block. Where the steps of a single sample exceed a block, or
 * take several times as long, or are more than are replayed, those before its last step are
 * enqueued by themselves; and where some of them are done already, by a run that ended there before
 * it was extended. */
static enum ergo_status enqueue(struct loop *loop) {
    struct ergo_work *work = loop->work;
    const struct ergo_schedule *s = &work->schedule;
    enum ergo_status status = duties(loop);
    const uint64_t due = ergo_audit_due(work, (s->n_samples - loop->enqueued) * s->every);
    const bool rare = (double)s->every > loop->plan.block_steps ||
                      (loop->pace.settled && s->every / 4 > loop->pace.now) ||
                      (due && due < s->every) || work->step > s->lead + work->samples * s->every;
    if (status == ERGO_OK && rare && !work->session->stopped)
        status = drain(loop);
    if (status == ERGO_OK && rare) /* counts from what is collected */
        status = steps(loop, s->lead + (loop->enqueued + 1) * s->every - 1);
    if (status != ERGO_OK || work->session->stopped)
        return status;
    const size_t most = rare ? 1 : next_block(loop);
    const size_t some = due && due / s->every < most ? (size_t)(due / s->every) : most;
    status = enqueue_block(loop, rare ? 1 : some, rare ? 1 : s->every,
                           !rare && some == block_samples(loop), due > 0);
    if (status == ERGO_OK && rare)
        status = drain(loop);
    return status == ERGO_OK ? snapshots_due(loop) : status;
}

static enum ergo_status sample(struct loop *loop) {
    struct ergo_work *work = loop->work;
    enum ergo_status status = ERGO_OK;
    loop->enqueued = work->samples;
    loop->last_collect = ergo_clock();
    while (loop->enqueued < work->schedule.n_samples && status == ERGO_OK &&
           !work->session->stopped)
        status = enqueue(loop);
    return status == ERGO_OK ? drain(loop) : status;
}

/* Creates the state. If the device refuses a launch shape from a profile after all, the automatic
 * one is used. */
static enum ergo_status create(struct ergo_work *work, struct loop *loop) {
    enum ergo_status status = ERGO_OK;
    if (work->planned) {
        work->state = work->planned;
        work->planned = NULL;
        status = ergo_engine_make(work->ctx, &work->state);
    } else {
        status = ergo_sampler_create(work->ctx, work->ops, loop->batch, work->device, &work->state);
    }
    if (status != ERGO_E_DEVICE || !work->profiled || !ergo_tuning_given(loop->batch))
        return status;
    ergo_log(work->ctx, ERGO_LOG_WARNING, "without the tuning profile, which fails: %s",
             ergo_error_message(work->ctx));
    ergo_error_clear(work->ctx);
    if (work->state)
        ergo_engine_destroy(work->state);
    work->state = NULL;
    ergo_tuning_clear(loop->batch);
    return ergo_sampler_create(work->ctx, work->ops, loop->batch, work->device, &work->state);
}

/* Makes the start, in pieces. A start that is interrupted is not saved: a resume makes it anew. */
static enum ergo_status start(struct ergo_work *work) {
    bool done = false;
    enum ergo_status status = ergo_work_follow(work, &done);
    while (!done && status == ERGO_OK && !work->session->stopped) {
        status = ergo_sampler_start_piece(work->ctx, work->ops, work->state, &done);
        work->session->stopped =
            !done &&
            ergo_work_agree(work, ergo_session_must_stop(work->session) ? ERGO_DUE_STOP : 0) &
                ERGO_DUE_STOP;
        if (!done)
            report(work, "start", false);
    }
    if (status != ERGO_OK || !work->session->stopped)
        return status;
    ergo_engine_destroy(work->state);
    work->state = NULL;
    if (!work->session->begun)
        return ergo_work_begin(work);
    return work->spread ? ERGO_OK : ergo_work_save(work); /* spread.c saves what all ranks have */
}

/* What is read of the last states beside their digests: counts, curves, pictures. */
static enum ergo_status read_end(struct loop *loop) {
    struct ergo_work *work = loop->work;
    enum ergo_status status = ergo_work_count(work, loop->batch);
    for (size_t m = 0; m < loop->batch->count && status == ERGO_OK; m++)
        status =
            ergo_sampler_end_curves(work->ctx, work->ops, work->state, m,
                                    work->result->members[loop->batch->points[m]->index].binned);
    if (status == ERGO_OK)
        status = ergo_work_write_states(work);
    if (status == ERGO_OK && ergo_work_snapshots(work))
        status = ergo_work_take_snapshots(work);
    return status;
}

static enum ergo_status run_batch(struct loop *loop) {
    struct ergo_work *work = loop->work;
    const struct ergo_sampler_ops *ops = work->ops;
    const struct ergo_schedule *s = &work->schedule;
    const double begun = ergo_clock(), built = work->device->build_seconds;
    enum ergo_status status = ergo_audit_batch(work, loop->batch);
    if (status == ERGO_OK)
        status = create(work, loop);
    if (status == ERGO_OK)
        status = ergo_sampler_planned(work->ctx, ops, work->state, &loop->plan);
    if (status == ERGO_OK &&
        !ergo_samples_create(&loop->samples, loop->batch, loop->plan.block_samples))
        status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a block of samples");
    if (status == ERGO_OK)
        status = work->step ? ergo_work_load_states(work) : start(work);
    if (work->session->stopped)
        return status;
    /* the first launch of every kernel is part of this, and some drivers compile then: the clock
     * starts later */
    if (status == ERGO_OK)
        status = ergo_work_audit(work);
    if (status == ERGO_OK && !work->session->begun)
        status = ergo_work_begin(work);
    if (status != ERGO_OK)
        return status;
    work->result->phases[ERGO_PHASE_PREPARE] +=
        ergo_clock() - begun - (work->device->build_seconds - built);
    ergo_eta_begin(&work->session->eta, work->batch, ergo_session_seconds(work->session));
    ergo_session_clock_start(work->session);
    ergo_pace_start(&loop->pace, loop->plan.block_steps);

    if (s->lead)
        status = steps(loop, s->lead);
    if (status == ERGO_OK && !work->session->stopped)
        status = sample(loop);
    if (status == ERGO_OK && !work->session->stopped)
        status = steps(loop, s->total);
    if (status == ERGO_E_JOB) { /* what the job is blamed for, its device may have done */
        const enum ergo_status audited = ergo_audit_settle(work);
        status = audited == ERGO_OK ? status : audited;
    }
    ergo_session_clock_rest(work->session);
    const double ended = ergo_clock(), sampled = ergo_session_seconds(work->session);
    if (status == ERGO_OK)
        status = ergo_work_digest_members(work);
    if (status == ERGO_OK && !work->session->stopped)
        status = read_end(loop);
    /* the audit comes after these, so that a device which fails while states are read is
     * detected */
    if (status == ERGO_OK)
        status = !work->session->stopped ? ergo_work_audit(work)
                 : work->spread          ? ergo_spread_leave(work)
                                         : ergo_work_save(work);
    const double end = ergo_clock();
    work->result->phases[ERGO_PHASE_AUDIT] += end - ended;
    ergo_eta_end(&work->session->eta, end - begun - (sampled - work->session->eta.since));
    return status;
}

/* All points of the batch have ended. */
static void end_batch(struct ergo_work *work, const struct ergo_batch *batch) {
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_point_progress *p = &work->progress[batch->points[m]->index];
        ergo_progress_forget(p);
        p->step = work->schedule.total;
        p->samples = work->schedule.n_samples;
        p->ours = true;
    }
    ergo_engine_destroy(work->state);
    work->state = NULL;
    work->batch++;
    work->step = 0;
    work->samples = 0;
}

enum ergo_status ergo_work_loop(struct ergo_work *work) {
    enum ergo_status status = ERGO_OK;
    while (work->batch < work->n_batches && status == ERGO_OK && !work->session->stopped) {
        struct loop loop = {.work = work, .batch = &work->batches[work->batch]};
        work->schedule = ergo_schedule_of(loop.batch->points[0]);
        status = run_batch(&loop);
        loop_free(&loop);
        if (work->session->stopped || status != ERGO_OK)
            break;
        end_batch(work, loop.batch);
        /* a checkpoint contains all samples so far, so it is not written after every batch */
        if (work->batch < work->n_batches)
            status = ergo_work_save_if_due(work);
    }
    report(work, "writing", true);
    return status;
}
