/*
 * A rectangle of a cut lattice with the kernels of sweep.cl: sw_label and sw_join_tiles (of its
 * inner edges) as they are, whose draws are addressed from the rectangle's first word on; of the
 * bonds around the rectangle, which sw_label draws too, nothing is used. Then roots on the edges,
 * parts (cut.cl), and new spins. Of measured sweeps sw_label_sizes counts the clusters that do not
 * leave their tile.
 */
#include "swendsen_wang/core.h"

#define sw_global_word(i, y) ((y)*SW_ALL_WORDS + (i) + m->first_word)
#include "swendsen_wang/sweep.cl"
#undef sw_global_word

#include "swendsen_wang/cut_edges.h"

__kernel void sw_cut_tile_edges(__global const uint *spins, __global const struct sw_member *member,
                                SW_RECT rect, __global const uint *halo, __global const uint *right,
                                __global const uint *runs, __global const uint *labels,
                                __global uint *edges, ulong step) {
    SW_CUT_EDGE
    if (wanted)
        entry = sw_find_still(labels, sw_part(runs, i, y, ~(right[y * SW_WORDS + i] << 1), bit));
    edges[item] = entry;
}

#define SW_CUT_PART(i, y, bit) sw_part(runs, (i), (y), ~(right[(y)*SW_WORDS + (i)] << 1), (bit))
#define SW_CUT_ROOT(part) sw_find_still(labels, (part))
#include "swendsen_wang/cut_pairs.cl"

__kernel void sw_cut_tile_clear(__global uint *clusters, uint count) {
    const uint item = (uint)get_global_id(0);
    if (item < count)
        clusters[item] = 0u;
}

/* Sizes of open parts to the roots of their clusters, by tiles; those of the tile's least root,
 * that of one cluster in most tiles, are first added up. */
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_cut_tile_sizes(__global const uint *open, __global uint *labels, __global uint *sizes) {
    __local uint common[2]; /* root, size */
    SW_TILE
    if (first == 0u) {
        common[0] = 0xffffffffu;
        common[1] = 0u;
    }
    SW_SYNC;
    for (uint k = 0; k < SW_PER; k++) {
        SW_WORD
        uint rest = inside && valid ? open[plane + word] : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), site = 32u * word + sw_bit_of(low);
            uint odd = 0u;
            const uint root = sw_find(labels, site, &odd);
            rest ^= low;
            SW_LOWER(&labels[site], root);
            atomic_min(&common[0], root);
        }
    }
    SW_SYNC;
    for (uint k = 0; k < SW_PER; k++) {
        SW_WORD
        uint rest = inside && valid ? open[plane + word] : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), site = 32u * word + sw_bit_of(low);
            const uint root = SW_READ(&labels[site]);
            rest ^= low;
            if (root == site)
                continue; /* its own part is there */
            if (root == common[0])
                SW_ADD_LOCAL(&common[1], sizes[site]);
            else
                atomic_add(&sizes[root], sizes[site]);
        }
    }
    SW_SYNC;
    if (first == 0u && common[1])
        atomic_add(&sizes[common[0]], common[1]);
    (void)index;
}

/* Clusters of several tiles that do not reach an edge (those that do have no root among the sites
 * any more), to one of SW_SUM_SLOTS places. */
__kernel void sw_cut_tile_sums(__global const uint *open, __global const uint *labels,
                               __global const uint *sizes, __global uint *clusters) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), stride = size * (uint)get_num_groups(0);
    struct sw_own_sums own = {0UL, 0UL, 0UL, 0u};
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size)
        fields[f] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rounds = (SW_PLANE_WORDS + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        uint rest = word < SW_PLANE_WORDS ? open[word] : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), site = 32u * word + sw_bit_of(low);
            rest ^= low;
            if (labels[site] == site)
                sw_count_own(&own, fields, sizes[site]);
        }
    }
    sw_count_own_end(&own, fields);
    barrier(CLK_LOCAL_MEM_FENCE);
    sw_count_end(clusters + group % SW_SUM_SLOTS * SW_CLUSTER_FIELDS, fields, item, size);
}

/* sw_cut_name (cut.cl). */
__kernel void sw_cut_tile_name(SW_RECT rect, __global const uint *right, __global const uint *runs,
                               __global const uint *open, __global const uint *labels,
                               __global const ulong *names, __global ulong *found, uint first,
                               uint stride, uint count) {
    const uint k = (uint)get_global_id(0);
    if (k >= count)
        return;
    const uint word = first + k * stride, i = word % SW_WORDS, y = word / SW_WORDS;
    for (uint bit = 0; bit < 32u; bit++) {
        ulong name = ~0UL;
        if (bit <= sw_last_bit(i)) {
            uint root = sw_part(runs, i, y, ~(right[word] << 1), bit);
            if (open[root >> 5] >> (root & 31u) & 1u)
                root = sw_find_still(labels, root);
            name = SW_CUT_NAME(root);
        }
        found[32u * k + bit] = name;
    }
}

/* The rectangle's shape is known here, so that a site's id takes no division. */
#define SW_FLIP_SITE(index)                                                                        \
    (corner_site + (ulong)((index) / (32u * SW_WORDS)) * SW_ALL_LX + (index) % (32u * SW_WORDS))
#undef SW_FLIP_PART
#undef SW_FLIP_FOUND
#undef SW_FLIP_ROOT
#undef SW_FLIP_STATE
#define SW_FLIP_PART 0u
#define SW_FLIP_FOUND
#define SW_FLIP_ROOT(site) sw_cut_lead(own, (site))
#define SW_FLIP_STATE(root)                                                                        \
    ((root) >= SW_CUT_STATES                                                                       \
         ? (root)-SW_CUT_STATES                                                                    \
         : SW_FLIP_DRAWN((root) < (uint)SW_SITES ? SW_FLIP_SITE(root) : names[(root)-SW_SITES]))
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_cut_tile_flip(__global uint *spins, __global const struct sw_member *members, SW_RECT rect,
                 __global const uint *right, __global const uint *runs, __global const uint *roots,
                 __global const uint *open, __global uint *labels, __global const ulong *names,
                 ulong step) {
    __local uint states[SW_PLANES * SW_STATE_WORDS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    const ulong corner_site = sw_rect_site(rect, 0u);
    SW_FLIP_DRAW
    SW_FLIP_SPINS
}
