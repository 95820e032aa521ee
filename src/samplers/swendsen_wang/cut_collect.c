/* Counts over all ranks, and samples from them. */
#include "samplers/swendsen_wang/cut.h"

/* Limbs of a product; as many of both factors. */
static void multiply(const uint64_t *a, const uint64_t *b, size_t n, uint64_t *product) {
    for (size_t l = 0; l < 2 * n; l++)
        product[l] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const uint64_t part = a[i] * b[j];
            product[i + j] += part & 0xffff;
            product[i + j + 1] += part >> 16;
        }
    for (size_t l = 0; l + 1 < 2 * n; l++) {
        product[l + 1] += product[l] >> 16;
        product[l] &= 0xffff;
    }
}

void sw_cut_count(struct sw_cut_counts *c, const struct sw_sum *sum) {
    const uint64_t size = sum->sites;
    const uint64_t limbs[3] = {size & 0xffff, size >> 16 & 0xffff, size >> 32 & 0xffff};
    uint64_t square[SW_CUT_SQUARES], fourth[SW_CUT_FOURTHS];
    int bin = 0;
    multiply(limbs, limbs, 3, square);
    multiply(square, square, SW_CUT_SQUARES, fourth);
    for (size_t l = 0; l < SW_CUT_SQUARES; l++)
        c->squares[l] += square[l];
    for (size_t l = 0; l < SW_CUT_FOURTHS; l++)
        c->fourths[l] += fourth[l];
    c->largest = size > c->largest ? size : c->largest;
    while (bin + 1 < SW_CUT_ALL_BINS && size >> (bin + 1))
        bin++;
    c->bins[bin]++;
    for (size_t wave = 0; wave < 2; wave++)
        sw_waves_add(c->correlations.waves, (int64_t)sum->waves[wave]);
}

static void carry(uint64_t *limbs, size_t n) {
    for (size_t l = 0; l + 1 < n; l++) {
        limbs[l + 1] += limbs[l] >> 16;
        limbs[l] &= 0xffff;
    }
}

void sw_cut_count_carry(struct sw_cut_counts *c) {
    carry(c->squares, SW_CUT_SQUARES);
    carry(c->fourths, SW_CUT_FOURTHS);
}

void sw_cut_count_reduce(struct sw_cut_counts *c) {
    uint64_t most[2] = {c->largest, c->wraps};
    ergo_dist_sum_counts(&c->unequal, sizeof *c / sizeof c->unequal);
    ergo_dist_max_counts(most, 2);
    c->largest = most[0];
    c->wraps = most[1];
}

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
