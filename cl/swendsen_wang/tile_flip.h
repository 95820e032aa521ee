/*
 * New spins of a tile: roots draw states, and runs look them up. The roots are listed first,
 * because some words have many and most have few. Open roots are listed from the end, so that those
 * that must be followed through global memory are together.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_TILE_FLIP_H
#define ERGO_CL_SWENDSEN_WANG_TILE_FLIP_H

#include "swendsen_wang/tile.h"

#define SW_LIST_END (32u * SW_TILE_ITEMS - 1u)
#define SW_STATE_WORDS ((SW_NODE_ROW * SW_TILE_ITEMS + 31u) / 32u) /* one bit per node */

/* First word of a tile in a plane. */
ERGO_INLINE uint sw_corner(SW_SHAPE_ALONE) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    return t.y * SW_TILE_ROWS * SW_WORDS + t.x * SW_TILE_WORDS;
}

/* listed[0]: number of closed roots; listed[1]: of open ones. */
ERGO_INLINE void sw_flip_begin(SW_SHAPE __local uint *states, __local uint *listed) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    if (t.first == 0u)
        listed[0] = listed[1] = 0u;
    for (uint f = t.first; f < SW_PLANES * SW_STATE_WORDS; f += SW_GROUP)
        states[f] = 0u;
}

ERGO_INLINE void sw_flip_list(SW_SHAPE __global const uint *roots, __global const uint *open,
                              __local ushort *list, __local uint *listed) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        uint rest = at.inside ? roots[t.plane + at.word] & at.mine : 0u;
        /* open parts are roots of the tile, unless a launch was lost */
        const uint labelled = at.inside ? open[t.plane + at.word] & rest : 0u;
        uint next = rest ? SW_ADD_LOCAL(&listed[0], popcount(rest & ~labelled)) : 0u;
        uint next_open = labelled ? SW_ADD_LOCAL(&listed[1], popcount(labelled)) : 0u;
        while (rest) {
            const uint low = rest & (0u - rest), n = 32u * at.item + sw_bit_of(low);
            rest ^= low;
            list[labelled & low ? SW_LIST_END - next_open++ : next++] = (ushort)n;
        }
    }
}

/* Root j, open ones first, as 32 item + bit in the tile. */
ERGO_INLINE uint sw_flip_listed(__local const ushort *list, uint j, uint n_open) {
    return list[j < n_open ? SW_LIST_END - j : j - n_open];
}

/* The id of root n in the whole lattice. */
ERGO_INLINE ulong sw_tile_site(SW_SHAPE uint n) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const uint item = n >> 5, i = t.x * SW_TILE_WORDS + item % SW_TILE_WORDS;
    return sw_global_place(SW_HERE 32u * i + (n & 31u), t.y * SW_TILE_ROWS + item / SW_TILE_WORDS);
}

/* The new state of the cluster whose representative is this site. */
ERGO_INLINE uint sw_flip_state(const struct sw_member *m, ulong site, ulong step) {
    return sw_state(site, SW_PURPOSE_SPIN, (uint)step, (uint)(step >> 32), m->key0, m->key1);
}

ERGO_INLINE void sw_flip_put(__local uint *states, uint n, uint state) {
    const uint node = n + (n >> 5);
    for (uint p = 0; p < SW_PLANES; p++)
        if (state >> p & 1u)
            SW_OR_LOCAL(&states[p * SW_STATE_WORDS + (node >> 5)], 1u << (node & 31u));
}

ERGO_INLINE void sw_flip_spins(SW_SHAPE __global uint *spins, __global const uint *right,
                               __global const uint *runs, __local const uint *states) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        __global const uint *part = runs + (ulong)t.index * SW_RUNS + t.id * SW_SLAB + at.item;
        const uint starts = at.inside ? sw_starts(right[t.plane + at.word], at.valid) : 0u;
        uint bits[SW_PLANES];
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] = 0u;
#if SW_GROUP > SW_TILE_ITEMS
        /* the piece's first sites may belong to a run that begins before it */
        const uint first = at.mine & (0u - at.mine), firsts = starts | first;
        uint run = popcount(starts & (first | (first - 1u))) - 1u;
        for (uint rest = starts ? firsts & at.mine : 0u; rest; rest &= rest - 1u, run++) {
            const uint root =
                ((__global const ushort *)(part + run / 2u * SW_TILE_ITEMS))[run & 1u];
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= states[p * SW_STATE_WORDS + (root >> 5)] >> (root & 31u) & 1u
                               ? rest & (0u - rest)
                               : 0u;
        }
#else
        const uint firsts = starts;
        uint rest = starts;
        const uint pairs = (popcount(starts) + 1u) / 2u;
        for (uint r = 0; r < pairs; r++) {
            const uint pair = part[r * SW_TILE_ITEMS];
            const uint root = pair & 0xffffu, root2 = pair >> 16;
            const uint low = rest & (0u - rest);
            rest ^= low;
            /* 0 if there is no second run; then root2 is 0 too */
            const uint low2 = rest & (0u - rest);
            rest ^= low2;
            for (uint p = 0; p < SW_PLANES; p++) {
                __local const uint *state = states + p * SW_STATE_WORDS;
                bits[p] |= state[root >> 5] >> (root & 31u) & 1u ? low : 0u;
                bits[p] |= state[root2 >> 5] >> (root2 & 31u) & 1u ? low2 : 0u;
            }
        }
#endif
        for (uint p = 0; p < SW_PLANES && at.inside; p++)
            SW_PUT_PIECE(__global, &spins[t.plane * SW_PLANES + p * SW_PLANE_WORDS + at.word],
                         sw_fill(bits[p], firsts) & at.valid);
    }
}

#endif
