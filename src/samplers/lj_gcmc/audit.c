/*
 * Audits: the parameters in the device's memory, the cells against the positions, and a stretch of
 * the run with its measurements against the twin's (audit_replay.c).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "samplers/lj_gcmc/lj.h"

enum ergo_status lj_check_cells(struct ergo_context *ctx, struct lj_state *s, size_t member) {
    const size_t cells = s->grid.cells;
    uint32_t *words = NULL, n = 0;
    uint32_t *planes = calloc(4 * cells * s->slots, 4);
    enum ergo_status status =
        planes ? lj_fetch(ctx, s, member, &words, &n)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of %zu cells", cells);
    if (status == ERGO_OK)
        status = lj_cells_read(ctx, s, member, planes);
    uint64_t inside = 0, missing = 0;
    for (size_t c = 0; c < cells && status == ERGO_OK; c++)
        inside += planes[lj_cell_count_word(s, c)];
    for (uint32_t i = 0; i < n && status == ERGO_OK; i++) {
        const uint64_t c = lj_grid_cell(&s->grid, words + 3 * (size_t)i);
        const uint32_t count = planes[lj_cell_count_word(s, c)];
        bool found = false;
        for (uint32_t p = 0; p < count && p < s->slots && !found; p++)
            found = planes[lj_cell_word(s, c, p, 0)] == words[3 * (size_t)i] &&
                    planes[lj_cell_word(s, c, p, 1)] == words[3 * (size_t)i + 1] &&
                    planes[lj_cell_word(s, c, p, 2)] == words[3 * (size_t)i + 2];
        missing += !found;
    }
    if (status == ERGO_OK && (missing || inside != n))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of lj-gcmc failed on %s at move %" PRIu64 ", member %zu: %u "
                           "particles, %" PRIu64 " in the cells, %" PRIu64 " not found in theirs",
                           s->device->summary.name, s->step, member, n, inside, missing);
    free(words);
    free(planes);
    return status;
}

enum ergo_status lj_audit(struct ergo_context *ctx, void *opaque) {
    struct lj_state *s = opaque;
    const size_t members = s->batch->count, stride = members / 256 + 1;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "lj-gcmc");
    if (status == ERGO_OK)
        status = lj_settle(ctx, s);
    if (s->stale && status == ERGO_OK) /* after a load: there is nothing to compare with yet */
        status = lj_refresh_energies(ctx, s);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        if (s->chains[m].step != s->step)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of lj-gcmc failed on %s: member %zu stands at move %" PRIu64
                               " of %" PRIu64,
                               s->device->summary.name, m, s->chains[m].step, s->step);
    /* reading all planes of thousands of chains would take longer than the run */
    for (size_t m = 0; m < members && status == ERGO_OK; m += stride)
        status = lj_check_cells(ctx, s, m);
    return status == ERGO_OK ? lj_replay(ctx, s) : status;
}
