/* Independent pieces of work by all cores. */
#ifndef ERGO_BASE_PARALLEL_H
#define ERGO_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(i, user) once for each i < n, in any order, by the cores that this process may use, at
 * most `most` (>= 1) at a time. Returns when all are done. `work` must not use a context: it leaves
 * errors in `user`. Called by a second thread at the same time, or within `work`, it is one core
 * that works. */
void ergo_parallel(size_t n, size_t most, void (*work)(size_t i, void *user), void *user);

/* The same for work that is too short to be handed out singly: calls work(begin, end, user) for
 * ranges that together are [0, n), each of at least `least` (>= 1), but for the last. So what is no
 * more than `least` is done by this thread, at no cost. */
void ergo_parallel_ranges(size_t n, size_t least,
                          void (*work)(size_t begin, size_t end, void *user), void *user);

/* How many of n calls of `work` run at the same time, at most: for plans of memory. */
size_t ergo_parallel_most(size_t n);

#endif
