/* States of the current batch: into checkpoints and digests, and back. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "dist/dist.h"
#include "run/work.h"

struct ergo_member_result *ergo_work_member(const struct ergo_work *work, size_t m) {
    return &work->result->members[work->batches[work->batch].points[m]->index];
}

unsigned ergo_work_agree(const struct ergo_work *work, unsigned due) {
    return work->cut ? ergo_dist_or(due) : due;
}

enum ergo_status ergo_work_count(struct ergo_work *work, const struct ergo_batch *batch) {
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++)
        status = ergo_sampler_count(work->ctx, work->ops, work->state, m,
                                    work->result->members[batch->points[m]->index].binned);
    return status;
}

enum ergo_status ergo_work_audit(struct ergo_work *work) {
    const struct ergo_run_watch *watch = work->session->options->watch;
    work->session->last_audit = ergo_clock();
    if (watch && watch->unaudited)
        return ERGO_OK;
    const enum ergo_status checked = ergo_engine_check(work->ctx, work->state);
    return checked == ERGO_OK ? ergo_audit_settle(work) : checked;
}

static enum ergo_status no_memory(struct ergo_work *work) {
    return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a checkpoint");
}

/* Audited states count; and what has been measured so far, where it goes to others if the device
 * fails. */
static enum ergo_status commit(struct ergo_work *work, const struct ergo_batch *batch,
                               struct ergo_text *states) {
    for (size_t m = 0; m < batch->count; m++) {
        const size_t i = batch->points[m]->index;
        struct ergo_point_progress *p = &work->progress[i];
        ergo_progress_drop_state(p);
        p->length = states[m].length;
        p->state = ergo_text_take(&states[m]);
        p->step = work->step;
        p->samples = work->samples;
        if (!p->state || (work->spread && work->session->options->redistribute &&
                          !ergo_point_mark(work->result, work->progress, i)))
            return no_memory(work);
    }
    return ERGO_OK;
}

/* The audit comes after the states are read, so that a device that begins to fail in between writes
 * no checkpoint. (init makes the state of step 0 again, so a start need not write gigabytes.) */
enum ergo_status ergo_work_note(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    if (!work->state || work->step == 0)
        return ERGO_OK;
    struct ergo_text *states = calloc(batch->count, sizeof *states);
    enum ergo_status status = states ? ergo_work_count(work, batch) : no_memory(work);
    ergo_engine_read_ahead(work->state, true);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        status = work->ops->save(work->ctx, work->state, m, &states[m]);
        if (status == ERGO_OK && states[m].failed)
            status = no_memory(work);
        if (status == ERGO_OK)
            status = ergo_audit_state(work, m, states[m].data, states[m].length);
    }
    ergo_engine_read_ahead(work->state, false);
    if (status == ERGO_OK)
        status = ergo_work_audit(work);
    ergo_audit_saved(work);
    if (status == ERGO_OK)
        status = commit(work, batch, states);
    for (size_t m = 0; states && m < batch->count; m++)
        ergo_text_free(&states[m]);
    free(states);
    return status;
}

/* Only points that are spread over ranks need theirs later: they may change ranks. */
static void drop_states(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    for (size_t m = 0; !work->spread && work->batch < work->n_batches && m < batch->count; m++)
        ergo_progress_drop_state(&work->progress[batch->points[m]->index]);
}

/* Of an index without progress; with checksums. */
static enum ergo_status collect(struct ergo_work *work, struct ergo_point_progress *progress,
                                struct ergo_blobs *blobs) {
    return ergo_stored_add(work->result, progress, work->files, ergo_session_seconds(work->session),
                           work->session->work_done, blobs) &&
                   ergo_blobs_sum(blobs)
               ? ERGO_OK
               : no_memory(work);
}

static enum ergo_status write(struct ergo_work *work, const char *name,
                              struct ergo_point_progress *progress) {
    struct ergo_blobs blobs = {0};
    enum ergo_status status = collect(work, progress, &blobs);
    if (status == ERGO_OK)
        status = ergo_session_hold_folder(work->session);
    if (status == ERGO_OK)
        status = ergo_checkpoint_write(work->ctx, &work->session->folder, name, &blobs);
    ergo_blobs_free(&blobs);
    return status;
}

enum ergo_status ergo_work_finished(struct ergo_work *work, struct ergo_blobs *blobs) {
    return collect(work, work->progress, blobs);
}

enum ergo_status ergo_work_save(struct ergo_work *work) {
    char name[64] = ERGO_CHECKPOINT;
    enum ergo_status status = ergo_work_note(work); /* all ranks of a cut system, whatever fails */
    if (status == ERGO_OK)
        status = ergo_work_sync_configurations(work);
    if (work->files.ranks)
        ergo_stored_rank_file(name, sizeof name, work->files.generation,
                              (uint64_t)ergo_ranks_rank());
    /* other ranks of a cut system take part in making states, and have nothing to write */
    if (status == ERGO_OK && (!work->cut || ergo_ranks_rank() == 0))
        status = write(work, name, work->progress);
    drop_states(work);
    return status;
}

enum ergo_status ergo_work_save_index(struct ergo_work *work) {
    return write(work, ERGO_CHECKPOINT, NULL);
}

enum ergo_status ergo_work_checkpoint(struct ergo_work *work) {
    const enum ergo_status status = ergo_work_save(work);
    work->session->last_checkpoint = ergo_clock();
    if (status != ERGO_E_IO)
        return status;
    ergo_log(work->ctx, ERGO_LOG_WARNING, "%s; the run continues, and tries again in %.0f s",
             ergo_error_message(work->ctx), work->job->points[0].parameters->checkpoint_every);
    ergo_error_clear(work->ctx);
    return ERGO_OK;
}

bool ergo_work_save_is_due(const struct ergo_work *work) {
    const double every = work->job->points[0].parameters->checkpoint_every;
    return every > 0 && ergo_clock() - work->session->last_checkpoint >= every;
}

enum ergo_status ergo_work_save_if_due(struct ergo_work *work) {
    return ergo_work_agree(work, ergo_work_save_is_due(work) ? ERGO_DUE_SAVE : 0)
               ? ergo_work_checkpoint(work)
               : ERGO_OK;
}

enum ergo_status ergo_work_begin(struct ergo_work *work) {
    if (ergo_ranks_rank() > 0) {
        work->session->begun = true;
        return ERGO_OK;
    }
    const enum ergo_status status = ergo_work_save(work);
    if (status != ERGO_OK)
        return status;
    ergo_session_stands(work->session, NULL);
    return ergo_work_prepare_configurations(work, true);
}

/* ---- back ------------------------------------------------------------------------------------ */

enum ergo_status ergo_work_load_states(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        const struct ergo_point_progress *p = &work->progress[batch->points[m]->index];
        status =
            work->ops->load(work->ctx, work->state, m, work->step, p->state, (size_t)p->length);
        if (status == ERGO_E_IO)
            (void)ergo_stored_damaged(&work->stored, ERGO_CHECKPOINT, "a member's state");
    }
    drop_states(work);
    return status;
}

enum ergo_status ergo_work_divide(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    struct ergo_text *states = calloc(batch->count, sizeof *states);
    enum ergo_status status = states ? ergo_work_count(work, batch) : no_memory(work);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        status = work->ops->save(work->ctx, work->state, m, &states[m]); /* whole on rank 0 */
        uint64_t length = states[m].length;
        ergo_dist_share(&length, sizeof length);
        if (status == ERGO_OK && ergo_ranks_rank() > 0) {
            ergo_text_free(&states[m]);
            states[m].data = malloc((size_t)length + 1);
            states[m].length = (size_t)length;
        }
        if (status == ERGO_OK && (!states[m].data || states[m].failed))
            status = no_memory(work);
        if (status == ERGO_OK)
            ergo_dist_share(states[m].data, (size_t)length);
    }
    if (status == ERGO_OK) {
        ergo_engine_destroy(work->state);
        work->state = NULL;
        status = ergo_sampler_create(work->ctx, work->ops, batch, work->device, &work->state);
    }
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++)
        status = work->ops->load(work->ctx, work->state, m, work->step, states[m].data,
                                 states[m].length);
    for (size_t m = 0; states && m < batch->count; m++)
        ergo_text_free(&states[m]);
    free(states);
    return status == ERGO_OK ? ergo_work_audit(work) : status;
}

/* States that were read, to be hashed by all cores. */
enum { STATES = 64, STATES_BYTES = 1 << 26 };

struct states {
    size_t count, bytes;
    struct ergo_member_result *results[STATES];
    struct ergo_text texts[STATES];
};

static void hash_state(size_t i, void *user) {
    struct states *states = user;
    states->results[i]->digest = ergo_hash64(states->texts[i].data, states->texts[i].length);
}

/* What of them stays after their digests: the states, for whom, without the line before them. */
static void keep(struct ergo_work *work, struct ergo_member_result *member,
                 struct ergo_text *text) {
    const struct ergo_run_watch *watch = work->session->options->watch;
    const bool asked = watch && watch->states;
    const size_t head = (size_t)(strchr(text->data, '\n') + 1 - text->data);
    const size_t length = text->length - head; /* 0: another rank has it */
    if (!length || (!asked && work->session->stopped))
        return;
    if (!asked &&
        !ergo_result_keeps(work->result, member, length)) { /* a state of gigabytes stays here */
        ergo_result_keep_state(work->result, member, NULL, length);
        return;
    }
    char *state = ergo_text_take(text);
    memmove(state, state + head, length);
    char *fitting = realloc(state, length);
    if (fitting)
        state = fitting;
    if (!asked) {
        ergo_result_keep_state(work->result, member, state, length);
        return;
    }
    free(member->state);
    member->state = state;
    member->state_length = length;
}

static void hash_states(struct ergo_work *work, struct states *states) {
    ergo_parallel(states->count, states->count ? states->count : 1, hash_state, states);
    for (size_t i = 0; i < states->count; i++) {
        states->results[i]->steps = work->step;
        keep(work, states->results[i], &states->texts[i]);
        ergo_text_free(&states->texts[i]);
    }
    states->count = states->bytes = 0;
}

enum ergo_status ergo_work_digest_members(struct ergo_work *work) {
    enum ergo_status status = ERGO_OK;
    struct states states = {0};
    ergo_engine_read_ahead(work->state, true);
    for (size_t m = 0; m < work->batches[work->batch].count && status == ERGO_OK; m++) {
        struct ergo_text *text = &states.texts[states.count];
        ergo_state_head(work->job, work->step, text);
        const size_t head = text->length;
        status = work->ops->save(work->ctx, work->state, m, text);
        if (status == ERGO_OK && text->failed)
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a digest");
        if (status == ERGO_OK)
            status = ergo_audit_state(work, m, text->data + head, text->length - head);
        if (status != ERGO_OK) {
            ergo_text_free(text);
            break;
        }
        states.results[states.count++] = ergo_work_member(work, m);
        states.bytes += text->length;
        if (states.count == STATES || states.bytes >= STATES_BYTES)
            hash_states(work, &states);
    }
    hash_states(work, &states);
    ergo_engine_read_ahead(work->state, false);
    return status;
}
