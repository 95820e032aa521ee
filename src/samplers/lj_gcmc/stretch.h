/* The stretch of the run that an audit replays. Internal to audit.c, audit_compare.c and window.c.
 */
#ifndef ERGO_SAMPLERS_LJ_GCMC_STRETCH_H
#define ERGO_SAMPLERS_LJ_GCMC_STRETCH_H

#include "samplers/lj_gcmc/twin.h"

struct lj_stretch {
    struct lj_state *s;
    size_t first, count; /* members that are replayed */
    uint64_t start, every, first_sample, interval;
    size_t samples, curves; /* curves: samples with g(r) */
    uint64_t blocks;        /* most active cells that are followed; UINT64_MAX: all */
    uint32_t end;           /* g(r) counts pairs of the particles below this one */
    struct lj_twin *twins;  /* of all boxes [boxes count], at the end of the stretch */
    double *columns;        /* [samples][count][LJ_COLUMNS] */
    uint32_t own, all;      /* followed in part: of the twin of the end the first, this rank's; N */
    double *expected[LJ_CURVES]; /* [curves][count][bins] of those that are measured */
    uint64_t *pairs;
    struct lj_chain *before;  /* [boxes count], the chains at the start */
    uint32_t slots, capacity; /* sizes of the run's buffers, which may grow in the stretch */
};

/* Is only a part of the checkerboard followed? */
bool lj_stretch_partial(const struct lj_stretch *a);
/* Write the g(r) of a twin as curve number `curve` of the k-th member. */
void lj_stretch_expect(struct lj_stretch *a, size_t k, size_t curve, const struct lj_twin *t);

/* window.c, of a checkerboard that is followed in part. All cells: is each particle in its own, are
 * they as many as the chain has, and have ranks the same beside a slab? */
enum ergo_status lj_check_layers(struct ergo_context *ctx, struct lj_state *s, size_t chain);
/* The particles in the windows of all ranks, in the order of the cells; malloc'ed. blocks: the most
 * active cells to follow. */
enum ergo_status lj_fetch_window(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                 uint64_t blocks, uint32_t **words, uint32_t *count);
/* The particles of this rank's first layers: as many as `most` need, and all that these may see.
 * *own: of them the first in the chain's list, at most `most`. */
enum ergo_status lj_fetch_first(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                                uint32_t most, uint32_t **words, uint32_t *count, uint32_t *own);

/* audit_compare.c: compare the end of the stretch; and, without a replay, the sums of all
 * members. */
enum ergo_status lj_stretch_compare(struct ergo_context *ctx, const struct ergo_replay *r);
enum ergo_status lj_compare_sums(struct ergo_context *ctx, struct lj_state *s);

/* The host's work for a place, 1 but among many atoms that do not move: it looks at all of them. */
static inline double lj_stretch_work(const struct lj_state *s) {
    return 1.0 + (s->tables.atoms ? s->tables.atoms->n / 1000 : 0);
}

#endif
