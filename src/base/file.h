/*
 * Files. Every file is written whole to a temporary name beside its target, synced and renamed:
 * a kill at any moment leaves the old file or the new one. Errors name the file and the reason.
 * file.c: files; folders.c: the folders they are in.
 */
#ifndef ERGO_BASE_FILE_H
#define ERGO_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An open folder. Its contents may be from anybody: files in it are opened relative to the
 * descriptor, by their names, and no symbolic link is followed. */
struct ergo_folder {
    int fd;     /* -1: not open */
    char *path; /* for messages */
};
enum ergo_status ergo_folder_open(struct ergo_context *ctx, const char *path,
                                  struct ergo_folder *folder);
/* May be called for a folder that was never opened. */
void ergo_folder_close(struct ergo_folder *folder);
/* A folder inside a folder; made if it does not exist. */
enum ergo_status ergo_folder_inner(struct ergo_context *ctx, const struct ergo_folder *outer,
                                   const char *name, struct ergo_folder *inner);
/* Refuses anything of this name that is not a folder. */
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

/* `in` NULL: `name` is a path that the user has chosen. Its links are followed as by cp, and
 * anything that is not a regular file (a terminal, a pipe) is written to instead of replaced; "-"
 * is stdout, of which main says whether it could be written. */
enum ergo_status ergo_file_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                 const char *name, const void *data, size_t length);
/* A file that others than this program write, or that is written in pieces: a new file beside
 * `name`, open for reading and writing, which `finish` syncs and puts in its place, or removes
 * where `status` is a failure. The status of both. */
struct ergo_new_file {
    int fd;
    char *temporary; /* its name until then; owned */
};
enum ergo_status ergo_file_begin(struct ergo_context *ctx, const struct ergo_folder *in,
                                 const char *name, struct ergo_new_file *file);
enum ergo_status ergo_file_finish(struct ergo_context *ctx, const struct ergo_folder *in,
                                  const char *name, struct ergo_new_file *file,
                                  enum ergo_status status);
/* Refuses a path where something is already, unless `overwrite`. */
enum ergo_status ergo_file_may_write(struct ergo_context *ctx, const char *path, bool overwrite);
/* The same for contents in pieces, one after the other, so that large contents need no copy. */
struct ergo_piece {
    const void *data;
    size_t length;
};
enum ergo_status ergo_file_write_pieces(struct ergo_context *ctx, const struct ergo_folder *in,
                                        const char *name, const struct ergo_piece *pieces,
                                        size_t count);
/* Open a regular file for reading, and nothing else; -1 after an error. */
enum ergo_status ergo_file_open(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, int *fd, uint64_t *size);
/* The same for reading and writing in place, of a file with this one name. */
enum ergo_status ergo_file_update(struct ergo_context *ctx, const struct ergo_folder *in,
                                  const char *name, int *fd, uint64_t *size);
/* All of `length` bytes at `offset`; false with errno, which is 0 beyond the end of the file. */
bool ergo_file_read_at(int fd, uint64_t offset, void *data, size_t length);
bool ergo_file_write_at(int fd, uint64_t offset, const void *data, size_t length);
/* To the disk; false with errno. */
bool ergo_file_sync(int fd);
/* *data is malloc'ed and has a terminating zero beyond length. limit: refuse larger files. */
enum ergo_status ergo_file_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, size_t limit, char **data, size_t *length);
/* mkdir -p, of a path that the user has chosen. */
enum ergo_status ergo_folder_create(struct ergo_context *ctx, const char *path);
/* "folder/name", malloc'ed; NULL when memory ran out. */
char *ergo_path_join(const char *folder, const char *name);
/* The first of `places`, relative to this program's folder, that exists with access `mode`,
 * malloc'ed; NULL: none, or the program's own place is unknown. */
char *ergo_path_beside(const char *const *places, size_t count, int mode);

#endif
