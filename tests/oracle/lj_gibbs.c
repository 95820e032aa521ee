/* Of a Gibbs ensemble: what happens between its two boxes. */
#include <math.h>

#include "lj_gcmc/gibbs.h"
#include "oracle/lj_chain.h"

static const uint32_t NO_PARTICLE = UINT32_MAX;

/* One box grows and the other one shrinks. Sums over all pairs in both boxes of the trial. */
static void exchange_volume(struct lj_oracle *t) {
    struct lj_chain trial[2] = {t[0].box, t[1].box};
    const int64_t x = t[0].box.size - t[1].box.size;
    const int64_t to = lj_volume_trial(&t->rules, &t->m, t->step, t[0].box.moved, x);
    struct lj_oracle_sums sums[2] = {{0}, {0}};
    bool limited = false, core = false;
    int64_t exponent = 0;
    for (uint32_t b = 0; b < 2; b++) {
        lj_volume_set(&t[b].rules, lj_gibbs_size(&t->rules, to, b), &trial[b]);
        limited =
            limited || trial[b].size < t[b].rules.limits[0] || trial[b].size > t[b].rules.limits[1];
    }
    for (uint32_t b = 0; b < 2 && !limited; b++) {
        lj_oracle_set_box(&t[b], &trial[b]);
        sums[b] = lj_oracle_total(&t[b]);
        core = core || sums[b].core;
        exponent += lj_oracle_volume_part(&t[b], trial[b].size, sums[b].energy);
    }
    const bool accepted = !limited && !core && lj_oracle_volume_accepts(t, exponent);
    for (int b = 0; b < 2; b++)
        lj_oracle_end_volume(&t[b], &trial[b], &sums[b], accepted, limited);
}

/* Panagiotopoulos' acceptance of a transfer: N V'/((N' + 1) V) exp(-beta dU). */
static bool accepts(const struct lj_oracle *from, const struct lj_oracle *to, uint32_t word,
                    int64_t change) {
    const float u = ((float)word + 0.5f) * 0x1p-32f;
    const float volumes = lj_volume_float(to->box.size - from->box.size, 0);
    float exponent = -((float)change * from->m.beta4);
    exponent = fmaf(-to->m.tail, (float)(2 * to->n + 1), exponent);
    exponent = fmaf(from->m.tail, (float)(2 * from->n - 1), exponent);
    if (exponent < -80)
        return false;
    return ((float)to->n + 1) * u <= volumes * (float)from->n * ergo_exp(fminf(exponent, 60));
}

static void add_sums(struct lj_oracle *t, const struct lj_oracle_sums *sums) {
    t->energy += sums->energy;
    t->virial += sums->virial;
    t->contacts += sums->contacts;
}

/* Trial number k of this step. */
static bool transfer(struct lj_oracle *t, uint32_t k) {
    struct ergo_words w[2];
    for (uint32_t i = 0; i < 2; i++)
        w[i] = ergo_philox_words(0, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                                 ERGO_DRAW(LJ_PURPOSE_TRANSFER, 2 * k + i), t->m.key0, t->m.key1);
    struct lj_oracle *const from = &t[w[0].x >> 31], *const to = &t[1 - (w[0].x >> 31)];
    struct lj_oracle_sums gain = {0}, loss = {0};
    to->tried[0][LJ_INSERTION]++;
    if (from->n == 0)
        return true;
    /* which one: N times a fraction of 64 bits */
    const uint64_t low = (uint64_t)w[0].z * from->n >> 32, high = (uint64_t)w[0].y * from->n;
    const struct lj_oracle_move out = {.kind = LJ_DELETION,
                                       .index = (uint32_t)((high + low) >> 32)};
    struct lj_oracle_move in = {.kind = LJ_INSERTION, .to = {w[1].x, w[1].y, w[1].z}};
    if (from->species) /* which stays */
        in.to[0] = in.to[0] / 4 * 4 + from->p[out.index][0] % 4;
    if (!from->m.ideal) {
        lj_oracle_add_pairs(to, in.to, NO_PARTICLE, 1, &gain);
        if (gain.core)
            return true;
        lj_oracle_add_pairs(from, from->p[out.index], out.index, -1, &loss);
    }
    if (!accepts(from, to, w[0].w, gain.energy + loss.energy))
        return true;
    if (to->n == to->capacity)
        return false;
    lj_oracle_carry_out(from, &out);
    lj_oracle_carry_out(to, &in);
    add_sums(from, &loss);
    add_sums(to, &gain);
    from->accepted[0][LJ_DELETION]++;
    to->accepted[0][LJ_INSERTION]++;
    return true;
}

bool lj_oracle_exchange(struct lj_oracle *t) {
    bool room = true;
    exchange_volume(t);
    for (uint32_t k = 0; k < t->transfers && room; k++)
        room = transfer(t, k);
    for (int b = 0; b < 2; b++)
        t[b].box.volumes += t->transfers;
    return room;
}
