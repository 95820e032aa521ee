/*
 * A run as records of its checkpoint, and back. Integers and doubles are little-endian as in memory
 * (a big-endian host is refused by the device layer). All members share a record of each kind. A
 * checkpoint may have been written by anyone: nothing in it is used unchecked, and it takes no more
 * memory than the job's own results could need.
 *
 *     store.c          the job with its files and where the run stood; a whole checkpoint read
 *     store_members.c  series, curves and pictures
 *     store_states.c   states in which points have ended, or stand
 *     carry.c          what a run has, into one that goes further
 *     unite.c          what a part of a run has, into the whole
 *     store_points.c   single points, which ranks write and send to each other
 *     store_ranks.c    the files of ranks
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

/* Progress of a point; its state, unless it is at step 0 or at the end (there it is the member's).
 */
struct ergo_point_progress {
    uint64_t step, samples;
    char *state; /* owned */
    uint64_t length;
    bool ours;  /* done or begun by this rank, in this session */
    char *mark; /* owned; ergo_point_mark */
    uint64_t mark_length;
};

/* What a checkpoint says. */
struct ergo_stored {
    struct ergo_context *ctx;
    const struct ergo_folder *folder;
    struct ergo_checkpoint *checkpoint;
    struct ergo_blobs records;  /* of it, as far as they are read and needed */
    struct ergo_result *result; /* owned, until it is taken */
    double seconds, work_done;  /* of sampling so far */
    /* where the run stood, unless points are at different steps */
    size_t batch;    /* n_batches: all done */
    uint64_t step;   /* of that batch */
    size_t samples;  /* of that batch */
    bool has_states; /* of its members, which ergo_stored_read_states reads */
    /* points at different steps: an index, and files of ranks */
    bool of_ranks;
    struct ergo_point_progress *progress; /* owned, [n_progress]; NULL: nobody asked */
    size_t n_progress;                    /* as many as points; the result may be gone first */
    uint64_t generation, ranks;
};

/* Open the folder of a run that went on or ended; `otherwise`: what to say where there is none. */
enum ergo_status ergo_stored_find(struct ergo_context *ctx, const char *directory,
                                  const char *otherwise, struct ergo_folder *folder);
/* Open its checkpoint: the job, parsed, and an empty result. To be closed also after a failure. */
enum ergo_status ergo_stored_open(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  struct ergo_stored *stored);
/* All but states of a plain checkpoint. */
enum ergo_status ergo_stored_read(struct ergo_stored *stored);
/* The states' records of the current batch with that many members, of `most` bytes. */
enum ergo_status ergo_stored_read_states(struct ergo_stored *stored, size_t members, double most);
/* The states in which points have ended, into the result; none where they were not kept. */
enum ergo_status ergo_stored_read_finals(struct ergo_stored *stored);
/* All of a plain checkpoint as progress of single points. */
enum ergo_status ergo_stored_spread_out(struct ergo_stored *stored);
/* From here on as the checkpoint of `job`, which goes further (ergo_job_extends) and is taken.
 * Before that all states have been read, and points are single. *renumbered: points have other
 * numbers now. ERGO_E_JOB with the key and the reason where that is not possible. */
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

/* ---- records; false: out of memory ------------------------------------------------------------
 */

/* Text becomes a record without a copy, and is empty then. */
bool ergo_stored_add_text(struct ergo_blobs *blobs, const char *name, struct ergo_text *text);
/* The job with its files, and when the run began. */
bool ergo_stored_add_job(const struct ergo_result *result, struct ergo_blobs *blobs);
/* Where the run stands. */
bool ergo_stored_add_head(const struct ergo_result *result, size_t batch, uint64_t step,
                          size_t samples, double seconds, double work_done,
                          struct ergo_blobs *blobs);
bool ergo_stored_add_members(const struct ergo_result *result, struct ergo_blobs *blobs);
bool ergo_stored_add_finals(const struct ergo_result *result, struct ergo_blobs *blobs);
/* The device of this session, for one that only reports. */
bool ergo_stored_add_device(const struct ergo_result *result, double work_done,
                            struct ergo_blobs *blobs);
/* Of a file of ranks, or of their index. */
bool ergo_stored_add_ranks(const struct ergo_result *result, uint64_t generation, uint64_t ranks,
                           double seconds, struct ergo_blobs *blobs);
void ergo_stored_rank_file(char *name, size_t size, uint64_t generation, uint64_t rank);

/* ---- parts of reading -------------------------------------------------------------------------
 */

enum ergo_status ergo_stored_read_members(struct ergo_stored *stored);
/* From an index: all that its ranks knew. */
enum ergo_status ergo_stored_read_ranks(struct ergo_stored *stored);
/* The device of a session from its record; false: it is damaged. */
bool ergo_stored_take_device(struct ergo_result *result, const struct ergo_blobs *blobs,
                             double *work_done);
/* A record of all members, one after the other; `most`: bytes that it may have. */
enum ergo_status ergo_stored_restore(struct ergo_stored *stored, const char *name, uint64_t most,
                                     bool (*restore_one)(struct ergo_result *, size_t,
                                                         struct ergo_reader *));
/* When the run began, from its record; false: no record, or not a time. */
bool ergo_stored_take_started(struct ergo_stored *stored);

/* Could a run have written what this checkpoint says? Otherwise memory would be read out of bounds,
 * or the run would go on as another chain without anyone noticing. First: a curve with that many
 * samples in bins of that length. Bins are indexed by these, and two bins became one when all were
 * full. A sample adds one to a curve; with realisations, at the end of the run (curves_at_end), it
 * may add more. */
bool ergo_stored_curve_fits(const struct ergo_model *model, size_t c, uint64_t count,
                            uint64_t length, uint64_t n_samples);
bool ergo_stored_time_fits(double seconds);
/* The estimators of a member whose series is not kept, else nothing; and from there, of a run with
 * that many samples. */
void ergo_stored_append_state(const struct ergo_member_result *m, struct ergo_text *text);

/* What is known of point i, for another rank or a file; and from there, kept where it is further
 * than what is known already. False: it does not fit the job. */
void ergo_point_pack(const struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i, struct ergo_text *text);
bool ergo_points_unpack(struct ergo_result *result, struct ergo_point_progress *progress,
                        const char *data, size_t length);

/* Notes what has been measured of point i, which is at its progress now; and from there, puts it
 * back to that progress (at step 0 without a mark, too), whatever it has measured since. False: out
 * of memory. */
bool ergo_point_mark(const struct ergo_result *result, struct ergo_point_progress *progress,
                     size_t i);
bool ergo_point_back(struct ergo_result *result, const struct ergo_point_progress *progress,
                     size_t i);
/* Back to the beginning; and frees that of n points, with what it owns; NULL-safe. */
void ergo_progress_forget(struct ergo_point_progress *progress);
void ergo_progress_free(struct ergo_point_progress *progress, size_t n);

bool ergo_stored_take_state(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                            struct ergo_reader *reader);
bool ergo_stored_take_series(struct ergo_member_result *m, uint64_t n_samples, bool keep,
                             struct ergo_reader *reader);
/* Pictures of a member; `count` of them from there, which replace its own if they are kept. */
void ergo_stored_append_pictures(const struct ergo_member_result *m, struct ergo_text *text);
bool ergo_stored_take_pictures(struct ergo_member_result *m, uint64_t count, bool keep,
                               struct ergo_reader *reader);

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
