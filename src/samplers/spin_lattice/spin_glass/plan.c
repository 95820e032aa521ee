/* Spin glasses: how a batch runs on a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/spin_glass/glass.h"

enum { PATH_LOCAL = 1 };

size_t glass_lattice_bytes(const struct glass_shape *s) {
    return 16 * s->quads * (size_t)s->sites;
}

size_t glass_packed_length(const struct glass_shape *s) {
    return 2 * s->d * (size_t)s->sites * (s->real ? 32 : 1);
}

/* Samples in use of the last word-lattice here. */
uint32_t glass_last(const struct glass_shape *s) {
    return glass_lanes(s, s->first + s->words - 1);
}

cl_uint2 glass_words_here(const struct glass_shape *s) {
    return (cl_uint2){{s->words, s->first}};
}

size_t glass_lattices(const struct glass_state *s) {
    return s->batch->count * s->shape.words;
}

/* ---- plan ------------------------------------------------------------------------------------ */

uint32_t glass_power_of_two(uint64_t n, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (2 * (uint64_t)p <= n && 2 * p <= most)
        p *= 2;
    return p;
}

/* Spin updates per ns, roughly: only the length of blocks and launches depends on it. */
static double rate_of(const struct glass_shape *s, bool gpu, double units) {
    return (gpu ? 1500.0 : 0.4 * units) * (s->real ? 0.1 : 1);
}

/* Local memory of a whole ladder: room, and a number and a word for each sample of each slot. */
size_t glass_ladder_bytes(const struct glass_shape *s, const struct glass_launch *l) {
    return 16 * l->ladder_room + 8 * 32 * 4 * (size_t)s->quads;
}

/* May a group have the whole ladder? Work-items have five sites of a colour at most (their counters
 * begin with five planes), groups 512: with 1,024, registers are short and it is slower (H200). */
static bool plan_ladder(const struct glass_shape *s, const struct ergo_device_summary *d,
                        struct glass_launch *l) {
    const uint64_t most = d->largest_group < 512 ? d->largest_group : 512;
    const uint64_t each = (s->half * s->quads + most - 1) / most;
    if (each > 5 || s->half > 512)
        return false;
    l->ladder_lanes = (uint32_t)((s->half + each - 1) / each);
    l->count_levels = 0;
    while (l->count_levels < 4 && 2u << l->count_levels <= l->ladder_lanes)
        l->count_levels++;
    /* one colour; planes that the lower lanes are given; planes of the last ones, added up */
    const size_t sums = (size_t)GLASS_ROOM_8 << l->count_levels;
    size_t room = (size_t)s->half > sums ? (size_t)s->half : sums;
    size_t planes = each == 1 ? 3 : each == 2 ? 4 : 5;
    for (size_t width = l->ladder_lanes; width > (size_t)1 << l->count_levels; width -= width / 2) {
        if (planes * (width / 2) > room)
            room = planes * (width / 2);
        planes++;
    }
    l->ladder_room = room * s->quads;
    return glass_ladder_bytes(s, l) + 32 * s->quads <= d->local_memory;
}

static enum ergo_status plan_launch(struct ergo_context *ctx, const struct glass_shape *s,
                                    const struct ergo_batch *batch,
                                    const struct ergo_device *device, struct glass_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const int64_t path = ergo_point_int(batch->points[0], "/tuning/path");
    const int64_t wish = ergo_point_int(batch->points[0], "/tuning/work_group");
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)batch->count * s->words;
    const uint32_t most = d->largest_group < 256 ? (uint32_t)d->largest_group : 256;
    const bool fits = 16 * s->sites + 64 <= d->local_memory;
    if (path == PATH_LOCAL && !fits)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 1 keeps %llu sites of four slots in local memory, %llu "
                         "bytes; %s has %llu",
                         (unsigned long long)s->sites, (unsigned long long)(16 * s->sites), d->name,
                         (unsigned long long)d->local_memory);
    l->local = path ? path == PATH_LOCAL : fits;
    l->group = glass_power_of_two(s->half, 1, gpu ? (l->local ? most : 128) : 16);
    if (wish && wish < l->group)
        l->group = (uint32_t)wish;
    l->levels = gpu ? 6 : 5; /* at least 32: real couplings have a work-item per sample */
    if (d->largest_group < 64)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s runs work-groups of up to %llu; spin glasses need 64", d->name,
                         (unsigned long long)d->largest_group);
    /* Adding up a group's counters costs as much as some 10 sites of each work-item: so many
     * work-items that all units are busy, and no more; of 42 sites at most (255 / 6). */
    const double size = (double)(1u << l->levels), half = (double)s->half;
    const double share = (gpu ? 0x1p15 : 1) / (lattices * s->quads * size);
    const double many = fmax(1, fmin(ceil(share), floor(half / (4 * size))));
    l->parts = (uint32_t)fmax(many, s->real ? 1 : ceil(half / (42 * size)));
    /* Whole ladders: a group for each, where that keeps the device busy or local memory is asked
     * for. */
    l->whole = l->local && !s->real && s->temperatures > 1 && !glass_shares_ladder(s) &&
               (path == PATH_LOCAL || lattices >= 0.75 * d->compute_units) &&
               !device->quirks.many_barriers_unreliable && plan_ladder(s, d, l);
    /* iterations of all loops of a work-item in one launch */
    const double loops = l->whole ? 128 /* exchanges in every sweep */
                                  : 2 * (half / l->group + 2) * (s->real ? 33 * 2.0 * s->d : 1);
    l->launch_sweeps = 1024;
    if (device->quirks.loop_limit)
        l->launch_sweeps = (uint64_t)fmax(1, (double)device->quirks.loop_limit / 2 / loops);
    return ERGO_OK;
}

enum ergo_status glass_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                   const struct ergo_device *device, const struct glass_shape *h,
                                   struct glass_launch *launch, struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct glass_shape s = *h;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)batch->count * s.words, slots = 4.0 * s.quads;
    struct glass_launch l = {0};
    enum ergo_status status = plan_launch(ctx, &s, batch, device, &l);
    memset(plan, 0, sizeof *plan);
    if (status != ERGO_OK)
        return status;
    const double work = (double)s.sites * s.samples * glass_all_slots(&s) * (double)batch->count;
    const double own = work / ((double)s.all * glass_all_slots(&s)) * s.words * s.slots;
    const double ends = (double)glass_border_bytes(&s, batch->count);
    const double spins = (double)glass_lattice_bytes(&s) * lattices;
    const double couplings = 4 * (double)glass_packed_length(&s) * lattices;
    const double records = lattices * slots * 32;
    const double energies = 8 * records * l.parts, counts = 8 * records * s.layers;
    const double moves = 128 * lattices * (double)glass_move_rows(&s);
    l.records = (size_t)records;
    l.block_samples = (size_t)fmax(1, fmin(256, 0x1p26 / (GLASS_RECORD_BYTES * records)));
    plan->block_steps = fmax(1, floor(0.1e9 * rate_of(&s, gpu, d->compute_units) / own));
    if ((double)l.launch_sweeps > plan->block_steps)
        l.launch_sweeps = (uint64_t)plan->block_steps;
    plan->largest_buffer = (uint64_t)fmax(
        fmax(spins, couplings),
        fmax(fmax(energies, counts), GLASS_RECORD_BYTES * records * (double)l.block_samples));
    plan->device_bytes = (uint64_t)(spins + couplings + energies + counts +
                                    2 * GLASS_RECORD_BYTES * records * (double)l.block_samples +
                                    lattices * (148 * slots + 8.0 * s.slots + 32) + moves + ends);
    plan->host_bytes = (uint64_t)(2 * GLASS_RECORD_BYTES * records * (double)l.block_samples +
                                  2 * spins + couplings + 2 * ends + 3 * moves +
                                  16 * lattices * (double)glass_sums_length(&s) +
                                  moves / 8 * (double)l.block_samples);
    plan->block_samples = l.block_samples;
    plan->work_per_step = work;
    plan->launches_per_step = l.local ? 1.0 / s.swap_every : 2;
    snprintf(plan->path, sizeof plan->path, "%s", l.local ? "local" : "global");
    snprintf(plan->launch, sizeof plan->launch,
             "%.0f word-lattices of 32 samples, %u temperatures x %u copies, %s", lattices,
             s.temperatures, s.copies,
             l.local ? "a work-group for four slots" : "half a sweep per launch");
    if ((double)plan->largest_buffer > (double)d->largest_buffer ||
        (double)plan->device_bytes > (double)d->global_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) cannot hold this batch: it needs %.3g MiB, the largest buffer "
                         "%.3g; the device has %.3g and allows %.3g MiB. Use a smaller lattice, "
                         "fewer samples, temperatures, replicas or scan points, or another device",
                         d->name, d->id, (double)plan->device_bytes / 1048576,
                         (double)plan->largest_buffer / 1048576, (double)d->global_memory / 1048576,
                         (double)d->largest_buffer / 1048576);
    *launch = l;
    return ERGO_OK;
}

enum ergo_status glass_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                            const struct ergo_device *device, struct ergo_plan *plan) {
    struct glass_launch launch;
    const struct glass_shape s = glass_shape_of(batch->points[0]);
    return glass_launch_plan(ctx, batch, device, &s, &launch, plan);
}
