/* E(b) by correlated sampling. */
#include <math.h>

#include "samplers/helium_vmc/helium.h"

/*
 * u is proportional to b^5. With s = (b'/b)^5, on a configuration drawn from |psi_b|^2:
 *     ln psi' = s ln psi, lap ln psi' = s lap ln psi, (grad ln psi')^2 = s^2 (grad ln psi)^2,
 *     <E>_b' = <w E'> / <w>, w = |psi'/psi|^2 = exp(2 (s - 1) ln psi), E' = V + s A - s^2 B,
 * A = -lambda lap ln psi / N and B = lambda (grad ln psi)^2 / N. The grid spans a width in which
 * weights stay of order one: the spread of ln psi grows as sqrt(N).
 */
static double scale_of(uint32_t n, int k) {
    return 1.0 + 0.6 / sqrt((double)n) * (2.0 * k / (HELIUM_B_POINTS - 1) - 1.0);
}

void helium_b_x(const struct ergo_point *point, double *x) {
    const double b = of_quantum(point)->b;
    for (int k = 0; k < HELIUM_B_POINTS; k++)
        x[k] = x[k + HELIUM_B_POINTS] = b * pow(scale_of((uint32_t)of_quantum(point)->n, k), 0.2);
}

void helium_b_add(const struct helium_model *model, double ln_psi, double potential,
                  double laplacian, double gradient, double *moments) {
    /* a constant factor of all weights cancels; this one keeps them near 1, as ln psi / N is
     * about -1.1 */
    const double relative = ln_psi + 1.1 * model->n;
    for (int k = 0; k < HELIUM_B_POINTS; k++) {
        const double s = scale_of(model->n, k);
        const double weight = exp(2 * (s - 1) * relative);
        moments[k] += weight * (potential + s * laplacian - s * s * gradient);
        moments[HELIUM_B_POINTS + k] += weight;
    }
}

double helium_b_minimum(const struct ergo_point *point, const double *moments, size_t size,
                        bool energy) {
    /* least squares of e = c0 + c1 t + c2 t^2 + c3 t^3 over t = -1 .. 1, where even and odd
     * powers separate by symmetry; then the minimum */
    double x[2 * HELIUM_B_POINTS], m[7] = {0}, y[4] = {0};
    if (size != 2 * HELIUM_B_POINTS)
        return NAN;
    helium_b_x(point, x);
    for (int k = 0; k < HELIUM_B_POINTS; k++) {
        const double t = 2.0 * k / (HELIUM_B_POINTS - 1) - 1.0;
        double power = 1;
        for (int p = 0; p < 7; p++, power *= t)
            m[p] += power;
        const double e = moments[k] / moments[HELIUM_B_POINTS + k];
        y[0] += e;
        y[1] += e * t;
        y[2] += e * t * t;
        y[3] += e * t * t * t;
    }
    const double even = m[0] * m[4] - m[2] * m[2];
    const double c0 = (m[4] * y[0] - m[2] * y[2]) / even, c2 = (m[0] * y[2] - m[2] * y[0]) / even;
    const double c1 = y[1] / m[2]; /* without c3, which would only amplify noise */
    /* only within the grid, because the weights mean nothing beyond; at its end the user runs
     * again from there */
    double t = c2 > 0 ? -c1 / (2 * c2) : c1 > 0 ? -1 : 1;
    t = t < -1 ? -1 : t > 1 ? 1 : t;
    const double s = 1.0 + 0.6 / sqrt((double)of_quantum(point)->n) * t;
    return energy ? c0 + c1 * t + c2 * t * t : of_quantum(point)->b * pow(s, 0.2);
}
