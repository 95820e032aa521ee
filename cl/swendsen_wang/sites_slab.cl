/* Sites of a lattice cut over ranks in slabs of layers: what leads to other ranks, and new states
 * of clusters that lie on several. Dimension 1 is the member. */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_leads.h"

/* edges[member][2 SW_LAYER]: the first sites of the clusters of all sites of the first layer; then
 * of those sites of the last layer from which an active bond leads to the next rank, of others
 * SW_NO_BOND. */
__kernel void sw_slab_edges(__global const uchar *bonds, __global const ushort *firsts,
                            __global const uint *labels, __global uint *edges) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_N;
    if (item >= 2u * SW_LAYER)
        return;
    const uint site = item < SW_LAYER ? item : SW_N - 2u * SW_LAYER + item;
    edges[(ulong)index * 2u * SW_LAYER + item] =
        item < SW_LAYER || bonds[plane + site] >> 2 & 1u
            ? sw_find_still(labels + plane, sw_first_of(firsts + plane, site))
            : SW_NO_BOND;
}

/* Clusters whose first site another rank has: their first sites here, of any member, get numbers
 * from 1 on. marks is 0 before. */
__kernel void sw_slab_mark(__global uint *marks, __global const ulong *sites, uint count) {
    const uint item = (uint)get_global_id(0);
    if (item < count)
        marks[sites[item]] = item + 1u;
}

/* New states; names: the ids of the first sites of marked clusters. */
__kernel SW_TILE_GROUP void sw_slab_flip(__global sw_word *spins,
                                         __global const struct sw_site_member *members,
                                         __global const ushort *firsts, __global const uint *labels,
                                         ulong step, __global const uint *marks,
                                         __global const uint *names) {
    __local ushort4 rows[SW_TILE / 4u];
    __local ushort list[SW_TILE];
    __local ushort *leads = (__local ushort *)rows;
    __local uint listed;
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint n = list[k], root = sw_find_still(labels + plane, sw_tile_site_of(n).index);
        const uint mark = marks[plane + root];
        const uint name = mark ? names[mark - 1u] : m.first + root;
        leads[n] = (ushort)(SW_FOUND | sw_site_draw(&m, name, step));
    }
    SW_SYNC;
    sw_site_spread(spins + (ulong)index * SW_SPAN, leads, &common);
}
