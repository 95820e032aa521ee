/* Lengths of launches and blocks, from timings. */
#include "engine/pace.h"

#include <math.h>

static const double TARGET = 0.1; /* seconds */

/* The first length is this part of the guess. */
static const double FIRST = 0.01;

/* What a timing may add. A short launch costs more than its work, so what it says of a unit is too
 * much, but later work may be dearer (a box that fills). Later only noise and slow changes are
 * left. */
enum { GROWTH = 16, GROWTH_SETTLED = 2 };

/* From the second timing on, because drivers may compile at a first launch. At the latest after so
 * many: a clock that jumps may not cost more. */
enum { LEAST_TIMINGS = 2, MOST_TIMINGS = 8 };

void ergo_pace_start(struct ergo_pace *pace, double guess) {
    *pace = (struct ergo_pace){.now = (uint64_t)fmax(1, fmin(FIRST * guess, 1e15))};
}

void ergo_pace_note(struct ergo_pace *pace, uint64_t units, double seconds) {
    const double most =
        (pace->settled ? GROWTH_SETTLED : GROWTH) * (double)(units > pace->now ? units : pace->now);
    const double wish = seconds > 0 ? TARGET / seconds * (double)units : most;
    pace->now = (uint64_t)fmax(1, fmin(fmin(wish, most), 1e15));
    pace->noted++;
    pace->settled = pace->settled || pace->noted >= MOST_TIMINGS ||
                    (pace->noted >= LEAST_TIMINGS && pace->now / GROWTH_SETTLED <= units);
}
