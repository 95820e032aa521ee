/* Points spread over ranks, on disk: the index and a file of each rank; and what a resume finds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dist/dist.h"
#include "run/spread_parts.h"

/* In the index and in each rank's file. */
struct header {
    uint64_t version, state_version, generation, ranks, n_points;
    double seconds;
};
enum { SPREAD_VERSION = 2 };

bool ergo_spread_is_index(const struct ergo_run *run) {
    return ergo_checkpoint_has(run->checkpoint, "spread");
}

static enum ergo_status damaged(struct ergo_run *run, const char *file) {
    return ERGO_FAIL(
        run->ctx, ERGO_E_IO,
        "%s/%s does not fit the job in it; the file is damaged or from another version",
        run->folder.path, file);
}

static void rank_file(char *name, size_t size, uint64_t generation, uint64_t rank) {
    snprintf(name, size, ERGO_CHECKPOINT "-%" PRIu64 "-%" PRIu64, generation, rank);
}

static bool read_header(const struct ergo_run *run, const struct ergo_blobs *blobs,
                        struct header *header) {
    const struct ergo_blob *blob = ergo_blobs_find(blobs, "spread");
    if (!blob || blob->length != sizeof *header)
        return false;
    memcpy(header, blob->data, sizeof *header);
    return header->version == SPREAD_VERSION && header->n_points == run->job->n_points &&
           header->state_version == run->sampler->state_version && header->ranks > 0 &&
           header->ranks < 1000000 && ergo_run_time_fits(header->seconds);
}

static enum ergo_status read_rank(struct ergo_run *run, const struct header *index, uint64_t rank) {
    struct ergo_blobs blobs = {0};
    struct header header;
    char name[64];
    rank_file(name, sizeof name, index->generation, rank);
    enum ergo_status status =
        ergo_checkpoint_read(run->ctx, &run->folder, name, (uint64_t)ergo_run_memory(), &blobs);
    if (status == ERGO_OK) {
        const struct ergo_blob *parcels = ergo_blobs_find(&blobs, "parcels");
        if (!parcels || !read_header(run, &blobs, &header) ||
            header.generation != index->generation ||
            !ergo_spread_unpack(run, parcels->data, parcels->length))
            status = damaged(run, name);
        else if (header.seconds > run->seconds_before)
            run->seconds_before = header.seconds;
    }
    ergo_blobs_free(&blobs);
    return status;
}

/* A plain checkpoint: batches before the current one are done, those after it not begun. */
static enum ergo_status adopt(struct ergo_run *run) {
    if (run->has_restored_states) {
        const enum ergo_status status = ergo_run_read_states(run, ergo_run_memory());
        if (status != ERGO_OK)
            return status;
    }
    const struct ergo_blob *states = ergo_blobs_find(&run->restored, "states");
    const struct ergo_blob *lengths = ergo_blobs_find(&run->restored, "state_lengths");
    struct ergo_spread_reader reader = {states ? states->data : "", states ? states->length : 0};
    for (size_t b = 0; b <= run->batch && b < run->job->n_batches; b++) {
        const struct ergo_batch *batch = &run->job->batches[b];
        for (size_t m = 0; m < batch->count; m++) {
            struct ergo_spread_progress *p = &run->spread->progress[batch->points[m]->index];
            const struct ergo_schedule s = ergo_schedule_of(batch->points[m]);
            uint64_t length = 0;
            if (b < run->batch) {
                p->step = s.total;
                p->samples = s.n_samples;
                continue;
            }
            if (!states)
                continue;
            if (!lengths || lengths->length < (m + 1) * sizeof length)
                return damaged(run, ERGO_CHECKPOINT);
            memcpy(&length, (const char *)lengths->data + m * sizeof length, sizeof length);
            const void *bytes = ergo_spread_take(&reader, length);
            p->state = bytes ? malloc((size_t)length + 1) : NULL;
            if (!p->state)
                return bytes ? ergo_spread_no_memory(run) : damaged(run, ERGO_CHECKPOINT);
            memcpy(p->state, bytes, (size_t)length);
            p->length = length;
            p->step = run->step;
            p->samples = run->samples;
        }
    }
    return ERGO_OK;
}

enum ergo_status ergo_spread_restore(struct ergo_run *run) {
    enum ergo_status status = ergo_spread_create(run);
    if (status != ERGO_OK)
        return status;
    run->spread->resumed = true;
    if (!ergo_spread_is_index(run)) {
        status = adopt(run);
    } else {
        struct header index;
        status =
            ergo_checkpoint_load(run->ctx, run->checkpoint, "spread", sizeof index, &run->restored);
        if (status == ERGO_OK)
            status = ergo_checkpoint_load(run->ctx, run->checkpoint, "started",
                                          sizeof run->result->started, &run->restored);
        if (status != ERGO_OK)
            return status;
        if (!read_header(run, &run->restored, &index) ||
            !ergo_run_take_started(run, &run->restored))
            return damaged(run, ERGO_CHECKPOINT);
        run->spread->generation = index.generation + 1;
        run->spread->old_ranks = index.ranks;
        for (uint64_t r = 0; r < index.ranks && status == ERGO_OK; r++)
            status = read_rank(run, &index, r);
    }
    ergo_blobs_free(&run->restored);
    ergo_checkpoint_close(run->checkpoint);
    run->checkpoint = NULL;
    run->has_restored_states = false;
    run->batch = 0;
    run->step = 0;
    run->samples = 0;
    return status;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static struct header header_of(const struct ergo_run *run) {
    return (struct header){SPREAD_VERSION,     run->sampler->state_version, run->spread->generation,
                           run->spread->ranks, run->job->n_points,          ergo_run_seconds(run)};
}

/* What the sampler holds becomes the progress of the current unit's points. The audit comes after
 * the reading, as in snapshot.c. */
static enum ergo_status note_current(struct ergo_run *run) {
    const struct ergo_spread_unit *unit = run->spread->current;
    enum ergo_status status = ERGO_OK;
    if (!unit || !run->state || run->step == 0)
        return ERGO_OK;
    status = ergo_run_count(run, &unit->batch);
    for (size_t m = 0; m < unit->batch.count && status == ERGO_OK; m++) {
        struct ergo_spread_progress *p = &run->spread->progress[unit->batch.points[m]->index];
        struct ergo_text text = {0};
        status = run->ops->save(run->ctx, run->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ergo_spread_no_memory(run);
        if (status != ERGO_OK) {
            ergo_text_free(&text);
            break;
        }
        free(p->state);
        p->length = text.length;
        p->state = ergo_text_take(&text);
        p->step = run->step;
        p->samples = run->samples;
    }
    return status == ERGO_OK ? ergo_run_audit(run) : status;
}

static enum ergo_status write_blobs(struct ergo_run *run, const char *name,
                                    struct ergo_blobs *blobs, bool ok) {
    enum ergo_status status = ok ? ergo_run_hold_folder(run) : ergo_spread_no_memory(run);
    if (status == ERGO_OK)
        status = ergo_checkpoint_write(run->ctx, &run->folder, name, blobs);
    ergo_blobs_free(blobs);
    return status;
}

enum ergo_status ergo_spread_save(struct ergo_run *run) {
    struct ergo_blobs blobs = {0};
    struct ergo_text parcels = {0};
    char name[64];
    enum ergo_status status = note_current(run);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < run->job->n_points; i++)
        if (run->spread->progress[i].step > 0)
            ergo_spread_pack(run, i, &parcels);
    const struct header header = header_of(run);
    const bool ok = !parcels.failed && ergo_blobs_add(&blobs, "spread", &header, sizeof header) &&
                    ergo_run_add_text(&blobs, "parcels", &parcels);
    ergo_text_free(&parcels);
    rank_file(name, sizeof name, run->spread->generation, (uint64_t)ergo_ranks_rank());
    return write_blobs(run, name, &blobs, ok);
}

enum ergo_status ergo_spread_write_index(struct ergo_run *run) {
    struct ergo_blobs blobs = {0};
    const struct header header = header_of(run);
    const char *job = run->job->canonical, *name = run->job->name;
    const char *started = run->result->started;
    const bool ok = ergo_blobs_add(&blobs, "job", job, strlen(job)) &&
                    ergo_blobs_add(&blobs, "name", name, strlen(name)) &&
                    ergo_blobs_add(&blobs, "started", started, strlen(started)) &&
                    ergo_run_add_files(run, &blobs) &&
                    ergo_blobs_add(&blobs, "spread", &header, sizeof header);
    return write_blobs(run, ERGO_CHECKPOINT, &blobs, ok);
}

void ergo_spread_remove(const struct ergo_run *run, uint64_t generation, uint64_t ranks) {
    for (uint64_t r = 0; r < ranks; r++) {
        char name[64];
        rank_file(name, sizeof name, generation, r);
        unlinkat(run->folder.fd, name, 0);
    }
}
