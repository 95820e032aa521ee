/*
 * Models with a byte per spin: the canonical state, pictures.
 *
 * Canonical state of a member: a byte for each site, x fastest, then y, then z: ising 1 up, 0 down;
 * potts 0 .. q - 1; blume-capel 1 - s. A random field is drawn anew: it depends on seed and replica
 * alone; one from a file is read anew.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/vti.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

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

/* A member's sites in natural order, as the device has them (fields included); malloc'ed. */
static enum ergo_status fetch(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                              uint8_t **out) {
    const struct bytes_shape *h = &s->shape;
    uint8_t *raw = malloc(2 * h->colour), *sites = calloc(h->sites, 1);
    enum ergo_status status =
        raw && sites ? bytes_read(ctx, s, member, raw)
                     : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                                 (double)h->sites / 1048576);
    const struct ergo_checkerboard board = bytes_board(h);
    if (status == ERGO_OK)
        ergo_checkerboard_pack(&board, raw, sites);
    free(raw);
    if (status != ERGO_OK) {
        free(sites);
        sites = NULL;
    }
    *out = sites;
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
    uint8_t *sites = NULL;
    enum ergo_status status = ergo_device_finish(ctx, s->e.device);
    if (status == ERGO_OK)
        status = fetch(ctx, s, member, &sites);
    for (size_t i = 0; i < s->shape.sites && status == ERGO_OK && s->shape.kind == BYTES_ISING; i++)
        sites[i] &= 1;
    if (status == ERGO_OK)
        ergo_text_append_bytes(text, sites, s->shape.sites);
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %.3g MiB",
                           (double)s->shape.sites / 1048576);
    free(sites);
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

/* ---- picture --------------------------------------------------------------------------------- */

/* The plane z = 0; a chain as one row. Pixels of lattices beyond 1024 a side are single sites. */
enum ergo_status bytes_picture(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_picture *picture) {
    static const uint8_t colours[8][3] = {{31, 58, 95},   {245, 222, 179}, {178, 58, 72},
                                          {84, 130, 53},  {120, 94, 160},  {230, 159, 0},
                                          {86, 180, 233}, {60, 60, 60}};
    struct bytes_state *s = opaque;
    const struct bytes_shape *h = &s->shape;
    const size_t longest = h->l[0] > h->l[1] ? h->l[0] : h->l[1], cell = (longest + 1023) / 1024;
    uint8_t *sites = NULL;
    memset(picture, 0, sizeof *picture);
    picture->width = (unsigned)(h->l[0] / cell > 0 ? h->l[0] / cell : 1);
    picture->height = (unsigned)(h->l[1] / cell > 0 ? h->l[1] / cell : 1);
    enum ergo_status status = fetch(ctx, s, member, &sites);
    picture->rgb = malloc((size_t)picture->width * picture->height * 3);
    if (status == ERGO_OK && !picture->rgb)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    for (size_t y = 0; y < picture->height && status == ERGO_OK; y++)
        for (size_t x = 0; x < picture->width; x++) {
            const uint8_t value = sites[x * cell + h->l[0] * y * cell];
            const uint8_t state = h->kind == BYTES_ISING ? !(value & 1) : value;
            uint8_t *pixel = picture->rgb + 3 * (y * picture->width + x);
            if (h->q <= 8) {
                memcpy(pixel, colours[state], 3);
            } else { /* a wheel of hues would need care; shades tell clusters apart too */
                pixel[0] = (uint8_t)(state * 67u);
                pixel[1] = (uint8_t)(state * 29u + 40);
                pixel[2] = (uint8_t)(state * 101u + 90);
            }
        }
    free(sites);
    if (status != ERGO_OK) {
        free(picture->rgb);
        picture->rgb = NULL;
    }
    return status;
}

enum ergo_status bytes_frame(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct bytes_state *s = opaque;
    const struct bytes_shape *h = &s->shape;
    const uint64_t size[3] = {h->l[0], h->l[1], h->l[2]};
    struct ergo_text sites = {0};
    if (h->sites > MODEL_FRAME_SITES)
        return ERGO_OK;
    const enum ergo_status status = bytes_save(ctx, opaque, member, &sites);
    if (status == ERGO_OK)
        ergo_vti_append(text, size, h->kind == BYTES_ISING ? "up" : "state",
                        (const uint8_t *)sites.data);
    ergo_text_free(&sites);
    return status;
}
