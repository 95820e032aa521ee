/* How a batch is launched on a device, and the memory it takes. Speed, never the chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

/* Bins of g(r): a whole number up to the cutoff, so that the cutoff is an edge; beyond it to twice
 * the cutoff or half the shortest side. */
uint32_t lj_bins(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const int64_t to_cutoff = ergo_point_int(point, "/run/gr_bins");
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2]));
    if (ergo_point_int(point, "/run/curve_every") == 0)
        return 0;
    const double bins = floor(fmin(2.0, shortest / 2 / s.cutoff) * (double)to_cutoff * (1 + 1e-12));
    return (uint32_t)bins;
}

/* P(N) up to 1.2 particles per sigma^3, and never beyond the most a chain can have (room.c); in at
 * most 1024 bins. */
size_t lj_histogram_size(const struct lj_system *s, uint32_t *width) {
    const double dense =
        fmin(1.2 * s->volume / (s->sigma * s->sigma * s->sigma), LJ_MOST_PARTICLES) + 16;
    *width = (uint32_t)ceil(dense / 1024);
    return (size_t)ceil(dense / *width);
}

static uint32_t power_of_two_down(double n, uint32_t most) {
    uint32_t p = 1;
    while (p * 2 <= most && p * 2 <= n)
        p *= 2;
    return p;
}

/* Work-items of a chain: a launch that fills the device wants few (latency is hidden by the other
 * chains), a lone chain many. CPUs run a work-group's items one after the other. */
static uint32_t choose_group(const struct ergo_device *device, size_t members, int64_t wish) {
    const struct ergo_device_summary *d = &device->summary;
    const uint32_t most = (uint32_t)(d->largest_group < 1024 ? d->largest_group : 1024);
    const double units = d->compute_units ? d->compute_units : 1;
    if (wish)
        return power_of_two_down((double)wish, most);
    if (device->quirks.loop_limit) /* llvmpipe: eight work-items to a vector */
        return power_of_two_down(8, most);
    if (device->type == CL_DEVICE_TYPE_CPU)
        return 1;
    return power_of_two_down(fmax(32, fmin(512, 512 * units / (double)members)), most);
}

/* Two work-items find a core soon enough, and most moves hit one: measured on an H200. */
static uint32_t choose_teams(const struct ergo_device *device, const struct lj_launch *l,
                             int64_t wish) {
    if (wish)
        return (uint32_t)wish < l->group ? (uint32_t)wish : l->group;
    if (device->quirks.loop_limit || device->type == CL_DEVICE_TYPE_CPU)
        return 1;
    return power_of_two_down(fmax(1, l->group / 2.0), 16);
}

static double largest_start(const struct ergo_batch *batch) {
    double n = 0;
    for (size_t i = 0; i < batch->count; i++)
        n = fmax(n, (double)ergo_point_int(batch->points[i], "/system/particles"));
    return n;
}

static enum ergo_status refuse(struct ergo_context *ctx, const struct ergo_device *device,
                               const struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    return ERGO_FAIL(
        ctx, ERGO_E_DEVICE,
        "%s (%s) cannot hold this batch: it needs a buffer of %.3g MiB and %.3g MiB in "
        "all; the device allows %.3g and has %.3g MiB. Use a smaller box, fewer "
        "replicas or scan points, less room at the start (/tuning/slots, "
        "/tuning/capacity), or another device",
        d->name, d->id, (double)plan->largest_buffer / 1048576,
        (double)plan->device_bytes / 1048576, (double)d->largest_buffer / 1048576,
        (double)d->global_memory / 1048576);
}

/* Seconds a move takes, roughly: only the length of launches depends on it. */
static double move_seconds(const struct lj_system *s, const struct lj_grid *grid,
                           const struct ergo_device *device, const struct lj_launch *l,
                           size_t members) {
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double cutoff = s->cutoff / s->sigma;
    const double looked_at = grid->n_offsets;
    const double pairs = fmin(0.7 * 4.19 * cutoff * cutoff * cutoff, 0.7 * s->volume);
    if (device->type == CL_DEVICE_TYPE_CPU)
        return (2e-7 + 4e-9 * looked_at + 5e-9 * pairs) * ceil((double)members / units);
    const double rounds = ceil((double)members / (units * 16));
    return rounds * (1e-6 + 5e-8 * (looked_at + pairs) / l->group);
}

/* Where loops end by themselves (struct ergo_quirks), no launch may come near: loop iterations of a
 * work-item in one move, at worst. */
uint64_t lj_launch_steps(const struct ergo_device *device, const struct lj_grid *grid,
                         const struct lj_launch *l, uint32_t slots) {
    if (l->board_blocks)
        return 1;
    if (!device->quirks.loop_limit)
        return l->launch_steps;
    const uint64_t items = l->group / l->teams;
    const uint64_t visits =
        (l->energies ? 3 : 2) * (grid->n_offsets / items + 2) * (1 + slots) + 3 * slots;
    const uint64_t most = device->quirks.loop_limit / (visits + 301 + items + 4 * l->teams);
    return l->launch_steps < most ? l->launch_steps : most;
}

/* One warp an active cell: they are so many that a device is full. */
static void plan_board(const struct ergo_point *point, const struct lj_system *s,
                       const struct ergo_device *device, struct lj_launch *l) {
    uint32_t blocks[3];
    const bool cpu = device->type == CL_DEVICE_TYPE_CPU;
    if (!cpu && !ergo_point_int(point, "/tuning/work_group"))
        l->group = 32;
    l->tile = lj_board_tile(s, ergo_point_int(point, "/tuning/tile"));
    l->board_blocks = lj_board_blocks(s, blocks);
}

static enum ergo_status check_board(struct ergo_context *ctx, const struct ergo_device *device,
                                    const struct lj_system *s, const struct lj_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const uint64_t local = lj_board_local_bytes(s, l, l->tile);
    if (local > d->local_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s): the neighbourhood of an active cell needs %llu bytes of local "
                         "memory, the device has %llu: use a shorter cutoff, fewer "
                         "/system/cell_trials, a smaller /tuning/tile or /tuning/work_group (or "
                         "0), or another device",
                         d->name, d->id, (unsigned long long)local,
                         (unsigned long long)d->local_memory);
    const uint64_t limit = device->quirks.loop_limit;
    if (limit && lj_board_visits(s, l, l->slots, l->tile) > limit)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends a kernel's loops after %llu iterations, too few for an "
                         "activation: use fewer /system/cell_trials, a shorter cutoff, a smaller "
                         "/tuning/tile or /tuning/slots, a larger /tuning/work_group (or 0), or "
                         "another device",
                         d->name, d->id, (unsigned long long)limit);
    return ERGO_OK;
}

enum ergo_status lj_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                const struct ergo_device *device, struct lj_grid *grid,
                                struct lj_launch *launch, struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const struct lj_system s = lj_system_of(first);
    struct lj_launch l = {0};
    memset(plan, 0, sizeof *plan);
    l.group = choose_group(device, batch->count, ergo_point_int(first, "/tuning/work_group"));
    if (s.period)
        plan_board(first, &s, device, &l);
    l.vector = device->type == CL_DEVICE_TYPE_CPU && l.group == 1;
    l.slotted = l.vector && !s.period;
    l.energies = !l.slotted && !s.period;
    l.teams = choose_teams(device, &l, ergo_point_int(first, "/tuning/teams"));
    /* vectors of eight like few long cells, work-items many small ones: see cl/lj_gcmc/gather.h */
    const int64_t wish = ergo_point_int(first, "/tuning/microcell");
    const double cutoff = s.cutoff / s.sigma;
    const double side = l.slotted ? cutoff : wish ? 0.01 * (double)wish : 1.0;
    const double box[3] = {s.box[0] / s.sigma, s.box[1] / s.sigma, s.box[2] / s.sigma};
    if (!(s.period ? lj_grid_board(grid, &s) : lj_grid_make(grid, box, cutoff, side)))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "no cell grid for this cutoff: it spans more than 127 cells; use a larger "
                         "/tuning/microcell");

    const double in_cell = s.volume / (s.sigma * s.sigma * s.sigma) / (double)grid->cells;
    const int64_t slots = ergo_point_int(first, "/tuning/slots");
    l.slots = slots ? (uint32_t)slots : (uint32_t)fmin(4096, ceil(1.2 * in_cell) + 3);
    if (l.slotted)
        l.slots = (l.slots + 7) / 8 * 8;
    const double dense = 1.0 * s.volume / (s.sigma * s.sigma * s.sigma);
    const double start = 1.3 * largest_start(batch);
    l.capacity = (uint32_t)fmin(LJ_MOST_PARTICLES, fmax(fmax(dense, start), 64));
    const int64_t room = ergo_point_int(first, "/tuning/capacity");
    if (room)
        l.capacity = (uint32_t)fmax((double)room, largest_start(batch));

    /* trial moves of a chain in a step */
    const double trials = l.board_blocks ? (double)l.board_blocks * s.trials : 1;
    const double units = d->compute_units ? d->compute_units : 1;
    const double seconds = l.board_blocks ? trials * (double)batch->count * 1e-6 / units + 1e-5
                                          : move_seconds(&s, grid, device, &l, batch->count);
    plan->block_steps = fmax(1, floor(0.1 / seconds));
    l.step_seconds =
        l.board_blocks ? seconds / (double)batch->count : move_seconds(&s, grid, device, &l, 1);
    l.launch_steps = l.board_blocks ? 1 : (uint64_t)fmin(plan->block_steps, 1e9);
    l.end_group = device->type == CL_DEVICE_TYPE_CPU ? 1 : d->largest_group >= 1024 ? 1024 : 256;
    l.total_group = device->type == CL_DEVICE_TYPE_CPU ? 1 : 64;
    l.total_parts = (uint32_t)fmin(
        64, fmax(1, ceil(4.0 * (d->compute_units ? d->compute_units : 1) / (double)batch->count)));
    if (device->quirks.loop_limit) { /* a particle per work-item */
        l.total_group = 256;
        l.total_parts = 64;
    }
    l.bins = lj_bins(first);
    const uint64_t members = batch->count;
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/curve_every");
    const uint64_t sample_bytes = members * sizeof(struct lj_sample);
    const uint64_t curve_bytes = members * l.total_parts * l.bins * sizeof(uint32_t);
    l.block_samples = (size_t)fmax(1, fmin(4096, (double)(32u << 20) / (double)sample_bytes));
    if (every) {
        /* the host keeps doubles of both curves and the histogram */
        uint32_t width;
        const uint64_t host = members * 8 * (2 * l.bins + lj_histogram_size(&s, &width));
        const double room_curves =
            fmax(1, (double)(128u << 20) / (double)(curve_bytes > host ? curve_bytes : host));
        if ((double)l.block_samples > room_curves * (double)every)
            l.block_samples = (size_t)(room_curves * (double)every);
        l.curve_capacity = (uint32_t)((l.block_samples - 1) / every + 1);
    }

    const uint64_t cells = 16 * grid->cells * l.slots * members;
    const uint64_t particles = 16ull * l.capacity * members;
    plan->largest_buffer = cells > particles ? cells : particles;
    plan->device_bytes = LJ_PART_BYTES * l.board_blocks * members + cells + particles +
                         (l.energies ? cells / 2 : 0) + 2 * l.block_samples * sample_bytes +
                         2 * l.curve_capacity * curve_bytes + members * 250;
    plan->host_bytes = plan->device_bytes - cells - particles;
    plan->block_samples = l.block_samples;
    plan->work_per_step = (double)members * trials;
    plan->launches_per_step = l.board_blocks ? 2 : 1.0 / (double)l.launch_steps;
    snprintf(plan->path, sizeof plan->path, "%s",
             l.board_blocks ? "checkerboard, a launch per activation"
             : l.slotted    ? "cells, many moves per launch"
                            : "microcells, many moves per launch");
    if (l.board_blocks)
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu chains, %llu active cells of 2 x 2 x 2 cells among %u x %u x %u, one "
                 "work-group of %u and %u trial moves for each",
                 batch->count, (unsigned long long)l.board_blocks, grid->n[0], grid->n[1],
                 grid->n[2], l.group, s.trials);
    else
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu chains, a work-group of %u each, %u moves at once; %u x %u x %u cells, %u "
                 "looked at, room for %u particles in each at first",
                 batch->count, l.group, l.teams, grid->n[0], grid->n[1], grid->n[2],
                 grid->n_offsets, l.slots);
    *launch = l;
    if (l.board_blocks && check_board(ctx, device, &s, &l) != ERGO_OK)
        return ERGO_E_DEVICE;
    if (lj_launch_steps(device, grid, &l, l.slots) == 0 ||
        (device->quirks.loop_limit && l.capacity > l.total_group * l.total_parts))
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "%s (%s) ends a kernel's loops after %llu iterations, too few for this "
            "box: use a smaller one, a smaller /tuning/slots (or 0), /tuning/microcell or "
            "/tuning/capacity (or 0), or another device",
            d->name, d->id, (unsigned long long)device->quirks.loop_limit);
    if (plan->largest_buffer > d->largest_buffer || plan->device_bytes > d->global_memory)
        return refuse(ctx, device, plan);
    return ERGO_OK;
}
