/* Sweeps and measurements enqueued, and samples collected. */
#include <math.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

static enum ergo_status launch(struct ergo_context *ctx, struct disks_state *s, cl_kernel kernel,
                               const char *name, const struct ergo_arg *args, size_t n_args,
                               size_t items) {
    size_t group = s->launch.path == DISKS_PATH_GLOBAL ? s->launch.group : 64;
    group =
        group > s->device->summary.largest_group ? (size_t)s->device->summary.largest_group : group;
    const size_t global[2] = {ergo_round_up(items, group), s->batch->count};
    const size_t local[2] = {group, 1};
    return ergo_kernel_launch(ctx, s->device, kernel, name, args, n_args, 2, global, local, NULL);
}

/* A work-item a cell of a checkerboard set. */
static enum ergo_status launch_cells(struct ergo_context *ctx, struct disks_state *s,
                                     cl_kernel kernel, const char *name,
                                     const struct ergo_arg *args, size_t n_args) {
    const uint32_t half = s->launch.most_half;
    const size_t row = s->launch.row, rows = s->launch.rows;
    const size_t global[3] = {ergo_round_up(half, row), ergo_round_up(half, rows), s->batch->count};
    const size_t local[3] = {row, rows, 1};
    return ergo_kernel_launch(ctx, s->device, kernel, name, args, n_args, 3, global, local, NULL);
}

/* ---- sweeps -----------------------------------------------------------------------------------
 */

static enum ergo_status sweeps_local(struct ergo_context *ctx, struct disks_state *s,
                                     uint64_t sweeps) {
    const cl_uint room = s->launch.most_cells;
    const cl_uint second = (cl_uint)s->launch.all_cells;
    const size_t memory = 2 * (size_t)room * DISKS_PLANE_BYTES * disks_planes(&s->shapes[0]);
    const size_t global[2] = {s->batch->count * s->launch.group, 1};
    const size_t local[2] = {s->launch.group, 1};
    enum ergo_status status = ERGO_OK;
    while (sweeps && status == ERGO_OK) {
        const cl_uint now =
            (cl_uint)(sweeps < s->launch.launch_sweeps ? sweeps : s->launch.launch_sweeps);
        const cl_ulong step = s->step;
        const struct ergo_arg args[] = {ERGO_ARG(s->cells),    ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(s->grid),     ERGO_ARG(s->tally),
                                        ERGO_ARG(step),        ERGO_ARG(now),
                                        ERGO_ARG(room),        ERGO_ARG(second),
                                        ERGO_ARG_LOCAL(memory)};
        status = ergo_kernel_launch(ctx, s->device, s->local, "disks_local", args, 9, 1, global,
                                    local, NULL);
        s->step += now;
        sweeps -= now;
    }
    return status;
}

static void swap_copies(struct disks_state *s) {
    cl_mem other = s->cells;
    s->cells = s->other;
    s->other = other;
}

/* The shift of planned sweep k, from one copy to the other. */
static enum ergo_status shift(struct ergo_context *ctx, struct disks_state *s, cl_uint k) {
    const cl_uint capacity = s->launch.plans, second = (cl_uint)s->launch.all_cells;
    const struct ergo_arg args[] = {
        ERGO_ARG(s->cells), ERGO_ARG(s->other), ERGO_ARG(s->member_buffer), ERGO_ARG(s->plans),
        ERGO_ARG(s->grid),  ERGO_ARG(k),        ERGO_ARG(capacity),         ERGO_ARG(second)};
    enum ergo_status status = launch_cells(ctx, s, s->shift, "disks_shift", args, 8);
    swap_copies(s);
    return status;
}

static enum ergo_status sweep_global(struct ergo_context *ctx, struct disks_state *s, cl_uint k,
                                     cl_uint note) {
    const cl_uint capacity = s->launch.plans, second = (cl_uint)s->launch.all_cells;
    const cl_ulong step = s->step;
    enum ergo_status status = ERGO_OK;
    for (cl_uint sub = 0; sub < 4 && status == ERGO_OK; sub++) {
        const struct ergo_arg args[] = {ERGO_ARG(s->cells), ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(s->plans), ERGO_ARG(s->tally),
                                        ERGO_ARG(step),     ERGO_ARG(k),
                                        ERGO_ARG(capacity), ERGO_ARG(sub),
                                        ERGO_ARG(note),     ERGO_ARG(second)};
        status = launch_cells(ctx, s, s->subsweep, "disks_subsweep", args, 10);
    }
    if (status == ERGO_OK)
        status = shift(ctx, s, k);
    s->step++;
    return status;
}

/* The last sweep of those planned leaves its shift to be made; `after`: so did the one before. */
static enum ergo_status sweep_tile(struct ergo_context *ctx, struct disks_state *s, cl_uint k,
                                   cl_uint after, cl_uint note) {
    const struct disks_launch *l = &s->launch;
    const cl_uint capacity = l->plans, second = (cl_uint)l->all_cells;
    const cl_uint pairs_x = l->tile[0], pairs_y = l->tile[1], room = disks_tile_room(l->tile);
    const cl_ulong step = s->step;
    const size_t memory = (size_t)room * DISKS_PLANE_BYTES * disks_planes(&s->shapes[0]);
    const struct ergo_arg args[] = {
        ERGO_ARG(s->cells),    ERGO_ARG(s->other), ERGO_ARG(s->member_buffer),
        ERGO_ARG(s->plans),    ERGO_ARG(s->grid),  ERGO_ARG(s->tally),
        ERGO_ARG(step),        ERGO_ARG(k),        ERGO_ARG(capacity),
        ERGO_ARG(after),       ERGO_ARG(note),     ERGO_ARG(second),
        ERGO_ARG(pairs_x),     ERGO_ARG(pairs_y),  ERGO_ARG(room),
        ERGO_ARG_LOCAL(memory)};
    const size_t global[2] = {(size_t)l->tiles * l->group, s->batch->count};
    const size_t local[2] = {l->group, 1};
    s->step++;
    enum ergo_status status =
        ergo_kernel_launch(ctx, s->device, s->tile, "disks_tile", args, 16, 2, global, local, NULL);
    swap_copies(s);
    return status;
}

enum ergo_status disks_sweeps(struct ergo_context *ctx, struct disks_state *s, uint64_t sweeps) {
    enum ergo_status status = ERGO_OK;
    if (s->launch.path == DISKS_PATH_LOCAL)
        return sweeps_local(ctx, s, sweeps);
    while (sweeps && status == ERGO_OK) {
        const cl_uint capacity = s->launch.plans;
        const cl_uint now = (cl_uint)(sweeps < capacity ? sweeps : capacity);
        const cl_ulong step = s->step;
        const struct ergo_arg args[] = {ERGO_ARG(s->member_buffer), ERGO_ARG(s->plans),
                                        ERGO_ARG(step), ERGO_ARG(now), ERGO_ARG(capacity)};
        status = launch(ctx, s, s->plan, "disks_plans", args, 5, now);
        for (cl_uint k = 0; k < now && status == ERGO_OK; k++) {
            const cl_uint note = k + 1 == sweeps;
            status = s->launch.path == DISKS_PATH_TILE ? sweep_tile(ctx, s, k, k > 0, note)
                                                       : sweep_global(ctx, s, k, note);
        }
        if (s->launch.path == DISKS_PATH_TILE && status == ERGO_OK)
            status = shift(ctx, s, now - 1);
        sweeps -= now;
    }
    return status;
}

/* ---- measurements -----------------------------------------------------------------------------
 */

static enum ergo_status measure(struct ergo_context *ctx, struct disks_state *s,
                                struct disks_slot *slot, size_t sample) {
    const cl_uint at = (cl_uint)sample, members = (cl_uint)s->batch->count;
    const cl_uint second = (cl_uint)s->launch.all_cells;
    const struct ergo_arg args[] = {
        ERGO_ARG(s->cells), ERGO_ARG(s->member_buffer), ERGO_ARG(s->tally), ERGO_ARG(slot->sums),
        ERGO_ARG(at),       ERGO_ARG(members),          ERGO_ARG(second)};
    const size_t group = s->launch.sum_group;
    const size_t global[2] = {s->launch.sums * group, s->batch->count}, local[2] = {group, 1};
    return ergo_kernel_launch(ctx, s->device, s->measure, "disks_measure", args, 7, 2, global,
                              local, NULL);
}

/* Pair histogram `which` of curve sample `at`. */
static enum ergo_status measure_pairs(struct ergo_context *ctx, struct disks_state *s,
                                      cl_mem counts, cl_uint which, cl_uint at) {
    const cl_uint members = (cl_uint)s->batch->count, bins = s->launch.bins[which];
    const cl_uint second = (cl_uint)s->launch.all_cells;
    const cl_float origin = which == DISKS_CURVE_CONTACT ? 1.0f : 0.0f;
    cl_uint rows = 0;
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < s->batch->count; i++)
        rows = s->members[i].reach[which] > rows ? s->members[i].reach[which] : rows;
    for (cl_uint from = 0; from <= rows && status == ERGO_OK; from += s->launch.pair_rows) {
        const cl_uint to = from + s->launch.pair_rows;
        const struct ergo_arg args[] = {ERGO_ARG(s->cells),
                                        ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(s->limits[which]),
                                        ERGO_ARG(counts),
                                        ERGO_ARG(at),
                                        ERGO_ARG(members),
                                        ERGO_ARG(bins),
                                        ERGO_ARG(origin),
                                        ERGO_ARG(which),
                                        ERGO_ARG(second),
                                        ERGO_ARG(from),
                                        ERGO_ARG(to)};
        status = launch(ctx, s, s->pairs, "disks_pairs", args, 12, s->launch.look_cells);
    }
    return status;
}

static enum ergo_status measure_curves(struct ergo_context *ctx, struct disks_state *s,
                                       struct disks_slot *slot) {
    const cl_uint at = (cl_uint)slot->curves++, members = (cl_uint)s->batch->count;
    const cl_uint second = (cl_uint)s->launch.all_cells;
    enum ergo_status status = ERGO_OK;
    for (cl_uint c = 0; c < 2 && status == ERGO_OK; c++)
        if (s->launch.bins[c])
            status = measure_pairs(ctx, s, slot->counts[c], c, at);
    const cl_uint bins = s->launch.bins[DISKS_CURVE_DENSITY];
    if (bins && status == ERGO_OK) {
        const struct ergo_arg args[] = {ERGO_ARG(s->cells),
                                        ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(slot->counts[DISKS_CURVE_DENSITY]),
                                        ERGO_ARG(at),
                                        ERGO_ARG(members),
                                        ERGO_ARG(bins),
                                        ERGO_ARG(second)};
        status = launch(ctx, s, s->blocks, "disks_blocks", args, 7, s->launch.look_cells);
    }
    return status;
}

static size_t sums_count(const struct disks_state *s, size_t samples) {
    return samples * s->batch->count * s->launch.sums;
}

static size_t counts_bytes(const struct disks_state *s, size_t curve, size_t curves) {
    return 4 * curves * s->batch->count * (size_t)s->launch.bins[curve];
}

static enum ergo_status clear_counts(struct ergo_context *ctx, struct disks_state *s,
                                     struct disks_slot *slot) {
    /* from host memory that is read back into later, in order: nothing waits */
    for (size_t c = 0; c < DISKS_CURVES; c++) {
        const size_t bytes = counts_bytes(s, c, s->launch.curve_capacity);
        if (!bytes)
            continue;
        memset(slot->host_counts[c], 0, bytes);
        const cl_int code = clEnqueueWriteBuffer(s->device->queue, slot->counts[c], CL_FALSE, 0,
                                                 bytes, slot->host_counts[c], 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return ERGO_FAIL_CL(ctx, code, "clearing a histogram on %s failed",
                                s->device->summary.name);
    }
    return ERGO_OK;
}

static enum ergo_status read_slot(struct ergo_context *ctx, struct disks_state *s,
                                  struct disks_slot *slot) {
    enum ergo_status status = ERGO_OK;
    for (size_t c = 0; c < DISKS_CURVES && slot->curves && status == ERGO_OK; c++)
        if (s->launch.bins[c])
            status = ergo_buffer_read_later(ctx, s->device, slot->counts[c], 0,
                                            counts_bytes(s, c, slot->curves), slot->host_counts[c],
                                            NULL);
    if (status == ERGO_OK) /* the last one: its event says that all are there */
        status = ergo_buffer_read_later(ctx, s->device, slot->sums, 0,
                                        sums_count(s, slot->samples) * sizeof *slot->host_sums,
                                        slot->host_sums, &slot->ready);
    return status;
}

enum ergo_status disks_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                               uint64_t every, uint64_t first_sample) {
    struct disks_state *s = opaque;
    struct disks_slot *slot = &s->slots[which];
    const uint64_t interval = (uint64_t)ergo_point_int(s->batch->points[0], "/run/curves_every");
    enum ergo_status status = ERGO_OK;
    slot->samples = count;
    slot->curves = 0;
    if (count && interval)
        status = clear_counts(ctx, s, slot);
    if (count == 0 && status == ERGO_OK)
        status = disks_sweeps(ctx, s, every);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = disks_sweeps(ctx, s, every);
        if (status == ERGO_OK)
            status = measure(ctx, s, slot, i);
        if (status == ERGO_OK && interval && (first_sample + i) % interval == 0)
            status = measure_curves(ctx, s, slot);
    }
    if (status == ERGO_OK && count)
        status = read_slot(ctx, s, slot);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

/* ---- collect ----------------------------------------------------------------------------------
 */

void disks_columns(const struct ergo_point *point, const struct disks_shape *shape,
                   const struct disks_sum *sum, struct disks_tally tally, double *columns) {
    const double moves = (double)ergo_point_int(point, "/system/moves_per_cell");
    columns[0] = (double)sum->re * 0x1p-24 / (double)shape->n;
    columns[1] = (double)sum->im * 0x1p-24 / (double)shape->n;
    columns[2] = tally.tried ? (double)tally.accepted / (moves * (double)tally.tried) : 0.0;
    columns[3] = (double)sum->occupied / ((double)shape->cells * shape->cells);
}

static enum ergo_status convert_sums(struct ergo_context *ctx, struct disks_state *s,
                                     const struct disks_slot *slot, size_t sample, size_t member,
                                     double *columns) {
    const struct disks_shape *shape = &s->shapes[member];
    const struct disks_sum *parts =
        slot->host_sums + sums_count(s, sample) + member * s->launch.sums;
    struct disks_sum sum = {0};
    struct disks_tally tally = {0, 0};
    for (size_t i = 0; i < s->launch.sums; i++) {
        sum.re += parts[i].re;
        sum.im += parts[i].im;
        sum.disks += parts[i].disks;
        sum.occupied += parts[i].occupied;
        tally.accepted += parts[i].accepted;
        tally.tried += parts[i].tried;
    }
    if (sum.disks != shape->n)
        return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                         "audit of hard-disks failed on %s: member %zu has %llu disks at a "
                         "measurement, not %llu",
                         s->device->summary.name, member, (unsigned long long)sum.disks,
                         (unsigned long long)shape->n);
    disks_columns(s->batch->points[member], shape, &sum, tally, columns);
    return ERGO_OK;
}

enum ergo_status disks_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                               struct ergo_samples *samples) {
    struct disks_state *s = opaque;
    struct disks_slot *slot = &s->slots[which];
    const size_t members = s->batch->count;
    samples->count = slot->samples;
    samples->n_curve_samples = slot->curves;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    for (size_t i = 0; i < slot->samples * members && status == ERGO_OK; i++)
        status = convert_sums(ctx, s, slot, i / members, i % members, samples->columns + 4 * i);
    for (size_t c = 0; c < DISKS_CURVES && status == ERGO_OK; c++) {
        const size_t bins = s->launch.bins[c];
        if (!bins)
            continue;
        for (size_t i = 0; i < slot->curves * members; i++)
            disks_curve_convert(s->batch->points[i % members], &s->shapes[i % members], c,
                                c < 2 ? s->areas[c] + i % members * bins : NULL,
                                slot->host_counts[c] + i * bins, samples->curves[c] + i * bins);
    }
    return status;
}
