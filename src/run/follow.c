/* Starts from the last states of other chains: of the point before (/anneal), or of another run
 * (/start/run). */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "result/origin.h"
#include "run/work.h"

bool ergo_work_follows(const struct ergo_point *first) {
    return first->previous || ergo_origin_given(first);
}

/* Where a member starts; `bytes` is NULL where another rank has it. */
static enum ergo_status find(struct ergo_work *work, const struct ergo_point *point,
                             struct ergo_carried *from) {
    if (!point->previous)
        return ergo_origin_state(work->ctx, point, &from->bytes, &from->length);
    const struct ergo_member_result *before = &work->result->members[point->previous->index];
    *from = (struct ergo_carried){before->state, before->state_length};
    return before->state || work->cut
               ? ERGO_OK
               : ERGO_FAIL(work->ctx, ERGO_E_INTERNAL,
                           "the last state of point %zu, in which point %zu starts, is not here",
                           point->previous->index, point->index);
}

/* Of systems that are cut over ranks: rank 0's, for all. */
static bool share(struct ergo_carried *from) {
    uint64_t length = from->bytes ? from->length : 0;
    ergo_dist_share(&length, sizeof length);
    char *copy = malloc((size_t)length + 1);
    if (!copy)
        return false;
    if (ergo_ranks_rank() == 0 && length)
        memcpy(copy, from->bytes, (size_t)length);
    ergo_dist_share(copy, (size_t)length);
    *from = (struct ergo_carried){copy, (size_t)length};
    return true;
}

enum ergo_status ergo_work_follow(struct ergo_work *work, bool *done) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    *done = ergo_work_follows(batch->points[0]);
    if (!*done)
        return work->ops->init(work->ctx, work->state);
    struct ergo_carried *from = calloc(batch->count, sizeof *from);
    enum ergo_status status =
        from ? ERGO_OK : ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for starts");
    size_t shared = 0;
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        status = find(work, batch->points[m], &from[m]);
        if (status == ERGO_OK && work->cut && !share(&from[m]))
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for starts");
        shared += status == ERGO_OK && work->cut;
    }
    if (status == ERGO_OK)
        status = ergo_sampler_carry(work->ctx, work->ops, work->state, batch->count, from);
    if (status == ERGO_E_IO && ergo_origin_given(batch->points[0]) && !batch->points[0]->previous)
        status = ergo_origin_refuse(work->ctx, batch->points[0]);
    for (size_t m = 0; m < shared; m++)
        free((void *)from[m].bytes);
    free(from);
    return status;
}
