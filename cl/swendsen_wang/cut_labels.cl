/*
 * Labels inside one rectangle of a lattice that is cut over ranks, by union-find or by label
 * equivalence. A label leads to a smaller index of the same cluster, a root to itself; by
 * union-find only first sites of runs have labels. Joining never writes anything but a smaller
 * label by atomic_min, so all orders of all work-items end with the same sets, and the root of each
 * is its smallest index. Nothing is joined around the rectangle: the ranks do that together.
 */
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/cut.h"
#include "swendsen_wang/relaxed.h"

#define SW_RECT_SITES (32u * rect->words * rect->rows)

/* In a tile, bank by bank: label n (32 item + bit) is at [bit][item]. */
#define SW_CUT_AT(n) (((n)&31u) * SW_TILE_ITEMS + ((n) >> 5))
#define SW_CUT_SELF(n) (n)

/* sw_cut_find_SPACE, sw_cut_join_SPACE: the same in global memory and in a tile. */
#define SW_CUT_UNION(SPACE, AT, READ)                                                              \
    ERGO_INLINE uint sw_cut_find##SPACE(volatile SPACE uint *labels, uint i) {                     \
        uint next = READ(&labels[AT(i)]);                                                          \
        while (next != i) {                                                                        \
            i = next;                                                                              \
            next = READ(&labels[AT(i)]);                                                           \
        }                                                                                          \
        return i;                                                                                  \
    }                                                                                              \
    ERGO_INLINE void sw_cut_join##SPACE(volatile SPACE uint *labels, uint a, uint b) {             \
        while (1) {                                                                                \
            a = sw_cut_find##SPACE(labels, a);                                                     \
            b = sw_cut_find##SPACE(labels, b);                                                     \
            if (a == b)                                                                            \
                break;                                                                             \
            const uint small = a < b ? a : b, large = a < b ? b : a;                               \
            const uint before = atomic_min(&labels[AT(large)], small);                             \
            if (before == large)                                                                   \
                break;                                                                             \
            /* it led elsewhere meanwhile: that has to be joined too */                            \
            a = before;                                                                            \
            b = small;                                                                             \
        }                                                                                          \
    }
SW_CUT_UNION(__global, SW_CUT_SELF, SW_READ)
SW_CUT_UNION(__local, SW_CUT_AT, SW_READ_LOCAL)

/* When nothing joins any more. */
ERGO_INLINE uint sw_cut_find_still(__global const uint *labels, uint i) {
    uint next = labels[i];
    while (next != i) {
        i = next;
        next = labels[i];
    }
    return i;
}

/* Site index of a label of the tile whose first word is `corner`. */
ERGO_INLINE uint sw_cut_tile_index(SW_RECT rect, uint corner, uint label) {
    const uint item = label >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * rect->words + item % SW_TILE_WORDS) +
           (label & 31u);
}

/* Join inside a tile, in local memory; SW_TILE_ITEMS per tile. With sizes: of each root's part in
 * the tile, 0 for other first sites. */
#define SW_CUT_TILE(SIZES)                                                                         \
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);                         \
    const uint words = rect->words, rows = rect->rows;                                             \
    const uint tiles_x = (words + SW_TILE_WORDS - 1u) / SW_TILE_WORDS;                             \
    const uint tile_x = tile % tiles_x, tile_y = tile / tiles_x;                                   \
    const uint tx = item % SW_TILE_WORDS, ty = item / SW_TILE_WORDS;                               \
    const uint i = tile_x * SW_TILE_WORDS + tx, y = tile_y * SW_TILE_ROWS + ty;                    \
    const uint corner = tile_y * SW_TILE_ROWS * words + tile_x * SW_TILE_WORDS;                    \
    const bool inside = i < words && y < rows;                                                     \
    const uint word = inside ? y * words + i : 0u;                                                 \
    const uint side = inside ? right[word] : 0u, under = inside ? down[word] : 0u;                 \
    const uint valid = inside ? sw_rect_valid(rect, i) : 0u, starts = sw_starts(side, valid);      \
    sides[item] = side;                                                                            \
    for (uint bit = 0; bit < 32u; bit++) {                                                         \
        tile_labels[bit * SW_TILE_ITEMS + item] = 32u * item + bit;                                \
        if (SIZES)                                                                                 \
            tile_sizes[bit * SW_TILE_ITEMS + item] = 0u;                                           \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (inside && tx + 1u < SW_TILE_WORDS && i + 1u < words && side >> 31)                         \
        sw_cut_join__local(tile_labels, 32u * item + sw_start_of(starts, 31u), 32u * item + 32u);  \
    if (inside && ty + 1u < SW_TILE_ROWS && y + 1u < rows) {                                       \
        const uint side_below = sides[item + SW_TILE_WORDS], starts_below = ~(side_below << 1);    \
        uint joins = sw_prune(under, side, side_below);                                            \
        while (joins) {                                                                            \
            const uint bit = 31u - ERGO_CLZ(joins);                                                \
            joins ^= 1u << bit;                                                                    \
            sw_cut_join__local(tile_labels, 32u * item + sw_start_of(starts, bit),                 \
                               32u * (item + SW_TILE_WORDS) + sw_start_of(starts_below, bit));     \
        }                                                                                          \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    uint rest = starts;                                                                            \
    while (rest) {                                                                                 \
        const uint bit = 31u - ERGO_CLZ(rest);                                                     \
        rest ^= 1u << bit;                                                                         \
        const uint root = sw_cut_find__local(tile_labels, 32u * item + bit);                       \
        labels[32u * word + bit] = sw_cut_tile_index(rect, corner, root);                          \
        if (SIZES)                                                                                 \
            atomic_add(&tile_sizes[SW_CUT_AT(root)], popcount(sw_run(starts, bit, valid)));        \
    }

__kernel __attribute__((reqd_work_group_size(SW_TILE_ITEMS, 1, 1))) void
sw_cut_label_tile(SW_RECT rect, __global const uint *right, __global const uint *down,
                  __global uint *labels) {
    __local uint tile_labels[32 * SW_TILE_ITEMS];
    __local uint sides[SW_TILE_ITEMS];
    __local uint *tile_sizes = tile_labels; /* not used */
    SW_CUT_TILE(0)
}

__kernel __attribute__((reqd_work_group_size(SW_TILE_ITEMS, 1, 1))) void
sw_cut_label_tile_sizes(SW_RECT rect, __global const uint *right, __global const uint *down,
                        __global uint *labels, __global uint *sizes) {
    __local uint tile_labels[32 * SW_TILE_ITEMS];
    __local uint sides[SW_TILE_ITEMS];
    __local uint tile_sizes[32 * SW_TILE_ITEMS];
    SW_CUT_TILE(1)
    barrier(CLK_LOCAL_MEM_FENCE);
    uint left = starts;
    while (left) {
        const uint bit = 31u - ERGO_CLZ(left);
        left ^= 1u << bit;
        sizes[32u * word + bit] = tile_sizes[bit * SW_TILE_ITEMS + item];
    }
}

/* Join across the edges between tiles: below n_rows of them, right of n_columns. Items: words
 * n_rows + rows n_columns. */
__kernel void sw_cut_join_tiles(SW_RECT rect, __global const uint *right, __global const uint *down,
                                __global uint *labels, uint n_rows, uint n_columns) {
    uint item = (uint)get_global_id(0);
    const uint words = rect->words, below_edges = words * n_rows;
    volatile __global uint *own = labels;
    if (item < below_edges) {
        const uint i = item % words, y = (item / words + 1u) * SW_TILE_ROWS - 1u;
        const uint word = y * words + i, under = word + words;
        const uint side = right[word], side_below = right[under];
        const uint starts = ~(side << 1), starts_below = ~(side_below << 1);
        uint rest = sw_prune(down[word], side, side_below);
        while (rest) {
            const uint bit = 31u - ERGO_CLZ(rest);
            rest ^= 1u << bit;
            sw_cut_join__global(own, 32u * word + sw_start_of(starts, bit),
                                32u * under + sw_start_of(starts_below, bit));
        }
        return;
    }
    item -= below_edges;
    if (item >= rect->rows * n_columns)
        return;
    const uint y = item % rect->rows, i = (item / rect->rows + 1u) * SW_TILE_WORDS - 1u;
    const uint word = y * words + i, side = right[word];
    if (side >> 31)
        sw_cut_join__global(own, 32u * word + sw_start_of(~(side << 1), 31u), 32u * (word + 1u));
}

/* Sizes of parts in tiles to the roots of their clusters. */
__kernel void sw_cut_add_sizes(SW_RECT rect, __global const uint *right,
                               __global const uint *labels, volatile __global uint *sizes) {
    const uint word = (uint)get_global_id(0);
    if (word >= rect->words * rect->rows)
        return;
    uint rest = sw_starts(right[word], sw_rect_valid(rect, word % rect->words));
    while (rest) {
        const uint bit = 31u - ERGO_CLZ(rest), site = 32u * word + bit;
        rest ^= 1u << bit;
        if (labels[site] == site)
            continue; /* a root: others add to it meanwhile */
        const uint part = sizes[site];
        if (part)
            atomic_add(&sizes[sw_cut_find_still(labels, site)], part);
    }
}

/* Sums over the clusters that do not reach an edge, per work-group: clusters[group]
 * [SW_CLUSTER_FIELDS], limbs with their carries. A group sees fewer than 2^21 sites. */
__kernel void sw_cut_sum_clusters(SW_RECT rect, __global const uint *right,
                                  __global const uint *labels, __global const uint *sizes,
                                  __global uint *clusters) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint plane = rect->words * rect->rows;
    sw_count_begin(fields, item, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint stride = groups * size, rounds = (plane + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        if (word >= plane)
            continue;
        uint rest = sw_starts(right[word], sw_rect_valid(rect, word % rect->words));
        while (rest) {
            const uint bit = 31u - ERGO_CLZ(rest), site = 32u * word + bit;
            rest ^= 1u << bit;
            if (labels[site] == site)
                sw_count(fields, sizes[site]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size)
        clusters[group * SW_CLUSTER_FIELDS + f] = fields[f];
}

/* ---- label equivalence  -------------------------------------------------- */

__kernel void sw_cut_equivalence_start(SW_RECT rect, __global uint *labels, __global uint *sizes) {
    const uint site = (uint)get_global_id(0);
    if (site < SW_RECT_SITES) {
        labels[site] = site;
        sizes[site] = 0u;
    }
}

__kernel void sw_cut_equivalence_scan(SW_RECT rect, __global const uint *right,
                                      __global const uint *down, __global uint *labels,
                                      volatile __global uint *changed) {
    const uint site = (uint)get_global_id(0), words = rect->words;
    if (site >= SW_RECT_SITES)
        return;
    const uint word = site >> 5, bit = site & 31u;
    volatile __global uint *own = labels;
    for (uint direction = 0; direction < 2u; direction++) {
        const uint bonds = direction ? down[word] : right[word];
        if (!(bonds >> bit & 1u)) /* none leaves the rectangle */
            continue;
        const uint other = direction ? site + 32u * words : site + 1u;
        const uint a = SW_READ(&own[site]), b = SW_READ(&own[other]);
        if (a == b)
            continue;
        atomic_min(&own[a > b ? a : b], a > b ? b : a);
        atomic_or(changed, 1u);
    }
}

__kernel void sw_cut_equivalence_analyse(SW_RECT rect, __global uint *labels) {
    const uint site = (uint)get_global_id(0);
    volatile __global uint *own = labels;
    if (site >= SW_RECT_SITES)
        return;
    const uint root = sw_cut_find__global(own, site);
    if (root != site)
        atomic_xchg(&own[site], root);
}

__kernel void sw_cut_equivalence_sizes(SW_RECT rect, __global const uint *right,
                                       __global const uint *labels, volatile __global uint *sizes) {
    const uint word = (uint)get_global_id(0);
    if (word >= rect->words * rect->rows)
        return;
    const uint valid = sw_rect_valid(rect, word % rect->words);
    const uint starts = sw_starts(right[word], valid);
    uint rest = starts;
    while (rest) {
        const uint bit = 31u - ERGO_CLZ(rest);
        rest ^= 1u << bit;
        const uint root = sw_cut_find_still(labels, 32u * word + bit);
        atomic_add(&sizes[root], popcount(sw_run(starts, bit, valid)));
    }
}
