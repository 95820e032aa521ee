/*
 * Shares of ranks in what they divide: rows of a lattice, temperatures of a ladder. The job says
 * them in /system/shares: "equal"; positive numbers, "3,1", dealt out in turn; or "measured" (if
 * absent): equal at first, and in proportion to speed once ranks have been measured.
 *
 * All ranks call these together, and come to the same weights.
 */
#ifndef ERGO_ENGINE_SHARES_H
#define ERGO_ENGINE_SHARES_H

#include "job/job.h"

struct ergo_shares {
    size_t ranks;
    bool measured; /* of several ranks; weights are new where functions below say so */
    /* of late, seconds of a clock: of this rank's device, without waiting for others */
    double busy;
    uint64_t sweeps;
    double compared;  /* the clock when ranks last compared theirs */
    double cost;      /* seconds that the last division by new weights took */
    double lost;      /* seconds that wrong shares have cost since then; the same on all ranks */
    double weights[]; /* [ranks], positive */
};

/* What ranks say of a sweep of theirs: of how much, in any unit; how long their devices take. Of
 * rank 0 besides: since when this is compared, and what a division costs, both in seconds. */
struct ergo_share_work {
    double size, seconds, elapsed, cost;
};

/* A job error where /system/shares is none of these. */
enum ergo_status ergo_shares_check(struct ergo_context *ctx, const struct ergo_point *point);
/* As the job says, point NULL: equal; to be freed. NULL: no memory, and the error is recorded. */
struct ergo_shares *ergo_shares_create(struct ergo_context *ctx, const struct ergo_point *point);

/* `length` things in n shares in proportion to weights[n], each of one at least: how many come
 * before share k. n <= length; k <= n. */
uint64_t ergo_share_before(uint64_t length, const double *weights, size_t n, size_t k);

/* A rank's weight by its speed and that of all, a whole number of 64ths of an equal share. So what
 * is cut has few shapes, which come again in the next run: programs that are built for a shape are
 * in the cache, and a speed measured a little otherwise changes nothing. At most 1/128 of an equal
 * share is lost. */
double ergo_share_of_speed(double speed, double all, size_t ranks);

/* A trial at the start: repeats `sweep`, which waits for the device but not for other ranks; the
 * first one, in which drivers compile, does not count. size: of what a sweep works on here, in any
 * unit. *uneven: speeds differ by more than a tenth, and there are new weights by speed. */
enum ergo_status ergo_shares_try(struct ergo_context *ctx, struct ergo_shares *shares, double size,
                                 enum ergo_status (*sweep)(struct ergo_context *ctx, void *state),
                                 void *state, bool *uneven);
/* Of all ranks' work[ranks]: have wrong shares cost more time than a division does, and are there
 * others? Then weights are new. So no more is lost than twice what can be helped, whether
 * one rank keeps the others waiting for a twentieth of the time or for half of it. */
bool ergo_shares_judge(struct ergo_shares *shares, const struct ergo_share_work *work);
/* Between blocks, of `busy` and `sweeps`: every two seconds ranks compare theirs. *uneven: as
 * ergo_shares_judge says. */
enum ergo_status ergo_shares_compare(struct ergo_context *ctx, struct ergo_shares *shares,
                                     double size, bool *uneven);
/* After it: who divides has done so. */
void ergo_shares_divided(struct ergo_shares *shares);

#endif
