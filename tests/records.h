/* Checkpoints of which a test changes records. */
#ifndef ERGO_TESTS_RECORDS_H
#define ERGO_TESTS_RECORDS_H

#include <string.h>

#include "result/checkpoint.h"

/* All records of a file, whatever their names; `most`: bytes of each. */
static inline enum ergo_status records_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                            const char *name, uint64_t most,
                                            struct ergo_blobs *blobs) {
    struct ergo_checkpoint *checkpoint = NULL;
    const char *record;
    memset(blobs, 0, sizeof *blobs);
    enum ergo_status status = ergo_checkpoint_open(ctx, in, name, NULL, &checkpoint);
    for (size_t i = 0; status == ERGO_OK && (record = ergo_checkpoint_name(checkpoint, i)); i++)
        status = ergo_checkpoint_load(ctx, checkpoint, record, most, blobs);
    if (status != ERGO_OK)
        ergo_blobs_free(blobs);
    ergo_checkpoint_close(checkpoint);
    return status;
}

#endif
