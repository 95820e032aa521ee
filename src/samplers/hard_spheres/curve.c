/* Histograms of pairs and of places, and pressures from densities at contact. */
#include <math.h>

#include "samplers/hard_spheres/order.h"
#include "stats/fit.h"

uint64_t spheres_curve_every(const struct ergo_point *point) {
    const int64_t every = ergo_is_isobaric(point) ? 0 : of_particle(point)->curves_every;
    return every ? (uint64_t)every : spheres_order_every(point);
}

size_t spheres_curve_size(const struct ergo_point *point, size_t curve) {
    if (ergo_is_isobaric(point) || !of_particle(point)->curves_every)
        return 0;
    if (curve >= SPHERES_PAIR_CURVES)
        return ergo_confined_size(point, 3, (unsigned)(curve - SPHERES_PAIR_CURVES));
    if (ergo_confined(point))
        return 0;
    const bool contact = curve == SPHERES_CURVE_CONTACT;
    const double range = contact ? of_particle(point)->contact_range : of_particle(point)->gr_max;
    const double bin = contact ? of_particle(point)->contact_bin : of_particle(point)->gr_bin;
    return range > 0 ? (size_t)fmax(1.0, floor(range / bin + 0.5)) : 0;
}

double spheres_curve_end(const struct ergo_point *point, const struct spheres_shape *s,
                         size_t curve) {
    if (curve == SPHERES_CURVE_CONTACT)
        return 1.0 + of_particle(point)->contact_range;
    const double half = 0.5 * fmin(s->box[0], fmin(s->box[1], s->box[2]));
    return fmin(of_particle(point)->gr_max, half);
}

static double edge(const struct ergo_point *point, const struct spheres_shape *s, size_t curve,
                   size_t i) {
    const double begin = curve == SPHERES_CURVE_CONTACT ? 1.0 : 0.0;
    return begin + (spheres_curve_end(point, s, curve) - begin) * (double)i /
                       (double)spheres_curve_size(point, curve);
}

void spheres_limits(const struct ergo_point *point, const struct spheres_shape *s, size_t curve,
                    uint64_t *limits) {
    const size_t size = spheres_curve_size(point, curve);
    for (size_t i = 0; i <= size; i++) {
        const double r = edge(point, s, curve, i) * s->sigma;
        limits[i] = (uint64_t)ceil(r * r);
    }
    if (curve == SPHERES_CURVE_CONTACT)
        limits[0] = s->contact; /* the same number except for rounding */
}

/* The radius at which a density linear in r equals its mean over the shell. */
static double shell_mean(double a, double b) {
    return 0.75 * (b * b * b + b * b * a + b * a * a + a * a * a) / (b * b + b * a + a * a);
}

void spheres_curve_x(const struct ergo_point *point, size_t curve, double *x) {
    struct spheres_shape s;
    char reason[300];
    if (!spheres_shape_of(point, &s, reason))
        return;
    if (curve >= SPHERES_PAIR_CURVES) {
        ergo_confined_x(&s.confined, (unsigned)(curve - SPHERES_PAIR_CURVES),
                        spheres_curve_size(point, curve), x);
        return;
    }
    for (size_t i = 0; i < spheres_curve_size(point, curve); i++)
        x[i] = shell_mean(edge(point, &s, curve, i), edge(point, &s, curve, i + 1));
}

void spheres_curve_convert(const struct ergo_point *point, const struct spheres_shape *s,
                           size_t curve, const uint32_t *counts, double *values) {
    if (curve >= SPHERES_PAIR_CURVES) {
        ergo_confined_convert(point, &s->confined, (unsigned)(curve - SPHERES_PAIR_CURVES),
                              spheres_curve_size(point, curve), counts, values);
        return;
    }
    for (size_t i = 0; i < spheres_curve_size(point, curve); i++) {
        const double a = edge(point, s, curve, i), b = edge(point, s, curve, i + 1);
        const double volume = 4.0 / 3.0 * SPHERES_PI * (b - a) * (b * b + b * a + a * a);
        values[i] = 2.0 * counts[i] / ((double)(s->n - 1) * s->density * volume);
    }
}

double spheres_density(const struct ergo_point *point) {
    struct spheres_shape s;
    char reason[300];
    return spheres_shape_of(point, &s, reason) ? s.density : NAN;
}

double spheres_packing(const struct ergo_point *point) {
    return spheres_density(point) * SPHERES_PI / 6.0;
}

double spheres_compressibility(const struct ergo_point *point, const double *contact, size_t size) {
    double x[4096];
    if (size > sizeof x / sizeof x[0])
        return NAN;
    spheres_curve_x(point, SPHERES_CURVE_CONTACT, x);
    const int degree = (int)of_particle(point)->contact_degree;
    const double others = 1.0 - 1.0 / (double)of_particle(point)->n;
    return 1.0 + 4.0 * spheres_packing(point) * others *
                     ergo_fit_extrapolate(x, contact, size, degree, 1.0);
}

double spheres_pressure(const struct ergo_point *point, const double *contact, size_t size) {
    return spheres_density(point) * spheres_compressibility(point, contact, size);
}

double spheres_wall(const struct ergo_point *point, const double *curve, size_t size) {
    struct spheres_shape s;
    char reason[300];
    return spheres_shape_of(point, &s, reason)
               ? ergo_confined_contact(point, &s.confined, curve, size)
               : NAN;
}

double spheres_excess(const struct ergo_point *point, const double *profile, size_t size) {
    struct spheres_shape s;
    char reason[300];
    if (!spheres_shape_of(point, &s, reason))
        return NAN;
    return ergo_confined_excess(&s.confined, profile, size);
}

double spheres_exact_compressibility(const struct ergo_point *point) {
    struct spheres_shape s;
    char reason[300];
    if (!spheres_shape_of(point, &s, reason) || s.n != 2)
        return NAN;
    /* the second sphere is uniform outside of a sphere of diameter 2 around the first */
    const double volume = s.box[0] * s.box[1] * s.box[2];
    return 1.0 + s.density * SPHERES_PI / 3.0 * volume / (volume - 4.0 / 3.0 * SPHERES_PI);
}
