/*
 * Clusters across rectangles, joined by every device for itself from the pairs of parts that all
 * ranks have found on their edges. No host looks at a pair.
 *
 * A part is known by its rank and its root's site index (below 2^31). far: roots of the parts on
 * the neighbours' first row and column. A pair: the roots of two parts that a bond joins, the
 * finder's and the neighbour's; the upper bits say which neighbour: 0 below, k: the k-th on the
 * right. pairs[0].x: number of the pairs behind it. all: first the ranks' firsts[ranks + 1] among
 * the pairs, in SW_HEAD(ranks) entries, then the pairs of all.
 *
 * Nodes: places in hash tables of the ranks' roots (keys), `slots` (a power of two) each; ends: the
 * nodes of the pairs.
 * In labels of nodes the one with the smaller name leads.
 */
#include "swendsen_wang/cut.h"

#define SW_ROOT 0x7fffffffu
#define SW_HEAD(ranks) ((ranks) / 2u + 1u)

/* Labels beside atomic ones: as in labels.h. */
#ifdef ERGO_ATOMIC_READS
#define SW_NODE_READ(p) atomic_or((p), 0u)
#define SW_NODE_PUT(p, value) atomic_xchg((p), (value))
#else
#define SW_NODE_READ(p) (*(p))
#define SW_NODE_PUT(p, value) (*(p) = (value))
#endif

/* No keys, no pairs. */
__kernel void sw_cut_forget(__global uint *keys, uint count, __global uint2 *pairs) {
    const uint item = (uint)get_global_id(0);
    if (item == 0u)
        pairs[0] = (uint2)(0u, 0u);
    if (item < count)
        keys[item] = SW_CUT_NO_BOND;
}

/* Pairs across the lower and right edge. Of those that come again most are left out: of a group's
 * that share a place in `seen` the first stays, and all that differ from it. second, third: rows
 * from which on the second and third neighbour on the right are. */
#define SW_SEEN 512u
ERGO_INLINE uint2 sw_cut_pair(SW_RECT rect, __global const uint *edges, __global const uint *roots,
                              __global const uint *far, uint second, uint third, uint item) {
    const uint row = 32u * rect->words, part = edges[row + rect->rows + item];
    const uint y = item - row;
    const uint to = item < row ? 0u : 1u + (y >= second ? 1u : 0u) + (y >= third ? 1u : 0u);
    return part == SW_CUT_NO_BOND
               ? (uint2)(SW_CUT_NO_BOND, SW_CUT_NO_BOND)
               : (uint2)(roots[part] | (to & 1u) << 31, far[item] | (to >> 1) << 31);
}

__kernel void sw_cut_pairs(SW_RECT rect, __global const uint *edges, __global const uint *roots,
                           __global const uint *far, __global uint2 *pairs, uint second,
                           uint third) {
    __local uint seen[SW_SEEN], found[2]; /* pairs of this group, and of those before */
    const uint item = (uint)get_global_id(0), own_item = (uint)get_local_id(0);
    const uint size = (uint)get_local_size(0), entries = 32u * rect->words + rect->rows;
    const uint2 pair =
        sw_cut_pair(rect, edges, roots, far, second, third, item < entries ? item : 0u);
    const bool bond = item < entries && (pair.x & pair.y) != SW_CUT_NO_BOND;
    const uint place = (pair.x * 0x9e3779b1u ^ pair.y * 0x85ebca6bu) >> 23;
    for (uint k = own_item; k < SW_SEEN; k += size)
        seen[k] = SW_CUT_NO_BOND;
    if (own_item == 0u)
        found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bond)
        atomic_min(&seen[place], item);
    barrier(CLK_LOCAL_MEM_FENCE);
    bool kept = bond;
    if (bond && seen[place] != item) {
        const uint2 other = sw_cut_pair(rect, edges, roots, far, second, third, seen[place]);
        kept = other.x != pair.x || other.y != pair.y;
    }
    const uint index = kept ? atomic_inc(&found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own_item == 0u)
        found[1] = found[0] ? atomic_add((volatile __global uint *)pairs, found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (kept)
        pairs[1u + found[1] + index] = pair;
}

/* Of all ranks' pairs: nodes alone, with their names. neighbours[rank][4]: who they are. */
__kernel void sw_cut_nodes(__global const struct sw_rect *rects, __global const uint *neighbours,
                           uint ranks, __global const uint2 *all, uint count, __global uint *keys,
                           __global uint *labels, __global ulong *names, __global uint *ends,
                           uint slots) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * count)
        return;
    __global const uint *firsts = (__global const uint *)all;
    const uint index = item >> 1;
    const uint2 pair = all[SW_HEAD(ranks) + index];
    uint rank = 0u, end = ranks;
    while (end - rank > 1u) {
        const uint middle = (rank + end) / 2u;
        if (firsts[middle] <= index)
            rank = middle;
        else
            end = middle;
    }
    if (item & 1u)
        rank = neighbours[4u * rank + (pair.x >> 31) + 2u * (pair.y >> 31)];
    const uint root = (item & 1u ? pair.y : pair.x) & SW_ROOT, first = slots * rank;
    uint slot = root * 0x9e3779b1u & (slots - 1u);
    while (1) { /* never full */
        const uint key = atomic_cmpxchg(&keys[first + slot], SW_CUT_NO_BOND, root);
        if (key == SW_CUT_NO_BOND || key == root)
            break;
        slot = (slot + 1u) & (slots - 1u);
    }
    labels[first + slot] = first + slot;
    names[first + slot] = sw_rect_site(&rects[rank], root);
    ends[item] = first + slot;
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
__kernel void sw_cut_join_nodes(__global const uint *ends, uint count, __global uint *labels,
                                __global const ulong *names) {
    const uint item = (uint)get_global_id(0);
    if (item >= count)
        return;
    uint a = ends[2u * item], b = ends[2u * item + 1u];
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

/* This rank's parts get the names of their clusters. own_labels: the rectangle's, in which roots
 * lead to parts (sw_cut_parts). */
__kernel void sw_cut_take_names(SW_RECT rect, __global const uint *ends, uint count,
                                __global const uint *keys, __global const uint *labels,
                                __global const ulong *names, uint rank,
                                __global const uint *own_labels, __global ulong *part_names,
                                uint slots) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * count)
        return;
    const uint node = ends[item];
    if (node / slots != rank)
        return;
    uint root = node, next = labels[node];
    while (next != root) {
        root = next;
        next = labels[root];
    }
    part_names[own_labels[keys[node]] - 32u * rect->words * rect->rows] = names[root];
}
