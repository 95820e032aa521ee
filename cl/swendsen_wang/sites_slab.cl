/* Sites of a lattice cut over ranks in slabs of layers: what leads to other ranks, and new states
 * of clusters that lie on several. Dimension 1 is the member. */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_leads.h"

/* edges[member][2 SW_LAYER + 1]: roots of the clusters of those sites of the last layer from which
 * an active bond leads to the next rank, of others SW_NO_BOND; then of all sites of the first
 * layer. The last word is the host's. A root is marked by the largest of its items; marks is 0
 * before. */
__kernel void sw_slab_claim(__global const uchar *bonds, __global const ushort *firsts,
                            __global const uint *labels, __global uint *edges,
                            __global uint *marks) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_N;
    if (item >= 2u * SW_LAYER)
        return;
    const uint site = item < SW_LAYER ? SW_N - SW_LAYER + item : item - SW_LAYER;
    uint edge = SW_NO_BOND;
    if (item >= SW_LAYER || bonds[plane + site] >> SW_ONWARD & 1u) {
        uint odd = 0u;
        const uint root =
            sw_find_still_odd(labels + plane, sw_first_of(firsts + plane, site), &odd);
        edge = root | odd << SW_EDGE_SHIFT;
        atomic_max(&marks[plane + root], SW_MARK | item);
    }
    edges[(ulong)index * (2u * SW_LAYER + 1u) + item] = edge;
}

/* Then: roots become numbers of parts, those of the items that mark them. roots, names[member][2
 * SW_LAYER]: of a part its root, and its name as far as this rank knows. */
__kernel void sw_slab_number(__global const struct sw_site_member *members,
                             __global const uint *marks, __global uint *edges, __global uint *roots,
                             __global uint *names) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (item >= 2u * SW_LAYER)
        return;
    __global uint *edge = &edges[(ulong)index * (2u * SW_LAYER + 1u) + item];
    if (*edge == SW_NO_BOND)
        return;
    const uint root = *edge & SW_EDGE_NUMBER, part = marks[(ulong)index * SW_N + root] & ~SW_MARK;
    *edge = part | (*edge & ~SW_EDGE_NUMBER);
    if (part == item) {
        roots[(ulong)index * (2u * SW_LAYER) + part] = root;
        names[(ulong)index * (2u * SW_LAYER) + part] = members[index].first + root;
    }
}

/* Names of parts whose clusters' first sites other ranks have, of any member. */
__kernel void sw_slab_rename(__global uint *names, __global const ulong *parts,
                             __global const uint *new_names, uint count) {
    const uint item = (uint)get_global_id(0);
    if (item < count)
        names[parts[item]] = new_names[item];
}

#if SW_SIZED
/* Sizes of clusters: of those that reach an edge, sizes[member][2 SW_LAYER], which is 0 before; of
 * others at their roots, in marks. */
__kernel SW_TILE_GROUP void sw_slab_sizes(__global const ushort *firsts,
                                          __global const uint *labels, __global uint *marks,
                                          __global uint *sizes) {
    __local ushort4 rows[SW_TILE / 4u];
    __local ushort list[SW_TILE];
    __local ushort *leads = (__local ushort *)rows;
    __local uint counts[SW_TILE], listed;
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        counts[n] = 0u;
    sw_site_leads(firsts + plane, rows, list, &listed);
    sw_site_sizes(leads, counts);
    SW_SYNC;
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint root = sw_find_still(labels + plane, sw_tile_site_of(list[k]).index);
        const uint mark = SW_READ(&marks[plane + root]);
        if (mark & SW_MARK)
            atomic_add(&sizes[(ulong)index * (2u * SW_LAYER) + (mark & ~SW_MARK)], counts[list[k]]);
        else
            atomic_add(&marks[plane + root], counts[list[k]]);
    }
}
#endif

/* The name of a root's cluster. marks, names: of parts that reach an edge. */
ERGO_INLINE uint sw_slab_name(__global const uint *marks, __global const uint *names, uint index,
                              uint root, const struct sw_site_member *m) {
    const uint mark = marks[(ulong)index * SW_N + root];
    return mark & SW_MARK ? names[(ulong)index * (2u * SW_LAYER) + (mark & ~SW_MARK)]
                          : m->first + root;
}

/* New states. */
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
        const uint name = sw_slab_name(marks, names, index, root, &m);
        leads[n] = (ushort)(SW_FOUND | sw_site_draw(&m, name, step));
    }
    SW_SYNC;
    sw_site_spread(spins + SW_COMPONENTS * (ulong)index * SW_SPAN, leads, &common);
}

#if SW_WOLFF
/* Wolff's update. seeds[member]: the name of the seed's cluster, or SW_NO_BOND where another rank
 * has that site; a work-item for each member. */
__kernel void sw_slab_seed(__global const struct sw_site_member *members,
                           __global const ushort *firsts, __global const uint *labels, ulong step,
                           __global const uint *marks, __global const uint *names,
                           __global uint *seeds) {
    const uint index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const uint site = sw_site_seed(&m, step).site - m.first;
    uint name = SW_NO_BOND;
    if (site < SW_N)
        name = sw_slab_name(marks, names, index,
                            sw_find_still(labels + plane, sw_first_of(firsts + plane, site)), &m);
    seeds[index] = name;
}

/* When all ranks have it: the cluster of this name gets another state. */
__kernel SW_TILE_GROUP void
sw_slab_flip_one(__global sw_word *spins, __global const struct sw_site_member *members,
                 __global const ushort *firsts, __global const uint *labels, ulong step,
                 __global const uint *marks, __global const uint *names, __global const uint *seeds,
                 __global uint *grown, uint sample) {
    __local ushort4 rows[SW_TILE / 4u];
    __local ushort list[SW_TILE];
    __local ushort *leads = (__local ushort *)rows;
    __local uint listed, flipped[3];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const uint seed = seeds[index];
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint n = list[k], root = sw_find_still(labels + plane, sw_tile_site_of(n).index);
        const uint name = sw_slab_name(marks, names, index, root, &m);
        leads[n] = (ushort)(SW_FOUND | (name == seed ? 1u : 0u));
    }
    sw_site_grow(spins + SW_COMPONENTS * (ulong)index * SW_SPAN, &m, step, leads, flipped, grown,
                 sample);
}
#endif
