/* The canonical state of a lattice in pieces: rank 0 makes it, and each takes its piece from it. */
#include <stdlib.h>

#include "samplers/swendsen_wang/cut.h"

/* This rank's spins from the device. */
static enum ergo_status sw_cut_fetch(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                                     uint32_t *planes) {
    ergo_engine_begin(&s->e, ctx);
    sw_cut_choose(s, member);
    ergo_engine_read(&s->e, SW_CUT_SPINS, 0, sw_cut_piece_bytes(s, &s->piece), planes);
    return ergo_engine_end(&s->e);
}

static enum ergo_status put(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                            const uint32_t *planes) {
    ergo_engine_begin(&s->e, ctx);
    sw_cut_choose(s, member);
    s->now->fresh = false;
    ergo_engine_write(&s->e, SW_CUT_SPINS, 0, sw_cut_piece_bytes(s, &s->piece), planes);
    return ergo_engine_end(&s->e);
}

enum ergo_status sw_cut_gather(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                               uint32_t **planes) {
    uint32_t *mine = malloc(sw_cut_piece_bytes(s, &s->piece));
    enum ergo_status status = mine ? sw_cut_fetch(ctx, s, member, mine)
                                   : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice");
    void *whole = NULL;
    if (status == ERGO_OK)
        status = ergo_layout_gather(ctx, &s->layout, 4, s->shape.planes, mine, &whole);
    *planes = whole;
    free(mine);
    return status;
}

enum ergo_status sw_cut_scatter(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                                const uint32_t *planes) {
    void *mine = NULL;
    enum ergo_status status =
        ergo_layout_scatter(ctx, &s->layout, 4, s->shape.planes, planes, &mine);
    if (status == ERGO_OK)
        status = put(ctx, s, member, mine);
    free(mine);
    return status;
}

/* Where the sweeps since the last save spent their time; bench/scaling.py reads it. */
static void log_times(struct ergo_context *ctx, struct sw_cut *s) {
    const struct sw_cut_times *t = &s->times;
    const double n = t->sweeps ? 1e-6 * (double)t->sweeps : 1; /* of microseconds */
    if (t->sweeps)
        ergo_log(
            ctx, ERGO_LOG_INFO,
            "rank %d of %d: %u x %u sites, %llu sweeps; us a sweep: local %.1f halo %.1f pairs "
            "%.1f merge %.1f flip %.1f; bytes a sweep: halo %.0f edges %.0f pairs %.0f; parts "
            "%zu",
            s->rank, s->layout.ranks, 32 * s->piece.words, s->piece.rows,
            (unsigned long long)t->sweeps, t->local / n, t->halo / n, t->pairs / n, t->merge / n,
            t->flip / n, 1e-6 * (double)t->halo_bytes / n, 1e-6 * (double)t->edge_bytes / n,
            1e-6 * (double)t->pair_bytes / n, s->n_parts);
    s->times = (struct sw_cut_times){0};
}

/* On the first rank. */
static enum ergo_status append(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                               struct ergo_text *text) {
    uint32_t *planes = NULL;
    enum ergo_status status = sw_cut_gather(ctx, s, member, &planes);
    if (status == ERGO_OK && planes)
        status = sw_append_state(ctx, &s->shape, planes, text);
    free(planes);
    return status;
}

enum ergo_status sw_cut_save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    log_times(ctx, opaque);
    return append(ctx, opaque, member, text);
}

enum ergo_status sw_cut_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct sw_cut *s = opaque;
    uint32_t *planes = NULL, *mine = NULL;
    enum ergo_status status = sw_read_state(ctx, &s->shape, member, bytes, length, &planes);
    if (status == ERGO_OK && !(mine = malloc(sw_cut_piece_bytes(s, &s->piece))))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    if (status == ERGO_OK) {
        ergo_layout_cut(&s->layout, s->rank, 4, s->shape.planes, planes, mine);
        status = put(ctx, s, member, mine);
    }
    s->e.step = step;
    s->started = false;
    free(planes);
    free(mine);
    return status;
}

enum ergo_status sw_cut_view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    struct sw_cut *s = opaque;
    struct ergo_text text = {0};
    const enum ergo_status status = append(ctx, s, member, &text);
    sw_look(&s->shape, view);
    view->sites = text.data; /* NULL on other ranks than the first */
    return status;
}
