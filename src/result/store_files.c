/* Files that a chain depends on (ERGO_KEY_FILE) are read once and become part of the checkpoint. A
 * resume and a report use these contents and open no other file. */
#include <string.h>

#include "result/store.h"

/* Before each pointer and text in the checkpoint. */
struct head {
    uint64_t pointer, text;
};

bool ergo_stored_add_files(const struct ergo_job *job, struct ergo_blobs *blobs) {
    const struct ergo_job_files *kept = &job->files;
    struct ergo_text all = {0};
    for (size_t i = 0; i < kept->count; i++) {
        const struct ergo_job_file *file = &kept->files[i];
        const struct head head = {strlen(file->pointer), file->length};
        ergo_text_append_bytes(&all, &head, sizeof head);
        ergo_text_append_bytes(&all, file->pointer, (size_t)head.pointer);
        ergo_text_append_bytes(&all, file->text, file->length);
    }
    const bool ok =
        !all.failed && ergo_blobs_add(blobs, "files", all.data ? all.data : "", all.length);
    ergo_text_free(&all);
    return ok;
}

enum ergo_status ergo_stored_read_files(struct ergo_stored *stored, struct ergo_job_files *files) {
    const struct ergo_blob *blob = ergo_blobs_find(&stored->records, "files");
    const char *at = blob ? blob->data : NULL;
    size_t rest = blob ? blob->length : 0;
    while (rest) {
        char pointer[256] = "";
        struct head head;
        if (rest < sizeof head)
            break;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        rest -= sizeof head;
        if (head.pointer >= sizeof pointer || head.pointer > rest ||
            head.text > rest - head.pointer)
            break;
        memcpy(pointer, at, (size_t)head.pointer);
        if (!ergo_job_files_add(files, pointer, at + head.pointer, (size_t)head.text))
            return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for the file of %s", pointer);
        at += head.pointer + head.text;
        rest -= (size_t)(head.pointer + head.text);
    }
    return rest ? ERGO_FAIL(stored->ctx, ERGO_E_IO,
                            "%s/" ERGO_CHECKPOINT ": its input files are damaged",
                            stored->folder->path)
                : ERGO_OK;
}
