#include "oracle/helium_pair.h"

#include <math.h>

#include "oracle/helium_serial.h"

static const double pi = 3.14159265358979323846;

double ergo_oracle_helium_lennard_jones(double r) {
    const double y = pow(2.556 / r, 6);
    return 4 * 10.22 * (y * y - y);
}

struct ergo_oracle_pair_energy ergo_oracle_pair_energies(const struct ergo_oracle_pair *p) {
    const double side = cbrt(2 / p->density), cut = side / 2;
    const int steps = 40000;
    double weight = side * side * side - 4 * pi / 3 * cut * cut * cut, v = 0, square = 0;
    for (int i = 0; i < steps; i++) {
        const double r = cut * (i + 0.5) / steps;
        double u[3];
        ergo_oracle_helium_u(r, p->b, side, u);
        if (u[0] < -300)
            continue;
        const double w = exp(2 * u[0]) * 4 * pi * r * r * cut / steps;
        weight += w;
        v += w * p->potential(r);
        square += w * u[1] * u[1];
    }
    return (struct ergo_oracle_pair_energy){v / weight / 2, p->lambda * square / weight};
}

double ergo_oracle_pair_pressure(const struct ergo_oracle_pair *p, double power) {
    double energy[2];
    const double h = 1e-3;
    for (int k = 0; k < 2; k++) {
        struct ergo_oracle_pair moved = *p;
        const double factor = k ? 1 + h : 1 - h;
        moved.density *= factor;
        moved.b *= pow(factor, -power);
        const struct ergo_oracle_pair_energy e = ergo_oracle_pair_energies(&moved);
        energy[k] = e.potential + e.kinetic;
    }
    return p->density * (energy[1] - energy[0]) / (2 * h);
}

double ergo_oracle_helium_beyond(int dimensions, double (*potential)(double), double h) {
    const int steps = 100000;
    const double step = log(1e5) / steps; /* to 1e5 h: V has fallen by 1e-30 */
    double sum = 0;
    for (int i = 0; i <= steps; i++) {
        const double r = h * exp(step * i);
        sum += (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2) * potential(r) * pow(r, dimensions);
    }
    return sum * step / 3;
}
