/* See spread.h. What a rank has, as units: points of one batch that are at the same step run
 * together. From the first deal to the results of all. */
#include "run/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

enum ergo_status ergo_spread_leave(struct ergo_work *work) {
    const struct ergo_spread *s = work->spread;
    if (s->verdict != ERGO_SPREAD_DEAL)
        return ergo_work_save(work);
    return s->anew ? ERGO_OK : ergo_work_note(work);
}

void ergo_spread_forget_units(struct ergo_spread *s) {
    for (size_t u = 0; u < s->n_units; u++)
        free(s->units[u].batch.points);
    free(s->units);
    s->units = NULL;
    s->n_units = s->at = 0;
}

enum ergo_status ergo_spread_create(struct ergo_work *work, struct ergo_rank_files old) {
    const size_t n = work->job->n_points;
    struct ergo_spread *s = calloc(1, sizeof *s);
    work->spread = s;
    if (!s)
        return ergo_spread_no_memory(work);
    s->order = ergo_arena_alloc(&s->lists, n, sizeof(struct ergo_point *));
    s->place = ergo_arena_alloc(&s->lists, n, sizeof *s->place);
    s->chains = ergo_arena_alloc(&s->lists, n, sizeof *s->chains);
    s->weights = ergo_arena_alloc(&s->lists, n, sizeof *s->weights);
    s->steps = ergo_arena_alloc(&s->lists, n, sizeof *s->steps);
    s->owners = ergo_arena_alloc(&s->lists, n, sizeof *s->owners);
    s->dealt = ergo_arena_alloc(&s->lists, n, sizeof *s->dealt);
    if (s->lists.failed)
        return ergo_spread_no_memory(work);
    work->session->apart = !work->cut;
    s->ranks = work->cut ? 1 : (uint64_t)ergo_dist_count();
    s->old_ranks = old.ranks;
    work->files.generation = old.ranks ? old.generation + 1 : 0;
    work->files.ranks = s->ranks;
    if (s->ranks > n && ergo_ranks_rank() == 0)
        ergo_log(
            work->ctx, ERGO_LOG_WARNING,
            "%llu ranks share %zu chain%s: there is nothing to do for %llu of them. More replicas "
            "or scan points keep all busy; mpirun -np %zu leaves devices to others",
            (unsigned long long)s->ranks, n, n == 1 ? "" : "s", (unsigned long long)(s->ranks - n),
            n);
    return ERGO_OK;
}

void ergo_spread_destroy(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    if (!s)
        return;
    ergo_spread_forget_units(s);
    ergo_text_free(&s->failure);
    ergo_arena_free(&s->lists);
    free(s);
    work->spread = NULL;
    work->files = (struct ergo_rank_files){0, 0};
    work->session->apart = false;
}

/* ---- units ----------------------------------------------------------------------------------- */

/* What the device would need for these points; a refusal has its reason. */
static enum ergo_status plan(struct ergo_work *work, struct ergo_point **points, size_t count,
                             struct ergo_plan *p) {
    const struct ergo_batch batch = {.job = work->job, .points = points, .count = count};
    return ergo_sampler_plan(work->ctx, work->ops, &batch, work->device, p);
}

static enum ergo_status weigh(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    size_t k = 0;
    s->n_chains = 0;
    for (size_t b = 0; b < work->job->n_batches; b++) {
        const struct ergo_batch *batch = &work->job->batches[b];
        struct ergo_plan p;
        const enum ergo_status status = plan(work, batch->points, 1, &p);
        if (status != ERGO_OK)
            return status;
        for (size_t m = 0; m < batch->count; m++, k++) {
            const struct ergo_point *previous = batch->points[m]->previous;
            s->order[k] = batch->points[m];
            s->place[batch->points[m]->index] = k;
            s->chains[k] =
                previous ? s->chains[s->place[previous->index]] : (uint32_t)s->n_chains++;
            s->weights[k] = p.work_per_step;
            s->steps[k] = work->progress[batch->points[m]->index].step;
        }
    }
    ergo_dist_share(s->weights, k * sizeof *s->weights); /* so that all agree */
    return ERGO_OK;
}

/* As one unit, or as several where the device cannot hold so many. */
static enum ergo_status add(struct ergo_work *work, struct ergo_point **points, size_t count) {
    struct ergo_spread *s = work->spread;
    struct ergo_plan p;
    enum ergo_status status = plan(work, points, count, &p);
    if (status == ERGO_E_DEVICE && count > 1) {
        ergo_error_clear(work->ctx);
        status = add(work, points, count / 2);
        return status == ERGO_OK ? add(work, points + count / 2, count - count / 2) : status;
    }
    if (status != ERGO_OK)
        return status;
    struct ergo_spread_unit *units = realloc(s->units, (s->n_units + 1) * sizeof *units);
    if (!units)
        return ergo_spread_no_memory(work);
    s->units = units;
    struct ergo_spread_unit *unit = &units[s->n_units];
    *unit = (struct ergo_spread_unit){.batch = {.job = work->job, .count = count}};
    unit->batch.points = malloc(count * sizeof(struct ergo_point *));
    if (!unit->batch.points)
        return ergo_spread_no_memory(work);
    memcpy(unit->batch.points, points, count * sizeof(struct ergo_point *));
    const uint64_t rest = ergo_schedule_of(points[0]).total - work->progress[points[0]->index].step;
    unit->work = (double)rest * p.work_per_step;
    unit->work_per_step = p.work_per_step;
    unit->order = s->n_units++;
    work->session->work_total += unit->work;
    return ERGO_OK;
}

/* Of a batch whose points are order[from] to order[end - 1]. */
static enum ergo_status group(struct ergo_work *work, size_t from, size_t end,
                              struct ergo_point **points, bool *used) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = ERGO_OK;
    for (size_t k = from; k < end && status == ERGO_OK; k++) {
        const struct ergo_point_progress *first = &work->progress[s->order[k]->index];
        size_t count = 0;
        if (used[k] || !ergo_spread_owns(work, k) ||
            first->step >= ergo_spread_total(work, s->order[k]))
            continue;
        for (size_t m = k; m < end; m++) {
            const struct ergo_point_progress *p = &work->progress[s->order[m]->index];
            if (used[m] || s->owners[m] != s->owners[k] || p->step != first->step ||
                p->samples != first->samples || p->step >= ergo_spread_total(work, s->order[m]))
                continue;
            used[m] = true;
            points[count++] = s->order[m];
        }
        status = add(work, points, count);
    }
    return status;
}

static int by_work(const void *a, const void *b) {
    const struct ergo_spread_unit *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

enum ergo_status ergo_spread_make_units(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const size_t n = work->job->n_points;
    struct ergo_point **points = malloc(n * sizeof(struct ergo_point *));
    bool *used = calloc(n, sizeof *used);
    enum ergo_status status = points && used ? ERGO_OK : ergo_spread_no_memory(work);
    ergo_spread_forget_units(s);
    work->session->work_total = work->session->work_done;
    for (size_t b = 0, k = 0; b < work->job->n_batches && status == ERGO_OK; b++) {
        status = group(work, k, k + work->job->batches[b].count, points, used);
        k += work->job->batches[b].count;
    }
    free(points);
    free(used);
    if (s->n_units && s->n_chains == n) /* else in their order */
        qsort(s->units, s->n_units, sizeof *s->units, by_work);
    ergo_eta_free(&work->session->eta);
    work->session->eta.share = 1; /* these units are all this rank's */
    for (size_t u = 0; u < s->n_units && status == ERGO_OK; u++)
        if (!ergo_eta_add(&work->session->eta, s->units[u].work_per_step,
                          s->units[u].work / s->units[u].work_per_step))
            status = ergo_spread_no_memory(work);
    return status;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* An earlier run is removed only when this one can begin: kernels compile and memory suffices on
 * all ranks. (A rank that fails ends the others, which wait at the next barrier.) */
static enum ergo_status prove(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    void *state = NULL;
    if (work->session->begun || !work->session->options->overwrite || !s->n_units)
        return ERGO_OK;
    const enum ergo_status status =
        ergo_sampler_create(work->ctx, work->ops, &s->units[0].batch, work->device, &state);
    if (status != ERGO_OK)
        return status;
    ergo_engine_destroy(state);
    return ERGO_OK;
}

/* What a generation of ranks has left. */
static void remove_files(const struct ergo_work *work, uint64_t generation, uint64_t ranks) {
    for (uint64_t r = 0; r < ranks; r++) {
        char name[64];
        ergo_stored_rank_file(name, sizeof name, generation, r);
        unlinkat(work->session->folder.fd, name, 0);
    }
}

/* First every rank's file under a new name, then the index that names them, then the old files are
 * removed. So at any moment there is an index whose files are all there. */
static enum ergo_status begin(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    const bool first = ergo_ranks_rank() == 0;
    char own[64];
    enum ergo_status status = prove(work);
    if (status != ERGO_OK)
        return status;
    if (first && !work->session->begun)
        work->files.generation = ergo_session_generation(work->session);
    ergo_dist_share(&work->files.generation, sizeof work->files.generation);
    status = ergo_work_save(work);
    if (status == ERGO_OK) {
        ergo_dist_barrier();
        status = first ? ergo_work_save_index(work) : ERGO_OK;
    }
    if (status != ERGO_OK) {
        if (first && !work->session->begun)
            remove_files(work, work->files.generation, s->ranks);
        return status;
    }
    if (work->session->begun && first && work->files.generation)
        remove_files(work, work->files.generation - 1, s->old_ranks);
    ergo_dist_barrier(); /* the index stands, for all */
    snprintf(own, sizeof own, "checkpoint-%" PRIu64 "-", work->files.generation);
    const bool fresh = !work->session->begun;
    if (fresh)
        ergo_session_stands(work->session, own);
    if (first)
        status = ergo_work_prepare_configurations(work, fresh);
    ergo_dist_barrier(); /* nobody's next file is taken for an old one */
    return status;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Where a unit's points stand; with marks to go back to, if the device fails. */
static enum ergo_status enter(struct ergo_work *work, const struct ergo_spread_unit *unit) {
    const struct ergo_point_progress *first = &work->progress[unit->batch.points[0]->index];
    bool marked = true;
    work->step = first->step;
    work->samples = (size_t)first->samples;
    for (size_t m = 0; m < unit->batch.count; m++) {
        const size_t i = unit->batch.points[m]->index;
        work->progress[i].ours = true;
        if (work->session->options->redistribute && work->step > 0)
            marked = marked && ergo_point_mark(work->result, work->progress, i);
    }
    return marked ? ERGO_OK : ergo_spread_no_memory(work);
}

static enum ergo_status run_unit(struct ergo_work *work, struct ergo_spread_unit *unit) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = enter(work, unit);
    s->current = unit;
    s->prepared = work->result->phases[ERGO_PHASE_PREPARE];
    work->session->eta.first = (size_t)(unit - s->units);
    work->batches = &unit->batch;
    work->n_batches = 1;
    work->batch = 0;
    if (status == ERGO_OK)
        status = ergo_work_loop(work);
    work->batches = work->job->batches;
    work->n_batches = work->job->n_batches;
    if (work->state) { /* left, its states are noted; or failed */
        ergo_engine_destroy(work->state);
        work->state = NULL;
    }
    if (status != ERGO_OK)
        status = ergo_spread_fail(work, status);
    s->current = NULL;
    s->ask_at = 0; /* whatever meetings meanwhile gave this rank: it has worked since */
    s->prepare = work->result->phases[ERGO_PHASE_PREPARE] - s->prepared;
    return status;
}

enum ergo_status ergo_spread_take(void *user, int rank, const char *data, size_t length) {
    struct ergo_work *work = user;
    if (ergo_points_unpack(work->result, work->progress, data, length))
        return ERGO_OK;
    return ergo_memory_failed() ? ergo_spread_no_memory(work)
                                : ERGO_FAIL(work->ctx, ERGO_E_INTERNAL,
                                            "points of rank %d do not fit the job", rank);
}

static enum ergo_status gather(struct ergo_work *work) {
    struct ergo_text parcels = {0};
    for (size_t i = 0; ergo_ranks_rank() > 0 && !work->cut && i < work->job->n_points; i++)
        if (work->progress[i].ours && work->progress[i].step > 0)
            ergo_point_pack(work->result, work->progress, i, &parcels);
    const enum ergo_status status =
        parcels.failed ? ergo_spread_no_memory(work)
                       : ergo_dist_gather(work->ctx, &parcels, ergo_spread_take, work);
    ergo_text_free(&parcels);
    return status == ERGO_OK ? ergo_spread_tell_failures(work) : status;
}

/* Units of this rank, until there are no more or a meeting ends them. */
static enum ergo_status run_units(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = ERGO_OK;
    while (s->at < s->n_units && status == ERGO_OK && s->verdict == ERGO_SPREAD_ON &&
           !work->session->stopped && !s->dead) {
        if (ergo_spread_due(work))
            status = ergo_spread_meet(work);
        else
            status = run_unit(work, &s->units[s->at++]);
        if (status == ERGO_OK && !work->session->stopped && !s->dead &&
            s->verdict == ERGO_SPREAD_ON)
            status = ergo_work_save_if_due(work);
    }
    return status;
}

/* Until all points are done, or the run stops. */
static enum ergo_status run_all(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = ERGO_OK;
    while (status == ERGO_OK && (s->verdict == ERGO_SPREAD_ON || s->verdict == ERGO_SPREAD_DEAL)) {
        if (s->verdict == ERGO_SPREAD_DEAL)
            status = ergo_spread_exchange(work);
        if (status == ERGO_OK)
            status = run_units(work);
        if (status == ERGO_OK && s->verdict == ERGO_SPREAD_ON && !work->cut)
            status = ergo_spread_wait(work);
        else if (s->verdict == ERGO_SPREAD_ON) /* ranks that cut systems have run all together */
            s->verdict = work->session->stopped ? ERGO_SPREAD_STOP : ERGO_SPREAD_DONE;
    }
    if (status == ERGO_OK)
        status = ergo_work_save(work);
    if (status != ERGO_OK || s->verdict != ERGO_SPREAD_LOST)
        return status;
    ergo_dist_barrier(); /* all have saved */
    return ERGO_FAIL(work->ctx, ERGO_E_DEVICE,
                     "no rank has a device that works any more: %s; what was done is saved: once "
                     "they work, or with others, `ergocl resume %s` goes on",
                     s->failure.data, work->session->folder.path);
}

/* The results of all points are here; a point that nobody has made is a defect. */
static enum ergo_status check_all(const struct ergo_work *work) {
    for (size_t i = 0; i < work->job->n_points; i++)
        if (work->progress[i].step < ergo_spread_total(work, &work->job->points[i]))
            return ERGO_FAIL(work->ctx, ERGO_E_INTERNAL, "point %zu was lost between ranks", i);
    return ERGO_OK;
}

enum ergo_status ergo_spread_run(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = weigh(work);
    s->since_work = work->session->work_done; /* of earlier sessions */
    s->since_seconds = ergo_session_seconds(work->session);
    if (status == ERGO_OK)
        status = ergo_spread_deal_first(work);
    if (status == ERGO_OK)
        status = begin(work);
    if (status == ERGO_OK && work->session->extends && ergo_ranks_rank() == 0)
        ergo_session_forget_files(work->session, work->job);
    if (status == ERGO_OK)
        status = run_all(work);
    if (status != ERGO_OK)
        return status; /* the caller ends all ranks */
    work->session->stopped = s->verdict == ERGO_SPREAD_STOP;
    status = gather(work);
    if (status == ERGO_OK && !work->session->stopped && ergo_ranks_rank() == 0)
        status = check_all(work);
    if (status != ERGO_OK)
        return status;
    if (!work->cut)
        work->session->work_done = ergo_dist_sum(work->session->work_done);
    work->session->seconds_before = ergo_dist_max(ergo_session_seconds(work->session));
    work->session->sampling_started = 0;
    work->step = 0;
    work->samples = 0; /* of a unit that was left */
    work->batch = work->n_batches;
    if (!work->session->stopped && ergo_ranks_rank() == 0) {
        /* finished: one file, and resume only reports */
        const uint64_t generation = work->files.generation, ranks = s->ranks;
        ergo_spread_destroy(work);
        status = ergo_work_save(work);
        if (status == ERGO_OK)
            remove_files(work, generation, ranks);
    }
    return status;
}
