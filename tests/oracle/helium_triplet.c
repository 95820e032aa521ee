#include "oracle/helium_triplet.h"

#include <math.h>

static double xi(const struct ergo_oracle_triplet *t, double r) {
    const double z = (r - t->centre) / t->width;
    return r < t->range ? exp(-z * z) * pow((r - t->range) / t->range, 3) : 0;
}

/* r_i - r_j, to the nearest image; returns its length. */
static double apart(const struct ergo_oracle_triplet *t, int i, int j, double d[3]) {
    const struct ergo_oracle_helium *h = &t->pairs;
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = h->position[3 * i + k] - h->position[3 * j + k];
        d[k] -= h->side[k] * round(d[k] / h->side[k]);
        r2 += d[k] * d[k];
    }
    return sqrt(r2);
}

static double two_body(const struct ergo_oracle_triplet *t) {
    const struct ergo_oracle_helium *h = &t->pairs;
    const double side = fmin(h->side[0], fmin(h->side[1], h->side[2]));
    double sum = 0;
    for (int i = 0; i < h->n; i++)
        for (int j = 0; j < i; j++) {
            double d[3], u[3];
            ergo_oracle_helium_u(apart(t, i, j, d), h->b, side, u);
            sum += u[0];
        }
    return sum;
}

double ergo_oracle_triplet_ln_psi(const struct ergo_oracle_triplet *t) {
    double sum = two_body(t);
    for (int i = 0; i < t->pairs.n; i++) {
        double g[3] = {0}, pairs = 0;
        for (int j = 0; j < t->pairs.n; j++) {
            double d[3];
            if (j == i)
                continue;
            const double r = apart(t, i, j, d), x = xi(t, r);
            for (int k = 0; k < 3; k++)
                g[k] += x * d[k];
            pairs += 0.5 * x * x * r * r; /* each pair is met twice */
        }
        sum += 0.5 * t->strength * pairs -
               0.25 * t->strength * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    return sum;
}

double ergo_oracle_triplet_by_triples(const struct ergo_oracle_triplet *t) {
    double sum = two_body(t);
    for (int i = 0; i < t->pairs.n; i++)
        for (int j = 0; j < t->pairs.n; j++)
            for (int k = 0; k < j; k++) {
                double a[3], b[3];
                if (j == i || k == i)
                    continue;
                const double x = xi(t, apart(t, i, j, a)) * xi(t, apart(t, i, k, b));
                sum -= 0.5 * t->strength * x * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            }
    return sum;
}

void ergo_oracle_triplet_derivatives(struct ergo_oracle_triplet *t, double *square,
                                     double *laplacian) {
    const double h = 1e-3, here = ergo_oracle_triplet_ln_psi(t);
    *square = *laplacian = 0;
    for (int i = 0; i < 3 * t->pairs.n; i++) {
        double *x = t->pairs.position + i, f[5];
        if (t->pairs.plane && i % 3 == 2)
            continue;
        const double at = *x;
        for (int k = 0; k < 5; k++) {
            *x = at + h * (k - 2);
            f[k] = k == 2 ? here : ergo_oracle_triplet_ln_psi(t);
        }
        *x = at;
        const double slope = (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h);
        *square += slope * slope;
        *laplacian += (16 * (f[3] + f[1]) - (f[4] + f[0]) - 30 * f[2]) / (12 * h * h);
    }
}

void ergo_oracle_triplet_macroupdate(struct ergo_oracle_triplet *t, double step) {
    struct ergo_oracle_helium *h = &t->pairs;
    double now = ergo_oracle_triplet_ln_psi(t);
    for (int i = 0; i < h->n; i++) {
        double *r = h->position + 3 * (int)(ergo_oracle_helium_uniform(h) * h->n);
        const double old[3] = {r[0], r[1], r[2]};
        for (int k = 0; k < 3; k++) {
            r[k] += step * (2 * ergo_oracle_helium_uniform(h) - 1);
            r[k] -= h->side[k] * floor(r[k] / h->side[k]);
        }
        const double next = ergo_oracle_triplet_ln_psi(t);
        if (exp(2 * (next - now)) > ergo_oracle_helium_uniform(h))
            now = next;
        else
            for (int k = 0; k < 3; k++)
                r[k] = old[k];
    }
}
