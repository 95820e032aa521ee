/*
 * Labels by union-find. A label leads to a smaller index of the same cluster, a root to itself.
 * Joining never writes anything but a smaller label by atomic_min, so all orders of all work-items
 * end with the same sets, and the root of each is its smallest index.
 *
 * Two levels. In a tile each run of a word knows the first site of its part of a cluster, as an
 * index in the tile, in 16 bits: runs[tile][n][word of the tile] for run n of the word, counted
 * from bit 0. Parts that may go on beyond the tile are open and have labels, at the site index of
 * their first site: labels[member][site index]; other entries mean nothing. So what joins tiles (or
 * rectangles of several ranks) goes from a site to sw_part(), the site index of its part's first
 * site, and on by sw_find_still() and sw_join().
 */
#ifndef ERGO_CL_SWENDSEN_WANG_LABELS_H
#define ERGO_CL_SWENDSEN_WANG_LABELS_H

/* Reads and writes beside atomic ones: plain reads see an old or a new label, and both lead on; no
 * loop waits for a new one. Plain writes put an ancestor where a later one has been. (Not volatile:
 * NVIDIA's compiler makes code of that which takes half as long again.) Oclgrind calls that a race
 * (src/core/quirks.c defines the macro there). */
#ifdef ERGO_ATOMIC_READS
#define SW_READ(p) atomic_or((p), 0u)
#define SW_LOWER(p, value) atomic_min((p), (value))
#else
#define SW_READ(p) (*(p))
#define SW_LOWER(p, value) (*(p) = (value))
#endif

ERGO_INLINE uint sw_find(__global uint *labels, uint i) {
    uint next = SW_READ(&labels[i]);
    while (next != i) {
        const uint after = SW_READ(&labels[next]);
        if (after == next)
            return next;
        SW_LOWER(&labels[i], after); /* halves the path */
        i = after;
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* After a kernel's end, when nothing joins any more. */
ERGO_INLINE uint sw_find_still(__global const uint *labels, uint i) {
    uint next = labels[i];
    while (next != i) {
        i = next;
        next = labels[i];
    }
    return i;
}

ERGO_INLINE void sw_join(__global uint *labels, uint a, uint b) {
    while (1) {
        a = sw_find(labels, a);
        b = sw_find(labels, b);
        if (a == b)
            break;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        const uint before = atomic_min(&labels[large], small);
        if (before == large)
            break;
        /* it led elsewhere meanwhile: that has to be joined too */
        a = before;
        b = small;
    }
}

#define SW_TILES_X ((SW_WORDS + SW_TILE_WORDS - 1u) / SW_TILE_WORDS)
#define SW_TILES_Y ((SW_LY + SW_TILE_ROWS - 1u) / SW_TILE_ROWS)
#define SW_SLAB (16UL * SW_TILE_ITEMS) /* entries of a tile in runs */
#define SW_RUNS (SW_SLAB * SW_TILES_X * SW_TILES_Y)

/* Site index of a site of the tile whose first word is `corner`. */
ERGO_INLINE uint sw_tile_index(uint corner, uint local_index) {
    const uint item = local_index >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * SW_WORDS + item % SW_TILE_WORDS) +
           (local_index & 31u);
}

#ifndef SW_EQUIVALENCE
/* Site index of the first site of its part: of the run with site `bit` of word i in row y. */
ERGO_INLINE uint sw_part(__global const uint *runs, uint i, uint y, uint starts, uint bit) {
    const uint tile_x = i / SW_TILE_WORDS, tile_y = y / SW_TILE_ROWS;
    const uint item = y % SW_TILE_ROWS * SW_TILE_WORDS + i % SW_TILE_WORDS;
    const uint run = popcount(starts & (0xffffffffu >> (31u - bit))) - 1u;
    const uint pair =
        runs[SW_SLAB * (tile_y * SW_TILES_X + tile_x) + (run >> 1) * SW_TILE_ITEMS + item];
    return sw_tile_index(tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS,
                         run & 1u ? pair >> 16 : pair & 0xffffu);
}
#else
/* Label equivalence: every site has a label. */
ERGO_INLINE uint sw_part(__global const uint *runs, uint i, uint y, uint starts, uint bit) {
    return 32u * (y * SW_WORDS + i) + sw_start_of(starts, bit);
}
#endif

#endif
