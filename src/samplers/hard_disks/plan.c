/* The kernels for a batch on a device, their launch shape, and the buffers. This decides speed,
 * never the chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplers/hard_disks/order.h"

uint32_t disks_tile_room(const uint32_t tile[2]) {
    return 4 * (tile[0] + 4) * (tile[1] + 4);
}

/* Beside cells, local memory holds `more` bytes. */
static bool fits_local(uint64_t cells, size_t cell_bytes, uint64_t more,
                       const struct ergo_device_summary *d) {
    return cells * cell_bytes + more + 256 <= d->local_memory;
}

/* One tile per compute unit, unless tiles would be nearly all rim or too large for local memory.
 * False: not even small tiles fit. */
static bool choose_tile(const struct ergo_batch *batch, const struct ergo_device_summary *d,
                        size_t cell_bytes, struct disks_launch *l) {
    const uint32_t wish = (uint32_t)of_particle(batch->points[0])->tile & ~1u;
    const uint32_t *half = l->most_half;
    const double units = fmax(1.0, (double)d->compute_units / (double)batch->count);
    const uint32_t across = (uint32_t)sqrt(units), along = (uint32_t)(units / across);
    l->tile[0] = wish ? wish / 2 : (half[0] + along - 1) / along;
    l->tile[1] = wish ? wish / 2 : (half[1] + across - 1) / across;
    for (int i = 0; i < 2; i++) {
        if (!wish && l->tile[i] < 8)
            l->tile[i] = 8;
        if (!wish && l->tile[i] > 12)
            l->tile[i] = 12;
        l->tile[i] = l->tile[i] < half[i] ? l->tile[i] : half[i];
        if (l->tile[i] == 0) /* an empty batch */
            return false;
    }
    while (!fits_local(disks_tile_room(l->tile), cell_bytes, 0, d)) {
        if (wish || l->tile[0] <= 4 || l->tile[1] <= 4)
            return false;
        l->tile[0]--;
        l->tile[1]--;
    }
    l->tiles =
        ((half[0] + l->tile[0] - 1) / l->tile[0]) * ((half[1] + l->tile[1] - 1) / l->tile[1]);
    return true;
}

/* A launch costs some 20 us on a CPU and 3 us on a GPU. A sweep has five launches on the global
 * path, and one on the tile path, which repeats the moves of its rims. The local path uses only one
 * work-group per member. */
static enum ergo_status choose_path(struct ergo_context *ctx, const struct ergo_batch *batch,
                                    const struct ergo_device *device,
                                    const struct disks_shape *shape, size_t cell_bytes,
                                    struct disks_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)first->parameters->work_group;
    const uint32_t least = ergo_device_least_group(device);
    const uint64_t nearest = shape->npt ? 8 * (wish > 256 ? wish : 256) : 0;
    const bool local = fits_local(2 * (uint64_t)l->most_cells, cell_bytes, nearest, d);
    const bool walls = shape->confined.is;
    const bool tile = choose_tile(batch, d, cell_bytes, l) && !shape->leave && !walls;
    const unsigned units = d->compute_units ? d->compute_units : 1;
    if (of_particle(first)->tile % 2)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "/tuning/tile: found %lld; allowed: an even number",
                         (long long)of_particle(first)->tile);
    l->path = (enum disks_path)first->parameters->path;
    if (l->path == DISKS_PATH_LOCAL && !local)
        l->path = DISKS_PATH_AUTO;
    if (l->path == DISKS_PATH_TILE && !tile)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "/tuning/path 2 with /tuning/tile %lld: %s",
                         (long long)of_particle(first)->tile,
                         shape->leave ? "tiles need disks that stay in their cells"
                         : walls
                             ? "tiles do not know walls and fields"
                             : "tiles and their rims do not fit into this device's local memory");
    if (l->path == DISKS_PATH_AUTO)
        l->path = local && (gpu || batch->count >= units || l->most_cells <= 1024)
                      ? DISKS_PATH_LOCAL
                  : tile && gpu && l->all_cells <= 1024 * (uint64_t)units ? DISKS_PATH_TILE
                                                                          : DISKS_PATH_GLOBAL;
    if (l->path == DISKS_PATH_LOCAL)
        l->group = wish                        ? wish
                   : gpu                       ? ergo_power_of_two_up(l->most_cells / 4, least, 256)
                   : device->quirks.loop_limit ? 8 /* llvmpipe's vector length */
                                               : 1;
    else if (l->path == DISKS_PATH_TILE)
        l->group = wish  ? wish
                   : gpu ? ergo_power_of_two_up((l->tile[0] + 3) * (l->tile[1] + 3), least, 256)
                         : 8;
    else
        l->group = wish ? wish : gpu ? 128 : 64;
    while (l->group > d->largest_group)
        l->group /= 2;
    /* on GPUs four rows, which are close together in the cache (an H200: 0.2 to 0.8 percent faster)
     */
    const uint32_t cells = l->path == DISKS_PATH_GLOBAL ? l->group : 64;
    l->rows = gpu && cells >= 64 ? 4 : 1;
    l->row = ergo_power_of_two_up(l->most_half[0], 1, cells / l->rows);
    l->exact = l->most_half[0] % l->row == 0 && l->most_half[1] % l->rows == 0 &&
               l->all_cells == batch->count * (uint64_t)l->most_cells;
    return ERGO_OK;
}

/* Partial sums of a measurement: enough work-items for the device, each with several cells. */
static void plan_samples(const struct ergo_point *first, bool gpu, uint64_t most_items,
                         struct disks_launch *l) {
    const uint64_t wish = gpu ? (l->most_cells + 3) / 4 : (l->most_cells + 15) / 16;
    const uint64_t items = wish < most_items ? wish : most_items;
    l->sum_group = gpu ? 64 : 8;
    l->sums = (uint32_t)((items + l->sum_group - 1) / l->sum_group);
    for (size_t c = 0; c < DISKS_CURVES; c++)
        l->bins[c] = of_particle(first)->curves_every ? (uint32_t)disks_curve_size(first, c) : 0;
    for (size_t c = 0; c < ERGO_CONFINED_CURVES && disks_confined(first); c++)
        l->profile_bins[c] = (uint32_t)disks_curve_size(first, DISKS_CURVE_CONFINED + c);
}

/*
 * Some devices end long loops by themselves (struct ergo_quirks), so no launch may come near the
 * limit. At worst, a move looks up the rest of nine neighbours (a reflection twice), and a pair of
 * cells has twenty pairs of disks: 5 x 21 for a volume move, which may follow each sweep.
 * plan_samples bounds the cells per work-item of a measurement, and of the closest pair by itself.
 * False: a loop is too long whatever the launch shape.
 */
static bool heed_loop_limit(const struct ergo_batch *batch, uint64_t limit,
                            struct disks_launch *l) {
    const struct ergo_point *first = batch->points[0];
    const uint64_t moves = (uint64_t)of_particle(first)->moves_per_cell;
    const uint64_t cell = 4 + (disks_reflects(first) ? 20 : 11) * moves;
    const uint64_t closest = ergo_is_isobaric(first) ? 1 + 5 * 21 : 0;
    uint64_t row = 0, block = 0, sweep = 4 + cell; /* loop iterations of a work-item */
    if (l->path == DISKS_PATH_LOCAL)               /* and halvings of ergo_least */
        sweep = 4 * ((l->most_cells / 4 + l->group - 1) / l->group) * (cell + closest + 10) +
                (closest ? 18 : 8);
    else if (l->path == DISKS_PATH_TILE)
        sweep = (disks_tile_room(l->tile) / l->group + 4) * (cell + 2) + 8;
    for (size_t i = 0; i < batch->count; i++) {
        struct disks_shape s = {0};
        struct disks_member member = {0};
        char reason[300];
        if (!disks_shape_of(batch->points[i], &s, reason))
            continue; /* refused before */
        disks_member_fill(batch->points[i], &s, &member);
        block = s.block > block ? s.block : block;
        for (size_t c = 0; c < 2; c++)
            if (l->bins[c]) {
                const uint64_t cells = (2 * (uint64_t)member.reach[c] + 1) * 21 + 1;
                row = cells > row ? cells : row;
            }
    }
    if (sweep > limit || row > limit || (block + 1) * block > limit)
        return false;
    if (l->launch_sweeps > limit / sweep)
        l->launch_sweeps = limit / sweep;
    l->pair_rows = row ? (uint32_t)(limit / row) : 1;
    return true;
}

/* ---- declarations -----------------------------------------------------------------------------
 */

static void declare_buffers(struct disks_state *s) {
    static const char *const limits[] = {"contact bins", "g(r) bins"};
    static const char *const counts[] = {"contact histogram", "g(r) histogram",
                                         "density histogram"};
    struct ergo_engine *e = &s->e;
    const struct disks_launch *l = &s->launch;
    const uint64_t members = e->batch->count;
    const uint64_t cells = l->all_cells * ERGO_HARD_BYTES * s->shapes[0].planes;
    const bool local = l->path == DISKS_PATH_LOCAL, npt = s->shapes[0].npt;
    ergo_engine_buffer(e, DISKS_CELLS, "cells", ERGO_BUFFER_STATE, cells);
    ergo_engine_buffer(e, DISKS_OTHER, "cells, second copy", ERGO_BUFFER_SCRATCH,
                       local ? 0 : cells);
    ergo_engine_buffer(e, DISKS_GRIDS, "grids", ERGO_BUFFER_STATE, 16 * members);
    ergo_engine_buffer(e, DISKS_TALLY, "accepted moves", ERGO_BUFFER_SCRATCH, 4 * l->all_cells);
    ergo_engine_buffer(e, DISKS_PLANS, "plans of sweeps", ERGO_BUFFER_SCRATCH,
                       local ? 0 : 4 * members * l->plans);
    ergo_engine_buffer(e, DISKS_MEMBERS, "parameters",
                       npt ? ERGO_BUFFER_STATE : ERGO_BUFFER_CONSTANT,
                       members * sizeof *s->members);
    ergo_engine_buffer(e, DISKS_SIZES, "volumes", ERGO_BUFFER_STATE,
                       npt ? members * sizeof(struct disks_size) : 0);
    struct disks_rules *rules = ergo_engine_table(e, DISKS_RULES, "rules of volume moves",
                                                  npt ? members : 0, sizeof *rules);
    for (size_t i = 0; npt && rules && i < members; i++)
        rules[i] = s->shapes[i].rules;
    ergo_engine_buffer(e, DISKS_LEAST, "closest pairs", ERGO_BUFFER_SCRATCH,
                       npt && !local ? 8 * members * l->sums : 0);
    ergo_engine_buffer(e, DISKS_SEEN, "volumes of samples", ERGO_BUFFER_SAMPLES,
                       npt ? members * sizeof(struct ergo_volume) : 0);
    ergo_engine_buffer(e, DISKS_SUMS, "samples", ERGO_BUFFER_SAMPLES,
                       members * l->sums * sizeof(struct disks_sum));
    for (unsigned c = 0; c < DISKS_CURVES; c++) {
        if (c < 2 && l->bins[c])
            ergo_engine_buffer(e, DISKS_LIMITS + c, limits[c], ERGO_BUFFER_CONSTANT,
                               8 * members * (l->bins[c] + UINT64_C(1)));
        ergo_engine_sums(e, DISKS_COUNTS + c, counts[c], ERGO_BUFFER_CURVES,
                         4 * members * l->bins[c]);
    }
    static const char *const profiles[] = {"profile", "lower wall", "upper wall"};
    for (unsigned c = 0; c < ERGO_CONFINED_COUNTED; c++)
        ergo_engine_sums(e, DISKS_PROFILES + c, profiles[c], ERGO_BUFFER_CURVES,
                         4 * members * l->profile_bins[c]);
    ergo_confined_declare(e, DISKS_WALLS, DISKS_FIELDS, &s->shapes[0].confined);
    ergo_engine_buffer(e, DISKS_ENERGIES, "energies in the field", ERGO_BUFFER_SAMPLES,
                       s->shapes[0].confined.field ? 8 * members * l->sums : 0);
    ergo_engine_buffer(e, DISKS_PLACES, "cells for the hexatic analysis", ERGO_BUFFER_HOST,
                       disks_order_every(e->batch->points[0]) ? cells : 0);
}

static enum ergo_status declare_kernels(struct ergo_context *ctx, struct disks_state *s) {
    static const char *const global = "hard_disks/disks_global.cl";
    static const char *const measure = "hard_disks/disks_measure.cl";
    static const char *const volume = "hard_disks/disks_volume.cl";
    static const char *const confined = "hard_disks/disks_confined.cl";
    struct ergo_engine *e = &s->e;
    const struct disks_launch *l = &s->launch;
    const struct ergo_point *first = e->batch->points[0];
    const struct disks_shape *shape = &s->shapes[0];
    const double disks_per_cell = (double)shape->n / (double)shape->all;
    struct ergo_text o = {0};
    ergo_text_append(&o, "-DDISKS_MOVES=%d -DDISKS_SHUFFLE_SETS=%d",
                     (int)of_particle(first)->moves_per_cell, shape->shuffle_sets ? 1 : 0);
    if (!shape->shuffle)
        ergo_text_append(&o, " -DDISKS_NO_SHUFFLE");
    if (shape->leave)
        ergo_text_append(&o, " -DDISKS_LEAVE");
    if (shape->npt)
        ergo_text_append(&o, " -DDISKS_NPT%s", shape->per_axis ? " -DDISKS_PER_AXIS" : "");
    if (disks_reflects(first))
        ergo_text_append(&o, " -DDISKS_REFLECT");
    if (shape->confined.is)
        ergo_text_append(&o, " -DDISKS_WALLS%s", shape->confined.field ? " -DDISKS_FIELD" : "");
    if (shape->planes == 1)
        ergo_text_append(&o, " -DDISKS_PACKED");
    if (shape->rectangular)
        ergo_text_append(&o, " -DDISKS_RECTANGULAR");
    if (e->device->type == CL_DEVICE_TYPE_CPU)
        ergo_text_append(&o, " -DDISKS_CPU");
    /* so many cells have more than two disks that most rows of work-items wait for one */
    if (disks_per_cell > 1.25)
        ergo_text_append(&o, " -DDISKS_FULL");
    if (l->exact)
        ergo_text_append(&o, " -DDISKS_EXACT");
    if (l->path != DISKS_PATH_GLOBAL)
        ergo_text_append(&o, " -DDISKS_GROUP=%u", l->group);
    ergo_text_append(&o, " -DDISKS_SUM_GROUP=%u", l->sum_group);
    if (l->path == DISKS_PATH_LOCAL) {
        ergo_engine_kernel(e, DISKS_SWEEPS_LOCAL, "hard_disks/disks_local.cl", o.data,
                           "disks_local");
    } else {
        ergo_engine_kernel(e, DISKS_PLAN_SWEEPS, global, o.data, "disks_plans");
        ergo_engine_kernel(e, DISKS_SUBSWEEP, global, o.data, "disks_subsweep");
        ergo_engine_kernel(e, DISKS_SHIFT, global, o.data, "disks_shift");
    }
    if (l->path == DISKS_PATH_TILE)
        ergo_engine_kernel(e, DISKS_SWEEP_TILE, "hard_disks/disks_tile.cl", o.data, "disks_tile");
    ergo_engine_kernel(e, DISKS_MEASURE, measure, o.data, "disks_measure");
    if (!shape->confined.is) {
        ergo_engine_kernel(e, DISKS_PAIRS, measure, o.data, "disks_pairs");
        ergo_engine_kernel(e, DISKS_BLOCKS, measure, o.data, "disks_blocks");
    }
    if (shape->confined.field)
        ergo_engine_kernel(e, DISKS_ENERGY, confined, o.data, "disks_energy");
    if (l->profile_bins[ERGO_CONFINED_PROFILE])
        ergo_engine_kernel(e, DISKS_PROFILE, confined, o.data, "disks_profile");
    if (shape->npt && l->path != DISKS_PATH_LOCAL) {
        ergo_engine_kernel(e, DISKS_CLOSEST_PAIR, volume, o.data, "disks_closest");
        ergo_engine_kernel(e, DISKS_VOLUME_MOVE, volume, o.data, "disks_volume");
    }
    const bool failed = o.failed;
    ergo_text_free(&o);
    return failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options") : ERGO_OK;
}

/* ---- configure --------------------------------------------------------------------------------
 */

static enum ergo_status shape_members(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_launch *l = &s->launch;
    const struct ergo_batch *batch = s->e.batch;
    s->shapes = ergo_engine_memory(&s->e, batch->count, sizeof *s->shapes);
    s->members = ergo_engine_memory(&s->e, batch->count, sizeof *s->members);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < batch->count; i++) {
        struct disks_shape *shape = &s->shapes[i];
        char reason[300];
        if (!disks_shape_of(batch->points[i], shape, reason))
            return ERGO_FAIL(ctx, ERGO_E_JOB, "/system: %s", reason);
        const uint64_t cells = shape->all;
        disks_member_fill(batch->points[i], shape, &s->members[i]);
        s->members[i].first = (uint32_t)l->all_cells;
        if (disks_start_is_random(batch->points[i])) {
            struct disks_shape grid;
            disks_growth_shape(shape, &grid);
            l->start_cells += grid.all;
        }
        l->most_cells = cells > l->most_cells ? (uint32_t)cells : l->most_cells;
        for (int k = 0; k < 2; k++)
            l->most_half[k] = shape->half[k] > l->most_half[k] ? shape->half[k] : l->most_half[k];
        l->all_cells += cells;
    }
    const uint64_t numbered = l->start_cells > l->all_cells ? l->start_cells : l->all_cells;
    if (numbered > UINT32_MAX)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a batch of %zu systems has %llu cells, which are numbered with 32 bits: "
                         "use fewer replicas or scan points",
                         batch->count, (unsigned long long)numbered);
    return ERGO_OK;
}

static void describe(const struct disks_state *s, struct ergo_plan *plan) {
    const struct disks_launch *l = &s->launch;
    const size_t members = s->e.batch->count;
    if (l->path == DISKS_PATH_LOCAL) {
        snprintf(plan->path, sizeof plan->path, "local");
        const uint64_t about = ergo_plan_launch(plan, l->launch_sweeps);
        plan->launches_per_step = 1.0 / (double)about;
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu work-groups of %u, a system each in local memory, about %llu sweeps a launch",
                 members, l->group, (unsigned long long)about);
    } else if (l->path == DISKS_PATH_TILE) {
        snprintf(plan->path, sizeof plan->path, "tile");
        plan->launches_per_step = 1.0;
        snprintf(
            plan->launch, sizeof plan->launch,
            "%zu x %u tiles of up to %u x %u cells in local memory, work-groups of %u, a sweep a "
            "launch",
            members, l->tiles, 2 * l->tile[0], 2 * l->tile[1], l->group);
    } else {
        snprintf(plan->path, sizeof plan->path, "global");
        plan->launches_per_step = 5.0;
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu x %u cells of a set in groups of %u, a sub-sweep a launch", members,
                 l->most_cells / 4, l->group);
    }
    if (s->shapes[0].npt && l->path != DISKS_PATH_LOCAL)
        plan->launches_per_step += 2.0 / s->shapes[0].volume_every;
}

enum ergo_status disks_configure(struct ergo_context *ctx, void *state) {
    struct disks_state *s = state;
    struct disks_launch *l = &s->launch;
    struct ergo_plan *plan = &s->e.plan;
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    enum ergo_status status = shape_members(ctx, s);
    s->kind = &disks_kind;
    if (status != ERGO_OK)
        return status;
    const size_t cell_bytes = ERGO_HARD_BYTES * s->shapes[0].planes;
    l->plans = 256;
    status = choose_path(ctx, s->e.batch, device, s->shapes, cell_bytes, l);
    if (status != ERGO_OK)
        return status;
    plan_samples(first, gpu, device->quirks.loop_limit ? UINT32_MAX : gpu ? 131072 : 64, l);

    const double per_second = (gpu ? 2e8 : 1e7) * (double)(d->compute_units ? d->compute_units : 1);
    plan->work_per_step = (double)l->all_cells * (double)of_particle(first)->moves_per_cell;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / plan->work_per_step));
    l->launch_sweeps = 100000;
    l->pair_rows = 1u << 30;
    if (device->quirks.loop_limit && !heed_loop_limit(s->e.batch, device->quirks.loop_limit, l))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends a kernel's loops after %llu iterations, too few for this "
                         "job: use fewer /system/moves_per_cell, a smaller /run/gr_max or "
                         "/run/block_cells, a larger /tuning/work_group, or another device",
                         d->name, d->id, (unsigned long long)device->quirks.loop_limit);

    /* Sweeps of a start per call: a tenth of a second if they are ten times as slow. While it
     * grows, the start has two copies of its cells. */
    l->start_sweeps = (uint32_t)fmin(fmax(1.0, floor(0.1 * plan->block_steps)), ERGO_HARD_ASK);
    plan->largest_buffer = l->start_cells * cell_bytes;
    plan->device_bytes = 2 * l->start_cells * cell_bytes;
    plan->host_bytes = 64 * (uint64_t)l->most_cells;
    describe(s, plan);
    /* cells around each cell that are looked at for pairs */
    ergo_pace_start(&s->e.curve_pace, 0.1 * per_second / (double)l->all_cells);
    s->e.curve_interval = disks_curve_every(first);
    s->e.curve_row_bytes = disks_order_every(first) ? disks_order_bytes(first) : 0;
    declare_buffers(s);
    return declare_kernels(ctx, s);
}
