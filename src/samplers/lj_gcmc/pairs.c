/* Counts of pairs by distance, for g(r): bins, launches, audit. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"

/* Pairs that a host's audit looks at. */
static const double AUDIT_PAIRS = 1e7;

double lj_bin_width(const struct lj_state *s) {
    return s->system.cutoff / (double)ergo_point_int(s->batch->points[0], "/run/gr_bins");
}

/* Squares of the edges of g(r)'s bins, in sigma^2. */
enum ergo_status lj_pairs_create(struct ergo_context *ctx, struct lj_state *s) {
    const size_t n = s->launch.bins ? s->launch.bins : 1;
    const double width = lj_bin_width(s) / s->system.sigma;
    s->bin_edges = malloc((n + 1) * sizeof *s->bin_edges);
    if (!s->bin_edges)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the bins of g(r)");
    for (size_t k = 0; k <= n; k++)
        s->bin_edges[k] = (float)((double)k * width * (double)k * width);
    return ergo_buffer_create(ctx, s->device, "edges of g(r)", (n + 1) * sizeof *s->bin_edges,
                              s->bin_edges, &s->edges);
}

/* So that no launch lasts longer than some tenths of a second: desktops and drivers end those that
 * do. A particle looks at all others, or at those in the cells that the bins reach to, at a density
 * of 1. */
uint32_t lj_pairs_at_once(const struct lj_state *s) {
    const double units = s->device->summary.compute_units ? s->device->summary.compute_units : 1;
    const double each_second = s->device->type == CL_DEVICE_TYPE_CPU ? 1e8 : 2e8;
    double visits = s->capacity;
    if (s->system.neighbours != LJ_NONE) {
        const double reach = lj_bin_width(s) * s->launch.bins;
        double volume = 1, cells = 1;
        for (int k = 0; k < 3; k++) {
            const double side = s->system.box[k] / s->grid.n[k];
            const double wide = fmin(s->system.box[k], 2 * reach + 3 * side);
            volume *= wide / s->system.sigma;
            cells *= wide / side;
        }
        visits = volume + cells;
    }
    const double most = 0.2 * each_second * units / (visits * (double)s->batch->count);
    return (uint32_t)fmin(fmax(most, s->launch.total_group), LJ_MOST_PARTICLES);
}

enum ergo_status lj_pairs_launch(struct ergo_context *ctx, struct lj_state *s, cl_mem counts,
                                 size_t curve, uint64_t step, uint32_t begin, uint32_t end) {
    const cl_ulong at = step;
    const cl_uint capacity = s->capacity, slots = s->slots, sample = (cl_uint)curve;
    const cl_uint first = begin, last = end;
    const cl_float per_width = (cl_float)(s->system.sigma / lj_bin_width(s));
    const size_t global[2] = {(size_t)s->launch.total_parts * s->launch.total_group,
                              s->batch->count};
    const size_t local[2] = {s->launch.total_group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->chain_buffer),
                                    ERGO_ARG(s->particles),
                                    ERGO_ARG(s->cells),
                                    ERGO_ARG(s->offsets),
                                    ERGO_ARG(s->edges),
                                    ERGO_ARG(counts),
                                    ERGO_ARG(at),
                                    ERGO_ARG(capacity),
                                    ERGO_ARG(slots),
                                    ERGO_ARG(sample),
                                    ERGO_ARG(per_width),
                                    ERGO_ARG(first),
                                    ERGO_ARG(last)};
    return ergo_kernel_launch(ctx, s->device, s->pairs, "lj_pairs", args, 14, 2, global, local,
                              NULL);
}

/* ---- audit ----------------------------------------------------------------------------------- */

/* Ordered pairs of the particles below `end` with all others, bin by bin. */
static void count_pairs(const struct lj_state *s, size_t member, const uint32_t *words, uint32_t n,
                        uint32_t end, uint64_t *counts) {
    const uint32_t bins = s->launch.bins;
    memset(counts, 0, bins * sizeof *counts);
    for (uint32_t i = 0; i < end && i < n; i++) {
        const uint32_t *w = words + 3 * (size_t)i;
        const lj_position at = {w[0], w[1], w[2]};
        for (uint32_t j = 0; j < n; j++) {
            const uint32_t *v = words + 3 * (size_t)j;
            const lj_position q = {v[0], v[1], v[2]};
            const float r2 = lj_distance2(q, at, s->members[member].scale);
            uint32_t low = 0, high = bins; /* edges[low] <= r2 < edges[high] */
            if (j == i || r2 >= s->bin_edges[bins])
                continue;
            while (high - low > 1) {
                const uint32_t middle = (low + high) / 2;
                if (r2 < s->bin_edges[middle])
                    high = middle;
                else
                    low = middle;
            }
            counts[low]++;
        }
    }
}

static enum ergo_status compare_member(struct ergo_context *ctx, struct lj_state *s, size_t m,
                                       uint32_t end, const uint32_t *device, uint64_t *counts) {
    const size_t bins = s->launch.bins, parts = s->launch.total_parts;
    uint32_t *words = NULL, n = 0;
    enum ergo_status status = lj_fetch(ctx, s, m, &words, &n);
    if (status != ERGO_OK)
        return status;
    count_pairs(s, m, words, n, end, counts);
    free(words);
    for (size_t k = 0; k < bins && status == ERGO_OK; k++) {
        uint64_t sum = 0;
        for (size_t p = 0; p < parts; p++)
            sum += device[(m * parts + p) * bins + k];
        if (sum != counts[k])
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of lj-gcmc failed on %s at move %" PRIu64
                               ", member %zu of %u particles: in bin %zu of g(r) %" PRIu64
                               " pairs of the first %u particles, on the host %" PRIu64,
                               s->device->summary.name, s->step, m, n, k, sum, end, counts[k]);
    }
    return status;
}

/* The counts of as many particles as the host can look at, in two launches as in a run. */
enum ergo_status lj_pairs_audit(struct ergo_context *ctx, struct lj_state *s) {
    const size_t members = s->batch->count, stride = members / 16 + 1;
    const size_t compared = (members + stride - 1) / stride;
    const size_t words = members * s->launch.total_parts * s->launch.bins;
    double most = 1; /* particles: the second launch has to matter, too */
    for (size_t m = 0; m < members; m++)
        most = fmax(most, s->chains[m].particles);
    const double share = AUDIT_PAIRS / (most * (double)compared);
    const uint32_t end = (uint32_t)fmax(fmin(share, most), 2), middle = end / 2;
    cl_mem buffer = NULL;
    uint32_t *counts = malloc(4 * words + 4);
    uint64_t *bins = malloc(s->launch.bins * sizeof *bins);
    enum ergo_status status =
        counts && bins ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of g(r)");
    if (status == ERGO_OK) {
        memset(counts, 0xff, 4 * words); /* nothing may look like an answer */
        status = ergo_buffer_create(ctx, s->device, "audit of g(r)", 4 * words, counts, &buffer);
    }
    if (status == ERGO_OK)
        status = lj_pairs_launch(ctx, s, buffer, 0, s->step, 0, middle);
    if (status == ERGO_OK)
        status = lj_pairs_launch(ctx, s, buffer, 0, s->step, middle, end);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, buffer, 0, 4 * words, counts);
    for (size_t m = 0; m < members && status == ERGO_OK; m += stride)
        status = compare_member(ctx, s, m, end, counts, bins);
    ergo_buffer_release(&buffer);
    free(counts);
    free(bins);
    return status;
}
