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

size_t vector_at(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z, uint32_t c) {
    const size_t row = s->l[0] / s->colours, per = (size_t)s->sites / s->colours;
    return (x + y + z) % s->colours * per + (y + (size_t)s->l[1] * z) * row + x / s->colours +
           c * (size_t)s->sites;
}

/* Between the device's layout and natural order, by all cores. */
struct layout {
    const struct vector_shape *s;
    const uint32_t *from;
    uint32_t *to;
    bool packing; /* to the device */
};

static void lay_sites(size_t begin, size_t end, void *user) {
    const struct layout *l = user;
    const struct vector_shape *s = l->s;
    for (size_t site = begin; site < end; site++) {
        const size_t row = site / s->l[0];
        const uint32_t x = (uint32_t)(site % s->l[0]), y = (uint32_t)(row % s->l[1]),
                       z = (uint32_t)(row / s->l[1]);
        for (uint32_t c = 0; c < s->components; c++) {
            const size_t there = vector_at(s, x, y, z, c), here = s->components * site + c;
            l->to[l->packing ? there : here] = l->from[l->packing ? here : there];
        }
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): lay_sites writes through it */
static void each_word(const struct vector_shape *s, const uint32_t *from, uint32_t *to,
                      bool packing) {
    struct layout l = {s, from, to, packing};
    ergo_parallel_ranges((size_t)s->sites, 1 << 16, lay_sites, &l);
}

void vector_unpack(const struct vector_shape *s, const uint32_t *raw, uint32_t *sites) {
    each_word(s, raw, sites, false);
}

static size_t words_of(const struct vector_shape *s) {
    return s->components * (size_t)s->sites;
}

static enum ergo_status no_memory(struct ergo_context *ctx, const struct vector_shape *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                     4 * (double)words_of(s) / 1048576);
}

enum ergo_status vector_read(struct ergo_context *ctx, struct vector_state *s, size_t member,
                             uint32_t *raw) {
    const size_t bytes = 4 * words_of(&s->shape);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, VECTOR_SPINS, bytes * member, bytes, raw);
    return ergo_engine_end(&s->e);
}

/* ---- words of the canonical state ------------------------------------------------------------ */

static size_t state_bytes(const struct vector_shape *s) {
    return s->q ? (size_t)s->sites : 4 * words_of(s);
}

static void encode(const struct vector_shape *s, const uint32_t *sites, uint8_t *out) {
    for (size_t i = 0; i < words_of(s); i++) {
        if (s->q) {
            out[i] = (uint8_t)vector_number(sites[i], s->q);
            continue;
        }
        const uint32_t word =
            s->space ? (uint32_t)(int32_t)(ergo_as_float(sites[i]) * 0x1p21f) : sites[i];
        for (int b = 0; b < 4; b++)
            out[4 * i + (size_t)b] = (uint8_t)(word >> 8 * b);
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

enum ergo_status vector_save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct vector_state *s = opaque;
    const size_t words = words_of(&s->shape);
    uint32_t *raw = malloc(4 * words), *sites = malloc(4 * words);
    uint8_t *out = malloc(state_bytes(&s->shape));
    enum ergo_status status =
        raw && sites && out ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx, &s->shape);
    if (status == ERGO_OK)
        status = vector_read(ctx, s, member, raw);
    if (status == ERGO_OK) {
        vector_unpack(&s->shape, raw, sites);
        encode(&s->shape, sites, out);
        ergo_text_append_bytes(text, out, state_bytes(&s->shape));
        if (text->failed)
            status = no_memory(ctx, &s->shape);
    }
    free(raw);
    free(sites);
    free(out);
    return status;
}

enum ergo_status vector_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct vector_state *s = opaque;
    const size_t words = words_of(&s->shape), each = s->shape.components;
    const uint8_t *from = bytes;
    if (length != state_bytes(&s->shape))
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, state_bytes(&s->shape));
    uint32_t *raw = malloc(4 * words), *sites = malloc(4 * words);
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
        each_word(&s->shape, sites, raw, true);
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

enum ergo_status vector_view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    struct vector_state *s = opaque;
    const struct vector_shape *h = &s->shape;
    struct ergo_text sites = {0};
    const enum ergo_status status = vector_save(ctx, s, member, &sites);
    *view = (struct ergo_view){.size = {h->l[0], h->l[1], h->l[2]},
                               .shape = h,
                               .sites = sites.data,
                               .state = state_at,
                               .name = h->q       ? "k"
                                       : h->space ? "z"
                                                  : "angle",
                               .states = h->q ? h->q : 256};
    for (unsigned i = 0; i < view->states; i++) {
        if (h->space)
            ergo_view_height(i, view->colours[i]);
        else
            ergo_view_hue(i, view->states, view->colours[i]);
    }
    return status;
}
