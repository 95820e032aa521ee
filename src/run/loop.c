/*
 * The loop. Two blocks are in flight: while the device works on one, the host reads back and
 * stores the other. Block lengths follow the clock; the chain does not depend on them.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "dist/dist.h"
#include "run/run.h"
#include "run/tuning.h"

static atomic_bool stop_requested; /* lock-free: also for signal handlers */

void ergo_run_request_stop(void) {
    stop_requested = true;
}

bool ergo_run_stop_is_requested(void) {
    return stop_requested;
}

void ergo_run_withdraw_stop(void) {
    stop_requested = false;
}

/* A block that is enqueued but not collected. */
struct block {
    bool busy;
    size_t first, count;
    uint64_t every; /* steps a sample that are enqueued with it */
    cl_event mark;  /* its end; NULL: it was looked at */
};

/* What one batch needs while it runs. */
struct loop {
    struct ergo_run *run;
    const struct ergo_batch *batch;
    struct ergo_plan plan;
    struct ergo_samples samples; /* buffers for one block */
    struct block blocks[2];
    unsigned next;        /* slot of the next block */
    size_t enqueued;      /* samples */
    double block_seconds; /* duration of the last block */
    size_t block_samples; /* length of the next block */
    double last_collect;
};

unsigned ergo_run_agree(const struct ergo_run *run, unsigned due) {
    return run->cut ? ergo_dist_or(due) : due;
}

static bool must_stop(const struct ergo_run *run) {
    /* ranks with work of their own hear of each other's requests as they come */
    if (run->spread ? ergo_dist_stop(stop_requested) : stop_requested)
        return true;
    const struct ergo_value *limit = ergo_point_value(&run->job->points[0], "/wall_time");
    return limit->present && run->progressed && ergo_clock() - run->started >= limit->real;
}

static void report_progress(struct ergo_run *run, const char *phase, bool force) {
    const double now = ergo_clock();
    if (!run->options->progress || (!force && now - run->last_progress < 0.2))
        return;
    run->last_progress = now;
    const double seconds = ergo_run_seconds(run);
    const struct ergo_progress p = {
        .done = run->work_done,
        .total = run->work_total,
        .seconds = seconds,
        .eta = run->work_done > 0 ? seconds * (run->work_total / run->work_done - 1) : 0,
        .rate = seconds > 0 ? run->work_done / seconds : 0,
        .rate_unit = run->sampler->rate_unit,
        .phase = phase,
    };
    const unsigned depth = ergo_entry_lend();
    run->options->progress(run->options->user, &p);
    ergo_entry_take_back(depth);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void loop_free(struct loop *loop) {
    ergo_mark_done(&loop->blocks[0].mark);
    ergo_mark_done(&loop->blocks[1].mark);
    free(loop->samples.columns);
    for (size_t c = 0; c < ERGO_CURVES_MAX; c++)
        free(loop->samples.curves[c]);
}

static enum ergo_status loop_allocate(struct loop *loop) {
    const struct ergo_run *run = loop->run;
    const struct ergo_model *model = run->job->model;
    const struct ergo_point *first = loop->batch->points[0];
    const size_t members = loop->batch->count;
    const size_t curve_samples =
        (loop->plan.block_samples - 1) / (size_t)ergo_point_curve_every(first) + 1;
    loop->samples.columns =
        malloc(loop->plan.block_samples * members * model->n_columns * sizeof(double));
    bool ok = loop->samples.columns != NULL;
    for (size_t c = 0; c < model->n_curves; c++) {
        const size_t size = ergo_point_curve_size(first, c);
        if (!size || ((model->curves_at_end | model->histograms) >> c & 1))
            continue;
        const size_t rows = model->curves_sums >> c & 1 ? 1 : curve_samples;
        loop->samples.curves[c] = malloc(rows * members * size * sizeof(double));
        ok = ok && loop->samples.curves[c];
    }
    return ok ? ERGO_OK : ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a block of samples");
}

/* Every sample of a member after equilibration goes into its histograms. */
static void store_histograms(struct loop *loop, const struct block *block, size_t m) {
    struct ergo_run *run = loop->run;
    const struct ergo_model *model = run->job->model;
    const struct ergo_samples *s = &loop->samples;
    const struct ergo_point *point = loop->batch->points[m];
    for (size_t c = 0; c < model->n_curves; c++) {
        struct ergo_curve *curve = &run->curves[point->index][c];
        for (size_t i = 0; (model->histograms >> c & 1) && curve->size && i < s->count; i++) {
            const double *columns = s->columns + (i * loop->batch->count + m) * model->n_columns;
            double count = 0;
            if (block->first + i < run->schedule.n_equilibration)
                continue;
            const size_t at = model->histogram_bin(point, c, columns, &count);
            ergo_curve_add_at(curve, at, count);
        }
    }
}

/* Store a collected block: series of every member; curves after equilibration. */
static void store(struct loop *loop, const struct block *block) {
    struct ergo_run *run = loop->run;
    const struct ergo_model *model = run->job->model;
    const struct ergo_samples *s = &loop->samples;
    const size_t members = loop->batch->count;
    const uint64_t curve_every = ergo_point_curve_every(loop->batch->points[0]);
    for (size_t m = 0; m < members; m++) {
        struct ergo_member_result *result = ergo_run_member(run, run->batch, m);
        for (size_t c = 0; c < model->n_columns; c++)
            for (size_t i = 0; i < s->count && result->series[c]; i++)
                result->series[c][block->first + i] =
                    s->columns[(i * members + m) * model->n_columns + c];
        result->n_samples = block->first + s->count;
        store_histograms(loop, block, m);
    }
    for (size_t m = 0; m < members && s->count && block->first >= run->schedule.n_equilibration;
         m++) {
        struct ergo_curve *curves = run->curves[loop->batch->points[m]->index];
        for (size_t c = 0; c < model->n_curves; c++)
            if (s->curves[c] && model->curves_sums >> c & 1)
                ergo_curve_add_sum(&curves[c], s->curves[c] + m * curves[c].size, s->count);
    }
    /* samples whose index is a multiple of curve_every carry curves */
    uint64_t index = (block->first + curve_every - 1) / curve_every * curve_every;
    for (size_t j = 0; j < s->n_curve_samples; j++, index += curve_every) {
        if (index < run->schedule.n_equilibration)
            continue;
        for (size_t m = 0; m < members; m++) {
            const size_t at = loop->batch->points[m]->index;
            for (size_t c = 0; c < model->n_curves; c++)
                if (s->curves[c] && !(model->curves_sums >> c & 1))
                    ergo_curve_add(&run->curves[at][c],
                                   s->curves[c] + (j * members + m) * run->curves[at][c].size);
        }
    }
}

/* The host's work on a block cost no time if the next one was not done when it ended. */
static void count_host_work(struct loop *loop, unsigned slot, double begin, double waited) {
    struct ergo_run *run = loop->run;
    struct block *next = &loop->blocks[1 - slot];
    const double seconds = fmax(0, ergo_clock() - begin - waited);
    const bool hidden = next->busy && !ergo_mark_done(&next->mark);
    run->host_seconds += seconds;
    run->hidden_seconds += hidden ? seconds : 0;
}

static enum ergo_status collect(struct loop *loop, unsigned slot) {
    struct ergo_run *run = loop->run;
    struct block *block = &loop->blocks[slot];
    if (!block->busy)
        return ERGO_OK;
    const double begin = ergo_clock(), waited = run->device->waited;
    enum ergo_status status = run->ops->collect(run->ctx, run->state, slot, &loop->samples);
    block->busy = false;
    ergo_mark_done(&block->mark);
    if (status != ERGO_OK)
        return status;
    store(loop, block);
    count_host_work(loop, slot, begin, run->device->waited - waited);
    run->samples = block->first + block->count;
    run->step += block->count * block->every;
    run->work_done += (double)(block->count * block->every) * loop->plan.work_per_step;
    run->progressed = true;

    /* aim at blocks of a tenth of a second */
    const double now = ergo_clock(), seconds = now - loop->last_collect;
    loop->last_collect = now;
    if (block->count == loop->block_samples) {
        double factor = seconds > 0 ? 0.1 / seconds : 2;
        factor = factor > 2 ? 2 : factor < 0.25 ? 0.25 : factor;
        const double wish = fmax(1, floor((double)loop->block_samples * factor));
        loop->block_samples = (size_t)fmin(wish, (double)loop->plan.block_samples);
        if (run->cut) /* clocks differ */
            ergo_dist_share(&loop->block_samples, sizeof loop->block_samples);
    }
    report_progress(
        run, run->samples <= run->schedule.n_equilibration ? "equilibration" : "sampling", false);
    return ERGO_OK;
}

static enum ergo_status drain(struct loop *loop) {
    enum ergo_status status = collect(loop, loop->next); /* the older one first */
    const enum ergo_status other = collect(loop, 1 - loop->next);
    return status == ERGO_OK ? other : status;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static size_t n_snapshots(const struct ergo_run *run) {
    return run->ops->picture || run->ops->frame
               ? (size_t)ergo_point_int(&run->job->points[0], "/output/snapshots")
               : 0;
}

/* Samples after which snapshot k (0-based) of n is taken; the last one at the end. */
static size_t snapshot_at(const struct ergo_schedule *s, size_t k, size_t n) {
    const size_t measured = s->n_samples - s->n_equilibration;
    return s->n_equilibration + (size_t)((double)measured * (double)(k + 1) / (double)n);
}

/* Pictures are kept in memory and in checkpoints: of at most 512 / n members, spread evenly; of one
 * for the sheet of the report where nobody asked for more. */
static enum ergo_status take_snapshots(struct loop *loop, size_t k) {
    struct ergo_run *run = loop->run;
    const size_t n = n_snapshots(run) ? n_snapshots(run) : 1, all = 512 / n ? 512 / n : 1;
    const struct ergo_value *asked = ergo_point_value(&run->job->points[0], "/output/snapshots");
    const size_t most = asked->given ? all : 48;
    const size_t stride = (run->job->n_points + most - 1) / most;
    enum ergo_status status =
        run->ops->frame ? ergo_run_write_frames(run, "snapshots", stride) : ERGO_OK;
    for (size_t m = 0; run->ops->picture && m < loop->batch->count && status == ERGO_OK; m++) {
        struct ergo_member_result *result = ergo_run_member(run, run->batch, m);
        if (result->point->index % stride || result->n_pictures > k)
            continue;
        struct ergo_picture picture;
        status = run->ops->picture(run->ctx, run->state, m, &picture);
        if (status != ERGO_OK)
            break;
        result->picture_steps[result->n_pictures] = run->step;
        result->pictures[result->n_pictures++] = picture;
    }
    return status;
}

/* ---- one batch ------------------------------------------------------------------------------- */

/* How many samples the next block may have: up to the next snapshot or frame, and the end; a block
 * is of the equilibration or not (curves_sums). */
static size_t next_block(const struct loop *loop) {
    const struct ergo_schedule *s = &loop->run->schedule;
    size_t until = loop->enqueued < s->n_equilibration ? s->n_equilibration : s->n_samples;
    const size_t n = n_snapshots(loop->run);
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t at = snapshot_at(s, k, n);
        if (at > loop->enqueued && at < until)
            until = at;
    }
    const size_t frame = ergo_run_next_frame(loop->run, loop->enqueued);
    until = frame < until ? frame : until;
    const size_t rest = until - loop->enqueued;
    return rest < loop->block_samples ? rest : loop->block_samples;
}

static enum ergo_status snapshots_due(struct loop *loop) {
    struct ergo_run *run = loop->run;
    const size_t n = n_snapshots(run);
    enum ergo_status status = ERGO_OK;
    if (loop->enqueued && ergo_run_next_frame(run, loop->enqueued - 1) == loop->enqueued) {
        status = drain(loop);
        if (status == ERGO_OK)
            status = ergo_run_write_frames(run, "trajectory", 1);
    }
    for (size_t k = 0; k + 1 < n && status == ERGO_OK; k++)
        if (snapshot_at(&run->schedule, k, n) == loop->enqueued) {
            status = drain(loop);
            if (status == ERGO_OK)
                status = take_snapshots(loop, k);
        }
    return status;
}

enum ergo_status ergo_run_count(struct ergo_run *run, const struct ergo_batch *batch) {
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++)
        status = ergo_sampler_count(run->ctx, run->ops, run->state, m,
                                    run->curves[batch->points[m]->index]);
    return status;
}

enum ergo_status ergo_run_audit(struct ergo_run *run) {
    const struct ergo_run_watch *watch = run->options->watch;
    run->last_audit = ergo_clock();
    return watch && watch->unaudited ? ERGO_OK : run->ops->audit(run->ctx, run->state);
}

/* A checkpoint on the way. One that cannot be written (a full disk) costs nothing yet: the last one
 * is still there, and the next may be. */
static enum ergo_status save(struct ergo_run *run) {
    const enum ergo_status status = ergo_run_save(run);
    run->last_checkpoint = ergo_clock();
    if (status != ERGO_E_IO)
        return status;
    ergo_log(run->ctx, ERGO_LOG_WARNING, "%s; going on, with another try in %.0f s",
             ergo_error_message(run->ctx),
             ergo_point_real(&run->job->points[0], "/checkpoint/every_seconds"));
    ergo_error_clear(run->ctx);
    return ERGO_OK;
}

static bool checkpoint_due(const struct ergo_run *run) {
    const double every = ergo_point_real(&run->job->points[0], "/checkpoint/every_seconds");
    return every > 0 && ergo_clock() - run->last_checkpoint >= every;
}

/* Between blocks: audit, checkpoint, stop. Drains the pipeline when something is due. (The
 * checkpoint of a stop is written by run_batch.) */
static enum ergo_status duties(struct loop *loop) {
    struct ergo_run *run = loop->run;
    const double every = ergo_point_real(&run->job->points[0], "/audit/every_seconds");
    const bool late = every > 0 && ergo_clock() - run->last_audit >= every;
    const unsigned due =
        ergo_run_agree(run, (must_stop(run) ? ERGO_DUE_STOP : 0) | (late ? ERGO_DUE_AUDIT : 0) |
                                (checkpoint_due(run) ? ERGO_DUE_SAVE : 0));
    const bool save_due = due & ERGO_DUE_SAVE;
    run->stopped = due & ERGO_DUE_STOP;
    if (!(due & (ERGO_DUE_AUDIT | ERGO_DUE_SAVE)))
        return ERGO_OK;
    enum ergo_status status = drain(loop);
    ergo_run_clock_rest(run);
    const double begun = ergo_clock();
    if (status == ERGO_OK)
        status = save_due ? save(run) : ergo_run_audit(run);
    run->result->phases[ERGO_PHASE_AUDIT] += ergo_clock() - begun;
    ergo_run_clock_start(run);
    loop->last_collect = ergo_clock();
    return status;
}

/* Steps without a sample, in bounded pieces, until step `until`: a stop never waits for long. */
static enum ergo_status steps(struct loop *loop, uint64_t until) {
    struct ergo_run *run = loop->run;
    enum ergo_status status = ERGO_OK;
    while (run->step < until && status == ERGO_OK) {
        status = duties(loop);
        if (status != ERGO_OK || run->stopped)
            break;
        const uint64_t rest = until - run->step;
        const uint64_t piece =
            (double)rest < loop->plan.block_steps ? rest : (uint64_t)loop->plan.block_steps;
        status = run->ops->advance(run->ctx, run->state, 0, 0, piece, 0);
        if (status == ERGO_OK)
            status = ergo_device_finish(run->ctx, run->device);
        run->step += piece;
        run->work_done += (double)piece * loop->plan.work_per_step;
        run->progressed = true;
        report_progress(run, run->samples ? "sampling" : "equilibration", false);
    }
    return status;
}

/* Enqueue the next samples: all of a block, or, where the steps of one sample are more than a block
 * should have, those up to its last step by themselves. */
static enum ergo_status enqueue(struct loop *loop) {
    struct ergo_run *run = loop->run;
    const struct ergo_schedule *s = &run->schedule;
    const bool rare = (double)s->every > loop->plan.block_steps;
    enum ergo_status status =
        rare ? steps(loop, s->lead + (loop->enqueued + 1) * s->every - 1) : duties(loop);
    if (status != ERGO_OK || run->stopped)
        return status;
    const unsigned slot = loop->next;
    status = collect(loop, slot);
    if (status != ERGO_OK)
        return status;
    struct block *block = &loop->blocks[slot];
    block->first = loop->enqueued;
    block->count = rare ? 1 : next_block(loop);
    block->every = rare ? 1 : s->every;
    status =
        run->ops->advance(run->ctx, run->state, slot, block->count, block->every, block->first);
    block->busy = status == ERGO_OK;
    block->mark = ergo_device_mark(run->device);
    loop->enqueued += block->count;
    loop->next = 1 - slot;
    if (status == ERGO_OK && rare)
        status = drain(loop);
    return status == ERGO_OK ? snapshots_due(loop) : status;
}

static enum ergo_status sample(struct loop *loop) {
    struct ergo_run *run = loop->run;
    enum ergo_status status = ERGO_OK;
    loop->enqueued = run->samples;
    loop->last_collect = ergo_clock();
    while (loop->enqueued < run->schedule.n_samples && status == ERGO_OK && !run->stopped)
        status = enqueue(loop);
    const enum ergo_status drained = drain(loop);
    return status == ERGO_OK ? drained : status;
}

/* A launch from a profile that the device refuses after all gives way to the automatic one. */
static enum ergo_status create(struct ergo_run *run, struct loop *loop) {
    enum ergo_status status = run->ops->create(run->ctx, loop->batch, run->device, &run->state);
    if (status != ERGO_E_DEVICE || !run->profiled || !ergo_tuning_given(loop->batch))
        return status;
    ergo_log(run->ctx, ERGO_LOG_WARNING, "without the tuning profile, which fails: %s",
             ergo_error_message(run->ctx));
    ergo_error_clear(run->ctx);
    if (run->state)
        run->ops->destroy(run->state);
    run->state = NULL;
    ergo_tuning_clear(loop->batch);
    status = run->ops->plan(run->ctx, loop->batch, run->device, &loop->plan);
    return status == ERGO_OK ? run->ops->create(run->ctx, loop->batch, run->device, &run->state)
                             : status;
}

enum ergo_status ergo_run_start_trial(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state) {
    bool done = false;
    enum ergo_status status = ops->init(ctx, state);
    while (!done && status == ERGO_OK) {
        status = ergo_sampler_start_piece(ctx, ops, state, &done);
        if (status == ERGO_OK && !done && stop_requested)
            status = ERGO_STOPPED;
    }
    return status;
}

/* From step 0, in pieces: a start at which a run is stopped is none, and is made anew by a resume.
 */
static enum ergo_status start(struct ergo_run *run) {
    bool done = false;
    enum ergo_status status = run->ops->init(run->ctx, run->state);
    while (!done && status == ERGO_OK && !run->stopped) {
        status = ergo_sampler_start_piece(run->ctx, run->ops, run->state, &done);
        run->stopped =
            !done && ergo_run_agree(run, must_stop(run) ? ERGO_DUE_STOP : 0) & ERGO_DUE_STOP;
        if (!done)
            report_progress(run, "start", false);
    }
    if (status != ERGO_OK || !run->stopped)
        return status;
    run->ops->destroy(run->state);
    run->state = NULL;
    if (!run->begun)
        return ergo_run_begin(run);
    return run->spread ? ERGO_OK : ergo_run_save(run); /* spread.c saves what all ranks have */
}

static enum ergo_status run_batch(struct loop *loop) {
    struct ergo_run *run = loop->run;
    const struct ergo_sampler_ops *ops = run->ops;
    const struct ergo_schedule *s = &run->schedule;
    const double begun = ergo_clock(), built = run->device->build_seconds;
    enum ergo_status status = ops->plan(run->ctx, loop->batch, run->device, &loop->plan);
    if (status == ERGO_OK)
        status = create(run, loop);
    if (status == ERGO_OK)
        status = loop_allocate(loop);
    if (status == ERGO_OK)
        status = run->has_restored_states ? ergo_run_load_states(run) : start(run);
    if (run->stopped)
        return status;
    /* also the first launch of every kernel, at which some drivers compile: the clock starts later
     */
    if (status == ERGO_OK)
        status = ergo_run_audit(run);
    if (status == ERGO_OK && !run->begun)
        status = ergo_run_begin(run);
    if (status != ERGO_OK)
        return status;
    run->result->phases[ERGO_PHASE_PREPARE] +=
        ergo_clock() - begun - (run->device->build_seconds - built);
    ergo_run_clock_start(run);
    const double first = floor(loop->plan.block_steps / (double)s->every);
    loop->block_samples = (size_t)fmax(1, fmin(first, (double)loop->plan.block_samples));

    if (s->lead)
        status = steps(loop, s->lead);
    if (status == ERGO_OK && !run->stopped)
        status = sample(loop);
    if (status == ERGO_OK && !run->stopped)
        status = steps(loop, s->total);
    ergo_run_clock_rest(run);
    const double ended = ergo_clock();
    if (status == ERGO_OK)
        status = ergo_run_digest_members(run);
    /* after the digests: a device that fails while it is read is found out */
    if (status == ERGO_OK)
        status = run->stopped ? ergo_run_save(run) : ergo_run_audit(run);
    run->result->phases[ERGO_PHASE_AUDIT] += ergo_clock() - ended;
    if (run->stopped)
        return status;
    if (status == ERGO_OK)
        status = ergo_run_count(run, loop->batch);
    for (size_t m = 0; m < loop->batch->count && status == ERGO_OK; m++)
        status = ergo_sampler_end_curves(run->ctx, ops, run->state, m,
                                         run->curves[loop->batch->points[m]->index]);
    if (status == ERGO_OK && n_snapshots(run))
        status = take_snapshots(loop, n_snapshots(run) - 1);
    return status;
}

enum ergo_status ergo_run_loop(struct ergo_run *run) {
    enum ergo_status status = ERGO_OK;
    run->last_checkpoint = ergo_clock();
    while (run->batch < run->job->n_batches && status == ERGO_OK && !run->stopped) {
        struct loop loop = {.run = run, .batch = &run->job->batches[run->batch]};
        run->schedule = ergo_schedule_of(loop.batch->points[0]);
        status = run_batch(&loop);
        loop_free(&loop);
        if (run->stopped || status != ERGO_OK)
            break;
        run->ops->destroy(run->state);
        run->state = NULL;
        run->batch++;
        run->step = 0;
        run->samples = 0;
        run->has_restored_states = false;
        /* not each time: all that was measured so far goes into it */
        if (run->batch < run->job->n_batches &&
            ergo_run_agree(run, checkpoint_due(run) ? ERGO_DUE_SAVE : 0))
            status = save(run);
    }
    report_progress(run, "writing", true);
    return status;
}
