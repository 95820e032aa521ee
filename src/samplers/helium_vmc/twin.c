/*
 * The chain in serial C, one atom after the other, with 64-bit sums. It has no groups, vectors or
 * local memory, so a compiler that translates those wrongly gives other results. Shared with the
 * kernels is the arithmetic of distances, cubic pieces and random numbers (core.h as C).
 */
#include <string.h>

#include "helium_vmc/core.h"

#include "samplers/helium_vmc/helium.h"

struct helium_atoms helium_twin_atoms(const struct helium_twin *t) {
    return (struct helium_atoms){.member = t->member,
                                 .e_table = t->e_table,
                                 .u_table = t->u_table,
                                 .binades = t->binades,
                                 .n = t->n,
                                 .place = t->place,
                                 .sites = t->sites,
                                 .triplet = t->triplet,
                                 .t_table = t->t_table,
                                 .field = t->field};
}

int64_t helium_twin_atom(const struct helium_twin *t, uint32_t i) {
    const struct helium_atoms atoms = helium_twin_atoms(t);
    uint32_t a[3];
    helium_atoms_place(&atoms, i, a);
    return helium_atoms_u(&atoms, i, a);
}

int64_t helium_twin_ln_psi(const struct helium_twin *t) {
    int64_t sum = 0;
    const struct helium_atoms atoms = helium_twin_atoms(t);
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
    const struct helium_atoms atoms = helium_twin_atoms(t);
    uint32_t old[3], new[3];
    helium_atoms_place(&atoms, i, old);
    for (uint32_t k = 0; k < 3; k++)
        new[k] = old[k] + by[k];
    int64_t gain = helium_atoms_u(&atoms, i, new) - helium_atoms_u(&atoms, i, old);
    if (t->triplet)
        gain += helium_atoms_triplet_change(&atoms, i, new, t->next_field);
    const bool accepted = gain >= move.bound;
    for (uint32_t k = 0; k < 3; k++)
        to[k] = (int32_t)(accepted ? new[k] : old[k]);
    *change = accepted ? gain : 0;
    return accepted;
}

void helium_twin_begin(struct helium_twin *t) {
    const struct helium_atoms atoms = helium_twin_atoms(t);
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
    const struct helium_atoms atoms = helium_twin_atoms(t);
    helium_atoms_sums(&atoms, sums);
    sums->ln_psi = 2 * t->ln_psi;
    sums->accepted |= last;
}
