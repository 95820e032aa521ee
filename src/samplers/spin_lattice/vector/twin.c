/* Spins that are unit vectors: the chain and its sums in C. */
#include <pthread.h>

#include "base/parallel.h"
#include "base/portable.h"
#include "samplers/spin_lattice/vector/vector.h"
#include "spin_lattice/vector.h"

enum { ROW_SITES = 1 << 14 }; /* that are worth waking a core */

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

/* A row of a part in x, and the rows beside it in y and z. A chain's part is one row. */
struct row {
    uint32_t *own;
    const uint32_t *next[2], *last[2];
    uint32_t y, z;     /* in the lattice */
    uint32_t n, first; /* sites, and the x of the first one */
};

static uint32_t after(uint32_t i, uint32_t n) {
    return i + 1 < n ? i + 1 : 0;
}

static uint32_t before(uint32_t i, uint32_t n) {
    return i ? i - 1 : n - 1;
}

/* Row `y` of plane `p` of a part, counted from its first ones; of a chain's part the only one.
 * Those at the edges of a part that has not all have the opposite edge beside them. */
static struct row row_of(const struct vector_shape *s, const struct vector_part *part, uint32_t p,
                         uint32_t y) {
    const size_t length = (size_t)s->components * s->l[0], plane = length * part->slab.rows;
    const uint32_t n = part->slab.count, side = s->l[s->d - 1], rows = part->slab.rows;
    const uint32_t at = (uint32_t)(((uint64_t)part->slab.first + p) % side);
    uint32_t *all = part->sites;
    struct row r = {.own = all, .n = s->l[0]};
    if (s->d == 1) {
        r.n = n;
        r.first = part->slab.first;
        return r;
    }
    r.own = all + plane * p + length * y;
    r.y = s->d == 2 ? at : (uint32_t)(((uint64_t)part->slab.row + y) % s->l[1]);
    r.z = s->d == 2 ? 0 : at;
    if (s->d == 2) {
        r.next[0] = all + plane * after(p, n);
        r.last[0] = all + plane * before(p, n);
        return r;
    }
    r.next[0] = all + plane * p + length * after(y, rows);
    r.last[0] = all + plane * p + length * before(y, rows);
    r.next[1] = all + plane * after(p, n) + length * y;
    r.last[1] = all + plane * before(p, n) + length * y;
    return r;
}

/* The neighbour of site x of a row in direction k, ahead or behind. */
static const uint32_t *neighbour(const struct vector_shape *s, const struct row *r, uint32_t x,
                                 uint32_t k, bool ahead) {
    const uint32_t *row = r->own;
    if (k)
        row = ahead ? r->next[s->triangular ? 0 : k - 1] : r->last[s->triangular ? 0 : k - 1];
    if (!k || (s->triangular && k == 2))
        x = ahead ? after(x, r->n) : before(x, r->n);
    return row + s->components * (size_t)x;
}

/* Number of a site in the lattice. */
static uint64_t number(const struct vector_shape *s, const struct row *r, uint32_t x) {
    return (r->first + (uint64_t)x) % s->l[0] + s->l[0] * (r->y + (uint64_t)s->l[1] * r->z);
}

/* A spin as a vector, in a plane too. */
static ergo_vector vector_of(const struct vector_shape *s, const uint32_t *spin) {
    return s->space ? ergo_vector_of(ergo_as_float(spin[0]), ergo_as_float(spin[1]),
                                     ergo_as_float(spin[2]))
                    : ergo_vector_of(ergo_cos(spin[0]), ergo_sin(spin[0]), 0);
}

/* Where `d` has a site of the lattice. */
static uint64_t term_of(const struct vector_shape *s, const struct vector_terms *d, uint64_t site) {
    return (site + s->sites - d->of.first) % s->sites;
}

/* The random field, in the member's unit. */
static ergo_vector random_of(const struct vector_shape *s, const struct vector_member *m,
                             const struct vector_terms *d, uint64_t site) {
    if (s->stored) {
        const float *f = d->fields + term_of(s, d, site);
        return ergo_vector_of(f[0], f[d->of.n], s->space ? f[2 * d->of.n] : 0);
    }
    return vector_random((uint32_t)site, m->field0, m->field1, s->space);
}

/* The coupling of a bond in direction k, ahead or behind: it is at the site that it is ahead of. */
static float coupling(const struct vector_shape *s, const struct vector_terms *d,
                      const struct row *r, uint32_t x, uint32_t k, bool ahead) {
    uint32_t at[3] = {(uint32_t)((r->first + (uint64_t)x) % s->l[0]), r->y, r->z};
    for (uint32_t axis = 0; axis < 3 && !ahead; axis++)
        if (s->triangular ? axis < 2 && (k == 2 || axis == k) : axis == k)
            at[axis] = before(at[axis], s->l[axis]);
    return d
        ->bonds[k * d->of.n + term_of(s, d, at[0] + s->l[0] * (at[1] + (uint64_t)s->l[1] * at[2]))];
}

static ergo_vector local_field(const struct vector_shape *s, const struct vector_member *m,
                               const struct vector_terms *d, const struct row *r, uint32_t at) {
    float x = 0, y = 0, z = 0;
    for (uint32_t k = 0; k < 2 * s->directions; k++) {
        const uint32_t *other = neighbour(s, r, at, k / 2, k % 2 == 0);
        if (s->coupled) {
            const float j = coupling(s, d, r, at, k / 2, k % 2 == 0);
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
        const ergo_vector n = random_of(s, m, d, number(s, r, at));
        h.x = ERGO_FMA(m->random, n.x, h.x);
        h.y = ERGO_FMA(m->random, n.y, h.y);
        h.z = ERGO_FMA(m->random, n.z, h.z);
    }
    return h;
}

/* All sites of a colour in a slab of a part. */
struct pass {
    const struct vector_shape *s;
    const struct vector_member *m;
    const struct vector_terms *d;
    uint64_t step;
    bool relax;
    uint32_t colour;
    uint32_t first, count; /* planes of the part, */
    uint32_t row, rows;    /* and rows of each */
    const struct vector_part *part;
};

static void update(const struct pass *p, const struct row *r, uint32_t x) {
    const struct vector_shape *s = p->s;
    const struct vector_member *m = p->m;
    uint32_t *spin = r->own + s->components * (size_t)x;
    const ergo_vector h = local_field(s, m, p->d, r, x);
    struct ergo_words w = {0};
    if (!p->relax)
        w = ergo_philox_words((uint32_t)number(s, r, x), (uint32_t)p->step,
                              (uint32_t)(p->step >> 32), ERGO_DRAW(VECTOR_PURPOSE_SWEEP, 0),
                              m->key0, m->key1);
    if (!s->space) {
        spin[0] = p->relax ? vector_relax_angle(spin[0], h.x, h.y)
                           : vector_turn(spin[0], h.x, h.y, m->beta, m->width, s->q, w);
        return;
    }
    const ergo_vector old = vector_of(s, spin);
    const ergo_vector new = p->relax ? ergo_unit_reflect(old, h)
                            : s->heat_bath
                                ? vector_heat(h, m->beta, w)
                                : vector_tilt(old, h, m->beta, m->step, m->anisotropy, w);
    spin[0] = ergo_as_uint(new.x);
    spin[1] = ergo_as_uint(new.y);
    spin[2] = ergo_as_uint(new.z);
}

/* Sites of a row that have the pass's colour, from x on. No two of a colour are neighbours, so rows
 * may be updated at the same time. */
static void update_row(const struct pass *p, const struct row *r, uint32_t x, uint32_t end) {
    const uint32_t colours = p->s->colours;
    const uint64_t is = (number(p->s, r, x) % p->s->l[0] + r->y + r->z) % colours;
    for (x += (uint32_t)((p->colour + colours - is) % colours); x < end; x += colours)
        update(p, r, x);
}

ERGO_WITH_FMA static void update_rows(size_t begin, size_t end, void *user) {
    const struct pass *p = user;
    const uint32_t planes = p->part->slab.count, rows = p->part->slab.rows;
    for (size_t i = begin; i < end; i++) {
        const uint32_t plane = (uint32_t)((p->first + i / p->rows) % planes);
        const struct row r =
            row_of(p->s, p->part, plane, (uint32_t)((p->row + i % p->rows) % rows));
        if (p->s->d == 1)
            update_row(p, &r, plane, plane + 1);
        else
            update_row(p, &r, 0, r.n);
    }
}

uint64_t vector_twin_margin(const struct vector_shape *s, uint64_t sweeps) {
    return sweeps * s->colours * (1 + s->relax);
}

struct vector_slab vector_twin_around(const struct vector_shape *s, struct vector_slab slab,
                                      uint64_t sweeps) {
    const uint64_t margin = vector_twin_margin(s, sweeps), side = s->l[s->d - 1];
    slab.first = (uint32_t)((slab.first + side - margin) % side);
    slab.count += (uint32_t)(2 * margin);
    if (s->d == 3 && slab.rows < s->l[1]) {
        slab.row = (uint32_t)((slab.row + s->l[1] - margin) % s->l[1]);
        slab.rows += (uint32_t)(2 * margin);
    }
    return slab;
}

/* Updates of the passes of so many sweeps, each of which needs less around the slab. */
static uint64_t work_of(const struct vector_shape *s, struct vector_slab slab, uint64_t sweeps) {
    uint64_t rows = 0;
    for (uint64_t margin = 0; margin < vector_twin_margin(s, sweeps); margin++) {
        const uint64_t some = slab.rows + 2 * margin;
        rows += (slab.count + 2 * margin) * (some < s->l[1] ? some : s->l[1]);
    }
    return rows * s->l[0] / s->colours;
}

struct vector_slab vector_twin_window(const struct vector_shape *s, struct vector_slab planes,
                                      uint64_t sweeps) {
    enum { UPDATES = 1 << 22, LEAST = 16 }; /* some 0.2 s of a core */
    struct vector_slab slab = planes;
    while (s->d == 3 && slab.rows > LEAST && work_of(s, slab, sweeps) > UPDATES)
        slab.rows /= 2;
    if (s->d < 3 || slab.rows + 2 * vector_twin_margin(s, sweeps) >= s->l[1])
        return planes;
    slab.row = s->l[1] - slab.rows / 2;
    return slab;
}

void vector_twin_slab(const struct vector_shape *s, const struct vector_member *m,
                      const struct vector_terms *d, uint64_t step, uint64_t sweeps,
                      struct vector_slab slab, const struct vector_part *part) {
    const uint32_t side = s->l[s->d - 1];
    const bool window = s->d == 3 && part->slab.rows < s->l[1];
    const size_t worthwhile = ROW_SITES / (s->d == 1 ? 1 : s->l[0]) + 1;
    uint64_t margin = vector_twin_margin(s, sweeps);
    for (uint64_t i = 0; i < sweeps; i++, step++)
        for (uint32_t c = 0; c < s->colours * (1 + s->relax); c++) {
            margin--; /* what this pass reads beyond it is still right */
            const bool all = slab.count + 2 * margin >= side;
            const uint64_t first = slab.first + 2 * (uint64_t)side - margin - part->slab.first;
            struct pass p = {.s = s,
                             .m = m,
                             .d = d,
                             .step = step,
                             .relax = c >= s->colours,
                             .colour = c % s->colours,
                             .first = all ? 0 : (uint32_t)(first % side),
                             .count = all ? side : (uint32_t)(slab.count + 2 * margin),
                             .rows = part->slab.rows,
                             .part = part};
            if (window) {
                p.row = (uint32_t)((slab.row + 2 * (uint64_t)s->l[1] - margin - part->slab.row) %
                                   s->l[1]);
                p.rows = (uint32_t)(slab.rows + 2 * margin);
            }
            ergo_parallel_ranges((size_t)p.count * p.rows, worthwhile, update_rows, &p);
        }
}

void vector_twin_sweep(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, uint64_t step,
                       /* NOLINTNEXTLINE(readability-non-const-parameter): updates write there */
                       uint32_t *sites) {
    const struct vector_part whole = {vector_slab_of(s, 0, s->l[s->d - 1]), sites};
    vector_twin_slab(s, m, d, step, 1, whole.slab, &whole);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_spin(const struct vector_shape *s, const uint32_t *spin, int64_t *sums) {
    const ergo_vector v = vector_of(s, spin);
    sums[0] += vector_fixed(v.x);
    sums[1] += vector_fixed(v.y);
    sums[2] += vector_fixed(v.z);
}

static void add_bonds(const struct vector_shape *s, const struct vector_terms *d,
                      const struct row *r, uint32_t x, int64_t *sums) {
    const uint32_t *spin = r->own + s->components * (size_t)x;
    for (uint32_t k = 0; k < s->directions; k++) {
        const uint32_t *other = neighbour(s, r, x, k, true);
        const float j = s->coupled ? coupling(s, d, r, x, k, true) : 0;
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
static void add_plaquette(const struct vector_shape *s, const struct row *r, uint32_t x,
                          int64_t *sums) {
    const uint32_t x1 = after(x, r->n);
    const uint32_t angle[4] = {r->own[x], r->own[x1], r->next[0][x1], r->next[0][x]};
    int64_t turned = 0; /* each step by the shorter way */
    for (int i = 0; i < 4; i++)
        turned += (int32_t)(angle[(i + 1) % 4] - angle[i]);
    sums[VECTOR_SQUARES] += !s->triangular
                                ? turned != 0
                                : (int64_t)vector_chirality(angle[0], angle[1], angle[2]) -
                                      vector_chirality(angle[0], angle[2], angle[3]);
}

/* Rows are counted by all cores; sums of integers know no order. */
struct counting {
    const struct vector_shape *s;
    const struct vector_member *m;
    const struct vector_terms *d;
    const struct vector_waves *waves;
    const struct vector_part *part;
    struct vector_sums *sums;
    pthread_mutex_t lock; /* of the sums */
};

static void count_row(const struct counting *c, const struct row *r, int64_t *sums) {
    const struct vector_shape *s = c->s;
    for (uint32_t x = 0; x < r->n; x++) {
        const uint32_t *spin = r->own + s->components * (size_t)x;
        add_spin(s, spin, sums + VECTOR_TOTAL);
        add_bonds(s, c->d, r, x, sums);
        if (s->space) {
            const float z = ergo_as_float(spin[2]);
            sums[VECTOR_SQUARES] += vector_fixed(z * z);
        } else if (s->d == 2) {
            add_plaquette(s, r, x, sums);
        }
        if (s->random)
            sums[VECTOR_ALONG] += vector_fixed(
                ergo_dot(vector_of(s, spin), random_of(s, c->m, c->d, number(s, r, x))));
    }
}

/* Sites of a row that are counted at a time, and of a wave there cosine and sine: the same for all
 * rows at which it has the same phase. */
enum { STRETCH = 512 };
struct factors {
    bool known;
    uint32_t phase;
    float of[2][STRETCH];
};

static void find_factors(const uint32_t k[3], uint32_t phase, struct factors *f) {
    if (f->known && f->phase == phase)
        return;
    for (uint32_t i = 0; i < STRETCH; i++) {
        const uint32_t at = phase + k[0] * i;
        f->of[0][i] = k[0] || i == 0 ? ergo_cos(at) : f->of[0][0];
        f->of[1][i] = k[0] || i == 0 ? ergo_sin(at) : f->of[1][0];
    }
    f->known = true;
    f->phase = phase;
}

/* `factors` and sums of all waves. */
static void count_waves(const struct counting *c, const struct row *r, struct factors *factors,
                        int64_t (*sums)[VECTOR_WAVE_NUMBERS]) {
    for (uint32_t x = 0; x < r->n; x += STRETCH) {
        const uint32_t n = r->n - x < STRETCH ? r->n - x : STRETCH;
        float spins[3][STRETCH];
        for (uint32_t i = 0; i < n; i++) {
            const ergo_vector v = vector_of(c->s, r->own + c->s->components * (size_t)(x + i));
            spins[0][i] = v.x;
            spins[1][i] = v.y;
            spins[2][i] = v.z;
        }
        for (uint32_t w = 0; w < c->waves->n; w++) {
            const uint32_t *k = c->waves->k[w];
            find_factors(k, vector_phase(k, x, r->y, r->z), &factors[w]);
            for (uint32_t j = 0; j < VECTOR_WAVE_NUMBERS; j++)
                for (uint32_t i = 0; i < n; i++)
                    sums[w][j] += vector_fixed(spins[j / 2][i] * factors[w].of[j % 2][i]);
        }
    }
}

ERGO_WITH_FMA static void count_rows(size_t begin, size_t end, void *user) {
    struct counting *c = user;
    const uint32_t rows = c->part->slab.rows;
    int64_t sums[VECTOR_NUMBERS_SPACE] = {0}, waves[VECTOR_WAVES_MAX][VECTOR_WAVE_NUMBERS] = {{0}};
    struct factors factors[VECTOR_WAVES_MAX];
    for (uint32_t w = 0; w < VECTOR_WAVES_MAX; w++)
        factors[w].known = false;
    for (size_t i = begin; i < end; i++) {
        const struct row r = row_of(c->s, c->part, (uint32_t)(i / rows), (uint32_t)(i % rows));
        count_row(c, &r, sums);
        count_waves(c, &r, factors, waves);
    }
    pthread_mutex_lock(&c->lock);
    for (uint32_t k = 0; k < c->s->numbers; k++)
        c->sums->sites[k] += sums[k];
    for (uint32_t w = 0; w < c->waves->n; w++)
        for (uint32_t k = 0; k < VECTOR_WAVE_NUMBERS; k++)
            c->sums->waves[w][k] += waves[w][k];
    pthread_mutex_unlock(&c->lock);
}

void vector_twin_count(const struct vector_shape *s, const struct vector_member *m,
                       const struct vector_terms *d, const struct vector_waves *waves,
                       const struct vector_part *part, uint32_t planes,
                       /* NOLINTNEXTLINE(readability-non-const-parameter): count_rows adds there */
                       struct vector_sums *sums) {
    struct counting c = {s, m, d, waves, part, sums, PTHREAD_MUTEX_INITIALIZER};
    const size_t rows = s->d == 1 ? 1 : (size_t)planes * part->slab.rows;
    ergo_parallel_ranges(rows, ROW_SITES / s->l[0] + 1, count_rows, &c);
}
