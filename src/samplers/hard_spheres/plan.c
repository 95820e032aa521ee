/* The kernels for a batch on a device, their launch shape, and the buffers. This decides speed,
 * never the chain. */
#include <math.h>
#include <stdio.h>

#include "samplers/hard_spheres/order.h"

static enum ergo_status shape_members(struct ergo_context *ctx, struct spheres_state *s) {
    struct spheres_launch *l = &s->launch;
    const struct ergo_batch *batch = s->e.batch;
    s->shapes = ergo_engine_memory(&s->e, batch->count, sizeof *s->shapes);
    s->members =
        ergo_engine_table(&s->e, SPHERES_MEMBERS, "parameters", batch->count, sizeof *s->members);
    s->contacts = ergo_engine_memory(&s->e, 3 * batch->count, sizeof *s->contacts);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < batch->count; i++) {
        struct spheres_shape *shape = &s->shapes[i];
        char reason[300];
        if (!spheres_shape_of(batch->points[i], shape, reason))
            return ERGO_FAIL(ctx, ERGO_E_JOB, "/system: %s", reason);
        spheres_member_fill(batch->points[i], shape, &s->members[i]);
        s->members[i].first = (uint32_t)l->all_cells;
        s->contact_words = shape->per_axis ? 3 : 1; /* of a shape key, so of all members */
        spheres_contact_put(s, s->contacts, i, shape->contact);
        l->slots = shape->slots > l->slots ? shape->slots : l->slots;
        l->listed = spheres_listed(shape) > l->listed ? spheres_listed(shape) : l->listed;
        l->most_cells = shape->all > l->most_cells ? (uint32_t)shape->all : l->most_cells;
        l->all_cells += shape->all;
    }
    for (size_t i = 0; i < batch->count; i++)
        s->shapes[i].planes = l->slots / 2;
    if (l->all_cells > UINT32_MAX)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a batch of %zu systems has %llu cells, which are numbered with 32 bits: "
                         "use fewer replicas or scan points",
                         batch->count, (unsigned long long)l->all_cells);
    return ERGO_OK;
}

/* Lists of GPUs and of teams are in local memory, if a group has room for them. */
static void choose_launch(const struct ergo_device *device, const struct ergo_point *point,
                          struct spheres_launch *l) {
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)point->parameters->work_group;
    const uint32_t team = (uint32_t)of_spheres(point)->team;
    const uint32_t listed = (uint32_t)of_spheres(point)->listed;
    uint32_t group = wish ? wish : 64;
    while (group > device->summary.largest_group)
        group /= 2;
    l->team = team ? team : !gpu ? 1 : ergo_device_adds_in_warps(device) ? 2 : 4;
    while (l->team > group)
        l->team /= 2;
    l->listed = listed ? listed : l->listed;
    if (l->listed < l->slots)
        l->listed = l->slots;
    l->listed = (uint32_t)ergo_round_up(l->listed, 2 * l->team);
    const uint64_t cell = 16 * (uint64_t)(l->listed + 2 * l->team) + 132; /* bytes */
    while (!wish && group > 32 && (cell / l->team + 4) * group > device->summary.local_memory)
        group /= 2;
    l->group = group;
    l->local = gpu || l->team > 1;
    if ((cell / l->team + 4) * group > device->summary.local_memory) {
        l->local = false;
        l->team = 1;
    }
}

static void declare_buffers(struct spheres_state *s) {
    static const char *const limits[] = {"contact bins", "g(r) bins"};
    static const char *const counts[] = {"contact histogram", "g(r) histogram", "profile",
                                         "lower wall", "upper wall"};
    struct ergo_engine *e = &s->e;
    const struct spheres_launch *l = &s->launch;
    const uint64_t members = e->batch->count;
    const uint64_t cells = l->all_cells * ERGO_HARD_BYTES * (l->slots / 2);
    ergo_engine_buffer(e, SPHERES_CELLS, "cells", ERGO_BUFFER_STATE, cells);
    ergo_engine_buffer(e, SPHERES_OTHER, "cells, second copy", ERGO_BUFFER_SCRATCH, cells);
    ergo_engine_buffer(e, SPHERES_GRIDS, "grids", ERGO_BUFFER_STATE, 24 * members);
    const bool npt = s->shapes[0].npt;
    ergo_engine_buffer(e, SPHERES_CONTACTS, "contacts",
                       npt ? ERGO_BUFFER_STATE : ERGO_BUFFER_CONSTANT,
                       8 * s->contact_words * members);
    ergo_engine_buffer(e, SPHERES_VOLUMES, "volumes", ERGO_BUFFER_STATE,
                       npt ? members * sizeof(struct ergo_volume) : 0);
    struct ergo_volume_rules *rules = ergo_engine_table(e, SPHERES_RULES, "rules of volume moves",
                                                        npt ? members : 0, sizeof *rules);
    for (size_t i = 0; npt && rules && i < members; i++)
        rules[i] = s->shapes[i].isobaric;
    ergo_engine_buffer(e, SPHERES_SEEN, "volumes of samples", ERGO_BUFFER_SAMPLES,
                       npt ? members * sizeof(struct ergo_volume) : 0);
    ergo_engine_buffer(e, SPHERES_GROWTH, "contacts of a start", ERGO_BUFFER_SCRATCH,
                       l->start_sweeps ? 8 * s->contact_words * members : 0);
    ergo_engine_buffer(e, SPHERES_LEAST, "closest pairs", ERGO_BUFFER_SCRATCH,
                       npt || l->start_sweeps ? 8 * members * l->sums : 0);
    ergo_engine_buffer(e, SPHERES_TALLY, "accepted moves", ERGO_BUFFER_SCRATCH, 4 * l->all_cells);
    ergo_engine_buffer(e, SPHERES_PLANS, "plans of sweeps", ERGO_BUFFER_SCRATCH,
                       8 * members * l->plans);
    ergo_engine_buffer(e, SPHERES_SUMS, "samples", ERGO_BUFFER_SAMPLES,
                       members * l->sums * sizeof(struct spheres_sum));
    for (unsigned c = 0; c < SPHERES_PAIR_CURVES; c++) { /* edges of bins, for every member */
        const size_t each = l->bins[c] ? l->bins[c] + (size_t)1 : 0;
        uint64_t *edges = ergo_engine_table(e, SPHERES_LIMITS + c, limits[c], members * each, 8);
        for (size_t i = 0; each && edges && i < members; i++)
            spheres_limits(e->batch->points[i], &s->shapes[i], c, edges + i * each);
    }
    for (unsigned c = 0; c < SPHERES_COUNTED; c++)
        ergo_engine_sums(e, SPHERES_COUNTS + c, counts[c], ERGO_BUFFER_CURVES,
                         4 * members * l->bins[c]);
    ergo_confined_declare(e, SPHERES_WALLS, SPHERES_FIELDS, &s->shapes[0].confined);
    ergo_engine_buffer(e, SPHERES_ENERGIES, "energies in the field", ERGO_BUFFER_SAMPLES,
                       s->shapes[0].confined.field ? 8 * members * l->sums : 0);
    ergo_engine_buffer(e, SPHERES_PLACES, "cells for the analysis of order", ERGO_BUFFER_HOST,
                       spheres_order_is_on(e->batch->points[0]) ? cells : 0);
}

static void declare_kernels(struct spheres_state *s) {
    static const char *const sweep = "hard_spheres/spheres_sweep.cl";
    static const char *const measure = "hard_spheres/spheres_measure.cl";
    static const char *const confined = "hard_spheres/spheres_confined.cl";
    struct ergo_engine *e = &s->e;
    const struct spheres_launch *l = &s->launch;
    const bool npt = s->shapes[0].npt;
    const bool warp = ergo_device_adds_in_warps(e->device) && l->team <= 32 && l->group % 32 == 0;
    char options[240];
    snprintf(options, sizeof options,
             "-DSPHERES_SLOTS=%u -DSPHERES_LISTED=%uu -DSPHERES_TEAM=%uu -DSPHERES_GROUP=%uu "
             "-DSPHERES_MOVES=%u -DSPHERES_SUM_GROUP=%u%s%s%s%s%s%s",
             l->slots, l->listed, l->team, l->group, s->shapes[0].moves_per_cell, l->sum_group,
             l->local ? " -DSPHERES_LOCAL" : "", warp ? " -DSPHERES_WARP" : "",
             npt ? " -DSPHERES_NPT" : "", s->shapes[0].per_axis ? " -DSPHERES_PER_AXIS" : "",
             s->shapes[0].confined.is ? " -DSPHERES_WALLS" : "",
             s->shapes[0].confined.field ? " -DSPHERES_FIELD" : "");
    ergo_engine_kernel(e, SPHERES_PLAN_SWEEPS, sweep, options, "spheres_plans");
    ergo_engine_kernel(e, SPHERES_SUBSWEEP, sweep, options, "spheres_subsweep");
    ergo_engine_kernel(e, SPHERES_SHIFT, sweep, options, "spheres_shift");
    ergo_engine_kernel(e, SPHERES_MEASURE, measure, options, "spheres_measure");
    if (!s->shapes[0].confined.is)
        ergo_engine_kernel(e, SPHERES_PAIRS, measure, options, "spheres_pairs");
    if (s->shapes[0].confined.field)
        ergo_engine_kernel(e, SPHERES_ENERGY, confined, options, "spheres_energy");
    if (l->bins[SPHERES_CURVE_PROFILE])
        ergo_engine_kernel(e, SPHERES_PROFILE, confined, options, "spheres_profile");
    if (npt || l->start_sweeps)
        ergo_engine_kernel(e, SPHERES_CLOSEST_PAIR, measure, options, "spheres_closest");
    if (npt)
        ergo_engine_kernel(e, SPHERES_VOLUME_MOVE, "hard_spheres/spheres_volume.cl", options,
                           "spheres_volume");
}

/* Devices that end long loops by themselves: a work-item has at most the moves of a cell, each with
 * all spheres around, or a layer of cells around one. */
static bool heed_loop_limit(struct spheres_state *s, uint64_t limit) {
    struct spheres_launch *l = &s->launch;
    uint64_t layer = 1;
    for (size_t i = 0; i < s->e.batch->count; i++)
        for (size_t c = 0; c < SPHERES_PAIR_CURVES; c++) {
            const uint32_t *reach = s->members[i].reach[c];
            const uint64_t cells = (2 * (uint64_t)reach[0] + 1) * (2 * (uint64_t)reach[1] + 1);
            layer = l->bins[c] && cells > layer ? cells : layer;
        }
    const uint64_t each = 4 * (uint64_t)l->slots * l->slots; /* pairs of spheres, bins */
    if (layer * each > limit || (uint64_t)s->shapes[0].moves_per_cell * 700 > limit)
        return false;
    l->pair_layers = (uint32_t)(limit / (layer * each));
    return true;
}

enum ergo_status spheres_configure(struct ergo_context *ctx, void *state) {
    struct spheres_state *s = state;
    struct spheres_launch *l = &s->launch;
    struct ergo_plan *plan = &s->e.plan;
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const enum ergo_status status = shape_members(ctx, s);
    s->kind = &spheres_kind;
    if (status != ERGO_OK)
        return status;
    choose_launch(device, first, l);
    l->plans = 256;
    l->pair_layers = 1u << 30;
    /* enough work-items for the device, each with several cells */
    const uint64_t items = l->most_cells / (gpu ? 4 : 16) + 1, most = gpu ? 131072 : 64;
    l->sum_group = gpu ? 64 : 8;
    l->sums = (uint32_t)(((items < most ? items : most) + l->sum_group - 1) / l->sum_group);
    for (size_t c = 0; c < SPHERES_CURVES; c++)
        l->bins[c] = (uint32_t)spheres_curve_size(first, c);
    if (device->quirks.loop_limit && !heed_loop_limit(s, device->quirks.loop_limit))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends a kernel's loops after %llu iterations, too few for this "
                         "job: use fewer /system/moves_per_cell, a smaller /run/gr_max, or another "
                         "device",
                         d->name, d->id, (unsigned long long)device->quirks.loop_limit);

    const double per_second = (gpu ? 5e7 : 2e6) * (double)(d->compute_units ? d->compute_units : 1);
    plan->work_per_step = (double)l->all_cells * (double)s->shapes[0].moves_per_cell;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / plan->work_per_step));
    plan->launches_per_step = s->shapes[0].npt ? 11.0 : 9.0;
    if (spheres_start_is_random(first)) /* a shape key, so it holds for all members or none */
        l->start_sweeps = (uint32_t)fmin(fmax(1.0, floor(0.3 * plan->block_steps)), ERGO_HARD_ASK);
    if (l->start_sweeps) {
        s->growing = ergo_engine_memory(&s->e, s->e.batch->count, 8 * s->contact_words);
        s->least = ergo_engine_memory(&s->e, s->e.batch->count, 8 * l->sums);
    }
    plan->host_bytes = 400 * (uint64_t)l->most_cells;
    snprintf(plan->path, sizeof plan->path, "global");
    snprintf(
        plan->launch, sizeof plan->launch,
        "%zu x %u cells of a set in groups of %u, %u work-items a cell, a set of cells a launch",
        s->e.batch->count, l->most_cells / 8, l->group, l->team);
    /* cells around each cell that are looked at for pairs */
    ergo_pace_start(&s->e.curve_pace, 0.1 * 4.0 * per_second / (double)l->all_cells);
    s->e.curve_interval = spheres_curve_every(first);
    s->e.curve_row_bytes = spheres_order_is_on(first) ? spheres_order_bytes(first) : 0;
    declare_buffers(s);
    declare_kernels(s);
    return ergo_engine_end(&s->e);
}
