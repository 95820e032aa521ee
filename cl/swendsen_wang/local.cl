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
#include "swendsen_wang/spins.h"
#include "swendsen_wang/tile.h"

#define SW_AROUND_SHIFT 14
#define SW_AROUND_RIGHT 1u
#define SW_AROUND_DOWN 2u
#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))

/* Which neighbours to the right and below have an equal spin, as in bonds.h, from spins[plane][word
 * of the tile]. */
ERGO_INLINE void sw_local_equal(__local const uint *spins, uint i, uint y, uint *right,
                                uint *down) {
    const uint item = y * SW_TILE_WORDS + i, next = i + 1u == SW_WORDS ? item - i : item + 1u;
    const uint below = y + 1u == SW_LY ? i : item + SW_TILE_WORDS;
    uint side = sw_valid(i), under = side;
    for (uint p = 0; p < SW_PLANES; p++) {
        __local const uint *plane = spins + p * SW_TILE_ITEMS;
        const uint spin = plane[item];
        side &= ~(spin ^ (spin >> 1 | (plane[next] & 1u) << sw_last_bit(i)));
        under &= ~(spin ^ plane[below]);
    }
    *right = side;
    *down = under;
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
        const uint before = atomic_cmpxchg(&labels[large], large, small | odd << SW_AROUND_SHIFT);
        if (before == large)
            return 0u;
        /* another work-item was first: go on from where its label leads, as sw_join does */
        a = before & SW_INDEX;
        b = small;
        odd ^= before >> SW_AROUND_SHIFT;
    }
}

/* Join the bonds around the lattice, a work-item for each. Returns nonzero if a cluster leads
 * around. */
ERGO_INLINE uint sw_local_around(__local uint *labels, __local const uint *sides,
                                 __local const uint *unders) {
    uint odd = 0u;
    for (uint e = sw_tile_of_group().first; e < 32u * SW_WORDS + SW_LY; e += SW_GROUP) {
        const bool below = e < 32u * SW_WORDS;
        const uint i = below ? e >> 5 : SW_WORDS - 1u, bit = below ? e & 31u : sw_last_bit(i);
        const uint y = below ? SW_LY - 1u : e - 32u * SW_WORDS, item = y * SW_TILE_WORDS + i;
        const uint other = below ? i : item - i, other_bit = below ? bit : 0u;
        const uint side = sides[item], side_other = sides[other];
        const uint bonds = below ? sw_prune(unders[item], side, side_other) : side;
        if (bonds >> bit & 1u)
            odd |= sw_local_join(labels, SW_NODE(item, sw_start_of(~(side << 1), bit)),
                                 SW_NODE(other, sw_start_of(~(side_other << 1), other_bit)),
                                 below ? SW_AROUND_DOWN : SW_AROUND_RIGHT);
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
        uint side = 0u, under = 0u;
        if (at.inside) {
            sw_local_equal(spin, at.i, at.y, &side, &under);
            sw_tile_activate(at, m, step, &side, &under);
        }
        if (SW_DRAWS_RIGHT(at))
            sides[at.item] = side;
        if (SW_DRAWS_DOWN(at))
            unders[at.item] = under;
    }
    SW_SYNC;
    sw_tile_link_words(tile, sides, unders, words);
    SW_SYNC;
    sw_tile_join_words(tile, sides, words);
    SW_SYNC; /* joins around the lattice may only change labels of roots */
    const uint odd = sw_local_around(tile, sides, unders);
    SW_SYNC;
    return odd;
}

/* Find the roots of all runs. words[].linked gets the bits of the roots themselves. sized: also add
 * up the sizes of clusters. */
ERGO_INLINE void sw_local_roots(__local uint *tile, struct sw_tile_word *words, bool sized) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        uint roots = 0u, rest = words[k].starts & at.mine;
        while (rest) {
            const uint low = rest & (0u - rest), n = SW_NODE(at.item, sw_bit_of(low));
            const uint root = sw_tile_root(tile, n);
            const uint after = words[k].starts & ~(low | (low - 1u));
            rest ^= low;
            roots |= root == n ? low : 0u;
            if (sized)
                sw_tile_count(tile, root, popcount(((after & (0u - after)) - low) & at.valid));
        }
        words[k].linked = roots;
    }
}

/* Sites without any bond. */
ERGO_INLINE uint sw_local_alone(__local const uint *sides, __local const uint *unders,
                                struct sw_place at) {
    const uint left = at.i ? at.item - 1u : at.item + SW_WORDS - 1u;
    const uint above = at.y ? at.item - SW_TILE_WORDS : (SW_LY - 1u) * SW_TILE_WORDS + at.i;
    const uint side = sides[at.item];
    return ~(side | side << 1 | sides[left] >> sw_last_bit(at.i ? 0u : SW_WORDS - 1u) |
             unders[at.item] | unders[above]) &
           at.valid & at.mine;
}

/* Draw new states for the roots, and put them where sizes are in their labels. counted: also count
 * the clusters in `fields`. */
ERGO_INLINE void sw_local_states(const struct sw_member *m, ulong step, __local uint *tile,
                                 __local const uint *sides, __local const uint *unders,
                                 const struct sw_tile_word *words, __local uint *fields,
                                 bool counted) {
    uint alone = 0u;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        const uint single = counted && at.inside ? sw_local_alone(sides, unders, at) : 0u;
        uint rest = words[k].linked;
        alone += popcount(single);
        while (rest) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low), n = SW_NODE(at.item, bit);
            const uint state = sw_state(sw_global_site(32u * at.word + bit), SW_PURPOSE_SPIN,
                                        (uint)step, (uint)(step >> 32), m->key0, m->key1);
            rest ^= low;
            if (counted && !(single & low))
                sw_count(fields, tile[n] >> SW_SIZE_SHIFT);
            tile[n] = n | state << SW_SIZE_SHIFT;
        }
    }
    if (alone)
        SW_ADD_LOCAL(&fields[SW_FIELD_SMALL], alone);
}

ERGO_INLINE void sw_local_flip(__local const uint *tile, const struct sw_tile_word *words,
                               __local uint *spin) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        const uint starts = words[k].starts;
        /* the piece's first sites may belong to a run that begins before it */
        const uint firsts = SW_SPLIT > 1u ? starts | (at.mine & (0u - at.mine)) : starts;
        uint bits[SW_PLANES], rest = starts ? firsts & at.mine : 0u;
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] = 0u;
        while (rest) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);
            const uint n = SW_NODE(at.item, SW_SPLIT > 1u ? sw_start_of(starts, bit) : bit);
            const uint state = tile[tile[n] & SW_INDEX] >> SW_SIZE_SHIFT;
            rest ^= low;
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= state >> p & 1u ? low : 0u;
        }
        for (uint p = 0; p < SW_PLANES; p++)
            SW_PUT_PIECE(__local, &spin[p * SW_TILE_ITEMS + at.item],
                         sw_fill(bits[p], firsts) & at.valid);
    }
}

/* Add sums over the spins to fields[SW_Q]. */
ERGO_INLINE void sw_local_spins(__local const uint *spin, __local uint *fields) {
    struct sw_spins sums;
    sw_spins_begin(&sums);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        uint word[SW_PLANES], side, under;
        if (!at.inside || !(at.mine & 1u))
            continue;
        for (uint p = 0; p < SW_PLANES; p++)
            word[p] = spin[p * SW_TILE_ITEMS + at.item];
        sw_local_equal(spin, at.i, at.y, &side, &under);
        sw_spins_add(&sums, fields, word, at.i, side, under);
    }
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        if (sums.sums[k])
            SW_ADD_LOCAL(&fields[k], sums.sums[k]);
}

ERGO_INLINE void sw_local_load(__global const uint *spins, __local uint *spin) {
    const struct sw_tile t = sw_tile_of_group();
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        for (uint p = 0; p < SW_PLANES && at.mine & 1u; p++)
            spin[p * SW_TILE_ITEMS + at.item] =
                at.inside ? spins[t.plane * SW_PLANES + p * SW_PLANE_WORDS + at.word] : 0u;
    }
}

ERGO_INLINE void sw_local_store(__global uint *spins, __local const uint *spin) {
    const struct sw_tile t = sw_tile_of_group();
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(k);
        for (uint p = 0; p < SW_PLANES && at.inside && at.mine & 1u; p++)
            spins[t.plane * SW_PLANES + p * SW_PLANE_WORDS + at.word] =
                spin[p * SW_TILE_ITEMS + at.item];
    }
}

__kernel SW_TILE_GROUP void sw_local(__global uint *spins, __global const struct sw_member *members,
                                     ulong step, uint sweeps) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint spin[SW_PLANES * SW_TILE_ITEMS];
    const struct sw_tile t = sw_tile_of_group();
    const struct sw_member m = members[t.index];
    struct sw_tile_word words[SW_PER];
    sw_local_load(spins, spin);
    SW_SYNC;
    for (uint sweep = 0; sweep < sweeps; sweep++, step++) {
        sw_local_label(&m, step, spin, tile, sides, unders, words);
        sw_local_roots(tile, words, false);
        SW_SYNC;
        sw_local_states(&m, step, tile, sides, unders, words, sides, false);
        SW_SYNC;
        sw_local_flip(tile, words, spin);
        SW_SYNC;
    }
    sw_local_store(spins, spin);
}

/*
 * The same with a sample after every `every` sweeps; the first one is number `sample`. Sums over
 * the spins are as in sw_measure. clusters: 1 if clusters are measured, too. wraps[sample][member]
 * is set to 1 if a cluster leads around the lattice; it is 0 before.
 */
__kernel SW_TILE_GROUP void sw_local_samples(__global uint *spins,
                                             __global const struct sw_member *members, ulong step,
                                             uint sweeps, uint every, uint sample,
                                             __global uint *spin_sums, uint clusters,
                                             __global uint *sums, __global uint *wraps) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint spin[SW_PLANES * SW_TILE_ITEMS];
    __local uint fields[SW_CLUSTER_FIELDS], spin_fields[SW_Q];
    const struct sw_tile t = sw_tile_of_group();
    const struct sw_member m = members[t.index];
    struct sw_tile_word words[SW_PER];
    ulong row = (ulong)sample * get_global_size(1) + t.index;
    uint left = every; /* sweeps to the next sample */
    sw_local_load(spins, spin);
    SW_SYNC;
    for (uint sweep = 0; sweep < sweeps; sweep++, step++) {
        const bool measured = --left == 0u, counted = measured && clusters;
        if (measured) {
            sw_count_begin(fields, t.first, SW_GROUP);
            for (uint f = t.first; f < SW_Q; f += SW_GROUP)
                spin_fields[f] = 0u;
        }
        if (sw_local_label(&m, step, spin, tile, sides, unders, words) && counted)
            SW_PUT(&wraps[row], 1u);
        sw_local_roots(tile, words, counted);
        SW_SYNC;
        sw_local_states(&m, step, tile, sides, unders, words, fields, counted);
        SW_SYNC;
        sw_local_flip(tile, words, spin);
        SW_SYNC;
        if (counted)
            sw_count_end(sums + row * SW_CLUSTER_FIELDS, fields, t.first, SW_GROUP);
        if (measured)
            sw_local_spins(spin, spin_fields);
        SW_SYNC;
        if (measured) {
            sw_spins_end(spin_sums + row * SW_Q, spin_fields, t.first, SW_GROUP);
            row += get_global_size(1);
            left = every;
        }
    }
    sw_local_store(spins, spin);
}
