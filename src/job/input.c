/* Files that a job names. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job/input.h"

const char *ergo_input_path(const struct ergo_point *point, const struct ergo_key *key) {
    if (!(key->flags & ERGO_KEY_FILE) || !ergo_point_value(point, key->pointer)->present)
        return NULL;
    const char *text = ergo_point_text(point, key->pointer);
    return key->flags & ERGO_KEY_WORD && !strpbrk(text, "./") ? NULL : text;
}

enum ergo_status ergo_input_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const char *pointer, size_t limit, char **text, size_t *length) {
    const struct ergo_job_files *kept = &point->job->files;
    const char *path = ergo_point_text(point, pointer);
    *text = NULL;
    *length = 0;
    for (size_t i = 0; i < kept->count; i++) {
        const struct ergo_job_file *file = &kept->files[i];
        if (strcmp(file->pointer, pointer) != 0)
            continue;
        *text = malloc(file->length + 1);
        if (!*text)
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the %zu bytes of %s", file->length,
                             path);
        memcpy(*text, file->text, file->length + 1);
        *length = file->length;
        return ERGO_OK;
    }
    return kept->all ? ERGO_FAIL(ctx, ERGO_E_IO, "%s: the checkpoint does not hold the file %s",
                                 pointer, path)
                     : ergo_file_read(ctx, NULL, path, limit, text, length);
}
