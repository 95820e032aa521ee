/* See pace.h. */
#include "run/pace.h"

#include <math.h>
#include <stdlib.h>

bool ergo_pace_add(struct ergo_pace *pace, double work, double steps) {
    struct ergo_pace_batch *grown = realloc(pace->batches, (pace->n + 1) * sizeof *grown);
    if (!grown)
        return false;
    pace->batches = grown;
    grown[pace->n++] = (struct ergo_pace_batch){.work = work, .steps = steps};
    return true;
}

void ergo_pace_free(struct ergo_pace *pace) {
    free(pace->batches);
    *pace = (struct ergo_pace){0};
}

void ergo_pace_begin(struct ergo_pace *pace, size_t batch, double sampled) {
    pace->current = pace->first + batch;
    pace->since = sampled;
    pace->begun++;
}

void ergo_pace_step(struct ergo_pace *pace, double steps, double sampled) {
    if (pace->current >= pace->n)
        return;
    pace->batches[pace->current].done += steps;
    pace->batches[pace->current].seconds = sampled - pace->since;
}

void ergo_pace_end(struct ergo_pace *pace, double aside) {
    pace->aside += aside;
    pace->ended++;
}

/* Seconds a step of one size, as measured. */
struct known {
    double work, seconds;
};

static bool measured(const struct ergo_pace_batch *b) {
    return b->done > 0 && b->seconds > 0 && b->work > 0;
}

/* The measured size next to `work` above it, or below or at it (`above` false); of batches of one
 * size the mean. `than`: beyond this size. work 0: there is none. */
static struct known next_known(const struct ergo_pace *pace, double than, bool above) {
    struct known found = {0};
    double steps = 0;
    for (size_t i = 0; i < pace->n; i++) {
        const struct ergo_pace_batch *b = &pace->batches[i];
        if (!measured(b) || (above ? b->work <= than : b->work >= than))
            continue;
        if (!(found.work > 0) || (above ? b->work < found.work : b->work > found.work)) {
            found = (struct known){.work = b->work};
            steps = 0;
        }
        if (!(b->work < found.work) && !(b->work > found.work)) {
            found.seconds += b->seconds;
            steps += b->done;
        }
    }
    found.seconds /= steps > 0 ? steps : 1;
    return found;
}

static double along(struct known a, struct known b, double work) {
    return a.seconds + (b.seconds - a.seconds) * (work - a.work) / (b.work - a.work);
}

static double step_seconds(const struct ergo_pace *pace, double work, bool *rough) {
    const double at = work * (1 + 1e-12);
    const struct known below = next_known(pace, at, false), above = next_known(pace, at, true);
    if (below.work > 0 && (above.work > 0 || !(below.work < work)))
        return below.work < work ? along(below, above, work) : below.seconds;
    const struct known near = below.work > 0 ? below : above;
    if (!(near.work > 0))
        return NAN;
    const struct known far = next_known(pace, near.work, !(below.work > 0));
    const double in_proportion = near.seconds * work / near.work;
    if (!(far.work > 0)) {
        *rough = true;
        return sqrt(near.seconds * in_proportion);
    }
    const double least = fmin(near.seconds, in_proportion);
    const double most = fmax(near.seconds, in_proportion);
    return fmin(fmax(along(near, far, work), least), most);
}

double ergo_pace_left(const struct ergo_pace *pace, bool *rough) {
    double all = 0, spent = 0;
    *rough = false;
    for (size_t i = 0; i < pace->n; i++) {
        const struct ergo_pace_batch *b = &pace->batches[i];
        const double left = b->steps > b->done ? b->steps - b->done : 0;
        spent += b->seconds;
        all += b->seconds;
        if (left > 0)
            all += left * (measured(b) ? b->seconds / b->done : step_seconds(pace, b->work, rough));
    }
    const double batches = pace->share * (double)pace->n - (double)pace->begun;
    if (pace->ended && batches > 0)
        all += pace->aside / (double)pace->ended * batches / pace->share;
    const double left_here = pace->share * all - spent;
    return left_here < 0 ? 0 : left_here; /* NAN stays */
}
