/* Launch shapes of a batch on a device. Choices here change the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

struct sw_shape sw_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    struct sw_shape s = {.lx = size->size[0],
                         .ly = size->size[1],
                         .q = (uint32_t)ergo_point_int(point, "/system/q")};
    while (1u << s.planes < s.q)
        s.planes++;
    s.row_words = (uint32_t)((s.lx + 31) / 32);
    s.tail = (uint32_t)(s.lx - 32 * ((int64_t)s.row_words - 1));
    s.words = s.row_words * (uint64_t)s.ly;
    s.sites = (uint64_t)s.lx * (uint64_t)s.ly;
    s.member_bytes = 4 * s.words * s.planes;
    return s;
}

/* A tile of about 64 work-items (GPU) and whole cache lines; less where the lattice is smaller or
 * local memory does not hold labels and sizes of 32 sites an item. */
static void choose_tile(const struct ergo_point *point, const struct sw_shape *s, bool gpu,
                        const struct ergo_device_summary *d, struct sw_launch *l) {
    const uint32_t wish_words = (uint32_t)ergo_point_int(point, "/tuning/tile_words");
    const uint32_t wish_rows = (uint32_t)ergo_point_int(point, "/tuning/tile_rows");
    l->tile_words = ergo_power_of_two_up(s->row_words, 1, wish_words ? wish_words : gpu ? 2 : 4);
    l->tile_rows = ergo_power_of_two_up((uint64_t)s->ly, 1, wish_rows ? wish_rows : 32);
    while (l->tile_rows > 1 && (260ull * l->tile_words * l->tile_rows + 256 > d->local_memory ||
                                l->tile_words * l->tile_rows > d->largest_group))
        l->tile_rows /= 2;
}

enum ergo_status sw_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                const struct ergo_device *device, struct sw_launch *launch,
                                struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const struct sw_shape s = sw_shape_of(first);
    const uint64_t members = batch->count;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = d->compute_units ? d->compute_units : 1;
    struct sw_launch l = {0};
    memset(plan, 0, sizeof *plan);

    if (s.words > (uint64_t)1 << 27)
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "a lattice of %lld x %lld has more than 2^32 sites (rows count as multiples "
            "of 32); labels on one device have 32 bits. Use a smaller lattice",
            (long long)s.lx, (long long)s.ly);

    l.equivalence = strcmp(ergo_point_text(first, "/system/labelling"), "label-equivalence") == 0;
    choose_tile(first, &s, gpu, d, &l);
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    l.group = ergo_power_of_two_up(s.words, 1, wish ? wish : gpu ? 128 : 32);
    while (l.group > 1 && l.group > d->largest_group)
        l.group /= 2;

    /* enough groups to use the device, few enough that their sums are small; and none that sees
     * 2^26 words */
    const uint64_t enough = (gpu ? 8 : 2) * (uint64_t)units;
    uint64_t groups =
        (s.words + (gpu ? 4 : 64) * (uint64_t)l.group - 1) / ((gpu ? 4 : 64) * (uint64_t)l.group);
    groups = groups > enough ? enough : groups;
    const uint64_t least = s.words / (1u << 25) + 1;
    l.sum_groups = (uint32_t)(groups < least ? least : groups);
    l.seam_entries = (uint32_t)s.ly + 32 * s.row_words;

    const double spins = (double)s.sites * (double)members;
    const double per_second = gpu ? 2e10 : 2e7 * units;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / spins));
    plan->block_steps = fmin(plan->block_steps, gpu ? 2000 : 500); /* launches cost, too */
    l.launch_sweeps = (uint64_t)plan->block_steps;

    const uint64_t sample_bytes =
        members * (4 * (uint64_t)l.sum_groups * (s.q + SW_CLUSTER_FIELDS) + 8 * l.seam_entries);
    l.block_samples = (size_t)fmax(1, fmin(4096, (double)(64u << 20) / (double)sample_bytes));
    const uint64_t labels = 128 * s.words * members;
    plan->largest_buffer = labels;
    plan->device_bytes =
        (s.member_bytes + 8 * s.words + 256 * s.words + SW_MEMBER_BYTES) * members +
        2 * sample_bytes * l.block_samples;
    plan->host_bytes =
        2 * sample_bytes * l.block_samples + 400 * s.words + s.member_bytes * members;
    plan->block_samples = l.block_samples;
    plan->work_per_step = spins;
    plan->launches_per_step = l.equivalence ? 16 : 4;
    snprintf(plan->path, sizeof plan->path, "%s", l.equivalence ? "label-equivalence" : "tiles");
    snprintf(plan->launch, sizeof plan->launch,
             "labels in tiles of %u x %u sites (work-groups of %u), then across them; other "
             "kernels: a word of 32 sites each, in groups of %u",
             32 * l.tile_words, l.tile_rows, l.tile_words * l.tile_rows, l.group);
    if (l.equivalence)
        snprintf(plan->launch, sizeof plan->launch,
                 "labels by scanning and analysis until nothing changes (work-groups of %u)",
                 l.group);
    if (plan->largest_buffer > d->largest_buffer || plan->device_bytes > d->global_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) cannot hold this batch: its labels need a buffer of %.3g MiB and "
                         "everything %.3g MiB; the device allows %.3g and has %.3g MiB. Use a "
                         "smaller lattice, fewer replicas or scan points, or another device",
                         d->name, d->id, (double)plan->largest_buffer / 1048576,
                         (double)plan->device_bytes / 1048576, (double)d->largest_buffer / 1048576,
                         (double)d->global_memory / 1048576);
    *launch = l;
    return ERGO_OK;
}
