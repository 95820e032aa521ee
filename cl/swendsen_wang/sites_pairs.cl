/* Pairs of sites of a lattice cut over ranks (sites_slab.cl) that lie half and a quarter of a side
 * apart across its layers. Dimension 1 is the member. */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_leads.h"

/*
 * Names of all sites' clusters, in the place of marks, in two launches: first at roots, where marks
 * are, then at the others. Sizes have been counted.
 */
__kernel void sw_slab_name_roots(__global const struct sw_site_member *members,
                                 __global const uint *labels, __global uint *marks) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong at = (ulong)index * SW_N + site;
    if (site < SW_N && SW_LEADS(labels[at]) == site)
        marks[at] = SW_ODD(labels[at]) ? marks[at] & ~SW_MARK : members[index].first + site;
}

__kernel SW_TILE_GROUP void sw_slab_name_sites(__global const ushort *firsts,
                                               __global const uint *labels, __global uint *names) {
    const ulong plane = (ulong)get_group_id(1) * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (!s.inside)
            continue;
        const uint root = sw_find_still(labels + plane, sw_first_of(firsts + plane, s.index));
        if (root != s.index)
            names[plane + s.index] = names[plane + root];
    }
}

/*
 * Pairs of sites of one cluster across layers, of the member `index`: `sites` sites from site
 * `from` on, and as many of other layers, here or of another rank, whose names begin at first_name,
 * and their spins at first_spin; span: from one component of these to the next. k, 0: half a side
 * apart, 1: a quarter. As sw_site_pairs; row: sample times the members plus the member.
 */
__kernel void sw_slab_pairs(__global const sw_word *spins,
                            __global const struct sw_site_member *members,
                            __global const uint *names, __global const uint *other_names,
                            __global const sw_word *other_spins, ulong step, uint index, uint from,
                            uint sites, ulong first_name, ulong first_spin, ulong span, uint k,
                            __global uint *pairs, uint row) {
    __local uint sums[2];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    __global const uint *mine = names + (ulong)index * SW_N + from;
    ulong sum = 0UL;
#if SW_MODEL != SW_MODEL_POTTS
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    __global const sw_word *own = spins + SW_COMPONENTS * (ulong)index * SW_SPAN;
#endif
    if (item == 0u)
        sums[0] = sums[1] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = (ulong)group * size + item; at < sites; at += (ulong)groups * size) {
        if (mine[at] != other_names[first_name + at])
            continue;
#if SW_MODEL == SW_MODEL_POTTS
        sum++;
#else
        __global const sw_word *other = other_spins + first_spin + at;
        sum += sw_part_fixed(sw_part(SW_SPIN(own, from + (uint)at), &common) *
                             sw_part(SW_SPIN_OF(other, span), &common));
#endif
    }
    if (sum)
        ERGO_ADD_LONG(sums, (uint)sum, (uint)(sum >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0u)
        ERGO_ADD_LONG(pairs + 4UL * row + 2u * k, sums[0], sums[1]);
}
