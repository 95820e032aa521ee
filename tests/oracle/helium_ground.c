#include "oracle/helium_ground.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- finite differences ---------------------------------------------------------------------- */

struct grid {
    int m;      /* cells along a side of the eighth */
    int deep;   /* and along z; 1: two dimensions */
    double hop; /* 2 lambda / h^2 */
    double *v;  /* [m^2 deep] */
};

/* out = (H + shift) x; beyond a wall is the cell's own image. */
static void apply(const struct grid *g, double shift, const double *x, double *out) {
    const int m = g->m, deep = g->deep;
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++)
            for (int c = 0; c < deep; c++) {
                const int i = (a * m + b) * deep + c;
                const double own = x[i];
                double sum = 0;
                sum += (a > 0 ? x[i - m * deep] : own) + (a < m - 1 ? x[i + m * deep] : own);
                sum += (b > 0 ? x[i - deep] : own) + (b < m - 1 ? x[i + deep] : own);
                sum += (c > 0 ? x[i - 1] : own) + (c < deep - 1 ? x[i + 1] : own);
                out[i] = (g->v[i] + shift) * own + g->hop * (6 * own - sum);
            }
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solve (H + shift) x = y by conjugate gradients, from x. work: [3 n]. */
static void solve(const struct grid *g, double shift, const double *y, double *x, double *work) {
    const int n = g->m * g->m * g->deep;
    double *r = work, *p = work + n, *q = work + 2 * n;
    apply(g, shift, x, q);
    for (int i = 0; i < n; i++)
        p[i] = r[i] = y[i] - q[i];
    double rr = dot(r, r, n);
    const double wanted = 1e-18 * dot(y, y, n);
    for (int k = 0; k < 2000 && rr > wanted; k++) {
        apply(g, shift, p, q);
        const double alpha = rr / dot(p, q, n), before = rr;
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot(r, r, n);
        for (int i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
}

/* The mean of V over a cell of width h at (a, b, c) h; of a square in the plane z = 0. */
static double cell_mean(double h, const int at[3], int plane, double cut,
                        double (*potential)(double r, const void *user), const void *user,
                        double most) {
    enum { PARTS = 6 };
    double sum = 0;
    for (int k = 0; k < PARTS * PARTS * PARTS; k++) {
        const double x = h * (at[0] + (k % PARTS + 0.5) / PARTS);
        const double y = h * (at[1] + (k / PARTS % PARTS + 0.5) / PARTS);
        const double z = plane ? 0 : h * (at[2] + (k / PARTS / PARTS + 0.5) / PARTS);
        const double r = sqrt(x * x + y * y + z * z);
        sum += r < cut ? fmin(potential(r, user), most) : 0;
    }
    return sum / (PARTS * PARTS * PARTS);
}

struct ergo_oracle_ground ergo_oracle_ground_state(int dimensions, double side, double lambda,
                                                   double (*potential)(double r, const void *user),
                                                   const void *user, double most, int points) {
    const int plane = dimensions == 2, deep = plane ? 1 : points, n = points * points * deep;
    const double h = side / 2 / points;
    struct grid g = {points, deep, 2 * lambda / (h * h), malloc((size_t)n * sizeof(double))};
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    double *work = malloc(3 * (size_t)n * sizeof *work);
    struct ergo_oracle_ground ground = {NAN, NAN};
    if (g.v && x && y && work) {
        double least = 0, energy = 0, before = INFINITY;
        for (int i = 0; i < n; i++) {
            const int at[3] = {i / deep / points, i / deep % points, i % deep};
            g.v[i] = cell_mean(h, at, plane, side / 2, potential, user, most);
            least = fmin(least, g.v[i]);
            x[i] = y[i] = 1 / sqrt(n);
        }
        for (int k = 0; k < 200 && fabs(energy - before) > 1e-9; k++) { /* inverse iteration */
            solve(&g, 1 - least, y, x, work);
            const double norm = sqrt(dot(x, x, n));
            for (int i = 0; i < n; i++)
                y[i] = x[i] /= norm;
            apply(&g, 0, x, work);
            before = energy;
            energy = dot(x, work, n);
            for (int i = 0; i < n; i++) /* where the solution will be, about */
                x[i] = y[i] / (energy + 1 - least);
        }
        double v = 0;
        for (int i = 0; i < n; i++)
            v += g.v[i] * y[i] * y[i];
        ground = (struct ergo_oracle_ground){energy / 2, v / 2};
    }
    free(g.v);
    free(x);
    free(y);
    free(work);
    return ground;
}

/* ---- a known ground state -------------------------------------------------------------------- */

double ergo_oracle_smooth_u(const struct ergo_oracle_smooth *p, double height, double r) {
    const double s = 2 * r / p->side;
    return s < 1 ? -height * pow(1 - s * s, 3) : 0;
}

double ergo_oracle_smooth_v(double r, const void *user) {
    const struct ergo_oracle_smooth *p = user;
    const double h = p->side / 2, s = r / h, t = 1 - s * s;
    const double first = 6 * p->height * s * t * t / h; /* u' */
    const double second = 6 * p->height * (t * t - 4 * s * s * t) / (h * h);
    const double around = (p->plane ? 6 : 12) * p->height * t * t / (h * h); /* 2 u'/r, or u'/r */
    return s < 1 ? 2 * p->lambda * (second + around + first * first) : 0;
}

double ergo_oracle_smooth_mean(const struct ergo_oracle_smooth *p, double height) {
    const double h = p->side / 2;
    const int steps = 20000;
    double v = 0, all = p->plane ? p->side * p->side - pi * h * h
                                 : p->side * p->side * p->side - 4 * pi / 3 * h * h * h;
    for (int i = 0; i < steps; i++) {
        const double r = h * (i + 0.5) / steps;
        const double u = ergo_oracle_smooth_u(p, height, r) + ergo_oracle_smooth_u(p, p->height, r);
        const double w = exp(u) * (p->plane ? 2 * pi * r : 4 * pi * r * r) * h / steps;
        v += w * ergo_oracle_smooth_v(r, p);
        all += w;
    }
    return v / all / 2;
}
