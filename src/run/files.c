/* Files that a chain depends on (ERGO_KEY_FILE): a checkpoint knows what was in them, so that no
 * run goes on with other fields or couplings than it began with. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "run/run.h"

enum { HASHES = ERGO_RUN_FILES };
struct file_hash {
    const char *pointer, *path;
    uint64_t hash;
};

/* Of the job's first point: such keys are not scanned. */
static enum ergo_status hash_files(struct ergo_run *run, struct file_hash of[HASHES], size_t *n) {
    const struct ergo_sampler_info *info = run->sampler->info;
    const struct ergo_point *point = &run->job->points[0];
    enum ergo_status status = ERGO_OK;
    *n = 0;
    for (size_t k = 0; k < info->n_keys && *n < HASHES && status == ERGO_OK; k++) {
        const struct ergo_key *key = &info->keys[k];
        char *text = NULL;
        size_t length = 0;
        if (!(key->flags & ERGO_KEY_FILE) || !ergo_point_value(point, key->pointer)->present)
            continue;
        struct file_hash *file = &of[(*n)++];
        file->pointer = key->pointer;
        file->path = ergo_point_text(point, key->pointer);
        status = ergo_file_read(run->ctx, file->path, (size_t)1 << 36, &text, &length);
        file->hash = status == ERGO_OK ? ergo_hash64(text, length) : 0;
        free(text);
    }
    return status;
}

static void note(struct ergo_run *run, const struct file_hash of[HASHES], size_t n) {
    for (size_t i = 0; i < n; i++)
        run->files[i] = of[i].hash;
    run->n_files = n;
}

enum ergo_status ergo_run_note_files(struct ergo_run *run) {
    struct file_hash of[HASHES];
    size_t n = 0;
    const enum ergo_status status = hash_files(run, of, &n);
    note(run, of, n);
    return status;
}

bool ergo_run_add_files(const struct ergo_run *run, struct ergo_blobs *blobs) {
    return ergo_blobs_add(blobs, "files", run->files, run->n_files * sizeof run->files[0]);
}

enum ergo_status ergo_run_check_files(struct ergo_run *run) {
    const struct ergo_blob *blob = ergo_blobs_find(&run->restored, "files");
    struct file_hash of[HASHES];
    size_t n = 0;
    enum ergo_status status = hash_files(run, of, &n);
    note(run, of, n);
    for (size_t i = 0; blob && i < n && status == ERGO_OK; i++) {
        uint64_t then = 0;
        if (blob->length >= (i + 1) * sizeof then)
            memcpy(&then, (const char *)blob->data + i * sizeof then, sizeof then);
        if (then != of[i].hash)
            status =
                ERGO_FAIL(run->ctx, ERGO_E_IO,
                          "%s: %s is not the file with which the run in %s began: its contents "
                          "have changed. Put it back, or begin anew by `ergocl run`",
                          of[i].pointer, of[i].path, run->folder);
    }
    return status;
}
