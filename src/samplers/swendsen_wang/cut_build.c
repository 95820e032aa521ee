/* Kernels of a cut lattice. */
#include "device/program.h"
#include "samplers/swendsen_wang/cut.h"

static enum ergo_status build(struct ergo_context *ctx, struct sw_cut *s) {
    static const char *const paths[3] = {"swendsen_wang/cut.cl", "swendsen_wang/cut_labels.cl",
                                         "swendsen_wang/cut_gather.cl"};
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    /* core.h's own shape is not used: rectangles are arguments */
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=1u -DSW_LY=1u -DSW_TAIL=32u "
                     "-DSW_ROW0=0u -DSW_WORD0=0u -DSW_ALL_WORDS=1u -DSW_ALL_LX=32u "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu %s",
                     s->shape.q, s->shape.planes, s->tile_words, s->tile_rows,
                     s->tile_words * s->tile_rows, s->device->quirks.relaxed_atomics);
    if (o.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    for (int p = 0; p < 3 && status == ERGO_OK; p++)
        status = ergo_program_build(ctx, s->device, paths[p], o.data, &s->programs[p]);
    for (int k = 0; k < SW_CUT_TILE_LABEL_ALL && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device,
                                    s->programs[k < SW_CUT_LABEL_TILE ? 0
                                                : k < SW_CUT_NODES    ? 1
                                                                      : 2],
                                    sw_cut_kernel_names[k], &s->kernels[k]);
    ergo_text_free(&o);
    return status;
}

/* The kernels of sweep.cl, for this shape of a rectangle. */
enum ergo_status sw_cut_build_tiles(struct ergo_context *ctx, struct sw_cut *s) {
    const struct sw_piece *p = &s->piece;
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    for (int k = SW_CUT_TILE_LABEL_ALL; k < SW_CUT_KERNELS; k++) {
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
        s->kernels[k] = NULL;
    }
    if (s->programs[3])
        clReleaseProgram(s->programs[3]);
    s->programs[3] = NULL;
    if (!s->by_tiles)
        return ERGO_OK;
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=%uu -DSW_LY=%uu -DSW_TAIL=%uu "
                     "-DSW_ROW0=0u -DSW_WORD0=0u -DSW_ALL_WORDS=%uu -DSW_ALL_LX=%lldu "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu "
                     "-DSW_SUM_SLOTS=%uu %s",
                     s->shape.q, s->shape.planes, p->words, p->rows, p->tail, s->shape.row_words,
                     (long long)s->shape.lx, s->tiles.tile_words, s->tiles.tile_rows,
                     s->tiles.tile_words * s->tiles.tile_rows, s->tiles.tile_group, s->sum_groups,
                     s->device->quirks.relaxed_atomics);
    status = o.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                      : ergo_program_build(ctx, s->device, "swendsen_wang/cut_tiles.cl", o.data,
                                           &s->programs[3]);
    for (int k = SW_CUT_TILE_LABEL_ALL; k < SW_CUT_KERNELS && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device, s->programs[3], sw_cut_kernel_names[k],
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

enum ergo_status sw_cut_build(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = ERGO_OK;
    if (s->rank == 0)
        status = build(ctx, s);
    if (s->rank == 0 && status == ERGO_OK)
        status = sw_cut_build_tiles(ctx, s);
    if (s->rank == 0 && status == ERGO_OK)
        status = warm(ctx, s);
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    if (s->rank > 0)
        status = build(ctx, s);
    if (s->rank > 0 && status == ERGO_OK)
        status = sw_cut_build_tiles(ctx, s);
    return s->rank > 0 && status == ERGO_OK ? warm(ctx, s) : status;
}
