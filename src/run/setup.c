/* ergo_run: from a job to the work, and from the work to the files at its end. */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/memory.h"
#include "dist/dist.h"
#include "job/input.h"
#include "result/origin.h"
#include "run/cost.h"
#include "run/spread.h"
#include "run/tuning.h"
#include "run/work.h"

/* mpirun binds ranks to single cores where they are few: nothing for a device that is the CPU. */
static void tell_bound(const struct ergo_work *work) {
    int all = 0;
    const int own = ergo_dist_bound(&all);
    if (own && work->device->type == CL_DEVICE_TYPE_CPU)
        ergo_log(work->ctx, ERGO_LOG_WARNING,
                 "rank %d computes on %d of this host's %d cores, because it was bound to them: "
                 "`mpirun --bind-to none` or `srun --cpu-bind=none` gives it its share of all",
                 ergo_ranks_rank(), own, all);
}

enum ergo_status ergo_work_open_device(struct ergo_work *work, const struct ergo_job *job) {
    char item[512], own[512];
    size_t turn = 0;
    if (work->device)
        return ERGO_OK;
    enum ergo_status status = ergo_dist_device(work->ctx, ergo_session_device(work->session, job),
                                               item, sizeof item, &turn);
    snprintf(own, sizeof own, "%s", item);
    if (status == ERGO_OK && ergo_dist_count() > 1)
        status = ergo_device_deal(work->ctx, item, turn, own, sizeof own);
    if (status == ERGO_OK)
        status = ergo_device_open(work->ctx, own, &work->device);
    if (status == ERGO_OK) {
        ergo_log(work->ctx, ERGO_LOG_INFO, "running on %s: %s", work->device->summary.id,
                 work->device->summary.name);
        tell_bound(work);
    }
    return status;
}

/* What the final states will take: with a warning where that may be more than there is. */
static void say_states(struct ergo_work *work, double bytes) {
    struct ergo_text text = {0};
    const double memory = ergo_states_memory(work->job, bytes);
    ergo_states_say(work->job, bytes, &text);
    if (text.data)
        ergo_log(work->ctx, memory > ergo_memory() ? ERGO_LOG_WARNING : ERGO_LOG_INFO, "%s",
                 text.data);
    ergo_text_free(&text);
}

/* Plans all batches, so that a refusal comes before the first one begins; counts the work. */
static enum ergo_status plan_all(struct ergo_work *work) {
    enum ergo_status status = ERGO_OK;
    double states = 0;
    work->session->eta.share = 1;
    for (size_t b = 0; b < work->n_batches && status == ERGO_OK; b++) {
        const struct ergo_batch *batch = &work->batches[b];
        const struct ergo_schedule s = ergo_schedule_of(batch->points[0]);
        struct ergo_plan plan;
        if (work->n_batches == 1 && !work->ops->plan && !work->ops->create &&
            !ergo_sampler_has_slabs(work->ops)) {
            status = ergo_engine_configure(work->ctx, work->ops->engine, batch, work->device,
                                           &work->planned);
            if (status == ERGO_OK)
                status = ergo_sampler_planned(work->ctx, work->ops, work->planned, &plan);
        } else {
            status = ergo_sampler_plan(work->ctx, work->ops, batch, work->device, &plan);
        }
        if (status != ERGO_OK)
            break;
        if (plan.device_bytes > work->result->device_bytes)
            work->result->device_bytes = plan.device_bytes;
        memcpy(work->result->merge, plan.merge, sizeof plan.merge);
        states += (double)plan.state_bytes;
        const double all = (double)s.total * plan.work_per_step;
        work->session->work_total += all;
        const double done = b < work->batch    ? (double)s.total
                            : b == work->batch ? (double)work->step
                                               : 0;
        if (!ergo_eta_add(&work->session->eta, plan.work_per_step, (double)s.total - done))
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for the plan of a run");
        work->session->work_done += done * plan.work_per_step;
    }
    if (status == ERGO_OK)
        say_states(work, states);
    return status;
}

void ergo_work_release(struct ergo_work *work) {
    ergo_audit_close(work);
    ergo_engine_destroy(work->state);
    ergo_engine_destroy(work->planned);
    ergo_spread_destroy(work);
    ergo_device_close(work->device);
    free(work->speeds);
    ergo_stored_close(&work->stored);
    ergo_progress_free(work->progress, work->progress ? work->job->n_points : 0);
    ergo_configurations_free(&work->configurations);
    ergo_result_destroy(work->result);
    ergo_session_close(work->session);
}

static enum ergo_status take_device(void *user, int rank, const char *data, size_t length) {
    struct ergo_work *work = user;
    if (length != sizeof work->result->device)
        return ERGO_FAIL(work->ctx, ERGO_E_INTERNAL, "rank %d is another version of ergocl", rank);
    memcpy(&work->result->devices[rank], data, length);
    return ERGO_OK;
}

/* Lists on rank 0 which rank has which device. */
static enum ergo_status list_devices(struct ergo_work *work) {
    struct ergo_result *r = work->result;
    const struct ergo_text own = {(char *)&r->device, sizeof r->device, sizeof r->device, false};
    const size_t ranks = (size_t)ergo_dist_count();
    r->devices = calloc(ranks, sizeof *r->devices);
    if (!r->devices)
        return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for the devices of %zu ranks", ranks);
    r->devices[0] = r->device;
    r->n_devices = ranks;
    return ergo_dist_gather(work->ctx, &own, take_device, work);
}

/* The device's part: from where the work is to its end, or until it is stopped. */
static enum ergo_status sample(struct ergo_work *work) {
    struct ergo_session *session = work->session;
    struct ergo_result *r = work->result;
    const struct ergo_run_watch *watch = session->options->watch;
    const bool spread = work->spread != NULL; /* rank 0 gives it back at the end */
    const double earlier = session->seconds_before;
    enum ergo_status status = ergo_work_open_device(work, work->job);
    if (status == ERGO_OK)
        r->device = work->device->summary;
    r->phases[ERGO_PHASE_DEVICE] = ergo_clock() - session->started;
    if (status == ERGO_OK && watch && watch->profile)
        status = ergo_profile_start(work->ctx, work->device, watch->trace);
    if (status == ERGO_OK && ergo_dist_count() > 1)
        status = list_devices(work);
    const bool alone = !work->cut && (!spread || ergo_dist_count() == 1);
    if (status == ERGO_OK && alone && !ergo_tuning_given_any(work->job)) {
        ergo_tuning_apply(work->ctx, work->job, work->device);
        work->profiled = true;
    }
    session->last_checkpoint = ergo_clock();
    if (status == ERGO_OK && spread)
        status = ergo_spread_run(work);
    if (status == ERGO_OK && !spread)
        status = plan_all(work);
    if (status == ERGO_OK && !spread)
        status = ergo_work_loop(work);
    ergo_audit_close(work);
    if (status != ERGO_OK)
        return status;
    if (!work->spread) {
        r->host_seconds = work->host_seconds;
        r->hidden_seconds = work->hidden_seconds;
    }
    if (!work->spread && work->host_seconds > 0)
        ergo_log(work->ctx, ERGO_LOG_INFO,
                 "the host worked %.3g s on measurements, %.0f%% of it while the device did",
                 work->host_seconds, 100 * work->hidden_seconds / work->host_seconds);
    ergo_result_set_rate(r, session->work_done, ergo_session_seconds(session));
    r->phases[ERGO_PHASE_SAMPLE] = r->seconds - earlier;
    r->phases[ERGO_PHASE_BUILD] = work->device->build_seconds;
    r->built = work->device->built;
    r->loaded = work->device->loaded;
    if (watch && watch->profile)
        *watch->profile = ergo_profile_take(work->device);
    return ERGO_OK;
}

/* Where result.json stands, the series do. What can be made again from the checkpoint costs no run.
 */
static enum ergo_status write_files(struct ergo_work *work) {
    const struct ergo_folder *folder = &work->session->folder;
    enum ergo_status status = ergo_session_hold_folder(work->session);
    if (status == ERGO_OK)
        status = ergo_result_write_series(work->ctx, folder, work->result);
    if (status == ERGO_OK)
        status = ergo_result_write_json(work->ctx, folder, work->result);
    if (status != ERGO_OK)
        return status;
    if (ergo_result_write_blocks(work->ctx, folder, work->result) != ERGO_OK) {
        ergo_log(work->ctx, ERGO_LOG_ERROR, "%s; the results are complete without it",
                 ergo_error_message(work->ctx));
        ergo_error_clear(work->ctx);
    }
    return ERGO_OK;
}

enum ergo_status ergo_work_finish(struct ergo_work *work) {
    ergo_memory_set_failed(false); /* what a run could do without is no matter to its results */
    if (ergo_ranks_rank() > 0)     /* rank 0 has it all */
        return ERGO_OK;
    const double begun = ergo_clock();
    enum ergo_status status = ergo_result_evaluate(work->ctx, work->result);
    if (status == ERGO_OK)
        status = write_files(work);
    work->result->phases[ERGO_PHASE_FILES] = ergo_clock() - begun;
    return status;
}

/* An audit that fails with kernels of a folder tells of these, too. */
static void say_whose_kernels(struct ergo_context *ctx) {
    const char *folder = getenv("ERGOCL_CL_DIR");
    char *said = folder && *folder ? strdup(ergo_error_message(ctx)) : NULL;
    if (said) {
        ergo_error_clear(ctx);
        ERGO_FAIL(ctx, ERGO_E_AUDIT,
                  "%s. The kernels are those of $ERGOCL_CL_DIR (%s), and not this program's: they "
                  "may be wrong, or make another chain",
                  said, folder);
    }
    free(said);
}

/* An audit has failed: what is measured so far stays, in files that say so. The checkpoint is that
 * before the failure, with which the run can go on. The audit's message stays the error. */
static void keep_unaudited(struct ergo_work *work) {
    static const char tail[] = ". Until it is known why, trust nothing here";
    struct ergo_result *r = work->result;
    struct ergo_context *ctx = work->ctx;
    struct ergo_text why = {0};
    bool measured = false;
    for (size_t i = 0; i < r->n_members; i++)
        measured = measured || ergo_member_measured(&r->members[i]);
    if (!work->session->begun || !measured || ergo_dist_count() > 1)
        return;
    ergo_session_clock_rest(work->session);
    ergo_result_set_rate(r, work->session->work_done, ergo_session_seconds(work->session));
    r->status = "audit-failed";
    ergo_text_append(&why, "%s%s", ergo_error_message(ctx), tail);
    if (!why.failed && ergo_result_add_warning(r, why.data, why.length) &&
        ergo_work_finish(work) == ERGO_OK)
        ergo_log(ctx, ERGO_LOG_ERROR,
                 "what was measured is in %s/result.json and series.h5, marked \"audit-failed\"",
                 work->session->folder.path);
    ergo_text_free(&why);
}

/* Where the time went. */
static void say_phases(const struct ergo_work *work) {
    const double *of = work->result->phases;
    ergo_log(work->ctx, ERGO_LOG_INFO,
             "seconds: %.3g to open the device, %.3g to build kernels, %.3g to start with a first "
             "audit, %.3g of sampling, %.3g of further audits, checkpoints and digests, %.3g of "
             "estimates and files",
             of[ERGO_PHASE_DEVICE], of[ERGO_PHASE_BUILD], of[ERGO_PHASE_PREPARE],
             of[ERGO_PHASE_SAMPLE], of[ERGO_PHASE_AUDIT], of[ERGO_PHASE_FILES]);
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* What the end of a run does beside its estimates and files, which need not wait for it: the last
 * checkpoint is written (60 MB take 0.1 s, on a disk of a network more), and the device closes
 * (0.08 s on an H200). */
struct ending {
    struct ergo_context *ctx; /* of the thread */
    struct ergo_device *device;
    struct ergo_folder folder;
    struct ergo_blobs blobs; /* of the last checkpoint; none: it is not to be written */
    enum ergo_status status;
    pthread_t thread;
    bool beside; /* false: all was done at once */
};

static void *end(void *ending) {
    struct ending *e = ending;
    if (e->blobs.count)
        e->status = ergo_checkpoint_write(e->ctx, &e->folder, ERGO_CHECKPOINT, &e->blobs);
    ergo_device_close(e->device);
    e->device = NULL;
    return NULL;
}

/* Takes the work's device. saved: the last checkpoint has been written. */
static enum ergo_status begin_ending(struct ergo_work *work, bool saved, struct ending *e) {
    enum ergo_status status = ERGO_OK;
    sigset_t all, before;
    *e = (struct ending){.folder = {.fd = -1}};
    if (work->state || work->spread || !work->device)
        return ERGO_OK;
    if (!saved && ergo_ranks_rank() == 0) {
        e->ctx = ergo_context_create();
        status = e->ctx ? ergo_session_hold_folder(work->session)
                        : ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a context");
        if (status == ERGO_OK)
            status = ergo_folder_open(work->ctx, work->session->folder.path, &e->folder);
        if (status == ERGO_OK)
            status = ergo_work_finished(work, &e->blobs);
        if (status != ERGO_OK)
            return status;
    }
    e->device = work->device;
    work->device = NULL;
    sigfillset(&all); /* signals go to the threads of the program, which expect them */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    e->beside = pthread_create(&e->thread, NULL, end, e) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!e->beside)
        end(e);
    return ERGO_OK;
}

/* After begin_ending, whatever that returned. */
static enum ergo_status wait_ending(struct ergo_context *ctx, struct ending *e) {
    if (e->beside)
        pthread_join(e->thread, NULL);
    const enum ergo_status status =
        e->status == ERGO_OK ? ERGO_OK
                             : ERGO_FAIL(ctx, e->status, "%s", ergo_error_message(e->ctx));
    ergo_blobs_free(&e->blobs);
    ergo_folder_close(&e->folder);
    ergo_context_destroy(e->ctx);
    return status;
}

enum ergo_status ergo_work_execute(struct ergo_work *work, struct ergo_result **result) {
    struct ergo_session *session = work->session;
    const struct ergo_value *limit = &work->job->points[0].parameters->wall_time;
    enum ergo_status status = ERGO_OK;
    struct ending ending;
    const bool sampled = work->batch < work->n_batches;
    const bool saved = work->spread; /* it is written */
    session->started = ergo_clock();
    session->wall_time = limit->present ? limit->real : INFINITY;
    work->result->host_seconds = work->result->hidden_seconds = NAN;
    if (sampled)
        status = sample(work);
    else
        ergo_result_set_rate(work->result, session->work_done, session->seconds_before);
    if (status == ERGO_E_AUDIT) {
        say_whose_kernels(work->ctx);
        keep_unaudited(work);
    }
    if (status != ERGO_OK)
        return status;
    work->result->status = session->stopped ? "stopped" : "complete";
    status = begin_ending(work, saved || session->stopped, &ending);
    if (status == ERGO_OK)
        status = ergo_work_finish(work);
    const enum ergo_status ended = wait_ending(work->ctx, &ending);
    status = status == ERGO_OK ? ended : status;
    if (status != ERGO_OK || ergo_ranks_rank() > 0)
        return status;
    if (sampled && !session->stopped && !work->result->n_parts)
        status = ergo_work_check_configurations(work);
    if (status != ERGO_OK)
        return status;
    say_phases(work);
    ergo_result_drop_binned(work->result);
    *result = work->result;
    work->result = NULL;
    return session->stopped ? ERGO_STOPPED : ERGO_OK;
}

void ergo_work_init(struct ergo_work *work, struct ergo_session *session, struct ergo_context *ctx,
                    const struct ergo_run_options *options) {
    static const struct ergo_run_options none = {0};
    *session = (struct ergo_session){
        .ctx = ctx, .options = options ? options : &none, .folder = {.fd = -1}, .lock = -1};
    *work = (struct ergo_work){
        .ctx = ctx, .session = session, .stored = {.ctx = ctx, .folder = &session->folder}};
}

void ergo_work_take(struct ergo_work *work, struct ergo_result *result,
                    struct ergo_point_progress *progress) {
    work->result = result;
    work->progress = progress;
    work->job = result->job;
    work->batches = result->job->batches;
    work->n_batches = result->job->n_batches;
}

/* ---- one job for all ranks --------------------------------------------------------------------
 */

/* Rank 0's job; `name` stands for its file. */
static enum ergo_status first_job(struct ergo_context *ctx, const struct ergo_job *own,
                                  const char *name, struct ergo_job **first) {
    size_t length = own ? strlen(own->canonical) + 1 : 0;
    ergo_dist_share(&length, sizeof length);
    char *text = malloc(length);
    *first = NULL;
    if (!text)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for rank 0's job");
    if (ergo_ranks_rank() == 0)
        memcpy(text, own->canonical, length);
    ergo_dist_share(text, length);
    const struct ergo_job stored = {.canonical = text, .name = (char *)name};
    const bool parsed = !own || (ergo_ranks_rank() > 0 && strcmp(own->canonical, text) != 0);
    const enum ergo_status status = parsed ? ergo_job_again(ctx, &stored, NULL, 0, first) : ERGO_OK;
    free(text);
    return status;
}

enum ergo_status ergo_ranks_share_job(struct ergo_context *ctx, struct ergo_job **job) {
    struct ergo_job *first = NULL;
    ERGO_ENTRY(ctx, job);
    const enum ergo_status status =
        ergo_dist_count() > 1 ? first_job(ctx, *job, "stdin", &first) : ERGO_OK;
    *job = *job ? *job : first;
    return status;
}

/* Ranks with jobs of their own would do each a part of another run. What no chain depends on may
 * differ (a device). */
static enum ergo_status check_one_job(struct ergo_context *ctx, const struct ergo_job *own) {
    struct ergo_job *first = NULL;
    char where[80];
    if (ergo_dist_count() == 1)
        return ERGO_OK;
    enum ergo_status status = first_job(ctx, own, own->name, &first);
    if (status == ERGO_OK && first)
        status = ergo_job_same(ctx, first, own);
    ergo_job_destroy(first);
    snprintf(where, sizeof where, "rank %d was given another job than rank 0", ergo_ranks_rank());
    ergo_error_at(ctx, status, where);
    /* those whose own is right say nothing */
    return ergo_dist_any(status != ERGO_OK) && status == ERGO_OK ? ERGO_E_JOB : status;
}

/* A run of a job that nothing is there of. */
static enum ergo_status run_new(struct ergo_work *work, struct ergo_job *own,
                                struct ergo_result **result) {
    struct ergo_context *ctx = work->ctx;
    struct ergo_result *empty = NULL;
    enum ergo_status status = ergo_cost_choose_every(work->session, &own);
    if (status == ERGO_OK)
        status = ergo_result_create(ctx, own, &empty);
    else
        ergo_job_destroy(own);
    assert(empty || status != ERGO_OK);
    if (empty)
        ergo_work_take(work, empty, calloc(own->n_points, sizeof *work->progress));
    if (status == ERGO_OK && !work->progress)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu points", empty->n_members);
    if (status != ERGO_OK)
        return status;
    if (ergo_ranks_rank() == 0)
        ergo_result_say_kept(ctx, work->job);
    const struct ergo_run_options *options = work->session->options;
    status = ergo_input_keep(ctx, empty->job);
    if (status == ERGO_OK)
        status = ergo_origin_keep(ctx, empty->job);
    if (status == ERGO_OK)
        status = ergo_work_choose_ops(work, work->job);
    if (status == ERGO_OK && (options->part || options->n_parts))
        status = ergo_result_set_part(ctx, empty, options->part, options->n_parts);
    if (status == ERGO_OK && ((ergo_dist_count() > 1 && !work->cut) || empty->n_parts))
        status = ergo_spread_create(work, work->files);
    return status == ERGO_OK ? ergo_work_execute(work, result) : status;
}

enum ergo_status ergo_run(struct ergo_context *ctx, const struct ergo_job *job,
                          const struct ergo_run_options *options, struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, job, result);
    struct ergo_session session;
    struct ergo_work work;
    ergo_work_init(&work, &session, ctx, options);
    struct ergo_job *own = NULL;
    const char *path = session.options->directory ? session.options->directory : job->name;
    bool extends = false;
    /* the result outlives the caller's job, and tuning changes values */
    enum ergo_status status = ergo_job_copy(ctx, job, &own);
    if (status == ERGO_OK) {
        ergo_job_files_free(&own->files); /* a result's job: this run reads files as they are now */
        status = check_one_job(ctx, own);
    }
    if (status == ERGO_OK && ergo_ranks_rank() == 0)
        status = ergo_session_take_folder(&session, path);
    else if (status == ERGO_OK && !(session.folder.path = strdup(path)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    if (status == ERGO_OK)
        status = ergo_work_find_earlier(&work, &own, &extends);
    if (status == ERGO_OK)
        status = extends ? ergo_work_go_on(&work, result) : run_new(&work, own, result);
    else
        ergo_job_destroy(own);
    ergo_session_leave_folder(&session);
    ergo_work_release(&work);
    return status;
}
