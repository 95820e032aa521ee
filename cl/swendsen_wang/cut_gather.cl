/*
 * Clusters across rectangles, joined by every device for itself from the pairs of parts that all
 * ranks have found on their edges. No host looks at a pair.
 *
 * A node: a part of any rectangle, by its number (cut.cl, sw_cut_parts) behind the nodes of the
 * ranks before. told, far: of a site of the first row or column, here or of the neighbour's, the
 * node and its root's site index; pairs[0].x: number of the pairs behind it; a pair: the nodes of
 * two parts that a bond joins, and their roots. In labels of nodes the one with the smaller name
 * leads.
 */
#include "swendsen_wang/cut.h"

/* Labels beside atomic ones: as in labels.h. */
#ifdef ERGO_ATOMIC_READS
#define SW_NODE_READ(p) atomic_or((p), 0u)
#define SW_NODE_PUT(p, value) atomic_xchg((p), (value))
#else
#define SW_NODE_READ(p) (*(p))
#define SW_NODE_PUT(p, value) (*(p) = (value))
#endif

/* What the ranks above and on the left need. */
__kernel void sw_cut_tell(SW_RECT rect, __global const uint *edges, __global const uint *roots,
                          __global uint2 *told, __global uint4 *pairs, uint first_node) {
    const uint item = (uint)get_global_id(0), entries = 32u * rect->words + rect->rows;
    if (item == 0u)
        pairs[0] = (uint4)(0u, 0u, 0u, 0u);
    if (item >= entries)
        return;
    const uint part = edges[item];
    told[item] = part == SW_CUT_NO_BOND ? (uint2)(SW_CUT_NO_BOND, SW_CUT_NO_BOND)
                                        : (uint2)(first_node + part, roots[part]);
}

/* Pairs across the lower and right edge. Of those that come again most are left out: of a group's
 * that share a place in `seen` the first stays, and all that differ from it. */
#define SW_SEEN 512u
__kernel void sw_cut_pairs(SW_RECT rect, __global const uint *edges, __global const uint *roots,
                           __global const uint2 *far, __global uint4 *pairs, uint first_node) {
    __local uint seen[SW_SEEN], found[2]; /* pairs of this group, and of those before */
    const uint item = (uint)get_global_id(0), own_item = (uint)get_local_id(0);
    const uint size = (uint)get_local_size(0), entries = 32u * rect->words + rect->rows;
    const uint at = item < entries ? item : 0u;
    const uint part = edges[entries + at];
    const uint2 other = far[at];
    const bool bond = item < entries && part != SW_CUT_NO_BOND;
    const uint place = (part * 0x9e3779b1u ^ other.x * 0x85ebca6bu) >> 23;
    for (uint k = own_item; k < SW_SEEN; k += size)
        seen[k] = SW_CUT_NO_BOND;
    if (own_item == 0u)
        found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bond)
        atomic_min(&seen[place], item);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint winner = bond ? seen[place] : 0u;
    const bool kept =
        bond && (winner == item || edges[entries + winner] != part || far[winner].x != other.x);
    const uint index = kept ? atomic_inc(&found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own_item == 0u)
        found[1] = found[0] ? atomic_add((volatile __global uint *)pairs, found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (kept)
        pairs[1u + found[1] + index] = (uint4)(first_node + part, other.x, roots[part], other.y);
}

/* Of all ranks' pairs: nodes alone, with their names. first_nodes[ranks + 1]. */
__kernel void sw_cut_nodes(__global const struct sw_rect *rects, __global const uint *first_nodes,
                           uint ranks, __global const uint4 *pairs, uint count,
                           __global uint *labels, __global ulong *names) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * count)
        return;
    const uint4 pair = pairs[item >> 1];
    const uint node = item & 1u ? pair.y : pair.x, root = item & 1u ? pair.w : pair.z;
    uint rank = 0u, end = ranks;
    while (end - rank > 1u) {
        const uint middle = (rank + end) / 2u;
        if (first_nodes[middle] <= node)
            rank = middle;
        else
            end = middle;
    }
    labels[node] = node;
    names[node] = sw_rect_site(&rects[rank], root);
}

ERGO_INLINE uint sw_node_find(__global uint *labels, uint i) {
    uint next = SW_NODE_READ(&labels[i]);
    while (next != i) {
        const uint after = SW_NODE_READ(&labels[next]);
        if (after == next)
            return next;
        SW_NODE_PUT(&labels[i], after); /* halves the path; i is no root, and never again */
        i = after;
        next = SW_NODE_READ(&labels[i]);
    }
    return i;
}

/* Only roots are led elsewhere, to a smaller name: no cycles, and the smallest is the root. */
__kernel void sw_cut_join_nodes(__global const uint4 *pairs, uint count, __global uint *labels,
                                __global const ulong *names) {
    const uint item = (uint)get_global_id(0);
    if (item >= count)
        return;
    uint a = pairs[item].x, b = pairs[item].y;
    while (1) {
        a = sw_node_find(labels, a);
        b = sw_node_find(labels, b);
        if (a == b)
            break;
        const bool first = names[a] < names[b];
        const uint small = first ? a : b, large = first ? b : a;
        if (atomic_cmpxchg(&labels[large], large, small) == large)
            break;
    }
}

/* This rectangle's parts, `own` nodes from first_node on, get the names of their clusters. */
__kernel void sw_cut_take_names(__global const uint4 *pairs, uint count,
                                __global const uint *labels, __global const ulong *names,
                                uint first_node, uint own, __global ulong *part_names) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * count)
        return;
    const uint4 pair = pairs[item >> 1];
    const uint node = item & 1u ? pair.y : pair.x;
    if (node - first_node >= own)
        return;
    uint root = node, next = labels[node];
    while (next != root) {
        root = next;
        next = labels[root];
    }
    part_names[node - first_node] = names[root];
}
