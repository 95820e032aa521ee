/* What all records share: how they are made, and what cannot be in one. */
#include <stdlib.h>

#include "result/store.h"

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
