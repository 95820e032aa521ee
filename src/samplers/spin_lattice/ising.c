/* The 2D Ising model on a device: build, start, advance, collect. */
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
    s->ops = &ising_ops;
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

/* ---- advance --------------------------------------------------------------------------------- */

static enum ergo_status launch_half_sweeps(struct ergo_context *ctx, struct ising_state *s,
                                           uint64_t sweeps) {
    const size_t group = s->sweep_group;
    const bool lanes = s->launch.lanes && s->launch.path == ISING_PATH_GLOBAL;
    const size_t items = lanes ? (s->shape.blocks + 7) / 8 : s->shape.blocks;
    const size_t global[2] = {ergo_round_up(items, group), s->batch->count};
    const size_t local[2] = {group, 1};
    for (uint64_t i = 0; i < sweeps; i++) {
        const cl_ulong step = s->step;
        for (cl_uint colour = 0; colour < 2; colour++) {
            const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                            ERGO_ARG(colour), ERGO_ARG(step)};
            enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->sweep, "ising_sweep",
                                                         args, 4, 2, global, local, NULL);
            if (status != ERGO_OK)
                return status;
        }
        s->step++;
    }
    return ERGO_OK;
}

/* Up to launch.sweeps sweeps. */
static enum ergo_status launch_tile(struct ergo_context *ctx, struct ising_state *s,
                                    cl_uint sweeps) {
    const size_t stripes = ((size_t)s->shape.ly + s->launch.rows - 1) / s->launch.rows;
    const size_t global[2] = {stripes * s->launch.group, s->batch->count};
    const size_t local[2] = {s->launch.group, 1};
    const cl_ulong step = s->step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->scratch),
                                    ERGO_ARG(s->member_buffer), ERGO_ARG(step), ERGO_ARG(sweeps)};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->fast, "ising_sweep_tile", args,
                                                 5, 2, global, local, NULL);
    cl_mem other = s->spins;
    s->spins = s->scratch;
    s->scratch = other;
    s->step += sweeps;
    return status;
}

/* `samples` times (`every` sweeps, measure) into slot->sums from sample `first` on; samples == 0:
 * `every` sweeps. */
static enum ergo_status launch_local(struct ergo_context *ctx, struct ising_state *s,
                                     const struct ising_slot *slot, size_t samples, uint64_t every,
                                     size_t first) {
    const size_t global[2] = {s->batch->count * s->launch.group, 1};
    const size_t local[2] = {s->launch.group, 1};
    const cl_ulong step = s->step;
    const cl_uint n = (cl_uint)samples, e = (cl_uint)every, f = (cl_uint)first;
    const struct ergo_arg args[] = {
        ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(step), ERGO_ARG(n), ERGO_ARG(e),
        ERGO_ARG(f),        ERGO_ARG(slot->sums)};
    s->step += every * (samples ? samples : 1);
    return ergo_kernel_launch(ctx, s->device, s->fast, "ising_sweep_local", args, 7, 1, global,
                              local, NULL);
}

static enum ergo_status launch_sweeps(struct ergo_context *ctx, struct ising_state *s,
                                      const struct ising_slot *slot, uint64_t sweeps) {
    enum ergo_status status = ERGO_OK;
    if (s->launch.path == ISING_PATH_LOCAL) {
        while (sweeps && status == ERGO_OK) {
            const uint64_t now =
                sweeps < s->launch.launch_sweeps ? sweeps : s->launch.launch_sweeps;
            status = launch_local(ctx, s, slot, 0, now, 0);
            sweeps -= now;
        }
        return status;
    }
    if (s->launch.path == ISING_PATH_GLOBAL)
        return launch_half_sweeps(ctx, s, sweeps);
    /* in launches of nearly equal length: 10 sweeps by at most 4 are 4 + 3 + 3 */
    uint64_t launches = (sweeps + s->launch.sweeps - 1) / s->launch.sweeps;
    for (; launches && status == ERGO_OK; launches--) {
        const uint64_t now = (sweeps + launches - 1) / launches;
        status = launch_tile(ctx, s, (cl_uint)now);
        sweeps -= now;
    }
    return status;
}

static enum ergo_status launch_measure(struct ergo_context *ctx, struct ising_state *s, cl_mem sums,
                                       size_t sample, size_t groups) {
    const size_t group = s->measure_group;
    const size_t global[2] = {groups * group, s->batch->count}, local[2] = {group, 1};
    const cl_uint at = (cl_uint)sample;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(sums), ERGO_ARG(at),
                                    ERGO_ARG_LOCAL(group * sizeof(cl_uint))};
    return ergo_kernel_launch(ctx, s->device, s->measure, "ising_measure", args, 4, 2, global,
                              local, NULL);
}

static enum ergo_status launch_samples(struct ergo_context *ctx, struct ising_state *s,
                                       const struct ising_slot *slot, size_t first, size_t count,
                                       uint64_t every) {
    enum ergo_status status = ERGO_OK;
    const bool local = s->launch.path == ISING_PATH_LOCAL;
    const uint64_t per_launch = s->launch.launch_sweeps / every;
    for (size_t i = 0; i < count && status == ERGO_OK;) {
        if (local && per_launch) {
            const size_t now = count - i < per_launch ? count - i : (size_t)per_launch;
            status = launch_local(ctx, s, slot, now, every, first + i);
            i += now;
            continue;
        }
        status = launch_sweeps(ctx, s, slot, local ? every - 1 : every);
        if (status == ERGO_OK)
            status = local
                         ? launch_local(ctx, s, slot, 1, 1, first + i)
                         : launch_measure(ctx, s, slot->sums, first + i, s->launch.measure_groups);
        i++;
    }
    return status;
}

static enum ergo_status launch_correlate(struct ergo_context *ctx, struct ising_state *s,
                                         struct ising_slot *slot) {
    const size_t group = s->correlate_group;
    const cl_uint reach = s->launch.reach, parts = s->launch.correlate_parts;
    const cl_uint at = (cl_uint)slot->curves++, stride = s->launch.curve_numbers;
    const cl_uint behind = 2 * reach * parts;
    const size_t global[2] = {2 * (size_t)reach * parts * group, s->batch->count};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(slot->counts),
                                    ERGO_ARG(at),
                                    ERGO_ARG(reach),
                                    ERGO_ARG(parts),
                                    ERGO_ARG(stride),
                                    ERGO_ARG_LOCAL(group * sizeof(cl_uint))};
    const size_t all[2] = {s->launch.rows_counted * group, s->batch->count};
    const struct ergo_arg rows[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(slot->counts),
                                    ERGO_ARG(at),
                                    ERGO_ARG(behind),
                                    ERGO_ARG(stride),
                                    ERGO_ARG_LOCAL(group * sizeof(cl_uint))};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->correlate, "ising_correlate",
                                                 args, 7, 2, global, local, NULL);
    if (status == ERGO_OK && s->launch.rows_counted)
        status =
            ergo_kernel_launch(ctx, s->device, s->row, "ising_rows", rows, 7, 2, all, local, NULL);
    return status;
}

size_t ising_sums_bytes(const struct ising_state *s, size_t samples) {
    return 4 * s->batch->count * s->launch.sums * s->launch.measure_groups * samples;
}

size_t ising_counts_bytes(const struct ising_state *s, size_t curves) {
    return 4 * s->batch->count * (size_t)s->launch.curve_numbers * curves;
}

enum ergo_status ising_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                               uint64_t every, uint64_t first_sample) {
    struct ising_state *s = opaque;
    struct ising_slot *slot = &s->slots[which];
    enum ergo_status status = ERGO_OK;
    slot->samples = count;
    slot->curves = 0;
    if (count == 0) {
        status = launch_sweeps(ctx, s, slot, every);
        if (status == ERGO_OK)
            clFlush(s->device->queue);
        return status;
    }
    const uint64_t interval =
        (uint64_t)ergo_point_int(s->batch->points[0], "/run/correlation_every");
    for (size_t i = 0; i < count && status == ERGO_OK;) {
        /* up to and including the next sample that carries curves */
        size_t until = count;
        bool curve = false;
        if (interval) {
            const uint64_t past = (first_sample + i) % interval;
            const uint64_t next = i + (past ? interval - past : 0);
            curve = next < count;
            until = curve ? (size_t)next + 1 : count;
        }
        status = launch_samples(ctx, s, slot, i, until - i, every);
        if (status == ERGO_OK && curve)
            status = launch_correlate(ctx, s, slot);
        i = until;
    }
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, slot->sums, 0, ising_sums_bytes(s, count),
                                        slot->host_sums, &slot->sums_ready);
    if (status == ERGO_OK && slot->curves)
        status = ergo_buffer_read_later(ctx, s->device, slot->counts, 0,
                                        ising_counts_bytes(s, slot->curves), slot->host_counts,
                                        &slot->counts_ready);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

/* ---- collect --------------------------------------------------------------------------------- */

/* Of the sample (and member) `row`. */
static struct ising_counts add_parts(const struct ising_state *s, const struct ising_slot *slot,
                                     size_t row) {
    const size_t parts = s->launch.measure_groups, sums = s->launch.sums;
    struct ising_counts c = {0, 0, 0};
    for (const uint32_t *at = slot->host_sums + row * parts * sums, *end = at + parts * sums;
         at < end; at += sums) {
        c.up += at[0];
        c.unequal += at[1];
        c.first += sums > 2 ? at[2] : 0;
    }
    return c;
}

void ising_columns(const struct ergo_point *point, const struct ising_shape *shape,
                   struct ising_counts c, double *columns) {
    const double sites = (double)shape->lx * (double)shape->ly;
    const double coupling = ergo_point_real(point, "/system/coupling");
    const double magnetization = 2.0 * (double)c.up / sites - 1.0;
    /* 2N bonds, of which `unequal` join opposite spins */
    columns[COLUMN_ENERGY] = -coupling * (2.0 - 2.0 * (double)c.unequal / sites) -
                             ergo_point_real(point, "/system/field") * magnetization;
    columns[COLUMN_MAGNETIZATION] = magnetization;
    columns[COLUMN_STAGGERED] = (4.0 * (double)c.first - 2.0 * (double)c.up) / sites;
}

void ising_curves(const struct ising_state *s, size_t member, const uint64_t *pairs,
                  uint32_t *planes, size_t row, struct ergo_samples *samples) {
    const struct bytes_shape shape = bytes_shape_of(s->batch->points[0]);
    const size_t reach = s->launch.reach, size = reach + 1;
    const double sites = (double)s->shape.lx * (double)s->shape.ly;
    const bool anti = s->members[member].anti != 0;
    double *mean = samples->curves[CURVE_CORRELATION] + row * size;
    double *axis[2] = {samples->curves[CURVE_CORRELATION_X] + row * size,
                       samples->curves[CURVE_CORRELATION_Y] + row * size};
    for (size_t y = 0; y < s->launch.rows_counted; y++)
        planes[2 * y] = (anti ? 0 : (uint32_t)s->shape.lx) - planes[2 * y + 1];
    if (s->launch.rows_counted)
        bytes_structure(&shape, anti, planes, samples->curves[CURVE_STRUCTURE] + 2 * row);
    mean[0] = axis[0][0] = axis[1][0] = 1.0;
    for (size_t r = 1; r <= reach; r++) {
        for (size_t a = 0; a < 2; a++)
            axis[a][r] = 1.0 - 2.0 * (double)pairs[a * reach + r - 1] / sites;
        mean[r] = 0.5 * (axis[0][r] + axis[1][r]);
    }
}

/* Of all curve samples of a slot. */
static enum ergo_status convert_curves(struct ergo_context *ctx, const struct ising_state *s,
                                       const struct ising_slot *slot,
                                       struct ergo_samples *samples) {
    const size_t reach = s->launch.reach, parts = s->launch.correlate_parts;
    uint64_t *pairs = calloc(2 * reach + 1, sizeof *pairs);
    uint32_t *planes = malloc((8 * (size_t)s->launch.rows_counted) + 1);
    const bool memory = pairs && planes;
    for (size_t row = 0; row < slot->curves * s->batch->count && memory; row++) {
        const uint32_t *counts = slot->host_counts + row * s->launch.curve_numbers;
        for (size_t k = 0; k < 2 * reach; k++) {
            pairs[k] = 0;
            for (size_t p = 0; p < parts; p++)
                pairs[k] += counts[k * parts + p];
        }
        for (size_t y = 0; y < s->launch.rows_counted; y++)
            planes[2 * y + 1] = counts[2 * reach * parts + y];
        ising_curves(s, row % s->batch->count, pairs, planes, row, samples);
    }
    free(pairs);
    free(planes);
    return memory ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the rows of a lattice");
}

enum ergo_status ising_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                               struct ergo_samples *samples) {
    struct ising_state *s = opaque;
    struct ising_slot *slot = &s->slots[which];
    samples->count = slot->samples;
    samples->n_curve_samples = slot->curves;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->sums_ready, NULL);
    if (status == ERGO_OK && slot->curves)
        status = ergo_event_wait(ctx, s->device, &slot->counts_ready, NULL);
    if (status != ERGO_OK)
        return status;
    const size_t members = s->batch->count;
    for (size_t i = 0; i < slot->samples * members; i++)
        ising_columns(s->batch->points[i % members], &s->shape, add_parts(s, slot, i),
                      samples->columns + COLUMNS * i);
    return convert_curves(ctx, s, slot, samples);
}
