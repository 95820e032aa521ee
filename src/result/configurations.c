/* See configurations.h. Files are little-endian, as hosts are (device/device.c). */
#include "result/configurations.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "job/schedule.h"

static const char file_name[] = ERGO_CONFIGURATIONS;

bool ergo_configurations_wanted(const struct ergo_job *job) {
    return ergo_schedule_configurations(job).steps > 0;
}

void ergo_configurations_free(struct ergo_configurations *c) {
    free(c->groups);
    free(c->forms);
    free(c->places);
    free(c->head);
    *c = (struct ergo_configurations){0};
}

enum ergo_status ergo_configurations_no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", file_name);
}

enum ergo_status ergo_configurations_cannot(struct ergo_context *ctx, const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_IO, "cannot %s %s: %s", what, file_name,
                     errno ? strerror(errno) : "it ends too early");
}

/* ---- the layout of a job ----------------------------------------------------------------------
 */

uint64_t ergo_configurations_step(const struct ergo_configurations *c,
                                  const struct ergo_point *point, size_t k) {
    const struct ergo_schedule s = ergo_schedule_of(point);
    return s.lead + ergo_schedule_frame(&s, c->times, k) * s.every;
}

/* What makes two files the same: their chains, when frames are taken, what a frame is. */
static bool identify(struct ergo_configurations *c) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "%s %s %u %" PRIu64 "%s", c->job->sampler->name,
                     c->job->model->name ? c->job->model->name : "", c->job->sampler->state_version,
                     c->times.steps, c->times.logarithmic ? " logarithmic" : "");
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct ergo_schedule s = ergo_schedule_of(c->job->batches[g].points[0]);
        ergo_text_append(&text, "\n%zu %zu %zu %" PRIu64, c->forms[g].bytes, s.n_samples,
                         s.n_equilibration, s.every);
        for (size_t m = 0; m < c->groups[g].points; m++)
            ergo_text_append(&text, " %" PRIx64, c->job->batches[g].points[m]->stream);
    }
    c->identity = text.failed ? 0 : ergo_hash64(text.data, text.length);
    const bool good = !text.failed;
    ergo_text_free(&text);
    return good;
}

static enum ergo_status lay_out(struct ergo_context *ctx, const struct ergo_job *job,
                                struct ergo_configurations *c) {
    *c = (struct ergo_configurations){.job = job, .times = ergo_schedule_configurations(job)};
    c->groups = calloc(job->n_batches, sizeof *c->groups);
    c->forms = calloc(job->n_batches, sizeof *c->forms);
    c->places = calloc(job->n_points, sizeof *c->places);
    enum ergo_status status =
        c->groups && c->forms && c->places ? ERGO_OK : ergo_configurations_no_memory(ctx);
    for (size_t g = 0; g < job->n_batches && status == ERGO_OK; g++) {
        const struct ergo_batch *batch = &job->batches[g];
        const struct ergo_schedule s = ergo_schedule_of(batch->points[0]);
        struct ergo_frames_group *group = &c->groups[g];
        status = job->model->form(ctx, batch->points[0], &c->forms[g]);
        *group = (struct ergo_frames_group){.points = batch->count,
                                            .frames = (uint64_t)ergo_schedule_frames(&s, c->times),
                                            .n_parts = c->forms[g].n_parts};
        for (size_t i = 0; i < group->n_parts; i++)
            group->parts[i].bytes = ergo_form_part_bytes(&c->forms[g].parts[i]);
        for (size_t m = 0; m < batch->count; m++)
            c->places[batch->points[m]->index] = (struct ergo_frames_place){g, m};
        c->n_groups++;
    }
    return status == ERGO_OK && !identify(c) ? ergo_configurations_no_memory(ctx) : status;
}

/* Bytes of all frames. */
static double bytes_of(const struct ergo_configurations *c) {
    double bytes = 0;
    for (size_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < c->groups[g].n_parts; i++)
            bytes += (double)c->groups[g].points * (double)c->groups[g].frames *
                     (double)c->groups[g].parts[i].bytes;
    return bytes;
}

/* Before days of running: is there room on the disk? */
static enum ergo_status check_room(struct ergo_context *ctx, const struct ergo_folder *folder,
                                   const struct ergo_configurations *c) {
    struct statvfs disk;
    const double bytes = bytes_of(c);
    if (bytes > 0x1p60)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/output/configurations_every: all frames would have %.3g bytes", bytes);
    if (fstatvfs(folder->fd, &disk) != 0 || bytes <= (double)disk.f_bavail * (double)disk.f_frsize)
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_IO,
                     "cannot write %s/%s: it will have %.3g GB, and %.3g GB are free there: a "
                     "larger /output/configurations_every writes less",
                     folder->path, file_name, bytes / 1e9,
                     (double)disk.f_bavail * (double)disk.f_frsize / 1e9);
}

/* ---- files of folders -------------------------------------------------------------------------
 */

/* *fd -1: there is none. */
static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  struct ergo_configurations *c, int *fd) {
    uint64_t size = 0;
    *c = (struct ergo_configurations){0};
    *fd = -1;
    if (!ergo_folder_has(folder, file_name))
        return ERGO_OK;
    enum ergo_status status = ergo_file_open(ctx, folder, file_name, fd, &size);
    return status == ERGO_OK ? ergo_configurations_read_head(ctx, file_name, *fd, size, c) : status;
}

static void close_file(struct ergo_configurations *c, int fd) {
    ergo_configurations_free(c);
    if (fd >= 0)
        close(fd);
}

/* Does what the file says of itself fit the layout of the job? Then its offsets are taken. */
static bool adopt(struct ergo_configurations *c, struct ergo_configurations *file) {
    bool same = file->head && file->identity == c->identity && file->n_groups == c->n_groups;
    for (size_t g = 0; g < c->n_groups && same; g++)
        same = file->groups[g].points == c->groups[g].points &&
               file->groups[g].frames == c->groups[g].frames &&
               ergo_configurations_alike(&file->groups[g], &c->groups[g]);
    if (!same)
        return false;
    memcpy(c->groups, file->groups, c->n_groups * sizeof *c->groups);
    c->head = file->head;
    c->head_length = file->head_length;
    file->head = NULL;
    return true;
}

static enum ergo_status make(struct ergo_context *ctx, const struct ergo_folder *folder,
                             struct ergo_configurations *c, const struct ergo_configurations *old,
                             int from) {
    struct ergo_new_file file;
    enum ergo_status status = check_room(ctx, folder, c);
    if (status != ERGO_OK)
        return status;
    status = ergo_file_begin(ctx, folder, file_name, &file);
    if (status == ERGO_OK)
        status = ergo_configurations_create(ctx, file_name, file.fd, c);
    if (status == ERGO_OK && !ergo_file_write_at(file.fd, 0, c->head, c->head_length))
        status = ergo_configurations_cannot(ctx, "write");
    if (status == ERGO_OK && from >= 0)
        status = ergo_configurations_copy_all(c, ctx, file.fd, old, from);
    status = ergo_file_finish(ctx, folder, file_name, &file, status);
    if (status == ERGO_OK)
        ergo_log(ctx, ERGO_LOG_INFO, "%s: %.3g GB for all frames", file_name, bytes_of(c) / 1e9);
    return status;
}

enum ergo_status ergo_configurations_prepare(struct ergo_context *ctx,
                                             const struct ergo_folder *folder,
                                             const struct ergo_job *job, bool may_make,
                                             struct ergo_configurations *c) {
    struct ergo_configurations old = {0};
    int fd = -1;
    enum ergo_status status = lay_out(ctx, job, c);
    if (status == ERGO_OK)
        status = read_file(ctx, folder, &old, &fd);
    if (status == ERGO_E_IO && may_make) {
        ergo_log(ctx, ERGO_LOG_WARNING, "%s; it is made anew", ergo_error_message(ctx));
        ergo_error_clear(ctx);
        close_file(&old, fd);
        fd = -1;
        status = ERGO_OK;
    }
    struct stat info; /* one with another name, which may be anywhere, is not written on */
    const bool alone = fd < 0 || (fstat(fd, &info) == 0 && info.st_nlink == 1);
    if (status == ERGO_OK && (!alone || !adopt(c, &old)))
        status = may_make ? make(ctx, folder, c, &old, fd)
                          : ERGO_FAIL(ctx, ERGO_E_IO,
                                      "%s/%s is not there, or was replaced while the run was "
                                      "writing to it",
                                      folder->path, file_name);
    close_file(&old, fd);
    return status;
}

bool ergo_configurations_open(const struct ergo_configurations *c, struct ergo_context *ctx,
                              const struct ergo_folder *folder, int *fd) {
    uint64_t size = 0;
    *fd = -1;
    if (!c->head || !ergo_folder_has(folder, file_name) ||
        ergo_file_update(ctx, folder, file_name, fd, &size) != ERGO_OK) {
        ergo_error_clear(ctx);
        return false;
    }
    char *head = malloc(c->head_length);
    const bool same = head && ergo_file_read_at(*fd, 0, head, c->head_length) &&
                      memcmp(head, c->head, c->head_length) == 0;
    free(head);
    if (!same) {
        close(*fd);
        *fd = -1;
    }
    return same;
}

/* ---- frames -----------------------------------------------------------------------------------
 */

enum ergo_status ergo_configurations_write(const struct ergo_configurations *c,
                                           struct ergo_context *ctx, int fd, size_t point, size_t k,
                                           uint64_t step, const void *state, size_t length) {
    const struct ergo_frames_place place = c->places[point];
    const struct ergo_frames_group *group = &c->groups[place.group];
    const struct ergo_form *form = &c->forms[place.group];
    const uint64_t at = place.at * group->frames + k;
    if (length < form->bytes || k >= group->frames ||
        step != ergo_configurations_step(c, &c->job->points[point], k))
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL,
                         "frame %zu of point %zu at step %" PRIu64 " does not fit %s", k, point,
                         step, file_name);
    for (size_t i = 0; i < form->n_parts; i++) {
        const size_t bytes = (size_t)group->parts[i].bytes;
        const bool whole = !form->parts[i].stride;
        char *array = whole ? NULL : malloc(bytes + 1);
        if (!whole && !array)
            return ergo_configurations_no_memory(ctx);
        if (array)
            ergo_form_take(&form->parts[i], state, array);
        const bool good =
            ergo_file_write_at(fd, group->parts[i].offset + at * bytes,
                               whole ? (const char *)state + form->parts[i].offset : array, bytes);
        free(array);
        if (!good)
            return ergo_configurations_cannot(ctx, "write");
    }
    /* what has a step is whole */
    return ergo_file_write_at(fd, group->step + 8 * at, &step, sizeof step)
               ? ERGO_OK
               : ergo_configurations_cannot(ctx, "write");
}

enum ergo_status ergo_configurations_copy(const struct ergo_configurations *c,
                                          struct ergo_context *ctx, int fd,
                                          const struct ergo_folder *from) {
    struct ergo_configurations other;
    int there = -1;
    enum ergo_status status = read_file(ctx, from, &other, &there);
    if (status == ERGO_OK && there >= 0)
        status = ergo_configurations_copy_all(c, ctx, fd, &other, there);
    close_file(&other, there);
    return status;
}

enum ergo_status ergo_configurations_missing(const struct ergo_configurations *c,
                                             struct ergo_context *ctx, int fd, uint64_t *missing) {
    enum ergo_status status = ERGO_OK;
    *missing = 0;
    for (size_t g = 0; g < c->n_groups && status == ERGO_OK; g++) {
        uint64_t *streams = NULL;
        int64_t *steps = NULL;
        status = ergo_configurations_steps(ctx, fd, &c->groups[g], &streams, &steps);
        for (uint64_t i = 0; i < c->groups[g].points * c->groups[g].frames && status == ERGO_OK;
             i++)
            *missing += steps[i] < 0;
        free(streams);
        free(steps);
    }
    return status;
}

/* ---- a start ----------------------------------------------------------------------------------
 */

static enum ergo_status read_frame(struct ergo_context *ctx, const struct ergo_configurations *c,
                                   int fd, const struct ergo_point *point, uint64_t k, char *state,
                                   const char *folder) {
    const struct ergo_frames_place place = c->places[point->index];
    const struct ergo_frames_group *group = &c->groups[place.group];
    const struct ergo_form *form = &c->forms[place.group];
    const uint64_t at = place.at * group->frames + k;
    int64_t step = -1;
    if (k >= group->frames)
        return ergo_job_error(ctx, "/start/frame",
                              "found %" PRIu64 ", but point %zu of the run in %s has %" PRIu64
                              " frames, counted from 0",
                              k, point->index, folder, group->frames);
    if (!ergo_file_read_at(fd, group->step + 8 * at, &step, sizeof step))
        return ergo_configurations_cannot(ctx, "read");
    if (step < 0 || (uint64_t)step != ergo_configurations_step(c, point, (size_t)k))
        return ergo_job_error(ctx, "/start/frame",
                              "frame %" PRIu64 " of point %zu is not in %s/%s yet", k, point->index,
                              folder, file_name);
    for (size_t i = 0; i < form->n_parts; i++) {
        const size_t bytes = (size_t)group->parts[i].bytes;
        char *array = malloc(bytes + 1);
        if (!array)
            return ergo_configurations_no_memory(ctx);
        const bool good = ergo_file_read_at(fd, group->parts[i].offset + at * bytes, array, bytes);
        if (good)
            ergo_form_put(&form->parts[i], array, state);
        free(array);
        if (!good)
            return ergo_configurations_cannot(ctx, "read");
    }
    return ERGO_OK;
}

enum ergo_status ergo_configurations_state(const struct ergo_configurations *c,
                                           struct ergo_context *ctx, int fd, const char *folder,
                                           const struct ergo_point *point, uint64_t k, char **state,
                                           size_t *length) {
    *length = c->forms[c->places[point->index].group].bytes;
    *state = calloc(*length + 1, 1);
    const enum ergo_status status = *state ? read_frame(ctx, c, fd, point, k, *state, folder)
                                           : ergo_configurations_no_memory(ctx);
    if (status != ERGO_OK) {
        free(*state);
        *state = NULL;
    }
    return status;
}
