/*
 * The chain in serial C, one atom after the other and one tooth after the other. Shared with the
 * kernels is the arithmetic of pairs, random numbers, drift and weights (core.h as C).
 */
#include "helium_dmc/core.h"

#include "samplers/helium_dmc/dmc.h"

static int32_t moved(int32_t place, int32_t by) {
    return (int32_t)((uint32_t)place + (uint32_t)by);
}

static void find_fields(const struct dmc_twin *t, const struct helium_atoms *atoms) {
    if (t->triplet)
        helium_atoms_field(atoms, t->field);
}

struct helium_atoms dmc_twin_atoms(const struct dmc_twin *t, const int32_t *place) {
    return (struct helium_atoms){.member = t->member,
                                 .e_table = t->e_table,
                                 .binades = t->binades,
                                 .n = t->n,
                                 .place = place,
                                 .sites = t->sites,
                                 .triplet = t->triplet,
                                 .t_table = t->t_table,
                                 .field = t->field};
}

/* Displacements of atom i by the drift of `halves` half steps. */
static void drift(const struct dmc_twin *t, const struct helium_atoms *atoms, uint32_t i,
                  const float gradient[3], float halves, int32_t by[3]) {
    float own[4] = {0}, one[3] = {0};
    if (atoms->sites)
        helium_atoms_one(atoms, i, own, one);
    const bool resolved = helium_dmc_resolves(own[2], own[3], t->dmc);
    for (uint32_t k = 0; k < 3; k++)
        by[k] = helium_dmc_drift(gradient[k], resolved ? one[k] : 0, halves, k, t->dmc);
}

void dmc_twin_step(const struct dmc_twin *t, uint64_t step, uint32_t walker, const int32_t *from,
                   int32_t *next, int32_t *middle, struct helium_sums *sums) {
    const helium_cubic *random = (const helium_cubic *)(const void *)t->random;
    const uint32_t n = t->n;
    int32_t *euler = t->euler;
    struct helium_atoms atoms = dmc_twin_atoms(t, next);
    int64_t total[HELIUM_E_KINDS] = {0};
    uint64_t marks = 0;
    float share[HELIUM_E_KINDS], gradient[3];
    int32_t by[3];
    for (uint32_t i = 0; i < n; i++) { /* diffusion */
        const struct helium_move move =
            helium_draw(random, t->member, HELIUM_FACTOR_ONE, walker * n + i, step);
        const int32_t chi[3] = {move.dx, move.dy, move.dz};
        for (uint32_t k = 0; k < 3; k++)
            next[k * n + i] = moved(from[k * n + i], chi[k]);
    }
    find_fields(t, &atoms);
    for (uint32_t i = 0; i < n; i++) { /* half the drift, a guess */
        helium_atoms_share(&atoms, i, share, gradient);
        drift(t, &atoms, i, gradient, 1, by);
        for (uint32_t k = 0; k < 3; k++)
            euler[k * n + i] = moved(next[k * n + i], by[k]);
    }
    atoms.place = euler;
    find_fields(t, &atoms);
    for (uint32_t i = 0; i < n; i++) { /* by the mean of both gradients */
        helium_atoms_share(&atoms, i, share, gradient);
        drift(t, &atoms, i, gradient, 0.5f, by);
        for (uint32_t k = 0; k < 3; k++)
            middle[k * n + i] = moved(helium_dmc_halfway(next[k * n + i], euler[k * n + i]), by[k]);
    }
    atoms.place = middle;
    find_fields(t, &atoms);
    for (uint32_t i = 0; i < n; i++) { /* all of it, by the gradient there */
        helium_atoms_share(&atoms, i, share, gradient);
        helium_atoms_add(t->member, share, total, &marks);
        drift(t, &atoms, i, gradient, 2, by);
        for (uint32_t k = 0; k < 3; k++)
            next[k * n + i] = moved(next[k * n + i], by[k]);
    }
    helium_atoms_total(total, marks, sums);
}

void dmc_twin_records(const struct dmc_twin *t, uint64_t step, const struct helium_sums *sums,
                      const int64_t *from, int64_t *next) {
    const bool push = t->dmc->every && (step + 1) % t->dmc->every == 0;
    for (int k = HELIUM_DMC_RECORDS - 1; k >= 0; k--)
        next[k] = step == 0 ? sums->potential
                  : !push   ? from[k]
                  : k > 0   ? from[k - 1]
                            : sums->potential;
}

void dmc_twin_comb(const struct dmc_twin *t, uint64_t step, const struct helium_sums *sums,
                   uint32_t *parents, uint64_t grown[2]) {
    const uint32_t count = t->walkers;
    const uint32_t word = helium_dmc_word(step, t->member->key0, t->member->key1);
    int64_t energy = 0;
    uint64_t all = 0, below = 0;
    uint32_t k = 0;
    for (uint32_t w = 0; w < count; w++)
        energy += helium_dmc_energy(sums[w].potential, sums[w].laplacian, sums[w].gradient, t->dmc);
    const int64_t mean = energy / (int64_t)count;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t w = 0; w < count; w++) {
            const int64_t e =
                helium_dmc_energy(sums[w].potential, sums[w].laplacian, sums[w].gradient, t->dmc);
            const uint64_t weight = helium_dmc_weight(helium_dmc_exponent(e, mean, t->dmc),
                                                      (uint32_t)(sums[w].accepted >> 32));
            *(pass ? &below : &all) += weight;
            while (pass && k < count && ergo_comb_tooth(k, all, count, word) < below)
                parents[k++] = w;
        }
    grown[0] = (uint64_t)mean;
    grown[1] = all;
    for (k = 0; all == 0 && k < count; k++)
        parents[k] = k;
}
