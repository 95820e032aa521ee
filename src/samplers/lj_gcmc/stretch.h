/* A stretch of the run that an audit replays. Internal to audit.c and audit_compare.c. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_STRETCH_H
#define ERGO_SAMPLERS_LJ_GCMC_STRETCH_H

#include "samplers/lj_gcmc/twin.h"

struct lj_stretch {
    struct lj_state *s;
    size_t first, count; /* members */
    uint64_t start, every, first_sample, interval;
    size_t samples, curves; /* curves: samples with g(r) */
    uint64_t blocks;        /* active cells that are followed */
    uint32_t end;           /* particles that g(r) is of */
    struct lj_twin *twins;  /* at the end */
    double *columns;        /* [samples][count][LJ_COLUMNS] */
    double *gr[2];          /* both curves: [curves][count][bins] */
    uint64_t *pairs;
    struct lj_chain *before;  /* [count] */
    uint32_t slots, capacity; /* the run's, which may be too small in the stretch */
};

/* Not all of a checkerboard is followed. */
bool lj_stretch_partial(const struct lj_stretch *a);
/* g(r) of a twin as the stretch's `curve` of its k-th member. */
void lj_stretch_expect(struct lj_stretch *a, size_t k, size_t curve, const struct lj_twin *t);

/* audit_compare.c: the end of the stretch; and without one the sums of all members. */
enum ergo_status lj_stretch_compare(struct ergo_context *ctx, const struct ergo_replay *r);
enum ergo_status lj_compare_sums(struct ergo_context *ctx, struct lj_state *s);

#endif
