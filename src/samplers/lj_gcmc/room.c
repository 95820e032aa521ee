/* More room for particles and in cells, and cells made from positions. */
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

static enum ergo_status no_room(struct ergo_context *ctx, const struct lj_state *s,
                                const char *what, double bytes) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "%s: %s would need a buffer of %.3g MiB, the device allows %.3g: a chain has "
                     "become denser than this batch has room for. Fewer replicas or scan points "
                     "leave more; resume goes on from the last checkpoint",
                     s->device->summary.name, what, bytes / 1048576,
                     (double)s->device->summary.largest_buffer / 1048576);
}

static enum ergo_status copied(struct ergo_context *ctx, struct lj_state *s, cl_int code,
                               const char *what) {
    return code == CL_SUCCESS
               ? ergo_device_finish(ctx, s->device)
               : ERGO_FAIL_CL(ctx, code, "copying %s on %s", what, s->device->summary.name);
}

/* Twice the slots. Planes are behind one another, so the old ones stay as they are. */
static enum ergo_status grow_cells(struct ergo_context *ctx, struct lj_state *s) {
    const size_t plane = 16 * s->grid.cells * s->batch->count, old = plane * s->slots;
    const uint32_t slots = 2 * s->slots;
    cl_mem grown = NULL;
    if (plane * slots > s->device->summary.largest_buffer)
        return no_room(ctx, s, "the cells", (double)plane * slots);
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "cells", plane * slots, NULL, &grown);
    if (status == ERGO_OK)
        status =
            copied(ctx, s,
                   clEnqueueCopyBuffer(s->device->queue, s->cells, grown, 0, 0, old, 0, NULL, NULL),
                   "cells");
    if (status != ERGO_OK) {
        ergo_buffer_release(&grown);
        return status;
    }
    ergo_buffer_release(&s->cells);
    s->cells = grown;
    s->slots = slots;
    s->grown++;
    return ERGO_OK;
}

static enum ergo_status grow_particles(struct ergo_context *ctx, struct lj_state *s,
                                       uint32_t least) {
    const size_t members = s->batch->count, old = 16 * (size_t)s->capacity;
    uint32_t capacity = s->capacity + s->capacity / 2 + 16;
    capacity = capacity < least ? least : capacity;
    const size_t each = 16 * (size_t)capacity;
    cl_mem grown = NULL;
    if (each * members > s->device->summary.largest_buffer || capacity > 1u << 26)
        return no_room(ctx, s, "the particles", (double)each * (double)members);
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "particles", each * members, NULL, &grown);
    cl_int code = CL_SUCCESS;
    for (size_t m = 0; m < members && status == ERGO_OK && code == CL_SUCCESS; m++)
        code = clEnqueueCopyBuffer(s->device->queue, s->particles, grown, m * old, m * each, old, 0,
                                   NULL, NULL);
    if (status == ERGO_OK)
        status = copied(ctx, s, code, "particles");
    if (status != ERGO_OK) {
        ergo_buffer_release(&grown);
        return status;
    }
    ergo_buffer_release(&s->particles);
    s->particles = grown;
    s->capacity = capacity;
    s->grown++;
    return ERGO_OK;
}

enum ergo_status lj_make_room(struct ergo_context *ctx, struct lj_state *s) {
    bool cells = false, particles = false, tile = false;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < s->batch->count; m++) {
        cells = cells || s->chains[m].status == LJ_CELL_FULL;
        particles = particles || s->chains[m].status == LJ_PARTICLES_FULL;
        tile = tile || s->chains[m].status == LJ_TILE_FULL;
        s->chains[m].status = LJ_RUNNING;
    }
    if (cells)
        status = grow_cells(ctx, s);
    if (particles && status == ERGO_OK)
        status = grow_particles(ctx, s, 0);
    if (tile && status == ERGO_OK) {
        s->tile *= 2;
        s->grown++;
        status = lj_board_program(ctx, s);
    }
    for (size_t m = 0; m < s->batch->count && s->full && status == ERGO_OK; m++) {
        const uint32_t none = 0;
        status = ergo_buffer_write(ctx, s->device, s->full, 4 * m, sizeof none, &none);
    }
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->chain_buffer, 0,
                                   s->batch->count * sizeof *s->chains, s->chains);
    return status;
}

/* Planes of one member from its positions; *slots: as many as it needs. NULL: no memory. */
static uint32_t *bin(const struct lj_state *s, const uint32_t *words, uint32_t count,
                     uint32_t *slots) {
    const size_t cells = s->grid.cells;
    uint32_t *inside = calloc(cells, sizeof *inside), *planes = NULL;
    *slots = 1;
    for (uint32_t i = 0; inside && i < count; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        if (++inside[c] > *slots)
            *slots = inside[c];
    }
    if (inside)
        planes = calloc(cells * *slots, 16);
    if (planes)
        memset(inside, 0, cells * sizeof *inside);
    for (uint32_t i = 0; planes && i < count; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        memcpy(planes + 4 * (inside[c] * cells + c), words + 3 * (size_t)i, 12);
        planes[4 * c + 3] = ++inside[c];
    }
    free(inside);
    return planes;
}

static enum ergo_status place_cells(struct ergo_context *ctx, struct lj_state *s, size_t member,
                                    const uint32_t *words, uint32_t count) {
    const size_t cells = s->grid.cells, members = s->batch->count;
    uint32_t slots;
    uint32_t *planes = bin(s, words, count, &slots);
    enum ergo_status status =
        planes ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu cells", cells);
    while (status == ERGO_OK && slots > s->slots)
        status = grow_cells(ctx, s);
    for (uint32_t p = 0; p < slots && status == ERGO_OK; p++)
        status = ergo_buffer_write(ctx, s->device, s->cells, 16 * cells * (p * members + member),
                                   16 * cells, planes + 4 * cells * p);
    free(planes);
    return status;
}

enum ergo_status lj_place(struct ergo_context *ctx, struct lj_state *s, size_t member,
                          const uint32_t *words, uint32_t count) {
    enum ergo_status status = ERGO_OK;
    if (count > s->capacity)
        status = grow_particles(ctx, s, count);
    uint32_t *padded = calloc((size_t)count + 1, 16);
    if (!padded)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u particles", count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(padded + 4 * (size_t)i, words + 3 * (size_t)i, 12);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->particles, 16 * (size_t)s->capacity * member,
                                   16 * (size_t)count, padded);
    free(padded);
    if (status == ERGO_OK && s->system.neighbours != LJ_NONE)
        status = place_cells(ctx, s, member, words, count);
    if (status == ERGO_OK && s->launch.board_blocks)
        status = lj_board_forget(ctx, s, member);
    return status;
}

enum ergo_status lj_fetch(struct ergo_context *ctx, struct lj_state *s, size_t member,
                          uint32_t **words, uint32_t *count) {
    *words = NULL;
    enum ergo_status status =
        ergo_buffer_read(ctx, s->device, s->chain_buffer, member * sizeof *s->chains,
                         sizeof *s->chains, &s->chains[member]);
    if (status != ERGO_OK)
        return status;
    *count = s->chains[member].particles;
    uint32_t *padded = malloc(16 * ((size_t)*count + 1));
    if (!padded)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back %u particles", *count);
    status = ergo_buffer_read(ctx, s->device, s->particles, 16 * (size_t)s->capacity * member,
                              16 * (size_t)*count, padded);
    for (uint32_t i = 0; i < *count && status == ERGO_OK; i++)
        memmove(padded + 3 * (size_t)i, padded + 4 * (size_t)i, 12);
    if (status != ERGO_OK) {
        free(padded);
        return status;
    }
    *words = padded;
    return ERGO_OK;
}
