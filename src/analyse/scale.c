/*
 * Finite-size scaling: all sizes on one curve, y = L^power F((x - x_c) L^(1/nu)), F a polynomial
 * (Binder, Heermann, Monte Carlo Simulation in Statistical Physics, sec. 2.3). Data are the points
 * that were simulated. Their errors are independent, but for samples of a disorder that they share.
 *
 * Corrections to scaling hide in a fit with a good chi^2. So each is made once more without the
 * smallest size, and that one is given: what the smallest size moved is in its errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "stats/fit.h"

enum { DEGREE_LEAST = 2, DEGREE_MOST = 5 };
/* The degree grows until chi^2 is at least as probable. */
static const double level = 0.05;

/* In units of the window's half width and of the largest side, so that |u| <= 1, roughly. */
struct problem {
    size_t n, degree;
    double *x, *side, *y, *error; /* side: over the largest */
    double *owed;                 /* [n][n_pieces]: what y owes to pieces; NULL: independent */
    size_t n_pieces;
    double centre, width;
    bool power_free;
    double power; /* where it is not free */
    double correction;
};

/* Parameters: (x_c - centre) / width, 1/nu, coefficients, power where it is free, amplitude of the
 * correction. */
static size_t count_parameters(const struct problem *p) {
    return 3 + p->degree + (p->power_free ? 1 : 0) + (isnan(p->correction) ? 0 : 1);
}

static double scaled(const struct problem *p, double x, double inverse_nu, size_t i) {
    return ((p->x[i] - p->centre) / p->width - x) * pow(p->side[i], inverse_nu);
}

static void predict(const double *v, double *predicted, void *user) {
    const struct problem *p = user;
    const double power = p->power_free ? v[3 + p->degree] : p->power;
    for (size_t i = 0; i < p->n; i++) {
        const double u = scaled(p, v[0], v[1], i);
        double sum = 0;
        for (size_t k = p->degree + 1; k-- > 0;)
            sum = sum * u + v[2 + k];
        if (!isnan(p->correction))
            sum += v[3 + p->degree + p->power_free] * pow(p->side[i], -p->correction);
        predicted[i] = pow(p->side[i], power) * sum;
    }
}

/* chi^2 of the best coefficients for these other parameters. */
static double try_start(const struct problem *p, double x, double inverse_nu, double power,
                        double *coefficients) {
    double a[(DEGREE_MOST + 1) * (DEGREE_MOST + 1)] = {0}, b[DEGREE_MOST + 1] = {0};
    const size_t m = p->degree + 1;
    double chi2 = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double u = scaled(p, x, inverse_nu, i), scale = pow(p->side[i], power) / p->error[i];
        double row[DEGREE_MOST + 1] = {0};
        for (size_t k = 0; k < m; k++) {
            row[k] = k ? row[k - 1] * u : scale;
            b[k] += row[k] * p->y[i] / p->error[i];
            for (size_t j = 0; j <= k; j++)
                a[k * m + j] += row[k] * row[j];
        }
    }
    for (size_t k = 0; k < m; k++)
        a[k * m + k] *= 1 + 1e-9;
    if (!ergo_fit_cholesky(a, m))
        return INFINITY;
    ergo_fit_solve(a, m, b);
    for (size_t i = 0; i < p->n; i++) {
        const double u = scaled(p, x, inverse_nu, i);
        double sum = 0;
        for (size_t k = m; k-- > 0;)
            sum = sum * u + b[k];
        chi2 += pow((p->y[i] - pow(p->side[i], power) * sum) / p->error[i], 2);
    }
    memcpy(coefficients, b, m * sizeof *b);
    return chi2;
}

/* From the best of a grid. */
static bool fit_degree(const struct problem *p, struct ergo_fit *fit) {
    static const double inverse_nus[] = {0.5, 0.7, 0.85, 1, 1.2, 1.5, 1.8, 2.2};
    double best = INFINITY, coefficients[DEGREE_MOST + 1];
    if (p->n < count_parameters(p) + 1)
        return false;
    for (int i = -10; i <= 10; i++)
        for (size_t k = 0; k < sizeof inverse_nus / sizeof *inverse_nus; k++)
            for (int l = p->power_free ? -12 : 0; l <= (p->power_free ? 12 : 0); l++) {
                const double power = p->power_free ? 0.25 * l : p->power, x = 0.1 * i;
                const double chi2 = try_start(p, x, inverse_nus[k], power, coefficients);
                if (!(chi2 < best))
                    continue;
                best = chi2;
                memset(fit->value, 0, sizeof fit->value);
                fit->value[0] = x;
                fit->value[1] = inverse_nus[k];
                memcpy(fit->value + 2, coefficients, (p->degree + 1) * sizeof *coefficients);
                if (p->power_free)
                    fit->value[3 + p->degree] = power;
            }
    return isfinite(best) &&
           ergo_fit_least_squares(predict, (void *)p, p->y, p->error, NULL, p->n,
                                  count_parameters(p), fit) &&
           (!p->owed || ergo_fit_share(predict, (void *)p, p->error, p->owed, p->n, p->n_pieces,
                                       count_parameters(p), fit));
}

static void report(const struct problem *p, const struct ergo_fit *fit, double largest,
                   struct ergo_scaling *s) {
    const double *v = fit->value;
    s->degree = p->degree;
    s->dof = fit->dof;
    s->chi2 = fit->chi2;
    s->tail = fit->tail;
    s->x = (struct ergo_valued){p->centre + p->width * v[0], p->width * fit->error[0]};
    s->inverse_nu = (struct ergo_valued){v[1], fit->error[1]};
    s->power = p->power_free ? (struct ergo_valued){v[3 + p->degree], fit->error[3 + p->degree]}
                             : (struct ergo_valued){p->power, 0};
    /* back to L and x: u = (x - x_c) L^(1/nu) / (width largest^(1/nu)) */
    const double unit = p->width * pow(largest, v[1]), front = pow(largest, -s->power.value);
    for (size_t k = 0; k <= p->degree; k++)
        s->coefficients[k] = v[2 + k] * front * pow(unit, -(double)k);
    s->amplitude = isnan(p->correction)
                       ? NAN
                       : v[3 + p->degree + p->power_free] * front * pow(largest, p->correction);
}

/* Points of sizes above that one in the window; false: out of memory. */
static bool collect(const struct ergo_analysis *a, double low, double high, double above,
                    struct problem *p, double *largest, size_t *n_sides) {
    size_t most = 0;
    for (size_t s = 0; s < a->n_systems; s++)
        most += a->systems[s].n_states;
    const size_t n_pieces = a->n_draws ? ergo_analysis_pieces(a, NULL) : 0;
    double *room = calloc((4 + n_pieces) * most + 1, sizeof *room);
    double first = INFINITY, last = -INFINITY;
    if (!room)
        return false;
    *p = (struct problem){.x = room,
                          .side = room + most,
                          .y = room + 2 * most,
                          .error = room + 3 * most,
                          .owed = n_pieces ? room + 4 * most : NULL,
                          .n_pieces = n_pieces};
    *largest = 0;
    *n_sides = 0;
    for (size_t s = 0; s < a->n_systems; s++) {
        const struct ergo_system *system = &a->systems[s];
        const size_t before = p->n;
        for (size_t k = 0; k < system->n_states; k++) {
            const struct ergo_pooled v = ergo_state_pool(system, k, a->scaling_of.observable, NULL);
            const double x = system->states[k].x;
            if (!(v.error > 0) || !isfinite(v.mean) || x < low || x > high ||
                !(system->side > above))
                continue;
            const double scale = pow(system->side, -a->scaling_of.power);
            p->x[p->n] = x;
            p->side[p->n] = system->side;
            p->y[p->n] = v.mean * scale;
            if (p->owed)
                ergo_state_owe(a, system, &v, scale, p->owed + p->n * n_pieces);
            p->error[p->n++] = v.error * scale;
            first = fmin(first, x);
            last = fmax(last, x);
        }
        *n_sides += p->n > before && system->side > *largest;
        if (p->n > before)
            *largest = fmax(*largest, system->side);
    }
    p->centre = (first + last) / 2;
    p->width = last > first ? (last - first) / 2 : 1;
    for (size_t i = 0; i < p->n; i++)
        p->side[i] /= *largest;
    return true;
}

static enum ergo_status refuse(struct ergo_context *ctx, struct ergo_scaling *s, const char *format,
                               ...) ERGO_PRINTF(3, 4);
static enum ergo_status refuse(struct ergo_context *ctx, struct ergo_scaling *s, const char *format,
                               ...) {
    struct ergo_text text = {0};
    va_list args;
    va_start(args, format);
    ergo_text_append_va(&text, format, args);
    va_end(args);
    s->why_not = ergo_text_take(&text);
    return s->why_not ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a fit");
}

/* A fit to all sizes above one. */
static enum ergo_status fit_above(struct ergo_context *ctx, const struct ergo_analysis *a,
                                  double above, struct ergo_scaling *s) {
    struct problem p;
    double largest;
    size_t n_sides;
    bool done = false;
    enum ergo_status status = ERGO_OK;
    if (!collect(a, s->low, s->high, above, &p, &largest, &n_sides))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a fit");
    const struct ergo_observable *o = &a->model->observables[a->scaling_of.observable];
    p.power_free = !o->crosses && a->scaling_of.power == 0;
    p.correction = s->correction;
    s->power_free = p.power_free;
    s->n = p.n;
    s->smallest = INFINITY;
    for (size_t i = 0; i < p.n; i++) {
        s->smallest = fmin(s->smallest, p.side[i] * largest);
        s->low = i ? fmin(s->low, p.x[i]) : p.x[i];
        s->high = i ? fmax(s->high, p.x[i]) : p.x[i];
    }
    for (p.degree = DEGREE_LEAST; n_sides >= 2 && p.degree <= DEGREE_MOST; p.degree++) {
        struct ergo_fit fit = {0};
        if (!fit_degree(&p, &fit))
            continue;
        if (!done || fit.tail > s->tail)
            report(&p, &fit, largest, s);
        done = true;
        if (fit.tail >= level)
            break;
    }
    if (n_sides < 2)
        status = refuse(ctx, s,
                        "points with errors of two sizes or more are needed, and there are "
                        "%zu points of %zu sizes",
                        p.n, n_sides);
    else if (!done)
        status = refuse(ctx, s,
                        "%zu points do not determine it: the window is too narrow, there "
                        "are too few points, or no common curve",
                        p.n);
    free(p.x);
    return status;
}

double ergo_scaling_left(double smaller, double larger, double exponent) {
    return 1 / (pow(larger / smaller, exponent) - 1);
}

/* Puts into an error what the value moves without the smallest size, or what is left of that, if it
 * is more. False: it moves further than errors explain. */
static bool settle(struct ergo_valued *to, double before, double left) {
    const double shift = to->value - before;
    const bool settled = fabs(shift) <= 2 * to->error;
    to->error = hypot(to->error, fmax(1, left) * shift);
    return settled;
}

enum ergo_status ergo_analysis_scale(struct ergo_context *ctx, struct ergo_analysis *a, double low,
                                     double high, double correction) {
    struct ergo_scaling *s = &a->scaling,
                        now = {.low = low, .high = high, .correction = correction};
    const double omega = isnan(correction) ? ERGO_ANALYSE_OMEGA : correction;
    enum ergo_status status = fit_above(ctx, a, 0, &now);
    bool settled = false;
    *s = now;
    s->without = s->shift = NAN;
    while (status == ERGO_OK && !now.why_not && !settled) {
        struct ergo_scaling next = {.low = low, .high = high, .correction = correction};
        status = fit_above(ctx, a, now.smallest, &next);
        if (status != ERGO_OK || next.why_not) {
            free(next.why_not);
            break;
        }
        *s = next;
        s->without = now.smallest;
        s->shift = next.x.value - now.x.value;
        const double left = ergo_scaling_left(now.smallest, next.smallest, omega);
        settled = settle(
            &s->x, now.x.value,
            ergo_scaling_left(now.smallest, next.smallest, omega + fabs(next.inverse_nu.value)));
        settled = settle(&s->inverse_nu, now.inverse_nu.value, left) && settled;
        settled = settle(&s->power, now.power.value, left) && settled && next.tail >= level;
        now = next;
    }
    if (status != ERGO_OK || s->why_not || settled)
        return status;
    return isnan(s->shift)
               ? ergo_analysis_note(ctx, a,
                                    "the fit of %s has no other without its smallest size beside "
                                    "it: its errors are of the noise alone, and corrections to "
                                    "scaling may be larger; a third size",
                                    a->scaling_of.name)
               : ergo_analysis_note(ctx, a,
                                    "the fit of %s does not settle: without L = %g it moves "
                                    "further than its noise, or its chi^2 is too large. Larger "
                                    "sizes, a narrower --window, or --correction",
                                    a->scaling_of.name, s->without);
}
