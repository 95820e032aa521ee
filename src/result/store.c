/* The files of a checkpoint: the job in it, where the run stood, and all that it had measured. */
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

enum { RANKS_MOST = 1000000 };

/* All names in a checkpoint. */
static const char *const names[] = {"job",  "name",   "started", "files", "part",
                                    "head", "points", "states",  NULL};

/* Of the file of a run, of an index, or of a rank. Fixed-width: this is a file format. */
struct head {
    uint64_t state_version, generation, ranks, n_points, known; /* known: in this file */
    double seconds, work_done;
    char id[24], name[128], platform[128], driver[128]; /* of the last session's device */
};

enum ergo_status ergo_stored_damaged(const struct ergo_stored *stored, const char *file,
                                     const char *what) {
    return ERGO_FAIL(stored->ctx, ERGO_E_IO,
                     "%s/%s: %s does not fit the job in it; the file is damaged or from another "
                     "version",
                     stored->folder->path, file, what);
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

static bool add_job(const struct ergo_result *result, struct ergo_blobs *blobs) {
    const struct ergo_job *job = result->job;
    const uint64_t part[2] = {result->part, result->n_parts};
    if (result->n_parts && !ergo_blobs_add(blobs, "part", part, sizeof part))
        return false;
    return ergo_blobs_add(blobs, "job", job->canonical, strlen(job->canonical)) &&
           ergo_blobs_add(blobs, "name", job->name, strlen(job->name)) &&
           ergo_blobs_add(blobs, "started", result->started, strlen(result->started)) &&
           add_files(job, blobs);
}

/* Text becomes a record without a copy. */
static bool add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text) {
    const size_t length = text->length;
    return ergo_blobs_take(blobs, name, ergo_text_take(text), length);
}

static bool add_points(const struct ergo_result *result, struct ergo_point_progress *progress,
                       bool spread, uint64_t *known, struct ergo_blobs *blobs) {
    struct ergo_text points = {0}, states = {0};
    for (size_t i = 0; i < result->n_members; i++) {
        if (!progress[i].step)
            continue;
        ergo_point_append(result, progress, i, &points);
        if (spread)
            ergo_point_append_state(result, progress, i, &states);
        else
            ergo_point_give_state(result, progress, i, &states);
        ++*known;
    }
    const bool ok = add_text(blobs, "points", &points);
    return add_text(blobs, "states", &states) && ok;
}

bool ergo_stored_add(const struct ergo_result *result, struct ergo_point_progress *progress,
                     struct ergo_rank_files files, double seconds, double work_done,
                     struct ergo_blobs *blobs) {
    const struct ergo_device_summary *device = &result->device;
    struct head head;
    memset(&head, 0, sizeof head); /* these bytes go into a file */
    head.state_version = result->job->sampler->state_version;
    head.generation = files.generation;
    head.ranks = files.ranks;
    head.n_points = result->n_members;
    head.seconds = seconds;
    head.work_done = work_done;
    snprintf(head.id, sizeof head.id, "%s", device->id);
    snprintf(head.name, sizeof head.name, "%s", device->name);
    snprintf(head.platform, sizeof head.platform, "%s", device->platform);
    snprintf(head.driver, sizeof head.driver, "%s", device->driver);
    return ((files.ranks && progress) || add_job(result, blobs)) &&
           (!progress || add_points(result, progress, files.ranks, &head.known, blobs)) &&
           ergo_blobs_add(blobs, "head", &head, sizeof head);
}

void ergo_stored_rank_file(char *name, size_t size, uint64_t generation, uint64_t rank) {
    snprintf(name, size, ERGO_CHECKPOINT "-%" PRIu64 "-%" PRIu64, generation, rank);
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
    if (!ergo_reader_copy(&reader, part, sizeof part) || !part[0] || part[0] > part[1] ||
        part[1] > stored->result->n_members)
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
    if (status == ERGO_OK)
        status = ergo_result_create(ctx, job, &stored->result);
    return status == ERGO_OK ? read_part(stored) : status;
}

/* As strftime wrote it: "2026-11-22T09:30:00Z". */
static bool take_started(struct ergo_stored *stored) {
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

static enum ergo_status read_head(struct ergo_stored *stored,
                                  const struct ergo_checkpoint *checkpoint, const char *file,
                                  struct head *head) {
    const struct ergo_job *job = stored->result->job;
    struct ergo_blobs blobs = {0};
    const enum ergo_status status =
        ergo_checkpoint_load(stored->ctx, checkpoint, "head", sizeof *head, &blobs);
    struct ergo_reader reader = ergo_reader_of(&blobs, "head");
    const bool there = ergo_reader_copy(&reader, head, sizeof *head);
    ergo_blobs_free(&blobs);
    if (status != ERGO_OK)
        return status;
    if (!there)
        return ergo_stored_damaged(stored, file, "its header");
    if (head->state_version != job->sampler->state_version)
        return ERGO_FAIL(stored->ctx, ERGO_E_IO,
                         "%s/%s holds states of version %" PRIu64 " of %s; this ergocl reads "
                         "version %u",
                         stored->folder->path, file, head->state_version, job->sampler->name,
                         job->sampler->state_version);
    if (head->n_points != job->n_points || head->ranks >= RANKS_MOST)
        return ergo_stored_damaged(stored, file, "the number of points");
    if (!(head->seconds >= 0 && head->seconds < 1e12)) /* and no NAN */
        return ergo_stored_damaged(stored, file, "the time it took");
    if (!(head->work_done >= 0 && head->work_done < 1e300))
        return ergo_stored_damaged(stored, file, "the device or its work");
    return ERGO_OK;
}

/* Of a file with points. */
typedef enum ergo_status read_file(struct ergo_stored *stored,
                                   const struct ergo_checkpoint *checkpoint, const char *file);

static enum ergo_status each_file(struct ergo_stored *stored, read_file *read) {
    enum ergo_status status = ERGO_OK;
    if (!stored->files.ranks)
        return read(stored, stored->checkpoint, ERGO_CHECKPOINT);
    for (uint64_t r = 0; r < stored->files.ranks && status == ERGO_OK; r++) {
        struct ergo_checkpoint *checkpoint = NULL;
        char file[64];
        ergo_stored_rank_file(file, sizeof file, stored->files.generation, r);
        status = ergo_checkpoint_open(stored->ctx, stored->folder, file, names, &checkpoint);
        if (status == ERGO_OK)
            status = read(stored, checkpoint, file);
        ergo_checkpoint_close(checkpoint);
    }
    return status;
}

static enum ergo_status read_points(struct ergo_stored *stored,
                                    const struct ergo_checkpoint *checkpoint, const char *file) {
    struct ergo_device_summary *device = &stored->result->device;
    struct ergo_blobs blobs = {0};
    struct head head;
    enum ergo_status status = read_head(stored, checkpoint, file, &head);
    if (status == ERGO_OK &&
        (head.generation != stored->files.generation || head.ranks != stored->files.ranks))
        status = ergo_stored_damaged(stored, file, "its header");
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(stored->ctx, checkpoint, "points",
                                      (uint64_t)ergo_points_most(stored->result), &blobs);
    if (status != ERGO_OK)
        return status;
    struct ergo_reader reader = ergo_reader_of(&blobs, "points");
    bool fits = reader.at != NULL;
    for (uint64_t k = 0; k < head.known && fits; k++)
        fits = ergo_point_take(stored->result, stored->progress, &reader);
    if (!fits || reader.rest)
        status = ergo_stored_damaged(stored, file, "points");
    ergo_blobs_free(&blobs);
    stored->seconds = fmax(stored->seconds, head.seconds);
    stored->work_done += head.work_done;
    if (device->name[0]) /* the first file's */
        return status;
    snprintf(device->id, sizeof device->id, "%.23s", head.id);
    snprintf(device->name, sizeof device->name, "%.127s", head.name);
    snprintf(device->platform, sizeof device->platform, "%.127s", head.platform);
    snprintf(device->driver, sizeof device->driver, "%.127s", head.driver);
    return status;
}

enum ergo_status ergo_stored_read(struct ergo_stored *stored) {
    struct head head;
    enum ergo_status status = read_head(stored, stored->checkpoint, ERGO_CHECKPOINT, &head);
    if (status == ERGO_OK)
        status = ergo_checkpoint_load(stored->ctx, stored->checkpoint, "started",
                                      sizeof stored->result->started, &stored->records);
    if (status != ERGO_OK)
        return status;
    if (!take_started(stored))
        return ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the time of its start");
    stored->files = (struct ergo_rank_files){head.generation, head.ranks};
    stored->progress = calloc(stored->result->n_members, sizeof *stored->progress);
    if (!stored->progress)
        return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for %zu points",
                         stored->result->n_members);
    stored->n_progress = stored->result->n_members;
    return each_file(stored, read_points);
}

static enum ergo_status read_states(struct ergo_stored *stored,
                                    const struct ergo_checkpoint *checkpoint, const char *file) {
    struct ergo_blobs blobs = {0};
    enum ergo_status status =
        ergo_checkpoint_load(stored->ctx, checkpoint, "states", (uint64_t)ergo_memory(), &blobs);
    struct ergo_reader reader = ergo_reader_of(&blobs, "states");
    char *record = blobs.count ? blobs.blobs[0].data : NULL; /* there is no other one */
    bool fits = true;
    while (reader.rest && fits)
        fits = ergo_point_take_state(stored->result, stored->progress, &reader, &record);
    if (blobs.count)
        blobs.blobs[0].data = record;
    if (!fits)
        status = ergo_stored_damaged(stored, file, "the state of a point");
    ergo_blobs_free(&blobs);
    return status;
}

/* With a step that does not belong to the state a run would go on as another chain, without anyone
 * noticing: a chain on its way has the state of its step, or is refused. */
enum ergo_status ergo_stored_read_states(struct ergo_stored *stored) {
    const struct ergo_result *result = stored->result;
    enum ergo_status status = each_file(stored, read_states);
    for (size_t i = 0; i < result->n_members && status == ERGO_OK; i++) {
        const struct ergo_point_progress *p = &stored->progress[i];
        if (p->step && !p->state && p->step < ergo_schedule_of(result->members[i].point).total)
            status = ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the state of a point");
    }
    return status;
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
