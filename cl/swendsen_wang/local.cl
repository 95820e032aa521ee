/*
 * Swendsen-Wang of lattices that one tile covers: whole sweeps in local memory, a work-group for
 * each member. The phases are those of sweep.cl; what leads around the lattice is joined here too.
 */
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"
#include "swendsen_wang/tile.h"

#define SW_SITES (32UL * SW_PLANE_WORDS)

/* Bonds between equal neighbours (bonds.h), from spins[plane][word of the tile]. */
ERGO_INLINE void sw_local_draw(__local const uint *spins, const struct sw_member *m, uint i, uint y,
                               ulong step, __local uint *side, __local uint *under) {
    const uint item = y * SW_TILE_WORDS + i, next = i + 1u == SW_WORDS ? item - i : item + 1u;
    const uint below = y + 1u == SW_LY ? i : item + SW_TILE_WORDS;
    uint right = sw_valid(i), down = right;
    for (uint p = 0; p < SW_PLANES; p++) {
        __local const uint *plane = spins + p * SW_TILE_ITEMS;
        const uint own = plane[item];
        right &= ~(own ^ (own >> 1 | (plane[next] & 1u) << sw_last_bit(i)));
        down &= ~(own ^ plane[below]);
    }
    sw_bonds_both(&right, &down, sw_global_word(i, y), (uint)step, (uint)(step >> 32), m->key0,
                  m->key1, m->high, m->low, m->always);
    *side = right;
    *under = down;
}

/* What leads around the lattice to the right, of a row's last word: label of the run that does, or
 * SW_NO_BOND. To the row's first. */
ERGO_INLINE uint sw_local_around(__local const uint *sides, uint item, uint i) {
    const uint last = sw_last_bit(i), side = sides[item];
    return i + 1u == SW_WORDS && side >> last & 1u ? SW_NODE(item, sw_start_of(~(side << 1), last))
                                                   : SW_NO_BOND;
}

/* The bonds that lead down around the lattice from its last row. */
ERGO_INLINE uint sw_local_below(__local const uint *sides, __local const uint *unders, uint item,
                                uint i) {
    return sw_prune(unders[item], sides[item], sides[i]);
}

ERGO_INLINE void sw_local_join(__local uint *labels, __local const uint *sides,
                               __local const uint *unders, uint item, uint i, uint y) {
    const uint around = sw_local_around(sides, item, i);
    if (around != SW_NO_BOND)
        sw_join_local(labels, around, SW_NODE(item - i, 0u));
    uint rest = y + 1u == SW_LY ? sw_local_below(sides, unders, item, i) : 0u;
    while (rest) {
        const uint low = rest & (0u - rest), bit = sw_bit_of(low);
        rest ^= low;
        sw_join_local(labels, SW_NODE(item, sw_start_of(~(sides[item] << 1), bit)),
                      SW_NODE(i, sw_start_of(~(sides[i] << 1), bit)));
    }
}

/* Site index of a node's root. */
ERGO_INLINE uint sw_local_root(__local uint *labels, uint node) {
    const uint root = sw_find_local(labels, node);
    return sw_tile_index(0u, root - SW_NODE_ITEM(root));
}

/* A word's part of the list of bonds around the lattice (sw_seams, measure.cl). */
ERGO_INLINE void sw_local_seams(__local uint *labels, __local const uint *sides,
                                __local const uint *unders, __global uint2 *seams, uint item,
                                uint i, uint y) {
    const uint around = sw_local_around(sides, item, i);
    if (i + 1u == SW_WORDS)
        seams[y] = around == SW_NO_BOND ? (uint2)(SW_NO_BOND, SW_NO_BOND)
                                        : (uint2)(sw_local_root(labels, around),
                                                  sw_local_root(labels, SW_NODE(item - i, 0u)));
    const uint bonds = y + 1u == SW_LY ? sw_local_below(sides, unders, item, i) : 0u;
    for (uint bit = 0; bit < 32u && y + 1u == SW_LY; bit++) {
        uint2 pair = (uint2)(SW_NO_BOND, SW_NO_BOND);
        if (bonds >> bit & 1u) {
            const uint own = SW_NODE(item, sw_start_of(~(sides[item] << 1), bit));
            const uint other = SW_NODE(i, sw_start_of(~(sides[i] << 1), bit));
            pair = (uint2)(sw_local_root(labels, own), sw_local_root(labels, other));
        }
        seams[SW_LY + 32u * i + bit] = pair;
    }
}

#define SW_WORD                                                                                    \
    const uint item = first + k * SW_GROUP;                                                        \
    const uint i = item % SW_TILE_WORDS, y = item / SW_TILE_WORDS;                                 \
    const bool inside = i < SW_WORDS && y < SW_LY;                                                 \
    const uint valid = inside ? sw_valid(i) : 0u;

/* A sweep. SIZES: with the list of bonds around the lattice, and sums over clusters. */
#define SW_SWEEP(SIZES)                                                                            \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        if (inside)                                                                                \
            sw_local_draw(spin, &m, i, y, step, &sides[item], &unders[item]);                      \
        else                                                                                       \
            sides[item] = unders[item] = 0u;                                                       \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        sw_tile_link(tile, sides, unders, item, valid, &words[k]);                                 \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint jump = 0; jump < SW_JUMPS; jump++)                                                   \
        for (uint k = 0; k < SW_PER; k++)                                                          \
            sw_tile_jump(tile, first + k * SW_GROUP, words[k].linked);                             \
    for (uint k = 0; k < SW_PER; k++)                                                              \
        sw_tile_join(tile, sides, first + k * SW_GROUP, &words[k]);                                \
    if (SIZES) {                                                                                   \
        SW_SYNC;                                                                                   \
        for (uint k = 0; k < SW_PER; k++) {                                                        \
            SW_WORD                                                                                \
            if (inside)                                                                            \
                sw_local_seams(tile, sides, unders, seam, item, i, y);                             \
        }                                                                                          \
        SW_SYNC;                                                                                   \
    }                                                                                              \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        if (inside)                                                                                \
            sw_local_join(tile, sides, unders, item, i, y);                                        \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint roots = 0u, rest = words[k].starts;                                                   \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest), n = SW_NODE(item, sw_bit_of(low));                \
            const uint root = sw_tile_root(tile, n);                                               \
            rest ^= low;                                                                           \
            roots |= root == n ? low : 0u;                                                         \
            if (SIZES)                                                                             \
                sw_tile_count(tile, root, popcount(((rest & (0u - rest)) - low) & valid));         \
        }                                                                                          \
        words[k].linked = roots;                                                                   \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint bits[SW_PLANES], rest = words[k].linked;                                              \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            bits[p] = 0u;                                                                          \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);                             \
            const uint state =                                                                     \
                sw_state(sw_global_site(32u * (y * SW_WORDS + i) + bit), SW_PURPOSE_SPIN,          \
                         (uint)step, (uint)(step >> 32), m.key0, m.key1);                          \
            rest ^= low;                                                                           \
            for (uint p = 0; p < SW_PLANES; p++)                                                   \
                bits[p] |= state >> p & 1u ? low : 0u;                                             \
            if (SIZES)                                                                             \
                sw_count(fields, tile[SW_NODE(item, bit)] >> SW_SIZE_SHIFT);                       \
        }                                                                                          \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            states[p * SW_TILE_ITEMS + item] = bits[p];                                            \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint bits[SW_PLANES], rest = words[k].starts;                                              \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            bits[p] = 0u;                                                                          \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest);                                                   \
            const uint node = tile[SW_NODE(item, sw_bit_of(low))] & SW_INDEX;                      \
            const uint root = node - SW_NODE_ITEM(node);                                           \
            rest ^= low;                                                                           \
            for (uint p = 0; p < SW_PLANES; p++)                                                   \
                bits[p] |=                                                                         \
                    states[p * SW_TILE_ITEMS + (root >> 5)] >> (root & 31u) & 1u ? low : 0u;       \
        }                                                                                          \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            spin[p * SW_TILE_ITEMS + item] = sw_fill(bits[p], words[k].starts) & valid;            \
    }                                                                                              \
    SW_SYNC;

#define SW_BEGIN                                                                                   \
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];                      \
    __local uint spin[SW_PLANES * SW_TILE_ITEMS], states[SW_PLANES * SW_TILE_ITEMS];               \
    __local uint fields[SW_CLUSTER_FIELDS];                                                        \
    const uint first = (uint)get_local_id(0), index = (uint)get_global_id(1);                      \
    const struct sw_member m = members[index];                                                     \
    __global uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);                   \
    struct sw_tile_word words[SW_PER];                                                             \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            spin[p * SW_TILE_ITEMS + item] =                                                       \
                inside ? planes[p * SW_PLANE_WORDS + y * SW_WORDS + i] : 0u;                       \
    }                                                                                              \
    SW_SYNC;

#define SW_END                                                                                     \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        for (uint p = 0; p < SW_PLANES && inside; p++)                                             \
            planes[p * SW_PLANE_WORDS + y * SW_WORDS + i] = spin[p * SW_TILE_ITEMS + item];        \
    }

__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_local(__global uint *spins, __global const struct sw_member *members, ulong step, uint sweeps) {
    SW_BEGIN
    __global uint2 *seam = (__global uint2 *)spins; /* these not used */
    (void)fields, (void)seam;
    for (uint sweep = 0; sweep < sweeps; sweep++, step++) {
        SW_SWEEP(0)
    }
    SW_END
}

/* A sweep that is measured. */
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_local_sizes(__global uint *spins, __global const struct sw_member *members, ulong step,
               __global uint2 *seams, __global uint *sums, uint sample) {
    SW_BEGIN
    const ulong at = (ulong)sample * get_global_size(1) + index;
    __global uint2 *seam = seams + (ulong)index * (SW_LY + 32u * SW_WORDS);
    sw_count_begin(fields, first, SW_GROUP);
    SW_SWEEP(1)
    sw_count_end(sums + at * SW_SUM_SLOTS * SW_CLUSTER_FIELDS, fields, first, SW_GROUP);
    SW_END
}
