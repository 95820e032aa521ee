/* Deals of points to ranks (deal.h), where those that follow one another stay together. */
#include <math.h>
#include <stdlib.h>

#include "job/schedule.h"
#include "run/spread_parts.h"

bool ergo_spread_awaited(const struct ergo_work *work, size_t k) {
    const struct ergo_spread *s = work->spread;
    const struct ergo_point *next = s->order[k]->next;
    return next && s->steps[s->place[next->index]] == 0 &&
           s->steps[k] == ergo_schedule_of(s->order[k]).total;
}

/* Chains as points of a deal; of a chain with points left, these have an owner last. */
static bool begin(const struct ergo_work *work, const double *left, const uint32_t *owners,
                  double **chains, uint32_t **of) {
    const struct ergo_spread *s = work->spread;
    *chains = calloc(s->n_chains + 1, sizeof **chains);
    *of = calloc(s->n_chains + 1, sizeof **of);
    for (size_t k = 0; k < work->job->n_points && *chains && *of; k++) {
        (*chains)[s->chains[k]] += left[k];
        (*of)[s->chains[k]] = owners[k];
    }
    return *chains && *of;
}

double ergo_spread_seconds(const struct ergo_work *work, const double *left, const double *speeds,
                           const uint32_t *owners) {
    double *chains, seconds = INFINITY;
    uint32_t *of;
    if (begin(work, left, owners, &chains, &of)) {
        const struct ergo_deal d = {
            work->spread->n_chains, (size_t)work->spread->ranks, chains, speeds, NULL, of};
        seconds = ergo_deal_seconds(&d);
    }
    free(chains);
    free(of);
    return seconds;
}

bool ergo_spread_deal(const struct ergo_work *work, const double *left, const double *speeds,
                      const double *starts, uint32_t *owners, double *seconds) {
    const struct ergo_spread *s = work->spread;
    double *chains;
    uint32_t *of;
    bool ok = begin(work, left, owners, &chains, &of);
    const struct ergo_deal d = {s->n_chains, (size_t)s->ranks, chains, speeds, starts, of};
    ok = ok && ergo_deal(&d);
    if (ok)
        *seconds = ergo_deal_seconds(&d);
    for (size_t k = 0; k < work->job->n_points && ok; k++)
        if (left[k] > 0 || owners[k] == ERGO_DEAL_NOBODY)
            owners[k] = of[s->chains[k]];
    free(chains);
    free(of);
    return ok;
}
