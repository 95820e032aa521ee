/*
 * A run as records of its checkpoint, and back. Integers and doubles are little-endian as in memory
 * (a big-endian host is refused by the device layer). A checkpoint may have been written by anyone:
 * nothing in it is used unchecked, and it takes no more memory than the job's own results could
 * need, and for states no more than the machine has.
 *
 *     job, name, started, files, part     what the run is
 *     head      how many points are known, how long it took, and the device
 *     points    of each known point: where it stands, series, estimators, curves, pictures
 *     states    of each the state in which it goes on, or has ended
 *
 * The file of a run has all of these. Where points are spread over ranks it is an index: without
 * points, and each rank's file beside it has the head and what that rank knows. Of each point the
 * record that is furthest counts. So a run is read in the same way however it was divided.
 *
 *     store.c          files: written, read, looked at
 *     store_points.c   single points, for files and for other ranks; and points put back
 *     carry.c          what a run has, into one that goes further
 *     unite.c          what a part of a run has, into the whole
 */
#ifndef ERGO_RESULT_STORE_H
#define ERGO_RESULT_STORE_H

#include <string.h>

#include "result/checkpoint.h"
#include "result/result.h"

/* Takes bytes off the front; NULL: it has fewer. */
struct ergo_reader {
    const char *at;
    size_t rest;
};

static inline const void *ergo_reader_take(struct ergo_reader *reader, uint64_t length) {
    if (!reader->at || length > reader->rest)
        return NULL;
    const void *at = reader->at;
    reader->at += length;
    reader->rest -= (size_t)length;
    return at;
}

/* Where a point stands in its checkpoint; and there its state, unless it is at step 0 or at the end
 * (there it is the member's). */
struct ergo_point_progress {
    uint64_t step, samples;
    char *state; /* owned */
    uint64_t length;
    bool ours;  /* done or begun by this rank, in this session */
    char *mark; /* owned; ergo_point_mark */
    uint64_t mark_length;
};

/* Files of ranks have the generation and the rank in their names. ranks 0: one file has all. */
struct ergo_rank_files {
    uint64_t generation, ranks;
};

/* What a checkpoint says. */
struct ergo_stored {
    struct ergo_context *ctx;
    const struct ergo_folder *folder;
    struct ergo_checkpoint *checkpoint;
    struct ergo_blobs records;  /* of it: what the run is */
    struct ergo_result *result; /* owned, until it is taken */
    double seconds, work_done;  /* of sampling so far */
    struct ergo_rank_files files;
    struct ergo_point_progress *progress; /* owned, until it is taken, [n_progress] */
    size_t n_progress;                    /* as many as points; the result may be gone first */
};

/* Open the folder of a run that went on or ended; `otherwise`: what to say where there is none. */
enum ergo_status ergo_stored_find(struct ergo_context *ctx, const char *directory,
                                  const char *otherwise, struct ergo_folder *folder);
/* Open its checkpoint: the job, parsed, and an empty result. To be closed also after a failure. */
enum ergo_status ergo_stored_open(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  struct ergo_stored *stored);
/* All but states; and these, where they are needed. */
enum ergo_status ergo_stored_read(struct ergo_stored *stored);
enum ergo_status ergo_stored_read_states(struct ergo_stored *stored);
/* From here on as the checkpoint of `job`, which goes further (ergo_job_extends) and is taken.
 * Before that states have been read. *renumbered: points have other numbers now. ERGO_E_JOB with
 * the key and the reason where that is not possible. */
enum ergo_status ergo_stored_extend(struct ergo_stored *stored, struct ergo_job *job,
                                    bool *renumbered);
/* Adds what a part of a run has to the whole result. Points that are in both, as two parts may have
 * them, agree to the bit; else ERGO_E_AUDIT with the point and both folders. sources: [n_members],
 * the folder that each point is from. */
enum ergo_status ergo_stored_unite(struct ergo_stored *part, struct ergo_result *whole,
                                   struct ergo_point_progress *progress, const char **sources);
/* The checkpoint and its records are not needed any more; the rest stays. */
void ergo_stored_forget(struct ergo_stored *stored);
void ergo_stored_close(struct ergo_stored *stored);
/* ERGO_E_IO: `what` in this file of the folder does not fit the job. */
enum ergo_status ergo_stored_damaged(const struct ergo_stored *stored, const char *file,
                                     const char *what);

/* The records of a file. progress NULL: an index; else all that is known of points, whose states
 * stay only where points are spread over ranks. False: out of memory. */
bool ergo_stored_add(const struct ergo_result *result, struct ergo_point_progress *progress,
                     struct ergo_rank_files files, double seconds, double work_done,
                     struct ergo_blobs *blobs);
void ergo_stored_rank_file(char *name, size_t size, uint64_t generation, uint64_t rank);

/* ---- store_points.c ---------------------------------------------------------------------------
 */

/* What is known of point i; and its state. */
void ergo_point_append(const struct ergo_result *result, const struct ergo_point_progress *progress,
                       size_t i, struct ergo_text *text);
void ergo_point_append_state(const struct ergo_result *result,
                             const struct ergo_point_progress *progress, size_t i,
                             struct ergo_text *text);
/* The same of a state that is not needed any more: the first becomes the text without a copy. */
void ergo_point_give_state(const struct ergo_result *result, struct ergo_point_progress *progress,
                           size_t i, struct ergo_text *text);
/* From there, kept where it is further than what is known already. False: it does not fit the job,
 * or there is no memory. */
bool ergo_point_take(struct ergo_result *result, struct ergo_point_progress *progress,
                     struct ergo_reader *reader);
/* The same of a state: kept where it is missing. *record: the memory that is read, or NULL; it is
 * taken, and NULL then, where it holds nothing else, as two copies of a large state are too much.
 */
bool ergo_point_take_state(struct ergo_result *result, struct ergo_point_progress *progress,
                           struct ergo_reader *reader, char **record);
/* Both, for another rank; and from there. */
void ergo_point_pack(const struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i, struct ergo_text *text);
bool ergo_points_unpack(struct ergo_result *result, struct ergo_point_progress *progress,
                        const char *data, size_t length);
/* Bytes that points of a job have at most. */
double ergo_points_most(const struct ergo_result *result);

/* Could a run have that curve? Otherwise memory would be read out of bounds. With that many samples
 * in bins of that length: bins are indexed by these, and two bins became one when all were full. A
 * sample adds one to a curve; with realisations, at the end of the run (curves_at_end), it may add
 * more. */
bool ergo_point_curve_fits(const struct ergo_model *model, size_t c, uint64_t count,
                           uint64_t length, uint64_t n_samples);

/* Notes what has been measured of point i, which is at its progress now; and from there, puts it
 * back to that progress (at step 0 without a mark, too), whatever it has measured since. False: out
 * of memory. */
bool ergo_point_mark(const struct ergo_result *result, struct ergo_point_progress *progress,
                     size_t i);
bool ergo_point_back(struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i);
/* Its state is not needed any more. Back to the beginning; and frees that of n points, with what it
 * owns; NULL-safe. */
void ergo_progress_drop_state(struct ergo_point_progress *progress);
void ergo_progress_forget(struct ergo_point_progress *progress);
void ergo_progress_free(struct ergo_point_progress *progress, size_t n);

static inline bool ergo_reader_copy(struct ergo_reader *reader, void *to, uint64_t length) {
    const void *from = ergo_reader_take(reader, length);
    if (from && length)
        memcpy(to, from, (size_t)length);
    return from != NULL;
}

static inline struct ergo_reader ergo_reader_of(const struct ergo_blobs *blobs, const char *name) {
    const struct ergo_blob *blob = ergo_blobs_find(blobs, name);
    return blob ? (struct ergo_reader){blob->data, blob->length} : (struct ergo_reader){NULL, 0};
}

#endif
