/* Swendsen-Wang: bonds and labels in tiles, joins between tiles, new spins. Dimension 1 is always
 * the member. tile_sweep.h describes the arrays. */
#include "swendsen_wang/tile_flip.h"
#include "swendsen_wang/tile_sweep.h"

#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))

/* The bonds of a tile, and labels of its runs within the tile. */
ERGO_INLINE void sw_label_tile(SW_SHAPE __global const uint *spins,
                               __global const struct sw_member *members, ulong step, bool ahead,
                               __global const uint *drawn, __global uint *right,
                               __global uint *down, __global uint *runs, __global uint *roots,
                               __global uint *open, __global uint *labels, __local uint *tile,
                               __local uint *sides, __local uint *unders, __local uint *opens) {
    struct sw_tile_word words[SW_PER];
    struct sw_spins none;
    sw_label_bonds(SW_HERE spins, members, step, ahead, drawn, right, down, sides, unders, opens,
                   &none, sides, false);
    SW_SYNC;
    sw_tile_link_words(SW_HERE tile, sides, unders, words);
    SW_SYNC;
    sw_tile_join_words(SW_HERE tile, sides, words);
    SW_SYNC;
    sw_label_roots(SW_HERE tile, words, runs, false);
    SW_SYNC;
    sw_label_open(SW_HERE tile, sides, unders, opens, words, false);
    SW_SYNC;
    sw_label_leave(SW_HERE tile, opens, words, roots, open, labels, labels, false);
}

/* Draw the bonds of a tile, and label its runs within the tile. */
__kernel SW_TILE_GROUP void sw_label(SW_SHAPE __global const uint *spins,
                                     __global const struct sw_member *members, __global uint *right,
                                     __global uint *down, __global uint *runs, __global uint *roots,
                                     __global uint *open, __global uint *labels, ulong step) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    sw_label_tile(SW_HERE spins, members, step, false, 0, right, down, runs, roots, open, labels,
                  tile, sides, unders, opens);
}

/* The same, with sums over the spins as they are before this sweep: spin_sums as in sw_measure, for
 * sample `before`. */
__kernel SW_TILE_GROUP void sw_label_spins(SW_SHAPE __global const uint *spins,
                                           __global const struct sw_member *members,
                                           __global uint *right, __global uint *down,
                                           __global uint *runs, __global uint *roots,
                                           __global uint *open, __global uint *labels, ulong step,
                                           __global uint *spin_sums, uint before) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    __local uint spin_fields[SW_Q], lanes[32 * SW_SPIN_SUMS];
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    struct sw_tile_word words[SW_PER];
    struct sw_spins sums;
    sw_label_spins_begin(SW_HERE spin_fields, lanes);
    sw_spins_begin(&sums);
    SW_SYNC;
    sw_label_bonds(SW_HERE spins, members, step, false, 0, right, down, sides, unders, opens, &sums,
                   spin_fields, before != SW_NO_SAMPLE);
    sw_label_spins_add(SW_HERE lanes, &sums);
    SW_SYNC;
    sw_tile_link_words(SW_HERE tile, sides, unders, words);
    SW_SYNC;
    sw_tile_join_words(SW_HERE tile, sides, words);
    SW_SYNC;
    sw_label_roots(SW_HERE tile, words, runs, false);
    SW_SYNC;
    sw_label_open(SW_HERE tile, sides, unders, opens, words, false);
    SW_SYNC;
    sw_label_leave(SW_HERE tile, opens, words, roots, open, labels, labels, false);
    sw_label_spins_end(SW_HERE lanes, spin_fields);
    SW_SYNC;
    if (before != SW_NO_SAMPLE)
        sw_spins_end(sw_sums_of(SW_HERE spin_sums, before, SW_Q), spin_fields, t.first, SW_GROUP);
}

/* The same for a measured sweep: also counts clusters that do not leave their tile, and writes the
 * sizes of open parts. For sample `before` it adds the clusters of several tiles and the sums over
 * spins. */
__kernel SW_TILE_GROUP void
sw_label_sizes(SW_SHAPE __global const uint *spins, __global const struct sw_member *members,
               __global uint *right, __global uint *down, __global uint *runs, __global uint *roots,
               __global uint *open, __global uint *labels, ulong step, __global uint *sizes,
               __global uint *sums, uint sample, __global uint *spin_sums, uint before) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    __local uint fields[SW_CLUSTER_FIELDS], spin_fields[SW_Q], lanes[32 * SW_SPIN_SUMS];
    __local uint listed[1]; /* clusters listed in `unders`, which is free by then */
    __local uint root_fields[SW_CLUSTER_FIELDS], root_list[SW_MOST_OPEN], roots_listed[1];
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const bool has_before = before != SW_NO_SAMPLE;
    struct sw_tile_word words[SW_PER];
    struct sw_spins spins_of_item;
    sw_roots_begin(SW_HERE root_fields, roots_listed);
    sw_label_spins_begin(SW_HERE spin_fields, lanes);
    if (t.first == 0u)
        listed[0] = 0u;
    sw_spins_begin(&spins_of_item);
    SW_SYNC;
    if (has_before)
        sw_roots_list(SW_HERE roots, root_list, roots_listed);
    sw_label_bonds(SW_HERE spins, members, step, false, 0, right, down, sides, unders, opens,
                   &spins_of_item, spin_fields, has_before);
    sw_label_spins_add(SW_HERE lanes, &spins_of_item);
    sw_count_begin(fields, t.first, SW_GROUP);
    SW_SYNC;
    sw_roots_count(SW_HERE sizes, root_list, roots_listed, root_fields);
    sw_tile_link_words(SW_HERE tile, sides, unders, words);
    SW_SYNC_GLOBAL; /* sizes are overwritten only after they have been counted */
    sw_tile_join_words(SW_HERE tile, sides, words);
    SW_SYNC;
    sw_label_roots(SW_HERE tile, words, runs, true);
    SW_SYNC;
    sw_label_open(SW_HERE tile, sides, unders, opens, words, true);
    SW_SYNC;
    sw_label_leave(SW_HERE tile, opens, words, roots, open, labels, sizes, true);
    sw_label_count(SW_HERE tile, opens, words, fields, unders, listed);
    SW_SYNC;
    const uint large = listed[0];
    for (uint e = t.first; e < large; e += SW_GROUP)
        sw_count(fields, unders[e]);
    sw_label_spins_end(SW_HERE lanes, spin_fields);
    SW_SYNC;
    sw_count_end(sw_sums_of(SW_HERE sums, sample, SW_CLUSTER_FIELDS), fields, t.first, SW_GROUP);
    if (has_before) {
        sw_spins_end(sw_sums_of(SW_HERE spin_sums, before, SW_Q), spin_fields, t.first, SW_GROUP);
        sw_count_end(sw_sums_of(SW_HERE sums, before, SW_CLUSTER_FIELDS), root_fields, t.first,
                     SW_GROUP);
    }
}

/* Count clusters of several tiles, if no measured sweep follows that would do it. */
__kernel SW_TILE_GROUP void sw_count_roots(SW_SHAPE __global const uint *roots,
                                           __global const uint *sizes, __global uint *sums,
                                           uint before) {
    __local uint fields[SW_CLUSTER_FIELDS], list[SW_MOST_OPEN], listed[1];
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    sw_roots_begin(SW_HERE fields, listed);
    SW_SYNC;
    sw_roots_list(SW_HERE roots, list, listed);
    SW_SYNC;
    sw_roots_count(SW_HERE sizes, list, listed, fields);
    SW_SYNC;
    sw_count_end(sw_sums_of(SW_HERE sums, before, SW_CLUSTER_FIELDS), fields, t.first, SW_GROUP);
}

/*
 * Join across the edges of tiles: n_rows edges from row_edge on, then n_columns edges from
 * column_edge on. Edge e lies below row (e + 1) SW_TILE_ROWS - 1, or right of that word. The last
 * edges are the lattice's own, and their bonds lead around it. There is a work-item for each site
 * above an edge, then for each word left of one: 32 SW_WORDS n_rows + SW_LY n_columns.
 *
 * wraps[sample][member] is set to 1 if a cluster leads around the lattice (with SW_LABEL_BITS 2);
 * it is 0 before.
 */
__kernel void sw_join_tiles(SW_SHAPE __global const uint *right, __global const uint *down,
                            __global const uint *runs, __global uint *labels, uint row_edge,
                            uint n_rows, uint column_edge, uint n_columns, __global uint *wraps,
                            uint sample) {
    uint item = (uint)get_global_id(0);
    const uint index = (uint)get_global_id(1), below_edges = 32u * SW_WORDS * n_rows;
    __global const uint *sides = right + (ulong)index * SW_PLANE_WORDS;
    __global const uint *parts = runs + (ulong)index * SW_RUNS;
    __global uint *member_labels = labels + (ulong)index * SW_SITES;
    uint odd = 0u;
    if (item < below_edges) {
        const uint bit = item & 31u, i = (item >> 5) % SW_WORDS;
        const uint row = (row_edge + (item >> 5) / SW_WORDS + 1u) * SW_TILE_ROWS;
        const uint y = row < SW_LY ? row - 1u : SW_LY - 1u;
        const uint y_below = y + 1u == SW_LY ? 0u : y + 1u;
        const uint word = y * SW_WORDS + i;
        const uint side = sides[word], side_below = sides[y_below * SW_WORDS + i];
        if (sw_prune(down[(ulong)index * SW_PLANE_WORDS + word], side, side_below) >> bit & 1u)
            odd = sw_join(member_labels, sw_part(SW_HERE parts, i, y, ~(side << 1), bit),
                          sw_part(SW_HERE parts, i, y_below, ~(side_below << 1), bit),
                          SW_ODD(y_below ? 0u : 2u));
    } else if (item - below_edges < SW_LY * n_columns) {
        item -= below_edges;
        const uint y = item % SW_LY, column = (column_edge + item / SW_LY + 1u) * SW_TILE_WORDS;
        const uint i = column < SW_WORDS ? column - 1u : SW_WORDS - 1u;
        const uint next = i + 1u == SW_WORDS ? 0u : i + 1u;
        const uint side = sides[y * SW_WORDS + i], last = sw_last_bit(SW_HERE i);
        if (side >> last & 1u)
            odd = sw_join(member_labels, sw_part(SW_HERE parts, i, y, ~(side << 1), last),
                          sw_part(SW_HERE parts, next, y, 1u, 0u), SW_ODD(next ? 0u : 1u));
    }
    if (odd && sample != SW_NO_SAMPLE)
        SW_PUT(&wraps[(ulong)sample * get_global_size(1) + index], 1u);
}

/* New spins. */
__kernel SW_TILE_GROUP void sw_flip(SW_SHAPE __global uint *spins,
                                    __global const struct sw_member *members,
                                    __global const uint *right, __global const uint *runs,
                                    __global const uint *roots, __global const uint *open,
                                    __global uint *labels, ulong step) {
    __local uint states[SW_PLANES * SW_STATE_WORDS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const struct sw_member m = members[t.index];
    __global const uint *member_labels = labels + (ulong)t.index * SW_SITES;
    sw_flip_begin(SW_HERE states, listed);
    SW_SYNC;
    sw_flip_list(SW_HERE roots, open, list, listed);
    SW_SYNC;
    const uint n_open = listed[1], total = listed[0] + n_open;
    for (uint j = t.first; j < total; j += SW_GROUP) {
        const uint n = sw_flip_listed(list, j, n_open),
                   site = sw_tile_index(SW_HERE sw_corner(SW_HERE_ALONE), n);
        const uint root = j < n_open ? sw_find_still(member_labels, site) : site;
        sw_flip_put(states, n, sw_flip_state(&m, sw_global_site(SW_HERE root), step));
    }
    SW_SYNC;
    sw_flip_spins(SW_HERE spins, right, runs, states);
}

/*
 * The same in a measured sweep: also add the sizes of open parts at their clusters' roots. `roots`
 * then holds which open parts are roots, for sw_roots_list. Many parts of a tile belong to the
 * lattice's largest cluster, so the sizes for the tile's smallest root are added up in local memory
 * first. A part's size is read before its root is looked for. Sizes change meanwhile only at roots,
 * and there the value that was read is not used.
 */
__kernel SW_TILE_GROUP void sw_flip_sizes(SW_SHAPE __global uint *spins,
                                          __global const struct sw_member *members,
                                          __global const uint *right, __global const uint *runs,
                                          __global uint *roots, __global const uint *open,
                                          __global uint *labels, ulong step, __global uint *sizes) {
    __local uint states[SW_PLANES * SW_STATE_WORDS], tops[SW_TILE_ITEMS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    __local uint2 found[SW_MOST_OPEN]; /* root and size of each open part */
    __local uint common[2];            /* root; sum of sizes */
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const struct sw_member m = members[t.index];
    __global const uint *member_labels = labels + (ulong)t.index * SW_SITES;
    __global uint *counts = sizes + (ulong)t.index * SW_SITES;
    for (uint item = t.first; item < SW_TILE_ITEMS; item += SW_GROUP)
        tops[item] = 0u;
    if (t.first == 0u) {
        common[0] = SW_NO_BOND;
        common[1] = 0u;
    }
    sw_flip_begin(SW_HERE states, listed);
    SW_SYNC;
    sw_flip_list(SW_HERE roots, open, list, listed);
    SW_SYNC_GLOBAL; /* roots are overwritten only after they have been read */
    const uint n_open = listed[1], total = listed[0] + n_open;
    for (uint j = t.first; j < total; j += SW_GROUP) {
        const uint n = sw_flip_listed(list, j, n_open),
                   site = sw_tile_index(SW_HERE sw_corner(SW_HERE_ALONE), n);
        uint root = site;
        if (j < n_open) {
            const uint size = SW_READ(&counts[site]);
            root = sw_find_still(member_labels, site);
            found[j] = (uint2)(root, size);
            SW_MIN_LOCAL(&common[0], root);
            if (root == site)
                SW_OR_LOCAL(&tops[n >> 5], 1u << (n & 31u));
        }
        sw_flip_put(states, n, sw_flip_state(&m, sw_global_site(SW_HERE root), step));
    }
    SW_SYNC;
    for (uint j = t.first; j < n_open; j += SW_GROUP) {
        const uint site = sw_tile_index(SW_HERE sw_corner(SW_HERE_ALONE), list[SW_LIST_END - j]),
                   root = found[j].x;
        if (root == common[0] && root != site)
            SW_ADD_LOCAL(&common[1], found[j].y);
        else if (root != site) /* counts[root] holds this part's size already */
            atomic_add(&counts[root], found[j].y);
    }
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        if (at.inside && at.mine & 1u)
            roots[t.plane + at.word] = tops[at.item];
    }
    sw_flip_spins(SW_HERE spins, right, runs, states);
    SW_SYNC;
    if (t.first == 0u && common[1])
        atomic_add(&counts[common[0]], common[1]);
}
