/*
 * Labels by union-find. A label leads to a smaller index of the same cluster; a root's label leads
 * to itself. A join only ever lowers labels, by atomic_min. So any order of work-items ends with
 * the same sets, and the root of each set is its smallest index.
 *
 * There are two levels. Within a tile, each run of a word knows the first site of its part of a
 * cluster, as a node of the tile in 16 bits: runs[tile][n][word of the tile] for run n of the word,
 * counted from bit 0. A part that may continue beyond the tile is open. It has a label at the site
 * index of its first site: labels[member][site index]. Other entries are not used. So a kernel that
 * joins tiles (or rectangles of several ranks) goes from a site to sw_part(), the site index of its
 * part's first site, and from there uses sw_find_still() and sw_join().
 *
 * With SW_LABEL_BITS 2 a label also records whether the path to the index that it leads to goes
 * around the lattice. The label is 4 times the index, plus 1 if the path goes around an odd number
 * of times to the right, plus 2 if down. Joins inside the lattice have no such bits. A closed path
 * that crosses no bond twice goes around an odd number of times in one of the directions, or not at
 * all. So if a join meets two sites of one root, by another path, then the bits differ exactly if a
 * cluster leads around the lattice (J. Machta et al., Phys. Rev. E 54, 1332 (1996), keep the
 * distances). All labels are true at all times and no join is lost, so this holds in any order.
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

/* The root of i. *odd is changed by the bits of the path there. */
ERGO_INLINE uint sw_find(__global uint *labels, uint i, uint *odd) {
    uint next = SW_READ(&labels[i]);
    while (SW_LEADS(next) != i) {
        const uint after = SW_READ(&labels[SW_LEADS(next)]), both = after ^ SW_ODD(next);
        *odd ^= SW_ODD(both); /* a root's own label has no bits */
        if (SW_LEADS(after) == SW_LEADS(next))
            return SW_LEADS(next);
        SW_LOWER(&labels[i], both); /* halves the path */
        i = SW_LEADS(after);
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* The root of i in a later kernel, when nothing is joined any more. */
ERGO_INLINE uint sw_find_still(__global const uint *labels, uint i) {
    uint next = SW_LEADS(labels[i]);
    while (next != i) {
        i = next;
        next = SW_LEADS(labels[i]);
    }
    return i;
}

/* Join a and b. odd: the bits of the path from a to b. Returns nonzero if they contradict earlier
 * joins, that is, if the cluster leads around the lattice. */
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
        /* its label changed meanwhile, so the index that it led to has to be joined too */
        a = SW_LEADS(before);
        b = small;
        odd ^= SW_ODD(before);
    }
}

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
ERGO_INLINE uint sw_tile_index(uint corner, uint local_index) {
    const uint item = local_index >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * SW_WORDS + item % SW_TILE_WORDS) +
           (local_index & 31u);
}

/* The part that has site `bit` of word i in row y, as the site index of the part's first site. */
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
