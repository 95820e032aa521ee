/*
 * configurations.h5: configurations of all chains of a run, packed as models have them
 * (/output/configurations_every).
 *
 * All frames have their place in the file from the beginning, in contiguous datasets, so that a
 * frame is bytes at an offset: nothing of HDF5's own moves while a run writes, also from several
 * ranks, and a kill leaves a whole file. A frame that is not written yet has step -1. What is
 * written again after a resume is the same bytes in the same place. A block before HDF5's (its user
 * block) says as text where the datasets are, so no file from others is read by HDF5.
 *
 *     configurations.c         layout, reading, writing
 *     configurations_copy.c    frames of one file into another
 *     configurations_head.c    the block of text
 *     configurations_create.c  a new file, by HDF5
 */
#ifndef ERGO_RESULT_CONFIGURATIONS_H
#define ERGO_RESULT_CONFIGURATIONS_H

#include "base/file.h"
#include "job/model.h"
#include "job/schedule.h"

#define ERGO_CONFIGURATIONS "configurations.h5"

/* Points of a batch: arrays [points, frames, ...]. */
struct ergo_frames_group {
    uint64_t points, frames;
    uint64_t stream, step; /* offsets in the file: [points], [points, frames], 8 bytes each */
    size_t n_parts;
    struct ergo_frames_part {
        uint64_t offset, bytes; /* bytes of a frame */
    } parts[ERGO_FORM_PARTS];
};

struct ergo_configurations {
    const struct ergo_job *job; /* NULL: as the file says */
    struct ergo_frame_times times;
    uint64_t identity; /* of points, their lengths, and times of frames */
    size_t n_groups;
    struct ergo_frames_group *groups; /* owned */
    struct ergo_form *forms;          /* [groups], owned; of a job */
    struct ergo_frames_place {
        size_t group, at;
    } * places; /* [points of the job], owned */
    char *head; /* owned, with a zero behind it; NULL: of no file yet */
    size_t head_length;
};

bool ergo_configurations_wanted(const struct ergo_job *job);
/* Zero-initialised, they may be freed at any time. */
void ergo_configurations_free(struct ergo_configurations *c);

/* The file of a job in a run folder: made if it is not there; one of the same run before it was
 * extended is made anew with its frames. make false: it has to be there. */
enum ergo_status ergo_configurations_prepare(struct ergo_context *ctx,
                                             const struct ergo_folder *folder,
                                             const struct ergo_job *job, bool make,
                                             struct ergo_configurations *c);
/* Is the file in the folder still the one that was prepared? *fd: open. */
bool ergo_configurations_open(const struct ergo_configurations *c, struct ergo_context *ctx,
                              const struct ergo_folder *folder, int *fd);
/* Frame k of a point: what of its state is a configuration, then the step. */
enum ergo_status ergo_configurations_write(const struct ergo_configurations *c,
                                           struct ergo_context *ctx, int fd, size_t point, size_t k,
                                           uint64_t step, const void *state, size_t length);
/* Frames of another folder's file, of the same chains and steps, that are not here yet. */
enum ergo_status ergo_configurations_copy(const struct ergo_configurations *c,
                                          struct ergo_context *ctx, int fd,
                                          const struct ergo_folder *from);
/* Frames that are not there. */
enum ergo_status ergo_configurations_missing(const struct ergo_configurations *c,
                                             struct ergo_context *ctx, int fd, uint64_t *missing);
/* A state made of frame k of a point, malloc'ed. ERGO_E_JOB at /start/frame where it is not there;
 * folder: for messages. */
enum ergo_status ergo_configurations_state(const struct ergo_configurations *c,
                                           struct ergo_context *ctx, int fd, const char *folder,
                                           const struct ergo_point *point, uint64_t k, char **state,
                                           size_t *length);

/* ---- between the files of this module ---------------------------------------------------------
 */

enum ergo_status ergo_configurations_no_memory(struct ergo_context *ctx);
/* By errno; 0: a file that ends too early. */
enum ergo_status ergo_configurations_cannot(struct ergo_context *ctx, const char *what);
/* The step after which frame k of a point is taken. */
uint64_t ergo_configurations_step(const struct ergo_configurations *c,
                                  const struct ergo_point *point, size_t k);
/* Have frames the same arrays? */
bool ergo_configurations_alike(const struct ergo_frames_group *a,
                               const struct ergo_frames_group *b);
/* The streams and steps of a group, malloc'ed also after a failure. */
enum ergo_status ergo_configurations_steps(struct ergo_context *ctx, int fd,
                                           const struct ergo_frames_group *group,
                                           uint64_t **streams, int64_t **steps);
/* Frames of `other`, which is open as `from`, that are not here yet. */
enum ergo_status ergo_configurations_copy_all(const struct ergo_configurations *c,
                                              struct ergo_context *ctx, int fd,
                                              const struct ergo_configurations *other, int from);
/* HDF5 makes the file in `fd`, whose name is for messages; offsets and the head are set. */
enum ergo_status ergo_configurations_create(struct ergo_context *ctx, const char *name, int fd,
                                            struct ergo_configurations *c);
/* Bytes that the head may take; a power of two. */
size_t ergo_configurations_head_room(const struct ergo_configurations *c);
/* From offsets to text, and back; false: no memory. */
bool ergo_configurations_put_head(struct ergo_configurations *c);
/* ERGO_E_IO: it is no such file, or damaged. */
enum ergo_status ergo_configurations_read_head(struct ergo_context *ctx, const char *name, int fd,
                                               uint64_t size, struct ergo_configurations *c);

#endif
