/* What is measured: sums from scratch, test insertions, g(r), density profiles. */
#include <math.h>
#include <string.h>

#include "common/unit.h"
#include "lj_gcmc/core.h"
#include "oracle/lj_chain.h"

static const uint32_t NO_PARTICLE = UINT32_MAX;

struct lj_oracle_sums lj_oracle_total(const struct lj_oracle *t) {
    struct lj_oracle_sums twice = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        lj_oracle_add_field(t, t->p[i], 2, &twice);
        if (!t->m.ideal)
            lj_oracle_add_pairs(t, t->p[i], i, 1, &twice);
    }
    return (struct lj_oracle_sums){twice.energy / 2, twice.virial / 2, twice.contacts / 2,
                                   twice.core};
}

/* Of a mixture, which two species, in the order 1-1, 1-2, 2-2, 1-3, ... */
static size_t kind_of(const struct lj_oracle *t, const uint32_t a[3], const uint32_t b[3]) {
    const size_t s = a[0] % 4, u = b[0] % 4;
    size_t kind = 0;
    for (size_t high = 0; t->species; high++)
        for (size_t low = 0; low <= high; low++, kind++)
            if ((s == low && u == high) || (s == high && u == low))
                return kind;
    return 0;
}

void lj_oracle_pairs(const struct lj_oracle *t, const float *edges, uint32_t bins,
                     uint64_t *counts) {
    for (uint32_t i = 0; i < t->n; i++) {
        for (uint32_t j = 0; j < t->n; j++) {
            const float r2 = lj_oracle_distance2(&t->m, t->p[j], t->p[i]);
            uint32_t low = 0, high = bins; /* edges[low] <= r2 < edges[high] */
            if (j == i || r2 >= edges[bins])
                continue;
            while (high - low > 1) {
                const uint32_t middle = (low + high) / 2;
                *(r2 < edges[middle] ? &high : &low) = middle;
            }
            counts[kind_of(t, t->p[i], t->p[j]) * bins + low]++;
        }
    }
}

void lj_oracle_profile(const struct lj_oracle *t, int axis, uint32_t per_box, uint32_t bins,
                       uint64_t *counts) {
    for (uint32_t i = 0; i < t->n; i++) {
        const uint64_t bin = (uint64_t)t->p[i][axis] * per_box / 0x1000000000000u;
        if (bin < bins)
            counts[bin]++;
    }
}

/* Of the tails, in one particle more of species s; their strength is that of the box. */
static float tails_of(const struct lj_oracle *t, uint32_t s, float exponent) {
    const float thinner = t->volume_every ? ergo_as_float(t->box.thinner) : 1;
    if (!t->species)
        return fmaf(-t->m.tail, (float)(2 * t->n + 1), exponent);
    for (uint32_t k = 0; k < t->species; k++)
        exponent = fmaf(-(t->mixture.tail[s * LJ_MOST_SPECIES + k] * thinner),
                        (float)(2 * t->numbers[k] + (k == s)), exponent);
    return exponent;
}

void lj_oracle_ghosts(const struct lj_oracle *t, uint32_t count, int64_t *sums) {
    memset(sums, 0, LJ_GHOST_SUMS * sizeof *sums);
    for (uint32_t i = 0; count && t->m.zv > 0 && i < t->n; i++) {
        struct lj_oracle_sums pairs = {0};
        lj_oracle_add_field(t, t->p[i], 1, &pairs);
        if (!t->m.ideal)
            lj_oracle_add_pairs(t, t->p[i], i, 1, &pairs);
        const float exponent =
            fmaf(t->m.tail, (float)(2 * t->n - 1), t->m.beta4 * (float)pairs.energy);
        const float weight = exponent < -80 ? 0 : ergo_exp(fminf(exponent, 60));
        const float share = (float)t->n * weight * ergo_inverse(t->m.zv);
        sums[3] += (int64_t)fmaf(fminf(share, 1), 0x1p36f, 0.5f);
    }
    for (uint32_t k = 0; k < (t->species ? t->species : 1) * count; k++) {
        const uint32_t i = k % count, s = k / count;
        int64_t *const of = sums + s * LJ_GHOST_WORDS;
        const struct ergo_words w = ergo_philox_words(
            t->m.box * LJ_MOST_GHOSTS + i, (uint32_t)t->step, (uint32_t)(t->step >> 32),
            ERGO_DRAW(LJ_PURPOSE_GHOST, 0), t->m.key0, t->m.key1);
        struct lj_oracle_sums pairs = {0};
        const uint32_t at[3] = {t->species ? w.x / 4 * 4 + s : w.x, w.y, w.z};
        lj_oracle_add_field(t, at, 1, &pairs);
        if (!t->m.ideal)
            lj_oracle_add_pairs(t, at, NO_PARTICLE, 1, &pairs);
        const float exponent = tails_of(t, s, -(t->m.beta4 * (float)pairs.energy));
        if (pairs.core || exponent < -80)
            continue;
        const float weight = ergo_exp(fminf(exponent, 34.6f));
        if (t->m.zv > 0) {
            const float share = t->m.zv * weight * ergo_inverse((float)t->n + 1);
            of[2] += (int64_t)fmaf(fminf(share, 1), 0x1p36f, 0.5f);
        }
        if (weight < 0x1p20f)
            of[0] += (int64_t)fmaf(weight, 0x1p31f, 0.5f);
        else
            of[1] += (int64_t)weight;
    }
}
