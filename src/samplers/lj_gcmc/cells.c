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

/* ---- where a cell's words are -----------------------------------------------------------------
 */

size_t lj_cell_word(const struct lj_state *s, uint64_t cell, uint32_t slot, int axis) {
    return s->launch.slotted ? (3 * cell + (size_t)axis) * s->slots + slot
                             : 4 * (slot * s->grid.cells + cell) + (size_t)axis;
}

size_t lj_cell_count_word(const struct lj_state *s, uint64_t cell) {
    return s->launch.slotted ? 3 * s->grid.cells * s->slots + cell : 4 * cell + 3;
}

enum ergo_status lj_cells_read(struct ergo_context *ctx, struct lj_state *s, size_t member,
                               uint32_t *words) {
    const size_t cells = s->grid.cells, members = s->batch->count, all = 16 * cells * s->slots;
    enum ergo_status status = ERGO_OK;
    if (s->launch.slotted)
        return ergo_buffer_read(ctx, s->device, s->cells, all * member, all, words);
    for (uint32_t p = 0; p < s->slots && status == ERGO_OK; p++)
        status = ergo_buffer_read(ctx, s->device, s->cells, 16 * cells * (p * members + member),
                                  16 * cells, words + 4 * cells * p);
    return status;
}

static enum ergo_status cells_write(struct ergo_context *ctx, struct lj_state *s, size_t member,
                                    uint32_t planes, const uint32_t *words) {
    const size_t cells = s->grid.cells, members = s->batch->count, all = 16 * cells * s->slots;
    enum ergo_status status = ERGO_OK;
    if (s->launch.slotted)
        return ergo_buffer_write(ctx, s->device, s->cells, all * member, all, words);
    for (uint32_t p = 0; p < planes && status == ERGO_OK; p++)
        status = ergo_buffer_write(ctx, s->device, s->cells, 16 * cells * (p * members + member),
                                   16 * cells, words + 4 * cells * p);
    return status;
}

/* ---- more of them -----------------------------------------------------------------------------
 */

/* Slots are together: every row is twice as long; then the counts. */
static enum ergo_status copy_slotted(struct ergo_context *ctx, struct lj_state *s, cl_mem grown) {
    const size_t row = 4 * (size_t)s->slots, rows = 3 * s->grid.cells;
    const size_t all = 16 * s->grid.cells * s->slots;
    uint32_t *words = calloc(3, all + 1);
    enum ergo_status status =
        words ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu cells", rows / 3);
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        unsigned char *from = (unsigned char *)words, *to = from + all;
        status = ergo_buffer_read(ctx, s->device, s->cells, all * m, all, from);
        for (size_t r = 0; r < rows; r++)
            memcpy(to + 2 * row * r, from + row * r, row);
        memcpy(to + 2 * row * rows, from + row * rows, 4 * s->grid.cells);
        if (status == ERGO_OK)
            status = ergo_buffer_write(ctx, s->device, grown, 2 * all * m, 2 * all, to);
    }
    free(words);
    return status;
}

/* Twice the slots. Planes are behind one another, so the old ones stay as they are. */
static enum ergo_status grow_cells(struct ergo_context *ctx, struct lj_state *s) {
    const size_t plane = 16 * s->grid.cells * s->batch->count, old = plane * s->slots;
    const uint32_t slots = 2 * s->slots;
    cl_mem grown = NULL;
    cl_mem energies = NULL;
    if (plane * slots > s->device->summary.largest_buffer)
        return no_room(ctx, s, "the cells", (double)plane * slots);
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "cells", plane * slots, NULL, &grown);
    if (status == ERGO_OK && s->launch.energies)
        status =
            ergo_buffer_create(ctx, s->device, "pair energies", plane * slots / 2, NULL, &energies);
    if (status == ERGO_OK && s->launch.energies)
        status = copied(ctx, s,
                        clEnqueueCopyBuffer(s->device->queue, s->energies, energies, 0, 0, old / 2,
                                            0, NULL, NULL),
                        "pair energies");
    if (status == ERGO_OK && s->launch.slotted)
        status = copy_slotted(ctx, s, grown);
    else if (status == ERGO_OK)
        status =
            copied(ctx, s,
                   clEnqueueCopyBuffer(s->device->queue, s->cells, grown, 0, 0, old, 0, NULL, NULL),
                   "cells");
    if (status != ERGO_OK) {
        ergo_buffer_release(&grown);
        ergo_buffer_release(&energies);
        return status;
    }
    ergo_buffer_release(&s->cells);
    s->cells = grown;
    if (energies) {
        ergo_buffer_release(&s->energies);
        s->energies = energies;
    }
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
    if (each * members > s->device->summary.largest_buffer || capacity > LJ_MOST_PARTICLES)
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

static enum ergo_status place_cells(struct ergo_context *ctx, struct lj_state *s, size_t member,
                                    const uint32_t *words, uint32_t count) {
    const size_t cells = s->grid.cells;
    uint32_t *inside = calloc(cells, sizeof *inside), *planes = NULL, most = 1;
    enum ergo_status status =
        inside ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu cells", cells);
    for (uint32_t i = 0; inside && i < count; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        if (++inside[c] > most)
            most = inside[c];
    }
    while (status == ERGO_OK && most > s->slots)
        status = grow_cells(ctx, s);
    if (status == ERGO_OK) {
        planes = calloc(cells * (s->launch.slotted ? s->slots : most), 16);
        if (!planes)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu cells", cells);
        memset(inside, 0, cells * sizeof *inside);
    }
    for (uint32_t i = 0; planes && i < count; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        for (int k = 0; k < 3; k++)
            planes[lj_cell_word(s, c, inside[c], k)] = words[3 * (size_t)i + (size_t)k];
        planes[lj_cell_count_word(s, c)] = ++inside[c];
    }
    if (status == ERGO_OK)
        status = cells_write(ctx, s, member, most, planes);
    free(inside);
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
    if (status == ERGO_OK)
        status = place_cells(ctx, s, member, words, count);
    s->stale = true;
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
