/* What the cut-off leaves out of the energy and of the virial. */
#include "samplers/helium_vmc/model.h"

enum { STEPS = 1024 };

/* int r^2 V dr from `from` to `to`, or to infinity (0): Simpson over t = from / r, in which r^-6
 * becomes t^2. */
static double integral(const struct helium_model *m, double from, double to) {
    const double end = to > 0 ? from / to : 0, h = (1 - end) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = end + h * i, r = from / t;
        double v[2] = {0};
        if (t > 0)
            helium_model_v(m, r, v);
        const double f = t > 0 ? v[0] * r * r * from / (t * t) : 0;
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * f;
    }
    return sum * h / 3;
}

/*
 * With g = 1 and the density n beyond half the shortest side, h:
 *     V/N: 2 pi n int_h r^2 V dr, and 1/N sum r V': 2 pi n int_h r^3 V' dr, by parts
 *     2 pi n (-h^3 V(h) - 3 int_h r^2 V dr).
 * At constant n h^3, as a box has it when it grows, the second is h times the first's derivative:
 * a pressure with both is the derivative of an energy with both.
 */
void helium_tails(struct helium_model *m) {
    const double h = m->half, factor = 6.283185307179586 * m->density;
    double v[2], all = 0;
    helium_model_v(m, h, v);
    if (m->kink > h) /* Simpson's rule takes each side of it by itself */
        all = integral(m, h, m->kink) + integral(m, m->kink, 0);
    else
        all = integral(m, h, 0);
    m->tail_potential = factor * all;
    m->tail_virial = factor * (-h * h * h * v[0] - 3 * all);
}
