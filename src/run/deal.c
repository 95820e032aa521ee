/* See deal.h. */
#include "run/deal.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

struct piece {
    double work;
    size_t point;
};

/* While points move. */
struct dealing {
    const struct ergo_deal *deal;
    double *loads;        /* [ranks] work */
    struct piece *sorted; /* [n_points] the largest first */
    size_t *next;         /* [n_points] of the same rank, not smaller; n_points: none */
    size_t *first;        /* [ranks] a smallest point */
};

/* A load over no speed: INFINITY. */
static double seconds_of(const struct ergo_deal *d, double load, size_t r) {
    return load > 0 ? (d->starts ? d->starts[r] : 0) + load / d->speeds[r] : 0;
}

static void add_loads(const struct ergo_deal *d, double *loads) {
    for (size_t r = 0; r < d->ranks; r++)
        loads[r] = 0;
    for (size_t i = 0; i < d->n_points; i++)
        if (d->owners[i] != ERGO_DEAL_NOBODY)
            loads[d->owners[i]] += d->work[i];
}

double ergo_deal_seconds(const struct ergo_deal *d) {
    double seconds = 0;
    double *loads = calloc(d->ranks, sizeof *loads);
    if (!loads)
        return INFINITY;
    add_loads(d, loads);
    for (size_t r = 0; r < d->ranks; r++)
        seconds = fmax(seconds, seconds_of(d, loads[r], r));
    for (size_t i = 0; i < d->n_points; i++)
        if (d->owners[i] == ERGO_DEAL_NOBODY && d->work[i] > 0)
            seconds = INFINITY;
    free(loads);
    return seconds;
}

/* Points of nobody, in their order, in one stretch for each rank. */
static void cut(const struct ergo_deal *d) {
    double work = 0, speed = 0, before = 0, end = 0;
    size_t i = 0;
    for (size_t k = 0; k < d->n_points; k++)
        work += d->owners[k] == ERGO_DEAL_NOBODY ? d->work[k] : 0;
    for (size_t r = 0; r < d->ranks; r++)
        speed += d->speeds[r];
    for (size_t r = 0; r < d->ranks; r++) {
        end += work * (d->speeds[r] / speed);
        for (; i < d->n_points; i++) {
            if (d->owners[i] != ERGO_DEAL_NOBODY)
                continue;
            if (r + 1 < d->ranks && before + 0.5 * d->work[i] > end)
                break;
            d->owners[i] = (uint32_t)r;
            before += d->work[i];
        }
    }
}

/* ---- moves ----------------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    return x->point < y->point ? 1 : -1; /* so that of equal ones the first is the first to go */
}

/* Who would have done this point, too, first. */
static size_t best(const struct dealing *g, size_t i) {
    const struct ergo_deal *d = g->deal;
    size_t found = 0;
    double least = INFINITY;
    for (size_t r = 0; r < d->ranks; r++) {
        const double seconds = seconds_of(d, g->loads[r] + d->work[i], r);
        if (seconds < least) {
            least = seconds;
            found = r;
        }
    }
    return found;
}

static void give(struct dealing *g, size_t i, size_t to) {
    const uint32_t from = g->deal->owners[i];
    g->loads[from] -= g->deal->work[i];
    g->loads[to] += g->deal->work[i];
    g->deal->owners[i] = (uint32_t)to;
}

/* From ranks that can do nothing. */
static void rescue(struct dealing *g) {
    const struct ergo_deal *d = g->deal;
    for (size_t k = 0; k < d->n_points; k++) {
        const size_t i = g->sorted[k].point;
        if (d->work[i] > 0 && !(d->speeds[d->owners[i]] > 0))
            give(g, i, best(g, i));
    }
}

static void list(struct dealing *g) {
    const struct ergo_deal *d = g->deal;
    for (size_t r = 0; r < d->ranks; r++)
        g->first[r] = d->n_points;
    for (size_t k = 0; k < d->n_points; k++) {
        const size_t i = g->sorted[k].point, r = d->owners[i];
        if (!(d->work[i] > 0))
            continue;
        g->next[i] = g->first[r];
        g->first[r] = i;
    }
}

static void level(struct dealing *g) {
    const struct ergo_deal *d = g->deal;
    for (size_t moves = 0; moves < 2 * d->n_points; moves++) {
        size_t last = 0;
        for (size_t r = 1; r < d->ranks; r++)
            if (seconds_of(d, g->loads[r], r) > seconds_of(d, g->loads[last], last))
                last = r;
        const size_t i = g->first[last];
        if (i == d->n_points)
            return;
        const size_t to = best(g, i);
        const double seconds = seconds_of(d, g->loads[to] + d->work[i], to);
        if (to == last || !(seconds < (1 - 1e-9) * seconds_of(d, g->loads[last], last)))
            return;
        g->first[last] = g->next[i];
        g->next[i] = g->first[to];
        g->first[to] = i;
        give(g, i, to);
    }
}

bool ergo_deal(const struct ergo_deal *d) {
    struct dealing g = {.deal = d};
    g.loads = calloc(d->ranks, sizeof *g.loads);
    g.first = calloc(d->ranks, sizeof *g.first);
    g.sorted = calloc(d->n_points, sizeof *g.sorted);
    g.next = calloc(d->n_points, sizeof *g.next);
    const bool ok = g.loads && g.first && g.sorted && g.next;
    if (ok) {
        for (size_t i = 0; i < d->n_points; i++)
            g.sorted[i] = (struct piece){d->work[i], i};
        qsort(g.sorted, d->n_points, sizeof *g.sorted, larger_first);
        cut(d);
        add_loads(d, g.loads);
        rescue(&g);
        add_loads(d, g.loads); /* without the rounding of differences: nothing left is 0 */
        list(&g);
        level(&g);
    }
    free(g.loads);
    free(g.first);
    free(g.sorted);
    free(g.next);
    return ok;
}
