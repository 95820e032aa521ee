/*
 * Ranks: what the run layer needs of MPI, and nothing else of ergocl knows MPI. Without mpirun
 * there is one rank, and MPI is not even initialised. All calls by the thread that started it. An
 * error of MPI itself ends all ranks (its default handler), as does a rank that fails
 * (ergo_ranks_finish).
 */
#ifndef ERGO_DIST_DIST_H
#define ERGO_DIST_DIST_H

#include "core/text.h"

int ergo_dist_count(void); /* which of them this is: ergo_ranks_rank */

/* Of all ranks together. */
void ergo_dist_barrier(void);
/* Rank 0's bytes to all. */
void ergo_dist_share(void *data, size_t length);
bool ergo_dist_any(bool mine);
double ergo_dist_sum(double mine);
double ergo_dist_max(double mine);
/* Everyone's bytes to rank 0: there all[count] is filled, in order of ranks (the caller frees);
 * one rank's share after the other, so that rank 0 never waits with two in memory that it has not
 * handed to `take`. */
typedef enum ergo_status (*ergo_dist_take)(void *user, int rank, const char *data, size_t length);
enum ergo_status ergo_dist_gather(struct ergo_context *ctx, const struct ergo_text *mine,
                                  ergo_dist_take take, void *user);

/* A counter that all ranks share: 0, 1, 2, ... each number to one caller. _open and _close are
 * collective. */
void ergo_dist_counter_open(void);
uint64_t ergo_dist_counter_next(void);
void ergo_dist_counter_close(void);

/* Between blocks: tell the others that this rank was asked to stop; has anybody been? Also lets MPI
 * work on what others want of this rank. */
bool ergo_dist_stop(bool asked);

/* The selector of this rank's device: with several ranks a list "A,B,..." is dealt out in turn to
 * the ranks of a node, and so are the usable devices where "auto", "gpu" or "cpu" fits several.
 * `text`: room for the answer. */
enum ergo_status ergo_dist_device(struct ergo_context *ctx, const char *selector, char *text,
                                  size_t size);

#endif
