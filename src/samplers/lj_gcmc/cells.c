/* Growth of the particle lists and cells, and cells filled from positions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/cut.h"

static void no_memory(struct lj_state *s, size_t count, const char *what) {
    ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for %zu %s", count, what);
}

/* Does the device allow a buffer of this size? If not, an error is recorded. */
static bool can_grow(struct lj_state *s, const char *what, double bytes) {
    const struct ergo_device_summary *d = &s->e.device->summary;
    if (bytes > (double)d->largest_buffer)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_DEVICE,
                         "%s: %s would need a buffer of %.3g MiB, the device allows %.3g: a "
                         "chain has become too dense for the memory of this batch. Fewer "
                         "replicas or scan points leave more; resume goes on from the last "
                         "checkpoint",
                         d->name, what, bytes / 1048576, (double)d->largest_buffer / 1048576);
    return s->e.status == ERGO_OK;
}

/* ---- where a cell's words are -----------------------------------------------------------------
 */

static size_t cell_word(const struct lj_state *s, uint64_t cell, uint32_t slot, int axis) {
    return s->launch.slotted ? (3 * cell + (size_t)axis) * s->slots + slot
                             : 4 * (slot * lj_cells(s) + cell) + (size_t)axis;
}

static size_t count_word(const struct lj_state *s, uint64_t cell) {
    return s->launch.slotted ? 3 * s->grid.cells * s->slots + cell : 4 * cell + 3;
}

static void cells_write(struct lj_state *s, size_t chain, uint32_t planes, const uint32_t *words) {
    const size_t cells = lj_cells(s), chains = lj_chains(s), all = 16 * cells * s->slots;
    if (s->launch.slotted)
        ergo_engine_write(&s->e, LJ_CELLS, all * chain, all, words);
    for (uint32_t p = 0; p < planes && !s->launch.slotted; p++)
        ergo_engine_write(&s->e, LJ_CELLS, 16 * cells * (p * chains + chain), 16 * cells,
                          words + 4 * cells * p);
}

void lj_write_chains(struct lj_state *s) {
    ergo_engine_write(&s->e, LJ_CHAINS, 0, lj_chains(s) * sizeof *s->chains, s->chains);
}

/* ---- more of them -----------------------------------------------------------------------------
 */

/* With slots together in memory, each row of slots becomes twice as long. The counts follow the
 * rows. */
static void spread_slotted(struct lj_state *s) {
    const size_t row = 4 * (size_t)s->slots, rows = 3 * s->grid.cells;
    const size_t all = 16 * s->grid.cells * s->slots;
    unsigned char *from = calloc(1, all), *to = calloc(2, all);
    if (!from || !to)
        no_memory(s, s->grid.cells, "cells");
    for (size_t m = 0; m < lj_chains(s) && from && to; m++) {
        ergo_engine_read(&s->e, LJ_CELLS, 2 * all * m, all, from);
        for (size_t r = 0; r < rows; r++)
            memcpy(to + 2 * row * r, from + row * r, row);
        memcpy(to + 2 * row * rows, from + row * rows, 4 * s->grid.cells);
        ergo_engine_write(&s->e, LJ_CELLS, 2 * all * m, 2 * all, to);
    }
    free(from);
    free(to);
}

/* Double the slots of a cell. In the layout with planes, the new planes follow the old ones,
 * which stay in place. */
static void grow_cells(struct lj_state *s) {
    const uint64_t bytes = 2 * s->e.buffers[LJ_CELLS].bytes;
    if (!can_grow(s, "the cells", (double)bytes))
        return;
    ergo_engine_grow(&s->e, LJ_CELLS, bytes, s->launch.slotted ? lj_chains(s) : 1);
    if (s->launch.energies)
        ergo_engine_grow(&s->e, LJ_PAIR_ENERGIES, bytes / 2, 1);
    if (s->launch.slotted)
        spread_slotted(s);
    s->slots *= 2;
    s->grown++;
}

void lj_grow_particles(struct lj_state *s, uint32_t least) {
    const size_t chains = lj_chains(s);
    uint32_t capacity = s->capacity + s->capacity / 2 + 16;
    capacity = capacity < least ? least : capacity;
    const double bytes = 16.0 * capacity * (double)chains;
    if (!can_grow(s, "the particles", capacity > LJ_MOST_PARTICLES ? INFINITY : bytes))
        return;
    ergo_engine_grow(&s->e, LJ_PARTICLES, (uint64_t)bytes, chains);
    s->capacity = capacity;
    s->grown++;
}

/* Double the local memory for particles around an active cell. */
static void grow_tile(struct lj_state *s) {
    const uint64_t most = s->e.device->summary.local_memory;
    s->tile *= 2;
    s->grown++;
    const uint64_t local = lj_board_local_bytes(&s->system, &s->launch, s->tile);
    struct ergo_text options = {0};
    lj_board_options(s, &options);
    if (options.failed)
        no_memory(s, 1, "set of build options");
    if (local > most)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_DEVICE,
                         "%s: a chain has become so dense that the neighbourhood of an active "
                         "cell needs %llu bytes of local memory, and the device has %llu: use "
                         "another device, or no decomposition",
                         s->e.device->summary.name, (unsigned long long)local,
                         (unsigned long long)most);
    ergo_engine_rebuild(&s->e, LJ_BOARD, options.data);
    ergo_text_free(&options);
}

void lj_grow(struct lj_state *s) {
    bool stopped[LJ_TILE_FULL + 1] = {false};
    for (size_t m = 0; m < lj_chains(s); m++) {
        if (s->chains[m].status <= LJ_TILE_FULL)
            stopped[s->chains[m].status] = true;
        s->chains[m].status = LJ_RUNNING;
    }
    if (stopped[LJ_CELL_FULL])
        grow_cells(s);
    if (stopped[LJ_PARTICLES_FULL])
        lj_grow_particles(s, 0);
    if (stopped[LJ_TILE_FULL])
        grow_tile(s);
    if (s->launch.board_blocks)
        ergo_engine_fill(&s->e, LJ_FULL, 0);
    lj_write_chains(s);
}

/* ---- positions --------------------------------------------------------------------------------
 */

static void place_cells(struct lj_state *s, size_t chain, const uint32_t *words, uint32_t count) {
    /* of a box that is cut, all cells are counted, so that ranks have as many slots */
    const size_t cells = lj_cells(s);
    uint32_t *inside = calloc(cells > s->grid.cells ? cells : s->grid.cells, sizeof *inside),
             *planes = NULL, most = 1;
    for (uint32_t i = 0; inside && i < count; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        if (++inside[c] > most)
            most = inside[c];
    }
    while (inside && s->e.status == ERGO_OK && most > s->slots)
        grow_cells(s);
    if (inside && s->e.status == ERGO_OK)
        planes = calloc(cells * (s->launch.slotted ? s->slots : most), 16);
    if (!planes) {
        free(inside);
        no_memory(s, cells, "cells");
        return;
    }
    memset(inside, 0, cells * sizeof *inside);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t c = lj_cut_cell(s, words + 3 * (size_t)i);
        if (c >= cells)
            continue;
        for (int k = 0; k < 3; k++)
            planes[cell_word(s, c, inside[c], k)] = words[3 * (size_t)i + (size_t)k];
        planes[count_word(s, c)] = ++inside[c];
    }
    cells_write(s, chain, most, planes);
    free(inside);
    free(planes);
}

/* Results of the last activation do not belong to the configuration that is loaded. */
static void forget_activation(struct lj_state *s, size_t chain) {
    const size_t bytes = LJ_PART_BYTES * (size_t)s->launch.board_blocks;
    const uint32_t none = 0;
    void *zero = calloc(1, bytes);
    if (!zero) {
        no_memory(s, (size_t)s->launch.board_blocks, "active cells");
        return;
    }
    ergo_engine_write(&s->e, LJ_ACTIVE_CELLS, bytes * chain, bytes, zero);
    ergo_engine_write(&s->e, LJ_FULL, 4 * chain, sizeof none, &none);
    free(zero);
}

void lj_note_step_size(struct lj_state *s, size_t chain) {
    const struct lj_chain *c = &s->chains[chain];
    s->step_sizes[chain] = c->step >= s->members[chain].tune_until ? c->step_size : 0;
}

void lj_place(struct lj_state *s, size_t chain, const uint32_t *words, uint32_t count) {
    lj_note_step_size(s, chain);
    if (s->cut) { /* the list is made of the cells */
        place_cells(s, chain, words, count);
        s->stale = true;
        forget_activation(s, chain);
        return;
    }
    uint32_t *padded = calloc((size_t)count + 1, 16);
    if (!padded) {
        no_memory(s, count, "particles");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(padded + 4 * (size_t)i, words + 3 * (size_t)i, 12);
    if (s->launch.whole && count > s->launch.whole)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_DEVICE,
                         "%u particles, and local memory has room for %u: use /tuning/all_pairs 2",
                         count, s->launch.whole);
    if (count > s->capacity)
        lj_grow_particles(s, count);
    ergo_engine_write(&s->e, LJ_PARTICLES, 16 * (size_t)s->capacity * chain, 16 * (size_t)count,
                      padded);
    free(padded);
    place_cells(s, chain, words, count);
    s->stale = true;
    if (s->launch.board_blocks)
        forget_activation(s, chain);
}

enum ergo_status lj_fetch(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                          uint32_t **words, uint32_t *count) {
    if (s->cut)
        return lj_cut_fetch(ctx, s, chain, words, count);
    *words = NULL;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, LJ_CHAINS, chain * sizeof *s->chains, sizeof *s->chains,
                     &s->chains[chain]);
    *count = s->chains[chain].particles;
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    uint32_t *padded = malloc(16 * ((size_t)*count + 1));
    if (!padded)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back %u particles", *count);
    ergo_engine_read(&s->e, LJ_PARTICLES, 16 * (size_t)s->capacity * chain, 16 * (size_t)*count,
                     padded);
    if (ergo_engine_end(&s->e) != ERGO_OK) {
        free(padded);
        return ergo_engine_end(&s->e);
    }
    for (uint32_t i = 0; i < *count; i++)
        memmove(padded + 3 * (size_t)i, padded + 4 * (size_t)i, 12);
    *words = padded;
    return ERGO_OK;
}
