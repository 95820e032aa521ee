/*
 * Labels of a tile by work-groups. First the parts of its blocks are joined; after the joins across
 * faces of tiles, the tile's sites learn what became of their clusters.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_LEADS_H
#define ERGO_CL_SWENDSEN_WANG_SITES_LEADS_H

#include "common/sum64.h"
#include "swendsen_wang/sites_step.h"

/* Four sites of a row, the first at a multiple of four in the tile, to memory. */
ERGO_INLINE void sw_four_store(__global uchar *to, struct sw_tile_site s, uint bytes) {
    if (!s.inside)
        return;
#if SW_LX % 4 == 0
    *(__global uint *)(to + s.index) = bytes;
#else
    for (uint j = 0; j < 4u && s.x + j < SW_LX; j++)
        to[s.index + j] = (uchar)(bytes >> 8u * j);
#endif
}

/* The same of wider numbers: labels, firsts. */
#if SW_LX % 4 == 0
#define SW_FOUR_STORE(to, s, four, vector)                                                         \
    if ((s).inside)                                                                                \
    *(__global vector *)((to) + (s).index) = (four)
#else
#define SW_FOUR_STORE(to, s, four, vector)                                                         \
    if ((s).inside) {                                                                              \
        (to)[(s).index] = (four).x;                                                                \
        if ((s).x + 1u < SW_LX)                                                                    \
            (to)[(s).index + 1u] = (four).y;                                                       \
        if ((s).x + 2u < SW_LX)                                                                    \
            (to)[(s).index + 2u] = (four).z;                                                       \
        if ((s).x + 3u < SW_LX)                                                                    \
            (to)[(s).index + 3u] = (four).w;                                                       \
    }
#endif

ERGO_INLINE void sw_four_labels_store(__global uint *to, struct sw_tile_site s, uint4 four) {
    SW_FOUR_STORE(to, s, four, uint4);
}

ERGO_INLINE void sw_four_firsts_store(__global ushort *to, struct sw_tile_site s, ushort4 four) {
    SW_FOUR_STORE(to, s, four, ushort4);
}

/* Of sites beyond the lattice 0. */
ERGO_INLINE ushort4 sw_four_firsts(__global const ushort *from, struct sw_tile_site s) {
    if (!s.inside)
        return (ushort4)(0);
#if SW_LX % 4 == 0
    return *(__global const ushort4 *)(from + s.index);
#else
    return (ushort4)(from[s.index], s.x + 1u < SW_LX ? from[s.index + 1u] : (ushort)0,
                     s.x + 2u < SW_LX ? from[s.index + 2u] : (ushort)0,
                     s.x + 3u < SW_LX ? from[s.index + 3u] : (ushort)0);
#endif
}

/* A block between barriers: its parts, and its active bonds to other blocks of the tile; of
 * direction 0 in the lower half of xy, of 1 in its upper half. */
struct sw_block {
    struct sw_block_parts parts;
    uint xy, z;
};

ERGO_INLINE struct sw_block sw_block_of(const uint *active, struct sw_sides leaves) {
    const uint x = active[0] & ~leaves.x, y = active[1] & ~leaves.y, z = active[2] & ~leaves.z;
    struct sw_block b;
    b.parts = sw_parts_of(x, y, z);
    b.xy = (x & ~SW_WITHIN_X) | (y & ~SW_WITHIN_Y) << 16;
    b.z = z & ~SW_WITHIN_Z;
    return b;
}

/* Join the block's parts with others of the tile. One loop over steps of joins, so that a warp
 * waits for the work-item with the most steps, and not in each of its joins for the longest. */
ERGO_INLINE void sw_block_join(__local uint *tile, struct sw_block block, uint place) {
    uint todo = block.xy, later = block.z, next = SW_TX, small = 0u, large = 0u;
    if (!todo) {
        todo = later;
        later = 0u;
        next = 0u;
    }
    while (todo || small != large) {
        if (small == large) {
            const uint bit = 31u - ERGO_CLZ(todo & (0u - todo)), i = bit & 15u;
            const uint from = place + sw_block_offset(i);
            const uint apart = next == 0u  ? SW_TX * (SW_DIAGONAL ? 1u : SW_TY) + SW_DIAGONAL
                               : bit < 16u ? 1u
                                           : next;
            todo &= todo - 1u;
            if (!todo) {
                todo = later;
                later = 0u;
                next = 0u;
            }
            small = place + sw_block_offset(sw_part_of(block.parts, i));
            large = from + apart;
        }
        const uint a = small < large ? small : large, b = small < large ? large : small;
        large = sw_step_local(tile, b, a);
        small = a;
    }
}

/* Let the first site of each of the block's parts have the label of its root. */
ERGO_INLINE void sw_block_lower(__local uint *tile, struct sw_block_parts parts, uint place) {
    uint todo = sw_parts_firsts(parts), first = 0u, at = 0u;
    bool walks = false;
    while (todo || walks) {
        if (!walks) {
            first = at = place + sw_block_offset(sw_first_site(todo));
            todo &= todo - 1u;
        }
        const uint next = SW_READ_TILE(&tile[at]);
        walks = next != at;
        at = next;
        if (!walks)
            SW_LOWER_TILE(&tile[first], at);
    }
}

/* The place of the first site of the part of site i, after that. */
ERGO_INLINE ushort sw_block_first(__local uint *tile, struct sw_block_parts parts, uint place,
                                  uint i) {
    const uint first = place + sw_block_offset(sw_part_of(parts, i));
    return (ushort)SW_READ_TILE(&tile[first]);
}

/*
 * Where a site finds its cluster: at the first site of its part, and there SW_FOUND plus what is
 * known of the cluster. Work-items take strips of four rows of four sites; neighbours have
 * neighbouring rows.
 */
#define SW_FOUND 0x8000u
#define SW_STRIPS (SW_TILE / 16u)
#define SW_STRIP_PLACE(strip, row) (4u * ((strip) + (row)*SW_STRIPS))

ERGO_INLINE ushort sw_lead(uint first, uint place) {
    return (ushort)(first == place ? SW_FOUND : first);
}

/* Local memory of a kernel for what follows. */
#define SW_LOCAL_LEADS                                                                             \
    __local ushort4 rows[SW_TILE / 4u];                                                            \
    __local ushort list[SW_TILE];                                                                  \
    __local ushort *leads = (__local ushort *)rows;                                                \
    __local uint listed

/* leads of all sites of the tile; list: the first sites of parts, a third of all at a critical
 * point, in any order, so that all work-items then have one. Barriers before and after. */
ERGO_INLINE void sw_site_leads(__global const ushort *firsts, __local ushort4 *leads,
                               __local ushort *list, __local uint *listed) {
    if (get_local_id(0) == 0)
        *listed = 0u;
    SW_SYNC;
    for (uint strip = (uint)get_local_id(0); strip < SW_STRIPS; strip += SW_GROUP) {
        uint found = 0u;
        ERGO_UNROLL
        for (uint row = 0; row < 4u; row++) {
            const uint n = SW_STRIP_PLACE(strip, row);
            const struct sw_tile_site s = sw_tile_site_of(n);
            const ushort4 four = sw_four_firsts(firsts, s);
            const ushort4 lead = (ushort4)(sw_lead(four.x, n), sw_lead(four.y, n + 1u),
                                           sw_lead(four.z, n + 2u), sw_lead(four.w, n + 3u));
            leads[n / 4u] = lead;
            found |= s.inside ? (uint)(lead.x >> 15 | lead.y >> 15 << 1 | lead.z >> 15 << 2 |
                                       lead.w >> 15 << 3)
                                    << 4u * row
                              : 0u;
        }
        if (!found)
            continue;
        for (uint at = SW_ADD_LOCAL(listed, ERGO_POPCOUNT(found)); found; at++) {
            const uint bit = 31u - ERGO_CLZ(found & (0u - found));
            list[at] = (ushort)(SW_STRIP_PLACE(strip, bit >> 2) + (bit & 3u));
            found &= found - 1u;
        }
    }
    SW_SYNC;
}

/* What is known of the site's cluster. */
ERGO_INLINE uint sw_site_found(__local const ushort *leads, uint n) {
    const uint lead = leads[n];
    return (lead < SW_FOUND ? leads[lead] : lead) - SW_FOUND;
}

/* Numbers of sites of the tile's parts, at their first sites. */
ERGO_INLINE void sw_site_sizes(__local const ushort *leads, __local uint *counts) {
    for (uint strip = (uint)get_local_id(0); strip < SW_STRIPS; strip += SW_GROUP) {
        uint last = 0u, same = 0u;
        for (uint k = 0; k < 16u; k++) {
            const uint n = SW_STRIP_PLACE(strip, k >> 2) + (k & 3u);
            if (!sw_tile_site_of(n).inside)
                continue;
            const uint first = leads[n] < SW_FOUND ? leads[n] : n;
            if (first != last && same) {
                SW_ADD_LOCAL(&counts[last], same);
                same = 0u;
            }
            last = first;
            same++;
        }
        if (same)
            SW_ADD_LOCAL(&counts[last], same);
    }
}

/* Give four sites the states that their clusters have drawn. */
ERGO_INLINE void sw_four_give(__global sw_word *spins, struct sw_tile_site s,
                              __local const ushort *leads, uint n, const sw_common *common) {
#if SW_MODEL == SW_MODEL_POTTS && SW_LX % 4 == 0
    uint states = 0u;
    (void)common;
    for (uint j = 0; j < 4u; j++)
        states |= sw_site_found(leads, n + j) << 8u * j;
    __global uint *to = (__global uint *)(spins + s.index);
    *to = SW_TURNED ? *to ^ states : states;
#else
    for (uint j = 0; j < 4u && s.x + j < SW_LX; j++)
        sw_site_give_state(spins, s.index + j, sw_site_found(leads, n + j), common);
#endif
}

ERGO_INLINE void sw_site_spread(__global sw_word *spins, __local const ushort *leads,
                                const sw_common *common) {
    for (uint strip = (uint)get_local_id(0); strip < SW_STRIPS; strip += SW_GROUP)
        for (uint row = 0; row < 4u; row++) {
            const uint n = SW_STRIP_PLACE(strip, row);
            const struct sw_tile_site s = sw_tile_site_of(n);
            if (s.inside)
                sw_four_give(spins, s, leads, n, common);
        }
}

/* Draw the states of the tile's clusters, or whether they flip, and give them to the sites. counts
 * and sizes: if not 0, add the former to the latter at the roots. held: with a field, 1 at the
 * roots of clusters that stay as they are. */
ERGO_INLINE void sw_site_give(__global sw_word *spins, const struct sw_site_member *m,
                              __global const uint *labels, ulong step, __global uint *sizes,
                              __local const uint *counts, __local ushort *leads,
                              __local const ushort *list, uint listed, __global const uchar *held) {
    for (uint k = (uint)get_local_id(0); k < listed; k += SW_GROUP) {
        const uint n = list[k], root = sw_find_still(labels, sw_tile_site_of(n).index);
        if (counts)
            atomic_add(&sizes[root], counts[n]);
        leads[n] = (ushort)(SW_FOUND | (SW_FIELD && held[root] ? 0u : sw_site_draw(m, root, step)));
    }
    SW_SYNC;
    const sw_common common = SW_STEP_OF(m, step);
    sw_site_spread(spins, leads, &common);
}

/* Wolff's update, where leads know of each cluster whether it is the one: its sites get another
 * state. grown: as sw_site_flip_one has it. flipped: scratch of three words. */
ERGO_INLINE void sw_site_grow(__global sw_word *spins, const struct sw_site_member *m, ulong step,
                              __local const ushort *leads, __local uint *flipped,
                              __global uint *grown, uint sample) {
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const sw_common common = SW_STEP_OF(m, step);
    uint mine = 0u;
    ulong parts = 0UL;
    if (first == 0u)
        flipped[0] = flipped[1] = flipped[2] = 0u;
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (!s.inside || !sw_site_found(leads, n))
            continue;
#if SW_MODEL != SW_MODEL_POTTS
        parts += sw_part_fixed(sw_part(SW_SPIN(spins, s.index), &common));
#endif
        sw_site_change(spins, s.index, &common);
        mine++;
    }
    if (mine) {
        SW_ADD_LOCAL(&flipped[0], mine);
        ERGO_ADD_LONG(flipped + 1, (uint)parts, (uint)(parts >> 32));
    }
    SW_SYNC;
    if (first == 0u && flipped[0] && sample != SW_NO_SAMPLE) {
        __global uint *to = grown + 3UL * ((ulong)sample * get_num_groups(1) + index);
        atomic_add(to, flipped[0]);
        ERGO_ADD_LONG(to + 1, flipped[1], flipped[2]);
    }
}

#endif
