/* Spins that are unit vectors: from sums over sites and bonds to what is recorded. */
#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/vector/vector.h"

int64_t vector_sum(const uint32_t *halves) {
    return (int64_t)((uint64_t)halves[1] << 32 | halves[0]);
}

void vector_columns(const void *state, size_t member, const uint64_t *totals, double *columns) {
    const struct vector_shape *s = &((const struct vector_state *)state)->whole;
    const struct vector_physics *p = &((const struct vector_state *)state)->physics[member];
    const int64_t *sums = (const int64_t *)totals;
    const double n = (double)s->sites, unit = 0x1p-30 / n;
    memset(columns, 0, VECTOR_COLUMNS * sizeof *columns);
    columns[VECTOR_X] = (double)sums[VECTOR_TOTAL] * unit;
    columns[VECTOR_Y] = (double)sums[VECTOR_TOTAL + 1] * unit;
    columns[VECTOR_Z] = s->space ? (double)sums[VECTOR_TOTAL + 2] * unit : 0;
    columns[VECTOR_ALIGNMENT] = (double)sums[VECTOR_BONDS] * unit * p->bond_unit;
    columns[VECTOR_CURRENT2] =
        lattice_current2(sums + VECTOR_CURRENTS, s->directions, s->space ? 3 : 1, s->triangular) /
        n * p->bond_unit * p->bond_unit;
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
