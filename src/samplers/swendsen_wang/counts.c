/* Counts over all ranks: see counts.h. */
#include "samplers/swendsen_wang/counts.h"

#include "dist/dist.h"

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
    sw_waves_add(c->parts, (int64_t)sum->waves[2]);
}

void sw_cut_take(void *counts, const struct sw_sum *sum) {
    sw_cut_count(counts, sum);
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
    uint64_t most[4] = {c->largest, c->wraps & 1, c->wraps & 2, c->wraps & 4};
    ergo_dist_sum_counts(&c->unequal, sizeof *c / sizeof c->unequal);
    ergo_dist_max_counts(most, 4);
    c->largest = most[0];
    c->wraps = most[1] | most[2] | most[3];
}
