/*
 * Widom's test insertions: the weight exp(-beta dU) of one particle more at a uniform place, added
 * up over many places. A place inside a core has no weight. Where the member has an activity, also
 * what a transition matrix in N is made of (J. R. Errington, J. Chem. Phys. 118, 9915 (2003)): with
 * which probability these insertions, and the deletion of each particle, would be accepted.
 */
#include "lj_gcmc/chain.h"

/*
 * `count` places for each chain that is at `step` and has made `turn` moves of its volume, which
 * are those before it: others keep what they have, also a chain that has gone on and then stopped.
 * Sums per work-group: [sample][chain][group], LJ_GHOST_WORDS each.
 */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_ghost(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global long *weights, ulong step, ulong turn, uint capacity, uint slots, uint sample,
         uint count, __global long *pair_energies) {
    __local long lower[LJ_TOTAL_GROUP], upper[LJ_TOTAL_GROUP];
    __local long rises[LJ_TOTAL_GROUP], falls[LJ_TOTAL_GROUP];
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint n_chains = (uint)get_num_groups(1);
    const struct lj_member m = lj_member_of(members, chains, chain);
    const uint stands = chains[chain].step == step && chains[chain].volumes == turn;
    const uint n = chains[chain].particles;
    const uint last = stands ? count : 0u;
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, n_chains);
    lj_home_list(&home, chains[chain].list);
    __global long *mine =
        weights + LJ_GHOST_WORDS * (((ulong)sample * n_chains + chain) * n_parts + part);
    const uint step_low = (uint)step, step_high = (uint)(step >> 32);
    long low = 0, up = 0, rise = 0, fall = 0;
#ifdef LJ_ENERGIES
    home.energies = pair_energies + (ulong)chain * LJ_GRID;
#else
    (void)pair_energies;
#endif
    for (uint i = part * LJ_TOTAL_GROUP + item; i < last; i += n_parts * LJ_TOTAL_GROUP) {
        const struct ergo_words w =
            ergo_philox_words(LJ_BOX(&m) * LJ_MOST_GHOSTS + i, step_low, step_high,
                              ERGO_DRAW(LJ_PURPOSE_GHOST, 0), m.key0, m.key1);
        struct lj_sum sum = {0, 0, 0, 0u};
        if (!m.ideal)
            lj_scan_new(&home, (uint4)(w.x, w.y, w.z, 0u), &m, &sum);
        if (!sum.overlap) {
            const float weight = lj_ghost_weight(&m, n, sum.energy);
            lj_ghost_add(weight, &low, &up);
            if (m.zv > 0.0f)
                rise += lj_ghost_rises(&m, n, weight);
        }
    }
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
