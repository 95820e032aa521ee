/* Files that a chain depends on (ERGO_KEY_FILE) are read once. They are part of the checkpoint: a run
 * goes on, and is reported, with what it began with, and opens no other file. */
#include <string.h>

#include "io/io.h"
#include "run/run.h"

#define FILE_MOST ((size_t)1 << 36)

/* The next key, from `k` on, that names a file; NULL: there is none. Such keys are not scanned. */
static const struct ergo_key *next_file(const struct ergo_job *job, size_t *k) {
    const struct ergo_sampler_info *info = job->sampler->info;
    while (*k < info->n_keys) {
        const struct ergo_key *key = &info->keys[(*k)++];
        if (ergo_input_path(&job->points[0], key))
            return key;
    }
    return NULL;
}

enum ergo_status ergo_run_keep_files(struct ergo_run *run) {
    struct ergo_job *job = run->job;
    const struct ergo_key *key = NULL;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; status == ERGO_OK && (key = next_file(job, &k)) != NULL;) {
        struct ergo_job_file file = {.key = key};
        if (job->n_files == ERGO_JOB_FILES)
            return ERGO_FAIL(run->ctx, ERGO_E_INTERNAL, "a job with more than %d files",
                             ERGO_JOB_FILES);
        status = ergo_file_read(run->ctx, NULL, ergo_input_path(&job->points[0], key), FILE_MOST,
                                &file.text, &file.length);
        if (status == ERGO_OK)
            job->files[job->n_files++] = file;
    }
    return status;
}

/* In the order of the keys, each with its length before it. */
bool ergo_run_add_files(const struct ergo_run *run, struct ergo_blobs *blobs) {
    struct ergo_text text = {0};
    for (size_t i = 0; i < run->job->n_files; i++) {
        const struct ergo_job_file *file = &run->job->files[i];
        const uint64_t length = file->length;
        ergo_text_append_bytes(&text, &length, sizeof length);
        ergo_text_append_bytes(&text, file->text, file->length);
    }
    const bool ok =
        !text.failed && ergo_blobs_add(blobs, "files", text.data ? text.data : "", text.length);
    ergo_text_free(&text);
    return ok;
}

enum ergo_status ergo_run_restore_files(struct ergo_run *run, struct ergo_job *job) {
    const struct ergo_blob *blob = ergo_blobs_find(&run->restored, "files");
    const char *at = blob ? blob->data : NULL;
    size_t rest = blob ? blob->length : 0;
    const struct ergo_key *key = NULL;
    job->stored = true;
    for (size_t k = 0; (key = next_file(job, &k)) != NULL && job->n_files < ERGO_JOB_FILES;) {
        struct ergo_text text = {0};
        uint64_t length = 0;
        if (rest < sizeof length)
            break; /* not in it: whoever needs it says so */
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        rest -= sizeof length;
        if (length > rest)
            return ERGO_FAIL(run->ctx, ERGO_E_IO, "%s/" ERGO_CHECKPOINT ": %s is cut short",
                             run->folder.path, key->pointer);
        ergo_text_append_bytes(&text, at, (size_t)length);
        at += length;
        rest -= (size_t)length;
        struct ergo_job_file *file = &job->files[job->n_files];
        *file = (struct ergo_job_file){.key = key, .length = (size_t)length};
        if (!text.failed)
            file->text = ergo_text_take(&text);
        ergo_text_free(&text);
        if (!file->text)
            return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the %zu bytes of %s",
                             file->length, key->pointer);
        job->n_files++;
    }
    return ERGO_OK;
}
