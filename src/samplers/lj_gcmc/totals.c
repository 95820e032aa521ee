/* Sums over all pairs from scratch, by the device. */
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

enum ergo_status lj_total_shares(struct ergo_context *ctx, struct lj_state *s, bool keep,
                                 int64_t *shares) {
    const size_t members = s->batch->count, parts = s->launch.total_parts;
    const size_t global[2] = {parts * s->launch.total_group, members};
    const size_t local[2] = {s->launch.total_group, 1};
    const cl_uint capacity = s->capacity, slots = s->slots, kept = keep;
    const struct ergo_arg args[] = {ERGO_ARG(s->member_buffer), ERGO_ARG(s->chain_buffer),
                                    ERGO_ARG(s->particles),     ERGO_ARG(s->cells),
                                    ERGO_ARG(s->offsets),       ERGO_ARG(s->total_parts),
                                    ERGO_ARG(capacity),         ERGO_ARG(slots),
                                    ERGO_ARG(s->energies),      ERGO_ARG(kept)};
    const size_t bytes = 8 * LJ_TOTALS * members * parts;
    /* nothing that an earlier launch left may look like an answer */
    memset(shares, 0xff, bytes);
    enum ergo_status status = ergo_buffer_write(ctx, s->device, s->total_parts, 0, bytes, shares);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->total, "lj_total", args, 10, 2, global,
                                    local, NULL);
    return status == ERGO_OK ? ergo_buffer_read(ctx, s->device, s->total_parts, 0, bytes, shares)
                             : status;
}

struct lj_totals lj_totals_of(const struct lj_state *s, size_t member, const int64_t *shares) {
    struct lj_totals t = {0};
    for (size_t p = 0; p < s->launch.total_parts; p++) {
        const int64_t *of = shares + LJ_TOTALS * (member * s->launch.total_parts + p);
        t.energy += of[0];
        t.virial += of[1];
        t.contacts += of[2];
        t.overlaps += (uint64_t)of[3];
        t.others += (uint64_t)of[4];
    }
    t.energy /= 2; /* every pair was counted from both its ends */
    t.virial /= 2;
    t.contacts /= 2;
    return t;
}

enum ergo_status lj_total_sums(struct ergo_context *ctx, struct lj_state *s, bool keep,
                               struct lj_totals *totals) {
    const size_t members = s->batch->count;
    int64_t *shares = malloc(8 * LJ_TOTALS * members * s->launch.total_parts);
    const enum ergo_status status =
        shares ? lj_total_shares(ctx, s, keep, shares)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        totals[m] = lj_totals_of(s, m, shares);
    free(shares);
    if (keep && status == ERGO_OK)
        s->stale = false;
    return status;
}

enum ergo_status lj_refresh_energies(struct ergo_context *ctx, struct lj_state *s) {
    const size_t members = s->batch->count, bytes = members * sizeof *s->chains;
    struct lj_totals *totals = calloc(members, sizeof *totals);
    enum ergo_status status = totals ? lj_total_sums(ctx, s, true, totals)
                                     : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->chain_buffer, 0, bytes, s->chains);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        s->chains[m].contacts = totals[m].contacts;
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->chain_buffer, 0, bytes, s->chains);
    free(totals);
    return status;
}
