/* Lattices of sites: parameters, start, the canonical state and its picture. */
#include <math.h>
#include <string.h>

#include "samplers/lattice/vectors.h"
#include "samplers/swendsen_wang/sites/sites.h"

_Static_assert(sizeof(struct sw_site_member) == SW_SITE_MEMBER_BYTES,
               "sw_site_member has no padding");

static const struct ergo_engine_model engine = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct sw_sites_state),
    .fields = &sw_sites_fields,
    .configure = sw_sites_configure,
    .start = sw_sites_start,
    .steps = sw_sites_steps,
    .block = sw_sites_block,
    .row = sw_sites_row,
};

const struct ergo_sampler_ops sw_sites_ops = {
    .engine = &engine,
    .init = ergo_engine_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .view = ergo_fields_view,
};

void sw_sites_start(void *state) {
    struct sw_sites_state *s = state;
    const bool random = ergo_says(of_lattice(s->e.batch->points[0])->start, "random");
    s->started = true;
    ERGO_LAUNCH(&s->e, SITES_START,
                ergo_grid_items(s->shape.sites, s->launch.group, s->e.batch->count),
                BUFFER(SITES_SPINS), BUFFER(SITES_MEMBERS), U32(random));
    for (size_t m = 0; m < s->e.batch->count && s->shape.adapts; m++) {
        const uint32_t chance = sw_adapt_start(s->e.batch->points[m], &s->members[m]);
        ergo_engine_write(&s->e, SITES_CHANCES, m * sizeof chance, sizeof chance, &chance);
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void spins(const void *state, struct ergo_extent *x) {
    const struct sw_sites_state *s = state;
    const struct sw_sites_shape *h = &s->shape;
    const uint64_t sides[] = {h->lx, h->ly, h->lz};
    const bool space = h->model == SW_MODEL_HEISENBERG, plane = h->model == SW_MODEL_XY;
    x->element = sw_sites_word(h);
    ergo_extent_lattice(x, sides, h->lz > 1 ? 3 : 2, sw_sites_words(h));
    x->below = x->element == 1 ? h->q : 0;
    x->planes = sw_sites_words(h);
    x->raw = x->element * h->lx;
    x->plane = x->element * sw_sites_span(s);
    x->is_signed = space;
    x->scale = space ? 0x1p-21 : plane ? ERGO_FORM_TURN : 0;
    x->help = space ? "x, y, z of a unit vector" : plane ? "angle in radians" : "state, from 0 on";
}

static void take(const struct ergo_field_row *r) {
    if (r->x->planes == 1)
        memcpy(r->bytes, r->raw, r->x->bytes);
    for (size_t i = 0; i < r->x->bytes / 4 && r->x->planes == 3; i++)
        lattice_component_set(r->bytes, i,
                              ((const uint32_t *)((char *)r->raw + i % 3 * r->plane))[i / 3]);
}

static void put(const struct ergo_field_row *r) {
    if (r->x->planes == 1)
        memcpy(r->raw, r->bytes, r->x->bytes);
    for (size_t i = 0; i < r->x->bytes / 4 && r->x->planes == 3; i++)
        ((uint32_t *)((char *)r->raw + i % 3 * r->plane))[i / 3] =
            lattice_component_float(r->bytes, i);
}

static bool valid(const struct ergo_field_row *r) {
    return r->x->planes == 1 || lattice_unit_vectors(r);
}

static void chance(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, ((const struct sw_sites_state *)state)->shape.adapts, 4);
    x->axes = "one";
    x->help = "chance of a bond, in units of 2^-32";
    ergo_extent_shape(x, (const uint64_t[]){1}, 1);
}

static bool some_chance(const struct ergo_field_row *r) {
    return r->bytes[0] || r->bytes[1] || r->bytes[2] || r->bytes[3];
}

static void loaded(void *state, size_t member) {
    (void)member;
    ((struct sw_sites_state *)state)->started = false;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Of an angle or a height a byte. */
static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct sw_sites_shape *s = v->shape;
    const uint8_t *sites = v->sites;
    const size_t i = row * s->lx + x;
    if (s->spin_bytes == 1)
        return sites[i];
    if (s->model == SW_MODEL_XY)
        return sites[4 * i + 3];
    return (unsigned)fminf(
        255, fmaxf(0, 128 + 128 * ((float)lattice_component(sites, 3 * i + 2) * 0x1p-21f)));
}

void sw_sites_look(const void *state, struct ergo_view *view) {
    const struct sw_sites_shape *h = &((const struct sw_sites_state *)state)->whole;
    sw_look(&(const struct sw_shape){.q = h->q}, view);
    view->size[0] = h->lx;
    view->size[1] = h->ly;
    view->size[2] = h->lz;
    view->shape = h;
    view->state = state_at;
    const unsigned steps = h->model == SW_MODEL_CLOCK ? h->q : 256;
    for (unsigned k = 0; k < steps && h->model != SW_MODEL_POTTS; k++)
        if (h->model == SW_MODEL_HEISENBERG)
            ergo_view_height(k, view->colours[k]);
        else
            ergo_view_hue(k, steps, view->colours[k]);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {
    {SITES_SPINS, "spins", .extent = spins, .take = take, .put = put, .valid = valid},
    {SITES_CHANCES, "chance", .extent = chance, .valid = some_chance},
};
const struct ergo_fields sw_sites_fields = {
    .field = field, .n = sizeof field / sizeof *field, .loaded = loaded, .look = sw_sites_look};

enum ergo_status sw_sites_form(struct ergo_context *ctx, const struct ergo_point *point,
                               struct ergo_form *form) {
    const struct sw_sites_state s = {.shape = sw_sites_shape_of(point)};
    (void)ctx;
    ergo_fields_form(&sw_sites_fields, &s, form);
    return ERGO_OK;
}
