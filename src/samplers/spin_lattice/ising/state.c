/* The canonical state of an Ising lattice, and its picture. */
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

static void spins(const void *shape, struct ergo_extent *x) {
    const struct ising_shape *s = shape;
    ergo_extent_bits(x, (const uint64_t[]){(uint64_t)s->lx, (uint64_t)s->ly}, 2);
    x->planes = 2;
    x->plane = 16 * (size_t)s->blocks;
    x->raw = 4 * (size_t)s->row_words;
    x->help = "1 up, 0 down";
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned spin_at(const struct ergo_view *v, size_t x, size_t y) {
    return ergo_bits_get((const uint8_t *)v->sites + y * ergo_bits_bytes(v->size[0]), x);
}

static void look(const void *state, struct ergo_view *view) {
    const struct ising_shape *s = &((const struct ising_state *)state)->whole;
    *view = (struct ergo_view){.size = {(uint64_t)s->lx, (uint64_t)s->ly, 1},
                               .state = spin_at,
                               .name = "up",
                               .states = 2,
                               .colours = {{245, 222, 179}, {31, 58, 95}},
                               .mean = true};
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {{ISING_SPINS, "spins", .extent = spins,
                                           .take = ergo_take_checkerboard,
                                           .put = ergo_put_checkerboard}};
const struct ergo_fields ising_fields = {
    .shape = offsetof(struct ising_state, shape), .field = field, .n = 1, .look = look};

enum ergo_status ising_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct ising_shape s = ising_shape_of(point);
    ergo_fields_form(&ising_fields, &s, form);
    return timed_form(ctx, point, form);
}
