/* ergo_merge: parts of a run, each of a machine of its own, become one. No device is touched. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/entry.h"
#include "run/work.h"

struct merge {
    struct ergo_context *ctx;
    const char *const *directories;
    size_t n;
    struct ergo_folder *folders; /* [n], open, as are the checkpoints of one after the other */
    struct ergo_result *whole;
    size_t n_members;                     /* of it */
    struct ergo_point_progress *progress; /* [n_members] */
    const char **sources;                 /* [n_members], folders */
    unsigned n_parts;                     /* as the first folder says; 0: it is a whole run */
    double work_done, seconds;
};

/* The result of the job that the first part is of. */
static enum ergo_status begin(struct merge *g, const struct ergo_result *first) {
    struct ergo_job *job = NULL;
    enum ergo_status status = ergo_job_copy(g->ctx, first->job, &job);
    if (status == ERGO_OK)
        status = ergo_result_create(g->ctx, job, &g->whole);
    if (status != ERGO_OK)
        return status;
    g->n_members = g->whole->n_members;
    memcpy(g->whole->started, first->started, sizeof first->started);
    g->n_parts = first->n_parts;
    g->progress = calloc(g->whole->n_members, sizeof *g->progress);
    g->sources = calloc(g->whole->n_members, sizeof *g->sources);
    g->whole->devices = calloc(g->n, sizeof *g->whole->devices);
    return g->progress && g->sources && g->whole->devices
               ? ERGO_OK
               : ERGO_FAIL(g->ctx, ERGO_E_MEMORY, "no memory for %zu points", g->whole->n_members);
}

/* Only what is finished is united: the rest of it would be lost with the part. */
static enum ergo_status check_finished(struct merge *g, const struct ergo_result *part,
                                       const char *path) {
    char which[64] = "the run";
    if (part->n_parts)
        snprintf(which, sizeof which, "part %u/%u", part->part, part->n_parts);
    return ergo_result_is_complete(part)
               ? ERGO_OK
               : ERGO_FAIL(g->ctx, ERGO_E_JOB,
                           "%s in %s is not finished: continue it with `ergocl resume %s`", which,
                           path, path);
}

static enum ergo_status add(struct merge *g, size_t k) {
    struct ergo_stored stored = {0};
    const char *path = g->directories[k];
    enum ergo_status status = ergo_stored_open(g->ctx, &g->folders[k], &stored);
    if (status == ERGO_OK)
        status = ergo_stored_read(&stored);
    if (status == ERGO_OK && !g->whole)
        status = begin(g, stored.result);
    if (status == ERGO_OK && ergo_job_same(g->ctx, g->whole->job, stored.result->job) != ERGO_OK)
        status = ERGO_FAIL(g->ctx, ERGO_E_JOB, "%s and %s are not parts of one run",
                           g->directories[0], path);
    if (status == ERGO_OK)
        status = check_finished(g, stored.result, path);
    if (status == ERGO_OK)
        status = ergo_stored_read_states(&stored);
    if (status == ERGO_OK)
        status = ergo_stored_unite(&stored, g->whole, g->progress, g->sources);
    if (status == ERGO_OK) {
        if (strcmp(stored.result->started, g->whole->started) < 0)
            memcpy(g->whole->started, stored.result->started, sizeof stored.result->started);
        g->whole->devices[k] = stored.result->device;
        g->whole->n_devices = k + 1;
        g->work_done += stored.work_done;
        g->seconds += stored.seconds;
    }
    ergo_stored_close(&stored);
    return status;
}

/* Are all points there? Names the parts that are missing. */
static enum ergo_status check_all(const struct merge *g) {
    const struct ergo_result *whole = g->whole;
    uint32_t *part_of = g->n_parts ? ergo_job_deal(whole->job, g->n_parts) : NULL;
    struct ergo_text parts = {0};
    size_t missing = 0;
    for (unsigned p = 1; part_of && p <= g->n_parts; p++) {
        size_t of = 0;
        for (size_t i = 0; i < whole->n_members; i++)
            of += part_of[i] == p && !g->progress[i].step;
        missing += of;
        if (of)
            ergo_text_append(&parts, "%s%u/%u", parts.length ? ", " : "", p, g->n_parts);
    }
    free(part_of);
    const enum ergo_status status =
        !missing ? ERGO_OK
                 : ERGO_FAIL(g->ctx, ERGO_E_JOB,
                             "part %s is missing: %zu of %zu points are in none of the folders",
                             parts.data ? parts.data : "", missing, whole->n_members);
    ergo_text_free(&parts);
    return status;
}

/* The folder may not be one of the parts, whose files it would replace. */
static enum ergo_status check_place(const struct merge *g, const char *directory) {
    struct stat there, part;
    if (stat(directory, &there) != 0)
        return ERGO_OK;
    for (size_t k = 0; k < g->n; k++)
        if (fstat(g->folders[k].fd, &part) == 0 && part.st_dev == there.st_dev &&
            part.st_ino == there.st_ino)
            return ERGO_FAIL(g->ctx, ERGO_E_JOB, "%s is one of the parts: choose another folder",
                             directory);
    return ERGO_OK;
}

static enum ergo_status write_all(struct merge *g, const char *directory, bool overwrite,
                                  struct ergo_result **result) {
    const struct ergo_run_options options = {.directory = directory, .overwrite = overwrite};
    struct ergo_session session;
    struct ergo_work work;
    ergo_work_init(&work, &session, g->ctx, &options);
    session.seconds_before = g->seconds;
    session.work_done = g->work_done;
    g->whole->status = "complete";
    g->whole->device = g->whole->devices[0];
    g->whole->host_seconds = g->whole->hidden_seconds = NAN;
    ergo_result_set_rate(g->whole, g->work_done, g->seconds);
    ergo_work_take(&work, g->whole, g->progress);
    g->whole = NULL;
    g->progress = NULL;
    work.batch = work.n_batches;
    enum ergo_status status = ergo_session_take_folder(&session, directory);
    if (status == ERGO_OK && session.replaces && !overwrite)
        status = ERGO_FAIL(g->ctx, ERGO_E_JOB,
                           "the folder %s holds an earlier run: replace it with --overwrite, or "
                           "choose another folder with -o",
                           directory);
    if (status == ERGO_OK)
        status = ergo_work_begin(&work);
    if (status == ERGO_OK)
        status = ergo_work_finish(&work);
    for (size_t k = 0; k < g->n && status == ERGO_OK; k++) {
        status = ergo_session_copy_frames(&session, &g->folders[k]);
        if (status == ERGO_OK)
            status = ergo_work_copy_configurations(&work, &g->folders[k]);
    }
    if (status == ERGO_OK)
        status = ergo_work_check_configurations(&work);
    if (status == ERGO_OK) {
        ergo_result_drop_binned(work.result);
        *result = work.result;
        work.result = NULL;
    }
    ergo_session_leave_folder(&session);
    ergo_work_release(&work);
    return status;
}

static enum ergo_status merge(struct merge *g, const char *directory, bool overwrite,
                              struct ergo_result **result) {
    enum ergo_status status = ERGO_OK;
    g->folders = malloc((g->n + 1) * sizeof *g->folders);
    if (!g->folders)
        return ERGO_FAIL(g->ctx, ERGO_E_MEMORY, "no memory for %zu folders", g->n);
    for (size_t k = 0; k < g->n; k++)
        g->folders[k] = (struct ergo_folder){.fd = -1};
    for (size_t k = 0; k < g->n && status == ERGO_OK; k++)
        status =
            ergo_stored_find(g->ctx, g->directories[k], ": it is no run folder", &g->folders[k]);
    if (status == ERGO_OK)
        status = check_place(g, directory);
    for (size_t k = 0; k < g->n && status == ERGO_OK; k++)
        status = add(g, k);
    if (status == ERGO_OK)
        status = check_all(g);
    status = ergo_memory_told(g->ctx, status);
    return status == ERGO_OK ? write_all(g, directory, overwrite, result) : status;
}

enum ergo_status ergo_merge(struct ergo_context *ctx, const char *const *directories,
                            size_t n_directories, const char *directory, bool overwrite,
                            struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, directories, directory, result);
    enum ergo_status status =
        ergo_entry_texts(ctx, __func__, "directories", directories, n_directories);
    if (status == ERGO_OK && !n_directories)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "no parts to merge: name their folders");
    if (status != ERGO_OK)
        return status;
    struct merge g = {.ctx = ctx, .directories = directories, .n = n_directories};
    status = merge(&g, directory, overwrite, result);
    for (size_t k = 0; g.folders && k < g.n; k++)
        ergo_folder_close(&g.folders[k]);
    ergo_progress_free(g.progress, g.n_members);
    free(g.folders);
    free(g.sources);
    ergo_result_destroy(g.whole);
    return status == ERGO_OK ? status : ergo_memory_told(ctx, status);
}
