/* Chains of one state (other seeds, replicas, runs): one mean, and whether they agree. Replicas
 * that are samples of a disorder differ: each counts once, as in result/replicas.c. */
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

static double steps_of(const struct ergo_chain *chain) {
    return (double)ergo_member_taken(chain->member) * (double)chain->member->measure_every;
}

/* ---- samples of a disorder ------------------------------------------------------------------- */

/* One after the last chain of the sample that begins with this one. */
static size_t sample_end(const struct ergo_system *system, const struct ergo_state *state,
                         size_t first) {
    const struct ergo_chain *chains = system->chains;
    size_t c = first + 1;
    while (c < state->first + state->count && chains[c].draw == chains[first].draw)
        c++;
    return c;
}

/* The mean over the chains of a sample, first .. end; weights (may be NULL): theirs in it. */
static double sample_mean(const struct ergo_system *system, size_t o, size_t first, size_t end,
                          double *weights) {
    double sum = 0, mean = 0;
    for (size_t c = first; c < end; c++)
        sum += steps_of(&system->chains[c]);
    for (size_t c = first; c < end; c++) {
        const double w = steps_of(&system->chains[c]) / sum;
        if (weights)
            weights[c - first] = w;
        mean += w * of_chain(system, c, o)->estimate.mean;
    }
    return mean;
}

/* Of more than one sample; of one its chains are compared as others are. */
static void pool_samples(const struct ergo_system *system, size_t o, double *weights,
                         struct ergo_pooled *p) {
    const struct ergo_state *state = &system->states[p->state];
    double squares = 0;
    size_t before = 0;
    bool scatter = true;
    for (size_t c = state->first, end; c < state->first + state->count; c = end) {
        double *own = weights ? weights + (c - state->first) : NULL;
        end = sample_end(system, state, c);
        const double mean = sample_mean(system, o, c, end, own);
        for (size_t k = c; k < end; k++, p->n++) {
            scatter = scatter && ergo_observable_forgot_start(of_chain(system, k, o));
            if (own)
                own[k - c] /= (double)p->samples;
        }
        const double off = mean - p->mean;
        p->mean += off / (double)++before;
        squares += off * (mean - p->mean);
    }
    if (p->samples < ERGO_SCATTER_LEAST)
        p->why_not = "fewer than 10 samples of the disorder";
    else if (!scatter || !isfinite(p->mean))
        p->why_not = "of some samples the mean is not trusted";
    const double n = (double)p->samples;
    p->error = p->why_not ? NAN : sqrt(squares / (n - 1) / n);
}

static size_t count_samples(const struct ergo_system *system, const struct ergo_state *state) {
    size_t n = 0;
    if (ergo_point_samples_disorder(state->point))
        for (size_t c = state->first; c < state->first + state->count;
             c = sample_end(system, state, c))
            n++;
    return n > 1 ? n : 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

size_t ergo_analysis_pieces(const struct ergo_analysis *a, const struct ergo_system *system) {
    size_t n = a->n_draws;
    for (size_t s = 0; s < a->n_systems && &a->systems[s] != system; s++) {
        n += a->systems[s].n_states + 1;
        for (size_t p = 0; p < a->systems[s].n_parts; p++)
            n += a->systems[s].parts[p]->n_blocks;
    }
    return n;
}

void ergo_state_owe(const struct ergo_analysis *a, const struct ergo_system *system,
                    const struct ergo_pooled *p, double factor, double *delta) {
    const struct ergo_state *state = &system->states[p->state];
    const double n = (double)p->samples;
    if (!p->samples)
        delta[ergo_analysis_pieces(a, system) + p->state] += factor * p->error;
    for (size_t c = state->first, end; p->samples && c < state->first + state->count; c = end) {
        end = sample_end(system, state, c);
        const double off = sample_mean(system, p->observable, c, end, NULL) - p->mean;
        delta[system->chains[c].draw] += factor * off / sqrt(n * (n - 1));
    }
}

/* ---- chains of one system -------------------------------------------------------------------- */

/* Weights are the lengths in steps, not 1/error^2: errors that are estimated from the same samples
 * are correlated with the means, and would favour chains that have not moved yet. */
struct ergo_pooled ergo_state_pool(const struct ergo_system *system, size_t s, size_t o,
                                   double *weights) {
    const struct ergo_state *state = &system->states[s];
    struct ergo_pooled p = {.state = s,
                            .observable = o,
                            .tail = NAN,
                            .chi2 = NAN,
                            .samples = count_samples(system, state)};
    double sum = 0, squares = 0, inverse = 0, best = 0;
    bool trusted = true;
    if (p.samples) {
        pool_samples(system, o, weights, &p);
        return p;
    }
    for (size_t c = state->first; c < state->first + state->count; c++)
        sum += steps_of(&system->chains[c]);
    for (size_t c = state->first; c < state->first + state->count; c++) {
        const struct ergo_observable_result *r = of_chain(system, c, o);
        const double w = steps_of(&system->chains[c]) / sum;
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

/* Is it made of samples of a disorder that a chain has inside, and of which it keeps averages? */
static bool is_average(const struct ergo_analysis *a, const struct ergo_quantity *q) {
    return a->model->observables[q->observable].independent &&
           ergo_analysis_key(a, "/system/disorder_seed") != SIZE_MAX;
}

static enum ergo_status note_samples(struct ergo_context *ctx, struct ergo_analysis *a,
                                     bool samples) {
    static const char together[] = "points with the same samples of the disorder deviate together: "
                                   "for errors of crossings and fits";
    if ((a->crosses && is_average(a, &a->crossing)) || (a->scales && is_average(a, &a->scaling_of)))
        return ergo_analysis_note(ctx, a,
                                  "%s points are taken as independent, because runs keep averages "
                                  "over their samples; runs with another /seed for each point have "
                                  "samples of their own",
                                  together);
    return samples && (a->crosses || a->scales)
               ? ergo_analysis_note(ctx, a,
                                    "%s each sample is taken from all points at once, and p allows "
                                    "for it",
                                    together)
               : ERGO_OK;
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
    if (!ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
    bool samples = false;
    for (size_t i = 0; i < a->n_pooled; i++)
        samples = samples || a->pooled[i].samples;
    return note_samples(ctx, a, samples);
}
