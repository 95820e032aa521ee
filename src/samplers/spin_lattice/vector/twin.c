/* Spins that are unit vectors: the chain and its sums in serial C. */
#include <string.h>

#include "base/parallel.h"
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

/* A spin as a vector, in a plane too. */
static ergo_vector vector_of(const struct vector_shape *s, const uint32_t *spin) {
    return s->space ? ergo_vector_of(ergo_as_float(spin[0]), ergo_as_float(spin[1]),
                                     ergo_as_float(spin[2]))
                    : ergo_vector_of(ergo_cos(spin[0]), ergo_sin(spin[0]), 0);
}

/* The random field, in the member's unit. */
static ergo_vector random_of(const struct vector_shape *s, const struct vector_member *m,
                             const struct vector_terms *d, uint64_t site) {
    if (s->stored)
        return ergo_vector_of(d->fields[site], d->fields[s->sites + site],
                              s->space ? d->fields[2 * s->sites + site] : 0);
    return vector_random((uint32_t)site, m->field0, m->field1, s->space);
}

static ergo_vector local_field(const struct vector_shape *s, const struct vector_member *m,
                               const struct vector_terms *d, const uint32_t *sites,
                               const uint32_t at[3]) {
    float x = 0, y = 0, z = 0;
    for (uint32_t k = 0; k < 2 * s->directions; k++) {
        const uint64_t there = neighbour(s, at, k / 2, k % 2 == 0);
        const uint32_t *other = sites + s->components * there;
        if (s->coupled) { /* the coupling is at the site that the bond is ahead of */
            const float j = d->bonds[k / 2 * s->sites + (k % 2 ? there : number(s, at))];
            const ergo_vector v = vector_of(s, other);
            x = ERGO_FMA(j, v.x, x);
            y = ERGO_FMA(j, v.y, y);
            z = ERGO_FMA(j, v.z, z);
            continue;
        }
        x += s->space ? ergo_as_float(other[0]) : ergo_cos(other[0]);
        y += s->space ? ergo_as_float(other[1]) : ergo_sin(other[0]);
        z += s->space ? ergo_as_float(other[2]) : 0;
    }
    ergo_vector h =
        ergo_vector_of(vector_field(x, m->coupling, s->space ? 0 : m->field),
                       vector_field(y, m->coupling, 0), vector_field(z, m->coupling, m->field));
    if (s->random) {
        const ergo_vector n = random_of(s, m, d, number(s, at));
        h.x = ERGO_FMA(m->random, n.x, h.x);
        h.y = ERGO_FMA(m->random, n.y, h.y);
        h.z = ERGO_FMA(m->random, n.z, h.z);
    }
    return h;
}

static void update(const struct vector_shape *s, const struct vector_member *m,
                   const struct vector_terms *d, uint64_t step, bool relax, uint32_t *sites,
                   const uint32_t at[3]) {
    const uint64_t site = number(s, at);
    uint32_t *spin = sites + s->components * site;
    const ergo_vector h = local_field(s, m, d, sites, at);
    const struct ergo_words w =
        ergo_philox_words((uint32_t)site, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(VECTOR_PURPOSE_SWEEP, 0), m->key0, m->key1);
    if (!s->space) {
        spin[0] = relax ? vector_relax_angle(spin[0], h.x, h.y)
                        : vector_turn(spin[0], h.x, h.y, m->beta, m->width, s->q, w);
        return;
    }
    const ergo_vector old = vector_of(s, spin);
    const ergo_vector new = relax ? ergo_unit_reflect(old, h)
                            : s->heat_bath
                                ? vector_heat(h, m->beta, w)
                                : vector_tilt(old, h, m->beta, m->step, m->anisotropy, w);
    spin[0] = ergo_as_uint(new.x);
    spin[1] = ergo_as_uint(new.y);
    spin[2] = ergo_as_uint(new.z);
}

/* All sites of a colour in `count` planes of the last dimension, from `first` on. */
static void pass(const struct vector_shape *s, const struct vector_member *m,
                 const struct vector_terms *d, uint64_t step, bool relax, uint32_t colour,
                 struct vector_slab slab, uint32_t *sites) {
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
                    update(s, m, d, step, relax, sites, at);
            }
    }
}

uint64_t vector_twin_margin(const struct vector_shape *s, uint64_t sweeps) {
    return sweeps * s->colours * (1 + s->relax);
}

void vector_twin_slab(const struct vector_shape *s, const struct vector_member *m,
                      const struct vector_terms *d, uint64_t step, uint64_t sweeps,
                      struct vector_slab slab, uint32_t *sites) {
    const uint32_t side = s->l[s->d - 1];
    uint64_t margin = vector_twin_margin(s, sweeps);
    for (uint64_t i = 0; i < sweeps; i++, step++)
        for (uint32_t c = 0; c < s->colours * (1 + s->relax); c++) {
            margin--; /* what this pass reads beyond it is still right */
            const bool all = slab.count + 2 * margin >= side;
            const struct vector_slab now = {all ? 0
                                                : (uint32_t)((slab.first + side - margin) % side),
                                            all ? side : (uint32_t)(slab.count + 2 * margin)};
            pass(s, m, d, step, c >= s->colours, c % s->colours, now, sites);
        }
}

void vector_twin_sweep(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, uint64_t step, uint32_t *sites) {
    vector_twin_slab(s, m, d, step, 1, (struct vector_slab){0, s->l[s->d - 1]}, sites);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_spin(const struct vector_shape *s, const uint32_t *spin, int64_t *sums) {
    const ergo_vector v = vector_of(s, spin);
    sums[0] += vector_fixed(v.x);
    sums[1] += vector_fixed(v.y);
    sums[2] += vector_fixed(v.z);
}

static void add_bonds(const struct vector_shape *s, const struct vector_terms *d,
                      const uint32_t *sites, const uint32_t at[3], int64_t *sums) {
    const uint32_t *spin = sites + s->components * number(s, at);
    for (uint32_t k = 0; k < s->directions; k++) {
        const uint32_t *other = sites + s->components * neighbour(s, at, k, true);
        const float j = s->coupled ? d->bonds[k * s->sites + number(s, at)] : 0;
        if (s->coupled && !s->space) {
            sums[VECTOR_BONDS] += vector_fixed(j * ergo_cos(other[0] - spin[0]));
            sums[VECTOR_CURRENTS + k] += vector_fixed(j * ergo_sin(other[0] - spin[0]));
            continue;
        }
        if (!s->space) {
            sums[VECTOR_BONDS] += vector_fixed(ergo_cos(other[0] - spin[0]));
            sums[VECTOR_CURRENTS + k] += vector_fixed(ergo_sin(other[0] - spin[0]));
            continue;
        }
        const ergo_vector a = vector_of(s, spin), b = vector_of(s, other);
        int64_t *current = sums + VECTOR_CURRENTS + 3 * (size_t)k;
        if (s->coupled) {
            sums[VECTOR_BONDS] += vector_fixed(j * ergo_dot(a, b));
            current[0] += vector_coupled(j, a.y, a.z, b.y, b.z);
            current[1] += vector_coupled(j, a.z, a.x, b.z, b.x);
            current[2] += vector_coupled(j, a.x, a.y, b.x, b.y);
            continue;
        }
        sums[VECTOR_BONDS] += vector_fixed(ergo_dot(a, b));
        current[0] += vector_cross(a.y, a.z, b.y, b.z);
        current[1] += vector_cross(a.z, a.x, b.z, b.x);
        current[2] += vector_cross(a.x, a.y, b.x, b.y);
    }
}

/* Vortices of a square, chirality of the two triangles. */
static void add_plaquette(const struct vector_shape *s, const uint32_t *sites, const uint32_t at[3],
                          int64_t *sums) {
    const uint32_t x1 = (at[0] + 1) % s->l[0], y1 = (at[1] + 1) % s->l[1];
    const uint32_t corners[4][3] = {{at[0], at[1], 0}, {x1, at[1], 0}, {x1, y1, 0}, {at[0], y1, 0}};
    uint32_t angle[4];
    int64_t turned = 0; /* each step by the shorter way */
    for (int i = 0; i < 4; i++)
        angle[i] = sites[number(s, corners[i])];
    for (int i = 0; i < 4; i++)
        turned += (int32_t)(angle[(i + 1) % 4] - angle[i]);
    sums[VECTOR_SQUARES] += !s->triangular
                                ? turned != 0
                                : (int64_t)vector_chirality(angle[0], angle[1], angle[2]) -
                                      vector_chirality(angle[0], angle[2], angle[3]);
}

static void add_random(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, const uint32_t *spin, uint64_t site,
                       int64_t *sums) {
    sums[VECTOR_ALONG] += vector_fixed(ergo_dot(vector_of(s, spin), random_of(s, m, d, site)));
}

/* Sites of a huge lattice are counted in parts, by all cores; sums of integers know no order. */
enum { PARTS = 64, PART_SITES = 1 << 14 };
struct parts {
    const struct vector_shape *s;
    const struct vector_member *m;
    const struct vector_terms *d;
    const uint32_t *sites;
    uint64_t n;
    int64_t sums[PARTS][VECTOR_NUMBERS_SPACE];
};

static void count_part(size_t i, void *user) {
    struct parts *parts = user;
    const struct vector_shape *s = parts->s;
    int64_t *sums = parts->sums[i];
    for (uint64_t n = s->sites * i / parts->n; n < s->sites * (i + 1) / parts->n; n++) {
        const uint64_t row = n / s->l[0];
        const uint32_t at[3] = {(uint32_t)(n % s->l[0]), (uint32_t)(row % s->l[1]),
                                (uint32_t)(row / s->l[1])};
        const uint32_t *spin = parts->sites + s->components * n;
        add_spin(s, spin, sums + VECTOR_TOTAL);
        add_bonds(s, parts->d, parts->sites, at, sums);
        if (s->space) {
            const float z = ergo_as_float(spin[2]);
            sums[VECTOR_SQUARES] += vector_fixed(z * z);
        } else if (s->d == 2) {
            add_plaquette(s, parts->sites, at, sums);
        }
        if (s->random)
            add_random(s, parts->m, parts->d, spin, n, sums);
    }
}

void vector_twin_count(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, const uint32_t *sites, int64_t *sums) {
    const uint64_t n = s->sites / PART_SITES + 1;
    struct parts parts = {.s = s, .m = m, .d = d, .sites = sites, .n = n < PARTS ? n : PARTS};
    ergo_parallel((size_t)parts.n, PARTS, count_part, &parts);
    memset(sums, 0, s->numbers * sizeof *sums);
    for (uint64_t i = 0; i < parts.n; i++)
        for (uint32_t k = 0; k < s->numbers; k++)
            sums[k] += parts.sums[i][k];
}

void vector_twin_wave(const struct vector_shape *s, const uint32_t k[3], const uint32_t *sites,
                      int64_t sums[VECTOR_WAVE_NUMBERS]) {
    memset(sums, 0, VECTOR_WAVE_NUMBERS * sizeof *sums);
    for (uint64_t i = 0; i < s->sites; i++) {
        const uint64_t row = i / s->l[0];
        const uint32_t phase = vector_phase(k, (uint32_t)(i % s->l[0]), (uint32_t)(row % s->l[1]),
                                            (uint32_t)(row / s->l[1]));
        const uint32_t *spin = sites + s->components * i;
        const float wave[2] = {ergo_cos(phase), ergo_sin(phase)};
        const ergo_vector v = vector_of(s, spin);
        for (int w = 0; w < 2; w++) {
            sums[w] += vector_fixed(v.x * wave[w]);
            sums[2 + w] += vector_fixed(v.y * wave[w]);
            sums[4 + w] += vector_fixed(v.z * wave[w]);
        }
    }
}
