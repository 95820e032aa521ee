/* Extrapolation of a curve by a polynomial. */
#include "stats/fit.h"

/* Forsythe's orthogonal polynomials on the points themselves. A fit of degree 5 over a range of
 * 0.02 is ill-conditioned in powers of r, and this way needs no matrix. */
double ergo_fit_extrapolate(const double *x, const double *y, size_t n, int degree, double x0) {
    const double middle = 0.5 * (x[0] + x[n - 1]), scale = n > 1 ? 2.0 / (x[n - 1] - x[0]) : 1.0;
    double sum = 0.0, alpha[9] = {0}, beta[9] = {0};
    if (degree > (int)n - 1)
        degree = (int)n - 1;
    /* p_k at all points is recomputed by recursion, because n and degree are small */
    double norm_before = 1.0, value_before = 0.0, value = 1.0;
    for (int k = 0; k <= degree; k++) {
        double norm = 0.0, first = 0.0, overlap = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double t = (x[i] - middle) * scale;
            double p = 1.0, before = 0.0;
            for (int j = 0; j < k; j++) {
                const double next = (t - alpha[j]) * p - beta[j] * before;
                before = p;
                p = next;
            }
            norm += p * p;
            first += t * p * p;
            overlap += y[i] * p;
        }
        if (norm == 0.0)
            break;
        sum += overlap / norm * value;
        alpha[k] = first / norm;
        beta[k] = k ? norm / norm_before : 0.0;
        norm_before = norm;
        const double t0 = (x0 - middle) * scale;
        const double next = (t0 - alpha[k]) * value - beta[k] * value_before;
        value_before = value;
        value = next;
    }
    return sum;
}
