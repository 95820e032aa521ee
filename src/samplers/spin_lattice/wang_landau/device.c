/* Wang-Landau walks on a device: constants, start, sweeps, samples. */
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct walk_state *s = state;
    (void)ctx;
    ergo_engine_constant(&s->e, WALK_FIRST, s->graph.first);
    ergo_engine_constant(&s->e, WALK_BONDS, s->graph.bonds);
    ergo_engine_constant(&s->e, WALK_FIELDS, s->graph.fields);
    ergo_engine_need_group(&s->e, WALK_SWEEPS, s->group);
    return ergo_engine_end(&s->e);
}

static void release(void *state) {
    struct walk_state *s = state;
    walk_graph_free(&s->graph);
}

static void start(void *state) {
    struct walk_state *s = state;
    const unsigned mode = lattice_start(s->e.batch->points[0]);
    struct walk_estimate a;
    if (!walk_estimate_create(s, &a))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the start of walkers");
    for (size_t m = 0; m < s->e.batch->count && s->e.status == ERGO_OK; m++)
        for (uint32_t own = 0; own < s->shape.estimates; own++) {
            walk_start(s, &s->members[m], own, mode, &a);
            walk_write(s, m * s->shape.estimates + own, &a);
        }
    walk_estimate_free(&a);
}

static void steps(void *state, uint64_t sweeps) {
    struct walk_state *s = state;
    const uint64_t end = s->e.step + sweeps;
    const size_t estimates = s->e.batch->count * s->shape.estimates;
    const size_t walkers = s->shape.walkers, levels = s->graph.levels.count;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, end - s->e.step, s->launch_sweeps);
        ERGO_LAUNCH(&s->e, WALK_SWEEPS, ergo_grid_groups(estimates, s->group, 1),
                    BUFFER(WALK_SPINS), BUFFER(WALK_AT), BUFFER(WALK_LN_G), BUFFER(WALK_COUNTS),
                    BUFFER(WALK_VISITED), BUFFER(WALK_STATUS), BUFFER(WALK_FIRST),
                    BUFFER(WALK_BONDS), BUFFER(WALK_FIELDS), BUFFER(WALK_MEMBERS), U32(s->graph.n),
                    U32(walkers), U32(s->shape.estimates), U32(levels), U32(s->shape.check),
                    U32(s->shape.flatness), U64(s->e.step), U32(now), LOCAL(16 * walkers),
                    LOCAL(WALK_SUMS_BYTES * (size_t)s->group), LOCAL(4 * walkers),
                    LOCAL(s->local ? 8 * levels : 8), LOCAL(s->local ? 4 * levels : 8),
                    LOCAL(s->local ? 4 * walkers * walk_words_of(s) : 8));
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->e.step += now;
    }
}

static void measure(void *state, size_t sample) {
    struct walk_state *s = state;
    const size_t estimates = s->e.batch->count * s->shape.estimates;
    ERGO_LAUNCH(&s->e, WALK_MEASURE, ((struct ergo_grid){1, {estimates}, {1}}), BUFFER(WALK_AT),
                BUFFER(WALK_STATUS), BUFFER(WALK_SAMPLES), U32(sample), U32(estimates),
                U32(s->shape.walkers));
}

/* The first walker of the first estimate; means over the estimates. */
static bool row_of(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct walk_state *s = state;
    const size_t estimates = s->shape.estimates;
    const uint32_t *of = ergo_engine_host(&s->e, WALK_SAMPLES, slot, row->sample);
    double *to = row->columns;
    of += row->member * estimates * WALK_NUMBERS;
    memset(to, 0, GRAPH_COLUMNS * sizeof *to);
    to[COLUMN_TOTAL] = walk_energy(&s->graph, of[WALK_LEVEL]);
    to[COLUMN_SITES] = s->graph.n;
    for (size_t i = 0; i < estimates; i++, of += WALK_NUMBERS) {
        const uint64_t f = (uint64_t)of[WALK_F + 1] << 32 | of[WALK_F];
        to[COLUMN_LEVELS] += of[WALK_LEVELS] / (double)estimates;
        to[COLUMN_LN_F] += (double)f * 0x1p-32 / (double)estimates;
    }
    return true;
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller graph, fewer replicas, estimates or walkers",
    .state_bytes = sizeof(struct walk_state),
    .fields = &walk_fields,
    .configure = walk_configure,
    .prepare = prepare,
    .start = start,
    .steps = steps,
    .measure = measure,
    .row = row_of,
    .release = release,
};

const struct ergo_sampler_ops walk_ops = {
    .engine = &model,
    .init = ergo_engine_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
    .end_curves = walk_end_curves,
};
