#include "oracle/helium_axis.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 480, ROUNDS = 4000 };

double ergo_oracle_axis_energy(const struct ergo_oracle_axis *a) {
    const double cell = (a->end - a->begin) / CELLS, tau = a->time_step;
    const double variance = 2 * a->lambda * tau;
    double *matrix = malloc(CELLS * CELLS * sizeof *matrix), local[CELLS], f[CELLS], energy = 0;
    for (int j = 0; matrix && j < CELLS; j++) {
        const double x = a->begin + (j + 0.5) * cell, euler = x + a->drift(a, x, 1);
        const double middle = (x + euler) / 2 + a->drift(a, euler, 0.5);
        const double to = x + a->drift(a, middle, 2);
        local[j] = a->local(a->system, middle);
        f[j] = 1.0 / CELLS;
        for (int i = 0; i < CELLS; i++) {
            const double apart = a->begin + (i + 0.5) * cell - to;
            matrix[i * CELLS + j] =
                cell * exp(-apart * apart / (2 * variance)) / sqrt(6.283185307179586 * variance);
        }
    }
    for (int round = 0; matrix && round < ROUNDS; round++) {
        double weighted[CELLS], mean = 0, all = 0;
        for (int j = 0; j < CELLS; j++)
            mean += f[j] * local[j];
        for (int j = 0; j < CELLS; j++)
            weighted[j] = f[j] * exp(fmax(-16, fmin(2, -tau * (local[j] - mean))));
        for (int i = 0; i < CELLS; i++) {
            f[i] = 0;
            for (int j = 0; j < CELLS; j++)
                f[i] += matrix[i * CELLS + j] * weighted[j];
            all += f[i];
        }
        for (int i = 0; i < CELLS; i++)
            f[i] /= all;
        const double now = mean - log(all) / tau;
        if (round > 10 && fabs(now - energy) < 1e-10)
            round = ROUNDS;
        energy = now;
    }
    if (!matrix)
        energy = NAN;
    free(matrix);
    return energy;
}
