/*
 * See origin.h. As a file of the job, /start/run is, with numbers of 8 bytes: scan points and
 * replicas; then for each point its number, the scanned coordinates (length of a pointer, pointer,
 * value as a double) after their number, and of each replica the state after its length.
 */
#include "result/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "job/model.h"
#include "job/schedule.h"
#include "result/configurations.h"
#include "result/store.h"

static const char key[] = "/start/run";

bool ergo_origin_given(const struct ergo_point *point) {
    return point->parameters->start_run.present;
}

static const char *folder_of(const struct ergo_point *point) {
    return point->parameters->start_run.text;
}

/* ---- from the folder ------------------------------------------------------------------------- */

static void put(struct ergo_text *text, uint64_t number) {
    ergo_text_append_bytes(text, &number, sizeof number);
}

/* What the chains start from: last states, or a frame. */
struct source {
    const struct ergo_result *run;
    const char *folder;
    const struct ergo_value *frame;            /* present: that one */
    struct ergo_configurations configurations; /* then they are open */
    int fd;
};

static enum ergo_status pack_frame(struct ergo_context *ctx, const struct source *from,
                                   const struct ergo_point *point, struct ergo_text *text) {
    char *state = NULL;
    size_t length = 0;
    const enum ergo_status status =
        ergo_configurations_state(&from->configurations, ctx, from->fd, from->folder, point,
                                  (uint64_t)from->frame->integer, &state, &length);
    if (status == ERGO_OK) {
        put(text, length);
        ergo_text_append_bytes(text, state, length);
    }
    free(state);
    return status;
}

static enum ergo_status pack_last(struct ergo_context *ctx, const struct ergo_member_result *m,
                                  const char *folder, struct ergo_text *text) {
    if (m->steps != ergo_schedule_of(m->point).total)
        return ergo_job_error(ctx, key,
                              "the run in %s is not finished: continue it with `ergocl resume %s`",
                              folder, folder);
    if (!m->state)
        return ergo_job_error(ctx, key,
                              "the run in %s did not keep its last states: run it with "
                              "/checkpoint/final_states \"keep\"",
                              folder);
    put(text, m->state_length);
    ergo_text_append_bytes(text, m->state, m->state_length);
    return ERGO_OK;
}

static enum ergo_status pack_point(struct ergo_context *ctx, const struct source *source,
                                   size_t scan, size_t replicas, struct ergo_text *text) {
    const struct ergo_result *from = source->run;
    enum ergo_status status = ERGO_OK;
    const struct ergo_member_result *m = &from->members[scan * replicas];
    put(text, scan);
    put(text, m->point->n_scanned);
    for (size_t i = 0; i < m->point->n_scanned; i++) {
        put(text, strlen(m->point->scanned[i].pointer));
        ergo_text_append(text, "%s", m->point->scanned[i].pointer);
        ergo_text_append_bytes(text, &m->point->scanned[i].value, sizeof(double));
    }
    for (size_t r = 0; r < replicas && status == ERGO_OK; r++)
        status = source->frame->present ? pack_frame(ctx, source, m[r].point, text)
                                        : pack_last(ctx, &m[r], source->folder, text);
    return status;
}

static enum ergo_status pack(struct ergo_context *ctx, const struct source *source,
                             const struct ergo_job *job, struct ergo_text *text) {
    const struct ergo_result *from = source->run;
    const char *folder = source->folder;
    const struct ergo_value *asked = &job->points[0].parameters->start_point;
    const size_t replicas = (size_t)from->members[0].point->parameters->replicas;
    const size_t n = from->n_members / replicas;
    if (asked->present && (uint64_t)asked->integer >= n)
        return ergo_job_error(ctx, "/start/point",
                              "found %lld, but the run in %s has %zu scan points, counted from 0",
                              (long long)asked->integer, folder, n);
    const size_t first = asked->present ? (size_t)asked->integer : 0;
    const size_t count = asked->present ? 1 : n;
    enum ergo_status status = ERGO_OK;
    put(text, count);
    put(text, replicas);
    for (size_t s = first; s < first + count && status == ERGO_OK; s++)
        status = pack_point(ctx, source, s, replicas, text);
    return status;
}

/* With the frames of the run where one is asked for. */
static enum ergo_status open_frames(struct ergo_context *ctx, const struct ergo_folder *folder,
                                    struct source *source) {
    const struct ergo_job *job = source->run->job;
    uint64_t size = 0;
    if (!source->frame->present)
        return ERGO_OK;
    if (!ergo_configurations_wanted(job) || !ergo_folder_has(folder, ERGO_CONFIGURATIONS))
        return ergo_job_error(ctx, "/start/frame",
                              "the run in %s has no %s: it was made without "
                              "/output/configurations_every",
                              source->folder, ERGO_CONFIGURATIONS);
    const enum ergo_status status =
        ergo_configurations_prepare(ctx, folder, job, false, &source->configurations);
    return status == ERGO_OK ? ergo_file_open(ctx, folder, ERGO_CONFIGURATIONS, &source->fd, &size)
                             : status;
}

static enum ergo_status pack_run(struct ergo_context *ctx, const struct ergo_folder *folder,
                                 const struct ergo_result *run, const struct ergo_job *job,
                                 struct ergo_text *text) {
    struct source source = {.run = run,
                            .folder = folder_of(&job->points[0]),
                            .frame = &job->points[0].parameters->start_frame,
                            .fd = -1};
    enum ergo_status status = open_frames(ctx, folder, &source);
    if (status == ERGO_OK)
        status = pack(ctx, &source, job, text);
    if (source.fd >= 0)
        close(source.fd);
    ergo_configurations_free(&source.configurations);
    return status;
}

/* ---- from the job's file --------------------------------------------------------------------- */

/* Of the coordinates that were scanned, all have the values of this point. */
static bool is_at(const struct ergo_point *point, const char *pointer, double value) {
    for (size_t i = 0; i < point->n_scanned; i++)
        if (strcmp(point->scanned[i].pointer, pointer) == 0)
            return point->scanned[i].value == value;
    for (size_t k = 0; k < point->job->n_keys; k++)
        if (strcmp(point->job->keys[k]->pointer, pointer) == 0)
            return point->values[k].present && point->values[k].real == value;
    return false;
}

/* A point of the file: is it where `point` starts, or the only one? *state: of its replica. False:
 * damaged. */
static bool take_point(struct ergo_reader *file, const struct ergo_point *point, uint64_t replicas,
                       bool *here, struct ergo_reader *state) {
    uint64_t scan, scanned, length;
    char pointer[256];
    double value;
    *here = true;
    if (!ergo_reader_copy(file, &scan, sizeof scan) ||
        !ergo_reader_copy(file, &scanned, sizeof scanned) || scanned > ERGO_SCAN_MAX * ERGO_DIM_MAX)
        return false;
    for (uint64_t i = 0; i < scanned; i++) {
        if (!ergo_reader_copy(file, &length, sizeof length) || length >= sizeof pointer ||
            !ergo_reader_copy(file, pointer, length) ||
            !ergo_reader_copy(file, &value, sizeof value))
            return false;
        pointer[length] = '\0';
        *here = is_at(point, pointer, value) && *here;
    }
    for (uint64_t r = 0; r < replicas; r++) {
        if (!ergo_reader_copy(file, &length, sizeof length))
            return false;
        const void *bytes = ergo_reader_take(file, length);
        if (!bytes)
            return false;
        if (r == point->replica % replicas)
            *state = (struct ergo_reader){bytes, (size_t)length};
    }
    return true;
}

static enum ergo_status find(struct ergo_context *ctx, const struct ergo_point *point,
                             const char *text, size_t length, struct ergo_reader *state) {
    struct ergo_reader file = {text, length};
    uint64_t count = 0, replicas = 0;
    bool good = ergo_reader_copy(&file, &count, sizeof count) &&
                ergo_reader_copy(&file, &replicas, sizeof replicas) && replicas > 0,
         found = false;
    for (uint64_t s = 0; s < count && good && !found; s++)
        good = take_point(&file, point, replicas, &found, state);
    if (!good)
        return ERGO_FAIL(ctx, ERGO_E_IO, "%s: the states in the checkpoint are damaged", key);
    if (found || count == 1)
        return ERGO_OK;
    return ergo_job_error(ctx, key,
                          "the run in %s has %llu scan points, and none with the values of point "
                          "%zu of this job: /start/point says in which all start",
                          folder_of(point), (unsigned long long)count, point->scan_index);
}

enum ergo_status ergo_origin_state(struct ergo_context *ctx, const struct ergo_point *point,
                                   const void **bytes, size_t *length) {
    const struct ergo_job_file *file = ergo_job_files_find(&point->job->files, key);
    struct ergo_reader state = {NULL, 0};
    const enum ergo_status status =
        file ? find(ctx, point, file->text, file->length, &state)
             : ERGO_FAIL(ctx, ERGO_E_IO, "%s: the checkpoint does not hold the states of %s", key,
                         folder_of(point));
    *bytes = state.at;
    *length = state.rest;
    return status;
}

/* ---- both ------------------------------------------------------------------------------------ */

static enum ergo_status check_all(struct ergo_context *ctx, const struct ergo_job *job,
                                  const struct ergo_result *from, const struct ergo_text *text) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < job->n_points && status == ERGO_OK; i++) {
        struct ergo_reader state = {NULL, 0};
        if (job->points[i].replica || job->points[i].previous)
            continue;
        status = ergo_job_fits(ctx, from->members[0].point, &job->points[i], key,
                               folder_of(&job->points[i]));
        if (status == ERGO_OK)
            status = find(ctx, &job->points[i], text->data, text->length, &state);
    }
    return status;
}

/* Does nothing of the run change between its points on which a state depends? Then the first speaks
 * for all. */
static enum ergo_status read_run(struct ergo_context *ctx, const struct ergo_job *job,
                                 struct ergo_text *text) {
    const char *folder = folder_of(&job->points[0]);
    struct ergo_folder open = {.fd = -1};
    struct ergo_stored stored = {0};
    enum ergo_status status =
        ergo_stored_find(ctx, folder, ": it is not the folder of a run", &open);
    if (status == ERGO_OK)
        status = ergo_stored_open(ctx, &open, &stored);
    if (status == ERGO_OK)
        status = ergo_stored_read(&stored);
    if (status == ERGO_OK && !job->points[0].parameters->start_frame.present)
        status = ergo_stored_read_states(&stored);
    ergo_error_at(ctx, status, key);
    if (status == ERGO_OK)
        status = pack_run(ctx, &open, stored.result, job, text);
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the states of %s", folder);
    if (status == ERGO_OK)
        status = check_all(ctx, job, stored.result, text);
    ergo_stored_close(&stored);
    ergo_folder_close(&open);
    return status;
}

enum ergo_status ergo_origin_keep(struct ergo_context *ctx, struct ergo_job *job) {
    struct ergo_text text = {0};
    if (!ergo_origin_given(&job->points[0]))
        return ERGO_OK;
    enum ergo_status status = read_run(ctx, job, &text);
    if (status == ERGO_OK && !ergo_job_files_add(&job->files, key, text.data, text.length))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the states of %s",
                           folder_of(&job->points[0]));
    ergo_text_free(&text);
    return status;
}

enum ergo_status ergo_origin_check(struct ergo_context *ctx, const struct ergo_job *job) {
    struct ergo_text text = {0};
    const enum ergo_status status =
        ergo_origin_given(&job->points[0]) ? read_run(ctx, job, &text) : ERGO_OK;
    ergo_text_free(&text);
    return status;
}

enum ergo_status ergo_origin_refuse(struct ergo_context *ctx, const struct ergo_point *point) {
    char reason[512];
    snprintf(reason, sizeof reason, "%s", ergo_error_message(ctx));
    ergo_error_clear(ctx);
    return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: the states of %s do not fit this job: %s", key,
                     folder_of(point), reason);
}
