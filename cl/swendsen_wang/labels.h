/*
 * Labels by union-find. A label leads to a smaller index of the same cluster, a root to itself.
 * Joining never writes anything but a smaller label by atomic_min, so all orders of all work-items
 * end with the same sets, and the root of each is its smallest index.
 *
 * Two levels. In a tile each run of a word knows the first site of its part of a cluster, as a
 * node of the tile, in 16 bits: runs[tile][n][word of the tile] for run n of the word, counted
 * from bit 0. Parts that may go on beyond the tile are open and have labels, at the site index of
 * their first site: labels[member][site index]; other entries mean nothing. So what joins tiles (or
 * rectangles of several ranks) goes from a site to sw_part(), the site index of its part's first
 * site, and on by sw_find_still() and sw_join().
 *
 * With SW_LABEL_BITS 2 a label also says how often the way to the index that it leads to goes
 * around the lattice: 4 times the index, and 1 if that is odd to the right, 2 if odd down. What is
 * joined inside the lattice lies at one place. A closed way that crosses no bond twice leads around
 * an odd number of times in one of the directions, or not at all. So a join of two that have one
 * root, by another way, meets odd bits that differ exactly where a cluster leads around the lattice
 * (J. Machta et al., Phys. Rev. E 54, 1332 (1996), keep the distances). All labels are true at all
 * times, and no join is forgotten, so that holds in all orders, too.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_LABELS_H
#define ERGO_CL_SWENDSEN_WANG_LABELS_H

#include "swendsen_wang/relaxed.h"

#ifndef SW_LABEL_BITS
#define SW_LABEL_BITS 0u
#endif
#define SW_LABEL(index) ((index) << SW_LABEL_BITS)
#define SW_LEADS(label) ((label) >> SW_LABEL_BITS)
#define SW_ODD(label) ((label) & ((1u << SW_LABEL_BITS) - 1u))

/* Root of i; *odd: changed by the bits of the way there. */
ERGO_INLINE uint sw_find(__global uint *labels, uint i, uint *odd) {
    uint next = SW_READ(&labels[i]);
    while (SW_LEADS(next) != i) {
        const uint after = SW_READ(&labels[SW_LEADS(next)]), both = after ^ SW_ODD(next);
        *odd ^= SW_ODD(both); /* a root's own label has none */
        if (SW_LEADS(after) == SW_LEADS(next))
            return SW_LEADS(next);
        SW_LOWER(&labels[i], both); /* halves the path */
        i = SW_LEADS(after);
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* After a kernel's end, when nothing joins any more. */
ERGO_INLINE uint sw_find_still(__global const uint *labels, uint i) {
    uint next = SW_LEADS(labels[i]);
    while (next != i) {
        i = next;
        next = SW_LEADS(labels[i]);
    }
    return i;
}

/* odd: bits of the way from a to b. Not 0 where that contradicts what has been joined before. */
ERGO_INLINE uint sw_join(__global uint *labels, uint a, uint b, uint odd) {
    while (1) {
        a = sw_find(labels, a, &odd);
        b = sw_find(labels, b, &odd);
        if (a == b)
            return odd;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        const uint before = atomic_min(&labels[large], SW_LABEL(small) | odd);
        if (before == SW_LABEL(large))
            return 0u;
        /* it led elsewhere meanwhile: that has to be joined too */
        a = SW_LEADS(before);
        b = small;
        odd ^= SW_ODD(before);
    }
}

#define SW_SITES (32UL * SW_PLANE_WORDS) /* entries of a member in labels */
#define SW_TILES_X ((SW_WORDS + SW_TILE_WORDS - 1u) / SW_TILE_WORDS)
#define SW_TILES_Y ((SW_LY + SW_TILE_ROWS - 1u) / SW_TILE_ROWS)
#define SW_SLAB (16UL * SW_TILE_ITEMS) /* entries of a tile in runs */
#define SW_RUNS (SW_SLAB * SW_TILES_X * SW_TILES_Y)

/* A site of a tile as a node (params.h), and back: node / SW_NODE_ROW, exact below 2^16. */
#define SW_NODE(item, bit) (SW_NODE_ROW * (item) + (bit))
#define SW_NODE_ITEM(node) ((node)*63551u >> 21)

/* Site index of a site of the tile whose first word is `corner`. */
ERGO_INLINE uint sw_tile_index(uint corner, uint local_index) {
    const uint item = local_index >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * SW_WORDS + item % SW_TILE_WORDS) +
           (local_index & 31u);
}

/* Site index of the first site of its part: of the run with site `bit` of word i in row y. */
ERGO_INLINE uint sw_part(__global const uint *runs, uint i, uint y, uint starts, uint bit) {
    const uint tile_x = i / SW_TILE_WORDS, tile_y = y / SW_TILE_ROWS;
    const uint item = y % SW_TILE_ROWS * SW_TILE_WORDS + i % SW_TILE_WORDS;
    const uint run = popcount(starts & (0xffffffffu >> (31u - bit))) - 1u;
    const uint pair =
        runs[SW_SLAB * (tile_y * SW_TILES_X + tile_x) + (run >> 1) * SW_TILE_ITEMS + item];
    const uint node = run & 1u ? pair >> 16 : pair & 0xffffu;
    return sw_tile_index(tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS,
                         node - SW_NODE_ITEM(node));
}

#endif
