/*
 * Ranks: all that ergocl needs of MPI; nothing else of ergocl knows MPI. Without mpirun there is
 * one rank, and MPI is not even initialised. All calls come from the thread that started it. An
 * error of MPI itself ends all ranks (its default handler), as does a rank that fails
 * (ergo_ranks_finish).
 */
#ifndef ERGO_DIST_DIST_H
#define ERGO_DIST_DIST_H

#include <sched.h>

#include "base/text.h"

int ergo_dist_count(void); /* number of ranks; this one: ergo_ranks_rank */

/* All ranks wait for each other. */
void ergo_dist_barrier(void);
/* Sends rank 0's bytes to all. */
void ergo_dist_share(void *data, size_t length);
bool ergo_dist_any(bool mine);
double ergo_dist_sum(double mine);
double ergo_dist_max(double mine);
double ergo_dist_min(double mine);
/* Sends the bytes of all other ranks to rank 0, which passes them to `take` in order of ranks, one
 * at a time, so that it never has two in memory. */
typedef enum ergo_status (*ergo_dist_take)(void *user, int rank, const char *data, size_t length);
enum ergo_status ergo_dist_gather(struct ergo_context *ctx, const struct ergo_text *mine,
                                  ergo_dist_take take, void *user);

/* Adds up numbers of all ranks, in place. Unsigned integers have the same sum in any order. */
void ergo_dist_sum_counts(uint64_t *values, size_t n);
void ergo_dist_max_counts(uint64_t *values, size_t n);
unsigned ergo_dist_or(unsigned bits);
/* Sends `bytes` of each rank (fewer than 2^31) to all, in order of ranks. */
void ergo_dist_collect(const void *mine, size_t bytes, void *all);
/* Sends counts[r] items of rank r, `bytes` each, to all, in order of ranks. Fewer than 2^31
 * together. */
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

/* Messages from rank to rank, for samplers that cut a system: posted while the caller goes on
 * working, and waited for together. Tags start at ERGO_DIST_TAGS. A single rank may post to itself.
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
/* A message of any length, to and from another rank; the receiver's text keeps its memory. */
enum ergo_status ergo_dist_send(struct ergo_context *ctx, int to, int tag, const void *data,
                                size_t bytes);
enum ergo_status ergo_dist_receive(struct ergo_context *ctx, int from, int tag,
                                   struct ergo_text *text);
/* Meetings of ranks that work apart. Each says once for each meeting that it is ready, works on,
 * and comes when all are: so nobody waits longer than others take to come. Who has come says so by
 * _met. */
void ergo_dist_ready(void);
bool ergo_dist_asked(void); /* has another rank said so? */
bool ergo_dist_all_ready(void);
void ergo_dist_met(void);

/* Between blocks: tells the others whether this rank was asked to stop, and returns whether any
 * rank was. Also lets MPI make progress on messages of others. */
bool ergo_dist_stop(bool asked);

/* threads.c: how many CPU threads rank `own` should have on a host with n ranks. Each core is
 * divided among the ranks that take part and may run on it (masks). The others drive devices of
 * their own, and each keeps a core for that: an H100's rank was 6% slower beside a PoCL that took
 * all 16. At least 1; 0: no masks. */
unsigned ergo_dist_threads(const cpu_set_t *masks, const bool *takes_part, int n, int own);

/* threads.c: has a launcher bound a rank that may use `own` cores to less than its share of `all`,
 * which n ranks of this host have together? */
bool ergo_dist_is_bound(int own, int all, int n);
/* The cores that this rank may use, where a launcher has bound it so; else 0. *all: those that the
 * launcher itself may use. */
int ergo_dist_bound(int *all);

/* Do ranks of this host share cores, so that one that waits should sleep? */
bool ergo_dist_crowded(void);

/* The selector of this rank's device in `text`: with several ranks a list "A,B,..." is dealt out in
 * turn to the ranks of a node. *turn: which of the ranks with the same item this one is.
 * To be called before PoCL is first asked: ranks with the same item of the list share the cores
 * (POCL_MAX_PTHREAD_COUNT, unless it is set). */
enum ergo_status ergo_dist_device(struct ergo_context *ctx, const char *selector, char *text,
                                  size_t size, size_t *turn);

#endif
