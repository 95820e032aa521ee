/* Spins that are unit vectors: the chain and its sums in serial C. */
#include <string.h>

#include "samplers/spin_lattice/vector/vector.h"
#include "spin_lattice/vector.h"

void vector_twin_start(const struct vector_shape *s, const struct vector_member *m, bool random,
                       uint64_t site, uint32_t *spin) {
    const struct ergo_words w = ergo_philox_words(
        (uint32_t)site, 0, 0, ERGO_DRAW(VECTOR_PURPOSE_START, 0), m->key0, m->key1);
    if (!s->space) {
        spin[0] = random ? vector_start_angle(w.x, s->q) : 0;
        return;
    }
    const ergo_vector v = random ? vector_start(w.x, w.y) : ergo_vector_of(0, 0, 1);
    spin[0] = ergo_as_uint(v.x);
    spin[1] = ergo_as_uint(v.y);
    spin[2] = ergo_as_uint(v.z);
}

static uint64_t number(const struct vector_shape *s, const uint32_t at[3]) {
    return at[0] + s->l[0] * (at[1] + (uint64_t)s->l[1] * at[2]);
}

/* The neighbour in direction k, ahead or behind. */
static uint64_t neighbour(const struct vector_shape *s, const uint32_t at[3], uint32_t k,
                          bool ahead) {
    uint32_t to[3] = {at[0], at[1], at[2]};
    for (uint32_t axis = 0; axis < 3; axis++)
        if (axis == k || (s->triangular && k == 2 && axis < 2))
            to[axis] = (to[axis] + (ahead ? 1 : s->l[axis] - 1)) % s->l[axis];
    if (s->triangular)
        to[2] = at[2];
    return number(s, to);
}

static ergo_vector spin_of(const uint32_t *spin) {
    return ergo_vector_of(ergo_as_float(spin[0]), ergo_as_float(spin[1]), ergo_as_float(spin[2]));
}

static ergo_vector local_field(const struct vector_shape *s, const struct vector_member *m,
                               const uint32_t *sites, const uint32_t at[3]) {
    float x = 0, y = 0, z = 0;
    for (uint32_t k = 0; k < 2 * s->directions; k++) {
        const uint32_t *other = sites + s->components * neighbour(s, at, k / 2, k % 2 == 0);
        x += s->space ? ergo_as_float(other[0]) : ergo_cos(other[0]);
        y += s->space ? ergo_as_float(other[1]) : ergo_sin(other[0]);
        z += s->space ? ergo_as_float(other[2]) : 0;
    }
    return ergo_vector_of(vector_field(x, m->coupling, s->space ? 0 : m->field),
                          vector_field(y, m->coupling, 0),
                          s->space ? vector_field(z, m->coupling, m->field) : 0);
}

static void update(const struct vector_shape *s, const struct vector_member *m, uint64_t step,
                   bool relax, uint32_t *sites, const uint32_t at[3]) {
    const uint64_t site = number(s, at);
    uint32_t *spin = sites + s->components * site;
    const ergo_vector h = local_field(s, m, sites, at);
    const struct ergo_words w =
        ergo_philox_words((uint32_t)site, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(VECTOR_PURPOSE_SWEEP, 0), m->key0, m->key1);
    if (!s->space) {
        spin[0] = relax ? vector_relax_angle(spin[0], h.x, h.y)
                        : vector_turn(spin[0], h.x, h.y, m->beta, m->width, s->q, w);
        return;
    }
    const ergo_vector old = spin_of(spin);
    const ergo_vector new = relax ? ergo_unit_reflect(old, h)
                            : s->heat_bath
                                ? vector_heat(h, m->beta, w)
                                : vector_tilt(old, h, m->beta, m->step, m->anisotropy, w);
    spin[0] = ergo_as_uint(new.x);
    spin[1] = ergo_as_uint(new.y);
    spin[2] = ergo_as_uint(new.z);
}

/* All sites of a colour in `count` planes of the last dimension, from `first` on. */
static void pass(const struct vector_shape *s, const struct vector_member *m, uint64_t step,
                 bool relax, uint32_t colour, struct vector_slab slab, uint32_t *sites) {
    const uint32_t last = s->d - 1, others[2] = {last > 0 ? s->l[0] : 1, last > 1 ? s->l[1] : 1};
    uint32_t at[3] = {0, 0, 0};
    for (uint32_t p = 0; p < slab.count; p++) {
        const uint32_t plane = (uint32_t)(((uint64_t)slab.first + p) % s->l[last]);
        for (uint32_t b = 0; b < others[1]; b++)
            for (uint32_t a = 0; a < others[0]; a++) {
                at[0] = a;
                at[1] = b;
                at[last] = plane;
                if ((at[0] + at[1] + at[2]) % s->colours == colour)
                    update(s, m, step, relax, sites, at);
            }
    }
}

uint64_t vector_twin_margin(const struct vector_shape *s, uint64_t sweeps) {
    return sweeps * s->colours * (1 + s->relax);
}

void vector_twin_slab(const struct vector_shape *s, const struct vector_member *m, uint64_t step,
                      uint64_t sweeps, struct vector_slab slab, uint32_t *sites) {
    const uint32_t side = s->l[s->d - 1];
    uint64_t margin = vector_twin_margin(s, sweeps);
    for (uint64_t i = 0; i < sweeps; i++, step++)
        for (uint32_t c = 0; c < s->colours * (1 + s->relax); c++) {
            margin--; /* what this pass reads beyond it is still right */
            const bool all = slab.count + 2 * margin >= side;
            const struct vector_slab now = {all ? 0
                                                : (uint32_t)((slab.first + side - margin) % side),
                                            all ? side : (uint32_t)(slab.count + 2 * margin)};
            pass(s, m, step, c >= s->colours, c % s->colours, now, sites);
        }
}

void vector_twin_sweep(const struct vector_shape *s, const struct vector_member *m, uint64_t step,
                       uint32_t *sites) {
    vector_twin_slab(s, m, step, 1, (struct vector_slab){0, s->l[s->d - 1]}, sites);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_spin(const struct vector_shape *s, const uint32_t *spin, int64_t *sums) {
    if (s->space) {
        for (uint32_t c = 0; c < 3; c++)
            sums[c] += vector_fixed(ergo_as_float(spin[c]));
    } else {
        sums[0] += vector_fixed(ergo_cos(spin[0]));
        sums[1] += vector_fixed(ergo_sin(spin[0]));
    }
}

static void add_bonds(const struct vector_shape *s, const uint32_t *sites, const uint32_t at[3],
                      int64_t *sums) {
    const uint32_t *spin = sites + s->components * number(s, at);
    for (uint32_t k = 0; k < s->directions; k++) {
        const uint32_t *other = sites + s->components * neighbour(s, at, k, true);
        if (!s->space) {
            sums[VECTOR_BONDS] += vector_fixed(ergo_cos(other[0] - spin[0]));
            sums[VECTOR_CURRENTS + k] += vector_fixed(ergo_sin(other[0] - spin[0]));
            continue;
        }
        const ergo_vector a = spin_of(spin), b = spin_of(other);
        int64_t *current = sums + VECTOR_CURRENTS + 3 * (size_t)k;
        sums[VECTOR_BONDS] += vector_fixed(ergo_dot(a, b));
        current[0] += vector_cross(a.y, a.z, b.y, b.z);
        current[1] += vector_cross(a.z, a.x, b.z, b.x);
        current[2] += vector_cross(a.x, a.y, b.x, b.y);
    }
}

static void add_vortex(const struct vector_shape *s, const uint32_t *sites, const uint32_t at[3],
                       int64_t *sums) {
    const uint32_t x1 = (at[0] + 1) % s->l[0], y1 = (at[1] + 1) % s->l[1];
    const uint32_t corners[4][3] = {{at[0], at[1], 0}, {x1, at[1], 0}, {x1, y1, 0}, {at[0], y1, 0}};
    int64_t turned = 0; /* each step by the shorter way */
    for (int i = 0; i < 4; i++)
        turned += (int32_t)(sites[number(s, corners[(i + 1) % 4])] - sites[number(s, corners[i])]);
    sums[VECTOR_SQUARES] += turned != 0;
}

void vector_twin_count(const struct vector_shape *s, const uint32_t *sites, int64_t *sums) {
    uint32_t at[3];
    memset(sums, 0, s->numbers * sizeof *sums);
    for (at[2] = 0; at[2] < s->l[2]; at[2]++)
        for (at[1] = 0; at[1] < s->l[1]; at[1]++)
            for (at[0] = 0; at[0] < s->l[0]; at[0]++) {
                const uint32_t *spin = sites + s->components * number(s, at);
                add_spin(s, spin, sums + VECTOR_TOTAL);
                add_bonds(s, sites, at, sums);
                if (s->space) {
                    const float z = ergo_as_float(spin[2]);
                    sums[VECTOR_SQUARES] += vector_fixed(z * z);
                } else if (s->d == 2 && !s->triangular) {
                    add_vortex(s, sites, at, sums);
                }
            }
}

void vector_twin_planes(const struct vector_shape *s, uint32_t planes, const uint32_t *sites,
                        int64_t *sums) {
    const uint64_t each = s->sites / planes;
    memset(sums, 0, 3 * (size_t)planes * sizeof *sums);
    for (uint64_t i = 0; i < s->sites; i++)
        add_spin(s, sites + s->components * i, sums + 3 * (i / each));
}
