/*
 * Couplings of fully connected spin glasses, as integers in units of 2^-12 / sqrt(n).
 *
 * Key = the disorder's (seed, or /system/disorder_seed, and replica: not the temperature, so that a
 * scan over it keeps its realisations), step = realisation. Bimodal: entity = a block of 128 pairs
 * i < j in the order of j, a bit each. Gaussian: entity = pair, by glass_normal. Random orthogonal:
 * entity = column of n/2 times n normal numbers.
 *
 * Additions, multiplications, divisions and square roots of IEEE 754 in an order that is written
 * here: the same bits on all machines.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

void dense_key(const struct ergo_point *point, const char *name, uint32_t replica,
               uint32_t key[2]) {
    const struct ergo_value *own = &of_lattice(point)->disorder_seed;
    const uint64_t seed = own->present ? own->seed : point->parameters->seed.seed;
    char line[128];
    const int n = snprintf(line, sizeof line, "ergocl %s disorder %llu %u", name,
                           (unsigned long long)seed, replica);
    const uint64_t hash = ergo_hash64(line, (size_t)n);
    key[0] = (uint32_t)hash;
    key[1] = (uint32_t)(hash >> 32);
}

static int16_t clamped(double x) {
    const double most = DENSE_COUPLING_MAX, whole = floor(x + 0.5);
    return (int16_t)(whole > most ? most : whole < -most ? -most : whole);
}

/* ---- Sherrington-Kirkpatrick ------------------------------------------------------------------
 */

static void set(int16_t *couplings, size_t stride, uint32_t i, uint32_t j, int16_t value) {
    couplings[i * stride + j] = couplings[j * stride + i] = value;
}

static void bimodal(const uint32_t key[2], const struct dense_shape *s, uint32_t sample,
                    size_t stride, int16_t *couplings) {
    uint32_t pair = 0;
    struct ergo_words r = {0};
    for (uint32_t j = 1; j < s->n; j++)
        for (uint32_t i = 0; i < j; i++, pair++) {
            if (pair % 128 == 0)
                r = ergo_philox_words(pair / 128, sample, 0, ERGO_DRAW(DENSE_PURPOSE_COUPLING, 0),
                                      key[0], key[1]);
            const uint32_t words[4] = {r.x, r.y, r.z, r.w};
            const bool negative = words[pair % 128 / 32] >> pair % 32 & 1;
            set(couplings, stride, i, j, negative ? -(1 << DENSE_UNIT_BITS) : 1 << DENSE_UNIT_BITS);
        }
}

static void gaussian(const uint32_t key[2], const struct dense_shape *s, uint32_t sample,
                     size_t stride, int16_t *couplings) {
    uint32_t pair = 0;
    for (uint32_t j = 1; j < s->n; j++)
        for (uint32_t i = 0; i < j; i++, pair++)
            set(couplings, stride, i, j,
                clamped(glass_normal(key, pair, sample, DENSE_PURPOSE_COUPLING, 0) *
                        (1.0 / (1 << (GLASS_REAL_BITS - DENSE_UNIT_BITS)))));
}

/* ---- random orthogonal ------------------------------------------------------------------------
 */

/* Sums in eight parts, so that compilers may add them side by side and never differ. */
static double product(const double *a, const double *b, uint32_t n) {
    double part[8] = {0};
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (uint32_t k = 0; k < 8; k++)
            part[k] += a[i + k] * b[i + k];
    for (uint32_t k = 0; i + k < n; k++)
        part[k] += a[i + k] * b[i + k];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

/* `count` orthonormal vectors that span a random space: normal numbers, made orthonormal one after
 * the other, each twice (Gram and Schmidt; twice is enough). */
static void basis(const uint32_t key[2], uint32_t sample, uint32_t n, uint32_t count, double *q) {
    for (uint32_t v = 0; v < count; v++) {
        double *own = q + (size_t)v * n;
        for (uint32_t i = 0; i < n; i++)
            own[i] = glass_normal(key, v * n + i, sample, DENSE_PURPOSE_COUPLING, 0);
        for (uint32_t k = 0; k < 2 * v; k++) {
            const double *other = q + (size_t)(k % v) * n;
            const double part = product(own, other, n);
            for (uint32_t i = 0; i < n; i++)
                own[i] -= part * other[i];
        }
        const double norm = sqrt(product(own, own, n));
        for (uint32_t i = 0; i < n; i++)
            own[i] /= norm;
    }
}

/* J = O^T D O with as many eigenvalues 1 as -1 is 2 P - 1, where P projects on a random space of
 * half the dimensions. */
static bool orthogonal(const uint32_t key[2], const struct dense_shape *s, uint32_t sample,
                       size_t stride, int16_t *couplings) {
    const uint32_t n = s->n, half = n / 2;
    const double scale = 2 / dense_unit(s);
    double *q = malloc((size_t)n * half * sizeof *q), *rows = malloc((size_t)n * half * sizeof *q);
    if (q && rows) {
        basis(key, sample, n, half, q);
        for (uint32_t v = 0; v < half; v++)
            for (uint32_t i = 0; i < n; i++)
                rows[(size_t)i * half + v] = q[(size_t)v * n + i];
        for (uint32_t j = 1; j < n; j++)
            for (uint32_t i = 0; i < j; i++)
                set(couplings, stride, i, j,
                    clamped(scale *
                            product(rows + (size_t)i * half, rows + (size_t)j * half, half)));
    }
    const bool made = q && rows;
    free(q);
    free(rows);
    return made;
}

bool dense_couplings(const uint32_t key[2], const struct dense_shape *s, uint32_t sample,
                     size_t stride, int16_t *couplings) {
    memset(couplings, 0, s->n * stride * sizeof *couplings);
    if (s->disorder == DENSE_ORTHOGONAL)
        return orthogonal(key, s, sample, stride, couplings);
    if (s->disorder == DENSE_GAUSSIAN)
        gaussian(key, s, sample, stride, couplings);
    else
        bimodal(key, s, sample, stride, couplings);
    return true;
}
