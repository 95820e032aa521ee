/*
 * Spins that are unit vectors: the canonical state, pictures.
 *
 * Canonical state of a member: sites in natural order, x fastest, then y, then z. xy: the angle in
 * units of 2 pi / 2^32, four bytes, the lowest first. clock: k, a byte. heisenberg: x, y and z in
 * units of 2^-21, each a signed number of four bytes, the lowest first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"
#include "spin_lattice/vector.h"

enum { WORTHWHILE = 1 << 16 }; /* words that are worth waking a core */

/* Number of the row of a colour that has the site. */
static size_t row_of(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z) {
    return ((x + y + z) % s->colours * (size_t)s->l[2] + z) * s->l[1] + y;
}

size_t vector_place(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z) {
    return row_of(s, x, y, z) * (s->l[0] / s->colours) + x / s->colours;
}

size_t vector_at(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z, uint32_t c) {
    return (s->components * row_of(s, x, y, z) + c) * (s->l[0] / s->colours) + x / s->colours;
}

static size_t words_of(const struct vector_shape *s) {
    return s->components * (size_t)s->sites;
}

size_t vector_words(const struct vector_shape *s, struct vector_slab slab) {
    return (size_t)s->components * (s->d == 1 ? 1 : s->l[0]) * slab.rows * slab.count;
}

static enum ergo_status no_memory(struct ergo_context *ctx, const struct vector_shape *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                     4 * (double)words_of(s) / 1048576);
}

/* So many planes that they are some MiB. */
uint32_t vector_planes(const struct vector_shape *s) {
    enum { WORDS = 1 << 22 };
    const uint32_t side = s->l[s->d - 1];
    const size_t fit = WORDS / (words_of(s) / side) + 1;
    return s->d == 1 || fit > side ? side : (uint32_t)fit;
}

/* ---- from the device's layout to natural order -----------------------------------------------
 */

/* A chain's planes are single sites: of it a reader has all. */
bool vector_reader_open(struct vector_reader *r, struct vector_state *s, struct vector_slab most) {
    if (s->shape.d == 1)
        most.count = s->shape.l[0];
    *r = (struct vector_reader){.s = s, .raw = malloc(4 * vector_words(&s->shape, most))};
    return r->raw != NULL;
}

void vector_reader_close(struct vector_reader *r) {
    free(r->raw);
    r->raw = NULL;
}

static enum ergo_status read_words(struct ergo_context *ctx, const struct vector_reader *r,
                                   size_t at, size_t words, uint32_t *to) {
    struct ergo_engine *e = &r->s->e;
    if (r->before)
        return ergo_replay_before(ctx, r->before, VECTOR_SPINS, 4 * at, 4 * words, to);
    ergo_engine_begin(e, ctx);
    ergo_engine_read(e, VECTOR_SPINS, 4 * at, 4 * words, to);
    return ergo_engine_end(e);
}

/* `count` things of `each` words, from number `first` of `all` on that lie one after the other at
 * word `at`; after the last one the first again. */
static enum ergo_status read_ring(struct ergo_context *ctx, const struct vector_reader *r,
                                  size_t at, size_t each, size_t all, size_t first, size_t count,
                                  uint32_t *to) {
    const size_t here = first + count < all ? count : all - first;
    enum ergo_status status = read_words(ctx, r, at + each * first, each * here, to);
    if (status == ERGO_OK && here < count)
        status = read_words(ctx, r, at, each * (count - here), to + each * here);
    return status;
}

/* A slab lies in one or two runs for each colour, and if it has not all rows, for each plane of
 * these: so it lies in `raw`, too. */
static enum ergo_status read_slab(struct ergo_context *ctx, const struct vector_reader *r,
                                  size_t member, struct vector_slab slab) {
    const struct vector_shape *s = &r->s->shape;
    const size_t side = s->l[s->d - 1], pieces = s->colours;
    const size_t piece = words_of(s) / pieces, plane = piece / side, row = plane / s->l[1];
    const bool window = s->d == 3 && slab.rows < s->l[1];
    enum ergo_status status = ERGO_OK;
    if (slab.count == side && slab.first == 0 && !window)
        return read_words(ctx, r, words_of(s) * member, words_of(s), r->raw);
    for (size_t k = 0; k < pieces && status == ERGO_OK; k++) {
        const size_t from = words_of(s) * member + piece * k;
        uint32_t *to = r->raw + vector_words(s, slab) / pieces * k;
        if (!window)
            status = read_ring(ctx, r, from, plane, side, slab.first, slab.count, to);
        for (size_t p = 0; p < slab.count && window && status == ERGO_OK; p++)
            status = read_ring(ctx, r, from + plane * ((slab.first + p) % side), row, s->l[1],
                               slab.row, slab.rows, to + row * slab.rows * p);
    }
    return status;
}

struct layout {
    const struct vector_shape *s;
    const uint32_t *raw;
    const struct vector_part *part;
};

/* Rows of a part in x. */
static void lay_rows(size_t begin, size_t end, void *user) {
    const struct layout *l = user;
    const struct vector_shape *s = l->s;
    const struct vector_slab slab = l->part->slab;
    const uint32_t lx = s->l[0];
    const size_t row = lx / s->colours, words = s->components * row;
    const size_t colour = words * slab.rows * slab.count;
    for (size_t i = begin; i < end; i++) {
        const size_t place = slab.first + i / slab.rows; /* y + z, but for whole sides */
        const size_t y = s->d == 3 ? (slab.row + i % slab.rows) % s->l[1] : 0;
        const size_t offset = y + place % s->l[s->d - 1];
        uint32_t *to = l->part->sites + s->components * lx * i;
        for (uint32_t c = 0; c < s->components; c++)
            for (uint32_t first = 0; first < s->colours; first++) {
                const size_t of = (first + offset) % s->colours;
                const uint32_t *from = l->raw + colour * of + words * i + row * c;
                for (size_t x = 0; x < row; x++)
                    to[s->components * (first + s->colours * x) + c] = from[x];
            }
    }
}

enum ergo_status vector_read(struct ergo_context *ctx, const struct vector_reader *r, size_t member,
                             const struct vector_part *part) {
    const struct vector_shape *s = &r->s->shape;
    const struct vector_slab slab = part->slab;
    if (s->d == 1) {
        const enum ergo_status status =
            read_words(ctx, r, words_of(s) * member, words_of(s), r->raw);
        for (uint32_t i = 0; i < slab.count && status == ERGO_OK; i++)
            for (uint32_t c = 0; c < s->components; c++)
                part->sites[s->components * (size_t)i + c] =
                    r->raw[vector_at(s, (slab.first + i) % s->l[0], 0, 0, c)];
        return status;
    }
    const enum ergo_status status = read_slab(ctx, r, member, slab);
    struct layout l = {s, r->raw, part};
    if (status == ERGO_OK)
        ergo_parallel_ranges((size_t)slab.count * slab.rows, WORTHWHILE / s->l[0] + 1, lay_rows,
                             &l);
    return status;
}

/* ---- words of the canonical state ------------------------------------------------------------ */

size_t vector_state_bytes(const struct vector_shape *s) {
    return s->q ? (size_t)s->sites : 4 * words_of(s);
}

struct coding {
    const struct vector_shape *s;
    const uint32_t *sites;
    uint8_t *out;
};

static void encode(size_t begin, size_t end, void *user) {
    const struct coding *k = user;
    const struct vector_shape *s = k->s;
    for (size_t i = begin; i < end; i++) {
        if (s->q) {
            k->out[i] = (uint8_t)vector_number(k->sites[i], s->q);
            continue;
        }
        const uint32_t word =
            s->space ? (uint32_t)(int32_t)(ergo_as_float(k->sites[i]) * 0x1p21f) : k->sites[i];
        for (int b = 0; b < 4; b++)
            k->out[4 * i + (size_t)b] = (uint8_t)(word >> 8 * b);
    }
}

/* Word i of the state; of heisenberg the components as floats. */
static uint32_t decode(const struct vector_shape *s, const uint8_t *in, size_t i) {
    if (s->q)
        return vector_direction(in[i], s->q);
    const uint32_t word = (uint32_t)in[4 * i] | (uint32_t)in[4 * i + 1] << 8 |
                          (uint32_t)in[4 * i + 2] << 16 | (uint32_t)in[4 * i + 3] << 24;
    return s->space ? ergo_as_uint((float)(int32_t)word * 0x1p-21f) : word;
}

/* Is the spin of words i on, in a state, a spin: one of q, or of length 1? Reflections let lengths
 * wander, by 1e-6 times the root of their number. */
static bool is_spin(const struct vector_shape *s, const uint8_t *in, const uint32_t *spin,
                    size_t i) {
    if (s->q)
        return in[i] < s->q;
    if (!s->space)
        return true;
    double length2 = 0;
    for (int c = 0; c < 3; c++)
        length2 += (double)ergo_as_float(spin[c]) * (double)ergo_as_float(spin[c]);
    return length2 > 0.99 && length2 < 1.01;
}

/* The first `planes` planes of the canonical state. */
static enum ergo_status save_planes(struct ergo_context *ctx, struct vector_state *s, size_t member,
                                    uint32_t planes, struct ergo_text *text) {
    const struct vector_shape *h = &s->shape;
    const uint32_t fit = vector_planes(h), some = fit < planes ? fit : planes;
    const struct vector_slab most = vector_slab_of(h, 0, some);
    struct vector_part part = {most, malloc(4 * vector_words(h, most))};
    struct vector_reader reader;
    uint8_t *out = ergo_text_extend(text, vector_state_bytes(h) / h->l[h->d - 1] * planes);
    const bool memory = vector_reader_open(&reader, s, most) && part.sites && out;
    enum ergo_status status = memory ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx, h);
    for (; part.slab.first < planes && status == ERGO_OK; part.slab.first += some) {
        const uint32_t rest = planes - part.slab.first;
        part.slab.count = rest < some ? rest : some;
        status = vector_read(ctx, &reader, member, &part);
        struct coding coding = {h, part.sites, out};
        const size_t words = vector_words(h, part.slab);
        if (status == ERGO_OK)
            ergo_parallel_ranges(words, WORTHWHILE, encode, &coding);
        out += h->q ? words : 4 * words;
    }
    vector_reader_close(&reader);
    free(part.sites);
    return status;
}

enum ergo_status vector_save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct vector_state *s = opaque;
    return save_planes(ctx, s, member, s->shape.l[s->shape.d - 1], text);
}

/* From natural order to the device's layout. */
struct placing {
    const struct vector_shape *s;
    const uint32_t *sites;
    uint32_t *raw;
};

static void place_sites(size_t begin, size_t end, void *user) {
    const struct placing *p = user;
    const struct vector_shape *s = p->s;
    for (size_t site = begin; site < end; site++) {
        const size_t row = site / s->l[0];
        for (uint32_t c = 0; c < s->components; c++)
            p->raw[vector_at(s, (uint32_t)(site % s->l[0]), (uint32_t)(row % s->l[1]),
                             (uint32_t)(row / s->l[1]), c)] = p->sites[s->components * site + c];
    }
}

enum ergo_status vector_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct vector_state *s = opaque;
    const size_t words = words_of(&s->shape), each = s->shape.components;
    const uint8_t *from = bytes;
    if (length != vector_state_bytes(&s->shape))
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, vector_state_bytes(&s->shape));
    uint32_t *raw = malloc(4 * words), *sites = calloc(words, sizeof *sites);
    enum ergo_status status = raw && sites ? ERGO_OK : no_memory(ctx, &s->shape);
    for (size_t i = 0; i < words && status == ERGO_OK; i += each) {
        for (size_t c = 0; c < each; c++)
            sites[i + c] = decode(&s->shape, from, i + c);
        if (!is_spin(&s->shape, from, sites + i, i))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu is damaged: site %zu has no spin",
                               member, i / each);
    }
    if (status == ERGO_OK) {
        struct placing p = {&s->shape, sites, raw};
        ergo_parallel_ranges((size_t)s->shape.sites, WORTHWHILE, place_sites, &p);
        status = ergo_device_finish(ctx, s->e.device);
    }
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_write(&s->e, VECTOR_SPINS, 4 * words * member, 4 * words, raw);
        status = ergo_engine_end(&s->e);
        s->e.step = step;
    }
    free(raw);
    free(sites);
    return status;
}

enum ergo_status vector_form(struct ergo_context *ctx, const struct ergo_point *point,
                             struct ergo_form *form) {
    const struct vector_shape s = vector_shape_of(point);
    const uint64_t sides[] = {s.l[0], s.l[1], s.l[2]};
    (void)ctx;
    ergo_form_lattice(form, sides, s.d, s.q ? 1 : 4, s.components);
    struct ergo_form_part *part = &form->parts[0];
    part->is_signed = s.space;
    part->scale = s.q ? 0 : s.space ? 0x1p-21 : ERGO_FORM_TURN;
    part->help = s.q       ? "k, direction 2 pi k/q"
                 : s.space ? "x, y, z of a unit vector"
                           : "angle in radians";
    return ERGO_OK;
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct vector_shape *s = v->shape;
    const size_t site = x + v->size[0] * row;
    const uint8_t *sites = v->sites;
    if (s->q)
        return sites[site];
    if (!s->space)
        return decode(s, sites, site) >> 24;
    const float z = ergo_as_float(decode(s, sites, 3 * site + 2));
    return (unsigned)(127.5f * (z < -1 ? 0 : z > 1 ? 2 : 1 + z));
}

struct ergo_view vector_view_of(const struct vector_shape *h) {
    struct ergo_view view = {.size = {h->l[0], h->l[1], h->l[2]},
                             .shape = h,
                             .state = state_at,
                             .name = h->q       ? "k"
                                     : h->space ? "z"
                                                : "angle",
                             .states = h->q ? h->q : 256};
    for (unsigned i = 0; i < view.states; i++) {
        if (h->space)
            ergo_view_height(i, view.colours[i]);
        else
            ergo_view_hue(i, view.states, view.colours[i]);
    }
    return view;
}

enum ergo_status vector_view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    struct vector_state *s = opaque;
    struct ergo_text sites = {0};
    const bool plane = view->plane && s->shape.d == 3;
    const enum ergo_status status =
        save_planes(ctx, s, member, plane ? 1 : s->shape.l[s->shape.d - 1], &sites);
    *view = vector_view_of(&s->shape);
    view->sites = sites.data;
    return status;
}
