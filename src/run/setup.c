/* From a job to a run: device, storage for the result; and the public calls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/entry.h"
#include "device/program.h"
#include "dist/dist.h"
#include "job/json.h"
#include "run/run.h"
#include "run/spread.h"
#include "run/tuning.h"

struct ergo_schedule ergo_schedule_of(const struct ergo_point *point) {
    const uint64_t equilibration = (uint64_t)ergo_point_int(point, "/run/equilibration");
    const uint64_t sweeps = (uint64_t)ergo_point_int(point, "/run/sweeps");
    struct ergo_schedule s = {.every = (uint64_t)ergo_point_int(point, "/run/measure_every")};
    s.lead = equilibration % s.every;
    s.n_equilibration = (size_t)(equilibration / s.every);
    s.n_samples = s.n_equilibration + (size_t)(sweeps / s.every);
    s.tail = sweeps % s.every;
    s.total = equilibration + sweeps;
    return s;
}

struct ergo_member_result *ergo_run_member(struct ergo_run *run, size_t batch, size_t m) {
    return &run->result->members[run->job->batches[batch].points[m]->index];
}

double ergo_run_seconds(const struct ergo_run *run) {
    return run->seconds_before +
           (run->sampling_started > 0 ? ergo_clock() - run->sampling_started : 0);
}

void ergo_run_clock_start(struct ergo_run *run) {
    run->sampling_started = ergo_clock();
}

void ergo_run_clock_rest(struct ergo_run *run) {
    run->seconds_before = ergo_run_seconds(run);
    run->sampling_started = 0;
}

void ergo_result_destroy(struct ergo_result *r) {
    if (!r)
        return;
    const struct ergo_sampler_info *info = r->job ? r->job->sampler->info : NULL;
    for (size_t i = 0; info && r->members && i < r->n_members; i++) {
        struct ergo_member_result *m = &r->members[i];
        for (size_t c = 0; c < info->n_columns && m->series; c++)
            free(m->series[c]);
        for (size_t c = 0; c < info->n_curves && m->curves; c++) {
            free(m->curves[c].x);
            free(m->curves[c].mean);
            free(m->curves[c].error);
            free(m->curves[c].reference_z);
        }
        for (size_t k = 0; k < m->n_pictures; k++)
            free(m->pictures[k].rgb);
        free(m->series);
        free(m->curves);
        free(m->observables);
        free(m->pictures);
        free(m->picture_steps);
        free(m->state);
    }
    ergo_profile_destroy(r->profile);
    free(r->devices);
    for (size_t i = 0; i < r->n_warnings; i++)
        free(r->warnings[i]);
    free(r->warnings);
    free(r->comparison);
    free(r->means);
    free(r->members);
    ergo_job_destroy(r->job);
    free(r);
}

static enum ergo_status allocate_member(struct ergo_run *run, struct ergo_member_result *m) {
    const struct ergo_sampler_info *info = run->sampler->info;
    const struct ergo_schedule s = ergo_schedule_of(m->point);
    m->lead = s.lead;
    m->measure_every = s.every;
    m->n_equilibration = s.n_equilibration;
    m->series = calloc(info->n_columns + 1, sizeof *m->series);
    m->observables = calloc(info->n_observables + 1, sizeof *m->observables);
    m->curves = calloc(info->n_curves + 1, sizeof *m->curves);
    m->pictures = calloc(ERGO_RUN_PICTURES, sizeof *m->pictures);
    m->picture_steps = calloc(ERGO_RUN_PICTURES, sizeof *m->picture_steps);
    run->curves[m->point->index] = calloc(info->n_curves + 1, sizeof **run->curves);
    bool ok = m->series && m->observables && m->curves && m->pictures && m->picture_steps &&
              run->curves[m->point->index];
    for (size_t c = 0; c < info->n_columns && ok; c++) {
        if (!ergo_column_measured(info, m->point, c))
            continue;
        m->series[c] = malloc((s.n_samples + 1) * sizeof(double));
        ok = m->series[c] != NULL;
    }
    for (size_t c = 0; c < info->n_curves && ok; c++)
        ok = (info->curves_sums >> c & 1 ? ergo_curve_init_sum : ergo_curve_init)(
            &run->curves[m->point->index][c], run->ops->curve_size(m->point, c));
    return ok ? ERGO_OK
              : ERGO_FAIL(run->ctx, ERGO_E_MEMORY,
                          "no memory for the time series of %zu points; measure less often or "
                          "split the scan",
                          run->job->n_points);
}

/* The result of a job with nothing measured yet. Takes the job. */
static enum ergo_status allocate_result(struct ergo_run *run, struct ergo_job *job) {
    run->result = calloc(1, sizeof *run->result);
    if (!run->result) {
        ergo_job_destroy(job);
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a result");
    }
    run->result->job = run->job = job;
    run->sampler = job->sampler;
    run->ops = job->sampler->ops;
    enum ergo_status status = ergo_validate(run->ctx, job);
    if (status != ERGO_OK)
        return status;
    run->result->members = calloc(job->n_points, sizeof *run->result->members);
    run->curves = calloc(job->n_points, sizeof *run->curves);
    if (!run->result->members || !run->curves)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for %zu points", job->n_points);
    run->result->n_members = job->n_points;
    for (size_t i = 0; i < job->n_points && status == ERGO_OK; i++) {
        run->result->members[i].point = &job->points[i];
        status = allocate_member(run, &run->result->members[i]);
    }
    const time_t now = time(NULL);
    struct tm utc;
    strftime(run->result->started, sizeof run->result->started, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &utc));
    return status;
}

/* Option, environment, job: in this order. */
static const char *device_wanted(const struct ergo_run *run, const struct ergo_job *job) {
    const char *selector = run->options->device;
    if (!selector)
        selector = getenv("ERGOCL_DEVICE");
    return selector && *selector ? selector : ergo_point_text(&job->points[0], "/device");
}

enum ergo_status ergo_run_open_device(struct ergo_run *run, const struct ergo_job *job,
                                      struct ergo_device **device) {
    return ergo_device_open(run->ctx, device_wanted(run, job), device);
}

static enum ergo_status open_device(struct ergo_run *run) {
    char own[512];
    enum ergo_status status =
        ergo_dist_device(run->ctx, device_wanted(run, run->job), own, sizeof own);
    if (status == ERGO_OK)
        status = ergo_device_open(run->ctx, own, &run->device);
    if (status == ERGO_OK) {
        run->result->device = run->device->summary;
        ergo_log(run->ctx, ERGO_LOG_INFO, "running on %s: %s", run->device->summary.id,
                 run->device->summary.name);
    }
    return status;
}

/* Refuse on any batch before the first is begun; count the work. */
static enum ergo_status plan_all(struct ergo_run *run) {
    enum ergo_status status = ERGO_OK;
    for (size_t b = 0; b < run->job->n_batches && status == ERGO_OK; b++) {
        const struct ergo_batch *batch = &run->job->batches[b];
        const struct ergo_schedule s = ergo_schedule_of(batch->points[0]);
        struct ergo_plan plan;
        status = run->ops->plan(run->ctx, batch, run->device, &plan);
        if (status != ERGO_OK)
            break;
        if (plan.device_bytes > run->result->device_bytes)
            run->result->device_bytes = plan.device_bytes;
        const double work = (double)s.total * plan.work_per_step;
        run->work_total += work;
        run->work_done += b < run->batch    ? work
                          : b == run->batch ? (double)run->step * plan.work_per_step
                                            : 0;
    }
    return status;
}

static void free_curves(struct ergo_run *run) {
    for (size_t i = 0; run->curves && i < run->job->n_points; i++) {
        for (size_t c = 0; c < run->sampler->info->n_curves && run->curves[i]; c++)
            ergo_curve_free(&run->curves[i][c]);
        free(run->curves[i]);
    }
    free(run->curves);
    run->curves = NULL;
}

static void run_release(struct ergo_run *run) {
    if (run->state)
        run->ops->destroy(run->state);
    ergo_spread_destroy(run);
    ergo_device_close(run->device);
    free_curves(run);
    ergo_blobs_free(&run->restored);
    ergo_checkpoint_close(run->checkpoint);
    ergo_result_destroy(run->result);
    if (run->lock >= 0)
        close(run->lock);
    ergo_folder_close(&run->folder);
}

static enum ergo_status take_device(void *user, int rank, const char *data, size_t length) {
    struct ergo_run *run = user;
    if (length != sizeof run->result->device)
        return ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "rank %d is another version of ergocl", rank);
    memcpy(&run->result->devices[rank], data, length);
    return ERGO_OK;
}

/* Who got what, at rank 0. */
static enum ergo_status list_devices(struct ergo_run *run) {
    struct ergo_result *r = run->result;
    const struct ergo_text own = {(char *)&r->device, sizeof r->device, sizeof r->device, false};
    const size_t ranks = (size_t)ergo_dist_count();
    r->devices = calloc(ranks, sizeof *r->devices);
    if (!r->devices)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the devices of %zu ranks", ranks);
    r->devices[0] = r->device;
    r->n_devices = ranks;
    return ergo_dist_gather(run->ctx, &own, take_device, run);
}

static double rate_of(double work, double seconds) {
    const double rate = seconds > 0 ? work / seconds : 0;
    return isfinite(rate) ? rate : 0;
}

/* Everything after the job and the folder are known. */
static enum ergo_status execute(struct ergo_run *run, struct ergo_result **result) {
    enum ergo_status status = ERGO_OK;
    const bool spread = run->spread != NULL; /* rank 0 gives it back at the end */
    const double earlier = run->seconds_before;
    run->started = ergo_clock();
    if (run->batch < run->job->n_batches) {
        status = open_device(run);
        run->result->phases[ERGO_PHASE_DEVICE] = ergo_clock() - run->started;
        const struct ergo_run_watch *watch = run->options->watch;
        if (status == ERGO_OK && watch && (watch->profile || watch->trace))
            status = ergo_profile_start(run->ctx, run->device, watch->trace);
        if (status == ERGO_OK && ergo_dist_count() > 1)
            status = list_devices(run);
        if (status == ERGO_OK && !run->spread && !run->cut && !ergo_tuning_given_any(run->job)) {
            ergo_tuning_apply(run->ctx, run->job, run->device);
            run->profiled = true;
        }
        if (run->spread) {
            if (status == ERGO_OK)
                status = ergo_spread_run(run);
        } else {
            if (status == ERGO_OK)
                status = plan_all(run);
            if (status == ERGO_OK)
                status = ergo_run_loop(run);
        }
        if (status != ERGO_OK)
            return status;
        run->result->host_seconds = run->spread ? NAN : run->host_seconds;
        run->result->hidden_seconds = run->spread ? NAN : run->hidden_seconds;
        run->result->seconds = ergo_run_seconds(run);
        if (!run->spread && run->host_seconds > 0)
            ergo_log(run->ctx, ERGO_LOG_INFO,
                     "the host worked %.3g s on measurements, %.0f%% of it while the device did",
                     run->host_seconds, 100 * run->hidden_seconds / run->host_seconds);
        run->result->rate = rate_of(run->work_done, run->result->seconds);
        run->result->phases[ERGO_PHASE_SAMPLE] = run->result->seconds - earlier;
        run->result->phases[ERGO_PHASE_BUILD] = run->device->build_seconds;
        run->result->built = run->device->built;
        run->result->loaded = run->device->loaded;
        run->result->profile = ergo_profile_take(run->device);
        if (!run->stopped && !spread)
            status = ergo_run_save(run); /* finished: resume only reports */
    } else {
        run->result->host_seconds = run->result->hidden_seconds = NAN;
        run->result->seconds = run->seconds_before;
        run->result->rate = rate_of(run->work_done, run->result->seconds);
    }
    run->result->status = run->stopped ? "stopped" : "complete";
    if (ergo_ranks_rank() > 0) /* rank 0 has it all */
        return status;
    const double begun = ergo_clock();
    if (status == ERGO_OK)
        status = ergo_run_estimate(run);
    if (status == ERGO_OK)
        status = ergo_run_write(run);
    run->result->phases[ERGO_PHASE_FILES] = ergo_clock() - begun;
    if (status == ERGO_OK && run->stopped)
        status = ERGO_STOPPED;
    if ((status == ERGO_OK || status == ERGO_STOPPED) && result) {
        *result = run->result;
        run->result = NULL;
        free_curves(run); /* run->job goes with the result, but the curves are still ours */
    }
    return status;
}

/* Does each system go over all ranks? One alone only when the job insists: it is slower. */
static void choose_ops(struct ergo_run *run) {
    const char *distribute = ergo_point_text(&run->job->points[0], "/distribute");
    const size_t ranks = (size_t)ergo_dist_count();
    const struct ergo_sampler_ops *ops = run->sampler->ops;
    run->cut = ops->cut && (!ops->can_cut || ops->can_cut(&run->job->points[0])) &&
               (strcmp(distribute, "lattice") == 0 ||
                (strcmp(distribute, "auto") == 0 && ranks > 1 && run->job->n_points < ranks));
    run->ops = run->cut ? ops->cut : ops;
}

enum ergo_status ergo_run(struct ergo_context *ctx, const struct ergo_job *job,
                          const struct ergo_run_options *options, struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, job, result);
    static const struct ergo_run_options none = {0};
    struct ergo_run run = {
        .ctx = ctx, .options = options ? options : &none, .folder = {.fd = -1}, .lock = -1};
    struct ergo_job *own = NULL;
    /* the result outlives the caller's job: a copy, from the text a checkpoint would hold */
    enum ergo_status status = ergo_job_again(ctx, job, NULL, 0, &own);
    if (status == ERGO_OK)
        status = ergo_run_choose_every(&run, &own);
    if (status == ERGO_OK)
        status = allocate_result(&run, own);
    else
        ergo_job_destroy(own);
    if (status == ERGO_OK) {
        const char *path = run.options->directory ? run.options->directory : job->name;
        if (ergo_ranks_rank() == 0)
            status = ergo_run_take_folder(&run, path);
        else if (!(run.folder.path = strdup(path)))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    }
    if (status == ERGO_OK)
        status = ergo_run_keep_files(&run);
    if (status == ERGO_OK)
        choose_ops(&run);
    if (status == ERGO_OK && ergo_dist_count() > 1 && !run.cut)
        status = ergo_spread_create(&run);
    if (status == ERGO_OK)
        status = execute(&run, result);
    ergo_run_leave_folder(&run);
    run_release(&run);
    return status;
}

/* ---- from a folder --------------------------------------------------------------------------- */

/* Open a folder in which a run went on or ended; otherwise: what to say where there is none. */
static enum ergo_status open_run(struct ergo_run *run, const char *directory,
                                 const char *otherwise) {
    if (access(directory, F_OK) == 0) {
        const enum ergo_status status = ergo_folder_open(run->ctx, directory, &run->folder);
        if (status != ERGO_OK || ergo_folder_has(&run->folder, ERGO_CHECKPOINT))
            return status;
        if (ergo_folder_has(&run->folder, ERGO_CHECKPOINT_OLD))
            return ERGO_FAIL(run->ctx, ERGO_E_IO,
                             "%s holds " ERGO_CHECKPOINT_OLD " of an earlier version of ergocl, "
                             "which this one does not read: go on with that version, or begin anew "
                             "with `ergocl run JOB.json -o %s --overwrite`",
                             directory, directory);
    }
    return ERGO_FAIL(run->ctx, ERGO_E_IO, "%s has no file " ERGO_CHECKPOINT "%s",
                     *directory ? directory : "\"\"", otherwise);
}

/* Open its checkpoint; its job, parsed, and an empty result. */
static enum ergo_status open_checkpoint(struct ergo_run *run) {
    enum { NAME_MOST = 4096 };
    struct ergo_job *job = NULL;
    char stored[256] = "job";
    enum ergo_status status = ergo_checkpoint_open(run->ctx, &run->folder, ERGO_CHECKPOINT,
                                                   ergo_run_records, &run->checkpoint);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(run->ctx, run->checkpoint, "job", ERGO_JSON_BYTES_MAX,
                                      &run->restored);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(run->ctx, run->checkpoint, "name", NAME_MOST, &run->restored);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(run->ctx, run->checkpoint, "files",
                                      (uint64_t)ergo_run_memory(), &run->restored);
    if (status != ERGO_OK)
        return status;
    const struct ergo_blob *text = ergo_blobs_find(&run->restored, "job");
    const struct ergo_blob *name = ergo_blobs_find(&run->restored, "name");
    if (!text || !name)
        return ERGO_FAIL(run->ctx, ERGO_E_IO, "%s/" ERGO_CHECKPOINT " holds no job",
                         run->folder.path);
    if (name->length < sizeof stored)
        memcpy(stored, name->data, name->length + 1);
    struct ergo_job_files files = {0};
    status = ergo_run_restore_files(run, &files);
    if (status == ERGO_OK)
        status = ergo_job_parse_stored(run->ctx, text->data, text->length, stored, &files, &job);
    ergo_job_files_free(&files);
    return status == ERGO_OK ? allocate_result(run, job) : status;
}

enum ergo_status ergo_resume(struct ergo_context *ctx, const char *directory,
                             const struct ergo_run_options *options, struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, directory, result);
    static const struct ergo_run_options none = {0};
    struct ergo_run run = {
        .ctx = ctx, .options = options ? options : &none, .folder = {.fd = -1}, .lock = -1};
    enum ergo_status status = open_run(&run, directory,
                                       ": nothing to resume there; start the job with `ergocl run "
                                       "JOB.json -o FOLDER`");
    if (status == ERGO_OK && ergo_ranks_rank() == 0)
        status = ergo_run_lock_folder(&run);
    if (status == ERGO_OK)
        status = open_checkpoint(&run);
    const bool index =
        status == ERGO_OK && ergo_spread_is_index(&run); /* points at different steps */
    if (status == ERGO_OK && !index)
        choose_ops(&run);
    if (status == ERGO_OK && !index)
        status = ergo_run_restore(&run);
    /* an index: points are at different steps */
    if (status == ERGO_OK &&
        (index || (ergo_dist_count() > 1 && !run.cut && run.batch < run.job->n_batches)))
        status = ergo_spread_restore(&run);
    if (status == ERGO_OK) {
        ergo_run_continue(&run);
        status = execute(&run, result);
    }
    run_release(&run);
    return status;
}

/* ---- looking only ---------------------------------------------------------------------------- */

static bool is_complete(const struct ergo_result *r) {
    for (size_t m = 0; m < r->n_members; m++)
        if (r->members[m].steps != ergo_schedule_of(r->members[m].point).total)
            return false;
    return true;
}

enum ergo_status ergo_run_load(struct ergo_context *ctx, const char *directory,
                               struct ergo_result **result) {
    static const struct ergo_run_options none = {0};
    struct ergo_run run = {.ctx = ctx, .options = &none, .folder = {.fd = -1}, .lock = -1};
    *result = NULL;
    enum ergo_status status = open_run(&run, directory,
                                       ", from which its figures are made: it is no run folder, or "
                                       "the file was removed");
    if (status == ERGO_OK)
        status = open_checkpoint(&run);
    if (status == ERGO_OK)
        status = ergo_spread_is_index(&run) ? ergo_spread_restore(&run) : ergo_run_restore(&run);
    if (status == ERGO_OK) {
        run.result->status = is_complete(run.result) ? "complete" : "stopped";
        run.result->host_seconds = run.result->hidden_seconds = NAN;
        run.result->seconds = run.seconds_before;
        run.result->rate = rate_of(run.work_done, run.seconds_before);
        status = ergo_run_estimate(&run);
    }
    if (status == ERGO_OK) {
        *result = run.result;
        run.result = NULL;
        free_curves(&run);
    }
    run_release(&run);
    return status;
}
