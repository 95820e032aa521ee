/* Lattices of sites: parameters, start, the canonical state and its picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/swendsen_wang/sites/sites.h"

_Static_assert(sizeof(struct sw_site_member) == SW_SITE_MEMBER_BYTES,
               "sw_site_member has no padding");

enum ergo_status sw_sites_prepare(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    (void)ctx;
    ergo_engine_constant(&s->e, SITES_MEMBERS, s->members);
    return ERGO_OK;
}

static const struct ergo_engine_model engine = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct sw_sites_state),
    .configure = sw_sites_configure,
    .prepare = sw_sites_prepare,
    .steps = sw_sites_steps,
    .block = sw_sites_block,
    .rows = sw_sites_rows,
};

const struct ergo_sampler_ops sw_sites_ops = {
    .engine = &engine,
    .init = sw_sites_init,
    .save = sw_sites_save,
    .load = sw_sites_load,
    .audit = sw_sites_audit,
    .view = sw_sites_view,
};

enum ergo_status sw_sites_init(struct ergo_context *ctx, void *opaque) {
    struct sw_sites_state *s = opaque;
    const bool random =
        strcmp(ergo_point_text(s->e.batch->points[0], "/system/start"), "random") == 0;
    s->e.step = 0;
    s->started = true;
    ergo_engine_begin(&s->e, ctx);
    ERGO_LAUNCH(&s->e, SITES_START,
                ergo_grid_items(s->shape.sites, s->launch.group, s->e.batch->count),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), U32(random));
    for (size_t m = 0; m < s->e.batch->count && s->shape.adapts; m++) {
        const uint32_t chance = sw_adapt_start(s->e.batch->points[m], &s->members[m]);
        ergo_engine_write(&s->e, SITES_CHANCES, m * sizeof chance, sizeof chance, &chance);
    }
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

static enum ergo_status fetch_to(struct ergo_context *ctx, struct sw_sites_state *s, size_t member,
                                 void *spins) {
    const size_t words = sw_sites_words(&s->shape), each = sw_sites_word(&s->shape);
    const size_t span = each * sw_sites_span(s), bytes = each * s->shape.sites;
    ergo_engine_begin(&s->e, ctx);
    for (size_t k = 0; k < words; k++)
        ergo_engine_read(&s->e, SITES_SPINS, (member * words + k) * span, bytes,
                         (char *)spins + k * bytes);
    return ergo_engine_end(&s->e);
}

static enum ergo_status no_memory(struct ergo_context *ctx, const struct sw_sites_shape *h) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice of %u sites", h->sites);
}

static enum ergo_status fetch(struct ergo_context *ctx, struct sw_sites_state *s, size_t member,
                              void **spins) {
    const size_t bytes = (size_t)s->shape.sites * s->shape.spin_bytes;
    *spins = malloc(bytes);
    if (!*spins)
        return no_memory(ctx, &s->shape);
    const enum ergo_status status = fetch_to(ctx, s, member, *spins);
    if (status != ERGO_OK) {
        free(*spins);
        *spins = NULL;
    }
    return status;
}

/* Bytes of the chance in a state, behind the spins. */
static size_t chance_bytes(const struct sw_sites_shape *h) {
    return h->adapts ? sizeof(uint32_t) : 0;
}

static uint32_t word_of(const uint8_t *four) {
    return (uint32_t)four[0] | (uint32_t)four[1] << 8 | (uint32_t)four[2] << 16 |
           (uint32_t)four[3] << 24;
}

static enum ergo_status put_chance(struct ergo_context *ctx, struct sw_sites_state *s,
                                   size_t member, uint8_t *out) {
    uint32_t chance = 0;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SITES_CHANCES, member * sizeof chance, sizeof chance, &chance);
    for (size_t b = 0; b < sizeof chance; b++)
        out[b] = (uint8_t)(chance >> 8 * b);
    return ergo_engine_end(&s->e);
}

/* Word k of site i on the device, and of the canonical state; 4 bytes, the lowest first. */
static size_t place(const struct sw_sites_shape *h, size_t i, size_t k) {
    return i + k * h->sites;
}

struct coding {
    const struct sw_sites_shape *h;
    const uint32_t *words;
    uint8_t *out;
};

static void encode(size_t begin, size_t end, void *user) {
    const struct coding *c = user;
    const struct sw_sites_shape *h = c->h;
    const size_t each = h->spin_bytes / 4;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < each; k++) {
            const uint32_t raw = c->words[place(h, i, k)];
            const uint32_t word =
                h->model == SW_MODEL_XY ? raw : (uint32_t)(int32_t)(ergo_as_float(raw) * 0x1p21f);
            for (size_t b = 0; b < 4; b++)
                c->out[4 * (each * i + k) + b] = (uint8_t)(word >> 8 * b);
        }
}

/* False: a spin is none. Reflections let lengths wander, by 1e-6 times the root of their number. */
static bool decode(const struct sw_sites_shape *h, const uint8_t *in, uint32_t *words) {
    const size_t each = h->spin_bytes / 4;
    bool good = true;
    for (size_t i = 0; i < h->sites; i++) {
        double length2 = 0;
        for (size_t k = 0; k < each; k++) {
            const uint8_t *four = in + 4 * (each * i + k);
            const uint32_t word = word_of(four);
            const float component = (float)(int32_t)word * 0x1p-21f;
            words[place(h, i, k)] = h->model == SW_MODEL_XY ? word : ergo_as_uint(component);
            length2 += (double)component * (double)component;
            /* what was rounded would be another state when it is saved */
            good = good && (h->model == SW_MODEL_XY ||
                            (int64_t)(int32_t)word == (int64_t)(component * 0x1p21f));
        }
        good = good && (h->model == SW_MODEL_XY || (length2 > 0.99 && length2 < 1.01));
    }
    return good;
}

bool sw_sites_decode(const struct sw_sites_shape *h, const uint8_t *in, void *spins) {
    bool good = true;
    if (h->spin_bytes > 1)
        return decode(h, in, spins);
    for (size_t i = 0; i < h->sites; i++)
        good = good && in[i] < h->q;
    memcpy(spins, in, h->sites);
    return good;
}

enum ergo_status sw_sites_form(struct ergo_context *ctx, const struct ergo_point *point,
                               struct ergo_form *form) {
    const struct sw_sites_shape s = sw_sites_shape_of(point);
    const uint64_t sides[] = {s.lx, s.ly, s.lz};
    const bool space = s.model == SW_MODEL_HEISENBERG, plane = s.model == SW_MODEL_XY;
    (void)ctx;
    ergo_form_lattice(form, sides, s.lz > 1 ? 3 : 2, s.spin_bytes > 1 ? 4 : 1, space ? 3 : 1);
    struct ergo_form_part *part = &form->parts[0];
    part->is_signed = space;
    part->scale = space ? 0x1p-21 : plane ? ERGO_FORM_TURN : 0;
    part->help = space   ? "x, y, z of a unit vector"
                 : plane ? "angle in radians"
                         : "state, from 0 on";
    if (s.adapts) {
        form->parts[form->n_parts++] =
            (struct ergo_form_part){.name = "chance",
                                    .axes = "one",
                                    .help = "chance of a bond, in units of 2^-32",
                                    .element = 4,
                                    .n_dims = 1,
                                    .shape = {1},
                                    .offset = form->bytes};
        form->bytes += 4;
    }
    return ERGO_OK;
}

enum ergo_status sw_sites_save(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_text *text) {
    enum { WORTHWHILE = 1 << 16 }; /* sites that are worth waking a core */
    struct sw_sites_state *s = opaque;
    const size_t bytes = (size_t)s->shape.sites * s->shape.spin_bytes;
    uint8_t *out = ergo_text_extend(text, bytes + chance_bytes(&s->shape));
    void *spins = NULL;
    if (!out)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes", bytes);
    enum ergo_status status = s->shape.adapts ? put_chance(ctx, s, member, out + bytes) : ERGO_OK;
    if (status != ERGO_OK)
        return status;
    if (s->shape.spin_bytes == 1)
        return fetch_to(ctx, s, member, out);
    status = fetch(ctx, s, member, &spins);
    struct coding coding = {&s->shape, spins, out};
    if (status == ERGO_OK)
        ergo_parallel_ranges(s->shape.sites, WORTHWHILE, encode, &coding);
    free(spins);
    return status;
}

enum ergo_status sw_sites_check_state(struct ergo_context *ctx, const struct sw_sites_shape *h,
                                      size_t member, const void *bytes, size_t length) {
    const size_t lattice = (size_t)h->sites * h->spin_bytes, expected = lattice + chance_bytes(h);
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %u sites has "
                         "%zu",
                         member, length, h->sites, expected);
    void *spins = malloc(lattice);
    if (!spins)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    const bool good = sw_sites_decode(h, bytes, spins) &&
                      (!h->adapts || word_of((const uint8_t *)bytes + lattice));
    free(spins);
    return good ? ERGO_OK
                : ERGO_FAIL(ctx, ERGO_E_IO,
                            "the saved state of member %zu has spins that are none: it is damaged",
                            member);
}

enum ergo_status sw_sites_load_parts(struct ergo_context *ctx, struct sw_sites_state *s,
                                     size_t member, uint64_t step, const uint8_t *layers,
                                     const uint8_t *chance) {
    const size_t words = sw_sites_words(&s->shape), each = sw_sites_word(&s->shape);
    char *spins = malloc((size_t)s->shape.sites * s->shape.spin_bytes);
    if (!spins)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    sw_sites_decode(&s->shape, layers, spins);
    ergo_engine_begin(&s->e, ctx);
    for (size_t k = 0; k < words; k++)
        ergo_engine_write(&s->e, SITES_SPINS, (member * words + k) * each * sw_sites_span(s),
                          each * s->shape.sites, spins + k * each * s->shape.sites);
    if (s->shape.adapts) {
        const uint32_t value = word_of(chance);
        ergo_engine_write(&s->e, SITES_CHANCES, member * sizeof value, sizeof value, &value);
    }
    s->e.step = step;
    s->started = false;
    free(spins);
    return ergo_engine_end(&s->e);
}

enum ergo_status sw_sites_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                               const void *bytes, size_t length) {
    struct sw_sites_state *s = opaque;
    const enum ergo_status status = sw_sites_check_state(ctx, &s->shape, member, bytes, length);
    return status == ERGO_OK ? sw_sites_load_parts(ctx, s, member, step, bytes,
                                                   (const uint8_t *)bytes +
                                                       (size_t)s->shape.sites * s->shape.spin_bytes)
                             : status;
}

/* Of an angle or a height a byte. */
static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct sw_sites_shape *s = v->shape;
    const size_t i = row * s->lx + x;
    if (s->spin_bytes == 1)
        return ((const uint8_t *)v->sites)[i];
    const uint32_t *words = v->sites;
    if (s->model == SW_MODEL_XY)
        return words[i] >> 24;
    const float height = ergo_as_float(words[place(s, i, 2)]);
    return (unsigned)fminf(255, fmaxf(0, 128 + 128 * height));
}

void sw_sites_view_of(const struct sw_sites_shape *shape, struct ergo_view *view) {
    const struct sw_shape plain = {.q = shape->q};
    *view = sw_view_of(&plain);
    view->size[0] = shape->lx;
    view->size[1] = shape->ly;
    view->size[2] = shape->lz;
    view->shape = shape;
    view->state = state_at;
    const unsigned steps = shape->model == SW_MODEL_CLOCK ? shape->q : 256;
    for (unsigned k = 0; k < steps && shape->model != SW_MODEL_POTTS; k++)
        if (shape->model == SW_MODEL_HEISENBERG)
            ergo_view_height(k, view->colours[k]);
        else
            ergo_view_hue(k, steps, view->colours[k]);
}

enum ergo_status sw_sites_view(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_view *view) {
    struct sw_sites_state *s = opaque;
    const struct sw_sites_shape *h = &s->shape;
    const size_t sites = view->plane ? (size_t)h->lx * h->ly : h->sites;
    const size_t words = h->spin_bytes > 1 ? h->spin_bytes / 4 : 1, each = h->spin_bytes / words;
    const size_t member_bytes = sw_sites_span(s) * h->spin_bytes;
    uint8_t *spins = malloc((size_t)h->sites * h->spin_bytes); /* what is not read is not touched */
    sw_sites_view_of(h, view);
    view->sites = spins;
    if (!spins)
        return no_memory(ctx, h);
    ergo_engine_begin(&s->e, ctx);
    for (size_t k = 0; k < words; k++) {
        const size_t at = each * place(h, 0, k);
        ergo_engine_read(&s->e, SITES_SPINS, member_bytes * member + at, each * sites, spins + at);
    }
    return ergo_engine_end(&s->e);
}
