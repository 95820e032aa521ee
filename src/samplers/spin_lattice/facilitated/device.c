/* Facilitated dynamics on a device: constants, start, table of functions. */
#include <string.h>

#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct fac_state *s = state;
    const bool tiled = s->launch.mode == FAC_MODE_TILES;
    (void)ctx;
    s->recorded = ergo_engine_memory(&s->e, s->n_times, 4 * s->launch.counts_length);
    s->loaded =
        ergo_engine_memory(&s->e, s->n_times * fac_lattices(s), FAC_COUNTS * sizeof *s->loaded);
    const enum ergo_status status = fac_lanes_prepare(s);
    if (status != ERGO_OK)
        return status;
    if (s->launch.window)
        ergo_engine_need_group(&s->e, FAC_SWEEP, s->launch.window);
    ergo_engine_need_group(&s->e, FAC_PART, tiled ? s->launch.tiles.group : s->launch.window);
    return ERGO_OK;
}

static void start(void *state) {
    struct fac_state *s = state;
    const unsigned mode = lattice_start(s->e.batch->points[0]);
    ergo_engine_finish(&s->e); /* an earlier run may still read */
    memset(s->recorded, 0, 4 * s->n_times * s->launch.counts_length);
    memset(s->loaded, 0, s->n_times * fac_lattices(s) * FAC_COUNTS * sizeof *s->loaded);
    fac_lanes_clear(s);
    ERGO_LAUNCH(&s->e, FAC_START,
                ergo_grid_items(s->shape.sites, s->launch.group, s->e.batch->count),
                BUFFER(FAC_SPINS), BUFFER(FAC_FIRST), BUFFER(FAC_FLIPPED), BUFFER(FAC_MEMBERS),
                U32(s->shape.words), U32(mode));
    fac_event(s);
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller lattice, fewer realisations",
    .state_bytes = sizeof(struct fac_state),
    .fields = &fac_fields,
    .configure = fac_configure,
    .prepare = prepare,
    .start = start,
    .steps = fac_steps,
    .measure = fac_measure,
    .columns = fac_columns,
};

const struct ergo_sampler_ops facilitated_ops = {
    .engine = &model,
    .init = ergo_engine_init,
    .end_curves = fac_end_curves,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = fac_carry,
    .view = fac_view,
};
