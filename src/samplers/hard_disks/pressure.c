/* The pressure from the pair distribution near contact (Eqs. 4 to 6), and known values. */
#include <math.h>

#include "samplers/hard_disks/disks.h"

/* Forsythe's orthogonal polynomials on the points themselves. A fit of degree 5 over a range of
 * 0.02 is ill-conditioned in powers of r, and this way needs no matrix. */
double disks_extrapolate(const double *x, const double *y, size_t n, int degree, double x0) {
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

double disks_pressure(const struct ergo_point *point, const double *contact, size_t size) {
    struct disks_shape s;
    char reason[300];
    double x[4096];
    if (size > sizeof x / sizeof x[0] || !disks_shape_of(point, &s, reason))
        return NAN;
    disks_curve_x(point, DISKS_CURVE_CONTACT, x);
    const int degree = (int)ergo_point_int(point, "/run/contact_degree");
    const double g = disks_extrapolate(x, contact, size, degree, 1.0);
    return s.density * (1.0 + 0.5 * DISKS_PI * s.density * g);
}

double disks_exact_pressure(const struct ergo_point *point) {
    struct disks_shape s;
    char reason[300];
    if (!disks_shape_of(point, &s, reason) || s.n != 2)
        return NAN;
    /* the second disk is uniform outside of a circle around the first */
    return s.density *
           (1.0 + 0.25 * DISKS_PI * s.density * s.box * s.box / (s.box * s.box - DISKS_PI));
}

/* Anderson et al., J. Comput. Phys. 254, 27 (2013), Table 2 (MPMC) and, at 0.708 and 0.716, Table 1
 * (with the shuffle). The paper gives two standard errors; these are one, in 1e-5. */
static const struct {
    uint64_t n;
    double phi, pressure, error;
} published[] = {
    {65536, 0.698, 9.1709, 5},    {65536, 0.702, 9.1920, 10},   {65536, 0.706, 9.1854, 5},
    {65536, 0.708, 9.18214, 3},   {65536, 0.710, 9.1792, 5},    {65536, 0.714, 9.1758, 5},
    {65536, 0.716, 9.1774, 10},   {65536, 0.718, 9.187, 50},    {262144, 0.698, 9.1699, 25},
    {262144, 0.702, 9.1900, 10},  {262144, 0.706, 9.1861, 5},   {262144, 0.710, 9.1828, 5},
    {262144, 0.714, 9.1800, 5},   {262144, 0.718, 9.1930, 20},  {1048576, 0.698, 9.1694, 5},
    {1048576, 0.702, 9.187, 50},  {1048576, 0.706, 9.1858, 15}, {1048576, 0.710, 9.1843, 25},
    {1048576, 0.714, 9.1819, 35}, {1048576, 0.718, 9.21, 500},
};

double disks_published_pressure(const struct ergo_point *point, double *error) {
    struct disks_shape s;
    char reason[300];
    if (!disks_shape_of(point, &s, reason))
        return NAN;
    const double phi = s.density * DISKS_PI / 4.0;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (published[i].n == s.n && fabs(published[i].phi - phi) < 1e-9) {
            *error = 1e-5 * published[i].error;
            return published[i].pressure;
        }
    return NAN;
}
