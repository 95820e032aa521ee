/* The checkerboard: where its active cells are, and an activation's launches. */
#include <math.h>
#include <stdlib.h>

#include "device/program.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"

_Static_assert(sizeof(struct lj_part) == LJ_PART_BYTES, "lj_part has no padding");

/* Gaps are wider than the cutoff by more than fp32 distances can be wrong. */
static const double MARGIN = 1 + 1e-6;

double lj_board_smallest(const struct lj_system *s) {
    return 2 * s->cutoff * MARGIN * s->period / (s->period - LJ_ACTIVE);
}

double lj_board_cells(const struct lj_system *s) {
    uint32_t blocks[3];
    lj_board_blocks(s, blocks);
    return (double)blocks[0] * blocks[1] * blocks[2] * s->period * s->period * s->period;
}

uint64_t lj_board_blocks(const struct lj_system *s, uint32_t blocks[3]) {
    uint64_t all = 1;
    for (int k = 0; k < 3; k++) {
        blocks[k] = (uint32_t)fmin(floor(s->box[k] / (lj_board_smallest(s) / 2)), 1 << 20);
        all *= blocks[k];
    }
    return all;
}

/* Volume within the cutoff of an active cell, in sigma^3. */
static double tile_volume(const struct lj_system *s) {
    static const double PI = 3.14159265358979323846;
    uint32_t blocks[3];
    double a[3];
    lj_board_blocks(s, blocks);
    for (int k = 0; k < 3; k++)
        a[k] = s->box[k] / blocks[k] * LJ_ACTIVE / s->period / s->sigma;
    const double r = s->cutoff / s->sigma;
    return a[0] * a[1] * a[2] + 2 * r * (a[0] * a[1] + a[1] * a[2] + a[2] * a[0]) +
           PI * r * r * (a[0] + a[1] + a[2]) + 4 * PI / 3 * r * r * r;
}

uint32_t lj_board_tile(const struct lj_system *s, int64_t wish) {
    const double tile = wish ? (double)wish : fmax(1.0 * tile_volume(s), 32);
    return (uint32_t)ceil(fmin(tile, 1 << 20) / 32) * 32;
}

uint64_t lj_board_local_bytes(const struct lj_system *s, const struct lj_launch *l, uint32_t tile) {
    return 12ull * tile + 32ull * s->trials + 8ull * l->group + 128;
}

/* Iterations of a work-item in one activation, at worst. */
uint64_t lj_board_visits(const struct lj_system *s, const struct lj_launch *l, uint32_t slots,
                         uint32_t tile) {
    const uint64_t span = 2 * s->period - LJ_ACTIVE;
    return (span * span * span / l->group + 1) * (1 + slots) + 2ull * s->trials / l->group +
           s->trials * (4ull * (tile / l->group + 32) + l->group) + 4ull * tile + 64;
}

enum ergo_status lj_board_program(struct ergo_context *ctx, struct lj_state *s) {
    const struct lj_grid *g = &s->grid;
    struct ergo_text o = {0};
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    ergo_text_append(
        &o,
        "-DLJ_CELLS=1 -DLJ_NX=%u -DLJ_NY=%u -DLJ_NZ=%u -DLJ_OFFSETS=1u -DLJ_NEAR=1u -DLJ_PARTS=1u "
        "-DLJ_LANES=1 -DLJ_CULL=0 -DLJ_GROUP=%u -DLJ_PERIOD=%uu -DLJ_TRIALS=%uu "
        "-DLJ_TILE=%uu -DLJ_BLOCKS=%lluu%s",
        g->n[0], g->n[1], g->n[2], s->launch.group, s->system.period, s->system.trials, s->tile,
        (unsigned long long)s->launch.board_blocks, s->launch.vector ? " -DLJ_VECTOR=8" : "");
    if (o.failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    const uint64_t local = lj_board_local_bytes(&s->system, &s->launch, s->tile);
    enum ergo_status status = ERGO_OK;
    if (local > s->device->summary.local_memory)
        status = ERGO_FAIL(ctx, ERGO_E_DEVICE,
                           "%s: a chain has become so dense that the neighbourhood of an active "
                           "cell needs %llu bytes of local memory, and the device has %llu: use "
                           "another device, or no decomposition",
                           s->device->summary.name, (unsigned long long)local,
                           (unsigned long long)s->device->summary.local_memory);
    if (status == ERGO_OK)
        status = ergo_program_build(ctx, s->device, "lj_gcmc/board.cl", o.data, &program);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, program, "lj_board", &kernel);
    ergo_text_free(&o);
    if (status != ERGO_OK) {
        if (program)
            clReleaseProgram(program);
        return status;
    }
    if (s->activate)
        clReleaseKernel(s->activate);
    if (s->board_program)
        clReleaseProgram(s->board_program);
    s->activate = kernel;
    s->board_program = program;
    return ERGO_OK;
}

enum ergo_status lj_board_create(struct ergo_context *ctx, struct lj_state *s) {
    const uint32_t *n = s->grid.n;
    const size_t members = s->batch->count, bounds = (size_t)n[0] + n[1] + n[2];
    uint32_t *low = malloc(4 * bounds), *at = low;
    if (!low)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu bounds of cells", bounds);
    for (int k = 0; k < 3; k++)
        for (uint64_t c = 0; c < n[k]; c++) /* the least position whose cell is c */
            *at++ = (uint32_t)(((c << 32) + n[k] - 1) / n[k]);
    enum ergo_status status = ergo_constant_create(ctx, s->device, &s->constants, "bounds of cells",
                                                   4 * bounds, low, &s->bounds);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "sums of active cells",
                                    LJ_PART_BYTES * (size_t)s->launch.board_blocks * members, NULL,
                                    &s->board_parts);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "full cells", 4 * members, NULL, &s->full);
    free(low);
    return status == ERGO_OK ? lj_board_program(ctx, s) : status;
}

/* What the active cells of a member did is of a step that no longer was. */
enum ergo_status lj_board_forget(struct ergo_context *ctx, struct lj_state *s, size_t member) {
    const size_t bytes = LJ_PART_BYTES * (size_t)s->launch.board_blocks;
    const uint32_t none = 0;
    void *zero = calloc(1, bytes);
    if (!zero)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the active cells");
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, s->board_parts, bytes * member, bytes, zero);
    free(zero);
    return status == ERGO_OK
               ? ergo_buffer_write(ctx, s->device, s->full, 4 * member, sizeof none, &none)
               : status;
}

/* One activation of the chains that stand before step `to`. */
enum ergo_status lj_board_launch(struct ergo_context *ctx, struct lj_state *s,
                                 const struct lj_slot *slot, uint64_t to) {
    const cl_ulong start = slot->start, target = to, every = slot->every ? slot->every : 1;
    const cl_uint count = (cl_uint)slot->count, capacity = s->capacity, slots = s->slots;
    const size_t members = s->batch->count;
    const size_t global[2] = {(size_t)s->launch.board_blocks * s->launch.group, members};
    const size_t local[2] = {s->launch.group, 1};
    const struct ergo_arg activate[] = {ERGO_ARG(s->member_buffer), ERGO_ARG(s->chain_buffer),
                                        ERGO_ARG(s->cells),         ERGO_ARG(s->bounds),
                                        ERGO_ARG(s->board_parts),   ERGO_ARG(s->full),
                                        ERGO_ARG(target),           ERGO_ARG(slots)};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->activate, "lj_board", activate,
                                                 8, 2, global, local, NULL);
    const size_t all[2] = {members * s->launch.end_group, 1}, group[2] = {s->launch.end_group, 1};
    const struct ergo_arg end[] = {
        ERGO_ARG(s->member_buffer), ERGO_ARG(s->chain_buffer), ERGO_ARG(s->board_parts),
        ERGO_ARG(s->full),          ERGO_ARG(slot->samples),   ERGO_ARG(start),
        ERGO_ARG(target),           ERGO_ARG(every),           ERGO_ARG(count),
        ERGO_ARG(capacity)};
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->board_end, "lj_board_end", end, 10, 1, all,
                                    group, NULL);
    return status;
}

/* Enqueue: the lists of particles from the cells. */
enum ergo_status lj_board_list(struct ergo_context *ctx, struct lj_state *s) {
    const size_t all[2] = {s->batch->count * s->launch.end_group, 1};
    const size_t group[2] = {s->launch.end_group, 1};
    const cl_uint capacity = s->capacity;
    const struct ergo_arg args[] = {ERGO_ARG(s->cells), ERGO_ARG(s->particles), ERGO_ARG(capacity)};
    return ergo_kernel_launch(ctx, s->device, s->list, "lj_board_list", args, 3, 1, all, group,
                              NULL);
}
