/* Parts of a run, each made on its own, where no network joins the machines. */
#include <stdlib.h>

#include "job/schedule.h"
#include "result/result.h"

enum ergo_status ergo_result_set_part(struct ergo_context *ctx, struct ergo_result *result,
                                      unsigned part, unsigned n_parts) {
    if (!part || part > n_parts)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "there is no part %u of %u: parts are numbered from 1 on",
                         part, n_parts);
    if (n_parts > result->n_members)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "part %u of %u: %s has %zu points and replicas, so that at most as many "
                         "parts have something to do",
                         part, n_parts, result->job->name, result->n_members);
    free(result->part_of);
    result->part = part;
    result->n_parts = n_parts;
    result->part_of = ergo_job_deal(result->job, n_parts);
    return result->part_of ? ERGO_OK
                           : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for parts of %zu points",
                                       result->n_members);
}

bool ergo_result_has(const struct ergo_result *result, size_t i) {
    return !result->part_of || result->part_of[i] == result->part;
}

bool ergo_result_is_complete(const struct ergo_result *result) {
    for (size_t i = 0; i < result->n_members; i++)
        if (ergo_result_has(result, i) &&
            result->members[i].steps != ergo_schedule_of(result->members[i].point).total)
            return false;
    return true;
}
