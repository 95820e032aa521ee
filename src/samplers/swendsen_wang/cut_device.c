/* One lattice cut over ranks: create, start, another rectangle. */
#include <stdlib.h>

#include "engine/slab.h"
#include "samplers/swendsen_wang/cut.h"

_Static_assert(sizeof(struct sw_rect) == SW_RECT_BYTES, "sw_rect has explicit padding only");

void sw_cut_choose(struct sw_cut *s, size_t member) {
    s->now = &s->members[member];
    ergo_engine_choose(&s->e, member);
}

/* What the host has for the edges, and all members. */
static enum ergo_status allocate(struct sw_cut *s) {
    const struct ergo_rectangle *p = &s->piece;
    const size_t entries = 32 * (size_t)p->words + p->rows;
    s->members = ergo_engine_memory(&s->e, s->e.batch->count, sizeof *s->members);
    s->far_edges = ergo_engine_memory(&s->e, entries, sizeof *s->far_edges);
    s->part_sizes = ergo_engine_memory(&s->e, 2 * entries, sizeof *s->part_sizes);
    s->part_names = ergo_engine_memory(&s->e, 2 * entries, sizeof *s->part_names);
    return ergo_engine_end(&s->e);
}

/* Of the whole run. */
static enum ergo_status allocate_run(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t counts = s->e.block_samples * s->e.batch->count;
    s->slots[0] = calloc(counts, sizeof *s->slots[0]);
    s->slots[1] = calloc(counts, sizeof *s->slots[1]);
    return s->slots[0] && s->slots[1]
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a cut lattice");
}

/* The rectangle and its tiles; those on edges first. To be freed. */
static struct sw_rect *list_tiles(const struct sw_cut *s) {
    const uint32_t columns = (s->piece.words - 1) / s->tiles.tile_words + 1;
    const uint32_t rows = (s->piece.rows - 1) / s->tiles.tile_rows + 1;
    struct sw_rect *rect = malloc(sw_cut_rect_bytes(s));
    if (!rect)
        return NULL;
    *rect = sw_cut_rect(s, &s->piece);
    uint32_t *place = (uint32_t *)(rect + 1);
    for (unsigned inside = 0; inside < 2; inside++)
        for (uint32_t y = 0; y < rows; y++)
            for (uint32_t x = 0; x < columns; x++)
                if ((x > 0 && y > 0 && x + 1 < columns && y + 1 < rows) == inside) {
                    *place++ = x;
                    *place++ = y;
                }
    return rect;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct sw_cut *s = state;
    enum ergo_status status = allocate(s);
    if (status == ERGO_OK)
        status = sw_cut_make_sides(s);
    if (status == ERGO_OK && !s->slots[0])
        status = allocate_run(ctx, s);
    if (status == ERGO_OK && s->distances)
        status = sw_lines_prepare(s);
    if (status == ERGO_OK && s->gathers)
        status = sw_gather_prepare(ctx, s);
    if (status != ERGO_OK)
        return status;
    struct sw_rect *rect = list_tiles(s);
    if (!rect)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a rectangle's tiles");
    ergo_engine_constant(&s->e, SW_CUT_RECT, rect);
    if (s->ahead)
        sw_early_prepare(s, rect);
    free(rect);
    for (size_t m = s->e.batch->count; m-- > 0;) {
        struct sw_member *params = &s->members[m].params;
        sw_member_fill(s->e.batch->points[m], params);
        sw_cut_choose(s, m);
        ergo_engine_write(&s->e, SW_CUT_MEMBER, 0, sizeof *params, params);
    }
    /* drivers that compile at the first launch do so here */
    sw_cut_local(s, true, false);
    sw_cut_local(s, false, false);
    ergo_engine_finish(&s->e);
    return ERGO_OK;
}

static void release(void *state) {
    struct sw_cut *s = state;
    ergo_dist_shared_destroy(s->gather.shared);
    ergo_halo_free(&s->halo);
    sw_rounds_free(&s->rounds);
    ergo_layout_free(&s->layout);
    free(s->shares);
    free(s->slots[0]);
    free(s->slots[1]);
}

static void start(void *state) {
    struct sw_cut *s = state;
    const bool random = ergo_says(of_lattice(s->e.batch->points[0])->start, "random");
    s->started = true;
    for (size_t m = 0; m < s->e.batch->count; m++) {
        sw_cut_choose(s, m);
        ERGO_LAUNCH(&s->e, SW_CUT_START, sw_cut_over(s, ergo_rectangle_words(&s->piece)),
                    BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RECT), U32(random));
        s->now->fresh = false;
    }
}

const struct ergo_engine_model sw_cut_model = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice, more ranks",
    .state_bytes = sizeof(struct sw_cut),
    .configure = sw_cut_configure,
    .prepare = prepare,
    .start = start,
    .release = release,
};

static const struct ergo_engine_model model_of_cpus = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice, more ranks",
    .state_bytes = sizeof(struct sw_cut),
    .configure = sw_cut_configure_of_cpus,
    .prepare = prepare,
    .start = start,
    .release = release,
};

const struct ergo_engine_model *sw_cut_model_for(const struct ergo_device *device) {
    return ergo_dist_any(device->type == CL_DEVICE_TYPE_CPU) ? &model_of_cpus : &sw_cut_model;
}

enum ergo_status sw_cut_remake(struct ergo_context *ctx, struct sw_cut *s) {
    ergo_dist_shared_destroy(s->gather.shared);
    s->gather.shared = NULL;
    const enum ergo_status status = ergo_engine_remake(ctx, s);
    if (status == ERGO_OK)
        sw_gather_share(s);
    return status;
}

enum ergo_status sw_cut_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    enum ergo_status status =
        ergo_slab_in_turn(ctx, sw_cut_model_for(device), batch, device, state);
    if (status != ERGO_OK)
        return status;
    struct sw_cut *s = *state;
    sw_gather_share(s);
    if (s->shares->measured)
        status = sw_cut_share_by_speed(ctx, s);
    if (status != ERGO_OK) {
        ergo_engine_destroy(s);
        *state = NULL;
        return status;
    }
    sw_cut_log(ctx, s);
    return ERGO_OK;
}
