/* Which rank makes which point: as fast as they are, with no more moves than that takes. */
#ifndef ERGO_RUN_DEAL_H
#define ERGO_RUN_DEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a point that no rank has yet. */
#define ERGO_DEAL_NOBODY UINT32_MAX

struct ergo_deal {
    size_t n_points, ranks;
    const double *work;   /* [n_points] that is left of each; 0: it is done */
    const double *speeds; /* [ranks] work per second; 0: it can do nothing any more */
    const double *starts; /* [ranks] seconds before it begins; NULL: none */
    uint32_t *owners;     /* [n_points]; of a point that is done: anything */
};

/* Until the last point is done, if all stay where they are. INFINITY: somebody who can do nothing,
 * or nobody, has a point. */
double ergo_deal_seconds(const struct ergo_deal *deal);
/*
 * Points of nobody get ranks: neighbours stay together, and the shares are in proportion to speeds.
 * Then points of ranks that can do nothing go to others, and those of the rank that will be last,
 * the smallest first, to whoever ends them before it would. Some speed is above 0. False: no
 * memory.
 */
bool ergo_deal(const struct ergo_deal *deal);

#endif
