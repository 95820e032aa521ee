/* The end of a run: digests, files. */
#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "run/run.h"

/*
 * A member's digest: the first 8 bytes of SHA-256 over the line
 * "ergocl state 1 <sampler> <state version> <step>\n" and the canonical state. It depends on the
 * chain alone.
 */
enum ergo_status ergo_run_digest_members(struct ergo_run *run) {
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < run->job->batches[run->batch].count && status == ERGO_OK; m++) {
        struct ergo_member_result *result = ergo_run_member(run, run->batch, m);
        struct ergo_text text = {0};
        ergo_text_append(&text, "ergocl state 1 %s %u %llu\n", run->sampler->info->name,
                         run->sampler->info->state_version, (unsigned long long)run->step);
        status = run->ops->save(run->ctx, run->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a digest");
        if (status == ERGO_OK) {
            result->digest = ergo_hash64(text.data, text.length);
            result->steps = run->step;
        }
        if (status == ERGO_OK && run->options->watch && run->options->watch->states) {
            free(result->state);
            result->state_length = text.length;
            result->state = ergo_text_take(&text);
        }
        ergo_text_free(&text);
    }
    return status;
}

/* What people look at, and what can be drawn again from the checkpoint, costs no run. */
static void warn_only(struct ergo_run *run, enum ergo_status status) {
    if (status == ERGO_OK)
        return;
    ergo_log(run->ctx, ERGO_LOG_WARNING, "%s; the results are there without it",
             ergo_error_message(run->ctx));
    ergo_error_clear(run->ctx);
}

/* Where result.json stands, the series do. */
enum ergo_status ergo_run_write(struct ergo_run *run) {
    enum ergo_status status = ergo_run_hold_folder(run);
    if (status == ERGO_OK)
        status = ergo_result_write_series(run->ctx, &run->folder, run->result);
    if (status == ERGO_OK)
        status = ergo_result_write_json(run->ctx, &run->folder, run->result);
    if (status != ERGO_OK)
        return status;
    warn_only(run, ergo_result_write_blocks(run->ctx, &run->folder, run->result));
    warn_only(run, ergo_result_write_pictures(run->ctx, &run->folder, run->result));
    warn_only(run, ergo_result_write_report(run->ctx, &run->folder, run->result));
    return ERGO_OK;
}
