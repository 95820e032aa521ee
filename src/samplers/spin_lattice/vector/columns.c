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
    columns[VECTOR_ALIGNMENT] = (double)sums[VECTOR_BONDS] * unit * p->bond_unit;
    columns[VECTOR_CURRENT2] = current2(s, sums) * p->bond_unit * p->bond_unit;
    columns[VECTOR_Z2] = s->space ? (double)sums[VECTOR_SQUARES] * unit : 0;
    columns[VECTOR_VORTICES] = s->space || s->triangular ? 0 : (double)sums[VECTOR_SQUARES] / n;
    /* two triangles a site, each of at most 3 sqrt 3 / 2 */
    columns[VECTOR_CHIRALITY] =
        !s->space && s->triangular ? (double)sums[VECTOR_SQUARES] * 0x1p-29 / n / (3 * sqrt(3)) : 0;
    columns[VECTOR_RANDOM_ALIGNMENT] = (double)sums[VECTOR_ALONG] * unit * p->field_unit;
    columns[VECTOR_ENERGY] =
        -p->j * columns[VECTOR_ALIGNMENT] - p->b * columns[s->space ? VECTOR_Z : VECTOR_X] -
        p->anisotropy * columns[VECTOR_Z2] - p->random * columns[VECTOR_RANDOM_ALIGNMENT];
}

double vector_structure(const struct vector_shape *s, const int64_t *sums) {
    double squares = 0;
    for (int i = 0; i < VECTOR_WAVE_NUMBERS; i++)
        squares += (double)sums[i] * 0x1p-30 * ((double)sums[i] * 0x1p-30);
    return squares / (double)s->sites;
}
