#include "samplers/helium/spline.h"

#include <math.h>

void helium_spline_place(struct helium_spline *s, unsigned knots, double begin, double end) {
    s->knots = knots;
    s->begin = begin;
    s->width = (end - begin) / (knots + 3);
}

/* The cardinal spline's piece number k at 0 <= t < 1. */
static void piece(int k, double t, double out[3]) {
    const double s = 1 - t;
    switch (k) {
    case 0:
        out[0] = t * t * t / 6;
        out[1] = t * t / 2;
        out[2] = t;
        return;
    case 1:
        out[0] = (1 + 3 * t * (1 + t * s)) / 6;
        out[1] = (1 + 2 * t - 3 * t * t) / 2;
        out[2] = 1 - 3 * t;
        return;
    case 2:
        out[0] = (1 + 3 * s * (1 + s * t)) / 6;
        out[1] = -(1 + 2 * s - 3 * s * s) / 2;
        out[2] = 1 - 3 * s;
        return;
    default:
        out[0] = s * s * s / 6;
        out[1] = -s * s / 2;
        out[2] = s;
    }
}

int helium_spline_basis(const struct helium_spline *s, double r, double out[4][3]) {
    const double x = (r - s->begin) / s->width, cell = floor(x);
    for (int i = 0; i < 4; i++) {
        piece(3 - i, x - cell, out[i]);
        out[i][1] /= s->width;
        out[i][2] /= s->width * s->width;
    }
    return (int)cell - 3;
}

void helium_spline_add(const struct helium_spline *s, double r, double out[3]) {
    double basis[4][3];
    if (!s->knots || r <= s->begin || r >= s->begin + (s->knots + 3) * s->width)
        return;
    const int first = helium_spline_basis(s, r, basis);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3 && first + i >= 0 && first + i < (int)s->knots; k++)
            out[k] += s->c[first + i] * basis[i][k];
}
