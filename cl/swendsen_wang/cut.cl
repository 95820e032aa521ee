/*
 * Swendsen-Wang on one rectangle of a lattice that is cut over ranks. These kernels work for
 * rectangles of any shape: start, halos, parts of clusters, sums over spins. The others are in
 * cut_tiles.cl.
 *
 * spins: [plane][word]; labels: [site]. A halo, outgoing or incoming, has the first row of a
 * rectangle as [plane][word], then the first column as states, one byte per row. In the incoming
 * halo the column belongs to the neighbours on the right: `rows` bytes after 4 planes words bytes.
 */
#include "swendsen_wang/cut.h"

/* Mode 0: all spins in state 0; mode 1: random. */
__kernel void sw_cut_start(__global uint *spins, __global const struct sw_member *member,
                           SW_RECT rect, uint mode) {
    const uint word = (uint)get_global_id(0), plane = rect->words * rect->rows;
    if (word >= plane)
        return;
    uint bits[SW_PLANES];
    for (uint p = 0; p < SW_PLANES; p++)
        bits[p] = 0u;
    if (mode == 1u) {
        const uint sites = sw_last_bit(rect, word % rect->words) + 1u;
        for (uint b = 0; b < sites; b++) {
            const uint state = sw_state(sw_global_site(rect, 32u * word + b), SW_PURPOSE_START, 0u,
                                        0u, member->key0, member->key1);
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= (state >> p & 1u) << b;
        }
    }
    for (uint p = 0; p < SW_PLANES; p++)
        spins[p * plane + word] = bits[p];
}

/* Write the outgoing halo. */
__kernel void sw_cut_pack(__global const uint *spins, SW_RECT rect, __global uint *halo) {
    const uint item = (uint)get_global_id(0), words = rect->words, plane = words * rect->rows;
    __global uchar *column = (__global uchar *)(halo + SW_PLANES * words);
    if (item < SW_PLANES * words) {
        halo[item] = spins[item / words * plane + item % words];
        return;
    }
    const uint y = item - SW_PLANES * words;
    if (y >= rect->rows)
        return;
    uint state = 0u;
    for (uint p = 0; p < SW_PLANES; p++)
        state |= (spins[p * plane + y * words] & 1u) << p;
    column[y] = (uchar)state;
}

/* The bonds of the sweep at `step` to the right, then those down, as they will be where neighbours'
 * spins are equal then. They do not depend on the spins, so a device draws them while it waits for
 * the clusters of the sweep before. */
__kernel void sw_cut_draw(__global const struct sw_member *member, SW_RECT rect,
                          __global uint *drawn, ulong step) {
    const uint word = (uint)get_global_id(0), words = rect->words, plane = words * rect->rows;
    if (word >= plane)
        return;
    const struct sw_member m = *member;
    uint right = 0xffffffffu, down = 0xffffffffu;
    sw_bonds_both(&right, &down, sw_global_word(rect, word % words, word / words), (uint)step,
                  (uint)(step >> 32), m.key0, m.key1, m.high, m.low, m.always);
    drawn[word] = right;
    drawn[plane + word] = down;
}

/*
 * Number the parts of clusters that reach an edge. Several entries of `edges` may have the same
 * root. One of them wins, and its index becomes the number of the part. From then on the root's
 * label is `sites` plus that number, and edges[] holds the number instead of the root. roots[entry]
 * is the root of the part with this number, or SW_CUT_NO_BOND; names[entry] is that root's site.
 */
__kernel void sw_cut_parts(SW_RECT rect, volatile __global uint *labels, __global uint *edges,
                           __global uint *roots, __global ulong *names) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * (32u * rect->words + rect->rows))
        return;
    const uint sites = 32u * rect->words * rect->rows, root = edges[item];
    uint part_root = SW_CUT_NO_BOND;
    if (root != SW_CUT_NO_BOND) {
        const uint before = atomic_cmpxchg(&labels[root], root, sites + item);
        if (before == root) {
            part_root = root;
            labels[sites + item] = sites + item;
            names[item] = sw_global_site(rect, root);
        }
        edges[item] = before == root ? item : before - sites;
    }
    roots[item] = part_root;
}

__kernel void sw_cut_part_sizes(__global const uint *sizes, __global const uint *roots,
                                __global uint *part_sizes, uint count) {
    const uint item = (uint)get_global_id(0);
    if (item < count)
        part_sizes[item] = roots[item] == SW_CUT_NO_BOND ? 0u : sizes[roots[item]];
}

/* Replace the names of some parts, whose cluster's smallest site lies in another rectangle. */
__kernel void sw_cut_rename(__global ulong *names, __global const uint *parts,
                            __global const ulong *others, uint count) {
    const uint k = (uint)get_global_id(0);
    if (k < count)
        names[parts[k]] = others[k];
}

/* Unequal bonds to the right and down, with those that leave the rectangle, and sites in states 1
 * .. q - 1, per work-group: sums[group][SW_Q]. A work-group sees fewer than 2^26 words, so a sum
 * fits 32 bits. */
__kernel void sw_cut_measure(__global const uint *spins, SW_RECT rect, __global const uint *halo,
                             __global uint *sums) {
    __local uint fields[SW_Q];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint words = rect->words, rows = rect->rows, plane = words * rows;
    __global const uchar *column = (__global const uchar *)(halo + SW_PLANES * words);
    for (uint f = item; f < SW_Q; f += size)
        fields[f] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint unequal = 0u;
    /* all work-items make the same number of rounds (see cl/spin_lattice/ising_global.cl) */
    const uint stride = groups * size, rounds = (plane + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        if (word >= plane)
            continue;
        const uint i = word % words, y = word / words, last = sw_last_bit(rect, i);
        const uint valid = sw_valid(rect, i);
        const bool last_word = i + 1u == words, last_row = y + 1u == rows;
        uint side = 0u, under = 0u, spin[SW_PLANES];
        for (uint p = 0; p < SW_PLANES; p++) {
            spin[p] = spins[p * plane + word];
            const uint next = last_word ? (uint)column[y] >> p
                                        : spins[p * plane + (last_word ? word : word + 1u)];
            const uint below = last_row ? halo[p * words + i]
                                        : spins[p * plane + (last_row ? word : word + words)];
            side |= spin[p] ^ (spin[p] >> 1 & ~(1u << last) | (next & 1u) << last);
            under |= spin[p] ^ below;
        }
        unequal += popcount(side & valid) + popcount(under & valid);
#if SW_Q <= 8
        for (uint k = 1; k < SW_Q; k++) {
            uint match = valid;
            for (uint p = 0; p < SW_PLANES; p++)
                match &= k >> p & 1u ? spin[p] : ~spin[p];
            if (match)
                atomic_add(&fields[k], popcount(match));
        }
#else
        for (uint b = 0; b <= last; b++) {
            uint k = 0u;
            for (uint p = 0; p < SW_PLANES; p++)
                k |= (spin[p] >> b & 1u) << p;
            if (k)
                atomic_add(&fields[k], 1u);
        }
#endif
    }
    atomic_add(&fields[0], unequal);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint f = item; f < SW_Q; f += size)
        sums[group * SW_Q + f] = fields[f];
}
