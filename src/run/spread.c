/* See spread.h. Units of work, and which rank makes them. */
#include "run/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

enum ergo_status ergo_spread_create(struct ergo_work *work) {
    struct ergo_spread *s = calloc(1, sizeof *s);
    work->spread = s;
    if (s)
        s->progress = calloc(work->job->n_points, sizeof *s->progress);
    if (!s || !s->progress)
        return ergo_spread_no_memory(work);
    work->save = ergo_spread_save;
    work->session->apart = !work->cut;
    s->ranks = work->cut ? 1 : (uint64_t)ergo_dist_count();
    return ERGO_OK;
}

void ergo_spread_destroy(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    if (!s)
        return;
    for (size_t i = 0; s->progress && i < work->job->n_points; i++)
        free(s->progress[i].state);
    for (size_t u = 0; u < s->n_units; u++)
        free(s->units[u].batch.points);
    free(s->units);
    free(s->progress);
    free(s);
    work->spread = NULL;
    work->save = ergo_work_save;
    work->session->apart = false;
}

/* An earlier run is removed only when this one can begin: kernels compile and memory suffices on
 * all ranks. (A rank that fails ends the others, which wait at the next barrier.) */
static enum ergo_status prove(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    void *state = NULL;
    if (work->session->begun || !work->session->options->overwrite || !s->n_units)
        return ERGO_OK;
    const size_t u = work->cut ? 0 : (size_t)ergo_ranks_rank() % s->n_units;
    const enum ergo_status status =
        ergo_sampler_create(work->ctx, work->ops, &s->units[u].batch, work->device, &state);
    if (status != ERGO_OK)
        return status;
    ergo_engine_destroy(state);
    return ERGO_OK;
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
        s->generation = ergo_session_generation(work->session);
    ergo_dist_share(&s->generation, sizeof s->generation);
    status = ergo_spread_save(work);
    if (status == ERGO_OK) {
        ergo_dist_barrier();
        status = first ? ergo_spread_write_index(work) : ERGO_OK;
    }
    if (status != ERGO_OK) {
        if (first && !work->session->begun)
            ergo_spread_remove(work, s->generation, s->ranks);
        return status;
    }
    if (work->session->begun && first && s->generation)
        ergo_spread_remove(work, s->generation - 1, s->old_ranks);
    ergo_dist_barrier(); /* the index stands, for all */
    snprintf(own, sizeof own, "checkpoint-%" PRIu64 "-", s->generation);
    if (!work->session->begun)
        ergo_session_stands(work->session, own);
    ergo_dist_barrier(); /* nobody's next file is taken for an old one */
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
static bool split(struct ergo_work *work, const struct ergo_batch *batch) {
    struct ergo_spread *s = work->spread;
    struct ergo_point **group = malloc(batch->count * sizeof(struct ergo_point *));
    bool *used = calloc(batch->count, sizeof *used);
    bool ok = group && used;
    for (size_t first = 0; first < batch->count && ok; first++) {
        const struct ergo_point_progress *p = &s->progress[batch->points[first]->index];
        size_t count = 0;
        if (!ergo_result_has(work->result, batch->points[first]->index))
            used[first] = true;
        if (used[first] || p->step >= ergo_schedule_of(batch->points[first]).total)
            continue;
        for (size_t m = first; m < batch->count; m++) {
            const struct ergo_point_progress *other = &s->progress[batch->points[m]->index];
            if (used[m] || other->step != p->step || other->samples != p->samples ||
                !ergo_result_has(work->result, batch->points[m]->index))
                continue;
            used[m] = true;
            group[count++] = batch->points[m];
        }
        const size_t pieces = s->ranks > 1 ? 2 * (size_t)s->ranks : 1; /* none cut or alone */
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
static enum ergo_status make_units(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = ERGO_OK;
    for (size_t b = 0; b < work->job->n_batches; b++)
        if (!split(work, &work->job->batches[b]))
            return ergo_spread_no_memory(work);
    for (size_t u = 0; u < s->n_units && status == ERGO_OK; u++) {
        const struct ergo_point *first = s->units[u].batch.points[0];
        struct ergo_plan plan;
        status = ergo_sampler_plan(work->ctx, work->ops, &s->units[u].batch, work->device, &plan);
        if (status != ERGO_OK)
            return status;
        s->units[u].work =
            (double)(ergo_schedule_of(first).total - s->progress[first->index].step) *
            plan.work_per_step;
        s->units[u].order = u;
        ergo_dist_share(&s->units[u].work, sizeof s->units[u].work);
        work->session->work_total += s->units[u].work / (double)s->ranks;
    }
    work->session->work_total += work->session->work_done;
    if (s->n_units)
        qsort(s->units, s->n_units, sizeof *s->units, by_work);
    return status;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Hands the states of a unit's points to the loop. */
static enum ergo_status hand_states(struct ergo_work *work, const struct ergo_spread_unit *unit) {
    struct ergo_text states = {0}, lengths = {0};
    const struct ergo_point_progress *first = &work->spread->progress[unit->batch.points[0]->index];
    work->step = first->step;
    work->samples = (size_t)first->samples;
    work->stored.has_states = first->step > 0;
    if (!work->stored.has_states)
        return ERGO_OK;
    for (size_t m = 0; m < unit->batch.count; m++) {
        const struct ergo_point_progress *p = &work->spread->progress[unit->batch.points[m]->index];
        ergo_text_append_bytes(&states, p->state ? p->state : "", (size_t)p->length);
        ergo_text_append_bytes(&lengths, &p->length, sizeof p->length);
    }
    const bool ok = !states.failed && !lengths.failed &&
                    ergo_stored_add_text(&work->stored.records, "states", &states) &&
                    ergo_stored_add_text(&work->stored.records, "state_lengths", &lengths);
    ergo_text_free(&states);
    ergo_text_free(&lengths);
    return ok ? ERGO_OK : ergo_spread_no_memory(work);
}

static enum ergo_status run_unit(struct ergo_work *work, struct ergo_spread_unit *unit) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = hand_states(work, unit);
    for (size_t m = 0; m < unit->batch.count; m++)
        s->progress[unit->batch.points[m]->index].ours = true;
    s->current = unit;
    work->batches = &unit->batch;
    work->n_batches = 1;
    work->batch = 0;
    if (status == ERGO_OK)
        status = ergo_work_loop(work);
    work->batches = work->job->batches;
    work->n_batches = work->job->n_batches;
    if (work->state) { /* stopped, its states are noted; or failed */
        ergo_engine_destroy(work->state);
        work->state = NULL;
    }
    s->current = NULL;
    for (size_t m = 0; m < unit->batch.count && status == ERGO_OK && !work->session->stopped; m++) {
        struct ergo_point_progress *p = &s->progress[unit->batch.points[m]->index];
        const struct ergo_schedule schedule = ergo_schedule_of(unit->batch.points[m]);
        free(p->state);
        *p = (struct ergo_point_progress){schedule.total, schedule.n_samples, NULL, 0, true};
    }
    return status;
}

static enum ergo_status take_parcels(void *user, int rank, const char *data, size_t length) {
    struct ergo_work *work = user;
    return ergo_points_unpack(work->result, work->spread->progress, data, length)
               ? ERGO_OK
               : ERGO_FAIL(work->ctx, ERGO_E_INTERNAL, "the results of rank %d do not fit the job",
                           rank);
}

static enum ergo_status gather(struct ergo_work *work) {
    struct ergo_text parcels = {0};
    for (size_t i = 0; ergo_ranks_rank() > 0 && !work->cut && i < work->job->n_points; i++)
        if (work->spread->progress[i].ours && work->spread->progress[i].step > 0)
            ergo_point_pack(work->result, work->spread->progress, i, &parcels);
    const enum ergo_status status = parcels.failed
                                        ? ergo_spread_no_memory(work)
                                        : ergo_dist_gather(work->ctx, &parcels, take_parcels, work);
    ergo_text_free(&parcels);
    return status;
}

/* Ranks that cut systems run all units together; else each takes the next one. */
static uint64_t next_unit(const struct ergo_work *work, size_t done) {
    return work->cut ? done : ergo_dist_counter_next();
}

enum ergo_status ergo_spread_run(struct ergo_work *work) {
    struct ergo_spread *s = work->spread;
    enum ergo_status status = make_units(work);
    if (status == ERGO_OK)
        status = begin(work);
    if (status != ERGO_OK)
        return status;
    if (work->session->extends && ergo_ranks_rank() == 0)
        ergo_session_forget_files(work->session);
    if (!work->cut)
        ergo_dist_counter_open();
    size_t done = 0;
    for (uint64_t u = next_unit(work, done); u < s->n_units && status == ERGO_OK;
         u = next_unit(work, ++done)) {
        status = run_unit(work, &s->units[u]);
        if (work->session->stopped || status != ERGO_OK)
            break;
        ergo_log(work->ctx, ERGO_LOG_INFO, "rank %d has done piece %" PRIu64 " of %zu",
                 ergo_ranks_rank(), u + 1, s->n_units);
        status = ergo_work_save_if_due(work);
    }
    if (status != ERGO_OK)
        return status; /* the caller ends all ranks */
    status = ergo_spread_save(work);
    if (status != ERGO_OK)
        return status;
    if (!work->cut) {
        ergo_dist_counter_close();
        work->session->stopped = ergo_dist_any(work->session->stopped);
    }
    status = gather(work);
    if (status != ERGO_OK)
        return status;
    if (!work->cut)
        work->session->work_done = ergo_dist_sum(work->session->work_done);
    work->session->seconds_before = ergo_dist_max(ergo_session_seconds(work->session));
    work->session->sampling_started = 0;
    work->step = 0;
    work->batch = work->n_batches;
    if (!work->session->stopped && !work->result->n_parts && ergo_ranks_rank() == 0) {
        /* finished: a plain checkpoint, and resume only reports */
        const uint64_t generation = s->generation, ranks = s->ranks;
        ergo_spread_destroy(work);
        status = work->save(work);
        if (status == ERGO_OK)
            ergo_spread_remove(work, generation, ranks);
    }
    return status;
}
