/* Points of this rank as units: those of one batch that are at the same step run together. */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

/* What the device would need for these points; a refusal has its reason. */
static enum ergo_status plan(struct ergo_work *work, struct ergo_point **points, size_t count,
                             struct ergo_plan *p) {
    const struct ergo_batch batch = {.job = work->job, .points = points, .count = count};
    return ergo_sampler_plan(work->ctx, work->ops, &batch, work->device, p);
}

enum ergo_status ergo_spread_weigh(struct ergo_work *work) {
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
            s->steps[k] = s->progress[batch->points[m]->index].step;
        }
    }
    ergo_dist_share(s->weights, k * sizeof *s->weights); /* so that all agree */
    return ERGO_OK;
}

void ergo_spread_forget_units(struct ergo_spread *s) {
    for (size_t u = 0; u < s->n_units; u++)
        free(s->units[u].batch.points);
    free(s->units);
    s->units = NULL;
    s->n_units = s->at = 0;
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
    const uint64_t rest = ergo_schedule_of(points[0]).total - s->progress[points[0]->index].step;
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
        const struct ergo_point_progress *first = &s->progress[s->order[k]->index];
        size_t count = 0;
        if (used[k] || !ergo_spread_owns(work, k) ||
            first->step >= ergo_spread_total(work, s->order[k]))
            continue;
        for (size_t m = k; m < end; m++) {
            const struct ergo_point_progress *p = &s->progress[s->order[m]->index];
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
