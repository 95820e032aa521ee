/* Counts of pairs by distance, for g(r): bins, launches. */
#include <math.h>
#include <stdlib.h>

#include "samplers/lj_gcmc/lj.h"

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
    return ergo_constant_create(ctx, s->device, &s->constants, "edges of g(r)",
                                (n + 1) * sizeof *s->bin_edges, s->bin_edges, &s->edges);
}

/* So that no launch lasts longer than some tenths of a second: desktops and drivers end those that
 * do. A particle looks at those in the cells that the bins reach to, at a density of 1. */
uint32_t lj_pairs_at_once(const struct lj_state *s) {
    const double units = s->device->summary.compute_units ? s->device->summary.compute_units : 1;
    const double each_second = s->device->type == CL_DEVICE_TYPE_CPU ? 1e8 : 2e8;
    const double reach = lj_bin_width(s) * s->launch.bins;
    double volume = 1, cells = 1;
    for (int k = 0; k < 3; k++) {
        const double side = s->system.box[k] / s->grid.n[k];
        const double wide = fmin(s->system.box[k], 2 * reach + 3 * side);
        volume *= wide / s->system.sigma;
        cells *= wide / side;
    }
    const double most = 0.2 * each_second * units / ((volume + cells) * (double)s->batch->count);
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

/* Pairs per volume of the bin and of the box; g(r) divides by N (N - 1) / V^2 of the sample. */
void lj_pairs_convert(const struct lj_state *s, double n, const uint64_t *pairs, double *gr,
                      double *density) {
    const double width = lj_bin_width(s), v = s->system.volume;
    const double ideal = n > 1 ? n * (n - 1) / (v * v) : 1;
    for (size_t k = 0; k < s->launch.bins; k++) {
        const double inner = (double)k * width, outer = inner + width;
        const double shell =
            4.0 / 3.0 * 3.14159265358979323846 * (outer * outer * outer - inner * inner * inner);
        density[k] = (double)pairs[k] / (v * shell);
        gr[k] = density[k] / ideal;
    }
}
