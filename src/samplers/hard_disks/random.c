/*
 * Random starts on a device, for all members at once. A lattice of small disks melts, the disks
 * grow (params.h), and a member is finished when none of its disks overlap. The work is done in
 * pieces, so that a run can be stopped. The start of a member does not depend on the rest of the
 * batch, because it is taken at its own sweep; later sweeps do not matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

_Static_assert(sizeof(struct disks_growth) == DISKS_GROWTH_BYTES, "disks_growth has no padding");

void disks_random_end(void *state) {
    struct disks_state *s = state;
    ergo_engine_destroy(s->growing);
    s->growing = NULL;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    static const char *const path = "hard_disks/disks_start.cl";
    struct disks_growing *g = state;
    struct ergo_engine *e = &g->e;
    const size_t count = e->batch->count;
    char options[100], reason[300];
    g->shapes = ergo_engine_memory(e, count, sizeof *g->shapes);
    g->grids = ergo_engine_memory(e, count, sizeof *g->grids);
    g->growths = ergo_engine_memory(e, count, sizeof *g->growths);
    g->overlaps = ergo_engine_memory(e, count, sizeof *g->overlaps);
    if (ergo_engine_end(e) != ERGO_OK)
        return ergo_engine_end(e);
    for (size_t i = 0; i < count; i++) {
        if (!disks_shape_of(e->batch->points[i], &g->shapes[i], reason))
            return ERGO_FAIL(ctx, ERGO_E_JOB, "/system: %s", reason);
        disks_growth_shape(&g->shapes[i], &g->grids[i]);
        disks_growth_fill(e->batch->points[i], &g->grids[i], &g->growths[i]);
        const uint32_t cells = (uint32_t)g->grids[i].all;
        g->growths[i].first = (uint32_t)g->cells;
        g->most_cells = cells > g->most_cells ? cells : g->most_cells;
        g->cells += cells;
    }
    const uint64_t bytes = g->cells * ERGO_HARD_BYTES * g->shapes[0].planes;
    ergo_engine_buffer(e, DISKS_START_CELLS, "cells of a start", ERGO_BUFFER_SCRATCH, bytes);
    ergo_engine_buffer(e, DISKS_START_OTHER, "cells of a start, second copy", ERGO_BUFFER_SCRATCH,
                       bytes);
    ergo_engine_buffer(e, DISKS_START_MEMBERS, "members of a start", ERGO_BUFFER_CONSTANT,
                       count * sizeof *g->growths);
    ergo_engine_buffer(e, DISKS_START_COUNTS, "overlaps of a start", ERGO_BUFFER_SCRATCH,
                       count * sizeof *g->overlaps);
    snprintf(options, sizeof options, "%s%s%s", g->shapes[0].planes == 1 ? "-DDISKS_PACKED" : "",
             g->shapes[0].rectangular ? " -DDISKS_RECTANGULAR" : "",
             e->device->type == CL_DEVICE_TYPE_CPU ? " -DDISKS_CPU" : "");
    ergo_engine_kernel(e, DISKS_START_SUBSWEEP, path, options, "disks_start_subsweep");
    ergo_engine_kernel(e, DISKS_START_SHIFT, path, options, "disks_start_shift");
    ergo_engine_kernel(e, DISKS_START_OVERLAPS, path, options, "disks_start_overlaps");
    return ERGO_OK;
}

/* Write the lattices of small disks. */
static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct disks_growing *g = state;
    const size_t bytes = (size_t)g->e.buffers[DISKS_START_CELLS].bytes;
    unsigned char *raw = calloc(bytes, 1);
    enum ergo_status status =
        raw ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start disks at random");
    for (size_t i = 0; i < g->e.batch->count && status == ERGO_OK; i++) {
        struct ergo_hard_cells config;
        status = ergo_hard_create(ctx, &g->grids[i].hard, &config);
        if (status == ERGO_OK)
            status = disks_growth_start(ctx, &config);
        if (status == ERGO_OK)
            disks_kind.to_raw(&config, raw, g->growths[i].first, (size_t)g->cells);
        ergo_hard_free(&config);
    }
    if (status == ERGO_OK) {
        ergo_engine_constant(&g->e, DISKS_START_MEMBERS, g->growths);
        ergo_engine_write(&g->e, DISKS_START_CELLS, 0, bytes, raw);
        /* the kernels do not write a second plane if no cell has more than two disks */
        ergo_engine_write(&g->e, DISKS_START_OTHER, 0, bytes, raw);
    }
    free(raw);
    return status;
}

static const struct ergo_engine_model starts = {
    .sampler = "hard-disks",
    .smaller = "fewer disks",
    .state_bytes = sizeof(struct disks_growing),
    .configure = configure,
    .prepare = prepare,
};

enum ergo_status disks_random_begin(struct ergo_context *ctx, struct disks_state *s) {
    void *state = NULL;
    enum ergo_status status = ergo_hard_grow_begin(ctx, s, s->launch.start_sweeps);
    if (status == ERGO_OK)
        status = ergo_engine_create(ctx, &starts, s->e.batch, s->e.device, &state);
    s->growing = state;
    return status;
}

/* A work-item for each of `items` of each member. */
static struct ergo_grid over(const struct disks_growing *g, size_t items) {
    const size_t largest = (size_t)g->e.device->summary.largest_group;
    return ergo_grid_items(items, largest < 64 ? largest : 64, g->e.batch->count);
}

enum ergo_status disks_random_sweep(struct ergo_context *ctx, void *state) {
    const struct disks_state *s = state;
    struct disks_growing *g = s->growing;
    const uint32_t sweep = s->growth.sweep;
    ergo_engine_begin(&g->e, ctx);
    for (uint32_t set = 0; set < 4; set++)
        ERGO_LAUNCH(&g->e, DISKS_START_SUBSWEEP, over(g, g->most_cells / 4),
                    BUFFER(DISKS_START_CELLS), BUFFER(DISKS_START_MEMBERS), U32(sweep), U32(set),
                    U32(g->cells));
    ERGO_LAUNCH(&g->e, DISKS_START_SHIFT, over(g, g->most_cells), BUFFER(DISKS_START_CELLS),
                BUFFER(DISKS_START_OTHER), BUFFER(DISKS_START_MEMBERS), U32(sweep), U32(g->cells));
    ergo_engine_swap(&g->e, DISKS_START_CELLS, DISKS_START_OTHER);
    return ergo_engine_end(&g->e);
}

/* Take a member that has finished into the job's grid. */
static enum ergo_status take(struct ergo_context *ctx, struct disks_state *s, size_t member) {
    struct disks_growing *g = s->growing;
    const struct disks_shape *shape = &s->shapes[member], *grid = &g->grids[member];
    struct ergo_hard_cells config;
    enum ergo_status status =
        ergo_hard_fetch_cells(ctx, &g->e, DISKS_START_CELLS, &grid->hard, g->growths[member].first,
                              (size_t)g->cells, &config);
    if (status != ERGO_OK)
        return status;
    s->growth.left--;
    if (grid->cells[0] == shape->cells[0]) {
        s->growth.configs[member] = config;
        return ERGO_OK;
    }
    status = ergo_hard_create(ctx, &shape->hard, &s->growth.configs[member]);
    if (status == ERGO_OK)
        status = disks_regrid(ctx, &config, &s->growth.configs[member]);
    ergo_hard_free(&config);
    return status;
}

enum ergo_status disks_random_take(struct ergo_context *ctx, void *state) {
    struct disks_state *s = state;
    struct disks_growing *g = s->growing;
    const size_t bytes = s->e.batch->count * sizeof *g->overlaps;
    memset(g->overlaps, 0, bytes);
    ergo_engine_begin(&g->e, ctx);
    ergo_engine_write(&g->e, DISKS_START_COUNTS, 0, bytes, g->overlaps);
    ERGO_LAUNCH(&g->e, DISKS_START_OVERLAPS, over(g, g->most_cells), BUFFER(DISKS_START_CELLS),
                BUFFER(DISKS_START_MEMBERS), BUFFER(DISKS_START_COUNTS), U32(g->cells));
    ergo_engine_read(&g->e, DISKS_START_COUNTS, 0, bytes, g->overlaps);
    enum ergo_status status = ergo_engine_end(&g->e);
    for (size_t i = 0; i < s->e.batch->count && status == ERGO_OK; i++)
        if (!g->overlaps[i] && !s->growth.configs[i].count)
            status = take(ctx, s, i);
    return status;
}
