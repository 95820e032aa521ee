/*
 * Widom's test insertions: the weight exp(-beta dU) of one particle more at a uniform place, added
 * up over many places. A place inside a core has no weight. Where the member has an activity, also
 * what a transition matrix in N is made of (J. R. Errington, J. Chem. Phys. 118, 9915 (2003)): with
 * which probability these insertions, and the deletion of each particle, would be accepted. Of a
 * mixture a launch inserts particles of one species; all species have the same places.
 */
#define LJ_ITEMS LJ_TOTAL_GROUP
#include "lj_gcmc/chain.h"
#include "lj_gcmc/group.h"

#if LJ_TOTAL_GROUP > 1 && !defined(LJ_SLOTTED)
#define LJ_GHOST_TOGETHER
#endif

ERGO_INLINE lj_position lj_ghost_place(const struct lj_member *m, ulong step, uint i,
                                       uint species) {
    const struct ergo_words w =
        ergo_philox_words(LJ_BOX(m) * LJ_MOST_GHOSTS + i, (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_GHOST, 0), m->key0, m->key1);
#ifdef LJ_SPECIES
    return (uint4)((w.x & ~LJ_SPECIES_MASK) | species, w.y, w.z, 0u);
#else
    (void)species;
    return (uint4)(w.x, w.y, w.z, 0u);
#endif
}

ERGO_INLINE float lj_ghost_weight_at(const struct lj_member *m, __global const struct lj_chain *c,
                                     uint species, long energy) {
#ifdef LJ_SPECIES
    uint numbers[LJ_MOST_SPECIES];
    for (uint t = 0u; t < LJ_MOST_SPECIES; t++)
        numbers[t] = c->numbers[t];
#ifdef LJ_NPT
    return lj_ghost_weight_mixed(m, as_float(c->thinner), numbers, species, energy);
#else
    return lj_ghost_weight_mixed(m, 1.0f, numbers, species, energy);
#endif
#else
    (void)species;
    return lj_ghost_weight(m, c->particles, energy);
#endif
}

/*
 * `count` places for each chain that is at `step` and has made `turn` moves of its volume, which
 * are those before it: others keep what they have, also a chain that has gone on and then stopped.
 * Sums per work-group: [sample][chain][group], LJ_GHOST_WORDS each. species: of a mixture; `sample`
 * counts those of each species then.
 */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_ghost(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global long *weights, ulong step, ulong turn, uint capacity, uint slots, uint sample,
         uint count, uint species, __global long *pair_energies, __global const float4 *tables,
         struct lj_shape shape) {
    __local long lower[LJ_TOTAL_GROUP], upper[LJ_TOTAL_GROUP];
    __local long rises[LJ_TOTAL_GROUP], falls[LJ_TOTAL_GROUP];
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint n_chains = (uint)get_num_groups(1);
    const struct lj_member m = lj_member_of(members, chains, tables, chain);
    const uint stands = chains[chain].step == step && chains[chain].volumes == turn;
    const uint n = chains[chain].particles;
    const uint last = stands ? count : 0u;
    struct lj_home home;
    lj_home_of(&home, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,
               n_chains);
    lj_home_list(&home, chains[chain].list);
    __global long *mine =
        weights + LJ_GHOST_WORDS * (((ulong)sample * n_chains + chain) * n_parts + part);
    long low = 0, up = 0, rise = 0, fall = 0;
#ifdef LJ_GHOST_TOGETHER
    /* Few places of a liquid are outside all cores, and one of them would keep 31 work-items
     * waiting. So all of them add up the pairs of such a place together. */
    __local uint4 places[LJ_TOTAL_GROUP];
    __local uint energies[2u * LJ_TOTAL_GROUP], open;
    for (uint base = part * LJ_TOTAL_GROUP; base < last; base += n_parts * LJ_TOTAL_GROUP) {
        energies[2u * item] = energies[2u * item + 1u] = 0u;
        if (item == 0u)
            open = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (base + item < last) {
            const lj_position at = lj_ghost_place(&m, step, base + item, species);
            struct lj_sum sum = {0, 0, 0, 0u};
#ifdef LJ_FIELD
            lj_field(at, &m, &sum.overlap);
#endif
            if (!m.ideal && !sum.overlap)
                lj_scan(&home, at, at, 0u, 1u, 0u, 1u, &m, &sum);
            if (!sum.overlap)
                places[atomic_inc(&open)] = at;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint count_open = open;
        for (uint k = 0u; k < count_open && !m.ideal; k++) {
            struct lj_sum sum = {0, 0, 0, 0u};
            lj_scan(&home, places[k], places[k], 0u, 0u, item, LJ_TOTAL_GROUP, &m, &sum);
            lj_add(&energies[2u * k], sum.energy);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < count_open) {
            long energy = lj_take(&energies[2u * item]);
#ifdef LJ_FIELD
            uint core = 0u;
            energy += lj_field(places[item], &m, &core);
#endif
            const float weight = lj_ghost_weight_at(&m, chains + chain, species, energy);
            lj_ghost_add(weight, &low, &up);
            if (m.zv > 0.0f)
                rise += lj_ghost_rises(&m, n, weight);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    for (uint i = part * LJ_TOTAL_GROUP + item; i < last; i += n_parts * LJ_TOTAL_GROUP) {
        const lj_position at = lj_ghost_place(&m, step, i, species);
        struct lj_sum sum = {0, 0, 0, 0u};
#ifdef LJ_FIELD
        sum.energy = lj_field(at, &m, &sum.overlap);
#endif
        if (!m.ideal && !sum.overlap)
            lj_scan_new(&home, at, &m, &sum);
        if (!sum.overlap) {
            const float weight = lj_ghost_weight_at(&m, chains + chain, species, sum.energy);
            lj_ghost_add(weight, &low, &up);
            if (m.zv > 0.0f)
                rise += lj_ghost_rises(&m, n, weight);
        }
    }
#endif
    const uint end = stands && m.zv > 0.0f ? n : 0u;
    for (uint i = part * LJ_TOTAL_GROUP + item; i < end; i += n_parts * LJ_TOTAL_GROUP) {
        const lj_position at = lj_position_of(home.particles[i]);
        struct lj_sum sum = {0, 0, 0, 0u};
        if (!m.ideal) {
#ifdef LJ_ENERGIES
            sum.energy = *lj_energy_at(&home, at);
#else
            lj_scan_all(&home, at, &m, &sum);
#endif
        }
        fall += lj_ghost_falls(&m, n, sum.energy);
    }
    lower[item] = low;
    upper[item] = up;
    rises[item] = rise;
    falls[item] = fall;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = LJ_TOTAL_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            lower[item] += lower[item + width];
            upper[item] += upper[item + width];
            rises[item] += rises[item + width];
            falls[item] += falls[item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0u && stands) {
        mine[0] = lower[0];
        mine[1] = upper[0];
        mine[2] = rises[0];
        mine[3] = falls[0];
    }
}
