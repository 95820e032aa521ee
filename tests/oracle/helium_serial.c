#include "oracle/helium_serial.h"

#include <math.h>

double ergo_oracle_helium_potential(double r) {
    const double x = r / 2.963, d = 1.4826;
    const double f = x < d ? exp(-(d / x - 1) * (d / x - 1)) : 1.0;
    return 10.948 *
           (1.8443101e5 * exp(-10.43329537 * x - 2.27965105 * x * x) -
            f * (1.36745214 / pow(x, 6) + 0.42123807 / pow(x, 8) + 0.17473318 / pow(x, 10)));
}

static double potential_slope(double r) {
    const double h = 1e-4; /* a five-point difference, good to 1e-10 */
    return (8 * (ergo_oracle_helium_potential(r + h) - ergo_oracle_helium_potential(r - h)) -
            (ergo_oracle_helium_potential(r + 2 * h) - ergo_oracle_helium_potential(r - 2 * h))) /
           (12 * h);
}

void ergo_oracle_helium_u(double r, double b, double side, double out[3]) {
    const double c = -0.5 * pow(b, 5), s = side - r;
    if (r > side / 2) {
        out[0] = out[1] = out[2] = 0;
        return;
    }
    out[0] = c * (pow(r, -5) + pow(s, -5) - 2 * pow(side / 2, -5));
    out[1] = -5 * c * (pow(r, -6) - pow(s, -6));
    out[2] = 30 * c * (pow(r, -7) + pow(s, -7));
}

static double shortest(const struct ergo_oracle_helium *h) {
    return fmin(h->side[0], fmin(h->side[1], h->side[2]));
}

static double separation(const struct ergo_oracle_helium *h, const double *a, const double *b,
                         double d[3]) {
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = a[k] - b[k];
        d[k] -= h->side[k] * round(d[k] / h->side[k]);
        r2 += d[k] * d[k];
    }
    return sqrt(r2);
}

/* The same along the axes that the one-body factor acts on. */
static double from_site(const struct ergo_oracle_helium *h, const double *a, const double *site,
                        double d[3]) {
    double r2 = 0;
    separation(h, a, site, d);
    for (int k = 0; k < 3; k++) {
        d[k] = k < h->free ? 0 : d[k];
        r2 += d[k] * d[k];
    }
    return sqrt(r2);
}

void ergo_oracle_helium_energies(const struct ergo_oracle_helium *h,
                                 struct ergo_oracle_helium_energy *e) {
    const double cut = shortest(h) / 2;
    double ln_psi = 0, potential = 0, laplacian = 0, square = 0, virial = 0;
    for (int i = 0; i < h->n; i++) {
        double gradient[3] = {0};
        for (int j = 0; j < h->n; j++) {
            double d[3], u[3];
            if (j == i)
                continue;
            const double r = separation(h, h->position + 3 * i, h->position + 3 * j, d);
            if (r >= cut)
                continue;
            ergo_oracle_helium_u(r, h->b, 2 * cut, u);
            ln_psi += 0.5 * u[0];
            laplacian += u[2] + (2 - h->plane) * u[1] / r;
            for (int k = 0; k < 3; k++)
                gradient[k] += u[1] * d[k] / r;
            potential += 0.5 * ergo_oracle_helium_potential(r);
            virial += 0.5 * r * potential_slope(r);
        }
        if (h->site) {
            double d[3];
            const double r = from_site(h, h->position + 3 * i, h->site + 3 * i, d);
            ln_psi -= h->c * r * r / 2;
            laplacian -= (3 - h->free - h->plane) * h->c;
            potential += h->spring * r * r;
            virial += 2 * h->spring * r * r;
            for (int k = 0; k < 3; k++)
                gradient[k] -= h->c * d[k];
        }
        for (int k = 0; k < 3; k++)
            square += gradient[k] * gradient[k];
    }
    e->ln_psi = ln_psi;
    e->potential = potential / h->n;
    e->laplacian = -h->lambda * (laplacian + square) / h->n;
    e->gradient = h->lambda * square / h->n;
    e->virial = virial / h->n;
}

double ergo_oracle_helium_change(const struct ergo_oracle_helium *h, int atom, const double d[3]) {
    const double side = shortest(h);
    const double *from = h->position + 3 * atom;
    const double to[3] = {from[0] + d[0], from[1] + d[1], from[2] + d[2]};
    double change = 0;
    for (int j = 0; j < h->n; j++) {
        double e[3], old[3], new[3];
        if (j == atom)
            continue;
        ergo_oracle_helium_u(separation(h, from, h->position + 3 * j, e), h->b, side, old);
        ergo_oracle_helium_u(separation(h, to, h->position + 3 * j, e), h->b, side, new);
        change += new[0] - old[0];
    }
    if (h->site) {
        double e[3];
        const double old = from_site(h, from, h->site + 3 * atom, e);
        const double new = from_site(h, to, h->site + 3 * atom, e);
        change -= h->c * (new *new - old *old) / 2;
    }
    return change;
}

/* SplitMix64, 53 bits, within (0, 1). */
double ergo_oracle_helium_uniform(struct ergo_oracle_helium *h) {
    uint64_t z = (h->generator += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

void ergo_oracle_helium_macroupdate(struct ergo_oracle_helium *h, double step) {
    for (int t = 0; t < h->n; t++) {
        const int atom = (int)(ergo_oracle_helium_uniform(h) * h->n);
        double d[3] = {0}, *r = h->position + 3 * atom;
        for (int k = 0; k < 3 - h->plane; k++) {
            const double radius = sqrt(-2 * log(ergo_oracle_helium_uniform(h)));
            d[k] = step * radius * cos(6.283185307179586 * ergo_oracle_helium_uniform(h));
        }
        h->tried++;
        if (exp(2 * ergo_oracle_helium_change(h, atom, d)) <= ergo_oracle_helium_uniform(h))
            continue;
        h->accepted++;
        for (int k = 0; k < 3; k++)
            r[k] = r[k] + d[k] - h->side[k] * floor((r[k] + d[k]) / h->side[k]);
    }
}
