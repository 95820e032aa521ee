#include "stats/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "base/memory.h"

bool ergo_fit_cholesky(double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i != j)
                a[i * n + j] = sum / a[j * n + j];
            else if (sum > 0 && isfinite(sum))
                a[i * n + i] = sqrt(sum);
            else
                return false;
        }
    return true;
}

/* b becomes L^-1 b. */
static void ergo_fit_whiten(const double *l, size_t n, double *b) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
}

void ergo_fit_solve(const double *l, size_t n, double *b) {
    ergo_fit_whiten(l, n, b);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
}

/* The F distribution with very many degrees of freedom in its denominator. */
double ergo_fit_tail(double chi2, size_t dof) {
    return dof ? ergo_stats_f_tail(chi2 / (double)dof, (double)dof, 1e7) : 1;
}

/* ---- least squares ----------------------------------------------------------------------------
 */

enum { STEPS_MAX = 500 };

struct problem {
    ergo_fit_model model;
    void *user;
    const double *y, *error;
    const double *l; /* of the covariance; NULL: error */
    size_t n, n_parameters;
    double *residual, *jacobian; /* [n], [n_parameters][n], whitened */
};

static void whiten(const struct problem *p, double *b) {
    if (p->l)
        ergo_fit_whiten(p->l, p->n, b);
    else
        for (size_t i = 0; i < p->n; i++)
            b[i] /= p->error[i];
}

/* chi^2, with residual = L^-1 (y - predicted). */
static double residuals(const struct problem *p, const double *parameters, double *residual) {
    double chi2 = 0;
    p->model(parameters, residual, p->user);
    for (size_t i = 0; i < p->n; i++)
        residual[i] = p->y[i] - residual[i];
    whiten(p, residual);
    for (size_t i = 0; i < p->n; i++)
        chi2 += residual[i] * residual[i];
    return isfinite(chi2) ? chi2 : INFINITY;
}

/* Whitened derivatives of what is predicted, by central differences. */
static void derive(const struct problem *p, double *parameters, double *low) {
    for (size_t k = 0; k < p->n_parameters; k++) {
        const double at = parameters[k], h = 1e-5 * fmax(fabs(at), 1e-3);
        double *high = p->jacobian + k * p->n;
        parameters[k] = at - h;
        p->model(parameters, low, p->user);
        parameters[k] = at + h;
        p->model(parameters, high, p->user);
        parameters[k] = at;
        for (size_t i = 0; i < p->n; i++)
            high[i] = (high[i] - low[i]) / (2 * h);
        whiten(p, high);
    }
}

/* The normal equations: a = J J^T with its diagonal (1 + damping) times as large, b = J r. */
static bool normal(const struct problem *p, double damping, double *a, double *b) {
    const size_t m = p->n_parameters;
    for (size_t k = 0; k < m; k++) {
        b[k] = 0;
        for (size_t i = 0; i < p->n; i++)
            b[k] += p->jacobian[k * p->n + i] * p->residual[i];
        for (size_t j = 0; j <= k; j++) {
            double sum = 0;
            for (size_t i = 0; i < p->n; i++)
                sum += p->jacobian[k * p->n + i] * p->jacobian[j * p->n + i];
            a[k * m + j] = j == k ? sum * (1 + damping) : sum;
        }
    }
    return ergo_fit_cholesky(a, m);
}

static bool minimise(struct problem *p, double *room, struct ergo_fit *fit) {
    const size_t m = p->n_parameters;
    double a[ERGO_FIT_PARAMETERS * ERGO_FIT_PARAMETERS], step[ERGO_FIT_PARAMETERS];
    double trial[ERGO_FIT_PARAMETERS], damping = 1e-3;
    bool stands = false;
    fit->chi2 = residuals(p, fit->value, p->residual);
    if (!isfinite(fit->chi2))
        return false;
    for (int i = 0; i < STEPS_MAX && !stands; i++) {
        derive(p, fit->value, room);
        bool better = false;
        while (!better && !stands) {
            if (normal(p, damping, a, step)) {
                ergo_fit_solve(a, m, step);
                for (size_t k = 0; k < m; k++)
                    trial[k] = fit->value[k] + step[k];
                const double chi2 = residuals(p, trial, room);
                better = chi2 <= fit->chi2;
                if (better) {
                    stands = fit->chi2 - chi2 < 1e-9 * (1 + chi2);
                    fit->chi2 = chi2;
                    memcpy(fit->value, trial, m * sizeof *trial);
                    memcpy(p->residual, room, p->n * sizeof *room);
                }
            }
            damping = better ? fmax(damping / 10, 1e-12) : damping * 10;
            if (!better && damping > 1e12)
                return false;
        }
    }
    derive(p, fit->value, room);
    if (!stands || !normal(p, 0, a, step))
        return false;
    for (size_t k = 0; k < m; k++) { /* the diagonal of the inverse */
        memset(step, 0, m * sizeof *step);
        step[k] = 1;
        ergo_fit_solve(a, m, step);
        fit->error[k] = sqrt(step[k]);
        if (!isfinite(fit->error[k]))
            return false;
    }
    return true;
}

bool ergo_fit_least_squares(ergo_fit_model model, void *user, const double *y, const double *error,
                            const double *covariance, size_t n, size_t n_parameters,
                            struct ergo_fit *fit) {
    double *l = NULL, *room = NULL;
    bool ok = n_parameters && n_parameters <= ERGO_FIT_PARAMETERS && n >= n_parameters;
    if (ok && covariance) {
        l = malloc(n * n * sizeof *l);
        ok = l != NULL;
        if (ok)
            memcpy(l, covariance, n * n * sizeof *l);
        ok = ok && ergo_fit_cholesky(l, n);
    }
    for (size_t i = 0; i < n && ok && !covariance; i++)
        ok = error[i] > 0 && isfinite(error[i]);
    if (ok)
        room = calloc((n_parameters + 2) * n, sizeof *room);
    if (ok && room) {
        struct problem p = {model, user, y, error, l, n, n_parameters, room, room + n};
        fit->dof = n - n_parameters;
        ok = minimise(&p, room + (n_parameters + 1) * n, fit);
        fit->tail = ergo_fit_tail(fit->chi2, fit->dof);
    }
    ok = ok && room;
    free(room);
    free(l);
    return ok;
}

/* What the parameters owe to a piece (to `step`, of which `a` is the normal matrix), and what is
 * left of it in the residuals, d. */
static void take_step(const struct problem *p, const double *a, double *d, double *step) {
    for (size_t k = 0; k < p->n_parameters; k++) {
        step[k] = 0;
        for (size_t i = 0; i < p->n; i++)
            step[k] += p->jacobian[k * p->n + i] * d[i];
    }
    ergo_fit_solve(a, p->n_parameters, step);
    for (size_t k = 0; k < p->n_parameters; k++)
        for (size_t i = 0; i < p->n; i++)
            d[i] -= step[k] * p->jacobian[k * p->n + i];
}

bool ergo_fit_share(ergo_fit_model model, void *user, const double *error, const double *owed,
                    size_t n, size_t n_pieces, size_t n_parameters, struct ergo_fit *fit) {
    double a[ERGO_FIT_PARAMETERS * ERGO_FIT_PARAMETERS], step[ERGO_FIT_PARAMETERS];
    double squares[ERGO_FIT_PARAMETERS] = {0}, mean = 0, variance = 0;
    double *room = calloc((n_parameters + 2 + n) * n, sizeof *room);
    if (!room)
        return false;
    const struct problem p = {model, user, NULL, error, NULL, n, n_parameters, room, room + n};
    double *d = room + (n_parameters + 1) * n, *covariance = d + n; /* of the residuals */
    derive(&p, fit->value, d);
    bool ok = normal(&p, 0, a, step);
    for (size_t k = 0; k < n_pieces && ok; k++) {
        for (size_t i = 0; i < n; i++)
            d[i] = owed[i * n_pieces + k];
        whiten(&p, d);
        take_step(&p, a, d, step);
        for (size_t l = 0; l < n_parameters; l++)
            squares[l] += step[l] * step[l];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                covariance[i * n + j] += d[i] * d[j];
    }
    for (size_t l = 0; l < n_parameters; l++)
        fit->error[l] = sqrt(squares[l]);
    for (size_t i = 0; i < n; i++)
        mean += covariance[i * n + i];
    for (size_t i = 0; i < n * n; i++)
        variance += covariance[i] * covariance[i];
    if (fit->dof && mean > 0)
        fit->tail = ergo_stats_f_tail(fit->chi2 / mean, mean * mean / variance, 1e7);
    free(room);
    return ok;
}

bool ergo_fit_polynomial(const double *x, const double *error, size_t n, size_t degree, double at,
                         double *weight) {
    enum { MOST = 6 };
    const size_t m = degree + 1;
    double a[MOST * MOST] = {0}, b[MOST], power[MOST], scale = 0;
    if (m > MOST || n < m)
        return false;
    for (size_t i = 0; i < n; i++) /* powers of distances from `at`, in units of the largest */
        scale = fmax(scale, fabs(x[i] - at));
    if (!(scale > 0))
        scale = 1;
    for (size_t i = 0; i < n; i++) {
        power[0] = 1;
        for (size_t k = 1; k < m; k++)
            power[k] = power[k - 1] * (x[i] - at) / scale;
        for (size_t k = 0; k < m; k++)
            for (size_t j = 0; j <= k; j++)
                a[k * m + j] += power[k] * power[j] / (error[i] * error[i]);
    }
    for (size_t k = 0; k < m; k++) /* a singular matrix may look positive by rounding */
        a[k * m + k] *= 1 + 1e-13;
    if (!ergo_fit_cholesky(a, m))
        return false;
    memset(b, 0, sizeof b);
    b[0] = 1; /* at `at` all powers but the first are 0 */
    ergo_fit_solve(a, m, b);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, p = 1;
        for (size_t k = 0; k < m; k++, p *= (x[i] - at) / scale)
            sum += b[k] * p;
        weight[i] = sum / (error[i] * error[i]);
    }
    return true;
}
