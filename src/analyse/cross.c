/*
 * Where the curves of two sizes cross, and where the crossings go to as sizes grow: x(L) = x +
 * a L^-w (Binder, Z. Phys. B 43, 119 (1981); w = 1/nu + omega).
 */
#include <math.h>
#include <stdlib.h>

#include "analyse/analyse.h"
#include "base/parallel.h"
#include "stats/fit.h"

enum { GRID = 41, BISECTIONS = 40, FREE_LEAST = 4 };
/* Samples of a disorder for each crossing of a fit: with fewer their covariance is known too badly.
 */
enum { DRAWS_EACH = 10 };
/* A fit with a smaller probability of its chi^2 is tried again without the smallest sizes. */
static const double level = 0.05;

struct pair {
    const struct ergo_analysis *a;
    const struct ergo_system *first, *second;
    double low, high, step;
    double y[2][GRID];
    bool ok[GRID];
};

static void evaluate(size_t i, void *user) {
    struct pair *p = user;
    const double x = p->low + (double)i * p->step;
    p->ok[i] = ergo_curve_at(p->a, p->first, &p->a->crossing, x, &p->y[0][i], NULL) &&
               ergo_curve_at(p->a, p->second, &p->a->crossing, x, &p->y[1][i], NULL);
}

static bool difference(const struct pair *p, double x, double *d) {
    double y = NAN, z = NAN;
    const bool ok = ergo_curve_at(p->a, p->first, &p->a->crossing, x, &y, NULL) &&
                    ergo_curve_at(p->a, p->second, &p->a->crossing, x, &z, NULL);
    *d = y - z;
    return ok;
}

/* The largest distance of the curves on one side of a crossing, up to the next crossing. */
static double distance(const struct pair *p, size_t from, int direction) {
    const double first = p->y[0][from] - p->y[1][from];
    double most = 0;
    for (size_t i = from; i < GRID; i += (size_t)direction) {
        const double d = p->y[0][i] - p->y[1][i];
        if (!isfinite(d) || d * first < 0)
            break;
        most = fmax(most, fabs(d));
    }
    return most;
}

/* The interval of the grid with the crossing: where curves agree within their errors (Binder's
 * cumulant in the ordered phase) they cross, too, but are nowhere far apart. GRID: there is none.
 */
static size_t find_interval(const struct pair *p) {
    size_t best = GRID;
    double most = 0;
    for (size_t i = 0; i + 1 < GRID; i++) {
        const double d = p->y[0][i] - p->y[1][i], e = p->y[0][i + 1] - p->y[1][i + 1];
        if (!(isfinite(d) && isfinite(e)) || (d > 0) == (e > 0))
            continue;
        const double clear = fmin(distance(p, i, -1), distance(p, i + 1, 1));
        if (clear > most) {
            most = clear;
            best = i;
        }
    }
    return best;
}

static bool bisect(const struct pair *p, size_t i, double *x) {
    double low = p->low + (double)i * p->step, high = low + p->step, at_low, d;
    if (!difference(p, low, &at_low))
        return false;
    for (int k = 0; k < BISECTIONS && high - low > 1e-14 * fabs(high); k++) {
        *x = (low + high) / 2;
        if (!difference(p, *x, &d))
            return false;
        if ((d > 0) == (at_low > 0))
            low = *x;
        else
            high = *x;
    }
    return true;
}

/* x and y of the crossing, and what they owe to each piece: dx = -(dy_a - dy_b) / slope. of_b: room
 * for the pieces. */
static bool locate(struct pair *p, size_t interval, struct ergo_crossing *c, double *of_b) {
    const struct ergo_quantity *q = &p->a->crossing;
    double x = NAN, y[2], up, down, squares = 0, of_y = 0, *of_a = c->delta;
    const size_t n = ergo_analysis_pieces(p->a, NULL);
    const double h = p->step / 4;
    if (!bisect(p, interval, &x) || !difference(p, x + h, &up) || !difference(p, x - h, &down) ||
        !ergo_curve_at(p->a, p->first, q, x, &y[0], of_a) ||
        !ergo_curve_at(p->a, p->second, q, x, &y[1], of_b))
        return false;
    const double slope = (up - down) / (2 * h);
    c->x = x - (y[0] - y[1]) / slope; /* without the bias, which the jackknife took away */
    c->y = (y[0] + y[1]) / 2;
    double s[2] = {NAN, NAN}, e = NAN;
    if (!ergo_curve_at(p->a, p->first, q, x + h, &s[0], NULL) ||
        !ergo_curve_at(p->a, p->first, q, x - h, &e, NULL))
        return false;
    s[0] = (s[0] - e) / (2 * h);
    for (size_t i = 0; i < n; i++) {
        const double dx = (of_b[i] - of_a[i]) / slope;
        of_y += pow(of_a[i] + s[0] * dx, 2);
        squares += dx * dx;
        c->delta[i] = dx;
    }
    c->x_error = squares > 0 ? sqrt(squares) : NAN;
    c->y_error = squares > 0 ? sqrt(of_y) : NAN;
    return true;
}

static bool cross(const struct ergo_analysis *a, struct ergo_crossing *c) {
    struct pair p = {.a = a, .first = &a->systems[c->a], .second = &a->systems[c->b]};
    double low, high;
    c->x = c->x_error = c->y = c->y_error = NAN;
    if (!ergo_curve_range(a, p.first, &a->crossing, &p.low, &p.high) ||
        !ergo_curve_range(a, p.second, &a->crossing, &low, &high) ||
        fmax(low, p.low) >= fmin(high, p.high)) {
        c->why_not = "their curves have no range in common";
        return true;
    }
    p.low = fmax(low, p.low);
    p.high = fmin(high, p.high);
    p.step = (p.high - p.low) / (GRID - 1);
    ergo_parallel(GRID, SIZE_MAX, evaluate, &p);
    for (size_t i = 0; i < GRID; i++)
        if (!p.ok[i])
            return false;
    const size_t interval = find_interval(&p);
    if (interval == GRID) {
        c->why_not = "their curves do not cross";
        return true;
    }
    const size_t n = ergo_analysis_pieces(a, NULL);
    double *room = calloc(n + 1, sizeof *room);
    c->delta = calloc(n + 1, sizeof *c->delta);
    const bool ok = room && c->delta && locate(&p, interval, c, room);
    free(room);
    return ok;
}

/* ---- large sizes ----------------------------------------------------------------------------- */

/* Crossings share a system, or samples of a disorder. */
static double covariance(const struct ergo_analysis *a, const struct ergo_crossing *c,
                         const struct ergo_crossing *d) {
    const size_t n = ergo_analysis_pieces(a, NULL);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c->delta[i] * d->delta[i];
    return sum;
}

struct extrapolated {
    size_t n;
    double sides[64]; /* over the first */
    double exponent;  /* given; NAN: a parameter */
};

static void predict(const double *p, double *predicted, void *user) {
    const struct extrapolated *e = user;
    for (size_t i = 0; i < e->n; i++)
        predicted[i] = p[0] + p[1] * pow(e->sides[i], -(isnan(e->exponent) ? p[2] : e->exponent));
}

static bool fit_to(const struct ergo_analysis *a, const size_t *which, size_t n, double exponent,
                   struct ergo_extrapolation *to) {
    struct extrapolated e = {.n = n, .exponent = exponent};
    const bool is_free = isnan(exponent);
    double x[64] = {0}, matrix[64 * 64];
    struct ergo_fit fit = {0};
    const double side = a->systems[a->crossings[which[0]].a].side;
    for (size_t i = 0; i < n; i++) {
        const struct ergo_crossing *c = &a->crossings[which[i]];
        x[i] = c->x;
        e.sides[i] = a->systems[c->a].side / side;
        for (size_t j = 0; j < n; j++)
            matrix[i * n + j] = covariance(a, c, &a->crossings[which[j]]);
    }
    fit.value[0] = x[n - 1];
    fit.value[1] = x[0] - x[n - 1];
    fit.value[2] = 2;
    if (!ergo_fit_least_squares(predict, &e, x, NULL, matrix, n, is_free ? 3 : 2, &fit))
        return false;
    const double w = is_free ? fit.value[2] : exponent;
    /* an exponent that data do not determine, or of a curve that goes nowhere */
    if (is_free && (!(w > 0.1 && w < 10) || fit.error[2] > w / 2))
        return false;
    *to = (struct ergo_extrapolation){.done = true,
                                      .fixed = !is_free,
                                      .x = fit.value[0],
                                      .x_error = fit.error[0],
                                      .amplitude = fit.value[1] * pow(side, w),
                                      .exponent = w,
                                      .exponent_error = is_free ? fit.error[2] : (double)NAN,
                                      .chi2 = fit.chi2,
                                      .tail = fit.tail,
                                      .dof = fit.dof,
                                      .used = n};
    return true;
}

/* A power law, without the smallest sizes as long as chi^2 is too large; then once more without the
 * smallest of those: what that moves is in the error. Where none is determined, the crossing of the
 * largest sizes stands for all: a mean would be more exact than it is right, because errors of
 * crossings that follow each other cancel and the drift of small sizes does not. Its error has what
 * is left of the drift from the crossing before it, L^-(1/nu + omega). */
static void extrapolate(struct ergo_analysis *a, double correction) {
    size_t which[64], n = 0;
    struct ergo_extrapolation *to = &a->extrapolation;
    for (size_t i = 0; i < a->n_crossings && n < 64; i++)
        if (!a->crossings[i].why_not && a->crossings[i].x_error > 0 &&
            !isnan(a->systems[a->crossings[i].a].side))
            which[n++] = i;
    const size_t least = isnan(correction) ? FREE_LEAST : 2;
    const size_t most = a->n_draws ? a->n_draws / DRAWS_EACH : n;
    for (size_t first = 0; first + least <= n; first++) {
        struct ergo_extrapolation now = {0};
        if (n - first > most || !fit_to(a, which + first, n - first, correction, &now))
            continue;
        const bool good = to->done && to->tail >= level;
        const double shift = now.x - to->x;
        if (!to->done || good || now.tail > to->tail)
            *to = now;
        if (!good)
            continue;
        to->x_error = hypot(to->x_error, shift);
        return;
    }
    if (to->done || n < 2)
        return;
    const struct ergo_crossing *last = &a->crossings[which[n - 1]],
                               *before = &a->crossings[which[n - 2]];
    const double nu = a->scales && !a->scaling.why_not ? fabs(a->scaling.inverse_nu.value) : 1;
    const double left = ergo_scaling_left(a->systems[before->a].side, a->systems[last->a].side,
                                          nu + ERGO_ANALYSE_OMEGA);
    *to = (struct ergo_extrapolation){.done = true,
                                      .x = last->x,
                                      .x_error = hypot(last->x_error, left * (last->x - before->x)),
                                      .amplitude = NAN,
                                      .exponent = NAN,
                                      .exponent_error = NAN,
                                      .tail = 1,
                                      .used = 1};
}

enum ergo_status ergo_analysis_cross(struct ergo_context *ctx, struct ergo_analysis *a,
                                     double correction) {
    bool ok = true;
    a->crossings = calloc(a->n_systems + 1, sizeof *a->crossings);
    for (size_t s = 0; a->crossings && s + 1 < a->n_systems && ok; s++) {
        struct ergo_crossing *c = &a->crossings[a->n_crossings];
        if (a->systems[s].side == a->systems[s + 1].side)
            continue;
        c->a = s;
        c->b = s + 1;
        a->n_crossings++;
        ok = cross(a, c);
    }
    if (!a->crossings || !ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for crossings");
    const struct ergo_scaling *s = &a->scaling;
    const bool fitted = a->scales && !s->why_not;
    extrapolate(a, fitted ? correction + fabs(s->inverse_nu.value) : correction);
    const struct ergo_extrapolation *e = &a->extrapolation;
    if (!fitted || !e->done || fabs(e->x - s->x.value) <= 2 * hypot(e->x_error, s->x.error))
        return ERGO_OK;
    return ergo_analysis_note(ctx, a,
                              "the fit of %s and the crossings of %s disagree, by %.1f of their "
                              "errors: corrections to scaling, or too small sizes. Believe neither",
                              a->scaling_of.name, a->crossing.name,
                              fabs(e->x - s->x.value) / hypot(e->x_error, s->x.error));
}
