/* What of points spread over ranks is kept: on disk, the index and a file of each rank, with what a
 * resume finds; and notes, from which others go on where a rank's device has failed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

enum ergo_status ergo_spread_resume(struct ergo_work *work) {
    struct ergo_stored *stored = &work->stored;
    const enum ergo_status status = ergo_spread_create(work);
    if (status != ERGO_OK)
        return status;
    free(work->spread->progress);
    work->spread->progress = stored->progress;
    stored->progress = NULL;
    if (stored->of_ranks) {
        work->spread->generation = stored->generation + 1;
        work->spread->old_ranks = stored->ranks;
    }
    ergo_stored_forget(stored);
    stored->has_states = false;
    work->batch = 0;
    work->step = 0;
    work->samples = 0;
    return ERGO_OK;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static bool add_ranks(const struct ergo_work *work, struct ergo_blobs *blobs) {
    return ergo_stored_add_ranks(work->result, work->spread->generation, work->spread->ranks,
                                 ergo_session_seconds(work->session), blobs);
}

/* What goes to others if the device fails: also what has been measured so far. */
static enum ergo_status commit(struct ergo_work *work, const struct ergo_batch *batch,
                               struct ergo_text *states) {
    for (size_t m = 0; m < batch->count; m++) {
        const size_t i = batch->points[m]->index;
        struct ergo_point_progress *p = &work->spread->progress[i];
        free(p->state);
        p->length = states[m].length;
        p->state = ergo_text_take(&states[m]);
        p->step = work->step;
        p->samples = work->samples;
        if (work->session->options->redistribute && !ergo_point_mark(work->result, p - i, i))
            return ergo_spread_no_memory(work);
    }
    return ERGO_OK;
}

/* The audit comes after the states are read, as in save.c; states count once it has passed. */
enum ergo_status ergo_spread_note(struct ergo_work *work) {
    const struct ergo_spread_unit *unit = work->spread->current;
    if (!unit || !work->state || work->step == 0)
        return ERGO_OK;
    struct ergo_text *states = calloc(unit->batch.count, sizeof *states);
    enum ergo_status status =
        states ? ergo_work_count(work, &unit->batch) : ergo_spread_no_memory(work);
    for (size_t m = 0; m < unit->batch.count && status == ERGO_OK; m++) {
        status = work->ops->save(work->ctx, work->state, m, &states[m]);
        if (status == ERGO_OK && states[m].failed)
            status = ergo_spread_no_memory(work);
    }
    if (status == ERGO_OK)
        status = ergo_work_audit(work);
    if (status == ERGO_OK)
        status = commit(work, &unit->batch, states);
    for (size_t m = 0; states && m < unit->batch.count; m++)
        ergo_text_free(&states[m]);
    free(states);
    return status;
}

static enum ergo_status write_blobs(struct ergo_work *work, const char *name,
                                    struct ergo_blobs *blobs, bool ok) {
    enum ergo_status status =
        ok ? ergo_session_hold_folder(work->session) : ergo_spread_no_memory(work);
    if (status == ERGO_OK)
        status = ergo_checkpoint_write(work->ctx, &work->session->folder, name, blobs);
    ergo_blobs_free(blobs);
    return status;
}

enum ergo_status ergo_spread_save(struct ergo_work *work) {
    const struct ergo_spread *s = work->spread;
    struct ergo_blobs blobs = {0};
    struct ergo_text points = {0};
    char name[64];
    enum ergo_status status = ergo_work_sync_configurations(work);
    if (status == ERGO_OK)
        status = ergo_spread_note(work);
    if (status != ERGO_OK || (work->cut && ergo_ranks_rank() > 0)) /* it only takes part */
        return status;
    for (size_t i = 0; i < work->job->n_points; i++)
        if (s->progress[i].step > 0)
            ergo_point_pack(work->result, s->progress, i, &points);
    const bool ok = !points.failed && add_ranks(work, &blobs) &&
                    ergo_stored_add_device(work->result, work->session->work_done, &blobs) &&
                    ergo_stored_add_text(&blobs, "parcels", &points);
    ergo_text_free(&points);
    ergo_stored_rank_file(name, sizeof name, s->generation, (uint64_t)ergo_ranks_rank());
    return write_blobs(work, name, &blobs, ok);
}

enum ergo_status ergo_spread_write_index(struct ergo_work *work) {
    struct ergo_blobs blobs = {0};
    const bool ok = ergo_stored_add_job(work->result, &blobs) && add_ranks(work, &blobs);
    return write_blobs(work, ERGO_CHECKPOINT, &blobs, ok);
}

void ergo_spread_remove(const struct ergo_work *work, uint64_t generation, uint64_t ranks) {
    for (uint64_t r = 0; r < ranks; r++) {
        char name[64];
        ergo_stored_rank_file(name, sizeof name, generation, r);
        unlinkat(work->session->folder.fd, name, 0);
    }
}

/* ---- devices that fail ----------------------------------------------------------------------- */

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
        const struct ergo_point_progress *p = &s->progress[i];
        if (work->step > p->step)
            work->session->work_done -= (double)(work->step - p->step) * s->weights[k];
        if (!ergo_point_back(work->result, s->progress, i))
            return ergo_spread_no_memory(work);
    }
    for (size_t k = 0; k < work->job->n_points; k++) {
        const struct ergo_point_progress *p = &s->progress[s->order[k]->index];
        if (!ergo_spread_owns(work, k) || p->step >= ergo_spread_total(work, s->order[k]))
            continue;
        redone += p->step > 0;
        begun += p->step == 0;
    }
    describe(work, redone, begun);
    ergo_log(work->ctx, ERGO_LOG_WARNING, "%s", s->failure.data ? s->failure.data : "");
    ergo_error_clear(work->ctx);
    ergo_stored_forget(&work->stored);
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
