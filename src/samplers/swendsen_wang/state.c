/* The canonical state of a Potts lattice, and its picture. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/swendsen_wang/sw.h"

static size_t packed_length(const struct sw_shape *s) {
    return ergo_bits_bytes((size_t)s->lx) * s->planes * (size_t)s->ly;
}

/* Row `row` of the canonical form: plane by plane of each row of the lattice. */
static size_t word_of(const struct sw_shape *s, size_t row) {
    return row % s->planes * s->words + row / s->planes * s->row_words;
}

static unsigned state_at(const struct ergo_view *v, size_t x, size_t y) {
    const struct sw_shape *s = v->shape;
    unsigned state = 0;
    for (size_t p = 0; p < s->planes; p++)
        state |= ergo_bits_get((const uint32_t *)v->sites + word_of(s, y * s->planes + p), x) << p;
    return state;
}

/* False: an unused bit is set, or a state is not below q. */
static bool unpack(const struct sw_shape *s, const uint8_t *bytes, uint32_t *planes) {
    const size_t length = ergo_bits_bytes((size_t)s->lx);
    const struct ergo_view v = {.shape = s, .sites = planes};
    bool good = true;
    memset(planes, 0, s->member_bytes);
    for (size_t row = 0; row < s->planes * (size_t)s->ly; row++, bytes += length) {
        memcpy(planes + word_of(s, row), bytes, length);
        good = good && ergo_bits_clean(bytes, (size_t)s->lx);
    }
    for (size_t y = 0; y < (size_t)s->ly && s->q != 1u << s->planes; y++)
        for (size_t x = 0; x < (size_t)s->lx; x++)
            good = good && state_at(&v, x, y) < s->q;
    return good;
}

enum ergo_status sw_form(struct ergo_context *ctx, const struct ergo_point *point,
                         struct ergo_form *form) {
    const struct sw_shape s = sw_shape_of(point);
    const uint64_t sides[] = {ergo_bits_bytes((size_t)s.lx), s.planes, (uint64_t)s.ly};
    (void)ctx;
    ergo_form_lattice(form, sides, 3, 1, 1);
    form->parts[0].axes = "y plane x";
    form->parts[0].bits = (uint64_t)s.lx;
    form->parts[0].help = "bit `plane` of a site's state";
    return ERGO_OK;
}

static enum ergo_status fetch(struct ergo_context *ctx, struct sw_state *s, size_t member,
                              uint32_t **planes) {
    *planes = malloc(s->shape.member_bytes);
    if (!*planes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice of %llu sites",
                         (unsigned long long)s->shape.sites);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SW_SPINS, member * (size_t)s->shape.member_bytes,
                     (size_t)s->shape.member_bytes, *planes);
    const enum ergo_status status = ergo_engine_end(&s->e);
    if (status != ERGO_OK) {
        free(*planes);
        *planes = NULL;
    }
    return status;
}

enum ergo_status sw_append_state(struct ergo_context *ctx, const struct sw_shape *shape,
                                 const uint32_t *planes, struct ergo_text *text) {
    for (size_t row = 0; row < shape->planes * (size_t)shape->ly; row++)
        ergo_text_append_bytes(text, planes + word_of(shape, row),
                               ergo_bits_bytes((size_t)shape->lx));
    if (text->failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes",
                         packed_length(shape));
    return ERGO_OK;
}

enum ergo_status sw_read_state(struct ergo_context *ctx, const struct sw_shape *shape,
                               size_t member, const void *bytes, size_t length, uint32_t **planes) {
    const size_t expected = packed_length(shape);
    *planes = NULL;
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %lld x %lld "
                         "with q = %u has %zu",
                         member, length, (long long)shape->lx, (long long)shape->ly, shape->q,
                         expected);
    *planes = malloc(shape->member_bytes);
    if (!*planes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    if (unpack(shape, bytes, *planes))
        return ERGO_OK;
    free(*planes);
    *planes = NULL;
    return ERGO_FAIL(ctx, ERGO_E_IO,
                     "the saved state of member %zu has bits outside the lattice or states "
                     "beyond q: it is damaged",
                     member);
}

enum ergo_status sw_save(struct ergo_context *ctx, void *opaque, size_t member,
                         struct ergo_text *text) {
    struct sw_state *s = opaque;
    uint32_t *planes = NULL;
    enum ergo_status status = fetch(ctx, s, member, &planes);
    if (status == ERGO_OK)
        status = sw_append_state(ctx, &s->shape, planes, text);
    free(planes);
    return status;
}

enum ergo_status sw_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                         const void *bytes, size_t length) {
    struct sw_state *s = opaque;
    uint32_t *planes = NULL;
    enum ergo_status status = sw_read_state(ctx, &s->shape, member, bytes, length, &planes);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_write(&s->e, SW_SPINS, member * (size_t)s->shape.member_bytes,
                          (size_t)s->shape.member_bytes, planes);
        status = ergo_engine_end(&s->e);
    }
    s->e.step = step;
    s->started = false;
    free(planes);
    return status;
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

struct ergo_view sw_view_of(const struct sw_shape *shape) {
    struct ergo_view view = {.size = {(uint64_t)shape->lx, (uint64_t)shape->ly, 1},
                             .shape = shape,
                             .state = state_at,
                             .mean = true};
    for (unsigned i = 0; i < shape->q; i++)
        colour_of(i, view.colours[i]);
    return view;
}

enum ergo_status sw_view(struct ergo_context *ctx, void *opaque, size_t member,
                         struct ergo_view *view) {
    struct sw_state *s = opaque;
    uint32_t *planes = NULL;
    const enum ergo_status status = fetch(ctx, s, member, &planes);
    *view = sw_view_of(&s->shape);
    view->sites = planes;
    return status;
}
