/* Units of the sums of energies: so small that nothing is lost, so large that nothing overflows. */
#include <math.h>

#include "base/portable.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/model.h"

enum {
    HALVINGS = 9,   /* 2^9 distances, in equal factors */
    OVERLAPS = 16,  /* of one atom: more have no chance, see below */
    SUM_BITS = 62,  /* of a walker's sum */
    SHARE_BITS = 90 /* of an atom's share, as floats: a piece's cubic has terms 2^30 times larger */
};

/* A pair's V, r V', -lambda lap u, sqrt(lambda) u' in size, and its weight r^3 |psi|^2. */
static void pair(const struct helium_model *m, double r, double f[HELIUM_E_KINDS], double *weight) {
    double u[3], v[2];
    helium_model_u(m, r, u);
    helium_model_v(m, r, v);
    f[0] = fabs(v[0]);
    f[1] = fabs(v[1]);
    f[2] = m->lambda * fabs(u[2] + 2 * u[1] / r);
    f[3] = sqrt(m->lambda) * fabs(u[1]);
    *weight = r * r * r * ergo_portable_exp(2 * u[0]);
}

/*
 * The most that one atom can have: OVERLAPS partners where its functions are largest, and four
 * times what a fluid without correlations has (where they are long-ranged), twice for what the grid
 * misses. Within `core` are 0.52 partners on average, at the greatest density and if psi lets them;
 * 16 have a chance of 1e-18. Otherwise |psi|^2 is 1e-27 there for each. A configuration that has
 * more is marked by the kernel.
 *
 * Usual is what pairs have at the distance that counts most, where r^3 |psi|^2 f is largest.
 */
bool helium_fixed_point(struct helium_model *m, int *kind, double *most, double *usual) {
    double largest[HELIUM_E_KINDS] = {0}, fluid[HELIUM_E_KINDS] = {0};
    double counts[HELIUM_E_KINDS] = {0}, typical[HELIUM_E_KINDS] = {0};
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
            fluid[k] += 12.566370614359172 * m->density * r * r * r * step * f[k];
            if (weight * share > counts[k]) {
                counts[k] = weight * share;
                typical[k] = share;
            }
        }
    }
    const double others = m->n - 1.0;
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        const double all = others * largest[k];
        const double some = fmin(others, OVERLAPS) * largest[k] + 4 * fluid[k];
        double share = 2 * fmin(all, some);
        share *= k == 3 ? share : 1;
        *kind = k;
        *most = share;
        *usual = typical[k];
        if (!(share < ldexp(1, SHARE_BITS)))
            return false;
        int room = 0, size = 0;
        (void)frexp(share * m->n, &room); /* below 2^room */
        (void)frexp(typical[k], &size);
        const int highest = SUM_BITS - room;
        /* smaller units where all is small: 2^-20 K is then no longer little */
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
