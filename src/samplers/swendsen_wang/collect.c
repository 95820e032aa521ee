/* Swendsen-Wang: sums from the device to samples. */
#include "samplers/swendsen_wang/sw.h"

void sw_add_clusters(const uint32_t *fields, uint64_t *largest, uint64_t *bins, uint64_t *squares,
                     uint64_t *fourths) {
    *largest = fields[SW_FIELD_LARGEST] > *largest ? fields[SW_FIELD_LARGEST] : *largest;
    for (size_t l = 0; l < SW_SQUARE_LIMBS; l++)
        squares[l] += fields[SW_FIELD_SQUARES + l];
    for (size_t l = 0; l < SW_FOURTH_LIMBS; l++)
        fourths[l] += fields[SW_FIELD_FOURTHS + l];
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        bins[b] += fields[SW_FIELD_BINS + b];
    for (uint64_t n = 1, bin = 0; n <= SW_SMALL; n++) {
        const uint64_t clusters = fields[SW_FIELD_SMALL + n - 1];
        bin += n >> (bin + 1);
        bins[bin] += clusters;
        squares[0] += n * n * clusters;
        fourths[0] += n * n * n * n * clusters;
        if (clusters > 0 && n > *largest)
            *largest = n;
    }
}

/* A sum in limbs of 16 bits, with its carries; rounded once, the lowest first. low (may be NULL):
 * modulo 2^64. */
static double add_limbs(const uint64_t *sums, size_t limbs, uint64_t *low) {
    uint64_t carry = 0, bits = 0;
    double value = 0, scale = 1;
    for (size_t l = 0; l < limbs; l++, scale *= 65536) {
        carry += sums[l];
        value += (double)(carry & 0xffff) * scale;
        bits |= l < 4 ? (carry & 0xffff) << (16 * l) : 0;
        carry >>= 16;
    }
    if (low)
        *low = bits;
    return value;
}

/* clusters NULL: not measured. */
static void add_places(const struct sw_state *s, const uint32_t *sums, const uint32_t *clusters,
                       struct sw_counts *c) {
    const size_t q = s->shape.q, slots = s->launch.sum_slots;
    uint64_t others = 0, square_limbs[SW_SQUARE_LIMBS] = {0}, fourth_limbs[SW_FOURTH_LIMBS] = {0};
    *c = (struct sw_counts){0};
    for (size_t i = 0; i < slots; i++) {
        c->unequal += sums[i * q];
        for (size_t k = 1; k < q; k++)
            c->states[k] += sums[i * q + k];
        if (clusters)
            sw_add_clusters(clusters + i * SW_CLUSTER_FIELDS, &c->largest, c->bins, square_limbs,
                            fourth_limbs);
    }
    add_limbs(square_limbs, SW_SQUARE_LIMBS, &c->squares);
    c->fourths = add_limbs(fourth_limbs, SW_FOURTH_LIMBS, NULL);
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        c->clusters += c->bins[b];
    for (size_t k = 1; k < q; k++)
        others += c->states[k];
    c->states[0] = s->shape.sites - others;
    if (c->clusters == 1)
        c->largest = s->shape.sites; /* 2^32 is a 0 on the device */
}

void sw_improve(const struct sw_shape *shape, uint64_t clusters, double squares, double fourths,
                double *columns) {
    const double n = (double)shape->sites, q = (double)shape->q, psi2 = squares / (n * n);
    columns[SW_COLUMN_IMPROVED] = clusters == 1 ? 1.0 : psi2;
    /* the mean of psi^4 over the states of given clusters: psi is sum_c n_c e_c / N, and unit
     * vectors e of a simplex have <(e_a e_b)^2> = 1/(q - 1) for a /= b */
    columns[SW_COLUMN_IMPROVED4] =
        clusters == 1 ? 1.0 : ((q + 1) * psi2 * psi2 - 2 * (fourths / (n * n) / (n * n))) / (q - 1);
}

struct sw_unit sw_unit_of(const struct ergo_point *point) {
    return (struct sw_unit){ergo_point_real(point, "/system/coupling"), sw_is_ising(point)};
}

void sw_convert(const struct sw_shape *shape, struct sw_unit unit, const struct sw_counts *c,
                double *columns) {
    const double n = (double)shape->sites, q = (double)shape->q, j = unit.coupling;
    const double unequal = (double)c->unequal / n;
    double most = 0, squares = 0;
    for (size_t k = 0; k < shape->q; k++) {
        const double share = (double)c->states[k] / n;
        most = share > most ? share : most;
        squares += share * share;
    }
    columns[SW_COLUMN_ENERGY] = unit.ising ? -j * (2.0 - 2.0 * unequal) : j * unequal;
    columns[SW_COLUMN_ORDER] = (q * most - 1) / (q - 1);
    columns[SW_COLUMN_PSI2] = (q * squares - 1) / (q - 1);
    sw_improve(shape, c->clusters, (double)c->squares, c->fourths, columns);
    columns[SW_COLUMN_CLUSTERS] = (double)c->clusters / n;
    columns[SW_COLUMN_LARGEST] = (double)c->largest / n;
}

enum ergo_status sw_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                            struct ergo_samples *samples) {
    struct sw_state *s = opaque;
    struct sw_slot *slot = &s->slots[which];
    const size_t members = s->batch->count, slots = s->launch.sum_slots;
    samples->count = samples->n_curve_samples = slot->samples;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    if (status != ERGO_OK)
        return status;
    size_t bins = 0; /* as curve_size */
    while (s->clusters && bins < SW_CLUSTER_BINS && s->shape.sites >> bins)
        bins++;
    const uint32_t *sums = slot->host[SW_SUMS], *clusters = slot->host[SW_CLUSTERS];
    const uint32_t *wraps = slot->host[SW_WRAPS];
    for (size_t m = 0; m < members; m++) {
        const struct sw_unit unit = sw_unit_of(s->batch->points[m]);
        for (size_t row = m; row < slot->samples * members; row += members) {
            double *columns = samples->columns + row * SW_COLUMNS;
            struct sw_counts c;
            add_places(s, sums + row * slots * s->shape.q,
                       s->clusters ? clusters + row * slots * SW_CLUSTER_FIELDS : NULL, &c);
            sw_convert(&s->shape, unit, &c, columns);
            columns[SW_COLUMN_WRAPS] = s->clusters && wraps[row] ? 1.0 : 0.0;
            for (size_t b = 0; b < bins && samples->curves[0]; b++)
                samples->curves[0][row * bins + b] = (double)c.bins[b] / (double)s->shape.sites;
        }
    }
    return ERGO_OK;
}
