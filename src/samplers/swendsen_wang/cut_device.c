/* One lattice cut over ranks: create, kernels, start. */
#include "samplers/swendsen_wang/cut.h"

#include <stdlib.h>
#include <string.h>

#include "device/program.h"

void sw_cut_destroy(void *opaque) {
    struct sw_cut *s = opaque;
    if (!s)
        return;
    sw_piece_release(s);
    for (int k = 0; k < SW_CUT_KERNELS; k++)
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
    for (int p = 0; p < SW_CUT_PROGRAMS; p++)
        if (s->programs[p])
            clReleaseProgram(s->programs[p]);
    for (size_t m = 0; s->members && m < s->batch->count; m++)
        ergo_buffer_release(&s->members[m].param_buffer);
    ergo_dist_posts_destroy(s->posts);
    sw_merge_destroy(s->merge);
    sw_group_free(&s->group);
    free(s->slots[0]);
    free(s->slots[1]);
    free(s->members);
    free(s);
}

static enum ergo_status allocate(struct ergo_context *ctx, struct sw_cut *s) {
    s->block_samples = sw_cut_block_samples(s->batch->count);
    const size_t counts = s->block_samples * s->batch->count;
    s->members = calloc(s->batch->count, sizeof *s->members);
    s->posts = ergo_dist_posts_create();
    s->merge = sw_merge_create();
    s->slots[0] = calloc(counts, sizeof *s->slots[0]);
    s->slots[1] = calloc(counts, sizeof *s->slots[1]);
    if (!s->members || !s->posts || !s->merge || !s->slots[0] || !s->slots[1])
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a cut lattice");
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        sw_member_fill(s->batch->points[m], &s->members[m].params);
        status = ergo_buffer_create(ctx, s->device, "member", sizeof s->members[m].params,
                                    &s->members[m].params, &s->members[m].param_buffer);
    }
    return status;
}

/* Kernels that take the rectangle's shape as an argument: one build for all ranks. */
static enum ergo_status build_common(struct ergo_context *ctx, struct sw_cut *s) {
    static const char *const paths[2] = {"swendsen_wang/cut.cl", "swendsen_wang/cut_gather.cl"};
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    /* core.h's shape is not used */
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=1u -DSW_LY=1u -DSW_TAIL=32u "
                     "-DSW_ALL_WORDS=1u -DSW_ALL_LX=32u %s",
                     s->shape.q, s->shape.planes, s->device->quirks.relaxed_atomics);
    if (o.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    for (int p = 0; p < 2 && status == ERGO_OK; p++)
        status = ergo_program_build(ctx, s->device, paths[p], o.data, &s->programs[p]);
    for (int k = 0; k < SW_CUT_TILE_LABEL && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device, s->programs[k < SW_CUT_NODES ? 0 : 1],
                                    sw_cut_kernel_names[k], &s->kernels[k]);
    ergo_text_free(&o);
    return status;
}

enum ergo_status sw_cut_build_tiles(struct ergo_context *ctx, struct sw_cut *s) {
    const struct sw_piece *p = &s->piece;
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    for (int k = SW_CUT_TILE_LABEL; k < SW_CUT_KERNELS; k++) {
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
        s->kernels[k] = NULL;
    }
    if (s->programs[2])
        clReleaseProgram(s->programs[2]);
    s->programs[2] = NULL;
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=%uu -DSW_LY=%uu -DSW_TAIL=%uu "
                     "-DSW_ALL_WORDS=%uu -DSW_ALL_LX=%lldu "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu "
                     "-DSW_SUM_SLOTS=%uu %s",
                     s->shape.q, s->shape.planes, p->words, p->rows, p->tail, s->shape.row_words,
                     (long long)s->shape.lx, s->tiles.tile_words, s->tiles.tile_rows,
                     s->tiles.tile_words * s->tiles.tile_rows, s->tiles.tile_group, s->sum_groups,
                     s->device->quirks.relaxed_atomics);
    status = o.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                      : ergo_program_build(ctx, s->device, "swendsen_wang/cut_tiles.cl", o.data,
                                           &s->programs[2]);
    for (int k = SW_CUT_TILE_LABEL; k < SW_CUT_KERNELS && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device, s->programs[2], sw_cut_kernel_names[k],
                                    &s->kernels[k]);
    ergo_text_free(&o);
    return status;
}

/* Drivers that compile at the first launch do so here, rank 0's before the others': theirs then
 * find its results in the caches. */
static enum ergo_status warm(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = sw_cut_local(ctx, s, &s->members[0], true, NULL);
    if (status == ERGO_OK)
        status = sw_cut_local(ctx, s, &s->members[0], false, NULL);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}

static enum ergo_status build_and_warm(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = build_common(ctx, s);
    if (status == ERGO_OK)
        status = sw_cut_build_tiles(ctx, s);
    return status == ERGO_OK ? warm(ctx, s) : status;
}

static enum ergo_status build(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = s->rank == 0 ? build_and_warm(ctx, s) : ERGO_OK;
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    return s->rank > 0 ? build_and_warm(ctx, s) : status;
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
    s->of_clusters = sw_wants_clusters(first);
    enum ergo_status status = allocate(ctx, s);
    if (status == ERGO_OK)
        status = sw_piece_create(ctx, s, weights);
    if (status == ERGO_OK)
        status = build(ctx, s);
    s->by_speed =
        ergo_dist_count() > 1 && strcmp(ergo_point_text(first, "/system/shares"), "measured") == 0;
    if (status == ERGO_OK && s->by_speed)
        status = sw_cut_share_by_speed(ctx, s);
    s->balanced_at = ergo_clock();
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
