/* The canonical state of a Potts lattice, and its picture. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/swendsen_wang/sw.h"

static size_t plane_bytes(const struct sw_shape *s) {
    return ergo_bits_bytes((size_t)s->lx);
}

/* Plane by plane of each row of the lattice. */
static void spins(const void *shape, struct ergo_extent *x) {
    const struct sw_shape *s = shape;
    const uint64_t all[] = {(uint64_t)s->ly, s->planes, plane_bytes(s)};
    x->rows = (size_t)s->ly;
    x->bytes = s->planes * plane_bytes(s);
    x->bits = (size_t)s->lx;
    x->planes = s->planes;
    x->plane = 4 * (size_t)s->words;
    x->raw = 4 * (size_t)s->row_words;
    x->axes = "y plane x";
    x->help = "bit `plane` of a site's state";
    ergo_extent_shape(x, all, 3);
}

static void take(const struct ergo_field_row *r) {
    const struct sw_shape *s = r->shape;
    for (size_t p = 0; p < s->planes; p++)
        memcpy(r->bytes + p * plane_bytes(s), (char *)r->raw + p * r->plane, plane_bytes(s));
}

static void put(const struct ergo_field_row *r) {
    const struct sw_shape *s = r->shape;
    for (size_t p = 0; p < s->planes; p++)
        memcpy((char *)r->raw + p * r->plane, r->bytes + p * plane_bytes(s), plane_bytes(s));
}

static unsigned state_in(const struct sw_shape *s, const uint8_t *row, size_t x) {
    unsigned state = 0;
    for (size_t p = 0; p < s->planes; p++)
        state |= ergo_bits_get(row + p * plane_bytes(s), x) << p;
    return state;
}

/* No unused bit is set, and all states are below q. */
static bool valid(const struct ergo_field_row *r) {
    const struct sw_shape *s = r->shape;
    bool good = true;
    for (size_t p = 0; p < s->planes; p++)
        good = good && ergo_bits_clean(r->bytes + p * plane_bytes(s), (size_t)s->lx);
    for (size_t x = 0; x < (size_t)s->lx && s->q != 1u << s->planes; x++)
        good = good && state_in(s, r->bytes, x) < s->q;
    return good;
}

static void loaded(void *state, size_t member) {
    (void)member;
    ((struct sw_state *)state)->started = false;
}

static const struct ergo_field field[] = {
    {SW_SPINS, "spins", .extent = spins, .take = take, .put = put, .valid = valid}};

/* ---- of a lattice on the host ---------------------------------------------------------------- */

enum ergo_status sw_append_state(struct ergo_context *ctx, const struct sw_shape *shape,
                                 const uint32_t *planes, struct ergo_text *text) {
    const size_t length = (size_t)shape->ly * shape->planes * plane_bytes(shape);
    uint8_t *bytes = ergo_text_extend(text, length);
    if (!bytes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes", length);
    ergo_field_arrange(field, shape, false, (void *)(uintptr_t)planes, bytes);
    return ERGO_OK;
}

enum ergo_status sw_read_state(struct ergo_context *ctx, const struct sw_shape *shape,
                               size_t member, const void *bytes, size_t length, uint32_t **planes) {
    const size_t expected = (size_t)shape->ly * shape->planes * plane_bytes(shape);
    *planes = NULL;
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, expected);
    *planes = malloc(shape->member_bytes);
    if (!*planes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    if (ergo_field_arrange(field, shape, true, *planes, (void *)(uintptr_t)bytes))
        return ERGO_OK;
    free(*planes);
    *planes = NULL;
    return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu is damaged: its spins", member);
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned state_at(const struct ergo_view *v, size_t x, size_t y) {
    const struct sw_shape *s = v->shape;
    return state_in(s, (const uint8_t *)v->sites + y * s->planes * plane_bytes(s), x);
}

/* Colours around the circle, in steps of the golden angle: neighbours in number differ. */
static void colour_of(unsigned state, uint8_t rgb[3]) {
    static const uint8_t first[3][3] = {{31, 58, 95}, {245, 222, 179}, {178, 70, 60}};
    if (state < 3) {
        memcpy(rgb, first[state], sizeof first[state]);
        return;
    }
    const double turn = 0.381966 * state, hue = 6 * (turn - (double)(long)turn);
    for (int c = 0; c < 3; c++) {
        double h = hue + 2 * c;
        h = h >= 6 ? h - 6 : h;
        const double wave = h < 1 ? h : h < 3 ? 1 : h < 4 ? 4 - h : 0;
        rgb[c] = (uint8_t)(50.5 + 180 * wave);
    }
}

void sw_look(const struct sw_shape *shape, struct ergo_view *view) {
    *view = (struct ergo_view){.size = {(uint64_t)shape->lx, (uint64_t)shape->ly, 1},
                               .shape = shape,
                               .state = state_at,
                               .mean = true};
    for (unsigned i = 0; i < shape->q; i++)
        colour_of(i, view->colours[i]);
}

static void look(const void *state, struct ergo_view *view) {
    sw_look(&((const struct sw_state *)state)->shape, view);
}

const struct ergo_fields sw_fields = {.shape = offsetof(struct sw_state, shape),
                                      .field = field,
                                      .n = 1,
                                      .loaded = loaded,
                                      .look = look};

enum ergo_status sw_form(struct ergo_context *ctx, const struct ergo_point *point,
                         struct ergo_form *form) {
    const struct sw_shape s = sw_shape_of(point);
    (void)ctx;
    ergo_fields_form(&sw_fields, &s, form);
    return ERGO_OK;
}
