/* Points spread over ranks, on disk: an index, and a file of each rank with all that it knew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "result/store.h"

/* In the index and in each rank's file. */
struct header {
    uint64_t version, state_version, generation, ranks, n_points;
    double seconds;
};
enum { VERSION = 2, RANKS_MOST = 1000000 };

void ergo_stored_rank_file(char *name, size_t size, uint64_t generation, uint64_t rank) {
    snprintf(name, size, ERGO_CHECKPOINT "-%" PRIu64 "-%" PRIu64, generation, rank);
}

bool ergo_stored_add_ranks(const struct ergo_result *result, uint64_t generation, uint64_t ranks,
                           double seconds, struct ergo_blobs *blobs) {
    const struct header header = {VERSION,           result->job->sampler->state_version,
                                  generation,        ranks,
                                  result->n_members, seconds};
    return ergo_blobs_add(blobs, "spread", &header, sizeof header);
}

static bool read_header(const struct ergo_result *result, const struct ergo_blobs *blobs,
                        struct header *header) {
    const struct ergo_blob *blob = ergo_blobs_find(blobs, "spread");
    if (!blob || blob->length != sizeof *header)
        return false;
    memcpy(header, blob->data, sizeof *header);
    return header->version == VERSION && header->n_points == result->n_members &&
           header->state_version == result->job->sampler->state_version && header->ranks > 0 &&
           header->ranks < RANKS_MOST && ergo_stored_time_fits(header->seconds);
}

static enum ergo_status read_rank(struct ergo_stored *stored, uint64_t rank) {
    struct ergo_blobs blobs = {0};
    struct header header;
    char name[64];
    ergo_stored_rank_file(name, sizeof name, stored->generation, rank);
    enum ergo_status status =
        ergo_checkpoint_read(stored->ctx, stored->folder, name, (uint64_t)ergo_memory(), &blobs);
    if (status == ERGO_OK) {
        const struct ergo_blob *points = ergo_blobs_find(&blobs, "parcels");
        if (!points || !read_header(stored->result, &blobs, &header) ||
            header.generation != stored->generation ||
            !ergo_points_unpack(stored->result, stored->progress, points->data, points->length))
            status = ergo_stored_damaged(stored, name, NULL);
        else if (header.seconds > stored->seconds)
            stored->seconds = header.seconds;
    }
    if (status == ERGO_OK) {
        struct ergo_result other = {0}; /* its device, where it is not the first rank's */
        double work_done = 0;
        if (!ergo_stored_take_device(rank ? &other : stored->result, &blobs, &work_done))
            status = ergo_stored_damaged(stored, name, "the device or its work");
        stored->work_done += work_done;
    }
    ergo_blobs_free(&blobs);
    return status;
}

enum ergo_status ergo_stored_read_ranks(struct ergo_stored *stored) {
    struct header index;
    stored->progress = calloc(stored->result->n_members, sizeof *stored->progress);
    stored->n_progress = stored->progress ? stored->result->n_members : 0;
    if (!stored->progress)
        return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for the points of other ranks");
    enum ergo_status status = ergo_checkpoint_load(stored->ctx, stored->checkpoint, "spread",
                                                   sizeof index, &stored->records);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(stored->ctx, stored->checkpoint, "started",
                                      sizeof stored->result->started, &stored->records);
    if (status != ERGO_OK)
        return status;
    if (!read_header(stored->result, &stored->records, &index) || !ergo_stored_take_started(stored))
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, NULL);
    stored->generation = index.generation;
    stored->ranks = index.ranks;
    for (uint64_t r = 0; r < index.ranks && status == ERGO_OK; r++)
        status = read_rank(stored, r);
    return status;
}
