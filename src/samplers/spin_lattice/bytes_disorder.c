/*
 * General fields and couplings of models with a byte per spin, drawn or read from a file, as
 * integers. Couplings are those of the first sample of a spin glass, see spin_glass/couplings.c.
 *
 * Fields: key = that of the random field (seed and replica, not the temperature), entity = site.
 * Gaussian: step = 1, of potts 1 + state, draw = attempt, by glass_normal. The signs of
 * blume-capel's and the states that potts' fields prefer: step = 0, draw = 2, the first word; the
 * signs of ising's as cl/spin_lattice/bytes.h has them. Files of fields: fields.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "dist/dist.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

static struct glass_shape glass_of(const struct bytes_shape *s) {
    const struct glass_shape g = {.d = s->d,
                                  .lx = s->l[0],
                                  .ly = s->l[1],
                                  .lz = s->l[2],
                                  .sites = s->sites,
                                  .samples = 1,
                                  .real = true};
    return g;
}

enum ergo_status bytes_file_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    return model_fields_check(ctx, point, s.sites, s.kind == BYTES_POTTS ? s.q : 1, "states", 27);
}

enum ergo_status bytes_bonds_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct glass_shape g = glass_of(&s);
    return glass_file_check(ctx, point, &g);
}

/* ---- in integers ----------------------------------------------------------------------------- */

void bytes_disorder_free(struct bytes_disorder *d) {
    free(d->fields);
    free(d->bonds);
    memset(d, 0, sizeof *d);
}

/* Four sites of a colour share a draw. */
void bytes_field_signs(const struct bytes_shape *s, const struct bytes_member *member, uint64_t row,
                       uint8_t *const colours[2], size_t step) {
    const uint64_t half = s->l[0] / 2, quads = (half + 3) / 4;
    for (uint64_t k = 0; k < 2 * quads; k++) {
        const uint64_t quad = k / 2;
        const uint64_t entity = (row + s->first_row) % s->all_rows * quads + quad;
        const uint32_t colour = k & 1;
        const struct ergo_words r =
            ergo_philox_words((uint32_t)entity, 0, 0, ERGO_DRAW(BYTES_PURPOSE_FIELD, colour),
                              member->field0, member->field1);
        const uint32_t words[4] = {r.x, r.y, r.z, r.w};
        for (uint64_t l = 0; l < 4 && 4 * quad + l < half; l++)
            colours[colour][step * (4 * quad + l)] |= (uint8_t)(words[l] >> 31 << 1);
    }
}

/* Of blume-capel's field the sign, of potts' the state that it prefers. */
static uint32_t field_state(const struct bytes_shape *s, const uint32_t key[2], uint64_t site) {
    const struct ergo_words r =
        ergo_philox_words((uint32_t)site, 0, 0, ERGO_DRAW(BYTES_PURPOSE_FIELD, 2), key[0], key[1]);
    return (uint32_t)((uint64_t)r.x * (s->kind == BYTES_POTTS ? s->q : 2) >> 32);
}

/* f of all sites, [of a site][site], from the file or drawn. */
static enum ergo_status fields_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct bytes_shape *s, struct model_sites of,
                                  double *fields) {
    const struct ergo_value *distribution = &of_lattice(point)->field_distribution;
    struct bytes_member m;
    bytes_member_fill(point, &m);
    const uint32_t key[2] = {m.field0, m.field1};
    if (of_lattice(point)->field_file.present)
        return model_fields_of(ctx, point, s->sites, s->kind == BYTES_POTTS ? s->q : 1, "states",
                               of, fields);
    if (distribution->present &&
        ergo_says(of_lattice(point)->field_distribution.text, "gaussian")) {
        for (uint32_t k = 0; k < s->fields; k++)
            for (uint64_t i = 0; i < of.n; i++)
                fields[k * of.n + i] = glass_normal(key, (uint32_t)((of.first + i) % s->sites),
                                                    1 + k, BYTES_PURPOSE_FIELD, 0) *
                                       0x1p-24;
        return ERGO_OK;
    }
    for (uint64_t i = 0; i < of.n && s->kind == BYTES_BLUME_CAPEL; i++)
        fields[i] = field_state(s, key, (of.first + i) % s->sites) ? 1 : -1;
    for (uint64_t i = 0; i < of.n && s->kind == BYTES_POTTS && s->fields; i++) {
        const uint32_t state = field_state(s, key, (of.first + i) % s->sites);
        for (uint32_t k = 0; k < s->q; k++)
            fields[k * of.n + i] = k == state;
    }
    if (s->kind != BYTES_ISING)
        return ERGO_OK;
    const uint64_t layer = s->sites / bytes_layers(s);
    const struct bytes_shape here = bytes_shape_of_layers(s, of.first / layer, of.n / layer);
    uint8_t *signs = calloc(of.n, 1);
    if (!signs)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for random fields");
    for (uint64_t row = 0; row < of.n / s->l[0]; row++) {
        const uint64_t odd = (row % here.l[1] + row / here.l[1]) & 1;
        uint8_t *first = signs + row * s->l[0], *const colours[] = {first + odd, first + !odd};
        bytes_field_signs(&here, &m, row, colours, 2);
    }
    for (uint64_t i = 0; i < of.n; i++)
        fields[i] = signs[i] ? 1 : -1;
    free(signs);
    return ERGO_OK;
}

static int32_t whole(double x) {
    return (int32_t)floor(x + 0.5);
}

/* The largest of these; of all ranks', where these ask together. */
static double largest_of(const double *numbers, size_t n, bool together) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(numbers[i]));
    return together ? ergo_dist_max(largest) : largest;
}

/* n_fields, n_bonds: numbers there are. */
static double unit_of(const struct bytes_shape *s, const struct bytes_physics *p,
                      const double *fields, size_t n_fields, const double *bonds, size_t n_bonds,
                      bool together) {
    const bool potts = s->kind == BYTES_POTTS, capel = s->kind == BYTES_BLUME_CAPEL;
    const double field = largest_of(fields, n_fields, together);
    const size_t n = n_bonds / s->d;
    double around = 0;
    int exponent = 0;
    for (uint32_t k = 0; k < s->d && k < 3; k++)
        around += 2 * (n_bonds ? largest_of(bonds + k * n, n, together) : fabs(p->j[k]));
    /* half the cost of an Ising spin's flip, or the cost of a move */
    const double most = capel   ? 2 * (field + around) + fabs(p->crystal)
                        : potts ? 2 * field + fabs(p->b) + around
                                : field + around;
    /* it stays below 2^29, and below 2^30 after rounding */
    (void)frexp(most, &exponent);
    return ldexp(1, most > 0 ? exponent - 29 : 0);
}

/* Make d->fields, d->bonds, d->j and all else that has the unit, from energies. */
static void round_all(const struct bytes_shape *s, const struct bytes_physics *p,
                      const double *fields, size_t n_fields, const double *bonds, size_t n_bonds,
                      struct bytes_disorder *d) {
    const bool potts = s->kind == BYTES_POTTS, capel = s->kind == BYTES_BLUME_CAPEL;
    for (size_t i = 0; i < n_fields; i++)
        d->fields[i] = whole(fields[i] / d->unit);
    for (size_t i = 0; i < n_bonds; i++)
        d->bonds[i] = whole(bonds[i] / d->unit);
    for (uint32_t k = 0; k < s->d && k < 3 && !n_bonds; k++)
        d->j[k] = whole(p->j[k] / d->unit);
    d->field = potts ? whole(p->b / d->unit) : 0;
    d->crystal = capel ? whole(p->crystal / d->unit) : 0;
}

enum ergo_status bytes_disorder_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct bytes_disorder *d) {
    *d = (struct bytes_disorder){.of = {0, bytes_shape_of(point).sites}};
    return bytes_disorder_part(ctx, point, false, d);
}

enum ergo_status bytes_disorder_part(struct ergo_context *ctx, const struct ergo_point *point,
                                     bool together, struct bytes_disorder *d) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const struct glass_shape g = glass_of(&s);
    const size_t n = d->of.n, n_bonds = s.bonds ? s.d * n : 0, n_fields = s.fields * n;
    const double uniform = s.kind == BYTES_POTTS ? 0 : p.b;
    double *fields = malloc((n_fields + 1) * sizeof *fields);
    double *bonds = malloc((n_bonds + 1) * sizeof *bonds);
    d->fields = calloc(n_fields + 1, sizeof *d->fields);
    d->bonds = n_bonds ? malloc(n_bonds * sizeof *d->bonds) : NULL;
    enum ergo_status status =
        fields && bonds && d->fields && (d->bonds || !n_bonds)
            ? fields_of(ctx, point, &s, d->of, fields)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for fields and couplings of %zu sites", n);
    if (status == ERGO_OK && n_bonds)
        status = glass_first_sample(ctx, point, &g, d->of, bonds);
    if (status != ERGO_OK)
        goto out;
    for (size_t i = 0; i < n_fields; i++) /* without a random field there is nothing to read */
        fields[i] = uniform + (p.h != 0 ? p.h * fields[i] : 0);
    for (size_t i = 0; i < n_bonds; i++)
        bonds[i] *= p.j[i / n];
    if (d->unit == 0)
        d->unit = unit_of(&s, &p, fields, n_fields, bonds, n_bonds, together);
    round_all(&s, &p, fields, n_fields, bonds, n_bonds, d);
out:
    free(fields);
    free(bonds);
    if (status != ERGO_OK)
        bytes_disorder_free(d);
    return status;
}

bool bytes_file_samples(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    struct ergo_context *quiet = ergo_context_create(); /* the check says what is wrong */
    struct bytes_disorder d = {0};
    bool samples = true;
    if (quiet && bytes_disorder_make(quiet, point, &d) == ERGO_OK) {
        const struct ergodic_bonds bonds = {
            .d = s.d, .l = {s.l[0], s.l[1], s.l[2]}, .step = 1, .j = d.bonds, .n = s.sites};
        double *fields = calloc(s.sites, sizeof *fields);
        for (uint64_t i = 0; i < s.sites && fields && s.fields; i++)
            fields[i] =
                s.kind == BYTES_POTTS ? d.fields[i] - (double)d.fields[s.sites + i] : d.fields[i];
        for (uint64_t i = 0; i < s.sites && fields && s.kind == BYTES_POTTS; i++)
            fields[i] += d.field;
        samples = fields && ergodic_bonds(&bonds, fields);
        free(fields);
    }
    bytes_disorder_free(&d);
    ergo_context_destroy(quiet);
    return samples;
}

void bytes_disorder_fill(const struct ergo_point *point, const struct bytes_disorder *d,
                         struct bytes_member *member) {
    const double of_cost = bytes_shape_of(point).kind == BYTES_ISING ? 0.5 : 1;
    member->scale = (float)(of_cost * point->parameters->temperature / d->unit);
    memcpy(member->j, d->j, sizeof member->j);
    member->field = d->field;
    member->crystal = d->crystal;
}

/* ---- for the kernels ------------------------------------------------------------------------- */

/* Numbers per site: its fields, and the couplings to the neighbours. */
static size_t planes_of(const struct bytes_shape *s) {
    return s->fields + (s->bonds ? 2 * (size_t)s->d : 0);
}

size_t bytes_terms_length(const struct bytes_shape *s) {
    const size_t length = 2 * s->colour * planes_of(s);
    return !s->general ? 0 : length ? length : 4; /* kernels get a buffer, also for no numbers */
}

/* cl/spin_lattice/bytes.cl describes the order. Couplings are those to the neighbour at the same
 * place in the row of the other colour, at the place beside it, and at y - 1, y + 1, z - 1 and z
 * + 1. */
void bytes_terms_pack(const struct bytes_shape *s, const struct bytes_disorder *d,
                      int32_t *packed) {
    const size_t lx = s->l[0], ly = s->l[1], lz = s->l[2], n = s->sites;
    memset(packed, 0, bytes_terms_length(s) * sizeof *packed);
    for (size_t row = 0; row < ly * lz; row++)
        for (size_t x = 0; x < lx; x++) {
            const size_t y = row % ly, z = row / ly, site = row * lx + x;
            int32_t *to =
                packed + ((x + y + z) & 1) * planes_of(s) * s->colour + row * s->pitch + x / 2;
            for (uint32_t k = 0; k < s->fields; k++, to += s->colour)
                *to = d->fields[k * n + site];
            if (!s->bonds)
                continue;
            const int32_t before = d->bonds[row * lx + (x + lx - 1) % lx], after = d->bonds[site];
            to[0] = x & 1 ? before : after;
            to[s->colour] = x & 1 ? after : before;
            if (s->d > 1) {
                to[2 * s->colour] = d->bonds[n + (z * ly + (y + ly - 1) % ly) * lx + x];
                to[3 * s->colour] = d->bonds[n + site];
            }
            if (s->d > 2) {
                to[4 * s->colour] = d->bonds[2 * n + ((z + lz - 1) % lz * ly + y) * lx + x];
                to[5 * s->colour] = d->bonds[2 * n + site];
            }
        }
}
