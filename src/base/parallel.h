/* Independent pieces of work by all cores. */
#ifndef ERGO_BASE_PARALLEL_H
#define ERGO_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(i, user) once for each i < n, in any order, by the cores that this process may use, at
 * most `most` (>= 1) at a time. Returns when all are done. `work` must not use a context: it leaves
 * errors in `user`. */
void ergo_parallel(size_t n, size_t most, void (*work)(size_t i, void *user), void *user);

#endif
