/*
 * Swendsen-Wang: start, bonds, labels, new spins. Dimension 1 is always the member.
 *
 * spins: [member][plane][word]; right, down: active bonds, [member][word]; labels: [member][site
 * index]. See core.h for words and indices.
 */
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"

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

/* Bonds between equal neighbours, to the right and down, both ways around the lattice. */
__kernel void sw_draw_bonds(__global const uint *spins, __global const struct sw_member *members,
                            __global uint *right, __global uint *down, ulong step) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    __global const uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    const struct sw_member m = members[index];
    const uint i = word % SW_WORDS, y = word / SW_WORDS;
    const uint next = i + 1u == SW_WORDS ? word - i : word + 1u;
    const uint below = y + 1u == SW_LY ? i : word + SW_WORDS;
    uint side = sw_valid(i), under = side;
    for (uint p = 0; p < SW_PLANES; p++) {
        const uint own = planes[p * SW_PLANE_WORDS + word];
        const uint shifted = own >> 1 | (planes[p * SW_PLANE_WORDS + next] & 1u) << sw_last_bit(i);
        side &= ~(own ^ shifted);
        under &= ~(own ^ planes[p * SW_PLANE_WORDS + below]);
    }
    const uint entity = sw_global_word(i, y), low = (uint)step, high = (uint)(step >> 32);
    const ulong at = (ulong)index * SW_PLANE_WORDS + word;
    right[at] = sw_bonds(side, entity, 0u, low, high, m.key0, m.key1, m.high, m.low, m.always);
    down[at] = sw_bonds(under, entity, 1u, low, high, m.key0, m.key1, m.high, m.low, m.always);
}

/* Join inside a tile, in local memory. Dimension 0: SW_TILE_ITEMS per tile. */
#define SW_TILES_X ((SW_WORDS + SW_TILE_WORDS - 1u) / SW_TILE_WORDS)

ERGO_INLINE void sw_tile_join(volatile __local uint *labels, __local const uint *sides, uint item,
                              uint starts, uint side, uint under, bool leads_right,
                              bool leads_down) {
    if (leads_right && side >> 31)
        sw_join_local(labels, 32u * item + sw_start_of(starts, 31u), 32u * item + 32u);
    if (leads_down) {
        const uint side_below = sides[item + SW_TILE_WORDS];
        const uint starts_below = ~(side_below << 1);
        uint rest = sw_prune(under, side, side_below);
        while (rest) {
            const uint bit = 31u - SW_CLZ(rest);
            rest ^= 1u << bit;
            sw_join_local(labels, 32u * item + sw_start_of(starts, bit),
                          32u * (item + SW_TILE_WORDS) + sw_start_of(starts_below, bit));
        }
    }
}

/* Site index of a label of the tile whose first word is `corner`. */
ERGO_INLINE uint sw_tile_index(uint corner, uint label) {
    const uint item = label >> 5;
    return 32u * (corner + item / SW_TILE_WORDS * SW_WORDS + item % SW_TILE_WORDS) + (label & 31u);
}

/* With sizes: the number of sites of each root's part in the tile, 0 for other first sites. */
#define SW_TILE_BODY(SIZES)                                                                        \
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);                         \
    const uint index = (uint)get_global_id(1);                                                     \
    const uint tile_x = tile % SW_TILES_X, tile_y = tile / SW_TILES_X;                             \
    const uint tx = item % SW_TILE_WORDS, ty = item / SW_TILE_WORDS;                               \
    const uint i = tile_x * SW_TILE_WORDS + tx, y = tile_y * SW_TILE_ROWS + ty;                    \
    const uint corner = tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS;                 \
    const bool inside = i < SW_WORDS && y < SW_LY;                                                 \
    const uint word = inside ? y * SW_WORDS + i : 0u;                                              \
    const ulong bonds = (ulong)index * SW_PLANE_WORDS + word;                                      \
    const uint side = inside ? right[bonds] : 0u, under = inside ? down[bonds] : 0u;               \
    const uint valid = inside ? sw_valid(i) : 0u, starts = sw_starts(side, valid);                 \
    sides[item] = side;                                                                            \
    for (uint bit = 0; bit < 32u; bit++) {                                                         \
        tile_labels[bit * SW_TILE_ITEMS + item] = 32u * item + bit;                                \
        if (SIZES)                                                                                 \
            tile_sizes[bit * SW_TILE_ITEMS + item] = 0u;                                           \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (inside)                                                                                    \
        sw_tile_join(tile_labels, sides, item, starts, side, under,                                \
                     tx + 1u < SW_TILE_WORDS && i + 1u < SW_WORDS,                                 \
                     ty + 1u < SW_TILE_ROWS && y + 1u < SW_LY);                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    __global uint *own = labels + (ulong)index * SW_SITES;                                         \
    uint rest = starts;                                                                            \
    while (rest) {                                                                                 \
        const uint bit = 31u - SW_CLZ(rest);                                                       \
        rest ^= 1u << bit;                                                                         \
        const uint root = sw_find_local(tile_labels, 32u * item + bit);                            \
        own[32u * word + bit] = sw_tile_index(corner, root);                                       \
        if (SIZES)                                                                                 \
            atomic_add(&tile_sizes[SW_AT(root)], popcount(sw_run(starts, bit, valid)));            \
    }

__kernel __attribute__((reqd_work_group_size(SW_TILE_ITEMS, 1, 1))) void
sw_label_tile(__global const uint *right, __global const uint *down, __global uint *labels) {
    __local uint tile_labels[32 * SW_TILE_ITEMS];
    __local uint sides[SW_TILE_ITEMS];
    __local uint *tile_sizes = tile_labels; /* not used */
    SW_TILE_BODY(0)
}

__kernel __attribute__((reqd_work_group_size(SW_TILE_ITEMS, 1, 1))) void
sw_label_tile_sizes(__global const uint *right, __global const uint *down, __global uint *labels,
                    __global uint *sizes) {
    __local uint tile_labels[32 * SW_TILE_ITEMS];
    __local uint sides[SW_TILE_ITEMS];
    __local uint tile_sizes[32 * SW_TILE_ITEMS];
    SW_TILE_BODY(1)
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *counts = sizes + (ulong)index * SW_SITES;
    uint left = starts;
    while (left) {
        const uint bit = 31u - SW_CLZ(left);
        left ^= 1u << bit;
        counts[32u * word + bit] = tile_sizes[bit * SW_TILE_ITEMS + item];
    }
}

/*
 * Join across the edges of tiles: n_rows of them from edge row_edge on, then n_columns from
 * column_edge on. Edge e lies below row (e + 1) SW_TILE_ROWS - 1, or right of such a word; the last
 * edges are the lattice's own and lead around it. Items: SW_WORDS n_rows + SW_LY n_columns.
 */
__kernel void sw_join_tiles(__global const uint *right, __global const uint *down,
                            __global uint *labels, uint row_edge, uint n_rows, uint column_edge,
                            uint n_columns) {
    uint item = (uint)get_global_id(0);
    const uint index = (uint)get_global_id(1), below_edges = SW_WORDS * n_rows;
    __global const uint *sides = right + (ulong)index * SW_PLANE_WORDS;
    volatile __global uint *own = labels + (ulong)index * SW_SITES;
    if (item < below_edges) {
        const uint i = item % SW_WORDS;
        const uint row = (row_edge + item / SW_WORDS + 1u) * SW_TILE_ROWS;
        const uint y = row < SW_LY ? row - 1u : SW_LY - 1u;
        const uint word = y * SW_WORDS + i, under = y + 1u == SW_LY ? i : word + SW_WORDS;
        const uint side = sides[word], side_below = sides[under];
        const uint starts = ~(side << 1), starts_below = ~(side_below << 1);
        uint rest = sw_prune(down[(ulong)index * SW_PLANE_WORDS + word], side, side_below);
        while (rest) {
            const uint bit = 31u - SW_CLZ(rest);
            rest ^= 1u << bit;
            sw_join(own, 32u * word + sw_start_of(starts, bit),
                    32u * under + sw_start_of(starts_below, bit));
        }
        return;
    }
    item -= below_edges;
    if (item >= SW_LY * n_columns)
        return;
    const uint y = item % SW_LY, column = (column_edge + item / SW_LY + 1u) * SW_TILE_WORDS;
    const uint i = column < SW_WORDS ? column - 1u : SW_WORDS - 1u, word = y * SW_WORDS + i;
    const uint side = sides[word], last = sw_last_bit(i);
    if (side >> last & 1u)
        sw_join(own, 32u * word + sw_start_of(~(side << 1), last),
                32u * (i + 1u == SW_WORDS ? word - i : word + 1u));
}

/* Every word's runs take the state of their cluster's root. */
__kernel void sw_flip(__global uint *spins, __global const struct sw_member *members,
                      __global const uint *right, __global const uint *labels, ulong step) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    __global uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    __global const uint *own = labels + (ulong)index * SW_SITES;
    const uint key0 = members[index].key0, key1 = members[index].key1;
    const uint valid = sw_valid(word % SW_WORDS);
    const uint starts = sw_starts(right[(ulong)index * SW_PLANE_WORDS + word], valid);
    uint bits[SW_PLANES];
    for (uint p = 0; p < SW_PLANES; p++)
        bits[p] = 0u;
    uint rest = starts;
    while (rest) {
        const uint bit = 31u - SW_CLZ(rest);
        rest ^= 1u << bit;
        const uint root = sw_find_still(own, 32u * word + bit);
        const uint state = sw_state(sw_global_site(root), SW_PURPOSE_SPIN, (uint)step,
                                    (uint)(step >> 32), key0, key1);
        const uint run = sw_run(starts, bit, valid);
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] |= state >> p & 1u ? run : 0u;
    }
    for (uint p = 0; p < SW_PLANES; p++)
        planes[p * SW_PLANE_WORDS + word] = bits[p];
}
