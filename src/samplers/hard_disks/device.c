/* Hard disks on a device: build, start, save, load. */
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/hard_disks/disks.h"

_Static_assert(sizeof(struct disks_member) == DISKS_MEMBER_BYTES, "disks_member has no padding");
_Static_assert(sizeof(struct disks_sum) == DISKS_SUM_BYTES, "disks_sum has no padding");

void disks_destroy(void *opaque) {
    struct disks_state *s = opaque;
    if (!s)
        return;
    disks_random_destroy(s);
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our slots may be under way */
    const cl_kernel kernels[] = {s->plan, s->subsweep, s->shift, s->local,
                                 s->tile, s->measure,  s->pairs, s->blocks};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    for (size_t i = 0; i < sizeof s->programs / sizeof s->programs[0]; i++)
        if (s->programs[i])
            clReleaseProgram(s->programs[i]);
    cl_mem *const buffers[] = {&s->cells, &s->other, &s->member_buffer, &s->plans,
                               &s->tally, &s->grid,  &s->limits[0],     &s->limits[1]};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    for (size_t i = 0; i < 2; i++) {
        struct disks_slot *slot = &s->slots[i];
        if (slot->ready)
            clReleaseEvent(slot->ready);
        ergo_buffer_release(&slot->sums);
        free(slot->host_sums);
        for (size_t c = 0; c < DISKS_CURVES; c++) {
            ergo_buffer_release(&slot->counts[c]);
            free(slot->host_counts[c]);
        }
    }
    free(s->areas[0]);
    free(s->areas[1]);
    free(s->shapes);
    free(s->members);
    free(s);
}

static enum ergo_status build_one(struct ergo_context *ctx, struct disks_state *s, size_t i,
                                  const char *path, const char *options) {
    return ergo_program_build(ctx, s->device, path, options, &s->programs[i]);
}

static double disks_per_cell(const struct disks_shape *shape) {
    return (double)shape->n / ((double)shape->cells * shape->cells);
}

static enum ergo_status build_programs(struct ergo_context *ctx, struct disks_state *s) {
    const struct ergo_point *first = s->batch->points[0];
    struct ergo_text o = {0};
    ergo_text_append(&o, "-DDISKS_MOVES=%d -DDISKS_SHUFFLE_SETS=%d",
                     (int)ergo_point_int(first, "/system/moves_per_cell"),
                     ergo_point_bool(first, "/system/shuffle_checkerboard") ? 1 : 0);
    if (!ergo_point_bool(first, "/system/shuffle_particles"))
        ergo_text_append(&o, " -DDISKS_NO_SHUFFLE");
    if (ergo_point_bool(first, "/system/leave_cell"))
        ergo_text_append(&o, " -DDISKS_LEAVE");
    if (s->shapes[0].packed)
        ergo_text_append(&o, " -DDISKS_PACKED");
    if (s->device->type == CL_DEVICE_TYPE_CPU)
        ergo_text_append(&o, " -DDISKS_CPU");
    /* so many cells of more than two disks that most work-items are held up by one of them */
    if (disks_per_cell(&s->shapes[0]) > 1.25)
        ergo_text_append(&o, " -DDISKS_FULL");
    if (s->launch.exact)
        ergo_text_append(&o, " -DDISKS_EXACT");
    if (s->launch.path != DISKS_PATH_GLOBAL)
        ergo_text_append(&o, " -DDISKS_GROUP=%u", s->launch.group);
    ergo_text_append(&o, " -DDISKS_SUM_GROUP=%u", s->launch.sum_group);
    if (o.failed) {
        ergo_text_free(&o);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    }

    enum ergo_status status = ERGO_OK;
    if (s->launch.path == DISKS_PATH_LOCAL) {
        status = build_one(ctx, s, 1, "hard_disks/disks_local.cl", o.data);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->programs[1], "disks_local", &s->local);
    } else {
        status = build_one(ctx, s, 0, "hard_disks/disks_global.cl", o.data);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->programs[0], "disks_plans", &s->plan);
        if (status == ERGO_OK)
            status =
                ergo_kernel_create(ctx, s->device, s->programs[0], "disks_subsweep", &s->subsweep);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->programs[0], "disks_shift", &s->shift);
    }
    if (status == ERGO_OK && s->launch.path == DISKS_PATH_TILE) {
        status = build_one(ctx, s, 3, "hard_disks/disks_tile.cl", o.data);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->programs[3], "disks_tile", &s->tile);
    }
    if (status == ERGO_OK)
        status = build_one(ctx, s, 2, "hard_disks/disks_measure.cl", o.data);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->programs[2], "disks_measure", &s->measure);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->programs[2], "disks_pairs", &s->pairs);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->programs[2], "disks_blocks", &s->blocks);
    ergo_text_free(&o);
    return status;
}

/* Edges of the bins of the pair histograms, for every member. */
static enum ergo_status create_limits(struct ergo_context *ctx, struct disks_state *s) {
    static const char *const names[] = {"contact bins", "g(r) bins"};
    enum ergo_status status = ERGO_OK;
    for (size_t c = 0; c < 2 && status == ERGO_OK; c++) {
        const size_t bins = s->launch.bins[c], each = bins + 1;
        if (!bins)
            continue;
        uint64_t *limits = malloc(s->batch->count * each * sizeof *limits);
        s->areas[c] = malloc(s->batch->count * bins * sizeof *s->areas[c]);
        if (!limits || !s->areas[c]) {
            free(limits);
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for histogram bins");
        }
        for (size_t i = 0; i < s->batch->count; i++) {
            double *areas = s->areas[c] + i * bins;
            disks_limits(s->batch->points[i], &s->shapes[i], c, limits + i * each);
            /* counting takes milliseconds: not again for every replica */
            if (i && s->shapes[i].box == s->shapes[i - 1].box &&
                s->shapes[i].side == s->shapes[i - 1].side)
                memcpy(areas, areas - bins, bins * sizeof *areas);
            else
                disks_areas(s->batch->points[i], &s->shapes[i], c, limits + i * each, areas);
        }
        status =
            ergo_constant_create(ctx, s->device, &s->constants, names[c],
                                 s->batch->count * each * sizeof *limits, limits, &s->limits[c]);
        free(limits);
    }
    return status;
}

static enum ergo_status create_slot(struct ergo_context *ctx, struct disks_state *s,
                                    struct disks_slot *slot) {
    static const char *const names[] = {"contact histogram", "g(r) histogram", "density histogram"};
    const struct disks_launch *l = &s->launch;
    const size_t sums = sizeof(struct disks_sum) * s->batch->count * l->sums * l->block_samples;
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "samples", sums, NULL, &slot->sums);
    slot->host_sums = malloc(sums);
    bool memory = slot->host_sums != NULL;
    for (size_t c = 0; c < DISKS_CURVES && status == ERGO_OK; c++) {
        const size_t bytes = 4 * s->batch->count * (size_t)l->bins[c] * l->curve_capacity;
        if (!bytes)
            continue;
        status = ergo_buffer_create(ctx, s->device, names[c], bytes, NULL, &slot->counts[c]);
        slot->host_counts[c] = malloc(bytes);
        memory = memory && slot->host_counts[c];
    }
    if (status == ERGO_OK && !memory)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
    return status;
}

enum ergo_status disks_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                              struct ergo_device *device, void **state) {
    struct ergo_plan plan;
    struct disks_state *s = calloc(1, sizeof *s);
    enum ergo_status status = ERGO_OK;
    *state = NULL;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the hard-disks state");
    s->batch = batch;
    s->device = device;
    s->shapes = calloc(batch->count, sizeof *s->shapes);
    s->members = calloc(batch->count, sizeof *s->members);
    if (!s->shapes || !s->members)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu batch members", batch->count);
    if (status == ERGO_OK)
        status = disks_launch_plan(ctx, batch, device, &s->launch, &plan);
    uint32_t first = 0;
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++) {
        char reason[300];
        if (!disks_shape_of(batch->points[i], &s->shapes[i], reason))
            status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system: %s", reason);
        disks_member_fill(batch->points[i], &s->shapes[i], &s->members[i]);
        s->members[i].first = first;
        first += s->shapes[i].cells * s->shapes[i].cells;
    }
    if (status == ERGO_OK)
        status = build_programs(ctx, s);
    const size_t bytes = s->launch.all_cells * DISKS_PLANE_BYTES * disks_planes(&s->shapes[0]);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "cells", bytes, NULL, &s->cells);
    if (status == ERGO_OK && s->launch.path != DISKS_PATH_LOCAL)
        status = ergo_buffer_create(ctx, device, "cells, second copy", bytes, NULL, &s->other);
    if (status == ERGO_OK && s->launch.path != DISKS_PATH_LOCAL)
        status = ergo_buffer_create(ctx, device, "plans of sweeps",
                                    4 * batch->count * (size_t)s->launch.plans, NULL, &s->plans);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "accepted moves", 4 * s->launch.all_cells, NULL,
                                    &s->tally);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "grids", 16 * batch->count, NULL, &s->grid);
    if (status == ERGO_OK)
        status =
            ergo_constant_create(ctx, device, &s->constants, "parameters",
                                 batch->count * sizeof *s->members, s->members, &s->member_buffer);
    if (status == ERGO_OK)
        status = create_limits(ctx, s);
    for (size_t i = 0; i < 2 && status == ERGO_OK; i++)
        status = create_slot(ctx, s, &s->slots[i]);
    if (status != ERGO_OK) {
        disks_destroy(s);
        return status;
    }
    *state = s;
    return ERGO_OK;
}

/* ---- configurations ---------------------------------------------------------------------------
 */

/* A member's planes between the device and `raw`, which holds them one after the other. */
static enum ergo_status move_planes(struct ergo_context *ctx, struct disks_state *s, size_t member,
                                    unsigned char *raw, bool to_device) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t bytes = (size_t)shape->cells * shape->cells * DISKS_PLANE_BYTES;
    enum ergo_status status = ERGO_OK;
    for (size_t p = 0; p < disks_planes(shape) && status == ERGO_OK; p++) {
        const size_t at = (p * s->launch.all_cells + s->members[member].first) * DISKS_PLANE_BYTES;
        status = to_device ? ergo_buffer_write(ctx, s->device, s->cells, at, bytes, raw + p * bytes)
                           : ergo_buffer_read(ctx, s->device, s->cells, at, bytes, raw + p * bytes);
    }
    return status;
}

static void *new_planes(const struct disks_shape *shape) {
    return malloc((size_t)shape->cells * shape->cells * DISKS_PLANE_BYTES * disks_planes(shape));
}

enum ergo_status disks_fetch(struct ergo_context *ctx, struct disks_state *s, size_t member,
                             struct disks_config *config) {
    const struct disks_shape *shape = &s->shapes[member];
    void *raw = new_planes(shape);
    if (!raw || !disks_config_init(config, shape->cells)) {
        free(raw);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back %llu disks",
                         (unsigned long long)shape->n);
    }
    enum ergo_status status = move_planes(ctx, s, member, raw, false);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->grid, 16 * member, 16, config->grid);
    if (status == ERGO_OK)
        disks_config_from_raw(config, shape, raw, 0, (size_t)shape->cells * shape->cells);
    else
        disks_config_free(config);
    free(raw);
    return status;
}

enum ergo_status disks_store(struct ergo_context *ctx, struct disks_state *s, size_t member,
                             const struct disks_config *config) {
    const struct disks_shape *shape = &s->shapes[member];
    void *raw = new_planes(shape);
    if (!raw)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %llu disks",
                         (unsigned long long)shape->n);
    disks_config_to_raw(config, shape, raw, 0, (size_t)shape->cells * shape->cells);
    enum ergo_status status = move_planes(ctx, s, member, raw, true);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->grid, 16 * member, 16, config->grid);
    free(raw);
    return status;
}

/* In one piece: Oclgrind's memory check loses track of buffers that are written in parts. */
enum ergo_status disks_store_all(struct ergo_context *ctx, struct disks_state *s,
                                 const struct disks_config *configs) {
    const size_t bytes = s->launch.all_cells * DISKS_PLANE_BYTES * disks_planes(&s->shapes[0]);
    unsigned char *raw = malloc(bytes);
    uint64_t *grids = malloc(16 * s->batch->count);
    enum ergo_status status =
        raw && grids
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to store %zu systems", s->batch->count);
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++) {
        disks_config_to_raw(&configs[i], &s->shapes[i], raw, s->members[i].first,
                            (size_t)s->launch.all_cells);
        memcpy(grids + 2 * i, configs[i].grid, 16);
    }
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->cells, 0, bytes, raw);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->grid, 0, 16 * s->batch->count, grids);
    free(raw);
    free(grids);
    return status;
}

enum ergo_status disks_init(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    const size_t count = s->batch->count;
    struct disks_config *configs = calloc(count, sizeof *configs);
    enum ergo_status status =
        configs ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu systems", count);
    s->step = 0;
    if (disks_start_is_random(s->batch->points[0])) { /* a shape key: of all or none */
        free(configs);
        return disks_random_begin(ctx, s);
    }
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        if (!disks_config_init(&configs[i], s->shapes[i].cells))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                               (unsigned long long)s->shapes[i].n);
        else
            status = disks_start(ctx, s->batch->points[i], &s->shapes[i], &configs[i]);
    }
    if (status == ERGO_OK)
        status = disks_store_all(ctx, s, configs);
    for (size_t i = 0; configs && i < count; i++)
        disks_config_free(&configs[i]);
    free(configs);
    return status;
}

enum ergo_status disks_save(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_text *text) {
    struct disks_config config;
    enum ergo_status status = disks_fetch(ctx, opaque, member, &config);
    if (status != ERGO_OK)
        return status;
    disks_config_write(&config, text);
    disks_config_free(&config);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a saved state") : ERGO_OK;
}

enum ergo_status disks_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct disks_state *s = opaque;
    struct disks_config config;
    const char *reason = "";
    enum ergo_status status = ERGO_OK;
    if (!disks_config_init(&config, s->shapes[member].cells))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %llu disks",
                         (unsigned long long)s->shapes[member].n);
    if (!disks_config_read(&config, &s->shapes[member], bytes, length, &reason))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu is damaged: %s", member,
                           reason);
    if (status == ERGO_OK)
        status = disks_store(ctx, s, member, &config);
    s->step = step;
    disks_config_free(&config);
    return status;
}
