/*
 * Ranks: what the run layer needs of MPI, and nothing else of ergocl knows MPI. Without mpirun
 * there is one rank, and MPI is not even initialised. All calls by the thread that started it. An
 * error of MPI itself ends all ranks (its default handler), as does a rank that fails
 * (ergo_ranks_finish).
 */
#ifndef ERGO_DIST_DIST_H
#define ERGO_DIST_DIST_H

#include <sched.h>

#include "base/text.h"

int ergo_dist_count(void); /* which of them this is: ergo_ranks_rank */

/* Of all ranks together. */
void ergo_dist_barrier(void);
/* Rank 0's bytes to all. */
void ergo_dist_share(void *data, size_t length);
bool ergo_dist_any(bool mine);
double ergo_dist_sum(double mine);
double ergo_dist_max(double mine);
/* Everyone's bytes but its own to rank 0, which hands them to `take`, in order of ranks: one rank's
 * share after the other, so that it never has two in memory. */
typedef enum ergo_status (*ergo_dist_take)(void *user, int rank, const char *data, size_t length);
enum ergo_status ergo_dist_gather(struct ergo_context *ctx, const struct ergo_text *mine,
                                  ergo_dist_take take, void *user);

/* Numbers of all ranks together, in place; unsigned integers: their sum is the same in any order.
 */
void ergo_dist_sum_counts(uint64_t *values, size_t n);
void ergo_dist_max_counts(uint64_t *values, size_t n);
unsigned ergo_dist_or(unsigned bits);
/* `bytes` of each rank (fewer than 2^31), in order of ranks, to all of them. */
void ergo_dist_collect(const void *mine, size_t bytes, void *all);
/* counts[r] items of rank r, `bytes` each, in order of ranks, to all. Fewer than 2^31 together. */
enum ergo_status ergo_dist_collect_items(struct ergo_context *ctx, const void *mine, void *all,
                                         size_t bytes, const uint64_t *counts);

/* All ranks arrive before one goes on. Waits as messages do. */
void ergo_dist_meet(void);

/* shared.c: memory of each rank that all see, where all ranks are on one host; NULL elsewhere.
 * Collective; freeing is not. What was written before a meeting is seen after it. */
bool ergo_dist_one_host(void);
struct ergo_dist_shared;
struct ergo_dist_shared *ergo_dist_shared_create(size_t bytes);
void ergo_dist_shared_destroy(struct ergo_dist_shared *shared); /* NULL-safe */
void *ergo_dist_shared_of(const struct ergo_dist_shared *shared, int rank);
void ergo_dist_shared_meet(void);

/* Messages from rank to rank, for samplers that cut a system: posted, while the caller goes on
 * working, and waited for together. Tags from ERGO_DIST_TAGS on. One rank alone may post to itself.
 */
enum { ERGO_DIST_TAGS = 16 };
struct ergo_dist_posts;
struct ergo_dist_posts *ergo_dist_posts_create(void); /* NULL: no memory */
void ergo_dist_posts_destroy(struct ergo_dist_posts *posts);
enum ergo_status ergo_dist_post_send(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                     int to, int tag, const void *data, size_t bytes);
enum ergo_status ergo_dist_post_receive(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                                        int from, int tag, void *data, size_t bytes);
void ergo_dist_posts_wait(struct ergo_dist_posts *posts);
/* Of any length, to and from another rank; the receiver's text keeps its room. */
enum ergo_status ergo_dist_send(struct ergo_context *ctx, int to, int tag, const void *data,
                                size_t bytes);
enum ergo_status ergo_dist_receive(struct ergo_context *ctx, int from, int tag,
                                   struct ergo_text *text);
/* With each of n peers (this rank itself may be one), who all call it with this rank as a peer: a
 * text there and one back. */
enum ergo_status ergo_dist_swap(struct ergo_context *ctx, struct ergo_dist_posts *posts, size_t n,
                                const int *peers, int tag, const struct ergo_text *mine,
                                struct ergo_text *theirs);

/* A counter that all ranks share: 0, 1, 2, ... each number to one caller. _open and _close are
 * collective. */
void ergo_dist_counter_open(void);
uint64_t ergo_dist_counter_next(void);
void ergo_dist_counter_close(void);

/* Between blocks: tell the others that this rank was asked to stop; has anybody been? Also lets MPI
 * work on what others want of this rank. */
bool ergo_dist_stop(bool asked);

/* shares.c: shares of ranks as a job says them: "measured" or "equal", which are equal ones (who
 * measures does so later), or positive numbers, "3,1", dealt out in turn. */
bool ergo_dist_shares_valid(const char *text);
void ergo_dist_shares(const char *text, size_t ranks, double *weights);

/* threads.c: on a host with n ranks, how many threads rank `own` should have on the CPU, where each
 * core is divided among those that take part and may run on it (masks). At least 1; 0: no masks. */
unsigned ergo_dist_threads(const cpu_set_t *masks, const bool *takes_part, int n, int own);

/* Do ranks of this host share cores, so that one that waits should sleep? */
bool ergo_dist_crowded(void);

/* The selector of this rank's device: with several ranks a list "A,B,..." is dealt out in turn to
 * the ranks of a node, and so are, to those with the same item, the devices that it fits where it
 * fits several of a type or of one model (ergo_device_deal).
 * `text`: room for the answer. Before PoCL is first asked: ranks with the same item of the list
 * share the cores (POCL_MAX_PTHREAD_COUNT, unless it is set). */
enum ergo_status ergo_dist_device(struct ergo_context *ctx, const char *selector, char *text,
                                  size_t size);

#endif
