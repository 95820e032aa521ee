/*
 * Files. Every file is written whole to a temporary name beside its target, synced and renamed:
 * a kill at any moment leaves the old file or the new one. Errors name the file and the reason.
 * file.c: files; folders.c: the folders they are in.
 */
#ifndef ERGO_IO_IO_H
#define ERGO_IO_IO_H

#include "core/error.h"
#include "core/text.h"
#include "run/result.h"

/* A folder that is open. What is in it may be from anybody: files in it are found from the
 * descriptor, by their names, and no symbolic link is followed. */
struct ergo_folder {
    int fd;     /* -1: not open */
    char *path; /* for messages */
};
enum ergo_status ergo_folder_open(struct ergo_context *ctx, const char *path,
                                  struct ergo_folder *folder);
/* Also one that was never opened. */
void ergo_folder_close(struct ergo_folder *folder);
/* A folder in it, made where there is none. */
enum ergo_status ergo_folder_inner(struct ergo_context *ctx, const struct ergo_folder *outer,
                                   const char *name, struct ergo_folder *inner);
/* Refuses what is of this name and no folder. */
enum ergo_status ergo_folder_check(struct ergo_context *ctx, const struct ergo_folder *outer,
                                   const char *name);
/* A file's path for messages, malloc'ed; `in` may be NULL. */
char *ergo_folder_path(const struct ergo_folder *in, const char *name);
/* "path/name", malloc'ed, for a run of its own in the user's folder `path`: refused as above. */
enum ergo_status ergo_folder_within(struct ergo_context *ctx, const char *path, const char *name,
                                    char **inner);
bool ergo_folder_has(const struct ergo_folder *folder, const char *name);
/* Exclusive lock (flock on its file `lock`); held by *fd until closed. A folder in use is ERGO_E_IO
 * that says so. */
enum ergo_status ergo_folder_lock(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  int *fd);
/* open() of a folder, also of one that may be written but not read; flags: O_NOFOLLOW or 0. */
int ergo_folder_descriptor(int at, const char *path, int flags);
extern const char ergo_folder_no_link[]; /* why a symbolic link is refused */

/* `in` NULL: `name` is a path that the user has chosen. There links are followed as by cp, and what
 * is no regular file (a terminal, a pipe) is written to instead of replaced. */
enum ergo_status ergo_file_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                 const char *name, const void *data, size_t length);
/* The same for contents in pieces, one after the other: what is large need not be copied together.
 */
struct ergo_piece {
    const void *data;
    size_t length;
};
enum ergo_status ergo_file_write_pieces(struct ergo_context *ctx, const struct ergo_folder *in,
                                        const char *name, const struct ergo_piece *pieces,
                                        size_t count);
/* Open for reading a regular file, nothing else; -1 after an error. */
enum ergo_status ergo_file_open(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, int *fd, uint64_t *size);
/* *data is malloc'ed and has a terminating zero beyond length. limit: refuse larger files. */
enum ergo_status ergo_file_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, size_t limit, char **data, size_t *length);
/* mkdir -p, of a path that the user has chosen. */
enum ergo_status ergo_folder_create(struct ergo_context *ctx, const char *path);
/* "folder/name", malloc'ed; NULL when memory ran out. */
char *ergo_path_join(const char *folder, const char *name);

/* The file that a key names at a point; NULL: none. */
const char *ergo_input_path(const struct ergo_point *point, const struct ergo_key *key);
/* What is in it, as by ergo_file_read; from the job's memory where it is kept. */
enum ergo_status ergo_input_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const char *pointer, size_t limit, char **text, size_t *length);

enum ergo_status ergo_png_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                const char *name, const struct ergo_picture *picture);
/* PNG of a picture in memory (for data: URLs). */
enum ergo_status ergo_png_encode(struct ergo_context *ctx, const struct ergo_picture *picture,
                                 struct ergo_text *png);

/* Averages over /output/blocks blocks of measurements: DIR/blocks/pPOINT.dat, and for series.h5. */
size_t ergo_blocks_count(const struct ergo_member_result *member); /* 0: none */
double ergo_blocks_mean(const struct ergo_model *model,
                        const struct ergo_member_result *member,
                        const struct ergo_observable *observable, size_t block);
enum ergo_status ergo_result_write_blocks(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

/* DIR/result.json, DIR/series.h5, DIR/report.html, DIR/configurations.png, DIR/snapshots. */
enum ergo_status ergo_result_write_json(struct ergo_context *ctx, const struct ergo_folder *folder,
                                        const struct ergo_result *result);
enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);
enum ergo_status ergo_result_write_report(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);
enum ergo_status ergo_result_write_pictures(struct ergo_context *ctx,
                                            const struct ergo_folder *folder,
                                            const struct ergo_result *result);

/* The file from which a run goes on and is reported; and of earlier versions, which is not read any
 * more. */
#define ERGO_CHECKPOINT "checkpoint"
#define ERGO_CHECKPOINT_OLD "checkpoint.h5"

/*
 * checkpoint.c: named blobs in one file, each with its length and SHA-256. Nothing is allocated for
 * a record that is longer than its reader allows, and nothing of a damaged one is handed out. A
 * file may have been made by anyone: what is in a record is checked by who reads it.
 */
struct ergo_blob {
    char name[32];
    void *data; /* a zero is behind its end */
    size_t length;
};
struct ergo_blobs {
    size_t count, capacity;
    struct ergo_blob *blobs;
};
bool ergo_blobs_add(struct ergo_blobs *blobs, const char *name, const void *data, size_t length);
/* The same without a copy: malloc'ed data, which are freed at a failure, too. NULL: a failure. */
bool ergo_blobs_take(struct ergo_blobs *blobs, const char *name, void *data, size_t length);
const struct ergo_blob *ergo_blobs_find(const struct ergo_blobs *blobs, const char *name);
void ergo_blobs_free(struct ergo_blobs *blobs);
enum ergo_status ergo_checkpoint_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                       const char *name, const struct ergo_blobs *blobs);

/* The head is read, and records when they are asked for. names: those that there may be,
 * NULL-terminated; a file with another one is refused. NULL: any. */
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
/* All records of a file; `most`: of each. */
enum ergo_status ergo_checkpoint_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                      const char *name, uint64_t most, struct ergo_blobs *blobs);

/* vti.c: sites of a lattice (x fastest) as VTK image data, one cell each, values below 256, as
 * text. */
void ergo_vti_append(struct ergo_text *text, const uint64_t size[3], const char *name,
                     const uint8_t *sites);

#endif
