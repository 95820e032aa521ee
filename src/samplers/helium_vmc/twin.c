/*
 * The chain in serial C, one atom after the other, with 64-bit sums. It has no groups, vectors or
 * local memory, so a compiler that translates those wrongly gives other results. Shared with the
 * kernels is the arithmetic of distances, cubic pieces and random numbers (core.h as C).
 */
#include <string.h>

#include "helium_vmc/core.h"

#include "samplers/helium_vmc/helium.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

static struct helium_atoms atoms_of(const struct helium_twin *t) {
    return (struct helium_atoms){.member = t->member,
                                 .e_table = t->e_table,
                                 .binades = t->binades,
                                 .n = t->n,
                                 .place = t->place,
                                 .sites = t->sites,
                                 .triplet = t->triplet,
                                 .t_table = t->t_table,
                                 .field = t->field};
}

static int64_t u_of(const struct helium_twin *t, float x) {
    const float y = helium_clamp(x, t->member->low);
    const uint32_t base = (127 - t->binades) << HELIUM_U_PIECES;
    return (int32_t)helium_poly(piece(t->u_table, helium_piece(y, HELIUM_U_PIECES) - base),
                                helium_within(y, HELIUM_U_PIECES));
}

/* Sum of u over the pairs of atom i, and its part by its site, if it were at a. */
static int64_t sum_at(const struct helium_twin *t, const uint32_t a[3], uint32_t i) {
    const struct helium_atoms atoms = atoms_of(t);
    int64_t sum = helium_atoms_site(&atoms, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        helium_atoms_difference(&atoms, a, j, d);
        sum += j == i ? 0 : u_of(t, helium_atoms_distance2(&atoms, d));
    }
    return sum;
}

int64_t helium_twin_atom(const struct helium_twin *t, uint32_t i) {
    const struct helium_atoms atoms = atoms_of(t);
    uint32_t a[3];
    helium_atoms_place(&atoms, i, a);
    return sum_at(t, a, i);
}

int64_t helium_twin_ln_psi(const struct helium_twin *t) {
    int64_t sum = 0;
    const struct helium_atoms atoms = atoms_of(t);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t a[3];
        helium_atoms_place(&atoms, i, a);
        sum += helium_twin_atom(t, i) + helium_atoms_site(&atoms, i, a);
    }
    return t->triplet ? sum + 2 * helium_atoms_triplet(&atoms) : sum;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Accepted if |psi'/psi|^2 >= uniform, that is if 2 (ln psi' - ln psi) >= ln(uniform). */
bool helium_twin_trial(const struct helium_twin *t, uint32_t i, uint64_t step, int32_t to[3],
                       int64_t *change) {
    const helium_cubic *random = (const helium_cubic *)(const void *)t->random;
    const struct helium_move move =
        helium_draw(random, t->member, t->factor, t->walker * t->n + i, step);
    const uint32_t by[3] = {(uint32_t)move.dx, (uint32_t)move.dy, (uint32_t)move.dz};
    const struct helium_atoms atoms = atoms_of(t);
    uint32_t old[3], new[3];
    helium_atoms_place(&atoms, i, old);
    for (uint32_t k = 0; k < 3; k++)
        new[k] = old[k] + by[k];
    int64_t gain = sum_at(t, new, i) - sum_at(t, old, i);
    if (t->triplet)
        gain += helium_atoms_triplet_change(&atoms, i, new, t->next_field);
    const bool accepted = gain >= move.bound;
    for (uint32_t k = 0; k < 3; k++)
        to[k] = (int32_t)(accepted ? new[k] : old[k]);
    *change = accepted ? gain : 0;
    return accepted;
}

void helium_twin_begin(struct helium_twin *t) {
    const struct helium_atoms atoms = atoms_of(t);
    if (t->triplet)
        helium_atoms_field(&atoms, t->field);
}

void helium_twin_steps(struct helium_twin *t, uint64_t step, uint64_t steps) {
    for (uint64_t s = step; s < step + steps; s++)
        for (uint32_t i = 0; i < t->n; i++) {
            int32_t to[3];
            int64_t change;
            const bool accepted = helium_twin_trial(t, i, s, to, &change);
            if (accepted && t->triplet)
                memcpy(t->field, t->next_field, 12 * (size_t)t->n);
            t->accepted += accepted;
            t->ln_psi += change;
            for (uint32_t k = 0; k < 3; k++)
                t->place[k * t->n + i] = to[k];
        }
}

/* Change the factor in proportion to the deviation of the acceptance, by at most a quarter. */
uint32_t helium_twin_factor(const struct helium_member *member, uint32_t factor, uint64_t accepted,
                            uint64_t tried) {
    const int64_t f = factor, wrong = (int64_t)(accepted * 65536 / tried) - (int64_t)member->target;
    int64_t next = f + f * wrong / 65536;
    next = next < f * 3 / 4 ? f * 3 / 4 : next > f * 5 / 4 ? f * 5 / 4 : next;
    return (uint32_t)(next < 64 ? 64 : next > 16 * 65536 ? 16 * 65536 : next);
}

/* ---- energies -------------------------------------------------------------------------------- */

void helium_twin_energies(const struct helium_twin *t, uint32_t last, struct helium_sums *sums) {
    const struct helium_atoms atoms = atoms_of(t);
    helium_atoms_sums(&atoms, sums);
    sums->ln_psi = 2 * t->ln_psi;
    sums->accepted |= last;
}
