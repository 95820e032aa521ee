/*
 * The steps of labelling a tile, with a barrier of the work-group between the steps: bonds; links
 * and joins (tile.h); roots; open parts; results for other kernels. It also counts the clusters of
 * several tiles of the sample before.
 *
 * spins: [member][plane][word]. right, down: active bonds, [member][word]. roots: first sites of
 * the clusters' parts in tiles, [member][word]. open: those of them that have labels. runs, labels:
 * see labels.h. Words and indices: see core.h.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_TILE_SWEEP_H
#define ERGO_CL_SWENDSEN_WANG_TILE_SWEEP_H

#include "swendsen_wang/bonds.h"
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/spins.h"
#include "swendsen_wang/tile.h"

/* Most open parts of a tile: one for each site at its edge. */
#define SW_MOST_OPEN (64u * SW_TILE_WORDS + 2u * SW_TILE_ROWS)

/* The slot of sums[sample][member][slot][fields] to which this group adds. */
ERGO_INLINE __global uint *sw_sums_of(SW_SHAPE __global uint *sums, uint sample, uint fields) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const ulong row = (ulong)sample * get_global_size(1) + t.index;
    return sums + (row * SW_SUM_SLOTS + t.id % SW_SUM_SLOTS) * fields;
}

/* Draw the bonds of a tile's words, or take those that were drawn already (sw_cut_draw; 0: none).
 * If of_spins is set, also add sums over the spins (spins.h) to spin_sums and spin_fields. */
ERGO_INLINE void sw_label_bonds(SW_SHAPE __global const uint *spins,
                                __global const struct sw_member *members, ulong step, bool ahead,
                                __global const uint *drawn, __global uint *right,
                                __global uint *down, __local uint *sides, __local uint *unders,
                                __local uint *opens, struct sw_spins *spin_sums,
                                __local uint *spin_fields, bool of_spins) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const struct sw_member m = members[t.index];
    __global const uint *planes = spins + t.plane * SW_PLANES;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        uint side = 0u, under = 0u;
        if (at.inside) {
            sw_equal(SW_HERE planes, at.i, at.y, &side, &under);
            if (of_spins && at.mine & 1u) {
                uint word[SW_PLANES];
                for (uint p = 0; p < SW_PLANES; p++)
                    word[p] = planes[p * SW_PLANE_WORDS + at.word];
                sw_spins_add(SW_HERE spin_sums, spin_fields, word, at.i, side, under);
            }
            if (ahead) {
                side &= drawn[t.plane + at.word];
                under &= drawn[t.plane + SW_PLANE_WORDS + at.word];
            } else {
                sw_tile_activate(SW_HERE at, &m, step, &side, &under);
            }
        }
        if (SW_DRAWS_RIGHT(at)) {
            if (at.inside)
                right[t.plane + at.word] = side;
            sides[at.item] = side;
            opens[at.item] = 0u;
        }
        if (SW_DRAWS_DOWN(at)) {
            if (at.inside)
                down[t.plane + at.word] = under;
            unders[at.item] = at.y + 1u < SW_LY ? under : 0u;
        }
    }
}

/* Write the roots of all runs, and set words[].linked to the bits of the roots. sized: also add up
 * the sizes of parts. */
ERGO_INLINE void sw_label_roots(SW_SHAPE __local uint *labels, struct sw_tile_word *words,
                                __global uint *runs, bool sized) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    __global uint *slab = runs + (ulong)t.index * SW_RUNS + t.id * SW_SLAB;
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        words[k].linked = sw_tile_roots(SW_HERE labels, at.item, at.mine, &words[k],
                                        sw_last_bit(SW_HERE at.i) + 1u, slab + at.item, sized);
    }
}

/* Find the open parts. sized: also the sites without bonds. */
ERGO_INLINE void sw_label_open(SW_SHAPE __local uint *labels, __local const uint *sides,
                               __local const uint *unders, __local uint *opens,
                               struct sw_tile_word *words, bool sized) {
    sw_tile_open_rows(SW_HERE labels, sides, unders, opens);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        sw_tile_open_sides(SW_HERE labels, opens, at.item, at.i, at.mine, words[k].starts,
                           sides[at.item]);
        if (sized)
            words[k].alone =
                sw_tile_alone(SW_HERE sides, unders, at.item, at.i, at.y, at.valid & at.mine);
    }
}

/* Write labels for the open parts, and roots and open parts as bits. sized: also write the sizes of
 * open parts. */
ERGO_INLINE void sw_label_leave(SW_SHAPE __local const uint *tile_labels, __local const uint *opens,
                                const struct sw_tile_word *words, __global uint *roots,
                                __global uint *open, __global uint *labels, __global uint *sizes,
                                bool sized) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        const uint leads_out = opens[at.item];
        uint rest = leads_out & at.mine;
        while (rest) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);
            const ulong site = (ulong)t.index * SW_SITES + 32u * at.word + bit;
            rest ^= low;
            labels[site] = SW_LABEL(32u * at.word + bit);
            if (sized)
                sizes[site] = tile_labels[SW_NODE(at.item, bit)] >> SW_SIZE_SHIFT;
        }
        if (at.inside) {
            SW_PUT_PIECE(__global, &roots[t.plane + at.word], words[k].linked);
            if (at.mine & 1u)
                open[t.plane + at.word] = leads_out;
        }
    }
}

/* Count the clusters that do not leave the tile. Two thirds of them are single sites, which are
 * counted by words. Large ones are listed (sw_count_or_list). */
ERGO_INLINE void sw_label_count(SW_SHAPE __local const uint *labels, __local const uint *opens,
                                const struct sw_tile_word *words, __local uint *fields,
                                __local uint *list, __local uint *listed) {
    uint alone = 0u;
    for (uint k = 0; k < SW_PER; k++) {
        const uint item = sw_place_of(SW_HERE k).item;
        uint rest = words[k].linked & ~(opens[item] | words[k].alone);
        while (rest) {
            const uint low = rest & (0u - rest);
            rest ^= low;
            sw_count_or_list(fields, list, listed,
                             labels[SW_NODE(item, sw_bit_of(low))] >> SW_SIZE_SHIFT);
        }
        alone += popcount(words[k].alone);
    }
    SW_ADD_LOCAL(&fields[SW_FIELD_SMALL], alone);
}

/* ---- sums over the spins that the sample before has left; lanes[] spreads the work-items'
 * additions over different places ---- */

ERGO_INLINE void sw_label_spins_begin(SW_SHAPE __local uint *spin_fields, __local uint *lanes) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint f = t.first; f < SW_Q; f += SW_GROUP)
        spin_fields[f] = 0u;
    for (uint f = t.first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)
        lanes[f] = 0u;
}

ERGO_INLINE void sw_label_spins_add(SW_SHAPE __local uint *lanes,
                                    const struct sw_spins *spin_sums) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        SW_ADD_LOCAL(&lanes[32u * k + t.first % 32u], spin_sums->sums[k]);
}

ERGO_INLINE void sw_label_spins_end(SW_SHAPE __local const uint *lanes, __local uint *spin_fields) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint f = t.first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)
        SW_ADD_LOCAL(&spin_fields[f / 32u], lanes[f]);
}

/* ---- clusters of several tiles, of the sample before: sw_flip_sizes has left their roots in
 * `roots` and their sizes in `sizes`. They are listed first, because some words have many and most
 * none. ---- */

ERGO_INLINE void sw_roots_begin(SW_SHAPE __local uint *fields, __local uint *listed) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    sw_count_begin(fields, t.first, SW_GROUP);
    if (t.first == 0u)
        listed[0] = 0u;
}

ERGO_INLINE void sw_roots_list(SW_SHAPE __global const uint *roots, __local uint *list,
                               __local uint *listed) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        uint rest = at.inside ? roots[t.plane + at.word] & at.valid & at.mine : 0u;
        uint next = rest ? SW_ADD_LOCAL(listed, popcount(rest)) : 0u;
        while (rest && next < SW_MOST_OPEN) { /* always true, unless a launch was lost */
            const uint low = rest & (0u - rest);
            rest ^= low;
            list[next++] = 32u * at.word + sw_bit_of(low);
        }
    }
}

ERGO_INLINE void sw_roots_count(SW_SHAPE __global const uint *sizes, __local const uint *list,
                                __local const uint *listed, __local uint *fields) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    /* min: Mesa 26.2's llvmpipe loads once more when the loop has ended, with what stands in `list`
     * then (bench/NOTES.md, Tests) */
    for (uint e = t.first; e < min(listed[0], SW_MOST_OPEN); e += SW_GROUP)
        sw_count(fields, sizes[(ulong)t.index * SW_SITES + min(list[e], (uint)SW_SITES - 1u)]);
}

#endif
