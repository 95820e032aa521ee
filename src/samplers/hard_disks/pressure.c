/* The pressure from the pair distribution near contact (Eqs. 4 to 6), and known values. */
#include <math.h>

#include "samplers/hard_disks/disks.h"
#include "stats/fit.h"

double disks_pressure(const struct ergo_point *point, const double *contact, size_t size) {
    struct disks_shape s;
    char reason[300];
    double x[4096];
    if (size > sizeof x / sizeof x[0] || !disks_shape_of(point, &s, reason))
        return NAN;
    disks_curve_x(point, DISKS_CURVE_CONTACT, x);
    const int degree = (int)of_particle(point)->contact_degree;
    const double g = ergo_fit_extrapolate(x, contact, size, degree, 1.0);
    if (s.npt) /* the curve is of pressures */
        return g;
    /* Eq. 4 is of a g that tends to 1 - 1/N */
    return s.density * (1.0 + 0.5 * DISKS_PI * s.density * g * (1.0 - 1.0 / (double)s.n));
}

double disks_compressibility(const struct ergo_point *point, const double *contact, size_t size) {
    struct disks_shape s;
    char reason[300];
    return disks_shape_of(point, &s, reason) ? disks_pressure(point, contact, size) / s.density
                                             : NAN;
}

double disks_wall(const struct ergo_point *point, const double *curve, size_t size) {
    struct disks_shape s;
    char reason[300];
    return disks_shape_of(point, &s, reason)
               ? ergo_confined_contact(point, &s.confined, curve, size)
               : NAN;
}

double disks_excess(const struct ergo_point *point, const double *profile, size_t size) {
    struct disks_shape s;
    char reason[300];
    return disks_shape_of(point, &s, reason) ? ergo_confined_excess(&s.confined, profile, size)
                                             : NAN;
}

double disks_exact_pressure(const struct ergo_point *point) {
    struct disks_shape s;
    char reason[300];
    if (!disks_shape_of(point, &s, reason) || s.n != 2)
        return NAN;
    /* the second disk is uniform outside of a circle around the first */
    const double area = s.box[0] * s.box[1];
    return s.density * (1.0 + 0.25 * DISKS_PI * s.density * area / (area - DISKS_PI));
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
