/* See eta.h. */
#include "run/eta.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

bool ergo_eta_add(struct ergo_eta *eta, double work, double steps) {
    struct ergo_eta_batch *grown = realloc(eta->batches, (eta->n + 1) * sizeof *grown);
    if (!grown)
        return false;
    eta->batches = grown;
    grown[eta->n++] = (struct ergo_eta_batch){.work = work, .steps = steps};
    return true;
}

void ergo_eta_free(struct ergo_eta *eta) {
    free(eta->batches);
    *eta = (struct ergo_eta){0};
}

void ergo_eta_begin(struct ergo_eta *eta, size_t batch, double sampled) {
    eta->current = eta->first + batch;
    eta->since = sampled;
    eta->begun++;
}

void ergo_eta_step(struct ergo_eta *eta, double steps, double sampled) {
    if (eta->current >= eta->n)
        return;
    eta->batches[eta->current].done += steps;
    eta->batches[eta->current].seconds = sampled - eta->since;
}

void ergo_eta_end(struct ergo_eta *eta, double aside) {
    eta->aside += aside;
    eta->ended++;
}

/* Seconds a step of one size, as measured. */
struct known {
    double work, seconds;
};

static bool measured(const struct ergo_eta_batch *b) {
    return b->done > 0 && b->seconds > 0 && b->work > 0;
}

/* The measured size next to `work` above it, or below or at it (`above` false); of batches of one
 * size the mean. `than`: beyond this size. work 0: there is none. */
static struct known next_known(const struct ergo_eta *eta, double than, bool above) {
    struct known found = {0};
    double steps = 0;
    for (size_t i = 0; i < eta->n; i++) {
        const struct ergo_eta_batch *b = &eta->batches[i];
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

static double step_seconds(const struct ergo_eta *eta, double work, bool *rough) {
    const double at = work * (1 + 1e-12);
    const struct known below = next_known(eta, at, false), above = next_known(eta, at, true);
    if (below.work > 0 && (above.work > 0 || !(below.work < work)))
        return below.work < work ? along(below, above, work) : below.seconds;
    const struct known near = below.work > 0 ? below : above;
    if (!(near.work > 0))
        return NAN;
    const struct known far = next_known(eta, near.work, !(below.work > 0));
    const double in_proportion = near.seconds * work / near.work;
    if (!(far.work > 0)) {
        *rough = true;
        return sqrt(near.seconds * in_proportion);
    }
    const double least = fmin(near.seconds, in_proportion);
    const double most = fmax(near.seconds, in_proportion);
    return fmin(fmax(along(near, far, work), least), most);
}

double ergo_eta_left(const struct ergo_eta *eta, bool *rough) {
    double all = 0, spent = 0;
    *rough = false;
    for (size_t i = 0; i < eta->n; i++) {
        const struct ergo_eta_batch *b = &eta->batches[i];
        const double left = b->steps > b->done ? b->steps - b->done : 0;
        spent += b->seconds;
        all += b->seconds;
        if (left > 0)
            all += left * (measured(b) ? b->seconds / b->done : step_seconds(eta, b->work, rough));
    }
    const double batches = eta->share * (double)eta->n - (double)eta->begun;
    if (eta->ended && batches > 0)
        all += eta->aside / (double)eta->ended * batches / eta->share;
    const double left_here = eta->share * all - spent;
    return left_here < 0 ? 0 : left_here; /* NAN stays */
}
