/*
 * Random starts on a device, all members at once: a lattice of small disks melts, the disks grow
 * (params.h), and members whose disks are all clear of each other are taken. It goes in pieces, so
 * that a run can be stopped. The start of a member does not depend on who else is in the batch: it
 * is taken at its own sweep, and what becomes of it afterwards does not matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/hard_disks/disks.h"

_Static_assert(sizeof(struct disks_growth) == DISKS_GROWTH_BYTES, "disks_growth has no padding");

/* Systems that are replayed whole. */
static const uint64_t whole_disks = 1u << 15;

void disks_random_destroy(struct disks_state *s) {
    struct disks_random *r = s->random;
    if (!r)
        return;
    const cl_kernel kernels[] = {r->subsweep, r->shift, r->overlaps};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    if (r->program)
        clReleaseProgram(r->program);
    cl_mem *const buffers[] = {&r->cells, &r->other, &r->members, &r->counts};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    for (size_t i = 0; r->configs && i < s->batch->count; i++)
        disks_config_free(&r->configs[i]);
    free(r->grids);
    free(r->growths);
    free(r->configs);
    free(r->host_counts);
    free(r);
    s->random = NULL;
}

static enum ergo_status build(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_random *r = s->random;
    const char *packed = s->shapes[0].packed ? "-DDISKS_PACKED" : "";
    const char *cpu = s->device->type == CL_DEVICE_TYPE_CPU ? " -DDISKS_CPU" : "";
    char options[64];
    snprintf(options, sizeof options, "%s%s", packed, cpu);
    enum ergo_status status =
        ergo_program_build(ctx, s->device, "hard_disks/disks_start.cl", options, &r->program);
    if (status == ERGO_OK)
        status =
            ergo_kernel_create(ctx, s->device, r->program, "disks_start_subsweep", &r->subsweep);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, r->program, "disks_start_shift", &r->shift);
    if (status == ERGO_OK)
        status =
            ergo_kernel_create(ctx, s->device, r->program, "disks_start_overlaps", &r->overlaps);
    return status;
}

/* The lattices into `raw`, in the device's layout. */
static enum ergo_status fill(struct ergo_context *ctx, struct disks_state *s, void *raw) {
    struct disks_random *r = s->random;
    enum ergo_status status = ERGO_OK;
    uint32_t first = 0;
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++) {
        const uint32_t cells = r->grids[i].cells * r->grids[i].cells;
        struct disks_config config;
        r->growths[i].first = first;
        r->most_cells = cells > r->most_cells ? cells : r->most_cells;
        if (!disks_config_init(&config, r->grids[i].cells))
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                             (unsigned long long)r->grids[i].n);
        status = disks_growth_start(ctx, &r->grids[i], &config);
        if (status == ERGO_OK)
            disks_config_to_raw(&config, &r->grids[i], raw, first, (size_t)s->launch.start_cells);
        disks_config_free(&config);
        first += cells;
    }
    return status;
}

enum ergo_status disks_random_begin(struct ergo_context *ctx, struct disks_state *s) {
    const size_t count = s->batch->count;
    const size_t bytes = s->launch.start_cells * DISKS_PLANE_BYTES * disks_planes(&s->shapes[0]);
    disks_random_destroy(s);
    struct disks_random *r = s->random = calloc(1, sizeof *r);
    void *raw = malloc(bytes);
    if (r) {
        r->left = count;
        r->grids = calloc(count, sizeof *r->grids);
        r->growths = calloc(count, sizeof *r->growths);
        r->configs = calloc(count, sizeof *r->configs);
        r->host_counts = calloc(count, sizeof *r->host_counts);
    }
    enum ergo_status status = ERGO_OK;
    if (!r || !r->grids || !r->growths || !r->configs || !r->host_counts || !raw)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %zu systems at random", count);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        disks_growth_shape(&s->shapes[i], &r->grids[i]);
        disks_growth_fill(s->batch->points[i], &r->grids[i], &r->growths[i]);
    }
    if (status == ERGO_OK)
        status = build(ctx, s);
    if (status == ERGO_OK)
        status = fill(ctx, s, raw);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "cells of a start", bytes, raw, &r->cells);
    if (status == ERGO_OK) /* a second plane is not written where no cell has more than two */
        status = ergo_buffer_create(ctx, s->device, "cells of a start, second copy", bytes, raw,
                                    &r->other);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "members of a start",
                                    count * sizeof *r->growths, r->growths, &r->members);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "overlaps of a start",
                                    count * sizeof *r->host_counts, r->host_counts, &r->counts);
    free(raw);
    return status;
}

static enum ergo_status launch(struct ergo_context *ctx, struct disks_state *s, cl_kernel kernel,
                               const char *name, const struct ergo_arg *args, size_t n_args,
                               size_t items) {
    const size_t largest = (size_t)s->device->summary.largest_group;
    const size_t group = largest < 64 ? largest : 64;
    const size_t global[2] = {ergo_round_up(items, group), s->batch->count};
    const size_t local[2] = {group, 1};
    return ergo_kernel_launch(ctx, s->device, kernel, name, args, n_args, 2, global, local, NULL);
}

static enum ergo_status sweep(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_random *r = s->random;
    const cl_uint now = r->sweep, second = (cl_uint)s->launch.start_cells;
    enum ergo_status status = ERGO_OK;
    for (cl_uint sub = 0; sub < 4 && status == ERGO_OK; sub++) {
        const struct ergo_arg args[] = {ERGO_ARG(r->cells), ERGO_ARG(r->members), ERGO_ARG(now),
                                        ERGO_ARG(sub), ERGO_ARG(second)};
        status = launch(ctx, s, r->subsweep, "disks_start_subsweep", args, 5, r->most_cells / 4);
    }
    if (status != ERGO_OK)
        return status;
    const struct ergo_arg args[] = {ERGO_ARG(r->cells), ERGO_ARG(r->other), ERGO_ARG(r->members),
                                    ERGO_ARG(now), ERGO_ARG(second)};
    status = launch(ctx, s, r->shift, "disks_start_shift", args, 5, r->most_cells);
    cl_mem other = r->cells;
    r->cells = r->other;
    r->other = other;
    r->sweep++;
    return status;
}

enum ergo_status disks_random_fetch(struct ergo_context *ctx, struct disks_state *s, size_t member,
                                    struct disks_config *config) {
    struct disks_random *r = s->random;
    const struct disks_shape *grid = &r->grids[member];
    const size_t cells = (size_t)grid->cells * grid->cells, bytes = cells * DISKS_PLANE_BYTES;
    unsigned char *raw = malloc(bytes * disks_planes(grid));
    if (!raw || !disks_config_init(config, grid->cells)) {
        free(raw);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back %llu disks",
                         (unsigned long long)grid->n);
    }
    enum ergo_status status = ERGO_OK;
    for (size_t p = 0; p < disks_planes(grid) && status == ERGO_OK; p++)
        status = ergo_buffer_read(ctx, s->device, r->cells,
                                  (p * s->launch.start_cells + r->growths[member].first) *
                                      DISKS_PLANE_BYTES,
                                  bytes, raw + p * bytes);
    if (status == ERGO_OK)
        disks_config_from_raw(config, grid, raw, 0, cells);
    else
        disks_config_free(config);
    free(raw);
    return status;
}

/* A member that has grown: into the job's grid. */
static enum ergo_status take(struct ergo_context *ctx, struct disks_state *s, size_t member) {
    struct disks_random *r = s->random;
    const struct disks_shape *shape = &s->shapes[member], *grid = &r->grids[member];
    struct disks_config config;
    enum ergo_status status = disks_random_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    r->left--;
    if (grid->cells == shape->cells) {
        r->configs[member] = config;
        return ERGO_OK;
    }
    if (!disks_config_init(&r->configs[member], shape->cells))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                           (unsigned long long)shape->n);
    if (status == ERGO_OK)
        status = disks_regrid(ctx, grid, &config, shape, &r->configs[member]);
    disks_config_free(&config);
    return status;
}

/* The device's number of disks that overlap, of a member for which that is soon counted. (What
 * overlaps and is not seen, the state's own audit sees.) */
static enum ergo_status audit_overlaps(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_random *r = s->random;
    const size_t member = s->batch->count - 1;
    struct disks_config config;
    uint64_t expected = 0;
    r->counted = true;
    if (s->shapes[member].n > 8 * whole_disks)
        return ERGO_OK;
    enum ergo_status status = disks_random_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    if (!disks_twin_overlaps(&r->growths[member], &r->grids[member], &config, &expected))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    else if (expected != r->host_counts[member])
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s (%s): in the random start of member "
                           "%zu %u disks overlap by the device's count, and %llu do. The device's "
                           "compiler or hardware is wrong for these kernels: try another device",
                           s->device->summary.name, s->device->summary.driver, member,
                           r->host_counts[member], (unsigned long long)expected);
    disks_config_free(&config);
    return status;
}

static enum ergo_status ask(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_random *r = s->random;
    const size_t bytes = s->batch->count * sizeof *r->host_counts;
    const cl_uint second = (cl_uint)s->launch.start_cells;
    const struct ergo_arg args[] = {ERGO_ARG(r->cells), ERGO_ARG(r->members), ERGO_ARG(r->counts),
                                    ERGO_ARG(second)};
    memset(r->host_counts, 0, bytes);
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, r->counts, 0, bytes, r->host_counts);
    if (status == ERGO_OK)
        status = launch(ctx, s, r->overlaps, "disks_start_overlaps", args, 4, r->most_cells);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, r->counts, 0, bytes, r->host_counts);
    if (status == ERGO_OK && !r->counted)
        status = audit_overlaps(ctx, s);
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++)
        if (!r->host_counts[i] && !r->configs[i].count)
            status = take(ctx, s, i);
    if (status == ERGO_OK && r->left && r->sweep >= DISKS_START_MOST)
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/start: %zu of %zu systems of random disks still overlap after "
                           "%u sweeps; start from \"hexagonal\" or from a file, or take a lower "
                           "packing fraction",
                           r->left, s->batch->count, r->sweep);
    return status;
}

/* Sweeps that are made on the host, too: the first, one of the growth, and its last, where most
 * disks overlap. Of large systems some rows around the edge of the box. */
static bool is_audited(const struct disks_random *r) {
    return r->sweep == 0 || r->sweep == DISKS_START_MELT + DISKS_START_GROW / 2 ||
           r->sweep == DISKS_START_MELT + DISKS_START_GROW - 1;
}

static enum ergo_status audited_sweep(struct ergo_context *ctx, struct disks_state *s) {
    struct disks_random *r = s->random;
    const size_t member = s->batch->count - 1;
    const struct disks_shape *grid = &r->grids[member];
    const uint32_t now = r->sweep, m = grid->cells, few = 4 + 2 * DISKS_SPOILED;
    const bool whole = s->shapes[member].n <= whole_disks || m <= few;
    struct disks_config before = {0}, expected = {0}, found = {0};
    bool ok = true;
    enum ergo_status status = disks_random_fetch(ctx, s, member, &before);
    if (status == ERGO_OK)
        status = sweep(ctx, s);
    if (status == ERGO_OK)
        status = disks_random_fetch(ctx, s, member, &found);
    if (status == ERGO_OK)
        ok = disks_config_band(&expected, &before, whole ? 0 : m - few / 2, whole ? m : few) &&
             disks_twin_growth(&r->growths[member], grid, &expected, now);
    if (!ok)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    else if (status == ERGO_OK && !disks_config_same(&expected, &found, whole ? 0 : DISKS_SPOILED))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s (%s): sweep %u of the random start of "
                           "member %zu differs between the device and the host. The device's "
                           "compiler or hardware is wrong for these kernels: try another device",
                           s->device->summary.name, s->device->summary.driver, now, member);
    disks_config_free(&before);
    disks_config_free(&expected);
    disks_config_free(&found);
    return status;
}

enum ergo_status disks_random_piece(struct ergo_context *ctx, void *opaque, bool *done) {
    struct disks_state *s = opaque;
    struct disks_random *r = s->random;
    const uint32_t grown = DISKS_START_MELT + DISKS_START_GROW;
    enum ergo_status status = ERGO_OK;
    *done = r == NULL;
    if (!r)
        return ERGO_OK;
    for (uint32_t i = 0; i < s->launch.start_sweeps && r->left && status == ERGO_OK; i++) {
        status = is_audited(r) ? audited_sweep(ctx, s) : sweep(ctx, s);
        if (status == ERGO_OK && r->sweep >= grown && r->sweep % DISKS_START_ASK == 0)
            status = ask(ctx, s);
    }
    if (status == ERGO_OK)
        status = ergo_device_finish(ctx, s->device);
    if (status != ERGO_OK || r->left)
        return status;
    status = disks_store_all(ctx, s, r->configs);
    disks_random_destroy(s);
    *done = true;
    return status;
}
