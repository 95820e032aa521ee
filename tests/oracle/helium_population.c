/* A member's walkers of helium-dmc: steps, records, the comb, ancestors. */
#include "helium_dmc/core.h"
#include "oracle/helium_chain.h"

static int32_t moved(int32_t place, int32_t by) {
    return (int32_t)((uint32_t)place + (uint32_t)by);
}

/* Displacements of atom i by the drift of `halves` half steps. */
static void drift(const struct helium_population *p, uint32_t i, const float gradient[3],
                  float halves, int32_t by[3]) {
    float own[4] = {0}, one[3] = {0};
    if (p->walker.sites)
        helium_oracle_one(&p->walker, i, own, one);
    const bool resolved = helium_dmc_resolves(own[2], own[3], p->dmc);
    for (uint32_t k = 0; k < 3; k++)
        by[k] = helium_dmc_drift(gradient[k], resolved ? one[k] : 0, halves, k, p->dmc);
}

static void look_at(struct helium_population *p, int32_t *place) {
    p->walker.place = place;
    helium_oracle_fields(&p->walker);
}

void helium_population_move(struct helium_population *p, uint64_t step, uint32_t walker,
                            const int32_t *from, int32_t *next, int32_t *middle,
                            struct helium_sums *sums) {
    const helium_cubic *random = (const helium_cubic *)(const void *)p->walker.random;
    const uint32_t n = p->walker.n;
    int32_t *euler = p->euler, by[3];
    float share[HELIUM_E_KINDS], gradient[3];
    for (uint32_t i = 0; i < n; i++) { /* diffusion */
        const struct helium_move move =
            helium_draw(random, p->walker.member, HELIUM_FACTOR_ONE, walker * n + i, step);
        next[i] = moved(from[i], move.dx);
        next[n + i] = moved(from[n + i], move.dy);
        next[2 * n + i] = moved(from[2 * n + i], move.dz);
    }
    look_at(p, next);
    for (uint32_t i = 0; i < n; i++) { /* half the drift, a guess */
        helium_oracle_share(&p->walker, i, share, gradient);
        drift(p, i, gradient, 1, by);
        for (uint32_t k = 0; k < 3; k++)
            euler[k * n + i] = moved(next[k * n + i], by[k]);
    }
    look_at(p, euler);
    for (uint32_t i = 0; i < n; i++) { /* by the mean of both gradients */
        helium_oracle_share(&p->walker, i, share, gradient);
        drift(p, i, gradient, 0.5f, by);
        for (uint32_t k = 0; k < 3; k++)
            middle[k * n + i] = moved(helium_dmc_halfway(next[k * n + i], euler[k * n + i]), by[k]);
    }
    look_at(p, middle);
    *sums = (struct helium_sums){0};
    for (uint32_t i = 0; i < n; i++) { /* all of it, by the gradient there */
        helium_oracle_share(&p->walker, i, share, gradient);
        helium_oracle_add(p->walker.member, share, sums);
        drift(p, i, gradient, 2, by);
        for (uint32_t k = 0; k < 3; k++)
            next[k * n + i] = moved(next[k * n + i], by[k]);
    }
}

void helium_population_record(const struct helium_population *p, uint64_t step,
                              const struct helium_sums *sums, const int64_t *from, int64_t *next) {
    const bool push = p->dmc->every && (step + 1) % p->dmc->every == 0;
    for (int k = HELIUM_DMC_RECORDS - 1; k >= 0; k--)
        next[k] = step == 0 ? sums->potential
                  : !push   ? from[k]
                  : k > 0   ? from[k - 1]
                            : sums->potential;
}

static int64_t energy_of(const struct helium_population *p, uint32_t w) {
    const struct helium_sums *s = &p->sums[w];
    return helium_dmc_energy(s->potential, s->laplacian, s->gradient, p->dmc);
}

void helium_population_comb(const struct helium_population *p, uint64_t step, uint64_t grown[2]) {
    const struct helium_member *m = p->walker.member;
    const uint32_t count = p->walkers, word = helium_dmc_word(step, m->key0, m->key1);
    int64_t energy = 0;
    uint64_t all = 0, below = 0;
    uint32_t k = 0;
    for (uint32_t w = 0; w < count; w++)
        energy += energy_of(p, w);
    const int64_t mean = energy / (int64_t)count;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t w = 0; w < count; w++) {
            const uint64_t weight =
                helium_dmc_weight(helium_dmc_exponent(energy_of(p, w), mean, p->dmc),
                                  (uint32_t)(p->sums[w].accepted >> HELIUM_BEYOND));
            *(pass ? &below : &all) += weight;
            while (pass && k < count && ergo_comb_tooth(k, all, count, word) < below)
                p->parents[k++] = w;
        }
    grown[0] = (uint64_t)mean;
    grown[1] = all;
    for (k = 0; all == 0 && k < count; k++)
        p->parents[k] = k;
}

/* ---- all of a step --------------------------------------------------------------------------- */

static void harvest(const struct helium_population *p) {
    const size_t size = 3 * (size_t)p->walker.n;
    for (uint32_t c = 0; c < p->chosen; c++) {
        const uint32_t walker = helium_dmc_chosen(c, p->walkers, p->chosen);
        memcpy(p->pure + c * size, p->tags + p->next_ancestors[walker] * size, 4 * size);
    }
}

static void tag(const struct helium_population *p) {
    memcpy(p->tags, p->middle, p->walkers * 12 * (size_t)p->walker.n);
    for (uint32_t w = 0; w < p->walkers; w++)
        p->next_ancestors[w] = w;
}

/* Before the first window is over, its own walkers stand for their descendants. */
static void trace(const struct helium_population *p, uint64_t step) {
    memcpy(p->next_ancestors, p->ancestors, 4 * (size_t)p->walkers);
    if (step == 0)
        tag(p);
    if (step == 0 || (step + 1) % p->window == 0)
        harvest(p);
    if ((step + 1) % p->window == 0)
        tag(p);
}

void helium_population_step(struct helium_population *p, uint64_t step) {
    const size_t size = 3 * (size_t)p->walker.n, records = HELIUM_DMC_RECORDS;
    uint64_t unused[2];
    for (uint32_t w = 0; w < p->walkers; w++) {
        helium_population_move(p, step, w, p->places + w * size, p->next + w * size,
                               p->middle + w * size, &p->sums[w]);
        helium_population_record(p, step, &p->sums[w], p->records + w * records,
                                 p->next_records + w * records);
    }
    if (p->chosen)
        trace(p, step);
    helium_population_comb(p, step, p->remember ? p->grown[step % p->remember] : unused);
    for (uint32_t w = 0; w < p->walkers; w++) {
        const uint32_t from = p->parents[w];
        memcpy(p->places + w * size, p->next + from * size, 4 * size);
        memcpy(p->records + w * records, p->next_records + from * records, 8 * records);
        if (p->chosen)
            p->ancestors[w] = p->next_ancestors[from];
    }
}
