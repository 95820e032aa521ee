/*
 * Fully connected spin glasses: what is measured of each realisation.
 *
 * A measurement makes a row of each realisation: at each temperature its moments, in whole units of
 * 2^-28, then P(q) at the coldest temperature as a count. Whole numbers, so that sums of up to 2^24
 * measurements are exact and neither the order nor a division into blocks matters. Rows are summed
 * over the run (the curve `samples`); that of a single realisation goes into bins of time instead
 * (the curve `times`).
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

/* The nearest number of units; |x| < 2^22. */
static double units(double x) {
    return floor(x * 0x1p28 + 0.5);
}

/* Records of a block that are converted together. */
struct converting {
    const struct dense_state *s;
    unsigned slot;
    struct ergo_samples *samples;
    double *energy, *m; /* [sample][pile]: at the coldest temperature */
    atomic_bool wrong;
};

/* Moments of the copies at a temperature; records: of its slots. */
static void moments_of(const struct dense_shape *h, double unit, const struct dense_record *records,
                       double row[DENSE_MOMENTS]) {
    const double n = h->n, copies = h->copies;
    double e[2] = {0}, m[2] = {0};
    for (uint32_t c = 0; c < h->copies; c++) {
        e[c] = (double)records[c].energy * unit / (2 * n);
        m[c] = (2 * (double)records[c].up - n) / n;
    }
    row[DENSE_E] = units((e[0] + e[1]) / copies);
    row[DENSE_E2] = units((e[0] * e[0] + e[1] * e[1]) / copies);
    row[DENSE_M] = units((m[0] + m[1]) / copies);
    row[DENSE_M2] = units((m[0] * m[0] + m[1] * m[1]) / copies);
    if (h->copies < 2)
        return;
    const double q = (n - 2 * (double)records[0].unequal) / n;
    row[DENSE_EE] = units(e[0] * e[1]);
    row[DENSE_ABS_Q] = units(fabs(q));
    row[DENSE_Q2] = units(q * q);
    row[DENSE_Q4] = units(q * q * q * q);
}

/* All measurements of realisations begin to end - 1. */
static void convert_piles(size_t begin, size_t end, void *user) {
    struct converting *a = user;
    const struct dense_state *s = a->s;
    const struct dense_shape *h = &s->shape;
    const size_t length = dense_row_length(h), piles = dense_piles(s), count = a->samples->count;
    const double unit = dense_unit(h);
    const bool single = h->samples == 1;
    for (size_t pile = begin; pile < end; pile++) {
        double *sum = single ? NULL : a->samples->curves[DENSE_CURVE_SAMPLES] + pile * length;
        if (sum)
            memset(sum, 0, length * sizeof *sum);
        for (size_t i = 0; i < count; i++) {
            const struct dense_record *r =
                (const struct dense_record *)ergo_engine_host(&s->e, DENSE_RECORDS, a->slot, i) +
                pile * h->slots;
            double *to =
                single ? a->samples->curves[DENSE_CURVE_TIMES] + (i * piles + pile) * length : sum;
            if (single)
                memset(to, 0, length * sizeof *to);
            for (uint32_t t = 0; t < h->rungs; t++) {
                double row[DENSE_MOMENTS] = {0};
                for (uint32_t c = 0; c < h->copies; c++)
                    if (r[t * h->copies + c].up > h->n || r[t * h->copies + c].unequal > h->n) {
                        a->wrong = true;
                        return;
                    }
                moments_of(h, unit, r + t * h->copies, row);
                for (size_t k = 0; k < DENSE_MOMENTS; k++)
                    to[t * DENSE_MOMENTS + k] += row[k];
                if (t == 0) {
                    a->energy[i * piles + pile] = row[DENSE_E];
                    a->m[i * piles + pile] = row[DENSE_M];
                }
            }
            if (h->copies > 1)
                to[h->rungs * DENSE_MOMENTS + dense_bin(h, r[0].unequal)]++;
        }
    }
}

enum ergo_status dense_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples) {
    struct dense_state *s = state;
    const size_t piles = dense_piles(s), members = s->e.batch->count, each = s->shape.samples;
    struct converting a = {.s = s, .slot = slot, .samples = samples};
    enum ergo_status status = ERGO_OK;
    a.energy = malloc((samples->count + 1) * piles * sizeof *a.energy);
    a.m = malloc((samples->count + 1) * piles * sizeof *a.m);
    if (!a.energy || !a.m)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for samples");
    else
        ergo_parallel_ranges(piles, 1, convert_piles, &a);
    if (a.wrong)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of spin-lattice failed on %s (%s): of %u spins it counts more as "
                           "up or unequal. The device's compiler or hardware is wrong for these "
                           "kernels: try another device",
                           s->e.device->summary.name, s->e.device->summary.driver, s->shape.n);
    for (size_t i = 0; i < samples->count * members && status == ERGO_OK; i++) {
        double *columns = samples->columns + i * COLUMNS, energy = 0, m = 0;
        for (size_t k = i * each; k < (i + 1) * each; k++) {
            energy += a.energy[k];
            m += a.m[k];
        }
        columns[COLUMN_ENERGY] = energy * 0x1p-28 / (double)each;
        columns[COLUMN_MAGNETIZATION] = m * 0x1p-28 / (double)each;
    }
    free(a.energy);
    free(a.m);
    return status;
}
