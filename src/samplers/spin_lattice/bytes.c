/* Models with a byte per spin on a device: plan, build, start, advance, collect. */
#include "samplers/spin_lattice/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/spin_lattice/models.h"

/* ---- plan ------------------------------------------------------------------------------------ */

/* Rows of a work-item: the more, the fewer bytes are read twice, while all units are busy. Measured
 * (H200, 2026-11-21, 16384 x 16384 in a field, spin updates per ns): 1 790, 2 880, 4 918, 8 909. */
static uint32_t strip_of(const struct bytes_shape *s, double members, bool gpu) {
    uint32_t strip = 1;
    const double blocks = (double)s->colour / 16 * members;
    while (gpu && strip < 4 && s->d > 1 && s->l[1] % (2 * strip) == 0 &&
           blocks / (2 * strip) >= 0x1p18)
        strip *= 2;
    return strip;
}

static enum ergo_status launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                    const struct ergo_device *device, struct bytes_launch *launch,
                                    struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const struct bytes_shape s = bytes_shape_of(first);
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double members = (double)batch->count, units = d->compute_units ? d->compute_units : 1;
    const int64_t wish = ergo_point_int(first, "/tuning/work_group");
    const uint64_t blocks = 2 * s.colour / 16;
    struct bytes_launch l = {.group = wish ? (uint32_t)wish : gpu ? 128 : 16};
    const int64_t rows = ergo_point_int(first, "/tuning/tile_rows");
    memset(plan, 0, sizeof *plan);
    l.strip = rows ? (uint32_t)rows : s.general ? 1 : strip_of(&s, members, gpu);
    if (rows > 8 || (rows & (rows - 1)) || s.l[1] % l.strip || (s.general && rows > 1))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/tile_rows %u: 1, 2, 4 or 8 that divide the %u rows of a plane; "
                         "with general fields or couplings 1",
                         l.strip, s.l[1]);
    if (l.group > d->largest_group)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "/tuning/work_group %u: %s (%s) has %llu at most",
                         l.group, d->name, d->id, (unsigned long long)d->largest_group);
    /* a work-item of the measuring kernel has some 50 iterations of all loops for a block */
    const double wanted = gpu ? 16 * units : 4 * units;
    const double least =
        device->quirks.loop_limit
            ? 64.0 * (double)blocks / (double)device->quirks.loop_limit / l.group + 1
            : 1;
    const uint64_t fill_groups = blocks / l.group + 1;
    const double fill = (double)fill_groups;
    l.measure_groups = (uint32_t)fmax(least, fmin(fill, wanted / members + 1));
    l.length = s.numbers;
    const double numbers = members * l.length;
    l.block_samples = (size_t)fmax(1, fmin(1024, 0x1p24 / numbers));
    l.reach = bytes_reach(first);
    l.planes = bytes_has_structure(first) ? s.l[s.d - 1] : 0;
    l.curve_length = s.d * l.reach + s.q * l.planes;
    const double curve_numbers = members * l.curve_length;
    l.curve_capacity = curve_numbers > 0 ? (uint32_t)fmax(1, fmin(256, 0x1p22 / curve_numbers)) : 0;
    if (l.curve_capacity && l.block_samples > l.curve_capacity)
        l.block_samples = l.curve_capacity; /* at most one curve sample each */

    const double bytes = 2 * (double)s.colour * members;
    const double rate = gpu ? 2e11 : 1e8 * units, work = (double)s.sites * members;
    const double terms = 4 * (double)bytes_terms_length(&s) * members;
    plan->largest_buffer = (uint64_t)fmax(bytes, terms);
    plan->device_bytes =
        (uint64_t)(bytes + terms + members * BYTES_MEMBER_BYTES +
                   8 * numbers * (double)l.block_samples + 8 * curve_numbers * l.curve_capacity);
    plan->host_bytes =
        (uint64_t)(8 * numbers * (double)l.block_samples + 8 * curve_numbers * l.curve_capacity +
                   (s.general ? 20 + (s.bonds ? 20 * s.d : 0) : 4) * (double)s.sites + bytes +
                   terms);
    plan->block_samples = l.block_samples;
    plan->work_per_step = work;
    plan->launches_per_step = 2;
    /* launches of small lattices cost more than their spins */
    plan->block_steps = fmax(1, floor(0.1 / (work / rate + (gpu ? 1e-5 : 2e-5))));
    l.block_sweeps = (uint64_t)fmin(plan->block_steps, 1e6);
    snprintf(plan->path, sizeof plan->path, "bytes");
    snprintf(plan->launch, sizeof plan->launch,
             "a launch for each colour: 16 x %u spins per work-item, work-groups of %u", l.strip,
             l.group);
    if (plan->largest_buffer > d->largest_buffer || plan->device_bytes > d->global_memory ||
        numbers > 0x1p31 || curve_numbers > 0x1p31 || (double)s.colour / 16 > 0x1p32)
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "%s (%s) cannot hold this batch: %.3g MiB of spins and fields, where a buffer may "
            "have %.3g and the device has %.3g MiB. Use a smaller lattice, fewer "
            "replicas or scan points, or another device",
            d->name, d->id, (bytes + terms) / 1048576, (double)d->largest_buffer / 1048576,
            (double)d->global_memory / 1048576);
    *launch = l;
    return ERGO_OK;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct bytes_launch launch;
    return launch_plan(ctx, batch, device, &launch, plan);
}

/* ---- create ---------------------------------------------------------------------------------- */

static void destroy(void *opaque) {
    struct bytes_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our memory may be under way */
    const cl_kernel kernels[] = {s->sweep,  s->start,     s->clear, s->measure,
                                 s->energy, s->correlate, s->plane};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    if (s->program)
        clReleaseProgram(s->program);
    ergo_buffer_release(&s->spins);
    ergo_buffer_release(&s->member_buffer);
    ergo_buffer_release(&s->terms);
    for (int i = 0; i < 2; i++) {
        ergo_buffer_release(&s->slots[i].counts);
        ergo_buffer_release(&s->slots[i].curve_counts);
        if (s->slots[i].ready)
            clReleaseEvent(s->slots[i].ready);
        if (s->slots[i].curve_ready)
            clReleaseEvent(s->slots[i].curve_ready);
        free(s->slots[i].host);
        free(s->slots[i].curve_host);
    }
    free(s->members);
    free(s->units);
    free(s->field_sums);
    free(s);
}

static enum ergo_status build(struct ergo_context *ctx, struct bytes_state *s) {
    const struct {
        cl_kernel *kernel;
        const char *name;
    } kernels[] = {{&s->sweep, s->shape.general ? "bytes_general_sweep" : "bytes_sweep"},
                   {&s->start, "bytes_start_all"},
                   {&s->clear, "bytes_clear"},
                   {&s->measure, "bytes_measure"},
                   {&s->correlate, "bytes_correlate"},
                   {&s->plane, "bytes_planes"},
                   {&s->energy, "bytes_general_energy"}};
    const struct bytes_shape *h = &s->shape;
    const size_t used = h->general ? 7 : 6;
    char options[400];
    snprintf(
        options, sizeof options,
        "-DBYTES_D=%u -DBYTES_LX=%uu -DBYTES_LY=%uu -DBYTES_LZ=%uu -DBYTES_Q=%uu "
        "-DBYTES_MODEL=%d -DBYTES_FIELDS=%d -DBYTES_GENERAL=%d -DBYTES_BONDS=%d -DBYTES_HEAT=%d "
        "-DBYTES_STRIP=%uu",
        h->d, h->l[0], h->l[1], h->l[2], h->q, (int)h->kind, (int)s->fields, (int)h->general,
        (int)h->bonds, (int)h->heat_bath, s->launch.strip);
    enum ergo_status status =
        ergo_program_build(ctx, s->device, "spin_lattice/bytes.cl", options, &s->program);
    for (size_t i = 0; i < used && status == ERGO_OK; i++) {
        size_t largest = 0;
        status = ergo_kernel_create(ctx, s->device, s->program, kernels[i].name, kernels[i].kernel);
        if (status == ERGO_OK)
            status = ergo_kernel_largest_group(ctx, s->device, *kernels[i].kernel, kernels[i].name,
                                               &largest);
        if (status == ERGO_OK && largest < s->launch.group)
            status = ERGO_FAIL(ctx, ERGO_E_DEVICE,
                               "%s runs %s in groups of up to %zu, not of %u: set "
                               "/tuning/work_group",
                               s->device->summary.name, kernels[i].name, largest, s->launch.group);
    }
    return status;
}

/* General fields of all members. */
static enum ergo_status create_terms(struct ergo_context *ctx, struct bytes_state *s) {
    const size_t length = bytes_terms_length(&s->shape), n = s->batch->count;
    int32_t *packed = malloc(n * length * sizeof *packed);
    s->units = calloc(n, sizeof *s->units);
    enum ergo_status status = packed && s->units
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for general fields");
    for (size_t m = 0; m < n && status == ERGO_OK; m++) {
        struct bytes_disorder d;
        status = bytes_disorder_make(ctx, s->batch->points[m], &d);
        if (status != ERGO_OK)
            break;
        s->units[m] = d.unit;
        bytes_disorder_fill(s->batch->points[m], &d, &s->members[m]);
        bytes_terms_pack(&s->shape, &d, packed + length * m);
        bytes_disorder_free(&d);
    }
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "fields and couplings",
                                      4 * n * length, packed, &s->terms);
    free(packed);
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    struct ergo_plan unused;
    struct bytes_state *s = calloc(1, sizeof *s);
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the spin-lattice state");
    s->ops = &bytes_ops;
    s->batch = batch;
    s->device = device;
    s->shape = bytes_shape_of(batch->points[0]);
    s->members = calloc(batch->count, sizeof *s->members);
    s->field_sums = calloc(batch->count, sizeof *s->field_sums);
    enum ergo_status status = launch_plan(ctx, batch, device, &s->launch, &unused);
    if (status == ERGO_OK && (!s->members || !s->field_sums))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu batch members", batch->count);
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++) {
        bytes_member_fill(batch->points[i], &s->members[i]);
        s->fields = s->fields || (!s->shape.general && bytes_physics_of(batch->points[i]).h != 0);
    }
    if (status == ERGO_OK)
        status = build(ctx, s);
    if (status == ERGO_OK && s->shape.general)
        status = create_terms(ctx, s);
    const size_t counts = 4 * batch->count * s->launch.length * s->launch.block_samples;
    if (status == ERGO_OK)
        status =
            ergo_constant_create(ctx, device, &s->constants, "members",
                                 batch->count * sizeof *s->members, s->members, &s->member_buffer);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "spins", 2 * s->shape.colour * batch->count, NULL,
                                    &s->spins);
    for (int i = 0; i < 2 && status == ERGO_OK; i++) {
        status = ergo_buffer_create(ctx, device, "samples", counts, NULL, &s->slots[i].counts);
        s->slots[i].host = malloc(counts);
        const size_t curves =
            4 * batch->count * s->launch.curve_length * (size_t)s->launch.curve_capacity;
        s->slots[i].curve_host = malloc(curves ? curves : 1);
        if (status == ERGO_OK && curves)
            status =
                ergo_buffer_create(ctx, device, "curves", curves, NULL, &s->slots[i].curve_counts);
        if (status == ERGO_OK && (!s->slots[i].host || !s->slots[i].curve_host))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
    }
    if (status != ERGO_OK) {
        destroy(s);
        s = NULL;
    }
    *state = s;
    return status;
}

static enum ergo_status init(struct ergo_context *ctx, void *opaque) {
    struct bytes_state *s = opaque;
    const char *start = ergo_point_text(s->batch->points[0], "/system/start");
    const cl_uint mode = strcmp(start, "random") == 0 ? 2 : strcmp(start, "up") == 0 ? 1 : 0;
    const cl_uint field = s->fields;
    const size_t local[2] = {s->launch.group, 1};
    const size_t global[2] = {ergo_round_up(2 * s->shape.colour / 16, local[0]), s->batch->count};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(mode),
                                    ERGO_ARG(field)};
    s->step = 0;
    memset(s->field_sums, 0, s->batch->count * sizeof *s->field_sums);
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->start, "bytes_start_all", args,
                                                 4, 2, global, local, NULL);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}

/* ---- advance --------------------------------------------------------------------------------- */

static enum ergo_status sweeps(struct ergo_context *ctx, struct bytes_state *s, uint64_t n) {
    const size_t local[2] = {s->launch.group, 1};
    const uint64_t items = s->shape.colour / 16 / s->launch.strip;
    const size_t global[2] = {ergo_round_up(items, local[0]), s->batch->count};
    const struct ergo_arg terms = ERGO_ARG(s->terms);
    const char *name = s->shape.general ? "bytes_general_sweep" : "bytes_sweep";
    enum ergo_status status = ERGO_OK;
    for (uint64_t i = 0; i < 2 * n && status == ERGO_OK; i++) {
        const cl_ulong step = s->step;
        const cl_uint colour = i % 2;
        const struct ergo_arg table = ERGO_ARG_LOCAL(2 * BYTES_TABLE * sizeof(cl_uint));
        const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(colour), ERGO_ARG(step),
                                        s->shape.general ? terms : table};
        status =
            ergo_kernel_launch(ctx, s->device, s->sweep, name, args, 5, 2, global, local, NULL);
        s->step += colour;
    }
    return status;
}

static enum ergo_status launch_measure(struct ergo_context *ctx, struct bytes_state *s,
                                       cl_mem counts, size_t sample) {
    const size_t local[2] = {s->launch.group, 1};
    const size_t global[2] = {s->launch.measure_groups * local[0], s->batch->count};
    const cl_uint at = (cl_uint)sample;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(counts), ERGO_ARG(at),
                                    ERGO_ARG_LOCAL(s->shape.counts * sizeof(cl_uint))};
    const struct ergo_arg energy[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                      ERGO_ARG(counts),   ERGO_ARG(at),
                                      ERGO_ARG(s->terms), ERGO_ARG_LOCAL(2 * sizeof(cl_uint))};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->measure, "bytes_measure", args,
                                                 5, 2, global, local, NULL);
    if (status == ERGO_OK && s->shape.general)
        status = ergo_kernel_launch(ctx, s->device, s->energy, "bytes_general_energy", energy, 6, 2,
                                    global, local, NULL);
    return status;
}

/* `numbers` per member to zero. */
static enum ergo_status launch_clear(struct ergo_context *ctx, struct bytes_state *s, cl_mem counts,
                                     size_t numbers) {
    const cl_uint length = (cl_uint)(numbers * s->batch->count);
    const size_t local[2] = {s->launch.group, 1}, global[2] = {ergo_round_up(length, local[0]), 1};
    const struct ergo_arg args[] = {ERGO_ARG(counts), ERGO_ARG(length)};
    return ergo_kernel_launch(ctx, s->device, s->clear, "bytes_clear", args, 2, 1, global, local,
                              NULL);
}

/* Numbers of the slot's next curve sample, which were cleared before. */
static enum ergo_status launch_curves(struct ergo_context *ctx, struct bytes_state *s,
                                      struct bytes_slot *slot) {
    const struct bytes_launch *l = &s->launch;
    const cl_uint at = (cl_uint)slot->curves++, reach = l->reach, stride = l->curve_length;
    const cl_uint pairs = s->shape.d * reach;
    const size_t local[2] = {l->group, 1};
    const size_t global[2] = {l->measure_groups * local[0], s->batch->count * pairs};
    const size_t plane_global[2] = {l->planes * local[0], s->batch->count};
    const struct ergo_arg correlate[] = {ERGO_ARG(s->spins), ERGO_ARG(slot->curve_counts),
                                         ERGO_ARG(at),       ERGO_ARG(reach),
                                         ERGO_ARG(stride),   ERGO_ARG_LOCAL(sizeof(cl_uint))};
    const struct ergo_arg planes[] = {
        ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(slot->curve_counts),  ERGO_ARG(at),
        ERGO_ARG(pairs),    ERGO_ARG(stride),           ERGO_ARG_LOCAL(s->shape.q * 4)};
    enum ergo_status status = ERGO_OK;
    if (pairs)
        status = ergo_kernel_launch(ctx, s->device, s->correlate, "bytes_correlate", correlate, 6,
                                    2, global, local, NULL);
    if (status == ERGO_OK && l->planes)
        status = ergo_kernel_launch(ctx, s->device, s->plane, "bytes_planes", planes, 7, 2,
                                    plane_global, local, NULL);
    return status;
}

enum ergo_status bytes_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                               uint64_t every, uint64_t first_sample) {
    struct bytes_state *s = opaque;
    struct bytes_slot *slot = &s->slots[which];
    const struct bytes_launch *l = &s->launch;
    const uint64_t interval =
        l->curve_length ? (uint64_t)ergo_point_int(s->batch->points[0], "/run/correlation_every")
                        : 0;
    const size_t stride = 4 * s->batch->count * (size_t)l->curve_length;
    slot->samples = count;
    slot->curves = 0;
    enum ergo_status status =
        count ? launch_clear(ctx, s, slot->counts, count * l->length) : sweeps(ctx, s, every);
    if (status == ERGO_OK && count && interval)
        status = launch_clear(ctx, s, slot->curve_counts, (size_t)l->curve_length * count);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = sweeps(ctx, s, every);
        if (status == ERGO_OK)
            status = launch_measure(ctx, s, slot->counts, i);
        if (status == ERGO_OK && interval && (first_sample + i) % interval == 0)
            status = launch_curves(ctx, s, slot);
    }
    if (status == ERGO_OK && slot->curves)
        status =
            ergo_buffer_read_later(ctx, s->device, slot->curve_counts, 0, stride * slot->curves,
                                   slot->curve_host, &slot->curve_ready);
    if (status == ERGO_OK && count)
        status = ergo_buffer_read_later(ctx, s->device, slot->counts, 0,
                                        4 * count * s->batch->count * s->launch.length, slot->host,
                                        &slot->ready);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

void bytes_curves(const struct bytes_state *s, size_t member, const uint32_t *counts, size_t row,
                  struct ergo_samples *samples) {
    static const int curve[3] = {CURVE_CORRELATION_X, CURVE_CORRELATION_Y, CURVE_CORRELATION_Z};
    const size_t reach = s->launch.reach, size = reach + 1;
    const double q = s->shape.q, n = (double)s->shape.sites;
    if (s->launch.planes)
        bytes_structure(&s->shape, s->members[member].staggered != 0, counts + s->shape.d * reach,
                        samples->curves[CURVE_STRUCTURE] + 2 * row);
    if (!reach)
        return;
    double *mean = samples->curves[CURVE_CORRELATION] + row * size;
    memset(mean, 0, size * sizeof *mean);
    for (uint32_t k = 0; k < s->shape.d; k++) {
        double *axis = samples->curves[curve[k]] + row * size;
        for (size_t r = 0; r <= reach; r++) {
            const double equal = r ? counts[k * reach + r - 1] / n : 1;
            axis[r] = (q * equal - 1) / (q - 1);
            mean[r] += axis[r] / s->shape.d;
        }
    }
}

enum ergo_status bytes_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                               struct ergo_samples *samples) {
    struct bytes_state *s = opaque;
    struct bytes_slot *slot = &s->slots[which];
    const size_t members = s->batch->count;
    samples->count = slot->samples;
    samples->n_curve_samples = slot->curves;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    for (size_t i = 0; i < slot->samples * members && status == ERGO_OK; i++)
        bytes_columns(s->batch->points[i % members], &s->shape,
                      s->units ? s->units[i % members] : 0, slot->host + i * s->launch.length,
                      samples->columns + i * COLUMNS);
    if (status == ERGO_OK && slot->curves)
        status = ergo_event_wait(ctx, s->device, &slot->curve_ready, NULL);
    for (size_t i = 0; i < slot->curves * members && status == ERGO_OK; i++)
        bytes_curves(s, i % members, slot->curve_host + i * s->launch.curve_length, i, samples);
    return status;
}

static uint64_t curve_every(const struct ergo_point *point) {
    const int64_t every = ergo_point_int(point, "/run/correlation_every");
    return every > 0 ? (uint64_t)every : 1;
}

const struct ergo_sampler_ops bytes_ops = {
    .check = bytes_check,
    .plan = plan,
    .create = create,
    .init = init,
    .advance = bytes_advance,
    .collect = bytes_collect,
    .curve_size = bytes_curve_size,
    .curve_x = bytes_curve_x,
    .curve_every = curve_every,
    .save = bytes_save,
    .load = bytes_load,
    .audit = bytes_audit,
    .picture = bytes_picture,
    .frame = bytes_frame,
    .exact = bytes_exact,
    .remedy = bytes_remedy,
    .destroy = destroy,
};
