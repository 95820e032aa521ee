/*
 * Models with a byte per spin: the canonical state, pictures.
 *
 * Canonical state of a member: a byte for each site, x fastest, then y, then z. ising: 1 up, 0
 * down; potts: 0 .. q - 1; blume-capel: 1 - s. It does not contain random fields: they are drawn
 * again, because they depend only on seed and replica, or read again from their file.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

struct ergo_checkerboard bytes_board(const struct bytes_shape *h) {
    return (struct ergo_checkerboard){.bits = 8,
                                      .lx = h->l[0],
                                      .ly = h->l[1],
                                      .rows = (size_t)h->l[1] * h->l[2],
                                      .pitch = h->pitch,
                                      .colour = h->colour};
}

enum ergo_status bytes_read(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                            uint8_t *raw) {
    const size_t bytes = (size_t)(2 * s->shape.colour);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, BYTES_SPINS, bytes * member, bytes, raw);
    return ergo_engine_end(&s->e);
}

static enum ergo_status no_memory(struct ergo_context *ctx, size_t sites) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                     (double)sites / 1048576);
}

/* Read a member's sites in natural order, with the bits of random fields. */
static enum ergo_status fetch(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                              uint8_t *sites) {
    const struct bytes_shape *h = &s->shape;
    const struct ergo_checkerboard board = bytes_board(h);
    uint8_t *raw = malloc(2 * h->colour);
    enum ergo_status status = raw ? bytes_read(ctx, s, member, raw) : no_memory(ctx, h->sites);
    if (status == ERGO_OK)
        ergo_checkerboard_pack(&board, raw, sites);
    free(raw);
    return status;
}

static enum ergo_status store(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                              const uint8_t *sites) {
    const struct bytes_shape *h = &s->shape;
    const struct ergo_checkerboard board = bytes_board(h);
    uint8_t *raw = malloc(2 * h->colour);
    if (!raw)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                         (double)h->sites / 1048576);
    ergo_checkerboard_unpack(&board, sites, raw);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_write(&s->e, BYTES_SPINS, (size_t)(2 * h->colour * member), (size_t)(2 * h->colour),
                      raw);
    free(raw);
    return ergo_engine_end(&s->e);
}

enum ergo_status bytes_save(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_text *text) {
    struct bytes_state *s = opaque;
    const size_t n = (size_t)s->shape.sites;
    enum ergo_status status = ergo_device_finish(ctx, s->e.device);
    uint8_t *sites = status == ERGO_OK ? ergo_text_extend(text, n) : NULL;
    if (status == ERGO_OK && !sites)
        status = no_memory(ctx, n);
    if (status == ERGO_OK)
        status = fetch(ctx, s, member, sites);
    for (size_t i = 0; i < n && status == ERGO_OK && s->shape.kind == BYTES_ISING; i++)
        sites[i] &= 1;
    return status;
}

enum ergo_status bytes_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct bytes_state *s = opaque;
    const uint8_t *from = bytes;
    if (length != s->shape.sites)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %llu",
                         member, length, (unsigned long long)s->shape.sites);
    for (size_t i = 0; i < length; i++)
        if (from[i] >= s->shape.q)
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "the saved state of member %zu is damaged: site %zu is in state %u of "
                             "%u",
                             member, i, from[i], s->shape.q);
    uint8_t *sites = calloc(length + 1, 1);
    if (!sites)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice");
    memcpy(sites, bytes, length);
    if (s->fields)
        bytes_twin_fields(&s->shape, &s->members[member], sites);
    enum ergo_status status = ergo_device_finish(ctx, s->e.device);
    if (status == ERGO_OK)
        status = store(ctx, s, member, sites);
    s->e.step = step;
    s->field_sums[member] = 0;
    free(sites);
    return status;
}

enum ergo_status bytes_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    static const char *const help[] = {[BYTES_ISING] = "1 up, 0 down",
                                       [BYTES_POTTS] = "state, from 0 on",
                                       [BYTES_POTTS_HEAT] = "state, from 0 on",
                                       [BYTES_BLUME_CAPEL] = "1 - s"};
    const struct bytes_shape s = bytes_shape_of(point);
    const uint64_t sides[] = {s.l[0], s.l[1], s.l[2]};
    ergo_form_lattice(form, sides, s.d, 1, 1);
    form->parts[0].help = help[s.kind];
    return timed_form(ctx, point, form);
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    return ((const uint8_t *)v->sites)[x + v->size[0] * row];
}

struct ergo_view bytes_view_of(const struct bytes_shape *h) {
    const bool ising = h->kind == BYTES_ISING;
    struct ergo_view view = {.size = {h->l[0], h->l[1], h->l[2]},
                             .state = state_at,
                             .name = ising ? "up" : "state",
                             .states = h->q,
                             .colours = {{31, 58, 95},
                                         {245, 222, 179},
                                         {178, 58, 72},
                                         {84, 130, 53},
                                         {120, 94, 160},
                                         {230, 159, 0},
                                         {86, 180, 233},
                                         {60, 60, 60}}};
    if (ising)
        memcpy(view.colours, (uint8_t[2][3]){{245, 222, 179}, {31, 58, 95}}, 6);
    for (unsigned i = 0; i < h->q && h->q > 8; i++) {
        /* a wheel of hues would need care; shades tell clusters apart too */
        view.colours[i][0] = (uint8_t)(i * 67u);
        view.colours[i][1] = (uint8_t)(i * 29u + 40);
        view.colours[i][2] = (uint8_t)(i * 101u + 90);
    }
    return view;
}

enum ergo_status bytes_view(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_view *view) {
    struct bytes_state *s = opaque;
    struct ergo_text sites = {0};
    const enum ergo_status status = bytes_save(ctx, s, member, &sites);
    *view = bytes_view_of(&s->shape);
    view->sites = sites.data;
    return status;
}
