/* See spread.h. Units of work, and which rank makes them. */
#include "run/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

enum ergo_status ergo_spread_create(struct ergo_run *run) {
    struct ergo_spread *s = calloc(1, sizeof *s);
    run->spread = s;
    if (s)
        s->progress = calloc(run->job->n_points, sizeof *s->progress);
    if (!s || !s->progress)
        return ergo_spread_no_memory(run);
    s->ranks = (uint64_t)ergo_dist_count();
    return ERGO_OK;
}

void ergo_spread_destroy(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    if (!s)
        return;
    for (size_t i = 0; s->progress && i < run->job->n_points; i++)
        free(s->progress[i].state);
    for (size_t u = 0; u < s->n_units; u++)
        free(s->units[u].batch.points);
    free(s->units);
    free(s->progress);
    free(s);
    run->spread = NULL;
}

/* An earlier run is removed only when this one can begin: kernels compile and memory suffices on
 * all ranks. (A rank that fails ends the others, which wait at the next barrier.) */
static enum ergo_status prove(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    void *state = NULL;
    if (run->begun || !run->options->overwrite || !s->n_units)
        return ERGO_OK;
    const size_t u = (size_t)ergo_ranks_rank() % s->n_units;
    const enum ergo_status status =
        run->ops->create(run->ctx, &s->units[u].batch, run->device, &state);
    if (status != ERGO_OK)
        return status;
    run->ops->destroy(state);
    return ERGO_OK;
}

/* First every rank's file under a new name, then the index that names them, then the old files are
 * removed. So at any moment there is an index whose files are all there. */
static enum ergo_status begin(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    const bool first = ergo_ranks_rank() == 0;
    char own[64];
    enum ergo_status status = prove(run);
    if (status != ERGO_OK)
        return status;
    if (first && !run->begun)
        s->generation = ergo_run_generation(run);
    ergo_dist_share(&s->generation, sizeof s->generation);
    status = ergo_spread_save(run);
    if (status == ERGO_OK) {
        ergo_dist_barrier();
        status = first ? ergo_spread_write_index(run) : ERGO_OK;
    }
    if (status != ERGO_OK) {
        if (first && !run->begun)
            ergo_spread_remove(run, s->generation, s->ranks);
        return status;
    }
    if (run->begun && first && s->generation)
        ergo_spread_remove(run, s->generation - 1, s->old_ranks);
    ergo_dist_barrier(); /* now the index is written */
    snprintf(own, sizeof own, "checkpoint-%" PRIu64 "-", s->generation);
    if (!run->begun)
        ergo_run_stands(run, own);
    ergo_dist_barrier(); /* no rank writes its next file while another still removes old ones */
    return ERGO_OK;
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool add_unit(struct ergo_spread *s, const struct ergo_batch *batch,
                     struct ergo_point *const *points, size_t count) {
    struct ergo_spread_unit *units = realloc(s->units, (s->n_units + 1) * sizeof *units);
    if (!units)
        return false;
    s->units = units;
    struct ergo_spread_unit *unit = &units[s->n_units];
    *unit = (struct ergo_spread_unit){.batch = {.job = batch->job, .count = count}};
    unit->batch.points = malloc(count * sizeof *points);
    if (!unit->batch.points)
        return false;
    memcpy(unit->batch.points, points, count * sizeof(struct ergo_point *));
    s->n_units++;
    return true;
}

/* Splits the points of a batch that are at the same step into pieces, two per rank, so that faster
 * ranks get more. */
static bool split(struct ergo_run *run, const struct ergo_batch *batch) {
    struct ergo_spread *s = run->spread;
    struct ergo_point **group = malloc(batch->count * sizeof(struct ergo_point *));
    bool *used = calloc(batch->count, sizeof *used);
    bool ok = group && used;
    for (size_t first = 0; first < batch->count && ok; first++) {
        const struct ergo_spread_progress *p = &s->progress[batch->points[first]->index];
        size_t count = 0;
        if (used[first] || p->step >= ergo_schedule_of(batch->points[first]).total)
            continue;
        for (size_t m = first; m < batch->count; m++) {
            const struct ergo_spread_progress *other = &s->progress[batch->points[m]->index];
            if (used[m] || other->step != p->step || other->samples != p->samples)
                continue;
            used[m] = true;
            group[count++] = batch->points[m];
        }
        const size_t pieces = s->ranks > 1 ? 2 * (size_t)s->ranks : 1;
        const size_t each = (count + pieces - 1) / pieces;
        for (size_t at = 0; at < count && ok; at += each)
            ok = add_unit(s, batch, group + at, count - at < each ? count - at : each);
    }
    free(group);
    free(used);
    return ok;
}

static int by_work(const void *a, const void *b) {
    const struct ergo_spread_unit *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

/* All ranks make the same units. Their work comes from rank 0, so that all agree. */
static enum ergo_status make_units(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    enum ergo_status status = ERGO_OK;
    for (size_t b = 0; b < run->job->n_batches; b++)
        if (!split(run, &run->job->batches[b]))
            return ergo_spread_no_memory(run);
    for (size_t u = 0; u < s->n_units && status == ERGO_OK; u++) {
        const struct ergo_point *first = s->units[u].batch.points[0];
        struct ergo_plan plan;
        status = run->ops->plan(run->ctx, &s->units[u].batch, run->device, &plan);
        if (status != ERGO_OK)
            return status;
        s->units[u].work =
            (double)(ergo_schedule_of(first).total - s->progress[first->index].step) *
            plan.work_per_step;
        s->units[u].order = u;
        ergo_dist_share(&s->units[u].work, sizeof s->units[u].work);
        run->work_total += s->units[u].work / (double)s->ranks;
    }
    if (s->n_units)
        qsort(s->units, s->n_units, sizeof *s->units, by_work);
    return status;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Hands the states of a unit's points to the loop. */
static enum ergo_status hand_states(struct ergo_run *run, const struct ergo_spread_unit *unit) {
    struct ergo_text states = {0}, lengths = {0};
    const struct ergo_spread_progress *first = &run->spread->progress[unit->batch.points[0]->index];
    run->step = first->step;
    run->samples = (size_t)first->samples;
    run->has_restored_states = first->step > 0;
    if (!run->has_restored_states)
        return ERGO_OK;
    for (size_t m = 0; m < unit->batch.count; m++) {
        const struct ergo_spread_progress *p = &run->spread->progress[unit->batch.points[m]->index];
        ergo_text_append_bytes(&states, p->state ? p->state : "", (size_t)p->length);
        ergo_text_append_bytes(&lengths, &p->length, sizeof p->length);
    }
    const bool ok = !states.failed && !lengths.failed &&
                    ergo_run_add_text(&run->restored, "states", &states) &&
                    ergo_run_add_text(&run->restored, "state_lengths", &lengths);
    ergo_text_free(&states);
    ergo_text_free(&lengths);
    return ok ? ERGO_OK : ergo_spread_no_memory(run);
}

static enum ergo_status run_unit(struct ergo_run *run, struct ergo_spread_unit *unit) {
    struct ergo_spread *s = run->spread;
    struct ergo_batch *const batches = run->job->batches;
    const size_t n_batches = run->job->n_batches;
    enum ergo_status status = hand_states(run, unit);
    for (size_t m = 0; m < unit->batch.count; m++)
        s->progress[unit->batch.points[m]->index].ours = true;
    s->current = unit;
    run->job->batches = &unit->batch;
    run->job->n_batches = 1;
    run->batch = 0;
    if (status == ERGO_OK)
        status = ergo_run_loop(run);
    run->job->batches = batches;
    run->job->n_batches = n_batches;
    if (run->state) { /* stopped: its states are noted; or it failed */
        run->ops->destroy(run->state);
        run->state = NULL;
    }
    s->current = NULL;
    for (size_t m = 0; m < unit->batch.count && status == ERGO_OK && !run->stopped; m++) {
        struct ergo_spread_progress *p = &s->progress[unit->batch.points[m]->index];
        const struct ergo_schedule schedule = ergo_schedule_of(unit->batch.points[m]);
        free(p->state);
        *p = (struct ergo_spread_progress){schedule.total, schedule.n_samples, NULL, 0, true};
    }
    return status;
}

static enum ergo_status take_parcels(void *user, int rank, const char *data, size_t length) {
    struct ergo_run *run = user;
    return ergo_spread_unpack(run, data, length)
               ? ERGO_OK
               : ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "the results of rank %d do not fit the job",
                           rank);
}

static enum ergo_status gather(struct ergo_run *run) {
    struct ergo_text parcels = {0};
    for (size_t i = 0; ergo_ranks_rank() > 0 && i < run->job->n_points; i++)
        if (run->spread->progress[i].ours && run->spread->progress[i].step > 0)
            ergo_spread_pack(run, i, &parcels);
    const enum ergo_status status = parcels.failed
                                        ? ergo_spread_no_memory(run)
                                        : ergo_dist_gather(run->ctx, &parcels, take_parcels, run);
    ergo_text_free(&parcels);
    return status;
}

enum ergo_status ergo_spread_run(struct ergo_run *run) {
    struct ergo_spread *s = run->spread;
    enum ergo_status status = make_units(run);
    if (status == ERGO_OK)
        status = begin(run);
    if (status != ERGO_OK)
        return status;
    ergo_dist_counter_open();
    for (uint64_t u = ergo_dist_counter_next(); u < s->n_units && status == ERGO_OK;
         u = ergo_dist_counter_next()) {
        status = run_unit(run, &s->units[u]);
        if (run->stopped || status != ERGO_OK)
            break;
        ergo_log(run->ctx, ERGO_LOG_INFO, "rank %d has done piece %" PRIu64 " of %zu",
                 ergo_ranks_rank(), u + 1, s->n_units);
    }
    if (status != ERGO_OK)
        return status; /* the caller ends all ranks */
    status = ergo_spread_save(run);
    if (status != ERGO_OK)
        return status;
    ergo_dist_counter_close();
    run->stopped = ergo_dist_any(run->stopped);
    status = gather(run);
    if (status != ERGO_OK)
        return status;
    run->work_done = ergo_dist_sum(run->work_done);
    run->seconds_before = ergo_dist_max(ergo_run_seconds(run));
    run->sampling_started = 0;
    run->step = 0;
    run->batch = run->job->n_batches;
    if (!run->stopped && ergo_ranks_rank() == 0) {
        /* finished: a plain checkpoint, and resume only reports */
        const uint64_t generation = s->generation, ranks = s->ranks;
        ergo_spread_destroy(run);
        status = ergo_run_save(run);
        if (status == ERGO_OK)
            ergo_spread_remove(run, generation, ranks);
    }
    return status;
}
