/* Points spread over ranks, on disk: the index and a file of each rank; and what a resume finds. */
#include <stdlib.h>
#include <unistd.h>

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
