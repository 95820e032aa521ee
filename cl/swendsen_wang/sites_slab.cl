/* Sites of a lattice cut over ranks in slabs of layers: what leads to other ranks, and new states
 * of clusters that lie on several. Dimension 1 is the member. */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_bridges.h"
#include "swendsen_wang/sites_leads.h"

/* edges[member][2 SW_LAYER]: roots of the clusters of those sites of the last layer from which an
 * active bond leads to the next rank, of others SW_NO_BOND; then of all sites of the first layer.
 * These roots' own labels get a bit, so that nobody looks at marks of others, and marks SW_MARK.
 * claims becomes 0. */
__kernel void sw_slab_claim(__global const uchar *bonds, __global const ushort *firsts,
                            __global uint *labels, __global uint *edges, __global uint *marks,
                            __global uint *claims) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_N, at = (ulong)index * (2u * SW_LAYER) + item;
    if (item >= 2u * SW_LAYER)
        return;
    const uint site = item < SW_LAYER ? SW_N - SW_LAYER + item : item - SW_LAYER;
    uint edge = SW_NO_BOND;
    if (item >= SW_LAYER || bonds[plane + site] >> SW_ONWARD & 1u) {
        uint odd = 0u, root = sw_first_of(firsts + plane, site);
        uint next = SW_READ(&labels[plane + root]);
        while (SW_LEADS(next) != root) {
            odd ^= SW_ODD(next);
            root = SW_LEADS(next);
            next = SW_READ(&labels[plane + root]);
        }
        edge = root | odd << SW_EDGE_SHIFT;
        SW_PUT(&labels[plane + root], SW_LABEL(root) | 1u);
        SW_PUT(&marks[plane + root], SW_MARK);
    }
    edges[at] = edge;
    claims[at] = 0u;
}

/* Then a root is marked by the largest of its items. */
__kernel void sw_slab_mark(__global const uint *edges, __global uint *marks) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (item >= 2u * SW_LAYER)
        return;
    const uint edge = edges[(ulong)index * (2u * SW_LAYER) + item];
    if (edge != SW_NO_BOND)
        atomic_max(&marks[(ulong)index * SW_N + (edge & SW_EDGE_NUMBER)], SW_MARK | item);
}

/* Then: roots become numbers of parts, those of the items that mark them. roots[member][2
 * SW_LAYER]: of a part its root. claims[member][2 SW_LAYER]: of a part on both layers the largest
 * of its items on the last one, plus 1. */
__kernel void sw_slab_number(__global const uint *marks, __global uint *edges, __global uint *roots,
                             __global uint *claims) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * (2u * SW_LAYER);
    if (item >= 2u * SW_LAYER)
        return;
    __global uint *edge = &edges[plane + item];
    if (*edge == SW_NO_BOND)
        return;
    const uint root = *edge & SW_EDGE_NUMBER, part = marks[(ulong)index * SW_N + root] & ~SW_MARK;
    *edge = part | (*edge & ~SW_EDGE_NUMBER);
    if (part == item)
        roots[plane + part] = root;
    if (item < SW_LAYER && part >= SW_LAYER)
        atomic_max(&claims[plane + part], item + 1u);
}

/* While the host is busy with edges: labels of parts lead to their roots, with the bit that these
 * have. */
__kernel SW_TILE_GROUP void sw_slab_settle(__global const ushort *firsts, __global uint *labels) {
    __local ushort4 rows[SW_TILE / 4u];
    __local ushort list[SW_TILE];
    __local uint listed;
    const ulong plane = (ulong)get_group_id(1) * SW_N;
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint first = sw_tile_site_of(list[k]).index;
        uint root = first, next = SW_READ(&labels[plane + root]);
        while (SW_LEADS(next) != root) {
            root = SW_LEADS(next);
            next = SW_READ(&labels[plane + root]);
        }
        if (root != first)
            SW_PUT(&labels[plane + first], next);
    }
}

/* The root of the part that begins there, after that. */
ERGO_INLINE uint sw_slab_root(__global const uint *labels, uint first, uint *marked) {
    *marked = SW_ODD(labels[first]);
    return SW_LEADS(labels[first]);
}

#if SW_SIZED
/* Sizes of clusters: of those that reach an edge, in sums (sites_bridges.h), which are 0 before; of
 * others at their roots, in marks. */
__kernel SW_TILE_GROUP void sw_slab_sizes(__global const ushort *firsts,
                                          __global const uint *labels, __global uint *marks,
                                          __global uint *sums) {
    SW_LOCAL_LEADS;
    __local uint counts[SW_TILE];
    const uint index = (uint)get_group_id(1), members = (uint)get_num_groups(1);
    const ulong plane = (ulong)index * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        counts[n] = 0u;
    sw_site_leads(firsts + plane, rows, list, &listed);
    sw_site_sizes(leads, counts);
    SW_SYNC;
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        uint marked;
        const uint root = sw_slab_root(labels + plane, sw_tile_site_of(list[k]).index, &marked);
        __global uint *to = &marks[plane + root]; /* of marked ones nobody changes it */
        if (marked)
            to = &sums[sw_sums_at(*to & ~SW_MARK, index, members)];
        atomic_add(to, counts[list[k]]);
    }
}
#endif

/* The name of a root's cluster; marks: by now those of parts that reach an edge have it. */
ERGO_INLINE uint sw_slab_name(__global const uint *marks, uint root, uint marked,
                              const struct sw_site_member *m) {
    return marked ? marks[root] & ~SW_MARK : m->first + root;
}

/* New states. */
__kernel SW_TILE_GROUP void sw_slab_flip(__global sw_word *spins,
                                         __global const struct sw_site_member *members,
                                         __global const ushort *firsts, __global const uint *labels,
                                         ulong step, __global const uint *marks) {
    SW_LOCAL_LEADS;
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint n = list[k];
        uint marked;
        const uint root = sw_slab_root(labels + plane, sw_tile_site_of(n).index, &marked);
        const uint name = sw_slab_name(marks + plane, root, marked, &m);
        leads[n] = (ushort)(SW_FOUND | sw_site_draw(&m, name, step));
    }
    SW_SYNC;
    sw_site_spread(spins + SW_COMPONENTS * (ulong)index * SW_SPAN, leads, &common);
}

/* The first layer, for the rank before; and the next rank's. */
__kernel void sw_slab_pack(__global const sw_word *spins, __global sw_word *layer) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    for (uint c = 0; c < SW_COMPONENTS && item < SW_LAYER; c++) {
        const ulong piece = (ulong)index * SW_COMPONENTS + c;
        layer[piece * SW_LAYER + item] = spins[piece * SW_SPAN + item];
    }
}

__kernel void sw_slab_unpack(__global sw_word *spins, __global const sw_word *layer) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    for (uint c = 0; c < SW_COMPONENTS && item < SW_LAYER; c++) {
        const ulong piece = (ulong)index * SW_COMPONENTS + c;
        spins[piece * SW_SPAN + SW_N + item] = layer[piece * SW_LAYER + item];
    }
}

#if SW_WOLFF
/* Wolff's update. seeds[member]: the name of the seed's cluster, or SW_NO_BOND where another rank
 * has that site; a work-item for each member. */
__kernel void sw_slab_seed(__global const struct sw_site_member *members,
                           __global const ushort *firsts, __global const uint *labels, ulong step,
                           __global const uint *marks, __global uint *seeds) {
    const uint index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const uint site = sw_site_seed(&m, step).site - m.first;
    uint name = SW_NO_BOND;
    if (site < SW_N) {
        uint marked;
        const uint root = sw_slab_root(labels + plane, sw_first_of(firsts + plane, site), &marked);
        name = sw_slab_name(marks + plane, root, marked, &m);
    }
    seeds[index] = name;
}

/* When all ranks have it: the cluster of this name gets another state. */
__kernel SW_TILE_GROUP void sw_slab_flip_one(__global sw_word *spins,
                                             __global const struct sw_site_member *members,
                                             __global const ushort *firsts,
                                             __global const uint *labels, ulong step,
                                             __global const uint *marks, __global const uint *seeds,
                                             __global uint *grown, uint sample) {
    SW_LOCAL_LEADS;
    __local uint flipped[3];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const uint seed = seeds[index];
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint n = list[k];
        uint marked;
        const uint root = sw_slab_root(labels + plane, sw_tile_site_of(n).index, &marked);
        const uint name = sw_slab_name(marks + plane, root, marked, &m);
        leads[n] = (ushort)(SW_FOUND | (name == seed ? 1u : 0u));
    }
    sw_site_grow(spins + SW_COMPONENTS * (ulong)index * SW_SPAN, &m, step, leads, flipped, grown,
                 sample);
}
#endif
