/* The 2D Ising model on a device: parameters, programs, buffers, start. */
#include "samplers/spin_lattice/ising.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "device/program.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/params.h"

_Static_assert(sizeof(struct ising_member) == ISING_MEMBER_BYTES, "ising_member has no padding");

/* Upper and lower part of round(p 2^39), or the class's `always` bit. */
static void set_threshold(struct ising_member *member, int k, double p) {
    const double scaled = p * 0x1p39 + 0.5;
    if (scaled >= 0x1p39) {
        member->always |= 1u << k;
        return;
    }
    const uint64_t t = (uint64_t)scaled;
    member->high[k] = (uint32_t)(t >> 32);
    member->low[k] = (uint32_t)t;
}

void ising_member_fill(const struct ergo_point *point, bool field, struct ising_member *member) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    const double b = ergo_point_real(point, "/system/field");
    const bool heat_bath = strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0;
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->anti = j < 0 ? 0xffffffffu : 0;
    if (!field) { /* 4 or 3 satisfied bonds: the flip costs 8|J| or 4|J| */
        const double abs_j = j < 0 ? -j : j;
        set_threshold(member, 0, ergo_portable_exp(-8.0 * abs_j / t));
        set_threshold(member, 1, ergo_portable_exp(-4.0 * abs_j / t));
        return;
    }
    for (int k = 0; k < ISING_CLASSES_MAX; k++) {
        const double spin = k < 5 ? 1.0 : -1.0, neighbours = 2.0 * (k % 5) - 4.0;
        const double cost = 2.0 * spin * (j * neighbours + b); /* energy of the flip */
        if (heat_bath)
            set_threshold(member, k, 1.0 / (1.0 + ergo_portable_exp(cost / t)));
        else
            set_threshold(member, k, cost <= 0 ? 1.0 : ergo_portable_exp(-cost / t));
    }
}

/* Work-items of a kernel whose group size is free: as planned, unless it allows fewer. */
static enum ergo_status group_of(struct ergo_context *ctx, struct ising_state *s, cl_kernel kernel,
                                 const char *name, size_t *group) {
    size_t largest = 0;
    enum ergo_status status = ergo_kernel_largest_group(ctx, s->device, kernel, name, &largest);
    *group = s->launch.group;
    while (largest && *group > largest)
        *group /= 2;
    return status;
}

static void slot_release(struct ising_slot *slot) {
    if (slot->sums_ready)
        clReleaseEvent(slot->sums_ready);
    if (slot->counts_ready)
        clReleaseEvent(slot->counts_ready);
    ergo_buffer_release(&slot->sums);
    ergo_buffer_release(&slot->counts);
    free(slot->host_sums);
    free(slot->host_counts);
}

void ising_destroy(void *opaque) {
    struct ising_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our slots may be under way */
    const cl_kernel kernels[] = {s->sweep, s->start, s->measure, s->correlate, s->row, s->fast};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    if (s->fast_program)
        clReleaseProgram(s->fast_program);
    if (s->global_program)
        clReleaseProgram(s->global_program);
    ergo_buffer_release(&s->spins);
    ergo_buffer_release(&s->scratch);
    ergo_buffer_release(&s->member_buffer);
    slot_release(&s->slots[0]);
    slot_release(&s->slots[1]);
    free(s->members);
    free(s);
}

/* Build `path` and take one kernel from it. */
static enum ergo_status build_one(struct ergo_context *ctx, struct ising_state *s, const char *path,
                                  const char *options, const char *name, cl_program *program,
                                  cl_kernel *kernel) {
    enum ergo_status status = ergo_program_build(ctx, s->device, path, options, program);
    return status == ERGO_OK ? ergo_kernel_create(ctx, s->device, *program, name, kernel) : status;
}

static enum ergo_status build_programs(struct ergo_context *ctx, struct ising_state *s) {
    const struct ising_launch *l = &s->launch;
    struct ergo_text o = {0};
    ergo_text_append(&o, "-DISING_LX=%lldu -DISING_LY=%lldu -DISING_CLASSES=%d",
                     (long long)s->shape.lx, (long long)s->shape.ly,
                     l->field ? ISING_CLASSES_MAX : 2);
    if (l->wide)
        ergo_text_append(&o, " -DISING_WIDE");
    if (l->narrow)
        ergo_text_append(&o, " -DISING_NARROW=%d", l->narrow);
    if (l->full)
        ergo_text_append(&o, " -DISING_FULL");
    if (l->fixed)
        ergo_text_append(&o,
                         " -DISING_FIXED -DISING_HIGH0=%uu -DISING_LOW0=%uu -DISING_HIGH1=%uu "
                         "-DISING_LOW1=%uu",
                         s->members[0].high[0], s->members[0].low[0], s->members[0].high[1],
                         s->members[0].low[1]);
    if (l->sums > 2)
        ergo_text_append(&o, " -DISING_SUMS=%u", l->sums);
    if (l->path == ISING_PATH_LOCAL)
        ergo_text_append(&o, " -DISING_GROUP=%u", l->group);
    if (l->path == ISING_PATH_TILE)
        ergo_text_append(&o, " -DISING_GROUP=%u -DISING_SWEEPS=%u -DISING_ROWS=%u", l->group,
                         l->sweeps, l->rows);
    if (o.failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");

    enum ergo_status status = build_one(ctx, s, "spin_lattice/ising_global.cl", o.data,
                                        "ising_start", &s->global_program, &s->start);
    if (status == ERGO_OK)
        status =
            ergo_kernel_create(ctx, s->device, s->global_program, "ising_measure", &s->measure);
    if (status == ERGO_OK)
        status =
            ergo_kernel_create(ctx, s->device, s->global_program, "ising_correlate", &s->correlate);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->global_program, "ising_rows", &s->row);
    if (status == ERGO_OK && l->path == ISING_PATH_GLOBAL && !l->lanes)
        status = ergo_kernel_create(ctx, s->device, s->global_program, "ising_sweep", &s->sweep);
    if (status == ERGO_OK && l->path == ISING_PATH_LOCAL)
        status = build_one(
            ctx, s, l->lanes ? "spin_lattice/ising_lanes_local.cl" : "spin_lattice/ising_local.cl",
            o.data, "ising_sweep_local", &s->fast_program, &s->fast);
    if (status == ERGO_OK && l->path == ISING_PATH_TILE)
        status = build_one(
            ctx, s, l->lanes ? "spin_lattice/ising_lanes_tile.cl" : "spin_lattice/ising_tile.cl",
            o.data, "ising_sweep_tile", &s->fast_program, &s->fast);
    if (status == ERGO_OK && l->path == ISING_PATH_GLOBAL && l->lanes)
        status = build_one(ctx, s, "spin_lattice/ising_lanes_global.cl", o.data,
                           "ising_sweep_lanes", &s->fast_program, &s->sweep);
    ergo_text_free(&o);
    return status;
}

enum ergo_status ising_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                              struct ergo_device *device, void **state) {
    struct ergo_plan plan;
    struct ising_state *s = calloc(1, sizeof *s);
    enum ergo_status status = ERGO_OK;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the spin-lattice state");
    s->batch = batch;
    s->device = device;
    s->shape = ising_shape_of(batch->points[0]);
    status = ising_launch_plan(ctx, batch, device, &s->launch, &plan);
    if (status != ERGO_OK)
        goto out;

    s->members = calloc(batch->count, sizeof *s->members);
    if (!s->members) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu batch members", batch->count);
        goto out;
    }
    for (size_t i = 0; i < batch->count; i++)
        ising_member_fill(batch->points[i], s->launch.field, &s->members[i]);
    s->launch.fixed = s->launch.fixed && s->members[0].always == 0;

    status = build_programs(ctx, s);
    if (status == ERGO_OK && s->sweep)
        status = group_of(ctx, s, s->sweep, "ising_sweep", &s->sweep_group);
    if (status == ERGO_OK)
        status = group_of(ctx, s, s->measure, "ising_measure", &s->measure_group);
    if (status == ERGO_OK)
        status = group_of(ctx, s, s->correlate, "ising_correlate", &s->correlate_group);
    if (status != ERGO_OK)
        goto out;
    status = ergo_constant_create(ctx, device, &s->constants, "members",
                                  batch->count * sizeof *s->members, s->members, &s->member_buffer);
    if (status != ERGO_OK)
        goto out;
    const size_t bytes = s->shape.member_bytes * batch->count;
    status = ergo_buffer_create(ctx, device, "spins", bytes, NULL, &s->spins);
    if (status == ERGO_OK && s->launch.path == ISING_PATH_TILE)
        status = ergo_buffer_create(ctx, device, "spins, second copy", bytes, NULL, &s->scratch);
    if (status != ERGO_OK)
        goto out;
    for (int i = 0; i < 2; i++) {
        struct ising_slot *slot = &s->slots[i];
        const size_t sums =
            4 * batch->count * s->launch.sums * s->launch.measure_groups * s->launch.block_samples;
        const size_t counts =
            4 * batch->count * (size_t)s->launch.curve_numbers * s->launch.curve_capacity;
        status = ergo_buffer_create(ctx, device, "samples", sums, NULL, &slot->sums);
        if (status == ERGO_OK && counts)
            status = ergo_buffer_create(ctx, device, "correlations", counts, NULL, &slot->counts);
        if (status != ERGO_OK)
            goto out;
        slot->host_sums = malloc(sums);
        slot->host_counts = malloc(counts ? counts : 1);
        if (!slot->host_sums || !slot->host_counts) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
            goto out;
        }
    }
out:
    if (status != ERGO_OK) {
        ising_destroy(s);
        s = NULL;
    }
    *state = s;
    return status;
}

enum ergo_status ising_init(struct ergo_context *ctx, void *opaque) {
    struct ising_state *s = opaque;
    const char *start = ergo_point_text(s->batch->points[0], "/system/start");
    const cl_uint mode = strcmp(start, "random") == 0 ? 2 : strcmp(start, "up") == 0 ? 1 : 0;
    const size_t group = s->measure_group;
    const size_t global[2] = {ergo_round_up(s->shape.blocks, group), s->batch->count};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(mode)};
    s->step = 0;
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->start, "ising_start", args, 3,
                                                 2, global, local, NULL);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}
