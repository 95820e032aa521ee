/*
 * Join clusters across rectangles. Every device does this for itself, from the pairs of parts that
 * all ranks have found on their edges (cut_pairs.cl), so no host looks at a pair.
 *
 * A part is known by its rank and a site index (below 2^30). all: first the ranks' firsts[ranks +
 * 1], each the index of a rank's first pair, in SW_HEAD(ranks) entries; then the pairs of all
 * ranks.
 *
 * A node is a slot in the hash tables of the ranks' parts (keys). A table has `slots` entries, a
 * power of two. pair_nodes holds the nodes of the pairs. Between two labels of nodes, the one with
 * the smaller name becomes the root. A root's site is the smallest of its part, so a cluster's
 * representative is the smallest name.
 */
#include "swendsen_wang/cut.h"
#include "swendsen_wang/relaxed.h"

#define SW_PART 0x3fffffffu
#define SW_NEIGHBOURS 5u
#define SW_HEAD(ranks) ((ranks) / 2u + 1u)

/* Make nodes of all ranks' pairs, each its own root, and name them.
 * neighbours[rank][SW_NEIGHBOURS]: the ranks to which the second part of a pair may belong. */
__kernel void sw_cut_nodes(SW_RECT rects, __global const uint *neighbours, uint ranks,
                           __global const uint2 *all, uint count, __global uint *keys,
                           __global uint *labels, __global ulong *names, __global uint *pair_nodes,
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
        rank = neighbours[SW_NEIGHBOURS * rank + (pair.x >> 30) + 4u * (pair.y >> 30)];
    const uint part = (item & 1u ? pair.y : pair.x) & SW_PART, first = slots * rank;
    /* Use the product's upper bits. Parts of one column are whole rows apart, so they share nearly
     * all lower bits. */
    uint slot = part * 0x9e3779b1u >> (ERGO_CLZ(slots) + 1u);
    /* Ends, because the table is never full. A slot is taken once, for good: an old value can only
     * be SW_CUT_NO_BOND, and then what the exchange returns decides. */
    while (1) {
        uint key = SW_READ(&keys[first + slot]);
        if (key == SW_CUT_NO_BOND)
            key = atomic_cmpxchg(&keys[first + slot], SW_CUT_NO_BOND, part);
        if (key == SW_CUT_NO_BOND) {
            labels[first + slot] = first + slot;
            names[first + slot] = sw_global_site(&rects[rank], part);
        }
        if (key == SW_CUT_NO_BOND || key == part)
            break;
        slot = (slot + 1u) & (slots - 1u);
    }
    pair_nodes[item] = first + slot;
}

ERGO_INLINE uint sw_node_find(__global uint *labels, uint i) {
    uint next = SW_READ(&labels[i]);
    while (next != i) {
        const uint after = SW_READ(&labels[next]);
        if (after == next)
            return next;
        SW_PUT(&labels[i], after); /* halves the path; i is no root, and never becomes one again */
        i = after;
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* Only the label of a root changes, and only to a smaller name. So there are no cycles, and the
 * smallest name becomes the root. If another work-item was first, the exchange returns the node
 * that it joined the old root to, and this join goes on from there: it never reads a label again in
 * the hope of a newer value. Names were written by an earlier launch. */
__kernel void sw_cut_join_nodes(__global const uint *pair_nodes, uint count, __global uint *labels,
                                __global const ulong *names) {
    const uint item = (uint)get_global_id(0);
    if (item >= count)
        return;
    uint a = pair_nodes[2u * item], b = pair_nodes[2u * item + 1u];
    while (1) {
        a = sw_node_find(labels, a);
        b = sw_node_find(labels, b);
        if (a == b)
            break;
        const bool first = names[a] < names[b];
        const uint small = first ? a : b, large = first ? b : a;
        const uint before = atomic_cmpxchg(&labels[large], large, small);
        if (before == large)
            break;
        a = before;
        b = small;
    }
}

/* Give this rank's roots the new states of their clusters, as labels. One work-item per node of
 * this rank. */
__kernel void sw_cut_take_states(__global const struct sw_member *member, __global const uint *keys,
                                 __global const uint *labels, __global const ulong *names,
                                 uint rank, uint slots, __global uint *site_labels, ulong step) {
    const uint item = (uint)get_global_id(0), node = slots * rank + item;
    const uint part = item < slots ? keys[node] : SW_CUT_NO_BOND;
    if (part == SW_CUT_NO_BOND || site_labels[part] != part)
        return;
    uint root = node, next = labels[node];
    while (next != root) {
        root = next;
        next = labels[root];
    }
    site_labels[part] = SW_CUT_STATES + sw_state(names[root], SW_PURPOSE_SPIN, (uint)step,
                                                 (uint)(step >> 32), member->key0, member->key1);
}
