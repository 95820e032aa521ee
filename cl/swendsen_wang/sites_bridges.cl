/*
 * Clusters of several slabs of a lattice cut over ranks. Dimension 1 is the member.
 *
 * A cut lies between two layers of two ranks: cut 0 behind this slab's last layer, cut 1 before its
 * first. A bond across it is an element, numbered as its item of edges[] (sites_slab.cl) is: by its
 * site in the layer, for cut 1 plus SW_LAYER. Both ranks know of both ends of each bond the part of
 * a cluster there, and so both find the same bridges: bonds that parts of either rank connect. The
 * number of a bridge, its root, is its least element, the same at both ranks.
 *
 * A part at both ends of its slab is through. A bridge without one is a cluster, which needs no
 * word from others. The others are listed for the host: of each the bridge with the parts that are
 * not through, which is one part for the host, and those that are.
 *
 * Words of a face, those of this rank and the next one's: SW_NO_BOND; or of the item that stands
 * for a part, SW_LEAD with the part's name, its root in the whole lattice, and SW_THROUGH; or of
 * others the place in the layer of that item, and the sides along x and y that the way to it
 * crosses an odd number of times. faces[cut][member][SW_LAYER], and behind each cut's a word of the
 * host's.
 */
#include "common/sum64.h"
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/joins.h"
#include "swendsen_wang/sites_bridges.h"

ERGO_INLINE bool sw_is_lead(uint word) {
    return word != SW_NO_BOND && word & SW_LEAD;
}

/* Do bonds lead from this slab to the other one? Else it is a part on a layer, by itself. */
ERGO_INLINE bool sw_is_bridge(struct sw_bridge b) {
    return b.near != SW_NO_BOND && b.far != SW_NO_BOND;
}

ERGO_INLINE bool sw_is_listed(struct sw_bridge b) {
    return sw_is_bridge(b) && b.through;
}

/* The words of this rank. claims: of a part that is through, the item that stands for it on the
 * last layer, plus 1. */
__kernel void sw_slab_face(__global const struct sw_site_member *members,
                           __global const uint *edges, __global const uint *roots,
                           __global const uint *claims, __global uint *faces, __global uint *links,
                           __global struct sw_bridge *bridges, __global uint *list) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS)
        return;
    if (item == 0u && index == 0u)
        list[0] = 0u;
    const uint edge = edges[plane + item];
    uint word = SW_NO_BOND;
    if (edge != SW_NO_BOND) {
        const uint part = edge & SW_EDGE_NUMBER, claim = claims[plane + part];
        const uint lead = item < SW_LAYER && part >= SW_LAYER ? claim - 1u : part;
        const uint through = claim ? SW_THROUGH : 0u;
        word = lead == item ? SW_LEAD | through | (members[index].first + roots[plane + part])
                            : lead % SW_LAYER | ((edge ^ edges[plane + lead]) & ~SW_EDGE_NUMBER);
    }
    faces[sw_face_at(item, index, (uint)get_global_size(1))] = word;
    links[plane + item] = SW_LABEL(item);
    const struct sw_bridge none = {SW_NO_BOND, SW_NO_BOND, 0u, SW_NO_BOND};
    bridges[plane + item] = none;
}

/* Join an element with that of the item which stands for the part at one of its ends. */
ERGO_INLINE uint sw_bridge_join(__global uint *links, uint item, uint word) {
    if (word & SW_LEAD)
        return 0u;
    return sw_join(links, item, item - item % SW_LAYER + (word & SW_EDGE_NUMBER),
                   word >> SW_EDGE_SHIFT);
}

/* sample: as of sw_site_join. */
__kernel void sw_slab_bridge(__global const uint *faces, __global const uint *far,
                             __global uint *links, __global uint *wraps, uint sample) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint members = (uint)get_global_size(1);
    if (item >= SW_ITEMS)
        return;
    const uint near = faces[sw_face_at(item, index, members)];
    const uint other = far[sw_face_at(item, index, members)];
    if (near == SW_NO_BOND || other == SW_NO_BOND)
        return;
    __global uint *mine = links + (ulong)index * SW_ITEMS;
    const uint found = sw_bridge_join(mine, item, near) | sw_bridge_join(mine, item, other);
    if (found && sample != SW_NO_SAMPLE)
        atomic_or(&wraps[(ulong)sample * members + index], found);
}

/* What parts of both ranks are in a bridge. */
__kernel void sw_slab_gather(__global const uint *faces, __global const uint *far,
                             __global const uint *links, __global struct sw_bridge *bridges) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint members = (uint)get_global_size(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS)
        return;
    const uint near = faces[sw_face_at(item, index, members)];
    const uint other = far[sw_face_at(item, index, members)];
    if (!sw_is_lead(near) && !sw_is_lead(other))
        return;
    __global struct sw_bridge *b = &bridges[plane + sw_find_still(links + plane, item)];
    if (sw_is_lead(near))
        atomic_min(&b->near, near & SW_EDGE_NUMBER);
    if (sw_is_lead(other))
        atomic_min(&b->far, other & SW_EDGE_NUMBER);
    if ((sw_is_lead(near) && near & SW_THROUGH) || (sw_is_lead(other) && other & SW_THROUGH))
        atomic_or(&b->through, 1u);
}

/* For the host: list[0], the number of its entries, and from word 2 on those, in any order: member,
 * bridge, SW_NO_BOND or the number of a part that is through with the sides that the way from the
 * bridge's first bond to its root crosses, name, and, if sized, sums. */
__kernel void sw_slab_list(__global const uint *edges, __global const uint *faces,
                           __global const uint *links, __global const struct sw_bridge *bridges,
                           __global uint *list, __global const uint *totals,
                           __global const uint *sums, uint sized) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint members = (uint)get_global_size(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS)
        return;
    uint odd = 0u;
    const uint root = sw_find_still_odd(links + plane, item, &odd);
    const struct sw_bridge b = bridges[plane + root];
    if (!sw_is_listed(b))
        return;
    const uint near = faces[sw_face_at(item, index, members)];
    const uint through = sw_is_lead(near) && near & SW_THROUGH ? 1u : 0u;
    const uint count = through + (root == item ? 1u : 0u);
    if (!count)
        return;
    __global uint *entry = list + 2UL + (ulong)SW_LIST_WORDS * atomic_add(&list[0], count);
    if (root == item) {
        entry[0] = index;
        entry[1] = item;
        entry[2] = SW_NO_BOND;
        entry[3] = b.near;
        for (uint k = 0; k < 2u * SW_PART_SUMS; k++)
            entry[4u + k] = sized ? totals[2UL * SW_PART_SUMS * (plane + item) + k] : 0u;
        entry += SW_LIST_WORDS;
    }
    if (through) {
        const uint edge = edges[plane + item], part = edge & SW_EDGE_NUMBER;
        entry[0] = index;
        entry[1] = root;
        entry[2] = edge ^ odd << SW_EDGE_SHIFT;
        entry[3] = near & SW_EDGE_NUMBER;
        for (uint k = 0; k < 2u * SW_PART_SUMS; k++)
            entry[4u + k] = sized ? sums[sw_sums_at(part, index, members) + k] : 0u;
    }
}

/* Names of listed bridges' clusters, of any member. */
__kernel void sw_slab_rename(__global struct sw_bridge *bridges, __global const ulong *roots,
                             __global const uint *names, uint count) {
    const uint item = (uint)get_global_id(0);
    if (item < count)
        bridges[roots[item]].name = names[item];
}

/* Names of parts' clusters, in the place of their marks. */
__kernel void sw_slab_part_names(__global const struct sw_site_member *members,
                                 __global const uint *edges, __global const uint *roots,
                                 __global const uint *claims, __global const uint *links,
                                 __global const struct sw_bridge *bridges, __global uint *marks) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS || edges[plane + item] == SW_NO_BOND ||
        (edges[plane + item] & SW_EDGE_NUMBER) != item)
        return;
    const uint claim = claims[plane + item];
    struct sw_bridge b = bridges[plane + sw_find_still(links + plane, item)];
    if (claim && !sw_is_bridge(b))
        b = bridges[plane + sw_find_still(links + plane, claim - 1u)];
    uint name = members[index].first + roots[plane + item];
    if (sw_is_listed(b))
        name = b.name;
    else if (sw_is_bridge(b))
        name = b.near < b.far ? b.near : b.far;
    marks[(ulong)index * SW_N + roots[plane + item]] = SW_MARK | name;
}

#if SW_PART_SUMS
ERGO_INLINE void sw_sums_add(__global uint *to, __global const uint *from) {
    for (uint k = 0; k < SW_PART_SUMS; k++)
        if (from[2u * k] || from[2u * k + 1u])
            ERGO_ADD_LONG(to + 2u * k, from[2u * k], from[2u * k + 1u]);
}

/* Sums of clusters on this rank, in `totals` at their bridges; 0 before. Of listed bridges: of the
 * parts that are not through. Of others: of both ranks' parts, which the one with the bonds
 * counts. */
__kernel void sw_slab_total(__global const uint *edges, __global const uint *claims,
                            __global const uint *links, __global const struct sw_bridge *bridges,
                            __global const uint *sums, __global uint *totals) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS || edges[plane + item] == SW_NO_BOND ||
        (edges[plane + item] & SW_EDGE_NUMBER) != item)
        return;
    const uint claim = claims[plane + item], root = sw_find_still(links + plane, item);
    const struct sw_bridge b = bridges[plane + root];
    if (claim) {
        const uint other = sw_find_still(links + plane, claim - 1u);
        if (sw_is_bridge(b) || sw_is_bridge(bridges[plane + other]))
            return;
    } else if (item >= SW_LAYER && sw_is_bridge(b) && !b.through) {
        return;
    }
    sw_sums_add(totals + 2UL * SW_PART_SUMS * (plane + root),
                sums + sw_sums_at(item, index, (uint)get_global_size(1)));
}

/* far_sums[member][SW_LAYER]: of the next rank's parts on its first layer. */
__kernel void sw_slab_total_far(__global const uint *far, __global const uint *far_sums,
                                __global const uint *links,
                                __global const struct sw_bridge *bridges, __global uint *totals) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_LAYER || !sw_is_lead(far[sw_face_at(item, index, (uint)get_global_size(1))]))
        return;
    const uint root = sw_find_still(links + plane, item);
    const struct sw_bridge b = bridges[plane + root];
    if (sw_is_bridge(b) && !b.through)
        sw_sums_add(totals + 2UL * SW_PART_SUMS * (plane + root),
                    far_sums + 2UL * SW_PART_SUMS * ((ulong)index * SW_LAYER + item));
}

/* Counts these clusters as sw_site_count does others. A work-group sees fewer than 2^16. */
__kernel void sw_slab_count(__global const struct sw_bridge *bridges, __global const uint *totals,
                            __global uint *sums, uint sample) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    const ulong plane = (ulong)index * SW_ITEMS;
    sw_count_begin(fields, item, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = (ulong)group * size + item; at < SW_ITEMS; at += (ulong)groups * size) {
        const uint sites = totals[2UL * SW_PART_SUMS * (plane + at)];
        if (sites && !sw_is_listed(bridges[plane + at]))
            sw_count(fields, sites);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong to = ((ulong)sample * members + index) * SW_SUM_SLOTS + group % SW_SUM_SLOTS;
    sw_count_end(sums + to * SW_CLUSTER_FIELDS, fields, item, size);
}

/* Their waves, to the places of sites' (sites_waves.cl). */
__kernel void sw_slab_give_waves(__global const struct sw_site_member *members,
                                 __global const struct sw_bridge *bridges,
                                 __global const uint *totals, __global uint *waves) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint words = 2u * (SW_PART_SUMS - 1u);
    const ulong plane = (ulong)index * SW_ITEMS;
    if (item >= SW_ITEMS)
        return;
    const struct sw_bridge b = bridges[plane + item];
    if (b.near == SW_NO_BOND || sw_is_listed(b))
        return;
    const ulong root = (ulong)index * SW_N + (b.near - members[index].first);
    for (uint k = 0; k < words; k++)
        waves[words * root + k] = totals[2UL * SW_PART_SUMS * (plane + item) + 2u + k];
}
#endif
