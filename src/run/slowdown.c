/* See slowdown.h. */
#include "run/slowdown.h"

static const double window = 2, fallen = 0.8;
enum { WINDOWS = 3 };

bool ergo_slowdown_notice(struct ergo_slowdown *p, double seconds, double work) {
    if (seconds - p->begun < window)
        return false;
    const double rate = (work - p->work) / (seconds - p->begun);
    const bool whole = p->begun > 0; /* the first one has begun before this one was asked */
    p->begun = seconds;
    p->work = work;
    p->best = whole && rate > p->best ? rate : p->best;
    p->slow = whole && rate < fallen * p->best ? p->slow + 1 : 0;
    return p->slow >= WINDOWS;
}
