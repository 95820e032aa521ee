#include "stats/mbar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/fit.h"
#include "base/memory.h"

enum { ITERATIONS_MAX = 2000 };
static const double tolerance = 1e-9;

struct work {
    const struct ergo_mbar *m;
    double *log_n;               /* [n_states] */
    double *p;                   /* [n_states]: probabilities of the states at one value */
    double *expected, *hessian;  /* [n_states], [n_states][n_states] */
    double *step, *trial, *next; /* [n_states] */
};

/* p[k] of a sample with these values; returns the logarithm of their sum before. */
static double probabilities(const struct work *w, const double *f, const double *x, double *p) {
    const struct ergo_mbar *m = w->m;
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < m->n_states; k++) {
        p[k] = w->log_n[k] + f[k] + ergo_mbar_exponent(m->n_rows, m->a + k * m->n_rows, x);
        most = p[k] > most ? p[k] : most;
    }
    for (size_t k = 0; k < m->n_states; k++)
        sum += p[k] = exp(p[k] - most);
    for (size_t k = 0; k < m->n_states; k++)
        p[k] /= sum;
    return most + log(fmax(sum, 1)); /* the largest term is 1 */
}

/* expected[k]: samples that state k should have by these f; the largest relative difference from
 * what it has. With the second derivatives, where they are asked for. */
static double look(const struct work *w, const double *f, double *expected, double *hessian,
                   double *log_sum) {
    const struct ergo_mbar *m = w->m;
    const size_t n = m->n_states;
    double worst = 0;
    memset(expected, 0, n * sizeof *expected);
    if (hessian)
        memset(hessian, 0, n * n * sizeof *hessian);
    for (size_t u = 0; u < m->n_values; u++) {
        const double c = m->count[u];
        const double sum = probabilities(w, f, m->x + u * m->n_rows, w->p);
        if (log_sum)
            log_sum[u] = sum;
        for (size_t k = 0; k < n; k++) {
            const double cp = c * w->p[k];
            expected[k] += cp;
            if (hessian && cp > 0)
                for (size_t l = 0; l < k; l++)
                    hessian[k * n + l] -= cp * w->p[l];
        }
    }
    for (size_t k = 0; k < n; k++) {
        const double off = fabs(expected[k] / m->n[k] - 1);
        worst = isfinite(off) ? fmax(worst, off) : INFINITY;
    }
    return worst;
}

/* The plain iteration: f_k = -ln sum exp(a_k x) / sum_l n_l exp(f_l + a_l x). It never leads away,
 * however far the start is. */
static void repeat(const struct work *w, const double *f, double *log_sum) {
    const struct ergo_mbar *m = w->m;
    (void)look(w, f, w->next, NULL, log_sum);
    for (size_t k = 0; k < m->n_states; k++) {
        const double *a = m->a + k * m->n_rows;
        double most = -INFINITY, sum = 0;
        for (size_t u = 0; u < m->n_values; u++)
            if (m->count[u] > 0)
                most =
                    fmax(most, ergo_mbar_exponent(m->n_rows, a, m->x + u * m->n_rows) - log_sum[u]);
        for (size_t u = 0; u < m->n_values; u++)
            if (m->count[u] > 0)
                sum += m->count[u] * exp(ergo_mbar_exponent(m->n_rows, a, m->x + u * m->n_rows) -
                                         log_sum[u] - most);
        w->trial[k] = sum > 0 ? -most - log(sum) : NAN;
    }
}

/* Newton's step, with f[0] fixed. A row of the matrix sums to 0, because only differences of f
 * matter: what is off the diagonal gives the diagonal. */
static bool newton(const struct work *w) {
    const size_t n = w->m->n_states;
    double *h = w->hessian;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++)
            h[l * n + k] = h[k * n + l];
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        for (size_t l = 0; l < n; l++)
            sum += l == k ? 0 : h[k * n + l];
        h[k * n + k] = -sum * (1 + 1e-14);
    }
    /* without the first row and column, packed to the front */
    for (size_t k = 1; k < n; k++)
        for (size_t l = 1; l < n; l++)
            h[(k - 1) * (n - 1) + l - 1] = h[k * n + l];
    for (size_t k = 1; k < n; k++)
        w->step[k - 1] = w->m->n[k] - w->expected[k];
    if (!ergo_fit_cholesky(h, n - 1))
        return false;
    ergo_fit_solve(h, n - 1, w->step);
    return true;
}

static void iterate(struct work *w, double *f, double *log_sum, bool *done) {
    const size_t n = w->m->n_states;
    double worst = look(w, f, w->expected, w->hessian, log_sum);
    for (int i = 0; i < ITERATIONS_MAX && !(*done = worst < tolerance); i++) {
        double better = INFINITY;
        if (n > 1 && newton(w)) {
            memcpy(w->trial, f, n * sizeof *f);
            for (size_t k = 1; k < n; k++)
                w->trial[k] += w->step[k - 1];
            better = look(w, w->trial, w->next, w->hessian, log_sum);
        }
        if (!(better < 0.9 * worst)) {
            repeat(w, f, log_sum);
            better = look(w, w->trial, w->next, w->hessian, log_sum);
        }
        for (size_t k = 0; k < n; k++)
            f[k] = w->trial[k] - w->trial[0];
        memcpy(w->expected, w->next, n * sizeof *w->next);
        worst = better;
        if (!isfinite(worst))
            return;
    }
}

static bool begin(struct work *w, const struct ergo_mbar *m) {
    const size_t n = m->n_states;
    *w = (struct work){.m = m};
    double *room = calloc(n * n + 6 * n, sizeof *room);
    if (!room)
        return false;
    w->hessian = room;
    w->log_n = room + n * n;
    w->p = w->log_n + n;
    w->expected = w->p + n;
    w->step = w->expected + n;
    w->trial = w->step + n;
    w->next = w->trial + n;
    for (size_t k = 0; k < n; k++)
        w->log_n[k] = log(m->n[k]);
    return true;
}

bool ergo_mbar_solve(const struct ergo_mbar *m, double *f, double *log_sum) {
    struct work w;
    bool done = false;
    if (!begin(&w, m))
        return false;
    iterate(&w, f, log_sum, &done);
    if (done) /* f was shifted since */
        (void)look(&w, f, w.expected, NULL, log_sum);
    free(w.hessian);
    return done;
}

void ergo_mbar_start(const struct ergo_mbar *m, const double *means, double *f) {
    f[0] = 0;
    for (size_t k = 1; k < m->n_states; k++) {
        double change = 0;
        for (size_t r = 0; r < m->n_rows; r++) {
            const size_t now = k * m->n_rows + r, before = now - m->n_rows;
            change += (m->a[now] - m->a[before]) * (means[now] + means[before]) / 2;
        }
        f[k] = f[k - 1] - change;
    }
}

bool ergo_mbar_overlap(const struct ergo_mbar *m, const double *f, double *overlap) {
    struct work w;
    const size_t n = m->n_states;
    if (!begin(&w, m))
        return false;
    memset(overlap, 0, n * n * sizeof *overlap);
    for (size_t u = 0; u < m->n_values; u++) {
        (void)probabilities(&w, f, m->x + u * m->n_rows, w.p);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++)
                overlap[k * n + l] += m->count[u] * w.p[k] * w.p[l] / m->n[k];
    }
    free(w.hessian);
    return true;
}

double ergo_mbar_weights(const struct ergo_mbar *m, const double *log_sum, const double *a,
                         double *weight) {
    double most = -INFINITY, sum = 0;
    for (size_t u = 0; u < m->n_values; u++) {
        weight[u] = ergo_mbar_exponent(m->n_rows, a, m->x + u * m->n_rows) - log_sum[u];
        if (m->count[u] > 0)
            most = weight[u] > most ? weight[u] : most;
    }
    for (size_t u = 0; u < m->n_values; u++) {
        weight[u] = m->count[u] > 0 ? exp(weight[u] - most) : 0;
        sum += m->count[u] * weight[u];
    }
    for (size_t u = 0; u < m->n_values; u++)
        weight[u] /= sum;
    return sum > 0 ? most + log(sum) : -INFINITY;
}
