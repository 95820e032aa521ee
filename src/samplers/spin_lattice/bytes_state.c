/*
 * Models with a byte per spin: the canonical state, pictures.
 *
 * Canonical state of a member: a byte for each site, x fastest, then y, then z. ising: 1 up, 0
 * down; potts: 0 .. q - 1; blume-capel: 1 - s. It does not contain random fields: they are drawn
 * again, because they depend only on seed and replica, or read again from their file.
 */

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

static void spins(const void *shape, struct ergo_extent *x) {
    static const char *const help[] = {[BYTES_ISING] = "1 up, 0 down",
                                       [BYTES_POTTS] = "state, from 0 on",
                                       [BYTES_POTTS_HEAT] = "state, from 0 on",
                                       [BYTES_BLUME_CAPEL] = "1 - s"};
    const struct bytes_shape *h = shape;
    const uint64_t sides[] = {h->l[0], h->l[1], h->l[2]};
    ergo_extent_lattice(x, sides, h->d, 1);
    x->below = h->q;
    x->planes = 2;
    x->plane = (size_t)h->colour;
    x->raw = h->pitch;
    x->help = help[h->kind];
}

/* On the device bit 1 of a site of ising is the sign of its random field. */
static void take(const struct ergo_field_row *r) {
    const struct bytes_shape *h = r->shape;
    ergo_take_checkerboard(r);
    for (size_t i = 0; i < r->x->bytes && h->kind == BYTES_ISING; i++)
        r->bytes[i] &= 1;
}

static void put(const struct ergo_field_row *r) {
    const struct bytes_state *s = r->state;
    uint8_t *first = r->raw, *const colours[] = {first, first + r->plane};
    ergo_put_checkerboard(r);
    if (s->fields)
        bytes_field_signs(&s->shape, &s->members[r->member], r->row, colours, 1);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void look(const void *state, struct ergo_view *view) {
    const struct bytes_shape *h = &((const struct bytes_state *)state)->whole;
    lattice_look(h->l, h->q, h->kind == BYTES_ISING, view);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {
    {BYTES_SPINS, "spins", .extent = spins, .take = take, .put = put}};
const struct ergo_fields bytes_fields = {
    .shape = offsetof(struct bytes_state, shape), .field = field, .n = 1, .look = look};

enum ergo_status bytes_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct bytes_shape s = bytes_shape_of(point);
    ergo_fields_form(&bytes_fields, &s, form);
    return timed_form(ctx, point, form);
}
