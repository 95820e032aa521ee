/* Lattices of sites.h: start, sums over spins and over clusters. Dimension 1 is the member. */
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/sites.h"

/* Mode 0: all spins in state 0; mode 1: random. */
__kernel void sw_site_start(__global uchar *spins, __global const struct sw_site_member *members,
                            uint mode) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (site < SW_N)
        spins[(ulong)index * SW_SPAN + site] =
            mode ? (uchar)sw_state(members[index].first + site, SW_PURPOSE_START, 0u, 0u,
                                   members[index].key0, members[index].key1)
                 : 0u;
}

/* Numbers that a work-item keeps for itself: unequal bonds, then sites in states 1 .. q - 1. With
 * many states only bonds; the states are counted in local memory. */
#if SW_Q <= 8
#define SW_ITEM_SUMS SW_Q
#else
#define SW_ITEM_SUMS 1
#endif

/* Sums over spins: sums[sample][member][place][SW_Q]. With disorder unequal bonds are strong ones;
 * of the weak ones others[sample][member][2] has the unequal ones, and all. */
__kernel void sw_site_measure(__global const uchar *spins, __global uint *sums, uint sample,
                              __global const uchar *weak, __global uint *others) {
    __local uint fields[SW_Q];
#if SW_DISORDER
    __local uint of_weak[2];
    uint own_weak[2] = {0u, 0u};
#endif
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    __global const uchar *mine = spins + (ulong)index * SW_SPAN;
    uint own[SW_ITEM_SUMS];
    for (uint f = item; f < SW_Q; f += size)
        fields[f] = 0u;
#if SW_DISORDER
    for (uint k = item; k < 2u; k += size)
        of_weak[k] = 0u;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < SW_ITEM_SUMS; k++)
        own[k] = 0u;
    for (ulong at = (ulong)group * size + item; at < SW_N; at += (ulong)groups * size) {
        const uint site = (uint)at, x = site % SW_LX, rows = site / SW_LX;
        const uint y = rows % SW_LY, z = rows / SW_LY, spin = mine[site];
        uint around;
        for (uint d = 0; d < SW_DIRECTIONS; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint other = mine[sw_site_next(x, y, z, d, &around)];
#if SW_DISORDER
                const uint is_weak = weak[(ulong)index * SW_N + site] >> d & 1u;
                own_weak[0] += (other ^ sw_site_turns(around)) != spin ? is_weak : 0u;
                own_weak[1] += is_weak;
                if (is_weak)
                    continue;
#endif
                own[0] += (other ^ sw_site_turns(around)) != spin ? 1u : 0u;
            }
#if SW_Q <= 8
        for (uint k = 1; k < SW_Q; k++)
            own[k] += spin == k ? 1u : 0u;
#else
        if (spin)
            atomic_inc(&fields[spin]);
#endif
    }
    for (uint k = 0; k < SW_ITEM_SUMS; k++)
        if (own[k])
            atomic_add(&fields[k], own[k]);
#if SW_DISORDER
    for (uint k = 0; k < 2u; k++)
        if (own_weak[k])
            atomic_add(&of_weak[k], own_weak[k]);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong at = ((ulong)sample * members + index) * SW_SUM_SLOTS + group % SW_SUM_SLOTS;
    for (uint f = item; f < SW_Q; f += size)
        if (fields[f])
            atomic_add(&sums[at * SW_Q + f], fields[f]);
#if SW_DISORDER
    for (uint k = item; k < 2u; k += size)
        if (of_weak[k])
            atomic_add(&others[2UL * ((ulong)sample * members + index) + k], of_weak[k]);
#endif
}

/* Of a slab: clusters that reach an edge are counted apart (sites_bridges.cl). */
#define SW_COUNTS(size) ((size) != 0u && !(SW_SLAB && (size) >> 31))

/* Sums over the clusters whose sizes are at their roots: sums[sample][member][place]
 * [SW_CLUSTER_FIELDS]. A work-group sees fewer than 2^21 sites (clusters.h). */
__kernel void sw_site_count(__global const uint *sizes, __global uint *sums, uint sample) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    __global const uint *mine = sizes + (ulong)index * SW_N;
    sw_count_begin(fields, item, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = (ulong)group * size + item; at < SW_N; at += (ulong)groups * size)
        if (SW_COUNTS(mine[at]))
            sw_count(fields, mine[at]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong at = ((ulong)sample * members + index) * SW_SUM_SLOTS + group % SW_SUM_SLOTS;
    sw_count_end(sums + at * SW_CLUSTER_FIELDS, fields, item, size);
}
