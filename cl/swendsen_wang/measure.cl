/* Swendsen-Wang: start; what is measured, of the bonds around the lattice in a sweep and of the
 * spins after it. Dimension 1 is the member. */
#include "swendsen_wang/bonds.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"
#include "swendsen_wang/spins.h"

#define SW_SITES (32UL * SW_PLANE_WORDS)

/* Start: mode 0 all in state 0, 1 random. */
__kernel void sw_start(__global uint *spins, __global const struct sw_member *members, uint mode) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    __global uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    uint bits[SW_PLANES];
    for (uint p = 0; p < SW_PLANES; p++)
        bits[p] = 0u;
    if (mode == 1u) {
        const uint sites = sw_last_bit(word % SW_WORDS) + 1u;
        for (uint b = 0; b < sites; b++) {
            const uint state = sw_state(sw_global_site(32u * word + b), SW_PURPOSE_START, 0u, 0u,
                                        members[index].key0, members[index].key1);
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= (state >> p & 1u) << b;
        }
    }
    for (uint p = 0; p < SW_PLANES; p++)
        planes[p * SW_PLANE_WORDS + word] = bits[p];
}

/* Zeros in the sums of a block. */
__kernel void sw_clear(__global uint *sums, uint n_sums, __global uint *clusters, uint n_clusters,
                       __global uint *wraps, uint n_wraps) {
    const uint item = (uint)get_global_id(0);
    if (item < n_sums)
        sums[item] = 0u;
    if (item < n_clusters)
        clusters[item] = 0u;
    if (item < n_wraps)
        wraps[item] = 0u;
}

/*
 * Does a cluster lead around the lattice? Where labels do not say (labels.h), a union-find over the
 * ends of the bonds around it does, when all is joined inside, by the same two bits.
 *
 * seams[member][entries]: the bonds as pairs of labels, rows' ends first; twice SW_NO_BOND: none.
 * nodes[member][2 entries]: 4 times the node that it leads to, and bits: 1 odd to the right, 2
 * down. firsts[member][site]: of a label the node that stands for it, one of its ends of bonds.
 */
#define SW_ENTRIES (SW_LY + 32u * SW_WORDS)

ERGO_INLINE void sw_seam_nodes(uint2 pair, uint item, __global uint *firsts, __global uint *nodes) {
    nodes[2u * item] = 4u * (2u * item);
    nodes[2u * item + 1u] = 4u * (2u * item + 1u);
    if (pair.x == SW_NO_BOND && pair.y == SW_NO_BOND)
        return;
    SW_PUT(&firsts[pair.x], 2u * item); /* whoever comes last stands for all */
    SW_PUT(&firsts[pair.y], 2u * item + 1u);
}

__kernel void sw_seams(__global const uint *right, __global const uint *down,
                       __global const uint *runs, __global const uint *labels,
                       __global uint2 *seams, __global uint *firsts, __global uint *nodes) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    __global const uint *sides = right + (ulong)index * SW_PLANE_WORDS;
    __global const uint *own = labels + (ulong)index * SW_SITES;
    __global const uint *parts = runs + (ulong)index * SW_RUNS;
    uint2 pair = (uint2)(SW_NO_BOND, SW_NO_BOND);
    if (item >= SW_ENTRIES)
        return;
    if (item < SW_LY) {
        const uint word = item * SW_WORDS + SW_WORDS - 1u, side = sides[word];
        if (side >> (SW_TAIL - 1u) & 1u)
            pair = (uint2)(sw_find_still(own, sw_part(parts, SW_WORDS - 1u, item, ~(side << 1),
                                                      SW_TAIL - 1u)),
                           sw_find_still(own, sw_part(parts, 0u, item, 1u, 0u)));
    } else {
        const uint i = (item - SW_LY) >> 5, bit = (item - SW_LY) & 31u;
        const uint word = (SW_LY - 1u) * SW_WORDS + i, side = sides[word], side_below = sides[i];
        if (sw_prune(down[(ulong)index * SW_PLANE_WORDS + word], side, side_below) >> bit & 1u)
            pair = (uint2)(sw_find_still(own, sw_part(parts, i, SW_LY - 1u, ~(side << 1), bit)),
                           sw_find_still(own, sw_part(parts, i, 0u, ~(side_below << 1), bit)));
    }
    seams[(ulong)index * SW_ENTRIES + item] = pair;
    sw_seam_nodes(pair, item, firsts + (ulong)index * SW_SITES,
                  nodes + (ulong)index * (2u * SW_ENTRIES));
}

/* The same of pairs that are there already. */
__kernel void sw_seams_of(__global const uint2 *seams, __global uint *firsts,
                          __global uint *nodes) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (item < SW_ENTRIES)
        sw_seam_nodes(seams[(ulong)index * SW_ENTRIES + item], item,
                      firsts + (ulong)index * SW_SITES, nodes + (ulong)index * (2u * SW_ENTRIES));
}

/* Root of a node; *odd becomes the bits of the way from there. Halves the path; what it puts is not
 * at a root, and says of the node what was said before. */
ERGO_INLINE uint sw_seam_find(__global uint *nodes, uint node, uint *odd) {
    uint bits = 0u, next = SW_READ(&nodes[node]);
    while (next >> 2 != node) {
        const uint after = SW_READ(&nodes[next >> 2]);
        if (after >> 2 != next >> 2)
            SW_PUT(&nodes[node], after ^ (next & 3u));
        bits ^= next & 3u;
        node = next >> 2;
        next = after;
    }
    *odd = bits;
    return node;
}

/* wraps[sample][member]: 1 where a cluster leads around (0 before). By tiles, the labels of both
 * ends are joined, too. */
__kernel void sw_wraps(__global const uint2 *seams, __global const uint *firsts,
                       __global uint *nodes, __global uint *labels, __global uint *wraps,
                       uint sample) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (item >= SW_ENTRIES)
        return;
    const uint2 pair = seams[(ulong)index * SW_ENTRIES + item];
    const uint bond = item < SW_LY ? 1u : 2u;
    __global const uint *own_firsts = firsts + (ulong)index * SW_SITES;
    __global uint *own = nodes + (ulong)index * (2u * SW_ENTRIES);
    if (pair.x == SW_NO_BOND && pair.y == SW_NO_BOND)
        return;
#ifdef SW_OPEN_SUMS
    sw_join(labels + (ulong)index * SW_SITES, pair.x, pair.y, 0u);
#endif
    uint a = own_firsts[pair.x], b = own_firsts[pair.y], odd = bond;
    while (1) {
        uint odd_a, odd_b;
        a = sw_seam_find(own, a, &odd_a);
        b = sw_seam_find(own, b, &odd_b);
        odd ^= odd_a ^ odd_b; /* of the way from a to b */
        if (a == b)
            break;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        if (atomic_cmpxchg(&own[large], 4u * large, 4u * small | odd) == 4u * large)
            return;
    }
    if (odd)
        SW_PUT(&wraps[(ulong)sample * get_global_size(1) + index], 1u);
}

/* Sums over spins: sums[sample][member][place][SW_Q]. A group sees fewer than 2^26 words, so that
 * each number stays below 2^32. */
__kernel void sw_measure(__global const uint *spins, __global uint *sums, uint sample) {
    __local uint fields[SW_Q];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    __global const uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    struct sw_spins own;
    for (uint f = item; f < SW_Q; f += size)
        fields[f] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    sw_spins_begin(&own);
    const uint stride = groups * size, rounds = (SW_PLANE_WORDS + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        const uint i = word % SW_WORDS, y = word / SW_WORDS;
        uint side, under;
        if (word >= SW_PLANE_WORDS)
            continue;
        sw_equal(planes, i, y, &side, &under);
        sw_spins_add(&own, fields, planes, i, y, side, under);
    }
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        atomic_add(&fields[k], own.sums[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong at = ((ulong)sample * members + index) * SW_SUM_SLOTS + group % SW_SUM_SLOTS;
    sw_spins_end(sums + at * SW_Q, fields, item, size);
}

/* Representatives of the sites of `count` words of a member, for audits; 0 beside the lattice. */
__kernel void sw_names(__global const uint *right, __global const uint *runs,
                       __global const uint *open, __global const uint *labels, __global uint *names,
                       uint index, uint first, uint count) {
    const uint k = (uint)get_global_id(0);
    if (k >= count)
        return;
    const uint word = first + k, i = word % SW_WORDS, y = word / SW_WORDS;
    const uint starts = ~(right[(ulong)index * SW_PLANE_WORDS + word] << 1);
    for (uint bit = 0; bit < 32u; bit++) {
        uint root = 0u;
        if (bit <= sw_last_bit(i)) {
            root = sw_part(runs + (ulong)index * SW_RUNS, i, y, starts, bit);
#ifdef SW_OPEN_SUMS
            if (open[(ulong)index * SW_PLANE_WORDS + (root >> 5)] >> (root & 31u) & 1u)
#endif
                root = sw_find_still(labels + (ulong)index * SW_SITES, root);
        }
        names[32u * k + bit] = root;
    }
}
