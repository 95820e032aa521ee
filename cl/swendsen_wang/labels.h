/*
 * Labels by union-find (joins.h).
 *
 * There are two levels. Within a tile, each run of a word knows the first site of its part of a
 * cluster, as a node of the tile in 16 bits: runs[tile][n][word of the tile] for run n of the word,
 * counted from bit 0. A part that may continue beyond the tile is open. It has a label at the site
 * index of its first site: labels[member][site index]. Other entries are not used. So a kernel that
 * joins tiles (or rectangles of several ranks) goes from a site to sw_part(), the site index of its
 * part's first site, and from there uses sw_find_still() and sw_join().
 */
#ifndef ERGO_CL_SWENDSEN_WANG_LABELS_H
#define ERGO_CL_SWENDSEN_WANG_LABELS_H

#include "swendsen_wang/joins.h"

#define SW_SITES (32UL * SW_PLANE_WORDS) /* labels per member */
#define SW_TILES_X ((SW_WORDS + SW_TILE_WORDS - 1u) / SW_TILE_WORDS)
#define SW_TILES_Y ((SW_LY + SW_TILE_ROWS - 1u) / SW_TILE_ROWS)
#define SW_SLAB (16UL * SW_TILE_ITEMS) /* entries per tile in runs */
#define SW_RUNS (SW_SLAB * SW_TILES_X * SW_TILES_Y)

/* A site of a tile as a node (params.h), and the division of a node by SW_NODE_ROW, exact below
 * 2^16. */
#define SW_NODE(item, bit) (SW_NODE_ROW * (item) + (bit))
#define SW_NODE_ITEM(node) ((node)*63551u >> 21)

/* Site index of a site of the tile whose first word is `corner`. */
ERGO_INLINE uint sw_tile_index(SW_SHAPE uint corner, uint local_index) {
    const uint item = local_index >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * SW_WORDS + item % SW_TILE_WORDS) +
           (local_index & 31u);
}

/* The part that has site `bit` of word i in row y, as the site index of the part's first site. */
ERGO_INLINE uint sw_part(SW_SHAPE __global const uint *runs, uint i, uint y, uint starts,
                         uint bit) {
    const uint tile_x = i / SW_TILE_WORDS, tile_y = y / SW_TILE_ROWS;
    const uint item = y % SW_TILE_ROWS * SW_TILE_WORDS + i % SW_TILE_WORDS;
    const uint run = popcount(starts & (0xffffffffu >> (31u - bit))) - 1u;
    const uint pair =
        runs[SW_SLAB * (tile_y * SW_TILES_X + tile_x) + (run >> 1) * SW_TILE_ITEMS + item];
    const uint node = run & 1u ? pair >> 16 : pair & 0xffffu;
    return sw_tile_index(SW_HERE tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS,
                         node - SW_NODE_ITEM(node));
}

#endif
