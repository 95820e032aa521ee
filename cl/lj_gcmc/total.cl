/* Quantities computed from scratch: total sums, a check of the stored pair energies, histograms of
 * pair distances. */
#include "lj_gcmc/totals.h"

/* Sums over ordered pairs, so twice the totals. Partial sums per work-group, [chain][group], as
 * lj_total_share has them. keep: store the pair energies first. */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_total(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global long *parts, uint capacity, uint slots, __global long *pair_energies, uint keep,
         __global const float4 *tables, struct lj_shape shape) {
    __local struct lj_total_room room;
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const struct lj_member m = lj_member_of(members, chains, tables, chain);
#ifdef LJ_FIELD
    const uint n = chains[chain].particles;
#else
    const uint n = m.ideal ? 0u : chains[chain].particles;
#endif
    struct lj_home home;
    lj_home_of(&home, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,
               (uint)get_num_groups(1));
    lj_home_list(&home, chains[chain].list);
#ifdef LJ_CUT
    home.low = m.low;
#endif
    lj_total_share(&home, &m, n, part, n_parts, item, keep, 1u, &room,
                   parts + LJ_TOTALS * ((ulong)chain * n_parts + part));
}

/* In a work-group of one no other work-item adds to its bins. */
#if LJ_TOTAL_GROUP == 1
#define LJ_COUNT(bin) (bin)++
#else
#define LJ_COUNT(bin) atomic_inc(&(bin))
#endif

#ifdef LJ_FIELD
/* Particles along the axis LJ_PROFILE_OF, in place of lj_pairs and with its arguments. */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_profile(__global const struct lj_member *members, __global const struct lj_chain *chains,
           __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
           __global const float *edges, __global uint *counts, ulong step, uint capacity,
           uint slots, uint sample, float per_width, uint begin, uint end, struct lj_shape shape,
           __local uint *bins) {
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint n_chains = (uint)get_num_groups(1);
    const uint stands = chains[chain].step == step;
    const uint n = stands ? chains[chain].particles : 0u, last = end < n ? end : n;
    for (uint k = item; k < shape.bins; k += LJ_TOTAL_GROUP)
        bins[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = begin + part * LJ_TOTAL_GROUP + item; i < last; i += n_parts * LJ_TOTAL_GROUP) {
        const uint bin = (uint)((ulong)particles[(ulong)chain * capacity + i].LJ_PROFILE_OF *
                                    (ulong)shape.profile >>
                                48);
        if (bin < shape.bins)
            LJ_COUNT(bins[bin]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *out =
        counts + (((ulong)sample * n_chains + chain) * n_parts + part) * shape.bins;
    for (uint k = item; stands && k < shape.bins; k += LJ_TOTAL_GROUP)
        out[k] = bins[k] + (begin ? out[k] : 0u);
}
#else
/* Of a mixture each pair of species has bins of its own: 1-1, 1-2, 2-2, 1-3, ... */
#ifdef LJ_SPECIES
#define LJ_PAIR_KINDS (LJ_SPECIES * (LJ_SPECIES + 1u) / 2u)

ERGO_INLINE uint lj_pair_kind(lj_position a, lj_position b) {
    const uint s = a.x & LJ_SPECIES_MASK, t = b.x & LJ_SPECIES_MASK;
    const uint low = s < t ? s : t, high = s < t ? t : s;
    return high * (high + 1u) / 2u + low;
}
#else
#define LJ_PAIR_KINDS 1u
#define lj_pair_kind(a, b) 0u
#endif

/* The bin of r2: the largest k with edges[k] <= r2, or `bins` if it is beyond. A guess from a
 * reciprocal root is corrected by comparisons, so the bins are exactly those of the table. */
ERGO_INLINE uint lj_bin(float r2, float per_width, __global const float *edges, uint bins) {
    float y = as_float(0x5f3759dfu - (as_uint(r2) >> 1));
    y = y * fma(-0.5f * r2 * y, y, 1.5f);
    y = y * fma(-0.5f * r2 * y, y, 1.5f);
    uint k = r2 > 0.0f ? (uint)(r2 * y * per_width) : 0u;
    k = k > bins ? bins : k;
    while (k > 0u && r2 < edges[k])
        k--;
    while (k < bins && r2 >= edges[k + 1u])
        k++;
    return k;
}

/*
 * Ordered pairs by distance, between particles begin .. end - 1 and all others. Partial counts per
 * work-group: [sample][chain][group][bin], of a mixture [pair of species][bin]. The launch that
 * begins with particle 0 writes, later ones add. Chains that are not at `step` are skipped, and so
 * are those of which an activation from there on waits for room: they were counted before it.
 * edges[bins + 1] are squares, in sigma^2.
 *
 * Partners are found in the cells from shape.low to shape.high further along each axis.
 */
__kernel __attribute__((reqd_work_group_size(LJ_TOTAL_GROUP, 1, 1))) void
lj_pairs(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global const float *edges, __global uint *counts, ulong step, uint capacity, uint slots,
         uint sample, float per_width, uint begin, uint end, struct lj_shape shape,
         __local uint *bins) {
    const uint all_bins = shape.bins * LJ_PAIR_KINDS;
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const uint n_chains = (uint)get_num_groups(1);
    const struct lj_member m = lj_member_of(members, chains, 0, chain);
    const uint stands = chains[chain].step == step && !chains[chain].torn;
    const uint n = stands ? chains[chain].particles : 0u, last = end < n ? end : n;
    struct lj_home home;
    lj_home_of(&home, &shape, particles, cells, offsets, 0, capacity, slots, chain, n_chains);
    lj_home_list(&home, chains[chain].list);
    for (uint k = item; k < all_bins; k += LJ_TOTAL_GROUP)
        bins[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const float far = edges[shape.bins];
    for (uint i = begin + part * LJ_TOTAL_GROUP + item; i < last; i += n_parts * LJ_TOTAL_GROUP) {
        const lj_position at = lj_position_of(home.particles[i]);
        const struct lj_spot c = lj_spot_of(&shape, at);
        /* one particle at this very place is the particle itself, and no partner */
        uint itself = 1u;
        for (int z = shape.low[2]; z <= shape.high[2]; z++) {
            const float gz = lj_gap(z, c.fz) * (m.scale[2] * shape.reach[2]);
            for (int y = shape.low[1]; y <= shape.high[1]; y++) {
                const float gy = lj_gap(y, c.fy) * (m.scale[1] * shape.reach[1]);
                const float row2 = fma(gy, gy, gz * gz);
                const uint row = lj_cell_around(&shape, 0, c.y + y, c.z + z, LJ_LOW(&m));
                for (int x = shape.low[0]; x <= shape.high[0]; x++) {
                    const float gx = lj_gap(x, c.fx) * (m.scale[0] * shape.reach[0]);
                    const uint cell = row + (uint)lj_wrap(c.x + x, (int)shape.n[0]);
                    /* the factor covers rounding: it may cost the visit of a cell, but never loses
                     * a pair */
                    const uint inside =
                        fma(gx, gx, row2) <= far * 1.0001f ? lj_cell_count(&home, cell) : 0u;
                    for (uint s = 0u; s < inside; s++) {
                        const lj_position q = lj_cell_get(&home, cell, s);
                        const float r2 = lj_distance2(q, at, m.scale);
                        const uint self = itself && lj_same(q, at);
                        itself = self ? 0u : itself;
                        if (r2 < far && !self)
                            LJ_COUNT(bins[lj_pair_kind(q, at) * shape.bins +
                                          lj_bin(r2, per_width, edges, shape.bins)]);
                    }
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *out = counts + (((ulong)sample * n_chains + chain) * n_parts + part) * all_bins;
    for (uint k = item; stands && k < all_bins; k += LJ_TOTAL_GROUP)
        out[k] = bins[k] + (begin ? out[k] : 0u);
}
#endif
