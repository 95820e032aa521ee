/*
 * Models with a byte per spin: the canonical state, audits, pictures.
 *
 * Canonical state of a member: a byte for each site, x fastest, then y, then z: ising 1 up, 0 down;
 * potts 0 .. q - 1. A random field is drawn anew: it depends on seed and replica alone; one from a
 * file is read anew.
 */
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

/* Sites that are replayed by the host in one audit. */
enum { REPLAY_SITES = 1 << 22 };

/* A member's sites in natural order, as the device has them (fields included); malloc'ed. */
static enum ergo_status fetch(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                              uint8_t **out) {
    const struct bytes_shape *h = &s->shape;
    uint8_t *raw = malloc(2 * h->colour), *sites = calloc(h->sites, 1);
    enum ergo_status status =
        raw && sites
            ? ergo_buffer_read(ctx, s->device, s->spins, 2 * h->colour * member, 2 * h->colour, raw)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                        (double)h->sites / 1048576);
    for (size_t row = 0; row < (size_t)h->l[1] * h->l[2] && status == ERGO_OK; row++) {
        const size_t odd = (row % h->l[1] + row / h->l[1]) & 1;
        const uint8_t *from[2] = {raw + row * h->pitch, raw + h->colour + row * h->pitch};
        uint8_t *to = sites + row * h->l[0];
        for (size_t x = 0; x < h->l[0]; x++)
            to[x] = from[(x + odd) & 1][x / 2];
    }
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
    uint8_t *raw = calloc(2 * h->colour, 1);
    if (!raw)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %.3g MiB",
                         (double)h->sites / 1048576);
    for (size_t row = 0; row < (size_t)h->l[1] * h->l[2]; row++) {
        const size_t odd = (row % h->l[1] + row / h->l[1]) & 1;
        uint8_t *to[2] = {raw + row * h->pitch, raw + h->colour + row * h->pitch};
        const uint8_t *from = sites + row * h->l[0];
        for (size_t x = 0; x < h->l[0]; x++)
            to[(x + odd) & 1][x / 2] = from[x];
    }
    const enum ergo_status status =
        ergo_buffer_write(ctx, s->device, s->spins, 2 * h->colour * member, 2 * h->colour, raw);
    free(raw);
    return status;
}

enum ergo_status bytes_save(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_text *text) {
    struct bytes_state *s = opaque;
    uint8_t *sites = NULL;
    enum ergo_status status = ergo_device_finish(ctx, s->device);
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
    enum ergo_status status = ergo_device_finish(ctx, s->device);
    if (status == ERGO_OK)
        status = store(ctx, s, member, sites);
    s->step = step;
    free(sites);
    return status;
}

/* ---- audit ----------------------------------------------------------------------------------- */

static enum ergo_status fails(struct ergo_context *ctx, const struct bytes_state *s, size_t member,
                              const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of spin-lattice failed on %s (%s) at sweep %llu, "
                     "member %zu: %s",
                     s->device->summary.name, s->device->summary.driver,
                     (unsigned long long)s->step, member, what);
}

/* A member's general fields, anew; of others nothing. */
static enum ergo_status disorder_of(struct ergo_context *ctx, const struct bytes_state *s,
                                    size_t member, struct bytes_disorder *d) {
    memset(d, 0, sizeof *d);
    return s->shape.general ? bytes_disorder_make(ctx, s->batch->points[member], d) : ERGO_OK;
}

static enum ergo_status audit_counts(struct ergo_context *ctx, struct bytes_state *s, size_t member,
                                     const struct bytes_disorder *d, const uint8_t *sites) {
    const uint32_t *found = s->slots[0].host + member * s->launch.length;
    uint32_t *own = malloc(4 * s->launch.length);
    uint8_t *fields = calloc(s->shape.sites, 1);
    enum ergo_status status =
        own && fields ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to audit");
    for (size_t i = 0; i < s->shape.sites && status == ERGO_OK; i++)
        if (sites[i] >= (s->shape.general ? 2 : s->shape.states))
            status = fails(ctx, s, member, "a site is in a state that does not exist");
    if (status == ERGO_OK) {
        bytes_twin_count(&s->shape, &s->members[member], d, sites, own);
        if (memcmp(own, found, 4 * s->launch.length) != 0)
            status = fails(ctx, s, member, "the device does not count what the host counts");
        if (s->fields)
            bytes_twin_fields(&s->shape, &s->members[member], fields);
        for (size_t i = 0; i < s->shape.sites && status == ERGO_OK; i++)
            if (s->shape.kind == BYTES_ISING && (sites[i] & 2) != fields[i])
                status = fails(ctx, s, member, "the random field is not what was drawn");
    }
    free(own);
    free(fields);
    return status;
}

/* A sweep of all members by the device, of some by the host's twin, the last one among them. */
enum ergo_status bytes_audit(struct ergo_context *ctx, void *opaque) {
    struct bytes_state *s = opaque;
    const size_t n = s->batch->count, fit = (size_t)(REPLAY_SITES / s->shape.sites);
    const size_t replayed = fit < n ? fit : n;
    const uint64_t step = s->step;
    uint8_t **before = calloc(n, sizeof *before), *after = NULL;
    enum ergo_status status =
        before ? bytes_measure_now(ctx, s) : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to audit");
    for (size_t m = 0; m < n && status == ERGO_OK; m++) {
        struct bytes_disorder d;
        status = disorder_of(ctx, s, m, &d);
        if (status == ERGO_OK)
            status = fetch(ctx, s, m, &before[m]);
        if (status == ERGO_OK)
            status = audit_counts(ctx, s, m, d.fields ? &d : NULL, before[m]);
        bytes_disorder_free(&d);
    }
    if (status == ERGO_OK && replayed)
        status = bytes_sweeps(ctx, s, 1);
    for (size_t k = 0; k < replayed && status == ERGO_OK; k++) {
        const size_t m = (k + 1) * n / replayed - 1;
        struct bytes_disorder d;
        status = fetch(ctx, s, m, &after);
        if (status != ERGO_OK)
            break;
        uint8_t *own = calloc(s->shape.sites, 1);
        status = disorder_of(ctx, s, m, &d);
        if (!own || status != ERGO_OK) {
            free(own);
            free(after);
            bytes_disorder_free(&d);
            if (status != ERGO_OK)
                break;
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to audit");
            break;
        }
        memcpy(own, before[m], s->shape.sites);
        bytes_twin_sweep(&s->shape, &s->members[m], d.fields ? &d : NULL, step, own);
        bytes_disorder_free(&d);
        if (memcmp(own, after, s->shape.sites) != 0)
            status = fails(ctx, s, m,
                           "from the same lattice, a sweep gives another one on the host. The "
                           "device's compiler or hardware is wrong for these kernels: try another "
                           "device");
        free(own);
        free(after);
    }
    for (size_t m = 0; m < n && status == ERGO_OK && replayed; m++)
        status = store(ctx, s, m, before[m]);
    s->step = step;
    for (size_t m = 0; before && m < n; m++)
        free(before[m]);
    free(before);
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
