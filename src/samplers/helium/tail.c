/* Tails of the energy and of the virial beyond the cut. */
#include "samplers/helium/model.h"

enum { STEPS = 1024 };

/* Integral of r^2 V dr (in two dimensions r V) from `from` to `to` (0: to infinity), by Simpson's
 * rule over t = from / r. A tail r^-6 becomes t^2, or t^3. */
static double integral(const struct helium_model *m, double from, double to) {
    const double end = to > 0 ? from / to : 0, h = (1 - end) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = end + h * i, r = from / t;
        double v[2] = {0};
        if (t > 0)
            helium_model_v(m, r, v);
        const double ring = m->dimensions == 2 ? r : r * r;
        const double f = t > 0 ? v[0] * ring * from / (t * t) : 0;
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * f;
    }
    return sum * h / 3;
}

/*
 * With g = 1 beyond h, half the shortest side, and density n:
 *     V/N: 2 pi n int_h r^2 V dr, and 1/N sum r V': 2 pi n int_h r^3 V' dr, by parts
 *     2 pi n (-h^3 V(h) - 3 int_h r^2 V dr).
 * In two dimensions pi n int_h r V dr, and pi n (-h^2 V(h) - 2 int_h r V dr).
 * When a box grows, n h^3 is constant. Then the second is h times the derivative of the first, so a
 * pressure with its tail is the derivative of an energy with its tail.
 */
void helium_tails(struct helium_model *m) {
    const bool plane = m->dimensions == 2;
    const double h = m->half, factor = (plane ? 3.141592653589793 : 6.283185307179586) * m->density;
    double v[2], all = 0;
    helium_model_v(m, h, v);
    if (m->kink > h) /* V'' jumps there: integrate each side separately */
        all = integral(m, h, m->kink) + integral(m, m->kink, 0);
    else
        all = integral(m, h, 0);
    m->tail_potential = factor * all;
    m->tail_virial = factor * (-(plane ? h * h : h * h * h) * v[0] - m->dimensions * all);
}
