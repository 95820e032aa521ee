/* A checkpoint: the job in it, where the run stood, and all that it had measured. */
#include "result/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/entry.h"
#include "job/json.h"
#include "base/memory.h"
#include "job/schedule.h"

enum { META_VERSION = 4 };

/* All names in a checkpoint. */
static const char *const names[] = {
    "job",           "name",   "started", "meta",   "device",   "files",
    "members",       "series", "online",  "curves", "pictures", "states",
    "state_lengths", "finals", "spread",  "part",   NULL,
};

/* Fixed-width: this is a file format. */
struct meta {
    uint64_t version, state_version, batch, step, samples, n_points;
    double seconds;
};

/* Device of the last session, for a resume that only reports. */
struct last_device {
    char id[24], name[128], platform[128], driver[128];
    double work_done;
};

/* ---- what all records share --------------------------------------------------------------------
 */

bool ergo_stored_add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text) {
    const size_t length = text->length;
    return ergo_blobs_take(blobs, name, ergo_text_take(text), length);
}

enum ergo_status ergo_stored_damaged(const struct ergo_stored *stored, const char *file,
                                     const char *what) {
    return ERGO_FAIL(stored->ctx, ERGO_E_IO,
                     "%s/%s%s%s does not fit the job in it; the file is damaged or from another "
                     "version",
                     stored->folder->path, file, what ? ": " : "", what ? what : "");
}

/* As strftime wrote it: "2026-11-22T09:30:00Z". */
bool ergo_stored_take_started(struct ergo_stored *stored) {
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    const struct ergo_blob *blob = ergo_blobs_find(&stored->records, "started");
    if (!blob || blob->length != sizeof shape - 1)
        return false;
    const char *text = blob->data;
    for (size_t i = 0; i < blob->length; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    memcpy(stored->result->started, text, sizeof shape);
    return true;
}

bool ergo_stored_time_fits(double seconds) {
    return seconds >= 0 && seconds < 1e12; /* and no NAN */
}

void ergo_stored_append_state(const struct ergo_member_result *m, struct ergo_text *text) {
    const size_t size = ergo_member_state_size(m, m->n_samples) * sizeof(double);
    double *state = size ? malloc(size) : NULL;
    text->failed |= size && !state;
    if (!state)
        return;
    ergo_member_save(m, state);
    ergo_text_append_bytes(text, state, size);
    free(state);
}

bool ergo_stored_take_state(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                            struct ergo_reader *reader) {
    const size_t size = ergo_member_state_size(m, (size_t)n_samples) * sizeof(double);
    if (m->series) /* of which they are made */
        return true;
    const void *bytes = ergo_reader_take(reader, size);
    if (!bytes || !keep)
        return bytes != NULL;
    double *state = malloc(size + 1); /* the record is not aligned */
    if (state)
        memcpy(state, bytes, size);
    const bool ok = state && ergo_member_load(m, (size_t)n_samples, state);
    free(state);
    return ok;
}

/* ---- to records ------------------------------------------------------------------------------ */

/* Files that a chain depends on (ERGO_KEY_FILE) are read once. A resume and a report use these
 * contents and open no other file. Before each pointer and text: */
struct file_head {
    uint64_t pointer, text;
};

static bool add_files(const struct ergo_job *job, struct ergo_blobs *blobs) {
    const struct ergo_job_files *kept = &job->files;
    struct ergo_text all = {0};
    for (size_t i = 0; i < kept->count; i++) {
        const struct ergo_job_file *file = &kept->files[i];
        const struct file_head head = {strlen(file->pointer), file->length};
        ergo_text_append_bytes(&all, &head, sizeof head);
        ergo_text_append_bytes(&all, file->pointer, (size_t)head.pointer);
        ergo_text_append_bytes(&all, file->text, file->length);
    }
    const bool ok =
        !all.failed && ergo_blobs_add(blobs, "files", all.data ? all.data : "", all.length);
    ergo_text_free(&all);
    return ok;
}

bool ergo_stored_add_job(const struct ergo_result *result, struct ergo_blobs *blobs) {
    const struct ergo_job *job = result->job;
    const uint64_t part[2] = {result->part, result->n_parts};
    if (result->n_parts && !ergo_blobs_add(blobs, "part", part, sizeof part))
        return false;
    return ergo_blobs_add(blobs, "job", job->canonical, strlen(job->canonical)) &&
           ergo_blobs_add(blobs, "name", job->name, strlen(job->name)) &&
           ergo_blobs_add(blobs, "started", result->started, strlen(result->started)) &&
           add_files(job, blobs);
}

bool ergo_stored_add_device(const struct ergo_result *result, double work_done,
                            struct ergo_blobs *blobs) {
    const struct ergo_device_summary *summary = &result->device;
    struct last_device last;
    memset(&last, 0, sizeof last); /* these bytes go into a file */
    snprintf(last.id, sizeof last.id, "%s", summary->id);
    snprintf(last.name, sizeof last.name, "%s", summary->name);
    snprintf(last.platform, sizeof last.platform, "%s", summary->platform);
    snprintf(last.driver, sizeof last.driver, "%s", summary->driver);
    last.work_done = work_done;
    return ergo_blobs_add(blobs, "device", &last, sizeof last);
}

bool ergo_stored_add_head(const struct ergo_result *result, size_t batch, uint64_t step,
                          size_t samples, double seconds, double work_done,
                          struct ergo_blobs *blobs) {
    const struct meta meta = {META_VERSION, result->job->sampler->state_version,
                              batch,        step,
                              samples,      result->job->n_points,
                              seconds};
    return ergo_blobs_add(blobs, "meta", &meta, sizeof meta) &&
           ergo_stored_add_device(result, work_done, blobs);
}

/* ---- from records ---------------------------------------------------------------------------- */

enum ergo_status ergo_stored_find(struct ergo_context *ctx, const char *directory,
                                  const char *otherwise, struct ergo_folder *folder) {
    if (access(directory, F_OK) == 0) {
        const enum ergo_status status = ergo_folder_open(ctx, directory, folder);
        if (status != ERGO_OK || ergo_folder_has(folder, ERGO_CHECKPOINT))
            return status;
        if (ergo_folder_has(folder, ERGO_CHECKPOINT_OLD))
            return ERGO_FAIL(
                ctx, ERGO_E_IO,
                "%s holds " ERGO_CHECKPOINT_OLD " of an earlier version of ergocl, "
                "which this one does not read: continue with that version, or start again "
                "with `ergocl run JOB.json -o %s --overwrite`",
                directory, directory);
    }
    return ERGO_FAIL(ctx, ERGO_E_IO, "%s has no file " ERGO_CHECKPOINT "%s",
                     *directory ? directory : "\"\"", otherwise);
}

static enum ergo_status read_files(struct ergo_stored *stored, struct ergo_job_files *files) {
    struct ergo_reader reader = ergo_reader_of(&stored->records, "files");
    bool good = true;
    while (reader.rest && good) {
        char pointer[256] = "";
        struct file_head head;
        good = ergo_reader_copy(&reader, &head, sizeof head) && head.pointer < sizeof pointer &&
               ergo_reader_copy(&reader, pointer, head.pointer);
        const char *text = good ? ergo_reader_take(&reader, head.text) : NULL;
        good = text != NULL;
        if (good && !ergo_job_files_add(files, pointer, text, (size_t)head.text))
            return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for the file of %s", pointer);
    }
    return good ? ERGO_OK
                : ERGO_FAIL(stored->ctx, ERGO_E_IO,
                            "%s/" ERGO_CHECKPOINT ": its input files are damaged",
                            stored->folder->path);
}

/* Which part of a run it is. */
static enum ergo_status read_part(struct ergo_stored *stored) {
    uint64_t part[2];
    if (!ergo_checkpoint_has(stored->checkpoint, "part"))
        return ERGO_OK;
    const enum ergo_status status = ergo_checkpoint_load(stored->ctx, stored->checkpoint, "part",
                                                         sizeof part, &stored->records);
    struct ergo_reader reader = ergo_reader_of(&stored->records, "part");
    if (status != ERGO_OK)
        return status;
    if (!ergo_reader_copy(&reader, part, sizeof part) || !stored->of_ranks || !part[0] ||
        part[0] > part[1] || part[1] > stored->result->n_members)
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "which part it is");
    return ergo_result_set_part(stored->ctx, stored->result, (unsigned)part[0], (unsigned)part[1]);
}

enum ergo_status ergo_stored_open(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  struct ergo_stored *stored) {
    enum { NAME_MOST = 4096 };
    struct ergo_job *job = NULL;
    char called[256] = "job";
    *stored = (struct ergo_stored){.ctx = ctx, .folder = folder};
    enum ergo_status status =
        ergo_checkpoint_open(ctx, folder, ERGO_CHECKPOINT, names, &stored->checkpoint);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(ctx, stored->checkpoint, "job", ERGO_JSON_BYTES_MAX,
                                      &stored->records);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(ctx, stored->checkpoint, "name", NAME_MOST, &stored->records);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(ctx, stored->checkpoint, "files", (uint64_t)ergo_memory(),
                                      &stored->records);
    if (status != ERGO_OK)
        return status;
    const struct ergo_blob *text = ergo_blobs_find(&stored->records, "job");
    const struct ergo_blob *name = ergo_blobs_find(&stored->records, "name");
    if (!text || !name)
        return ERGO_FAIL(ctx, ERGO_E_IO, "%s/" ERGO_CHECKPOINT " holds no job", folder->path);
    if (name->length < sizeof called)
        memcpy(called, name->data, name->length + 1);
    struct ergo_job_files files = {0};
    status = read_files(stored, &files);
    if (status == ERGO_OK)
        status =
            ergo_job_parse_stored(ctx, text->data, text->length, called, NULL, 0, &files, &job);
    ergo_job_files_free(&files);
    stored->of_ranks = ergo_checkpoint_has(stored->checkpoint, "spread");
    if (status == ERGO_OK)
        status = ergo_result_create(ctx, job, &stored->result);
    return status == ERGO_OK ? read_part(stored) : status;
}

/* Could a run have been saved at this step? With a step that does not belong to the states or
 * samples it would go on as another chain, without anyone noticing. */
static bool is_consistent(const struct ergo_stored *stored) {
    const struct ergo_job *job = stored->result->job;
    for (size_t b = 0; b < job->n_batches; b++) {
        const struct ergo_schedule s = ergo_schedule_of(job->batches[b].points[0]);
        const uint64_t expected = b < stored->batch    ? s.n_samples
                                  : b == stored->batch ? stored->samples
                                                       : 0;
        for (size_t m = 0; m < job->batches[b].count; m++)
            if (stored->result->members[job->batches[b].points[m]->index].n_samples != expected)
                return false;
        if (b != stored->batch)
            continue;
        if ((stored->step && !stored->has_states) ||
            !ergo_schedule_allows(&s, stored->step, stored->samples))
            return false;
    }
    return stored->batch < job->n_batches || (stored->step == 0 && stored->samples == 0);
}

bool ergo_stored_take_device(struct ergo_result *result, const struct ergo_blobs *blobs,
                             double *work_done) {
    struct ergo_reader device = ergo_reader_of(blobs, "device");
    struct last_device last;
    if (!ergo_reader_copy(&device, &last, sizeof last) || !(last.work_done >= 0) ||
        !(last.work_done < 1e300))
        return false;
    struct ergo_device_summary *summary = &result->device;
    snprintf(summary->id, sizeof summary->id, "%.23s", last.id);
    snprintf(summary->name, sizeof summary->name, "%.127s", last.name);
    snprintf(summary->platform, sizeof summary->platform, "%.127s", last.platform);
    snprintf(summary->driver, sizeof summary->driver, "%.127s", last.driver);
    *work_done = last.work_done;
    return true;
}

/* Reads the small records. */
static enum ergo_status read_head(struct ergo_stored *stored) {
    struct ergo_context *ctx = stored->ctx;
    const struct ergo_job *job = stored->result->job;
    struct meta meta;
    enum ergo_status status =
        ergo_checkpoint_load(ctx, stored->checkpoint, "meta", sizeof meta, &stored->records);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(ctx, stored->checkpoint, "device", sizeof(struct last_device),
                                      &stored->records);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(ctx, stored->checkpoint, "started",
                                      sizeof stored->result->started, &stored->records);
    if (status != ERGO_OK)
        return status;
    struct ergo_reader head = ergo_reader_of(&stored->records, "meta");
    if (!ergo_reader_copy(&head, &meta, sizeof meta) || meta.version != META_VERSION)
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "its header");
    if (meta.state_version != job->sampler->state_version)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "%s/" ERGO_CHECKPOINT " holds states of version %" PRIu64 " of %s; this "
                         "ergocl reads version %u",
                         stored->folder->path, meta.state_version, job->sampler->name,
                         job->sampler->state_version);
    if (meta.n_points != job->n_points || meta.batch > job->n_batches)
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the number of points");
    if (!ergo_stored_time_fits(meta.seconds))
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the time it took");
    if (!ergo_stored_take_device(stored->result, &stored->records, &stored->work_done))
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the device or its work");
    if (!ergo_stored_take_started(stored))
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the time of its start");
    stored->batch = (size_t)meta.batch;
    stored->step = meta.step;
    stored->samples = (size_t)meta.samples;
    stored->seconds = meta.seconds;
    return ERGO_OK;
}

enum ergo_status ergo_stored_read(struct ergo_stored *stored) {
    if (stored->of_ranks)
        return ergo_stored_read_ranks(stored);
    enum ergo_status status = read_head(stored);
    if (status == ERGO_OK)
        status = ergo_stored_read_members(stored);
    if (status != ERGO_OK)
        return status;
    stored->has_states = ergo_checkpoint_has(stored->checkpoint, "states");
    return is_consistent(stored)
               ? ERGO_OK
               : ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the step it was saved at");
}

enum ergo_status ergo_stored_read_states(struct ergo_stored *stored, size_t members, double most) {
    enum ergo_status status = ergo_checkpoint_load(stored->ctx, stored->checkpoint, "state_lengths",
                                                   members * sizeof(uint64_t), &stored->records);
    return status == ERGO_OK ? ergo_checkpoint_load(stored->ctx, stored->checkpoint, "states",
                                                    (uint64_t)most, &stored->records)
                             : status;
}

void ergo_stored_forget(struct ergo_stored *stored) {
    ergo_blobs_free(&stored->records);
    ergo_checkpoint_close(stored->checkpoint);
    stored->checkpoint = NULL;
}

void ergo_stored_close(struct ergo_stored *stored) {
    ergo_stored_forget(stored);
    ergo_progress_free(stored->progress, stored->n_progress);
    stored->progress = NULL;
    ergo_result_destroy(stored->result);
    stored->result = NULL;
}

/* ---- looking only ---------------------------------------------------------------------------- */

enum ergo_status ergo_result_load(struct ergo_context *ctx, const char *directory,
                                  struct ergo_result **result) {
    ERGO_CLEAR(result);
    ERGO_ENTRY(ctx, directory, result);
    struct ergo_folder folder = {.fd = -1};
    struct ergo_stored stored = {0};
    enum ergo_status status = ergo_stored_find(ctx, directory,
                                               ", from which its figures are made: it is no run "
                                               "folder, or the file was removed",
                                               &folder);
    if (status == ERGO_OK)
        status = ergo_stored_open(ctx, &folder, &stored);
    if (status == ERGO_OK)
        status = ergo_stored_read(&stored);
    if (status == ERGO_OK) {
        struct ergo_result *r = stored.result;
        r->status = ergo_result_is_complete(r) ? "complete" : "stopped";
        r->host_seconds = r->hidden_seconds = NAN;
        ergo_result_set_rate(r, stored.work_done, stored.seconds);
        status = ergo_result_evaluate(ctx, r);
        ergo_result_drop_binned(r);
    }
    status = ergo_memory_told(ctx, status);
    if (status == ERGO_OK) {
        *result = stored.result;
        stored.result = NULL;
    }
    ergo_stored_close(&stored);
    ergo_folder_close(&folder);
    return status;
}
