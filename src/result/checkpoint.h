/* Checkpoints: files of named blobs. */
#ifndef ERGO_RESULT_CHECKPOINT_H
#define ERGO_RESULT_CHECKPOINT_H

#include "base/file.h"
#include "base/text.h"

/* The file from which a run is resumed and reported; and that of earlier versions, which is not
 * read any more. */
#define ERGO_CHECKPOINT "checkpoint"
#define ERGO_CHECKPOINT_OLD "checkpoint.h5"

/* The checksum of a record, for make-believe files of tests too; false: no memory. */
enum { ERGO_CHECKPOINT_PIECE = 1 << 20 };
bool ergo_checkpoint_sum(const void *data, size_t length, uint8_t sha[32]);

/*
 * Named blobs in one file, each with its length and SHA-256. Nothing is allocated for
 * a record that is longer than its reader allows, and a damaged record is never handed out. A file
 * may have been made by anyone: the reader of a record checks its contents.
 */
struct ergo_blob {
    char name[32];
    void *data; /* a zero is behind its end */
    size_t length;
    uint8_t sha[32]; /* once `summed` */
    bool summed;
};
struct ergo_blobs {
    size_t count, capacity;
    struct ergo_blob *blobs;
};
bool ergo_blobs_add(struct ergo_blobs *blobs, const char *name, const void *data, size_t length);
/* The same without a copy: takes malloc'ed data, and frees them at a failure, too. NULL: a failure.
 */
bool ergo_blobs_take(struct ergo_blobs *blobs, const char *name, void *data, size_t length);
const struct ergo_blob *ergo_blobs_find(const struct ergo_blobs *blobs, const char *name);
void ergo_blobs_free(struct ergo_blobs *blobs);
/* Their checksums, by all cores; ergo_checkpoint_write makes those that lack. False: no memory. */
bool ergo_blobs_sum(struct ergo_blobs *blobs);
enum ergo_status ergo_checkpoint_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                       const char *name, struct ergo_blobs *blobs);

/* Reads the head now and records when they are asked for. names: the allowed ones, NULL-terminated;
 * a file with another one is refused. NULL: any. */
struct ergo_checkpoint;
enum ergo_status ergo_checkpoint_open(struct ergo_context *ctx, const struct ergo_folder *in,
                                      const char *name, const char *const *names,
                                      struct ergo_checkpoint **checkpoint);
void ergo_checkpoint_close(struct ergo_checkpoint *checkpoint); /* NULL: nothing */
bool ergo_checkpoint_has(const struct ergo_checkpoint *checkpoint, const char *name);
/* Add a record of at most `most` bytes to blobs; nothing where there is none of this name. */
enum ergo_status ergo_checkpoint_load(struct ergo_context *ctx,
                                      const struct ergo_checkpoint *checkpoint, const char *name,
                                      uint64_t most, struct ergo_blobs *blobs);
/* The name of record i, as they are in the file; NULL: there are no more. */
const char *ergo_checkpoint_name(const struct ergo_checkpoint *checkpoint, size_t i);

#endif
