/* Which kernels run a batch on a device, and with what launch shape: speed, never the chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

/* Bytes of local memory that a member's cells take, twice (the shift is from one copy to another),
 * and that the device has for them. */
static bool fits_local(const struct disks_launch *l, size_t cell_bytes,
                       const struct ergo_device_summary *d) {
    return 2 * (uint64_t)l->most_cells * cell_bytes + 256 <= d->local_memory;
}

/* A launch costs some 20 us on a CPU and 5 us on a GPU, five of them a sweep on the global path;
 * the local path works on a member with one group only. */
static void choose_path(const struct ergo_batch *batch, const struct ergo_device *device,
                        size_t cell_bytes, struct disks_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    const bool fits = fits_local(l, cell_bytes, d);
    const unsigned units = d->compute_units ? d->compute_units : 1;
    l->path = (enum disks_path)ergo_point_int(first, "/tuning/path");
    if (l->path == DISKS_PATH_LOCAL && !fits)
        l->path = DISKS_PATH_AUTO;
    if (l->path == DISKS_PATH_AUTO || l->path == 2)
        l->path = fits && (gpu || batch->count >= units || l->most_cells <= 1024)
                      ? DISKS_PATH_LOCAL
                      : DISKS_PATH_GLOBAL;
    if (l->path == DISKS_PATH_LOCAL)
        l->group = wish ? wish : gpu ? ergo_power_of_two_up(l->most_cells / 4, 32, 256) : 1;
    else
        l->group = wish ? wish : 64;
    while (l->group > d->largest_group)
        l->group /= 2;
}

static void plan_samples(const struct ergo_point *first, uint64_t members, bool gpu,
                         struct disks_launch *l, struct ergo_plan *plan) {
    const uint64_t interval = (uint64_t)ergo_point_int(first, "/run/curves_every");
    const double room = 64.0 * 1048576.0;
    uint64_t curve_bytes = 0;
    for (size_t c = 0; c < DISKS_CURVES; c++) {
        l->bins[c] = interval ? (uint32_t)disks_curve_size(first, c) : 0;
        curve_bytes += 4 * members * l->bins[c];
    }
    /* partial sums: enough work-items for the device, each with some cells */
    const uint64_t wish = (l->most_cells + 15) / 16, most = gpu ? 16384 : 64;
    l->items = (uint32_t)(wish < most ? wish : most);
    const uint64_t sample_bytes = sizeof(struct disks_sum) * members * l->items;
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
        if (cells > UINT32_MAX / 8)
            return ERGO_FAIL(ctx, ERGO_E_DEVICE, "%llu cells: cells are numbered with 32 bits",
                             (unsigned long long)cells);
        l.most_cells = cells > l.most_cells ? (uint32_t)cells : l.most_cells;
        l.all_cells += cells;
    }
    if (l.all_cells > UINT32_MAX)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a batch of %zu systems has %llu cells, which are numbered with 32 bits: "
                         "use fewer replicas or scan points",
                         batch->count, (unsigned long long)l.all_cells);
    const uint64_t bytes = l.all_cells * disks_cell_bytes(&s);
    choose_path(batch, device, disks_cell_bytes(&s), &l);
    plan_samples(first, batch->count, gpu, &l, plan);

    plan->work_per_step = (double)l.all_cells * moves;
    const double per_second = (gpu ? 2e8 : 1e7) * (double)(d->compute_units ? d->compute_units : 1);
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / plan->work_per_step));
    l.launch_sweeps = (uint64_t)fmin(plan->block_steps, 1e5);

    plan->largest_buffer = bytes;
    plan->device_bytes += bytes * (l.path == DISKS_PATH_GLOBAL ? 2 : 1) + 4 * l.all_cells +
                          batch->count * (sizeof(struct disks_member) + 16 + 4 * l.plans);
    if (l.path == DISKS_PATH_LOCAL) {
        snprintf(plan->path, sizeof plan->path, "local");
        plan->launches_per_step = 1.0 / (double)l.launch_sweeps;
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu work-groups of %u, a system each in local memory, up to %llu sweeps a launch",
                 batch->count, l.group, (unsigned long long)l.launch_sweeps);
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
