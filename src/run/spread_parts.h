/* Internal to spread*.c: points spread over ranks (spread.h). */
#ifndef ERGO_RUN_SPREAD_PARTS_H
#define ERGO_RUN_SPREAD_PARTS_H

#include "run/spread.h"

struct ergo_spread_unit {
    struct ergo_batch batch;
    double work, work_per_step;
    uint64_t order;
};

struct ergo_spread {
    struct ergo_point_progress *progress; /* [n_points] */
    struct ergo_spread_unit *units;
    size_t n_units;
    const struct ergo_spread_unit *current;
    uint64_t generation, ranks, old_ranks; /* old: of the generation before; 0: none */
};

static inline enum ergo_status ergo_spread_no_memory(struct ergo_work *work) {
    return ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for the points of other ranks");
}

/* spread_store.c: this rank's checkpoint; the index; and what a generation of ranks has left. */
enum ergo_status ergo_spread_save(struct ergo_work *work);
enum ergo_status ergo_spread_write_index(struct ergo_work *work);
void ergo_spread_remove(const struct ergo_work *work, uint64_t generation, uint64_t ranks);

#endif
