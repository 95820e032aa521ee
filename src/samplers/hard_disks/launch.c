/* Which kernels run a batch on a device, and with what launch shape: speed, never the chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

uint32_t disks_tile_room(const uint32_t tile[2]) {
    return 4 * (tile[0] + 4) * (tile[1] + 4);
}

static bool fits_local(uint64_t cells, size_t cell_bytes, const struct ergo_device_summary *d) {
    return cells * cell_bytes + 256 <= d->local_memory;
}

/* A tile for every compute unit, if that makes neither rims of nothing but rim nor tiles too large
 * for local memory. False: not even small ones fit. */
static bool choose_tile(const struct ergo_batch *batch, const struct ergo_device_summary *d,
                        size_t cell_bytes, struct disks_launch *l) {
    const uint32_t wish = (uint32_t)ergo_point_int(batch->points[0], "/tuning/tile") & ~1u;
    const uint32_t half = l->most_half;
    const double units = fmax(1.0, (double)d->compute_units / (double)batch->count);
    const uint32_t across = (uint32_t)sqrt(units), along = (uint32_t)(units / across);
    l->tile[0] = wish ? wish / 2 : (half + along - 1) / along;
    l->tile[1] = wish ? wish / 2 : (half + across - 1) / across;
    for (int i = 0; i < 2; i++) {
        if (!wish && l->tile[i] < 8)
            l->tile[i] = 8;
        if (!wish && l->tile[i] > 12)
            l->tile[i] = 12;
        l->tile[i] = l->tile[i] < half ? l->tile[i] : half;
        if (l->tile[i] == 0) /* a batch of nothing */
            return false;
    }
    while (!fits_local(disks_tile_room(l->tile), cell_bytes, d)) {
        if (wish || l->tile[0] <= 4 || l->tile[1] <= 4)
            return false;
        l->tile[0]--;
        l->tile[1]--;
    }
    l->tiles = ((half + l->tile[0] - 1) / l->tile[0]) * ((half + l->tile[1] - 1) / l->tile[1]);
    return true;
}

/* A launch costs some 20 us on a CPU and 3 us on a GPU, five of them a sweep on the global path and
 * one on the tile path, which repeats the moves of its rims; the local path works on a member with
 * one group only. */
static enum ergo_status choose_path(struct ergo_context *ctx, const struct ergo_batch *batch,
                                    const struct ergo_device *device, size_t cell_bytes,
                                    struct disks_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    const bool local = fits_local(2 * (uint64_t)l->most_cells, cell_bytes, d);
    const bool tile =
        choose_tile(batch, d, cell_bytes, l) && !ergo_point_bool(first, "/system/leave_cell");
    const unsigned units = d->compute_units ? d->compute_units : 1;
    if (ergo_point_int(first, "/tuning/tile") % 2)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "/tuning/tile: found %lld; allowed: an even number",
                         (long long)ergo_point_int(first, "/tuning/tile"));
    l->path = (enum disks_path)ergo_point_int(first, "/tuning/path");
    if (l->path == DISKS_PATH_LOCAL && !local)
        l->path = DISKS_PATH_AUTO;
    if (l->path == DISKS_PATH_TILE && !tile)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "/tuning/path 2 with /tuning/tile %lld: %s",
                         (long long)ergo_point_int(first, "/tuning/tile"),
                         ergo_point_bool(first, "/system/leave_cell")
                             ? "tiles need disks that stay in their cells"
                             : "tiles and their rims do not fit into this device's local memory");
    if (l->path == DISKS_PATH_AUTO)
        l->path = local && (gpu || batch->count >= units || l->most_cells <= 1024)
                      ? DISKS_PATH_LOCAL
                  : tile && gpu && l->all_cells <= 1024 * (uint64_t)units ? DISKS_PATH_TILE
                                                                          : DISKS_PATH_GLOBAL;
    if (l->path == DISKS_PATH_LOCAL)
        l->group = wish                        ? wish
                   : gpu                       ? ergo_power_of_two_up(l->most_cells / 4, 32, 256)
                   : device->quirks.loop_limit ? 8 /* a vector of llvmpipe's */
                                               : 1;
    else if (l->path == DISKS_PATH_TILE)
        l->group = wish  ? wish
                   : gpu ? ergo_power_of_two_up((l->tile[0] + 3) * (l->tile[1] + 3), 32, 256)
                         : 8;
    else
        l->group = wish ? wish : gpu ? 128 : 64;
    while (l->group > d->largest_group)
        l->group /= 2;
    /* on GPUs four rows, next to each other in memory's cache (an H200: 0.2 to 0.8 percent) */
    const uint32_t cells = l->path == DISKS_PATH_GLOBAL ? l->group : 64;
    l->rows = gpu && cells >= 64 ? 4 : 1;
    l->row = ergo_power_of_two_up(l->most_half, 1, cells / l->rows);
    l->exact = l->most_half % l->row == 0 && l->most_half % l->rows == 0 &&
               l->all_cells == batch->count * (uint64_t)l->most_cells;
    return ERGO_OK;
}

static void plan_samples(const struct ergo_point *first, uint64_t members, bool gpu,
                         uint64_t most_items, struct disks_launch *l, struct ergo_plan *plan) {
    const uint64_t interval = (uint64_t)ergo_point_int(first, "/run/curves_every");
    const double room = 64.0 * 1048576.0;
    uint64_t curve_bytes = 0;
    for (size_t c = 0; c < DISKS_CURVES; c++) {
        l->bins[c] = interval ? (uint32_t)disks_curve_size(first, c) : 0;
        curve_bytes += 4 * members * l->bins[c];
    }
    /* enough work-items for the device, each with some cells */
    const uint64_t wish = gpu ? (l->most_cells + 3) / 4 : (l->most_cells + 15) / 16;
    const uint64_t items = wish < most_items ? wish : most_items;
    l->sum_group = gpu ? 64 : 8;
    l->sums = (uint32_t)((items + l->sum_group - 1) / l->sum_group);
    const uint64_t sample_bytes = sizeof(struct disks_sum) * members * l->sums;
    double samples = fmin(1024.0, fmax(1.0, room / (double)sample_bytes));
    if (curve_bytes) {
        const double curves = fmax(1.0, room / (double)curve_bytes);
        samples = fmin(samples, fmin(1024.0, curves) * (double)interval);
        l->curve_capacity = (uint32_t)((samples - 1.0) / (double)interval) + 1;
    }
    l->block_samples = (size_t)samples;
    plan->block_samples = l->block_samples;
    plan->host_bytes = 2 * (sample_bytes * l->block_samples + curve_bytes * l->curve_capacity) +
                       64 * (uint64_t)l->most_cells;
    plan->device_bytes = 2 * (sample_bytes * l->block_samples + curve_bytes * l->curve_capacity);
}

/*
 * Where loops end by themselves (struct ergo_quirks), no launch may come near: at worst, a move
 * looks for the rest of nine neighbours, and a pair of cells has twenty pairs of disks. (Cells of a
 * measurement's item: plan_samples.) False: a loop that no launch shape makes shorter is too long.
 */
static bool heed_loop_limit(const struct ergo_batch *batch, uint64_t limit,
                            struct disks_launch *l) {
    const struct ergo_point *first = batch->points[0];
    const uint64_t moves = (uint64_t)ergo_point_int(first, "/system/moves_per_cell");
    const uint64_t block = (uint64_t)ergo_point_int(first, "/run/block_cells");
    const uint64_t cell = 4 + 11 * moves;
    uint64_t row = 0, sweep = 4 + cell; /* iterations of a work-item */
    if (l->path == DISKS_PATH_LOCAL)
        sweep = 4 * ((l->most_cells / 4 + l->group - 1) / l->group) * (cell + 10) + 8;
    else if (l->path == DISKS_PATH_TILE)
        sweep = (disks_tile_room(l->tile) / l->group + 4) * (cell + 2) + 8;
    for (size_t i = 0; i < batch->count; i++) {
        struct disks_shape s = {0};
        struct disks_member member = {0};
        char reason[300];
        if (!disks_shape_of(batch->points[i], &s, reason))
            continue; /* has been refused */
        disks_member_fill(batch->points[i], &s, &member);
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

enum ergo_status disks_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                   const struct ergo_device *device, struct disks_launch *launch,
                                   struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t moves = (uint32_t)ergo_point_int(first, "/system/moves_per_cell");
    struct disks_launch l = {.plans = 256};
    struct disks_shape s = {0};
    memset(plan, 0, sizeof *plan);
    for (size_t i = 0; i < batch->count; i++) {
        char reason[300];
        if (!disks_shape_of(batch->points[i], &s, reason))
            return ERGO_FAIL(ctx, ERGO_E_JOB, "/system: %s", reason);
        const uint64_t cells = (uint64_t)s.cells * s.cells;
        if (disks_start_is_random(batch->points[i])) {
            struct disks_shape grid;
            disks_growth_shape(&s, &grid);
            l.start_cells += (uint64_t)grid.cells * grid.cells;
        }
        l.most_cells = cells > l.most_cells ? (uint32_t)cells : l.most_cells;
        l.most_half = s.half > l.most_half ? s.half : l.most_half;
        l.all_cells += cells;
    }
    l.look_cells = l.most_cells;
    const uint64_t numbered = l.start_cells > l.all_cells ? l.start_cells : l.all_cells;
    if (numbered > UINT32_MAX)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a batch of %zu systems has %llu cells, which are numbered with 32 bits: "
                         "use fewer replicas or scan points",
                         batch->count, (unsigned long long)numbered);
    const size_t cell_bytes = DISKS_PLANE_BYTES * disks_planes(&s);
    const uint64_t bytes = l.all_cells * cell_bytes;
    const enum ergo_status status = choose_path(ctx, batch, device, cell_bytes, &l);
    if (status != ERGO_OK)
        return status;
    plan_samples(first, batch->count, gpu,
                 device->quirks.loop_limit ? UINT32_MAX
                 : gpu                     ? 131072
                                           : 64,
                 &l, plan);

    plan->work_per_step = (double)l.all_cells * moves;
    const double per_second = (gpu ? 2e8 : 1e7) * (double)(d->compute_units ? d->compute_units : 1);
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / plan->work_per_step));
    l.launch_sweeps = (uint64_t)fmin(plan->block_steps, 1e5);
    l.pair_rows = 1u << 30;
    if (device->quirks.loop_limit && !heed_loop_limit(batch, device->quirks.loop_limit, &l))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends a kernel's loops after %llu iterations, too few for this "
                         "job: use fewer /system/moves_per_cell, a smaller /run/gr_max or "
                         "/run/block_cells, a larger /tuning/work_group, or another device",
                         d->name, d->id, (unsigned long long)device->quirks.loop_limit);

    /* of a start, sweeps that take a tenth of a second where they are ten times as slow */
    l.start_sweeps = (uint32_t)fmin(fmax(1.0, floor(0.1 * plan->block_steps)), DISKS_START_ASK);
    const uint64_t start_bytes = l.start_cells * cell_bytes;
    plan->largest_buffer = bytes > start_bytes ? bytes : start_bytes;
    plan->device_bytes += 2 * start_bytes + bytes * (l.path == DISKS_PATH_LOCAL ? 1 : 2) +
                          4 * l.all_cells +
                          batch->count * (sizeof(struct disks_member) + 16 + 4 * l.plans);
    if (l.path == DISKS_PATH_LOCAL) {
        snprintf(plan->path, sizeof plan->path, "local");
        plan->launches_per_step = 1.0 / (double)l.launch_sweeps;
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu work-groups of %u, a system each in local memory, up to %llu sweeps a launch",
                 batch->count, l.group, (unsigned long long)l.launch_sweeps);
    } else if (l.path == DISKS_PATH_TILE) {
        snprintf(plan->path, sizeof plan->path, "tile");
        plan->launches_per_step = 1.0;
        snprintf(
            plan->launch, sizeof plan->launch,
            "%zu x %u tiles of up to %u x %u cells in local memory, work-groups of %u, a sweep a "
            "launch",
            batch->count, l.tiles, 2 * l.tile[0], 2 * l.tile[1], l.group);
    } else {
        snprintf(plan->path, sizeof plan->path, "global");
        plan->launches_per_step = 5.0;
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu x %u cells of a set in groups of %u, a sub-sweep a launch", batch->count,
                 l.most_cells / 4, l.group);
    }
    if (plan->largest_buffer > d->largest_buffer || plan->device_bytes > d->global_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) cannot hold this batch: its cells need a buffer of %.3g MiB and "
                         "%.3g MiB in all; the device allows %.3g and has %.3g MiB. Use fewer "
                         "disks, replicas or scan points, or another device",
                         d->name, d->id, (double)plan->largest_buffer / 1048576,
                         (double)plan->device_bytes / 1048576, (double)d->largest_buffer / 1048576,
                         (double)d->global_memory / 1048576);
    *launch = l;
    return ERGO_OK;
}
