/* Wang-Landau walks: kernels, launch sizes, memory. They change the speed and never the chain. */
#include <math.h>
#include <stdio.h>

#include "samplers/spin_lattice/wang_landau/walk.h"

_Static_assert(sizeof(struct walk_status) == WALK_STATUS_BYTES, "walk_status has no padding");
_Static_assert(sizeof(struct walk_sums) == WALK_SUMS_BYTES, "walk_sums has no padding");

/* Of a group; of what may be elsewhere only if it is local. */
static size_t walk_local_bytes(const struct walk_state *s, bool local) {
    const size_t walkers = s->shape.walkers, levels = s->graph.levels.count;
    return 20 * walkers + WALK_SUMS_BYTES * (size_t)s->group +
           (local ? 12 * levels + 4 * walkers * walk_words_of(s) : 24) + 64;
}

static void declare(struct walk_state *s) {
    static const char *const path = "spin_lattice/walk.cl";
    struct ergo_engine *e = &s->e;
    const struct walk_graph *g = &s->graph;
    const uint64_t members = e->batch->count, estimates = members * s->shape.estimates;
    const uint64_t walkers = estimates * s->shape.walkers, levels = estimates * g->levels.count;
    char options[80];
    ergo_engine_buffer(e, WALK_SPINS, "spins", ERGO_BUFFER_STATE, 4 * walkers * walk_words_of(s));
    ergo_engine_buffer(e, WALK_AT, "levels of walkers", ERGO_BUFFER_STATE, 4 * walkers);
    ergo_engine_buffer(e, WALK_LN_G, "ln g", ERGO_BUFFER_STATE, 8 * levels);
    ergo_engine_buffer(e, WALK_COUNTS, "visits of an epoch", ERGO_BUFFER_STATE, 4 * levels);
    ergo_engine_buffer(e, WALK_VISITED, "visits", ERGO_BUFFER_STATE, 4 * levels);
    ergo_engine_buffer(e, WALK_STATUS, "ln f", ERGO_BUFFER_STATE, WALK_STATUS_BYTES * estimates);
    ergo_engine_buffer(e, WALK_FIRST, "lists of neighbours", ERGO_BUFFER_CONSTANT,
                       4 * ((uint64_t)g->n + 1));
    ergo_engine_buffer(e, WALK_BONDS, "couplings", ERGO_BUFFER_CONSTANT,
                       sizeof *g->bonds * ((uint64_t)g->first[g->n] + 1));
    ergo_engine_buffer(e, WALK_FIELDS, "fields", ERGO_BUFFER_CONSTANT, 4 * (uint64_t)g->n);
    ergo_engine_buffer(e, WALK_SAMPLES, "samples", ERGO_BUFFER_SAMPLES,
                       4 * WALK_NUMBERS * estimates);
    snprintf(options, sizeof options, "-DWALK_STEP=%u -DWALK_GROUP=%u -DWALK_LOCAL=%u",
             g->levels.step, s->group, s->local);
    ergo_engine_kernel(e, WALK_SWEEPS, path, options, "walk_sweeps");
    ergo_engine_kernel(e, WALK_MEASURE, path, options, "walk_measure");
}

/* Work-items of a group: one on a CPU, which then needs no barriers; on a GPU as many as walkers.
 */
static uint32_t group_of(const struct walk_state *s, bool gpu) {
    const uint32_t wish = (uint32_t)s->e.batch->points[0]->parameters->work_group;
    uint32_t group = wish ? wish : 1;
    while (!wish && gpu && group < s->shape.walkers)
        group *= 2;
    while (group > 1 && group > s->e.device->summary.largest_group)
        group /= 2;
    return group;
}

/* Iterations of a work-item in a sweep. */
static double loops_of(const struct walk_state *s) {
    const struct walk_graph *g = &s->graph;
    const double lanes = ceil((double)s->shape.walkers / s->group);
    return g->n * lanes * (4 + (double)g->first[g->n] / g->n) +
           3 * ((double)g->levels.count + (double)walk_words_of(s) * s->shape.walkers) / s->group +
           s->group;
}

enum ergo_status walk_configure(struct ergo_context *ctx, void *state) {
    struct walk_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    struct ergo_plan *plan = &s->e.plan;
    s->shape = walk_shape_of(batch->points[0]);
    s->members =
        ergo_engine_table(&s->e, WALK_MEMBERS, "members", batch->count, sizeof *s->members);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    walk_graph_free(&s->graph);
    const enum ergo_status status = walk_graph_of(ctx, batch->points[0], &s->graph);
    if (status != ERGO_OK)
        return status;
    for (size_t m = 0; m < batch->count; m++)
        s->members[m] = (struct walk_member){(uint32_t)batch->points[m]->stream,
                                             (uint32_t)(batch->points[m]->stream >> 32)};
    s->group = group_of(s, gpu);
    s->local = walk_local_bytes(s, true) <= device->summary.local_memory;
    if (walk_local_bytes(s, false) > device->summary.local_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%u walkers need %zu bytes of local memory; %s has %llu: give fewer "
                         "/run/walkers",
                         s->shape.walkers, walk_local_bytes(s, false), device->summary.name,
                         (unsigned long long)device->summary.local_memory);
    const double limit = (double)device->quirks.loop_limit, loops = loops_of(s);
    if (limit > 0 && loops > limit)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a sweep of %u vertices and %u walkers is one launch; %s stops loops "
                         "before that: take another device, or fewer /run/walkers",
                         s->graph.n, s->shape.walkers, device->summary.name);
    s->launch_sweeps = limit > 0 ? (uint64_t)(limit / loops) : 1u << 20;
    const double estimates = (double)batch->count * s->shape.estimates;
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double moves = estimates * s->graph.n * s->shape.walkers;
    plan->work_per_step = moves;
    plan->block_steps = fmax(1, floor(0.1 / fmax(moves / ((gpu ? 1e8 : 1e7) * units),
                                                 s->graph.n * (gpu ? 1e-6 : 1e-7))));
    plan->launches_per_step = 1.0 / (double)ergo_plan_launch(plan, s->launch_sweeps);
    plan->host_bytes = 24 * (uint64_t)s->graph.first[s->graph.n] +
                       128 * (uint64_t)s->graph.levels.count + 64 * (uint64_t)s->graph.n +
                       /* walk_end_curves: ln g of all estimates, of one member at a time */
                       8 * s->graph.levels.count * s->shape.estimates;
    snprintf(plan->path, sizeof plan->path, "%s", s->local ? "local" : "global");
    snprintf(plan->launch, sizeof plan->launch,
             "an estimate of ln g with %u walkers per work-group of %u, many sweeps a launch; ln g "
             "and spins in %s memory",
             s->shape.walkers, s->group, s->local ? "local" : "global");
    declare(s);
    return ERGO_OK;
}
