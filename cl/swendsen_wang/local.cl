/*
 * Swendsen-Wang for lattices that fit one tile: whole sweeps in local memory, one work-group per
 * member. The steps are those of tile_sweep.h; bonds around the lattice are joined here too.
 *
 * Nodes have 14 bits. The two bits above them in a label tell whether the path to the node that it
 * leads to goes around the lattice an odd number of times, to the right and down (labels.h).
 */
#define SW_INDEX 0x3fffu
#include "swendsen_wang/bonds.h"
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"
#include "swendsen_wang/tile.h"

#define SW_AROUND_SHIFT 14
#define SW_AROUND_RIGHT 1u
#define SW_AROUND_DOWN 2u
#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))

/* Active bonds between equal neighbours (as in bonds.h), from spins[plane][word of the tile]. */
ERGO_INLINE void sw_local_draw(__local const uint *spins, const struct sw_member *m, uint i, uint y,
                               ulong step, __local uint *side, __local uint *under) {
    const uint item = y * SW_TILE_WORDS + i, next = i + 1u == SW_WORDS ? item - i : item + 1u;
    const uint below = y + 1u == SW_LY ? i : item + SW_TILE_WORDS;
    uint right = sw_valid(i), down = right;
    for (uint p = 0; p < SW_PLANES; p++) {
        __local const uint *plane = spins + p * SW_TILE_ITEMS;
        const uint spin = plane[item];
        right &= ~(spin ^ (spin >> 1 | (plane[next] & 1u) << sw_last_bit(i)));
        down &= ~(spin ^ plane[below]);
    }
    sw_activate(m, i, y, step, &right, &down);
    *side = right;
    *under = down;
}

/* ---- joins around the lattice --------------------------------------------------------------- */

/* The root of a node. *odd is changed by the bits of the path there. */
ERGO_INLINE uint sw_local_find(__local uint *labels, uint node, uint *odd) {
    uint next = SW_READ_TILE(&labels[node]);
    while ((next & SW_INDEX) != node) {
        *odd ^= next >> SW_AROUND_SHIFT;
        node = next & SW_INDEX;
        next = SW_READ_TILE(&labels[node]);
    }
    return node;
}

/* Join a and b. odd: the bits of the path from a to b. Returns nonzero if they contradict earlier
 * joins. Only labels of roots change, to smaller nodes. */
ERGO_INLINE uint sw_local_join(__local uint *labels, uint a, uint b, uint odd) {
    while (1) {
        a = sw_local_find(labels, a, &odd);
        b = sw_local_find(labels, b, &odd);
        if (a == b)
            return odd;
        const uint small = min(a, b), large = max(a, b);
        if (atomic_cmpxchg(&labels[large], large, small | odd << SW_AROUND_SHIFT) == large)
            return 0u;
    }
}

/* Join the bonds around the lattice, for a word in the last column or row. Returns nonzero if a
 * cluster leads around. */
ERGO_INLINE uint sw_local_around(__local uint *labels, __local const uint *sides,
                                 __local const uint *unders, uint item, uint i, uint y) {
    const uint side = sides[item], starts = ~(side << 1), last = sw_last_bit(i);
    uint odd = 0u;
    if (i + 1u == SW_WORDS && side >> last & 1u)
        odd |= sw_local_join(labels, SW_NODE(item, sw_start_of(starts, last)),
                             SW_NODE(item - i, 0u), SW_AROUND_RIGHT);
    uint rest = y + 1u == SW_LY ? sw_prune(unders[item], side, sides[i]) : 0u;
    while (rest) {
        const uint low = rest & (0u - rest), bit = sw_bit_of(low);
        rest ^= low;
        odd |= sw_local_join(labels, SW_NODE(item, sw_start_of(starts, bit)),
                             SW_NODE(i, sw_start_of(~(sides[i] << 1), bit)), SW_AROUND_DOWN);
    }
    return odd;
}

/* ---- a sweep -------------------------------------------------------------------------------- */

/* Draw the bonds, and label the clusters. Returns nonzero if a cluster leads around the lattice. */
ERGO_INLINE uint sw_local_label(const struct sw_member *m, ulong step, __local const uint *spin,
                                __local uint *tile, __local uint *sides, __local uint *unders,
                                struct sw_tile_word *words) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        if (at.inside)
            sw_local_draw(spin, m, at.i, at.y, step, &sides[at.item], &unders[at.item]);
        else
            sides[at.item] = unders[at.item] = 0u;
    }
    SW_SYNC;
    sw_tile_link_words(tile, sides, unders, words);
    SW_SYNC;
    sw_tile_join_words(tile, sides, words);
    SW_SYNC; /* joins around the lattice may only change labels of roots */
    uint odd = 0u;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        if (at.inside)
            odd |= sw_local_around(tile, sides, unders, at.item, at.i, at.y);
    }
    SW_SYNC;
    return odd;
}

/* Find the roots of all runs. words[].linked gets the bits of the roots themselves. sized: also add
 * up the sizes of clusters. */
ERGO_INLINE void sw_local_roots(__local uint *tile, struct sw_tile_word *words, bool sized) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        uint roots = 0u, rest = words[k].starts;
        while (rest) {
            const uint low = rest & (0u - rest), n = SW_NODE(at.item, sw_bit_of(low));
            const uint root = sw_tile_root(tile, n);
            rest ^= low;
            roots |= root == n ? low : 0u;
            if (sized)
                sw_tile_count(tile, root, popcount(((rest & (0u - rest)) - low) & at.valid));
        }
        words[k].linked = roots;
    }
}

/* Draw new states for the roots. counted: also count the clusters in `fields`. */
ERGO_INLINE void sw_local_states(const struct sw_member *m, ulong step, __local const uint *tile,
                                 const struct sw_tile_word *words, __local uint *states,
                                 __local uint *fields, bool counted) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        uint bits[SW_PLANES], rest = words[k].linked;
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] = 0u;
        while (rest) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);
            const uint state = sw_state(sw_global_site(32u * at.word + bit), SW_PURPOSE_SPIN,
                                        (uint)step, (uint)(step >> 32), m->key0, m->key1);
            rest ^= low;
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= state >> p & 1u ? low : 0u;
            if (counted)
                sw_count(fields, tile[SW_NODE(at.item, bit)] >> SW_SIZE_SHIFT);
        }
        for (uint p = 0; p < SW_PLANES; p++)
            states[p * SW_TILE_ITEMS + at.item] = bits[p];
    }
}

ERGO_INLINE void sw_local_flip(__local const uint *tile, const struct sw_tile_word *words,
                               __local const uint *states, __local uint *spin) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        uint bits[SW_PLANES], rest = words[k].starts;
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] = 0u;
        while (rest) {
            const uint low = rest & (0u - rest);
            const uint node = tile[SW_NODE(at.item, sw_bit_of(low))] & SW_INDEX;
            const uint root = node - SW_NODE_ITEM(node);
            rest ^= low;
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= states[p * SW_TILE_ITEMS + (root >> 5)] >> (root & 31u) & 1u ? low : 0u;
        }
        for (uint p = 0; p < SW_PLANES; p++)
            spin[p * SW_TILE_ITEMS + at.item] = sw_fill(bits[p], words[k].starts) & at.valid;
    }
}

ERGO_INLINE void sw_local_load(__global const uint *spins, __local uint *spin) {
    const struct sw_tile t = sw_tile_of_group();
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        for (uint p = 0; p < SW_PLANES; p++)
            spin[p * SW_TILE_ITEMS + at.item] =
                at.inside ? spins[t.plane * SW_PLANES + p * SW_PLANE_WORDS + at.word] : 0u;
    }
}

ERGO_INLINE void sw_local_store(__global uint *spins, __local const uint *spin) {
    const struct sw_tile t = sw_tile_of_group();
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        for (uint p = 0; p < SW_PLANES && at.inside; p++)
            spins[t.plane * SW_PLANES + p * SW_PLANE_WORDS + at.word] =
                spin[p * SW_TILE_ITEMS + at.item];
    }
}

__kernel SW_TILE_GROUP void sw_local(__global uint *spins, __global const struct sw_member *members,
                                     ulong step, uint sweeps) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint spin[SW_PLANES * SW_TILE_ITEMS], states[SW_PLANES * SW_TILE_ITEMS];
    const struct sw_tile t = sw_tile_of_group();
    const struct sw_member m = members[t.index];
    struct sw_tile_word words[SW_PER];
    sw_local_load(spins, spin);
    SW_SYNC;
    for (uint sweep = 0; sweep < sweeps; sweep++, step++) {
        sw_local_label(&m, step, spin, tile, sides, unders, words);
        sw_local_roots(tile, words, false);
        SW_SYNC;
        sw_local_states(&m, step, tile, words, states, states, false);
        SW_SYNC;
        sw_local_flip(tile, words, states, spin);
        SW_SYNC;
    }
    sw_local_store(spins, spin);
}

/* A measured sweep. wraps[sample][member] is set to 1 if a cluster leads around the lattice; it is
 * 0 before. */
__kernel SW_TILE_GROUP void sw_local_sizes(__global uint *spins,
                                           __global const struct sw_member *members, ulong step,
                                           __global uint *sums, __global uint *wraps, uint sample) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint spin[SW_PLANES * SW_TILE_ITEMS], states[SW_PLANES * SW_TILE_ITEMS];
    __local uint fields[SW_CLUSTER_FIELDS];
    const struct sw_tile t = sw_tile_of_group();
    const struct sw_member m = members[t.index];
    const ulong row = (ulong)sample * get_global_size(1) + t.index;
    struct sw_tile_word words[SW_PER];
    sw_local_load(spins, spin);
    sw_count_begin(fields, t.first, SW_GROUP);
    SW_SYNC;
    if (sw_local_label(&m, step, spin, tile, sides, unders, words))
        SW_PUT(&wraps[row], 1u);
    sw_local_roots(tile, words, true);
    SW_SYNC;
    sw_local_states(&m, step, tile, words, states, fields, true);
    SW_SYNC;
    sw_local_flip(tile, words, states, spin);
    sw_count_end(sums + row * SW_SUM_SLOTS * SW_CLUSTER_FIELDS, fields, t.first, SW_GROUP);
    SW_SYNC;
    sw_local_store(spins, spin);
}
