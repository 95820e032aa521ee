/* Has a run become slower than it was? */
#ifndef ERGO_RUN_SLOWDOWN_H
#define ERGO_RUN_SLOWDOWN_H

#include <stdbool.h>

/* Zero-initialise; again where the work is divided anew. */
struct ergo_slowdown {
    double begun, work; /* of the current window */
    double best;        /* work per second of any window so far */
    unsigned slow;      /* windows one after the other that were slower */
};

/* Now and then, with the sampling seconds and the work done so far: by a fifth, in three windows of
 * two seconds. */
bool ergo_slowdown_notice(struct ergo_slowdown *slowdown, double seconds, double work);

#endif
