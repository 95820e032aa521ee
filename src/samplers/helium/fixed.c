/* Units of the fixed-point energy sums: fine enough for usual energies, coarse enough that no
 * sum overflows. */
#include <math.h>

#include "base/portable.h"
#include "helium/params.h"
#include "samplers/helium/model.h"

enum {
    HALVINGS = 9,  /* the grid has 2^9 distances in equal ratios */
    OVERLAPS = 16, /* partners of an atom at the steepest distance */
    SUM_BITS = 62, /* of a walker's sum, or that of `added` walkers */
    /* of an atom's share in floats, because terms of a piece's cubic are 2^30 times larger */
    SHARE_BITS = 90
};

/* |V|, |r V'|, |lambda lap u| and sqrt(lambda) |u'| of a pair, and its weight r^d |psi|^2. */
static void pair(const struct helium_model *m, double r, double f[HELIUM_E_KINDS], double *weight) {
    double u[3], v[2];
    helium_model_u(m, r, u);
    helium_model_v(m, r, v);
    f[0] = fabs(v[0]);
    f[1] = fabs(v[1]);
    f[2] = m->lambda * fabs(u[2] + (m->dimensions - 1) * u[1] / r);
    f[3] = sqrt(m->lambda) * fabs(u[1]);
    *weight = (m->dimensions == 2 ? r * r : r * r * r) * ergo_portable_exp(2 * u[0]);
}

/*
 * The largest share of one atom is estimated as twice (for what the grid misses) the sum of
 * OVERLAPS partners where the function is largest, and four times the value in a fluid without
 * correlations. At the greatest density, 0.52 partners are within `core` on average even if psi
 * allows them (in two dimensions 0.79); the probability of 16 is 1e-18 (1e-16). If psi does not
 * allow them, |psi|^2 is 1e-27 for each. A kernel marks a configuration with more.
 *
 * The usual share is that of a pair at the distance where r^d |psi|^2 f is largest, or of an atom
 * at its site.
 */
bool helium_fixed_point(struct helium_model *m, int *kind, double *most, double *usual) {
    double largest[HELIUM_E_KINDS] = {0}, fluid[HELIUM_E_KINDS] = {0};
    double counts[HELIUM_E_KINDS] = {0}, typical[HELIUM_E_KINDS] = {0};
    double usual_site[HELIUM_E_KINDS] = {0}, largest_site[HELIUM_E_KINDS] = {0};
    double ratio = m->half / m->core, r = m->core;
    for (int i = 0; i < HALVINGS; i++)
        ratio = sqrt(ratio);
    const double step = 2 * (ratio - 1) / (ratio + 1); /* of ln r */
    for (int i = 0; i < 1 << HALVINGS; i++, r *= ratio) {
        double f[HELIUM_E_KINDS], weight;
        pair(m, r, f, &weight);
        for (int k = 0; k < HELIUM_E_KINDS; k++) {
            const double share = k == 3 ? f[k] * f[k] : f[k];
            largest[k] = fmax(largest[k], f[k]);
            /* 4 pi r^2 dr, or 2 pi r dr */
            fluid[k] += (m->dimensions == 2 ? 6.283185307179586 * m->density * r * r
                                            : 12.566370614359172 * m->density * r * r * r) *
                        step * f[k];
            if (weight * share > counts[k]) {
                counts[k] = weight * share;
                typical[k] = share;
            }
        }
    }
    const double others = m->n - 1.0;
    helium_site_shares(m, usual_site, largest_site);
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        const double all = others * largest[k];
        const double some = fmin(others, OVERLAPS) * largest[k] + 4 * fluid[k];
        double share = 2 * fmin(all, some) + largest_site[k];
        share *= k == 3 ? share : 1;
        typical[k] = fmax(typical[k], usual_site[k] * (k == 3 ? usual_site[k] : 1));
        *kind = k;
        *most = share;
        *usual = typical[k];
        if (!(share < ldexp(1, SHARE_BITS)))
            return false;
        int exponent = 0, size = 0;
        (void)frexp(share * m->n * (m->added ? m->added : 1), &exponent); /* below 2^exponent */
        (void)frexp(typical[k], &size);
        const int highest = SUM_BITS - exponent;
        /* if all energies are small, 2^-20 K is too coarse */
        const int wanted = typical[k] > 0 && size < -4 ? HELIUM_E_BITS - 4 - size : HELIUM_E_BITS;
        m->bits[k] = wanted < highest ? wanted : highest;
        if (m->bits[k] > 60)
            m->bits[k] = 60;
        m->unit[k] = ldexp(1, -m->bits[k]);
        if (typical[k] > 0 && m->bits[k] < 10 - size)
            return false;
    }
    return true;
}
