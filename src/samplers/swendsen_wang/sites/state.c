/* Lattices of sites: parameters, start, the canonical state and its picture. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sites/sites.h"

_Static_assert(sizeof(struct sw_site_member) == SW_SITE_MEMBER_BYTES,
               "sw_site_member has no padding");

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
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
    .prepare = prepare,
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
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

static enum ergo_status fetch(struct ergo_context *ctx, struct sw_sites_state *s, size_t member,
                              void **spins) {
    const size_t bytes = s->shape.sites;
    *spins = malloc(bytes);
    if (!*spins)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice of %zu sites",
                         bytes);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SITES_SPINS, member * bytes, bytes, *spins);
    const enum ergo_status status = ergo_engine_end(&s->e);
    if (status != ERGO_OK) {
        free(*spins);
        *spins = NULL;
    }
    return status;
}

enum ergo_status sw_sites_save(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_text *text) {
    struct sw_sites_state *s = opaque;
    void *spins = NULL;
    enum ergo_status status = fetch(ctx, s, member, &spins);
    if (status == ERGO_OK)
        ergo_text_append_bytes(text, spins, s->shape.sites);
    free(spins);
    return status == ERGO_OK && text->failed
               ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %u bytes", s->shape.sites)
               : status;
}

enum ergo_status sw_sites_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                               const void *bytes, size_t length) {
    struct sw_sites_state *s = opaque;
    const uint8_t *spins = bytes;
    if (length != s->shape.sites)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %u sites has "
                         "as many",
                         member, length, s->shape.sites);
    for (size_t i = 0; i < length; i++)
        if (spins[i] >= s->shape.q)
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "the saved state of member %zu has states beyond q: it is damaged",
                             member);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_write(&s->e, SITES_SPINS, member * length, length, bytes);
    s->e.step = step;
    s->started = false;
    return ergo_engine_end(&s->e);
}

static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    const struct sw_sites_shape *s = v->shape;
    return ((const uint8_t *)v->sites)[row * s->lx + x];
}

enum ergo_status sw_sites_view(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_view *view) {
    struct sw_sites_state *s = opaque;
    void *spins = NULL;
    const enum ergo_status status = fetch(ctx, s, member, &spins);
    const struct sw_shape plain = {.q = s->shape.q};
    *view = sw_view_of(&plain);
    view->size[0] = s->shape.lx;
    view->size[1] = s->shape.ly;
    view->size[2] = s->shape.lz;
    view->shape = &s->shape;
    view->state = state_at;
    view->sites = spins;
    return status;
}
