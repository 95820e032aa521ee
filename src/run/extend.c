/*
 * Runs that go on: from their checkpoint, as they were, or as a job that goes further. An extension
 * reads all that the run has into the result of the longer job; nothing of the folder is touched
 * before that has succeeded. From there on its points are at different steps, as those of ranks are
 * (spread.h), and the checkpoint is the longer job's.
 */
#include <stdlib.h>

#include "base/entry.h"
#include "dist/dist.h"
#include "job/input.h"
#include "result/origin.h"
#include "run/cost.h"
#include "run/spread.h"
#include "run/work.h"

/* Where a run stands that does one batch after the other; false: its points do not. */
static bool stands_in_line(struct ergo_work *work) {
    const struct ergo_job *job = work->job;
    work->batch = job->n_batches;
    for (size_t b = 0; b < job->n_batches; b++) {
        const struct ergo_batch *batch = &job->batches[b];
        const struct ergo_point_progress *first = &work->progress[batch->points[0]->index];
        for (size_t m = 1; m < batch->count; m++)
            if (work->progress[batch->points[m]->index].step != first->step)
                return false;
        if (work->batch < b && first->step)
            return false;
        if (work->batch < b || first->step == ergo_schedule_of(batch->points[0]).total)
            continue;
        work->batch = b;
        work->step = first->step;
        work->samples = (size_t)first->samples;
    }
    return true;
}

/* From here on as a run that stands where its checkpoint says. */
static enum ergo_status stand(struct ergo_work *work) {
    struct ergo_stored *stored = &work->stored;
    const bool extends = work->session->extends;
    const bool ended = !extends && !stored->files.ranks && ergo_result_is_complete(stored->result);
    enum ergo_status status = ended ? ERGO_OK : ergo_work_choose_ops(work, stored->result->job);
    if (status == ERGO_OK && !ended && !extends)
        status = ergo_stored_read_states(stored);
    if (status != ERGO_OK)
        return status;
    ergo_stored_forget(stored);
    ergo_work_take(work, stored->result, stored->progress);
    stored->result = NULL;
    stored->progress = NULL;
    const bool in_line = stands_in_line(work);
    const bool spread = !ended && (extends || stored->files.ranks || work->result->n_parts ||
                                   !in_line || (ergo_dist_count() > 1 && !work->cut));
    if (spread || ended)
        work->batch = work->step = work->samples = 0;
    if (ended)
        work->batch = work->n_batches;
    work->session->seconds_before = stored->seconds;
    /* the plan counts that of a run that goes on as it was; ranks add theirs up */
    work->session->work_done = ended || (spread && ergo_ranks_rank() == 0) ? stored->work_done : 0;
    const bool fresh = !spread && work->batch == 0 && work->step == 0;
    status = spread ? ergo_spread_create(work, stored->files) : ERGO_OK;
    if (status == ERGO_OK)
        ergo_session_continue(work->session, fresh);
    return status;
}

enum ergo_status ergo_work_go_on(struct ergo_work *work, struct ergo_result **result) {
    const enum ergo_status status = stand(work);
    return status == ERGO_OK ? ergo_work_execute(work, result) : status;
}

/* ---- as another job -------------------------------------------------------------------------- */

/* Takes the job, also at a failure. */
static enum ergo_status extend(struct ergo_work *work, struct ergo_job *job) {
    struct ergo_stored *stored = &work->stored;
    const enum ergo_status status = ergo_stored_read_states(stored);
    if (status != ERGO_OK) {
        ergo_job_destroy(job);
        return status;
    }
    work->session->extends = true;
    return ergo_stored_extend(stored, job, &work->session->renumbers);
}

/* ---- ergo_resume, ergo_extend ---------------------------------------------------------------- */

static enum ergo_status resume(struct ergo_context *ctx, const char *directory,
                               const char *const *sets, size_t n_sets,
                               const struct ergo_run_options *options,
                               struct ergo_result **result) {
    struct ergo_session session;
    struct ergo_work work;
    struct ergo_job *job = NULL;
    ergo_work_init(&work, &session, ctx, options);
    enum ergo_status status = ergo_stored_find(ctx, directory,
                                               ": nothing to resume there; start the job with "
                                               "`ergocl run JOB.json -o FOLDER`",
                                               &session.folder);
    if (status == ERGO_OK && ergo_ranks_rank() == 0)
        status = ergo_session_lock_folder(&session);
    if (status == ERGO_OK)
        status = ergo_stored_open(ctx, &session.folder, &work.stored);
    if (status == ERGO_OK)
        status = ergo_stored_read(&work.stored);
    if (status == ERGO_OK && n_sets)
        status = ergo_job_again(ctx, work.stored.result->job, sets, n_sets, &job);
    if (status == ERGO_OK && n_sets)
        status = extend(&work, job);
    if (status == ERGO_OK)
        status = ergo_work_go_on(&work, result);
    ergo_work_release(&work);
    return status;
}

enum ergo_status ergo_resume(struct ergo_context *ctx, const char *directory,
                             const struct ergo_run_options *options, struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, directory, result);
    return resume(ctx, directory, NULL, 0, options, result);
}

enum ergo_status ergo_extend(struct ergo_context *ctx, const char *directory,
                             const char *const *sets, size_t n_sets,
                             const struct ergo_run_options *options, struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, directory, result);
    const enum ergo_status status = ergo_entry_texts(ctx, __func__, "sets", sets, n_sets);
    return status == ERGO_OK ? resume(ctx, directory, sets, n_sets, options, result) : status;
}

/* ---- ergo_run into the folder of an earlier run ---------------------------------------------- */

/* Extends the run in the folder by the job, if it is finished and the job goes further. */
static enum ergo_status try(struct ergo_context *ctx, struct ergo_work *work,
                            struct ergo_job **job) {
    struct ergo_stored *stored = &work->stored;
    enum ergo_status status = ergo_stored_open(ctx, &work->session->folder, stored);
    if (status == ERGO_OK)
        status = ergo_stored_read(stored);
    if (status == ERGO_OK && !ergo_result_is_complete(stored->result))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "it is not finished");
    const struct ergo_run_options *options = work->session->options;
    if (status == ERGO_OK &&
        (stored->result->part != options->part || stored->result->n_parts != options->n_parts))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "it is another part of a run");
    if (status == ERGO_OK && (*job)->points[0].parameters->measure_every.automatic)
        status = ergo_cost_set_every(
            ctx, stored->result->job->points[0].parameters->measure_every.integer, job);
    if (status == ERGO_OK)
        status = ergo_input_keep(ctx, *job);
    if (status == ERGO_OK)
        status = ergo_origin_keep(ctx, *job);
    if (status != ERGO_OK)
        return status;
    const size_t before = stored->result->n_members;
    struct ergo_job *own = *job;
    *job = NULL;
    status = extend(work, own);
    if (status != ERGO_OK)
        return status;
    size_t longer = 0;
    for (size_t i = 0; i < stored->n_progress; i++)
        longer += stored->progress[i].step > 0 &&
                  stored->progress[i].step < ergo_schedule_of(&own->points[i]).total;
    if (!longer && own->n_points == before)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "it has done all of this job: `ergocl table` shows it, and a larger "
                         "/run/sweeps goes on");
    ergo_log(work->ctx, ERGO_LOG_WARNING,
             "%s holds a finished run of this job, which is extended: of its %zu points %zu go on, "
             "and %zu are new",
             work->session->folder.path, before, longer, own->n_points - before);
    return ERGO_OK;
}

enum ergo_status ergo_work_find_earlier(struct ergo_work *work, struct ergo_job **job,
                                        bool *extends) {
    struct ergo_session *session = work->session;
    bool there = session->replaces && !session->options->overwrite;
    ergo_dist_share(&there, sizeof there); /* the folder is rank 0's */
    if (!there)
        return ERGO_OK;
    struct ergo_context *ctx = ergo_context_create(); /* its errors are reasons */
    enum ergo_status status = ctx ? ERGO_OK : ERGO_E_MEMORY;
    if (ctx)
        ergo_context_set_log(ctx, ERGO_LOG_DEBUG, ergo_log_forward, work->ctx);
    if (ctx && ergo_ranks_rank() > 0) {
        char *path = session->folder.path;
        status = ergo_folder_open(ctx, path, &session->folder);
        free(path);
    }
    if (ctx && status == ERGO_OK && ergo_folder_has(&session->folder, ERGO_CHECKPOINT))
        status = try(ctx, work, job);
    else if (status == ERGO_OK)
        status = ERGO_E_IO;
    *extends = status == ERGO_OK;
    if (!*extends) {
        const char *reason = ctx ? ergo_error_message(ctx) : "";
        ERGO_FAIL(work->ctx, ERGO_E_JOB,
                  "the folder %s holds an earlier run%s%s%s: continue it with `ergocl resume %s`, "
                  "replace it with --overwrite, or choose another folder with -o",
                  session->folder.path, *reason ? ", which this job does not extend (" : "", reason,
                  *reason ? ")" : "", session->folder.path);
        status = ERGO_E_JOB;
    }
    work->stored.ctx = work->ctx;
    ergo_context_destroy(ctx);
    return status;
}
