/* Spins that are unit vectors: from sums over sites and bonds to what is recorded. */
#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/vector/vector.h"

int64_t vector_sum(const uint32_t *halves) {
    return (int64_t)((uint64_t)halves[1] << 32 | halves[0]);
}

/*
 * |sum over bonds of e (s x s')|^2 / N. e are the directions of bonds; on the triangular lattice
 * (1, 0), (-1/2, sqrt 3/2) and their sum, with products -1/2, 1/2, 1/2.
 */
static double current2(const struct vector_shape *s, const int64_t *sums) {
    const uint32_t each = s->space ? 3 : 1;
    double total = 0;
    for (uint32_t c = 0; c < each; c++) {
        double i[3] = {0, 0, 0};
        for (uint32_t k = 0; k < s->directions; k++) {
            i[k] = (double)sums[VECTOR_CURRENTS + each * k + c] * 0x1p-30;
            total += i[k] * i[k];
        }
        if (s->triangular)
            total += i[0] * i[2] + i[1] * i[2] - i[0] * i[1];
    }
    return total / (double)s->sites;
}

void vector_columns(const struct vector_shape *s, const struct vector_physics *p,
                    const int64_t *sums, double *columns) {
    const double n = (double)s->sites, unit = 0x1p-30 / n;
    memset(columns, 0, VECTOR_COLUMNS * sizeof *columns);
    columns[VECTOR_X] = (double)sums[VECTOR_TOTAL] * unit;
    columns[VECTOR_Y] = (double)sums[VECTOR_TOTAL + 1] * unit;
    columns[VECTOR_Z] = s->space ? (double)sums[VECTOR_TOTAL + 2] * unit : 0;
    columns[VECTOR_ALIGNMENT] = (double)sums[VECTOR_BONDS] * unit;
    columns[VECTOR_CURRENT2] = current2(s, sums);
    columns[VECTOR_Z2] = s->space ? (double)sums[VECTOR_SQUARES] * unit : 0;
    columns[VECTOR_VORTICES] = s->space ? 0 : (double)sums[VECTOR_SQUARES] / n;
    columns[VECTOR_ENERGY] = -p->j * columns[VECTOR_ALIGNMENT] -
                             p->b * columns[s->space ? VECTOR_Z : VECTOR_X] -
                             p->anisotropy * columns[VECTOR_Z2];
}

void vector_wave(const struct vector_shape *s, uint32_t planes, double *wave) {
    (void)s;
    for (uint32_t p = 0; p < planes; p++) {
        const double phase = 2 * acos(-1) * p / planes;
        wave[2 * (size_t)p] = cos(phase);
        wave[2 * (size_t)p + 1] = sin(phase);
    }
}

void vector_structure(const struct vector_shape *s, uint32_t planes, const double *wave,
                      const int64_t *sums, double out[2]) {
    out[0] = out[1] = 0;
    for (uint32_t c = 0; c < (s->space ? 3u : 2u); c++) {
        double all = 0, re = 0, im = 0;
        for (uint32_t p = 0; p < planes; p++) {
            const double a = (double)sums[3 * (size_t)p + c] * 0x1p-30;
            all += a;
            re += a * wave[2 * (size_t)p];
            im += a * wave[2 * (size_t)p + 1];
        }
        out[0] += all * all;
        out[1] += re * re + im * im;
    }
    out[0] /= (double)s->sites;
    out[1] /= (double)s->sites;
}
