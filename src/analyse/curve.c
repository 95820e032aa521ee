/*
 * An observable of a system along the axis. Reweighted where samples can be; else a polynomial
 * through the nearest states, by least squares: a cubic through six, or what fewer allow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "stats/fit.h"

enum { NEAREST = 6, DEGREE = 3 };

bool ergo_curve_is_weighted(const struct ergo_analysis *a, const struct ergo_system *system,
                            const struct ergo_quantity *q) {
    return system->n_parts && a->n_wanted && a->wanted[0].key == a->axis &&
           ergo_analysis_can_weigh(a, q->observable);
}

/* ---- interpolated ---------------------------------------------------------------------------- */

static bool is_known(const struct ergo_pooled *p) {
    return isfinite(p->mean) && p->error > 0;
}

/* The nearest states with errors; their number. */
static size_t find_nearest(const struct ergo_system *system, size_t o, double x,
                           struct ergo_pooled nearest[NEAREST]) {
    size_t n = 0;
    for (size_t s = 0; s < system->n_states; s++) {
        const struct ergo_pooled p = ergo_state_pool(system, s, o, NULL);
        const double distance = fabs(system->states[s].x - x);
        if (!is_known(&p))
            continue;
        size_t at = n;
        for (; at && fabs(system->states[nearest[at - 1].state].x - x) > distance; at--)
            if (at < NEAREST)
                nearest[at] = nearest[at - 1];
        if (at < NEAREST)
            nearest[at] = p;
        n += n < NEAREST;
    }
    return n;
}

static bool interpolate(const struct ergo_analysis *a, const struct ergo_system *system,
                        const struct ergo_quantity *q, double x, double *y, double *delta) {
    struct ergo_pooled nearest[NEAREST];
    double xs[NEAREST], errors[NEAREST], weights[NEAREST];
    const size_t n = find_nearest(system, q->observable, x, nearest);
    for (size_t i = 0; i < n; i++) {
        xs[i] = system->states[nearest[i].state].x;
        errors[i] = nearest[i].error;
    }
    size_t degree = n > DEGREE + 1 ? DEGREE : n > 2 ? n - 2 : n - 1;
    *y = NAN;
    if (n < 2 || !ergo_fit_polynomial(xs, errors, n, degree, x, weights))
        return true;
    *y = 0;
    for (size_t i = 0; i < n; i++) {
        *y += weights[i] * nearest[i].mean;
        if (delta)
            ergo_state_owe(a, system, &nearest[i], weights[i], delta);
    }
    return true;
}

/* ---- reweighted ------------------------------------------------------------------------------ */

static bool reweight(const struct ergo_analysis *a, const struct ergo_system *system,
                     const struct ergo_quantity *q, double x, double *y, double *delta) {
    double at[ERGO_SCAN_MAX], blocks[ERGO_ANALYSE_BLOCKS], independent;
    struct ergo_target target;
    for (size_t w = 0; w < a->n_wanted; w++)
        at[w] = system->states[0].point->values[a->wanted[w].key].real;
    at[0] = x;
    if (!ergo_target_create(a, system, at, &target))
        return false;
    const struct ergo_part *part = ergo_system_part(system, &target, &independent);
    bool ok = part && ergo_part_values(part, &target, NULL, &q->observable, 1, y,
                                       delta ? blocks : NULL, NULL);
    delta += delta ? ergo_analysis_pieces(a, system) + system->n_states : 0;
    for (size_t p = 0; p < system->n_parts && ok && delta; p++) {
        if (system->parts[p] == part) {
            const struct ergo_valued v = ergo_jackknife(*y, blocks, part->n_blocks, 1, delta);
            *y = v.value;
        }
        delta += system->parts[p]->n_blocks;
    }
    if (ok && independent < ERGO_ANALYSE_INDEPENDENT)
        *y = NAN;
    ergo_target_free(&target);
    return ok;
}

bool ergo_curve_range(const struct ergo_analysis *a, const struct ergo_system *system,
                      const struct ergo_quantity *q, double *low, double *high) {
    const bool weighted = ergo_curve_is_weighted(a, system, q);
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t p = 0; weighted && p < system->n_parts; p++)
        if (!isnan(system->parts[p]->low)) {
            *low = fmin(*low, system->parts[p]->low);
            *high = fmax(*high, system->parts[p]->high);
        }
    for (size_t s = 0; !weighted && s < system->n_states; s++) {
        const struct ergo_pooled p = ergo_state_pool(system, s, q->observable, NULL);
        if (is_known(&p)) {
            *low = fmin(*low, system->states[s].x);
            *high = fmax(*high, system->states[s].x);
        }
    }
    return *low < *high;
}

bool ergo_curve_at(const struct ergo_analysis *a, const struct ergo_system *system,
                   const struct ergo_quantity *q, double x, double *y, double *delta) {
    const size_t n = ergo_analysis_pieces(a, NULL);
    const double scale = q->power != 0 ? pow(system->side, -q->power) : 1;
    *y = NAN;
    if (delta)
        memset(delta, 0, n * sizeof *delta);
    const bool ok = ergo_curve_is_weighted(a, system, q) ? reweight(a, system, q, x, y, delta)
                                                         : interpolate(a, system, q, x, y, delta);
    *y *= scale;
    for (size_t i = 0; i < n && delta; i++)
        delta[i] *= scale;
    return ok;
}
