/* Lennard-Jones chains on a device: constants, and memory of the host. */
#include <stdlib.h>

#include "samplers/lj_gcmc/lj.h"

_Static_assert(sizeof(struct lj_member) == LJ_MEMBER_BYTES, "lj_member has no padding");
_Static_assert(sizeof(struct lj_shape) == LJ_SHAPE_BYTES, "lj_shape has no padding");
_Static_assert(sizeof(struct lj_chain) == LJ_CHAIN_BYTES, "lj_chain has no padding");
_Static_assert(sizeof(struct lj_sample) == LJ_SAMPLE_BYTES, "lj_sample has no padding");
_Static_assert(sizeof(struct lj_volume_rules) == LJ_VOLUME_RULES_BYTES, "no padding");
_Static_assert(sizeof(struct lj_rule) == LJ_RULE_BYTES, "lj_rule has no padding");
_Static_assert(sizeof(struct lj_mixture) == LJ_MIXTURE_BYTES, "lj_mixture has no padding");
_Static_assert(sizeof(struct lj_part) == LJ_PART_BYTES, "lj_part has no padding");

/* The lists of cells within the cutoff, as constants. */
static enum ergo_status create_offsets(struct ergo_context *ctx, struct lj_state *s) {
    const double sigma = s->system.sigma, cutoff = s->system.cutoff / sigma;
    const double box[3] = {s->system.box[0] / sigma, s->system.box[1] / sigma,
                           s->system.box[2] / sigma};
    size_t count = 0;
    if (s->lists) {
        ergo_engine_constant(&s->e, LJ_OFFSETS, s->lists);
        free(s->lists);
        s->lists = NULL;
        return ERGO_OK;
    }
    if (s->launch.slotted) {
        ergo_engine_constant(&s->e, LJ_OFFSETS, s->grid.offsets);
        return ERGO_OK;
    }
    uint32_t *lists = lj_grid_lists(&s->grid, box, cutoff, lj_widest_core(s), &count);
    if (!lists)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for lists of cells");
    ergo_engine_constant(&s->e, LJ_OFFSETS, lists);
    free(lists);
    return ERGO_OK;
}

enum ergo_status lj_prepare(struct ergo_context *ctx, void *state) {
    struct lj_state *s = state;
    uint32_t *bounds = s->launch.board_blocks ? lj_board_bounds(&s->grid) : NULL;
    if (s->launch.board_blocks && !bounds)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the bounds of cells");
    ergo_engine_constant(&s->e, LJ_RULES, s->rules);
    ergo_engine_constant(&s->e, LJ_EDGES, s->bin_edges);
    ergo_engine_constant(&s->e, LJ_BOUNDS, bounds);
    ergo_engine_constant(&s->e, LJ_TABLES, s->tables.words);
    free(bounds);
    return create_offsets(ctx, s);
}

void lj_release(void *state) {
    struct lj_state *s = state;
    free(s->grid.offsets);
    free(s->lists);
    lj_tables_free(&s->tables);
}

#define ENGINE(name)                                                                               \
    { LJ_ENGINE(name), .configure = lj_configure, .prepare = lj_prepare, .release = lj_release }
const struct ergo_engine_model lj_model = ENGINE("lj-gcmc");
const struct ergo_engine_model lj_fluid_engine = ENGINE("lj-fluid");
