/* States of points: of those that have ended, and of those on the way. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "job/schedule.h"
#include "result/store.h"

/* ---- of points that have ended --------------------------------------------------------------- */

static bool has_final(const struct ergo_member_result *m) {
    return m->state && m->steps == ergo_schedule_of(m->point).total;
}

/* Of each member the length, 0 where there is none, and the state. */
bool ergo_stored_add_finals(const struct ergo_result *result, struct ergo_blobs *blobs) {
    struct ergo_text text = {0};
    bool any = false;
    for (size_t i = 0; i < result->n_members; i++)
        any = any || has_final(&result->members[i]);
    for (size_t i = 0; i < result->n_members && any; i++) {
        const struct ergo_member_result *m = &result->members[i];
        const uint64_t length = has_final(m) ? m->state_length : 0;
        ergo_text_append_bytes(&text, &length, sizeof length);
        if (length)
            ergo_text_append_bytes(&text, m->state, (size_t)length);
    }
    const bool ok = !text.failed && (!any || ergo_stored_add_text(blobs, "finals", &text));
    ergo_text_free(&text);
    return ok;
}

static bool restore_final(struct ergo_result *result, size_t i, struct ergo_reader *reader) {
    struct ergo_member_result *m = &result->members[i];
    uint64_t length = 0;
    if (!ergo_reader_copy(reader, &length, sizeof length))
        return false;
    const void *bytes = ergo_reader_take(reader, length);
    if (!bytes || (length && m->steps != ergo_schedule_of(m->point).total))
        return false;
    char *state = length ? malloc((size_t)length) : NULL;
    if (!state)
        return !length;
    memcpy(state, bytes, (size_t)length);
    ergo_result_keep_state(result, m, state, (size_t)length);
    return true;
}

enum ergo_status ergo_stored_read_finals(struct ergo_stored *stored) {
    return stored->of_ranks || !ergo_checkpoint_has(stored->checkpoint, "finals")
               ? ERGO_OK /* files of ranks have them with their points */
               : ergo_stored_restore(stored, "finals", (uint64_t)ergo_memory(), restore_final);
}

/* ---- of points on the way -------------------------------------------------------------------- */

static enum ergo_status no_memory(const struct ergo_stored *stored) {
    return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for the states of points");
}

/* The states of the current batch's members, to their progress. */
static enum ergo_status spread_states(struct ergo_stored *stored, const struct ergo_batch *batch) {
    struct ergo_reader states = ergo_reader_of(&stored->records, "states");
    struct ergo_reader lengths = ergo_reader_of(&stored->records, "state_lengths");
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_point_progress *p = &stored->progress[batch->points[m]->index];
        uint64_t length = 0;
        const void *bytes = ergo_reader_copy(&lengths, &length, sizeof length)
                                ? ergo_reader_take(&states, length)
                                : NULL;
        if (!bytes)
            return ergo_stored_damaged(stored, ERGO_CHECKPOINT, NULL);
        p->state = malloc((size_t)length + 1);
        if (!p->state)
            return no_memory(stored);
        memcpy(p->state, bytes, (size_t)length);
        p->length = length;
        p->step = stored->step;
        p->samples = stored->samples;
    }
    return ERGO_OK;
}

/* Batches before the current one are done, those after it not begun. */
enum ergo_status ergo_stored_spread_out(struct ergo_stored *stored) {
    const struct ergo_job *job = stored->result->job;
    enum ergo_status status = ERGO_OK;
    if (stored->progress)
        return ERGO_OK;
    stored->progress = calloc(job->n_points, sizeof *stored->progress);
    stored->n_progress = stored->progress ? job->n_points : 0;
    if (!stored->progress)
        return no_memory(stored);
    for (size_t b = 0; b < stored->batch; b++)
        for (size_t m = 0; m < job->batches[b].count; m++) {
            const struct ergo_point *point = job->batches[b].points[m];
            const struct ergo_schedule s = ergo_schedule_of(point);
            stored->progress[point->index].step = s.total;
            stored->progress[point->index].samples = s.n_samples;
        }
    if (!stored->has_states || stored->batch == job->n_batches)
        return ERGO_OK;
    const struct ergo_batch *batch = &job->batches[stored->batch];
    status = ergo_stored_read_states(stored, batch->count, ergo_memory());
    return status == ERGO_OK ? spread_states(stored, batch) : status;
}
