/*
 * Audits: what the device keeps against what the host finds, from one copy of its lattices.
 *
 * The counts: up spins, of antiferromagnets by colour, and unequal bonds, counted by words on the
 * device, by the kernel that makes the run's samples, and in canonical rows here. The chain: a few
 * more sweeps on the device by the very kernels of the run, and here by their twin in C, from the
 * same state; afterwards the device has its state back. Of small lattices as many members as fit
 * the budget are replayed, the last one among them, whose place in the buffers is the most
 * error-prone; of a large one some rows at both sides of the seam. This finds miscompiled kernels
 * (they exist), whose lattices are consistent but whose chain is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/twin.h"
#include "spin_lattice/params.h"

/* Sites that are replayed in one audit: a fraction of a second of the host's. */
static const uint64_t replay_sites = 1u << 21;

static enum ergo_status audit_counts(struct ergo_context *ctx, struct ising_state *s,
                                     const uint32_t *lattices) {
    const size_t members = s->batch->count, words = s->shape.member_bytes / 4;
    struct ising_counts *counts = malloc(members * sizeof *counts);
    uint8_t *rows = malloc(ising_rows_bytes(&s->shape));
    enum ergo_status status = ERGO_OK;
    if (!counts || !rows) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the audit");
        goto out;
    }
    status = ising_measure_now(ctx, s, counts);
    for (size_t i = 0; i < members && status == ERGO_OK; i++) {
        ising_pack(&s->shape, lattices + i * words, rows);
        const struct ising_counts own = ising_count(&s->shape, rows), got = counts[i];
        if (got.up != own.up || got.unequal != own.unequal ||
            (s->launch.sums > 2 && got.first != own.first))
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of spin-lattice failed on %s at sweep %llu, member %zu: the "
                               "device counts %llu up spins, %llu of colour 0, and %llu unequal "
                               "bonds, the host %llu, %llu and %llu",
                               s->device->summary.name, (unsigned long long)s->step, i,
                               (unsigned long long)got.up, (unsigned long long)got.first,
                               (unsigned long long)got.unequal, (unsigned long long)own.up,
                               (unsigned long long)own.first, (unsigned long long)own.unequal);
    }
out:
    free(counts);
    free(rows);
    return status;
}

/* What is replayed: rows `first` and following, around the seam, of n members. */
struct window {
    size_t members;
    uint64_t first, rows, sweeps;
};

static struct window window_of(const struct ising_state *s, uint64_t sweeps) {
    const uint64_t lx = (uint64_t)s->shape.lx, ly = (uint64_t)s->shape.ly, rows = replay_sites / lx;
    const size_t fit = rows < ly ? 1 : (size_t)(rows / ly);
    struct window w = {fit < s->batch->count ? fit : s->batch->count, 0, ly, sweeps};
    if (rows + 4 * sweeps < ly) { /* the host replays its neighbourhood too */
        w.rows = rows < 2 ? 2 : rows;
        w.first = ly - w.rows / 2;
    }
    return w;
}

/* The k-th replayed member, the last one for k == members - 1. */
static size_t window_member(const struct window *w, const struct ising_state *s, size_t k) {
    return (k + 1) * s->batch->count / w->members - 1;
}

/* One colour of the window in two pieces, before and behind the seam: words from the colour's
 * start. */
static size_t window_piece(const struct window *w, const struct ising_state *s, int piece,
                           size_t *first) {
    const uint64_t ly = (uint64_t)s->shape.ly, end = w->first + w->rows;
    const uint64_t rows = piece == 0 ? (end < ly ? end : ly) - w->first : end > ly ? end - ly : 0;
    *first = (size_t)(piece == 0 ? w->first * s->shape.row_words : 0);
    return (size_t)(rows * s->shape.row_words);
}

/* The window of the device's lattices, [member][colour][piece]. */
static enum ergo_status read_window(struct ergo_context *ctx, struct ising_state *s,
                                    const struct window *w, uint32_t *found) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < 4 * w->members && status == ERGO_OK; k++) {
        size_t first;
        const size_t words = window_piece(w, s, k % 2, &first);
        const size_t colour = 4 * s->shape.blocks * (k / 2 % 2);
        if (words)
            status = ergo_buffer_read(ctx, s->device, s->spins,
                                      window_member(w, s, k / 4) * s->shape.member_bytes +
                                          4 * (colour + first),
                                      4 * words, found);
        found += words;
    }
    return status;
}

/* Replays the window in `lattices` and compares. */
static enum ergo_status compare_window(struct ergo_context *ctx, const struct ising_state *s,
                                       const struct window *w, uint32_t *lattices,
                                       const uint32_t *found) {
    for (size_t k = 0; k < 4 * w->members; k++) {
        const size_t member = window_member(w, s, k / 4);
        uint32_t *lattice = lattices + member * (s->shape.member_bytes / 4);
        if (k % 4 == 0)
            ising_twin_rows(s->batch->points[member], &s->shape, lattice, s->step, w->sweeps,
                            w->first, w->rows);
        size_t first;
        const size_t words = window_piece(w, s, k % 2, &first);
        if (memcmp(lattice + 4 * s->shape.blocks * (k / 2 % 2) + first, found, 4 * words) != 0)
            return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                             "audit of spin-lattice failed on %s (%s): from the same lattice, "
                             "sweeps %llu to %llu of member %zu differ between the device and "
                             "the host. The device's compiler or hardware is wrong for these "
                             "kernels: try another device, or /tuning/path and /tuning/lanes",
                             s->device->summary.name, s->device->summary.driver,
                             (unsigned long long)s->step,
                             (unsigned long long)(s->step + w->sweeps - 1), member);
        found += words;
    }
    return ERGO_OK;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct ising_state *s,
                                    uint32_t *lattices) {
    const uint64_t step = s->step;
    enum ergo_status status = ising_advance_audit(ctx, s);
    const struct window w = window_of(s, s->step - step);
    s->step = step;
    uint32_t *found = malloc(8 * w.members * w.rows * s->shape.row_words);
    if (status == ERGO_OK && !found)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = read_window(ctx, s, &w, found);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->spins, 0,
                                   s->shape.member_bytes * s->batch->count, lattices);
    if (status == ERGO_OK)
        status = compare_window(ctx, s, &w, lattices, found);
    free(found);
    return status;
}

enum ergo_status ising_audit(struct ergo_context *ctx, void *opaque) {
    struct ising_state *s = opaque;
    const size_t all = s->shape.member_bytes * s->batch->count;
    /* Copied here and not in a second buffer there: Oclgrind takes what clEnqueueCopyBuffer wrote
     * for uninitialised; and the device may be full. */
    uint32_t *lattices = malloc(all);
    if (!lattices) {
        ergo_log(ctx, ERGO_LOG_WARNING, "no memory to copy %.3g MiB of lattices: not audited",
                 (double)all / 1048576);
        return ERGO_OK;
    }
    enum ergo_status status = ergo_buffer_read(ctx, s->device, s->spins, 0, all, lattices);
    if (status == ERGO_OK)
        status = audit_counts(ctx, s, lattices);
    if (status == ERGO_OK)
        status = audit_chain(ctx, s, lattices);
    free(lattices);
    return status;
}
