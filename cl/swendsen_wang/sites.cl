/*
 * Cluster updates of a spin for each site (sites.h). A sweep takes three launches: labels in tiles,
 * joins across their edges, new states. Dimension 1 is the member.
 */
#define SW_PLACES 8192u
#include "common/sum64.h"
#include "swendsen_wang/sites_leads.h"

/*
 * Draw the bonds, and label the parts of clusters in a tile: in blocks of 16 sites first, in
 * registers (sites_block.h), then across the faces of blocks, in local memory. `bonds` gets the
 * active bonds of each site; `firsts` the place in the tile of the first site of its part; `labels`
 * its own index, which joins of parts lower at first sites alone. sized: also set `sizes` to 0.
 * chances: method probability-changing, which needs ways = 0. weak: of each site, with disorder.
 * held: with a field, becomes 0.
 */
__kernel SW_TILE_GROUP void
sw_site_label(__global const sw_word *spins, __global const struct sw_site_member *members,
              __global uchar *bonds, __global ushort *firsts, __global uint *labels, ulong step,
              __global uint *sizes, uint sized, __global const uint *chances, __global uint *ways,
              __global const uchar *weak, __global uchar *held) {
    __local uint tile[SW_TILE];
    __local struct sw_block blocks[SW_BLOCKS];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    struct sw_site_member m = members[index];
#if SW_ADAPTS
    sw_site_take(&m, chances[index]);
    if (first == 0u && get_group_id(0) == 0)
        ways[index] = 0u;
#endif
    const sw_common common = SW_STEP_OF(&m, step);
    __global const sw_word *own = spins + SW_COMPONENTS * (ulong)index * SW_SPAN;
    for (uint b = first; b < SW_BLOCKS; b += SW_GROUP) {
        const uint place = sw_block_place(b);
        uint active[3] = {0u, 0u, 0u};
        ERGO_ROLLED
        for (uint i = 0; i < SW_BLOCK; i += 4u) {
            const struct sw_tile_site s = sw_tile_site_of(place + sw_block_offset(i));
            const uint mine = sw_four_bonds(own, s, &m, &common, step, weak + plane);
            sw_four_store(bonds + plane, s, mine);
            if (SW_FIELD)
                sw_four_store(held + plane, s, 0u);
            if (sized)
                sw_four_labels_store(sizes + plane, s, (uint4)(0u));
            for (uint d = 0; d < SW_DIRECTIONS; d++)
                active[d] |= sw_four_bits(mine >> d) << i;
        }
        const struct sw_block block = sw_block_of(active, sw_block_leaves(place));
        blocks[b] = block;
        ERGO_UNROLL
        for (uint i = 0; i < SW_BLOCK; i++)
            tile[place + sw_block_offset(i)] = place + sw_block_offset(sw_part_of(block.parts, i));
    }
    SW_SYNC;
    for (uint b = first; b < SW_BLOCKS; b += SW_GROUP)
        sw_block_join(tile, blocks[b], sw_block_place(b));
    SW_SYNC;
    for (uint b = first; b < SW_BLOCKS; b += SW_GROUP) {
        const uint place = sw_block_place(b);
        const struct sw_block_parts parts = blocks[b].parts;
        sw_block_lower(tile, parts, place);
        ERGO_UNROLL
        for (uint i = 0; i < SW_BLOCK; i += 4u) {
            const struct sw_tile_site s = sw_tile_site_of(place + sw_block_offset(i));
            const uint4 mine = s.index + (uint4)(0u, 1u, 2u, 3u);
            sw_four_labels_store(labels + plane, s, SW_LABEL(mine));
            sw_four_firsts_store(firsts + plane, s,
                                 (ushort4)(sw_block_first(tile, parts, place, i),
                                           sw_block_first(tile, parts, place, i + 1u),
                                           sw_block_first(tile, parts, place, i + 2u),
                                           sw_block_first(tile, parts, place, i + 3u)));
        }
    }
}

/* Join clusters across the faces of tiles, and around the lattice. Each bond is a walk through
 * global memory, and few are active, so these are listed first and shared out. sample: record in
 * wraps[sample][member] the directions in which a cluster leads around. */
__kernel SW_TILE_GROUP void sw_site_join(__global const uchar *bonds, __global const ushort *firsts,
                                         __global uint *labels, __global uint *wraps, uint sample) {
    __local ushort list[SW_FACES];
    __local uint listed;
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_tile_ends ends = sw_tile_ends();
    uint found = 0u;
    if (first == 0u)
        listed = 0u;
    SW_SYNC;
    for (uint k = first; k < SW_FACES; k += SW_GROUP) {
        const uint face = sw_tile_face(k, ends), direction = face / SW_PLACES;
        const struct sw_tile_site s = sw_tile_site_of(face % SW_PLACES);
        if (face != SW_NO_BOND && !sw_site_leaves(s.y, s.z, direction) &&
            bonds[plane + s.index] >> direction & 1u)
            list[SW_ADD_LOCAL(&listed, 1u)] = (ushort)face;
    }
    SW_SYNC;
    const uint count = listed;
    for (uint k = first; k < count; k += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(list[k] % SW_PLACES);
        uint around;
        const uint next = sw_site_next(s.x, s.y, s.z, list[k] / SW_PLACES, &around);
        found |= sw_join(labels + plane, sw_first_of(firsts + plane, s.index),
                         sw_first_of(firsts + plane, next), around);
    }
    if (found && sample != SW_NO_SAMPLE)
        atomic_or(&wraps[(ulong)sample * get_num_groups(1) + index], found);
}

#if SW_DISORDER
/* Which bonds are weak: once, before the first step. */
__kernel void sw_site_couple(__global const struct sw_site_member *members, __global uchar *weak) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const struct sw_site_member m = members[index];
    if (site < SW_N)
        weak[(ulong)index * SW_N + site] = (uchar)sw_site_weak(&m, site);
}
#endif

#if SW_FIELD
/* held[member][site] of the representatives of clusters with a bond to the ghost spin becomes 1. */
__kernel SW_TILE_GROUP void sw_site_hold(__global const uchar *bonds, __global const ushort *firsts,
                                         __global const uint *labels, __global uchar *held) {
    const ulong plane = (ulong)get_group_id(1) * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside && bonds[plane + s.index] & SW_GHOST_BOND)
            held[plane + sw_find_still(labels + plane, sw_first_of(firsts + plane, s.index))] = 1;
    }
}
#endif

/* After a step, the chance of the next one; a work-item for each member. record[sample][member][2]
 * gets the step's chance, and the directions in which a cluster leads around. */
__kernel void sw_site_adapt(__global const struct sw_site_member *members, __global uint *chances,
                            __global const uint *ways, uint shift, __global uint *record,
                            uint sample) {
    const uint index = (uint)get_global_id(1);
    const struct sw_site_member m = members[index];
    const uint chance = chances[index];
    if (sample != SW_NO_SAMPLE) {
        __global uint *to = record + 2UL * ((ulong)sample * get_global_size(1) + index);
        to[0] = chance;
        to[1] = ways[index];
    }
    chances[index] = sw_site_changed(&m, chance, shift, ways[index]);
}

__kernel SW_TILE_GROUP void sw_site_flip(__global sw_word *spins,
                                         __global const struct sw_site_member *members,
                                         __global const ushort *firsts, __global const uint *labels,
                                         ulong step, __global const uchar *held) {
    SW_LOCAL_LEADS;
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    sw_site_leads(firsts + plane, rows, list, &listed);
    sw_site_give(spins + SW_COMPONENTS * plane, &m, labels + plane, step, 0, 0, leads, list, listed,
                 held + plane);
}

#if SW_SIZED
/* The same in a measured sweep: also add up the sizes of clusters at their roots. */
__kernel SW_TILE_GROUP void sw_site_flip_sizes(__global sw_word *spins,
                                               __global const struct sw_site_member *members,
                                               __global const ushort *firsts,
                                               __global const uint *labels, ulong step,
                                               __global uint *sizes, __global const uchar *held) {
    SW_LOCAL_LEADS;
    __local uint counts[SW_TILE];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        counts[n] = 0u;
    sw_site_leads(firsts + plane, rows, list, &listed);
    sw_site_sizes(leads, counts);
    SW_SYNC;
    sw_site_give(spins + SW_COMPONENTS * plane, &m, labels + plane, step, sizes + plane, counts,
                 leads, list, listed, held + plane);
}
#endif

/*
 * Wolff's update: the seed's cluster gets another state. Unless sample is SW_NO_SAMPLE,
 * grown[sample][member][3] gets the cluster's size, and the sum of the sizes of its parts along the
 * mirror, in units of 2^-30, as two words.
 */
__kernel SW_TILE_GROUP void
sw_site_flip_one(__global sw_word *spins, __global const struct sw_site_member *members,
                 __global const ushort *firsts, __global const uint *labels, ulong step,
                 __global uint *grown, uint sample, __global const uchar *held) {
    SW_LOCAL_LEADS;
    __local uint root, flipped[3];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    if (first == 0u)
        root =
            sw_find_still(labels + plane, sw_first_of(firsts + plane, sw_site_seed(&m, step).site));
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint k = first; k < listed; k += SW_GROUP) {
        const uint at = sw_tile_site_of(list[k]).index;
        leads[list[k]] = SW_FOUND | (sw_find_still(labels + plane, at) == root ? 1u : 0u);
        if (SW_FIELD && held[plane + root])
            leads[list[k]] = SW_FOUND;
    }
    sw_site_grow(spins + SW_COMPONENTS * plane, &m, step, leads, flipped, grown, sample);
}

/* The representative of each site's cluster. */
__kernel SW_TILE_GROUP void sw_site_name(__global const ushort *firsts, __global const uint *labels,
                                         __global uint *names) {
    const ulong plane = (ulong)get_group_id(1) * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside)
            names[plane + s.index] =
                sw_find_still(labels + plane, sw_first_of(firsts + plane, s.index));
    }
}

/* Pairs of sites half a side apart, and a quarter, along all sides, that lie in one cluster: their
 * number; of unit vectors the sum of products of their parts along the mirror, in units of 2^-30.
 * pairs[sample][member][2], two words a number. Of a slab those along its own sides (sites_slab.cl
 * has the others). */
__kernel SW_TILE_GROUP void sw_site_pairs(__global const sw_word *spins,
                                          __global const struct sw_site_member *members,
                                          __global const uint *names, ulong step,
                                          __global uint *pairs, uint sample) {
    __local uint sums[4];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    ulong mine[2] = {0UL, 0UL};
#if SW_MODEL != SW_MODEL_POTTS
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    __global const sw_word *own = spins + SW_COMPONENTS * (ulong)index * SW_SPAN;
#endif
    for (uint k = first; k < 4u; k += SW_GROUP)
        sums[k] = 0u;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        for (uint k = 0; k < 2u * SW_SIDES_HERE && s.inside; k++) {
            const uint other = sw_site_apart(s.x, s.y, s.z, k >> 1, k & 1u ? 4u : 2u);
            if (names[plane + s.index] != names[plane + other])
                continue;
#if SW_MODEL == SW_MODEL_POTTS
            mine[k & 1u]++;
#else
            mine[k & 1u] += sw_part_fixed(sw_part(SW_SPIN(own, s.index), &common) *
                                          sw_part(SW_SPIN(own, other), &common));
#endif
        }
    }
    SW_SYNC;
    for (uint k = 0; k < 2u; k++)
        ERGO_ADD_LONG(sums + 2u * k, (uint)mine[k], (uint)(mine[k] >> 32));
    SW_SYNC;
    for (uint k = first; k < 2u; k += SW_GROUP)
        ERGO_ADD_LONG(pairs + 4UL * ((ulong)sample * get_num_groups(1) + index) + 2u * k,
                      sums[2u * k], sums[2u * k + 1u]);
}
