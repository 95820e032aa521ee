/*
 * A rectangle of a cut lattice. The kernels sw_label and sw_join_tiles of
 * sweep.cl are used as they are, the latter for inner edges only. Their draws are addressed from
 * the rectangle's first word. sw_label also draws the bonds that wrap around the rectangle, but
 * these are not used. Roots on the edges, parts (cut.cl), and new spins follow. In measured sweeps
 * sw_label_sizes counts the clusters that do not leave their tile.
 */
#include "swendsen_wang/cut_edges.h"
#include "swendsen_wang/sweep.cl"
#include "swendsen_wang/cut_pairs.cl"
#include "swendsen_wang/cut_early.cl"

/* sw_label, with bonds that sw_cut_draw has drawn. */
__kernel SW_TILE_GROUP void sw_cut_tile_label(SW_RECT rect, __global const uint *spins,
                                              __global const struct sw_member *members,
                                              __global const uint *drawn, __global uint *right,
                                              __global uint *down, __global uint *runs,
                                              __global uint *roots, __global uint *open,
                                              __global uint *labels, ulong step) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    sw_label_tile(rect, spins, members, step, true, drawn, right, down, runs, roots, open, labels,
                  tile, sides, unders, opens);
}

__kernel void sw_cut_tile_edges(__global const uint *spins, __global const struct sw_member *member,
                                SW_RECT rect, __global const uint *halo, __global const uint *right,
                                __global const uint *runs, __global const uint *labels,
                                __global uint *edges, ulong step) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * (32u * rect->words + rect->rows))
        return;
    const struct sw_edge at = sw_cut_edge(spins, member, rect, halo, item, step);
    edges[item] = at.wanted
                      ? sw_find_still(labels, sw_cut_part(rect, right, runs, at.i, at.y, at.bit))
                      : SW_CUT_NO_BOND;
}

/* Add the sizes of open parts to the roots of their clusters, tile by tile. In most tiles many
 * parts belong to one large cluster, so the sizes for the tile's smallest root are added up in
 * local memory first.
 *
 * Nothing is joined here any more, but other groups shorten paths that lead through this tile's
 * labels. Where that is a plain store (SW_LOWER), it may put a label back to a node on its way, so
 * the root is looked for again and not taken from the label. Sizes change at roots only, and a
 * size that is read is not a root's. */
__kernel SW_TILE_GROUP void sw_cut_tile_sizes(SW_RECT rect, __global const uint *open,
                                              __global uint *labels, __global uint *sizes) {
    __local uint common[2]; /* root; sum of sizes */
    const struct sw_tile t = sw_tile_of_group(rect);
    if (t.first == 0u) {
        common[0] = 0xffffffffu;
        common[1] = 0u;
    }
    SW_SYNC;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(rect, k);
        uint rest = at.inside ? open[at.word] & at.mine : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), site = 32u * at.word + sw_bit_of(low);
            uint odd = 0u;
            const uint root = sw_find(labels, site, &odd);
            rest ^= low;
            SW_LOWER(&labels[site], root);
            atomic_min(&common[0], root);
        }
    }
    SW_SYNC;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(rect, k);
        uint rest = at.inside ? open[at.word] & at.mine : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), site = 32u * at.word + sw_bit_of(low);
            uint odd = 0u;
            const uint root = sw_find(labels, site, &odd);
            rest ^= low;
            if (root == site)
                continue; /* sizes[root] holds this part's size already */
            if (root == common[0])
                SW_ADD_LOCAL(&common[1], sizes[site]);
            else
                atomic_add(&sizes[root], sizes[site]);
        }
    }
    SW_SYNC;
    if (t.first == 0u && common[1])
        atomic_add(&sizes[common[0]], common[1]);
}

/* Count clusters of several tiles that do not reach an edge, into one of SW_SUM_SLOTS slots. The
 * others no longer have a root among the sites. */
__kernel void sw_cut_tile_sums(SW_RECT rect, __global const uint *open, __global const uint *labels,
                               __global const uint *sizes, __global uint *clusters) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), stride = size * (uint)get_num_groups(0);
    struct sw_item_sums item_sums = {0UL, 0UL, 0UL, 0u};
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
                sw_count_by_item(&item_sums, fields, sizes[site]);
        }
    }
    sw_count_by_item_end(&item_sums, fields);
    barrier(CLK_LOCAL_MEM_FENCE);
    sw_count_end(clusters + group % SW_SUM_SLOTS * SW_CLUSTER_FIELDS, fields, item, size);
}

/* New spins (tile_flip.h). A root's label may hold its cluster's new state. */
__kernel SW_TILE_GROUP void sw_cut_tile_flip(__global uint *spins,
                                             __global const struct sw_member *members, SW_RECT rect,
                                             __global const uint *right, __global const uint *runs,
                                             __global const uint *roots, __global const uint *open,
                                             __global uint *labels, __global const ulong *names,
                                             ulong step) {
    __local uint states[SW_PLANES * SW_STATE_WORDS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    const struct sw_tile t = sw_tile_of_group(rect);
    const struct sw_member m = members[0];
    sw_flip_begin(rect, states, listed);
    SW_SYNC;
    sw_flip_list(rect, roots, open, list, listed);
    SW_SYNC;
    const uint n_open = listed[1], total = listed[0] + n_open;
    for (uint j = t.first; j < total; j += SW_GROUP) {
        const uint n = sw_flip_listed(list, j, n_open);
        const uint root =
            j < n_open ? sw_cut_lead(labels, sw_tile_index(rect, sw_corner(rect), n)) : 0u;
        if (root >= SW_CUT_STATES) {
            sw_flip_put(states, n, root - SW_CUT_STATES);
            continue;
        }
        /* most roots are in their tile: their place needs no division by a width that is not
         * constant */
        const ulong site = j < n_open ? sw_cut_name(rect, names, root) : sw_tile_site(rect, n);
        sw_flip_put(states, n, sw_flip_state(&m, site, step));
    }
    SW_SYNC;
    sw_flip_spins(rect, spins, right, runs, states);
}
