/* Rectangles of a cut lattice as large as their ranks are fast. */
#include <stdlib.h>

#include "samplers/swendsen_wang/cut.h"

void sw_cut_log(struct ergo_context *ctx, const struct sw_cut *s) {
    const struct ergo_rectangle *p = &s->piece;
    ergo_log(ctx, ERGO_LOG_INFO,
             "rank %d has rows %llu to %llu and sites %llu to %llu of them, %.3g %% of the lattice",
             s->rank, (unsigned long long)p->row0, (unsigned long long)(p->row0 + p->rows - 1),
             (unsigned long long)(32 * p->word0),
             (unsigned long long)(32 * (p->word0 + p->words - 1) + p->tail - 1),
             100.0 * (double)ergo_rectangle_words(p) / (double)s->shape.words);
}

/* What a sweep is without the others. Clusters on edges get any names, and some state. */
static enum ergo_status sweep_alone(struct ergo_context *ctx, void *state) {
    struct sw_cut *s = state;
    ergo_engine_begin(&s->e, ctx);
    sw_cut_choose(s, 0);
    s->drawn = 0;
    sw_cut_local(s, false, false);
    sw_cut_flip(s);
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

enum ergo_status sw_cut_share_by_speed(struct ergo_context *ctx, struct sw_cut *s) {
    bool uneven = false;
    enum ergo_status status = ergo_engine_init(ctx, s);
    if (status == ERGO_OK)
        status = ergo_shares_try(ctx, s->shares, (double)ergo_rectangle_words(&s->piece),
                                 sweep_alone, s, &uneven);
    return uneven ? sw_cut_remake(ctx, s) : status;
}

enum ergo_status sw_cut_recut(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t members = s->e.batch->count;
    uint32_t **planes = calloc(members, sizeof *planes);
    enum ergo_status status =
        planes ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu lattices", members);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_gather(ctx, s, m, &planes[m]);
    if (status == ERGO_OK)
        status = sw_cut_remake(ctx, s);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_scatter(ctx, s, m, planes[m]);
    for (size_t m = 0; planes && m < members; m++)
        free(planes[m]);
    free(planes);
    return status;
}

enum ergo_status sw_cut_balance(struct ergo_context *ctx, struct sw_cut *s) {
    bool uneven = false;
    enum ergo_status status =
        ergo_shares_compare(ctx, s->shares, (double)ergo_rectangle_words(&s->piece), &uneven);
    if (uneven)
        status = sw_cut_recut(ctx, s);
    if (uneven && status == ERGO_OK) {
        ergo_shares_divided(s->shares);
        sw_cut_log(ctx, s);
    }
    return status;
}
