/* Files that a job names. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "job/input.h"

/* The file that a key names at a point; NULL: none. */
static const char *ergo_input_path(const struct ergo_point *point, const struct ergo_key *key) {
    if (!(key->flags & ERGO_KEY_FILE) || !ergo_point_value(point, key->pointer)->present)
        return NULL;
    const char *text = ergo_point_text(point, key->pointer);
    return key->flags & ERGO_KEY_WORD && !strpbrk(text, "./") ? NULL : text;
}

const char *ergo_input_name(const struct ergo_point *point, const char *pointer) {
    return ergo_point_text(point, pointer);
}

/* Reads a file, from any editor and system. */
static enum ergo_status read_file(struct ergo_context *ctx, const char *path, size_t limit,
                                  char **text, size_t *length) {
    const enum ergo_status status = ergo_file_read(ctx, NULL, path, limit, text, length);
    if (status == ERGO_OK)
        *length = ergo_text_plain(*text, *length);
    return status;
}

enum ergo_status ergo_input_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const char *pointer, size_t limit, char **text, size_t *length) {
    const struct ergo_job_file *file = ergo_job_files_find(&point->job->files, pointer);
    const char *path = ergo_input_name(point, pointer);
    *text = file ? malloc(file->length + 1) : NULL;
    *length = *text ? file->length : 0;
    if (*text)
        memcpy(*text, file->text, file->length + 1);
    if (file)
        return *text ? ERGO_OK
                     : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the %zu bytes of %s",
                                 file->length, path);
    return ergo_error_at(
        ctx,
        point->job->files.all
            ? ERGO_FAIL(ctx, ERGO_E_IO, "the checkpoint does not hold the file %s", path)
            : read_file(ctx, path, limit, text, length),
        pointer);
}

/* More than that is no input. */
#define FILE_MOST ((size_t)1 << 36)

enum ergo_status ergo_input_keep(struct ergo_context *ctx, struct ergo_job *job) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < job->n_keys && status == ERGO_OK; k++) {
        /* such keys are not scanned */
        const char *path = ergo_input_path(&job->points[0], job->keys[k]);
        char *text = NULL;
        size_t length = 0;
        if (!path)
            continue;
        status = read_file(ctx, path, FILE_MOST, &text, &length);
        if (status == ERGO_OK &&
            !ergo_job_files_add(&job->files, job->keys[k]->pointer, text, length))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", path);
        ergo_error_at(ctx, status, job->keys[k]->pointer);
        free(text);
    }
    return status;
}
