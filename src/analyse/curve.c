/*
 * An observable of a system along the axis. Reweighted where samples can be; else a polynomial
 * through the nearest states, by least squares: a cubic through six, or what fewer allow. Where
 * these lie beside it by more than their errors, the curve is no cubic over so many: one through
 * the nearest four, and what a parabola through three of them moves is in the error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "stats/fit.h"

enum { NEAREST = 6, DEGREE = 3 };
/* A polynomial with a smaller probability of its chi^2 is one of too many states. */
static const double level = 0.05;

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

/* The polynomial of that degree through the first n, at x; NAN: there is none. */
static double fitted(const struct ergo_system *system, const struct ergo_pooled *nearest, size_t n,
                     size_t degree, double x, double weights[NEAREST]) {
    double xs[NEAREST], errors[NEAREST], y = 0;
    for (size_t i = 0; i < n; i++) {
        xs[i] = system->states[nearest[i].state].x;
        errors[i] = nearest[i].error;
    }
    if (n < 2 || !ergo_fit_polynomial(xs, errors, n, degree, x, weights))
        return NAN;
    for (size_t i = 0; i < n; i++)
        y += weights[i] * nearest[i].mean;
    return y;
}

/* Are they on it, within their errors? */
static bool describes(const struct ergo_system *system, const struct ergo_pooled *nearest, size_t n,
                      size_t degree) {
    double weights[NEAREST], chi2 = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = system->states[nearest[i].state].x;
        const double y = fitted(system, nearest, n, degree, x, weights);
        chi2 += pow((nearest[i].mean - y) / nearest[i].error, 2);
    }
    return n <= degree + 1 || !(ergo_fit_tail(chi2, n - degree - 1) < level);
}

static void interpolate(const struct ergo_analysis *a, const struct ergo_system *system,
                        const struct ergo_quantity *q, double x, double *y, double *delta) {
    struct ergo_pooled nearest[NEAREST];
    double weights[NEAREST], less = NAN;
    size_t n = find_nearest(system, q->observable, x, nearest);
    size_t degree = n > DEGREE + 1 ? DEGREE : n > 2 ? n - 2 : n - 1;
    if (!describes(system, nearest, n, degree)) {
        n = n < DEGREE + 1 ? n : DEGREE + 1;
        degree = n - 1;
        less = fitted(system, nearest, n - 1, degree - 1, x, weights);
    }
    *y = fitted(system, nearest, n, degree, x, weights);
    if (!delta || isnan(*y))
        return;
    for (size_t i = 0; i < n; i++)
        ergo_state_owe(a, system, &nearest[i], weights[i], delta);
    if (!isnan(less))
        delta[ergo_analysis_pieces(a, system) + system->n_states] = *y - less;
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
    delta += delta ? ergo_analysis_pieces(a, system) + system->n_states + 1 : 0;
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
    bool ok = true;
    if (ergo_curve_is_weighted(a, system, q))
        ok = reweight(a, system, q, x, y, delta);
    else
        interpolate(a, system, q, x, y, delta);
    *y *= scale;
    for (size_t i = 0; i < n && delta; i++)
        delta[i] *= scale;
    return ok;
}
