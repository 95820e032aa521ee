/* Devices that fail: their points go on elsewhere, from where they were noted. */
#include <string.h>
#include <time.h>

#include "run/spread_parts.h"

/* For result.json and the log. redone, begun: points that go on from a note, or from their start.
 */
static void describe(struct ergo_work *work, size_t redone, size_t begun) {
    struct ergo_spread *s = work->spread;
    const struct ergo_device_summary *d = &work->result->device;
    const char *message = ergo_error_message(work->ctx);
    char when[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    ergo_text_append(&s->failure, "the device of rank %d, %s (%s), failed at %s: %.*s. ",
                     ergo_ranks_rank(), d->name, d->id, when, (int)strcspn(message, "\n"), message);
    ergo_text_append(&s->failure,
                     "Of its points %zu went to other ranks from their last checkpoint, %zu from "
                     "their beginning",
                     redone, begun);
}

enum ergo_status ergo_spread_fail(struct ergo_work *work, enum ergo_status status) {
    struct ergo_spread *s = work->spread;
    size_t redone = 0, begun = 0;
    if (status != ERGO_E_DEVICE || !work->session->options->redistribute || s->ranks < 2)
        return status;
    ergo_session_clock_rest(work->session);
    const struct ergo_batch *batch = &s->current->batch;
    for (size_t k = 0, m = 0; k < work->job->n_points && m < batch->count; k++) {
        if (s->order[k] != batch->points[m])
            continue;
        const size_t i = batch->points[m++]->index;
        const struct ergo_point_progress *p = &work->progress[i];
        if (work->step > p->step)
            work->session->work_done -= (double)(work->step - p->step) * s->weights[k];
        if (!ergo_point_back(work->result, work->progress, i))
            return ergo_spread_no_memory(work);
    }
    for (size_t k = 0; k < work->job->n_points; k++) {
        const struct ergo_point_progress *p = &work->progress[s->order[k]->index];
        if (!ergo_spread_owns(work, k) || p->step >= ergo_spread_total(work, s->order[k]))
            continue;
        redone += p->step > 0;
        begun += p->step == 0;
    }
    describe(work, redone, begun);
    ergo_log(work->ctx, ERGO_LOG_WARNING, "%s", s->failure.data ? s->failure.data : "");
    ergo_error_clear(work->ctx);
    s->dead = true;
    return s->failure.failed ? ergo_spread_no_memory(work) : ERGO_OK;
}

static enum ergo_status take_failure(void *user, int rank, const char *data, size_t length) {
    struct ergo_work *work = user;
    (void)rank;
    return length && !ergo_result_add_warning(work->result, data, length)
               ? ergo_spread_no_memory(work)
               : ERGO_OK;
}

enum ergo_status ergo_spread_tell_failures(struct ergo_work *work) {
    const struct ergo_text *own = &work->spread->failure;
    const enum ergo_status status =
        ergo_ranks_rank() == 0 ? take_failure(work, 0, own->data, own->length) : ERGO_OK;
    return status == ERGO_OK ? ergo_dist_gather(work->ctx, own, take_failure, work) : status;
}
