/* What is computed from scratch: total sums, the cells against the positions, pair distances. */
#include "lj_gcmc/chain.h"

/*
 * Sums over ordered pairs (twice the totals), partial by group: [chain][group] of energy, virial,
 * the number of particles with a partner inside the core, and of those whose pair energy that is
 * kept (LJ_OWN) is another. brute: every pair, whatever the cells; else through the cells. keep:
 * write those energies first.
 */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_total(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global long *parts, uint capacity, uint slots, __global long *own, uint brute,
         uint keep) {
    __local long energies[LJ_TOTAL_GROUP], virials[LJ_TOTAL_GROUP];
    __local uint overlaps[LJ_TOTAL_GROUP], others[LJ_TOTAL_GROUP];
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint stride = n_parts * LJ_TOTAL_GROUP;
    const struct lj_member m = members[chain];
    const uint n = m.ideal ? 0u : chains[chain].particles;
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, (uint)get_num_groups(1));
    long energy = 0, virial = 0;
    uint overlap = 0u, other = 0u;
#ifdef LJ_OWN
    home.own = own + (ulong)chain * LJ_GRID;
#else
    (void)own;
    (void)keep;
#endif
    for (uint i = part * LJ_TOTAL_GROUP + item; i < n; i += stride) {
        const lj_position at = lj_position_of(home.particles[i]);
        struct lj_sum sum = {0, 0, 0u};
#if LJ_CELLS
        if (!brute)
            lj_scan(&home, at, at, 1u, 1u, LJ_ALL, 0u, 1u, &m, &sum);
#endif
        for (uint j = 0u; brute && j < n; j++)
            if (j != i)
                lj_visit(lj_position_of(home.particles[j]), at, at, 0u, 1u, 0u, &m, &sum);
#ifdef LJ_OWN
        __global long *kept = lj_own_at(&home, at);
        if (keep)
            *kept = sum.energy;
        other += *kept != sum.energy ? 1u : 0u;
#endif
        energy += sum.energy;
        virial += sum.virial;
        overlap += sum.overlap;
    }
    energies[item] = energy;
    virials[item] = virial;
    overlaps[item] = overlap;
    others[item] = other;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = LJ_TOTAL_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            energies[item] += energies[item + width];
            virials[item] += virials[item + width];
            overlaps[item] += overlaps[item + width];
            others[item] += others[item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0u) {
        __global long *mine = parts + 4UL * ((ulong)chain * n_parts + part);
        mine[0] = energies[0];
        mine[1] = virials[0];
        mine[2] = (long)overlaps[0];
        mine[3] = (long)others[0];
    }
}

/* bin of r2: the largest k with edges[k] <= r2; bins = LJ_BINS means beyond. The guess by a
 * reciprocal root is corrected by comparisons, so the bins are exactly those of the table. */
ERGO_INLINE uint lj_bin(float r2, float per_width, __global const float *edges) {
    float y = as_float(0x5f3759dfu - (as_uint(r2) >> 1));
    y = y * fma(-0.5f * r2 * y, y, 1.5f);
    y = y * fma(-0.5f * r2 * y, y, 1.5f);
    uint k = r2 > 0.0f ? (uint)(r2 * y * per_width) : 0u;
    k = k > LJ_BINS ? LJ_BINS : k;
    while (k > 0u && r2 < edges[k])
        k--;
    while (k < LJ_BINS && r2 >= edges[k + 1u])
        k++;
    return k;
}

/* Ordered pairs by distance, partial by group: [sample][chain][group][bin]; each group zeroes its
 * own bins. Chains that do not stand at `step` are left alone. edges[LJ_BINS + 1] are squares, in
 * sigma^2. */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_pairs(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global const uint4 *particles, __global const float *edges, __global uint *counts,
         ulong step, uint capacity, uint sample, float per_width) {
    __local uint bins[LJ_BINS];
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint n_chains = (uint)get_num_groups(1);
    const struct lj_member m = members[chain];
    const uint n = chains[chain].step == step ? chains[chain].particles : 0u;
    __global const uint4 *mine = particles + (ulong)chain * capacity;
    for (uint k = item; k < LJ_BINS; k += LJ_TOTAL_GROUP)
        bins[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const float far = edges[LJ_BINS];
    for (uint i = part * LJ_TOTAL_GROUP + item; i < n; i += n_parts * LJ_TOTAL_GROUP) {
        const lj_position at = lj_position_of(mine[i]);
        for (uint j = 0u; j < n; j++) {
            const float r2 = lj_distance2(lj_position_of(mine[j]), at, m.scale);
            if (r2 < far && j != i)
                atomic_inc(&bins[lj_bin(r2, per_width, edges)]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *out = counts + (((ulong)sample * n_chains + chain) * n_parts + part) * LJ_BINS;
    if (chains[chain].step == step)
        for (uint k = item; k < LJ_BINS; k += LJ_TOTAL_GROUP)
            out[k] = bins[k];
}
