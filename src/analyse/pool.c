/* Chains of one state (other seeds, replicas, runs): one mean, and whether they agree. */
#include <math.h>
#include <stdlib.h>

#include "analyse/analyse.h"
#include "stats/fit.h"

/* Chains disagree where their scatter has a smaller probability. */
static const double level = 1e-4;

static const struct ergo_observable_result *of_chain(const struct ergo_system *system, size_t chain,
                                                     size_t o) {
    return &system->chains[chain].member->observables[o];
}

/* Weights are the lengths in steps, not 1/error^2: errors that are estimated from the same samples
 * are correlated with the means, and would favour chains that have not moved yet. */
struct ergo_pooled ergo_state_pool(const struct ergo_system *system, size_t s, size_t o,
                                   double *weights) {
    const struct ergo_state *state = &system->states[s];
    struct ergo_pooled p = {.state = s, .observable = o, .tail = NAN, .chi2 = NAN};
    double sum = 0, squares = 0, inverse = 0, best = 0;
    bool trusted = true;
    for (size_t c = state->first; c < state->first + state->count; c++)
        sum += (double)ergo_chain_length(&system->chains[c]) *
               (double)system->chains[c].member->measure_every;
    for (size_t c = state->first; c < state->first + state->count; c++) {
        const struct ergo_observable_result *r = of_chain(system, c, o);
        const double w = (double)ergo_chain_length(&system->chains[c]) *
                         (double)system->chains[c].member->measure_every / sum;
        const double error = r->estimate.error;
        if (weights)
            weights[p.n] = w;
        p.n++;
        p.mean += w * r->estimate.mean;
        squares += w * w * error * error;
        trusted = trusted && r->trust == ERGO_TRUST_FULL && isfinite(error);
        if (error > 0) {
            inverse += 1 / (error * error);
            best += r->estimate.mean / (error * error);
        }
    }
    p.error = trusted ? sqrt(squares) : NAN;
    if (!trusted || p.n < 2 || !(squares > 0))
        return p;
    p.chi2 = 0;
    for (size_t c = state->first; c < state->first + state->count; c++) {
        const struct ergo_observable_result *r = of_chain(system, c, o);
        if (r->estimate.error > 0)
            p.chi2 += pow((r->estimate.mean - best / inverse) / r->estimate.error, 2);
    }
    p.tail = ergo_fit_tail(p.chi2, p.n - 1);
    p.disagree = p.tail < level;
    if (p.disagree)
        p.error = NAN;
    return p;
}

enum ergo_status ergo_analysis_pool(struct ergo_context *ctx, struct ergo_analysis *a) {
    const size_t n_o = a->model->n_observables;
    size_t most = 0;
    for (size_t s = 0; s < a->n_systems; s++)
        most += a->systems[s].n_states * n_o;
    a->pooled = calloc(most + 1, sizeof *a->pooled);
    bool ok = a->pooled != NULL;
    for (size_t s = 0; s < a->n_systems && ok; s++)
        for (size_t k = 0; k < a->systems[s].n_states && ok; k++)
            for (size_t o = 0; o < n_o && ok; o++) {
                const struct ergo_state *state = &a->systems[s].states[k];
                if (state->count < 2 || (a->asked && !a->asked[o]) ||
                    !ergo_observable_shown(&a->model->observables[o], state->point))
                    continue;
                double *weights = calloc(state->count, sizeof *weights);
                struct ergo_pooled *p = &a->pooled[a->n_pooled++];
                ok = weights != NULL;
                if (!ok)
                    break;
                *p = ergo_state_pool(&a->systems[s], k, o, weights);
                p->system = s;
                p->weights = weights;
            }
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
}
