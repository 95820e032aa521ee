/* Files that a chain depends on (ERGO_KEY_FILE) are read once. They are part of the checkpoint: a
 * run goes on, and is reported, with what it began with, and opens no other file. */
#include <stdlib.h>
#include <string.h>

#include "job/input.h"
#include "run/run.h"

#define FILE_MOST ((size_t)1 << 36)

enum ergo_status ergo_run_keep_files(struct ergo_run *run) {
    const struct ergo_sampler_info *info = run->sampler->info;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < info->n_keys && status == ERGO_OK; k++) {
        /* such keys are not scanned */
        const char *path = ergo_input_path(&run->job->points[0], &info->keys[k]);
        char *text = NULL;
        size_t length = 0;
        if (!path)
            continue;
        status = ergo_file_read(run->ctx, NULL, path, FILE_MOST, &text, &length);
        if (status == ERGO_OK &&
            !ergo_job_files_add(&run->job->files, info->keys[k].pointer, text, length))
            status = ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for %s", path);
        free(text);
    }
    return status;
}

/* Before each pointer and text in the checkpoint. */
struct head {
    uint64_t pointer, text;
};

bool ergo_run_add_files(const struct ergo_run *run, struct ergo_blobs *blobs) {
    const struct ergo_job_files *kept = &run->job->files;
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

enum ergo_status ergo_run_restore_files(struct ergo_run *run, struct ergo_job_files *files) {
    const struct ergo_blob *blob = ergo_blobs_find(&run->restored, "files");
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
            return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the file of %s", pointer);
        at += head.pointer + head.text;
        rest -= (size_t)(head.pointer + head.text);
    }
    return rest ? ERGO_FAIL(run->ctx, ERGO_E_IO,
                            "%s/" ERGO_CHECKPOINT ": its input files are damaged", run->folder.path)
                : ERGO_OK;
}
