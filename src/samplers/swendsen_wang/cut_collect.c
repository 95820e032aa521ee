/* Samples from counts over all ranks. */
#include "samplers/swendsen_wang/cut.h"

/* As advance.c rounds them: each limb's share is added, the lowest first. */
static double value_of(const uint64_t *limbs, size_t n) {
    double value = 0, scale = 1;
    for (size_t l = 0; l < n; l++, scale *= 65536)
        value += (double)limbs[l] * scale;
    return value;
}

enum ergo_status sw_cut_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                                struct ergo_samples *samples) {
    const struct sw_cut *s = opaque;
    const size_t members = s->e.batch->count;
    const double n = (double)s->shape.sites;
    size_t bins = 0; /* as curve_size */
    (void)ctx;
    while (s->of_clusters && bins < SW_CUT_ALL_BINS && s->shape.sites >> bins)
        bins++;
    samples->count = samples->n_curve_samples = s->slot_samples[which];
    for (size_t row = 0; row < samples->count * members; row++) {
        struct sw_cut_counts *c = &s->slots[which][row];
        double *columns = samples->columns + row * SW_COLUMNS;
        struct sw_counts sums = {.unequal = c->unequal, .largest = c->largest};
        uint64_t others = 0;
        for (size_t k = 1; k < s->shape.q; k++)
            others += sums.states[k] = c->states[k];
        sums.states[0] = s->shape.sites - others;
        sw_cut_count_carry(c);
        for (size_t b = 0; b < SW_CUT_ALL_BINS; b++)
            sums.clusters += c->bins[b];
        for (size_t l = 0; l < 4; l++)
            sums.squares |= c->squares[l] << (16 * l);
        sums.fourths = value_of(c->fourths, SW_CUT_FOURTHS);
        sw_convert(&s->shape, sw_unit_of(s->e.batch->points[row % members]), &sums, columns);
        if (c->squares[4] || c->squares[5]) /* beyond 64 bits */
            sw_improve(&s->shape, sums.clusters, value_of(c->squares, SW_CUT_SQUARES), sums.fourths,
                       columns);
        columns[SW_COLUMN_WRAPS] = c->wraps ? 1.0 : 0.0;
        for (size_t b = 0; b < bins && samples->curves[0]; b++)
            samples->curves[0][row * bins + b] = (double)c->bins[b] / n;
        if (s->distances)
            sw_correlate_convert(&s->shape, s->distances, &c->correlations, columns,
                                 samples->curves[1]
                                     ? samples->curves[1] + row * (s->distances - SW_DISTANCE_CURVE)
                                     : NULL);
    }
    return ERGO_OK;
}
