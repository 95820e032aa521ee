/* Internal to spread*.c: points spread over ranks (spread.h). */
#ifndef ERGO_RUN_SPREAD_PARTS_H
#define ERGO_RUN_SPREAD_PARTS_H

#include <string.h>

#include "run/spread.h"

/* Progress of a point; its state, unless it is at step 0 or at the end. */
struct ergo_spread_progress {
    uint64_t step, samples;
    char *state;
    uint64_t length;
    bool ours; /* done or begun by this rank, in this session */
};

struct ergo_spread_unit {
    struct ergo_batch batch;
    double work;
    uint64_t order;
};

struct ergo_spread {
    struct ergo_spread_progress *progress; /* [n_points] */
    struct ergo_spread_unit *units;
    size_t n_units;
    const struct ergo_spread_unit *current;
    uint64_t generation, ranks, old_ranks; /* old_ranks: of the generation before; 0: none */
    bool resumed;
};

/* Takes bytes off the front; NULL: it has fewer. */
struct ergo_spread_reader {
    const char *at;
    size_t rest;
};

static inline const void *ergo_spread_take(struct ergo_spread_reader *reader, uint64_t length) {
    if (length > reader->rest)
        return NULL;
    const void *at = reader->at;
    reader->at += length;
    reader->rest -= (size_t)length;
    return at;
}

static inline enum ergo_status ergo_spread_no_memory(struct ergo_run *run) {
    return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the points of other ranks");
}

/* spread_parcel.c: packs what is known of point i for another rank or a file; unpacks it, and keeps
 * what is further than what is known already. False: it does not fit the job. */
void ergo_spread_pack(const struct ergo_run *run, size_t i, struct ergo_text *text);
bool ergo_spread_unpack(struct ergo_run *run, const char *data, size_t length);

/* spread_store.c: the index, and what an earlier generation of ranks has left. */
enum ergo_status ergo_spread_write_index(struct ergo_run *run);
void ergo_spread_remove(const struct ergo_run *run, uint64_t generation, uint64_t ranks);

#endif
