/* Fully connected spin glasses: the chain in serial C, for audits. */
#include "common/rng.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "spin_lattice/dense.h"

static uint32_t word_of(struct ergo_words r, uint32_t k) {
    return k == 0 ? r.x : k == 1 ? r.y : k == 2 ? r.z : r.w;
}

/* The random number of a site. */
static uint32_t draw(const struct dense_twin *t, uint32_t site, uint64_t step, uint32_t purpose,
                     uint32_t slot) {
    const uint32_t entity = t->sample * ((t->shape->n + 3) / 4) + site / 4;
    return word_of(ergo_philox_words(entity, (uint32_t)step, (uint32_t)(step >> 32),
                                     ERGO_DRAW(purpose, slot), t->key[0], t->key[1]),
                   site % 4);
}

void dense_twin_start(const struct dense_twin *t, uint32_t slot, uint32_t mode, int8_t *spins) {
    for (uint32_t i = 0; i < t->shape->n; i++) {
        const uint32_t up = mode == 2 ? draw(t, i, 0, DENSE_PURPOSE_START, slot) >> 31 : mode;
        spins[i] = up ? 1 : -1;
    }
}

static void add_row(const struct dense_twin *t, uint32_t site, int32_t times, int32_t *fields) {
    const int16_t *row = t->couplings + site * t->stride;
    for (uint32_t i = 0; i < t->shape->n; i++)
        fields[i] += times * row[i];
}

void dense_twin_fields(const struct dense_twin *t, const int8_t *spins, int32_t *fields) {
    for (uint32_t i = 0; i < t->shape->n; i++)
        fields[i] = t->external;
    for (uint32_t site = 0; site < t->shape->n; site++)
        add_row(t, site, spins[site], fields);
}

uint64_t dense_twin_sweep(const struct dense_twin *t, uint32_t slot, float scale, uint64_t step,
                          int8_t *spins, int32_t *fields) {
    uint64_t flips = 0;
    for (uint32_t i = 0; i < t->shape->n; i++) {
        const uint32_t r = draw(t, i, step, DENSE_PURPOSE_UPDATE, slot);
        if (spins[i] * fields[i] >= dense_limit(r, scale, t->shape->heat))
            continue;
        add_row(t, i, -2 * spins[i], fields);
        spins[i] = (int8_t)-spins[i];
        flips++;
    }
    return flips;
}

int64_t dense_twin_energy(const struct dense_twin *t, const int8_t *spins, const int32_t *fields) {
    int64_t twice = 0;
    for (uint32_t i = 0; i < t->shape->n; i++)
        twice -= spins[i] * ((int64_t)fields[i] + t->external);
    return twice;
}

bool dense_twin_swaps(const struct dense_twin *t, uint32_t slot, float slope, int64_t cold,
                      int64_t hot, uint64_t step) {
    return ergo_ladder_decides(hot - cold, slope, t->sample, step,
                               ERGO_DRAW(DENSE_PURPOSE_SWAP, slot), t->key[0], t->key[1]) != 0;
}
