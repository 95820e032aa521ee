/* The energy of a particle in what does not move, as the chain has it, for starts. */
#include <math.h>

#include "common/unit.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"

/* u of a field, in units of the fixed point. False: above 100 T. */
static bool add(const struct lj_member *m, float u, int64_t *energy) {
    if (m->beta4 * u > 100)
        return false;
    *energy += (int64_t)u;
    return true;
}

static float slit_at(const float *table, uint32_t z) {
    const uint32_t layer = UINT32_MAX / LJ_FIELD_LAYERS + 1;
    const float *c = table + 4 * (size_t)(z / layer);
    const float x = (float)(z % layer) / (float)layer;
    return fmaf(fmaf(fmaf(c[3], x, c[2]), x, c[1]), x, c[0]);
}

/* Of the values at both ends, t of the way from the first. */
static float mixed(float from, float to, float t) {
    return fmaf(t, to, fmaf(-t, from, from));
}

static float voxel_at(const struct ergo_cube *c, const uint32_t at[3]) {
    size_t low[3];
    float t[3], u[8];
    for (int k = 0; k < 3; k++) {
        const uint64_t place = (uint64_t)at[k] * c->n[k];
        low[k] = (size_t)(place >> 32);
        const uint32_t fraction = (uint32_t)place >> 8;
        t[k] = (float)fraction / 16777216;
    }
    for (size_t i = 0; i < 8; i++) { /* bits: x, y, z */
        const size_t x = (low[0] + i / 4) % c->n[0], y = (low[1] + i / 2 % 2) % c->n[1];
        u[i] = fminf(c->values[(x * c->n[1] + y) * c->n[2] + (low[2] + i % 2) % c->n[2]], LJ_WALL);
    }
    for (int k = 2, many = 4; k >= 0; k--, many /= 2)
        for (int i = 0; i < many; i++)
            u[i] = mixed(u[2 * i], u[2 * i + 1], t[k]);
    return u[0];
}

static float whole_power(float r2, uint32_t k) {
    if (k % 2)
        return whole_power(r2, k - 1) * ergo_rsqrt(r2);
    if (k == 0)
        return 1;
    const float half = whole_power(r2, k / 4 * 2);
    return k % 4 ? half * half * ergo_inverse(r2) : half * half;
}

float lj_words_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]) {
    return lj_distance2((lj_position){a[0], a[1], a[2]}, (lj_position){b[0], b[1], b[2]}, m->scale);
}

/* The pair with an atom; false: its core is there. */
static bool add_atom(const struct lj_member *m, const struct lj_frozen *row, float r2,
                     int64_t *energy) {
    if (r2 < row->core2)
        return false;
    if (r2 >= m->cutoff2)
        return true;
    const float x = r2 * row->inverse;
    const uint32_t n = m->exponents ? m->exponents & 0xff : 12;
    const uint32_t k = m->exponents ? m->exponents >> 8 : 6;
    const float sixth = ergo_inverse(x) * ergo_inverse(x) * ergo_inverse(x);
    const float first = m->exponents ? whole_power(x, n) : sixth * sixth;
    const float second = m->exponents ? whole_power(x, k) : sixth;
    *energy += (int64_t)(first * row->strength) - (int64_t)(second * row->strength) - row->shift;
    return true;
}

/* The pairs with all atoms; false: one's core is there. The cells are those of the first point of a
 * scan, and this member's cutoff may be another one. */
static bool add_atoms(const struct lj_member *m, const struct lj_atoms *atoms,
                      const struct lj_frozen *rows, const uint32_t at[3], int64_t *energy) {
    const uint32_t *const n = atoms->cells;
    uint32_t low[3], many[3];
    for (int k = 0; k < 3; k++) {
        const double side = (double)m->scale[k] * 0x1p32 / n[k];
        const double reach = ceil(sqrt((double)m->cutoff2) * (1 + 5e-7) / side);
        const uint32_t cell = (uint32_t)((uint64_t)at[k] * n[k] >> 32);
        many[k] = 2 * reach + 1 < n[k] ? 2 * (uint32_t)reach + 1 : n[k];
        low[k] = many[k] < n[k] ? cell + n[k] - (uint32_t)reach : 0;
    }
    for (uint32_t z = low[2]; z < low[2] + many[2]; z++)
        for (uint32_t y = low[1]; y < low[1] + many[1]; y++)
            for (uint32_t x = low[0]; x < low[0] + many[0]; x++) {
                const size_t cell = ((size_t)(z % n[2]) * n[1] + y % n[1]) * n[0] + x % n[0];
                for (uint32_t i = atoms->first[cell]; i != UINT32_MAX; i = atoms->next[i]) {
                    const float r2 = lj_words_distance2(m, atoms->words + 3 * (size_t)i, at);
                    if (!add_atom(m, &rows[atoms->species[i]], r2, energy))
                        return false;
                }
            }
    return true;
}

bool lj_field_at(const struct lj_member *m, const struct lj_tables *tables,
                 const struct lj_frozen *rows, const uint32_t at[3], int64_t *energy) {
    *energy = 0;
    return (m->field == 0 || add(m, slit_at(tables->field, at[2]) * m->field, energy)) &&
           (!tables->voxels || add(m, voxel_at(tables->voxels, at) * m->voxels, energy)) &&
           (!tables->atoms || add_atoms(m, tables->atoms, rows, at, energy));
}
