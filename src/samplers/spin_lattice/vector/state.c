/*
 * Spins that are unit vectors: the canonical state, pictures.
 *
 * Canonical state of a member: sites in natural order, x fastest, then y, then z. xy: the angle in
 * units of 2 pi / 2^32, four bytes, the lowest first. clock: k, a byte. heisenberg: x, y and z in
 * units of 2^-21, each a signed number of four bytes, the lowest first.
 */
#include <string.h>

#include "samplers/lattice/vectors.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"
#include "spin_lattice/vector.h"

size_t vector_place(const struct vector_shape *s, uint32_t x, uint32_t y, uint32_t z) {
    const size_t row = ((x + y + z) % s->colours * (size_t)s->l[2] + z) * s->l[1] + y;
    return row * (s->l[0] / s->colours) + x / s->colours;
}

static void spins(const void *shape, struct ergo_extent *x) {
    const struct vector_shape *s = shape;
    const uint64_t sides[] = {s->l[0], s->l[1], s->l[2]};
    x->element = s->q ? 1 : 4;
    ergo_extent_lattice(x, sides, s->d, s->components);
    x->below = s->q;
    x->planes = s->colours;
    x->raw = 4 * (size_t)s->components * (s->l[0] / s->colours);
    x->is_signed = s->space;
    x->scale = s->q ? 0 : s->space ? 0x1p-21 : ERGO_FORM_TURN;
    x->help = s->q       ? "k, direction 2 pi k/q"
              : s->space ? "x, y, z of a unit vector"
                         : "angle in radians";
}

/* Where the device has component c of the sites x = first, first + colours, ... of a row: after
 * those of the components before it, with the row's other sites of that colour. */
static uint32_t *words_at(const struct ergo_field_row *r, size_t first, size_t c) {
    const struct vector_shape *s = r->shape;
    const size_t y_z = r->row % s->l[1] + r->row / s->l[1];
    return (uint32_t *)((char *)r->raw + (first + y_z) % s->colours * r->plane) +
           c * (s->l[0] / s->colours);
}

static uint32_t word_of(const uint8_t *bytes, size_t i) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, 4);
    return word;
}

static void take(const struct ergo_field_row *r) {
    const struct vector_shape *s = r->shape;
    for (size_t c = 0; c < s->components; c++)
        for (size_t first = 0; first < s->colours; first++) {
            const uint32_t *from = words_at(r, first, c);
            for (size_t x = first; x < s->l[0]; x += s->colours, from++)
                if (s->q)
                    r->bytes[x] = (uint8_t)vector_number(*from, s->q);
                else if (s->space)
                    lattice_component_set(r->bytes, 3 * x + c, *from);
                else
                    memcpy(r->bytes + 4 * x, from, 4);
        }
}

static void put(const struct ergo_field_row *r) {
    const struct vector_shape *s = r->shape;
    for (size_t c = 0; c < s->components; c++)
        for (size_t first = 0; first < s->colours; first++) {
            uint32_t *to = words_at(r, first, c);
            for (size_t x = first; x < s->l[0]; x += s->colours)
                to[x / s->colours] = s->q       ? vector_direction(r->bytes[x], s->q)
                                     : s->space ? lattice_component_float(r->bytes, 3 * x + c)
                                                : word_of(r->bytes, x);
        }
}

static bool valid(const struct ergo_field_row *r) {
    return !((const struct vector_shape *)r->shape)->space || lattice_unit_vectors(r);
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct vector_shape *s = v->shape;
    const size_t site = x + v->size[0] * row;
    const uint8_t *sites = v->sites;
    if (s->q)
        return sites[site];
    if (!s->space)
        return word_of(sites, site) >> 24;
    const float z = ergo_as_float(lattice_component_float(sites, 3 * site + 2));
    return (unsigned)(127.5f * (z < -1 ? 0 : z > 1 ? 2 : 1 + z));
}

static void look(const void *state, struct ergo_view *view) {
    const struct vector_shape *h = &((const struct vector_state *)state)->whole;
    *view = (struct ergo_view){.size = {h->l[0], h->l[1], h->l[2]},
                               .shape = h,
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
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {
    {VECTOR_SPINS, "spins", .extent = spins, .take = take, .put = put, .valid = valid}};
const struct ergo_fields vector_fields = {
    .shape = offsetof(struct vector_state, shape), .field = field, .n = 1, .look = look};

enum ergo_status vector_form(struct ergo_context *ctx, const struct ergo_point *point,
                             struct ergo_form *form) {
    const struct vector_shape s = vector_shape_of(point);
    (void)ctx;
    ergo_fields_form(&vector_fields, &s, form);
    return ERGO_OK;
}
