/* How long the rest of a run takes, from what its batches have cost so far. */
#ifndef ERGO_RUN_ETA_H
#define ERGO_RUN_ETA_H

#include <stdbool.h>
#include <stddef.h>

struct ergo_eta_batch {
    double work;    /* of a step, in the rate's unit: what tells large batches from small ones */
    double steps;   /* to do in this session */
    double done;    /* of them */
    double seconds; /* of sampling that these took */
};

struct ergo_eta {
    struct ergo_eta_batch *batches; /* owned */
    size_t n, current;
    size_t first; /* of the batches, the one with which the work's list begins (units of ranks) */
    double share; /* of all batches that this process does: 1, or 1 / ranks */
    double since; /* sampling seconds when the current batch began */
    double aside; /* seconds beside sampling (building, starts, audits) of `ended` batches */
    size_t begun, ended;
};

/* false: no memory, and the time left is not known. */
bool ergo_eta_add(struct ergo_eta *eta, double work, double steps);
void ergo_eta_free(struct ergo_eta *eta);
/* `sampled`: the session's sampling seconds. */
void ergo_eta_begin(struct ergo_eta *eta, size_t batch, double sampled);
void ergo_eta_step(struct ergo_eta *eta, double steps, double sampled);
void ergo_eta_end(struct ergo_eta *eta, double aside);
/*
 * Seconds to the end; NAN before anything was measured. Seconds a step are linear in the work of a
 * step between the sizes that were measured and beyond them, where they neither fall with the work
 * nor grow faster than it. *rough: they come from one size alone, and a step of another size takes
 * something between the same time (launches count) and a time in proportion (the work counts): the
 * geometric mean of both is taken.
 */
double ergo_eta_left(const struct ergo_eta *eta, bool *rough);

#endif
