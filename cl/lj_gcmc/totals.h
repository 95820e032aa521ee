/* A work-group's share of the sums over all pairs of a chain. */
#ifndef ERGO_CL_LJ_GCMC_TOTALS_H
#define ERGO_CL_LJ_GCMC_TOTALS_H

#include "lj_gcmc/chain.h"

/* Where no particle's own energy is wanted, so many work-items sum up its pairs: side by side they
 * read cells side by side. */
#if LJ_TOTAL_GROUP >= 64 && !defined(LJ_SLOTTED)
#define LJ_TOTAL_LANES 8u
#endif

struct lj_total_room {
    long energies[LJ_TOTAL_GROUP], virials[LJ_TOTAL_GROUP], contacts[LJ_TOTAL_GROUP];
    uint overlaps[LJ_TOTAL_GROUP], others[LJ_TOTAL_GROUP];
};

ERGO_INLINE void lj_total_add(struct lj_sum *to, const struct lj_sum *sum) {
    to->energy += sum->energy;
    to->virial += sum->virial;
    to->contacts += sum->contacts;
    to->overlap += sum->overlap;
}

/* The sums of the work-items. `mine`: LJ_TOTALS words. */
ERGO_INLINE void lj_total_reduce(const struct lj_sum *sum, uint other, uint item,
                                 __local struct lj_total_room *room, __global long *mine) {
    room->energies[item] = sum->energy;
    room->virials[item] = sum->virial;
    room->contacts[item] = sum->contacts;
    room->overlaps[item] = sum->overlap;
    room->others[item] = other;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = LJ_TOTAL_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            room->energies[item] += room->energies[item + width];
            room->virials[item] += room->virials[item + width];
            room->contacts[item] += room->contacts[item + width];
            room->overlaps[item] += room->overlaps[item + width];
            room->others[item] += room->others[item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0u) {
        mine[0] = room->energies[0];
        mine[1] = room->virials[0];
        mine[2] = room->contacts[0];
        mine[3] = (long)room->overlaps[0];
        mine[4] = (long)room->others[0];
    }
}

/* Sums over the pairs of the first n particles that are this group's, each pair from both sides:
 * energy, virial, contacts, the number of particles with a partner inside the core, and the number
 * of particles whose stored pair energy (LJ_ENERGIES) differs. keep: store those energies first;
 * look: compare them; without both, which particles are this group's is of no matter, and those
 * with a partner inside the core are counted more than once. `mine`: LJ_TOTALS words. */
ERGO_INLINE void lj_total_share(const struct lj_home *home, const struct lj_member *m, uint n,
                                uint part, uint n_parts, uint item, uint keep, uint look,
                                __local struct lj_total_room *room, __global long *mine) {
    const uint stride = n_parts * LJ_TOTAL_GROUP;
    struct lj_sum all = {0, 0, 0, 0u};
    uint other = 0u;
#ifdef LJ_TOTAL_LANES
    for (uint i = keep || look ? n : (part * LJ_TOTAL_GROUP + item) / LJ_TOTAL_LANES; i < n;
         i += stride / LJ_TOTAL_LANES) {
        const lj_position at = lj_position_of(home->particles[i]);
        struct lj_sum sum = {0, 0, 0, 0u};
        lj_scan(home, at, at, 1u, 0u, item % LJ_TOTAL_LANES, LJ_TOTAL_LANES, m, &sum);
        lj_total_add(&all, &sum);
    }
    for (uint i = keep || look ? part * LJ_TOTAL_GROUP + item : n; i < n; i += stride) {
#else
    for (uint i = part * LJ_TOTAL_GROUP + item; i < n; i += stride) {
#endif
        const lj_position at = lj_position_of(home->particles[i]);
        struct lj_sum sum = {0, 0, 0, 0u};
        if (!m->ideal)
            lj_scan_all(home, at, m, &sum);
#ifdef LJ_FIELD /* once in the particle's own energy, twice where pairs come twice */
        const long field = lj_field(at, m, &sum.overlap);
        sum.energy += field;
        all.energy += field;
#endif
#ifdef LJ_ENERGIES
        if (keep || look) {
            __global long *kept = lj_energy_at(home, at);
            if (keep)
                *kept = sum.energy;
            other += *kept != sum.energy ? 1u : 0u;
        }
#else
        (void)keep;
        (void)look;
#endif
        lj_total_add(&all, &sum);
    }
    lj_total_reduce(&all, other, item, room, mine);
}

#endif
