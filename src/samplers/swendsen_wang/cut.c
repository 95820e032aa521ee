/* One lattice cut over ranks: plan, create, start. */
#include "samplers/swendsen_wang/cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t samples_of_block(size_t members) {
    return members < 64 ? 64 / members : 1;
}

/* About as many sites as the device works on in a tenth of a second. */
static double sites_of_block(const struct ergo_device *device) {
    return device->type != CL_DEVICE_TYPE_CPU ? 2e9
                                              : 2e6 * (double)(device->summary.compute_units + 1);
}

static uint64_t buffers_of(const struct sw_cut *s) {
    const uint64_t words = sw_piece_words(&s->piece);
    const uint64_t edges = 32ull * s->piece.words + s->piece.rows;
    return 8 * words + 256 * words + (s->by_tiles ? 72 * words : 0) +
           s->batch->count * 4 * words * s->shape.planes + 64 * edges +
           (s->gathers ? sw_gather_bytes(&s->layout) : 0);
}

enum ergo_status sw_cut_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    const struct ergo_point *first = batch->points[0];
    struct sw_cut s = {.batch = batch, .shape = sw_shape_of(first)};
    struct ergo_device copy = *device; /* only looked at */
    double *weights = sw_shares_initial(batch);
    s.device = &copy;
    memset(plan, 0, sizeof *plan);
    enum ergo_status status = weights ? sw_piece_cut(ctx, &s, weights)
                                      : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    free(weights);
    if (status == ERGO_OK) {
        sw_piece_choose_launch(&s);
        const double members = (double)batch->count;
        double *all = calloc((size_t)s.layout.ranks, sizeof *all);
        const double own =
            sites_of_block(device) / (32 * (double)sw_piece_words(&s.piece) * members);
        double steps = own;
        if (all) {
            ergo_dist_collect(&own, sizeof own, all);
            for (int r = 0; r < s.layout.ranks; r++)
                steps = all[r] < steps ? all[r] : steps;
        }
        free(all);
        plan->device_bytes = buffers_of(&s);
        plan->largest_buffer = 128 * sw_piece_words(&s.piece);
        plan->block_samples = samples_of_block(batch->count);
        plan->host_bytes = 2 * plan->block_samples * batch->count * sizeof(struct sw_cut_counts);
        plan->block_steps = fmin(fmax(1, floor(steps)), 200);
        plan->work_per_step = (double)s.shape.sites * members;
        plan->launches_per_step = 8;
        snprintf(plan->path, sizeof plan->path, "cut");
        snprintf(plan->launch, sizeof plan->launch,
                 "%d rectangles, this rank's %u x %u sites; labels in tiles of %u x %u sites",
                 s.layout.ranks, 32 * s.piece.words, s.piece.rows, 32 * s.tile_words, s.tile_rows);
        if (plan->largest_buffer > device->summary.largest_buffer ||
            plan->device_bytes > device->summary.global_memory)
            status = ERGO_FAIL(ctx, ERGO_E_DEVICE,
                               "%s (%s) cannot hold its piece of the lattice: %.3g MiB, and the "
                               "device has %.3g MiB. Use a smaller lattice or more ranks",
                               device->summary.name, device->summary.id,
                               (double)plan->device_bytes / 1048576,
                               (double)device->summary.global_memory / 1048576);
    }
    free(s.right);
    free(s.left);
    sw_layout_free(&s.layout);
    return status;
}

void sw_cut_destroy(void *opaque) {
    struct sw_cut *s = opaque;
    if (!s)
        return;
    sw_piece_release(s);
    for (int k = 0; k < SW_CUT_KERNELS; k++)
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
    for (int p = 0; p < 4; p++)
        if (s->programs[p])
            clReleaseProgram(s->programs[p]);
    for (size_t m = 0; s->members && m < s->batch->count; m++)
        ergo_buffer_release(&s->members[m].param_buffer);
    ergo_buffer_release(&s->changed);
    ergo_dist_posts_destroy(s->posts);
    sw_merge_destroy(s->merge);
    sw_group_free(&s->group);
    free(s->slots[0]);
    free(s->slots[1]);
    free(s->members);
    free(s);
}

static enum ergo_status allocate(struct ergo_context *ctx, struct sw_cut *s) {
    s->block_samples = samples_of_block(s->batch->count);
    const size_t counts = s->block_samples * s->batch->count;
    s->members = calloc(s->batch->count, sizeof *s->members);
    s->posts = ergo_dist_posts_create();
    s->merge = sw_merge_create();
    s->slots[0] = calloc(counts, sizeof *s->slots[0]);
    s->slots[1] = calloc(counts, sizeof *s->slots[1]);
    if (!s->members || !s->posts || !s->merge || !s->slots[0] || !s->slots[1])
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a cut lattice");
    enum ergo_status status = ergo_buffer_create(ctx, s->device, "changes", 4, NULL, &s->changed);
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        sw_member_fill(s->batch->points[m], &s->members[m].params);
        status = ergo_buffer_create(ctx, s->device, "member", sizeof s->members[m].params,
                                    &s->members[m].params, &s->members[m].param_buffer);
    }
    return status;
}

enum ergo_status sw_cut_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const struct ergo_point *first = batch->points[0];
    struct sw_cut *s = calloc(1, sizeof *s);
    double *weights = sw_shares_initial(batch);
    *state = NULL;
    if (!s || !weights) {
        free(s);
        free(weights);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the swendsen-wang state");
    }
    s->batch = batch;
    s->device = device;
    s->shape = sw_shape_of(first);
    s->equivalence = strcmp(ergo_point_text(first, "/system/labelling"), "label-equivalence") == 0;
    s->of_clusters = sw_wants_clusters(first);
    s->neighbour = strcmp(ergo_point_text(first, "/system/merge"), "neighbour") == 0;
    enum ergo_status status = allocate(ctx, s);
    if (status == ERGO_OK)
        status = sw_piece_create(ctx, s, weights);
    if (status == ERGO_OK)
        status = sw_cut_build(ctx, s);
    s->by_speed =
        ergo_dist_count() > 1 && strcmp(ergo_point_text(first, "/system/shares"), "measured") == 0;
    if (status == ERGO_OK && s->by_speed)
        status = sw_cut_share_by_speed(ctx, s);
    s->looked = ergo_clock();
    free(weights);
    if (status != ERGO_OK) {
        sw_cut_destroy(s);
        return status;
    }
    sw_cut_log(ctx, s);
    *state = s;
    return ERGO_OK;
}

enum ergo_status sw_cut_init(struct ergo_context *ctx, void *opaque) {
    struct sw_cut *s = opaque;
    const cl_uint mode =
        strcmp(ergo_point_text(s->batch->points[0], "/system/start"), "random") == 0;
    enum ergo_status status = ERGO_OK;
    s->step = 0;
    s->started = true;
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        const struct ergo_arg args[] = {ERGO_ARG(s->members[m].spins),
                                        ERGO_ARG(s->members[m].param_buffer), ERGO_ARG(s->rect),
                                        ERGO_ARG(mode)};
        status =
            sw_cut_launch(ctx, s, SW_CUT_START, args, 4, sw_piece_words(&s->piece), s->group_size);
        s->members[m].fresh = false;
    }
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}
