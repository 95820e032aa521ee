/*
 * Cluster updates of a spin for each site (sites.h). A sweep takes three launches: labels in tiles,
 * joins across their edges, new states. Dimension 1 is the member.
 */
#define SW_PLACES 8192u
#include "common/sum64.h"
#include "swendsen_wang/sites_spin.h"
#include "swendsen_wang/sites_tile.h"

/* What a step has in common: Wolff's seed, or the mirror of unit vectors. */
#if SW_MODEL == SW_MODEL_POTTS
#define SW_STEP_OF(m, step) sw_site_seed((m), (step))
typedef struct sw_seed sw_common;

/* The active bonds of a site, by bits: some of those between equal neighbours. */
ERGO_INLINE uint sw_site_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common,
                               ulong step) {
    const uint spin = spins[s.index];
    uint open = 0u, around;
    (void)common;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (sw_site_owns(s.x, s.y, s.z, d)) {
            const uint other = spins[sw_site_next(s.x, s.y, s.z, d, &around)];
            open |= (other ^ sw_site_turns(around)) == spin ? 1u << d : 0u;
        }
    return sw_site_activate(m, s.index, step, open);
}

/* The state of a representative's cluster, and a site of it that gets it. */
ERGO_INLINE uint sw_site_draw(const struct sw_site_member *m, uint root, ulong step) {
    return sw_state(root, SW_PURPOSE_SPIN, (uint)step, (uint)(step >> 32), m->key0, m->key1);
}

ERGO_INLINE void sw_site_give_state(__global sw_word *spins, uint site, uint state,
                                    const sw_common *common) {
    (void)common;
    /* across antiperiodic sides a cluster has both states, and changes both or none */
    spins[site] = (uchar)(SW_ANTI ? spins[site] ^ state : state);
}

/* A site of Wolff's cluster gets another state. */
ERGO_INLINE void sw_site_change(__global sw_word *spins, uint site, const sw_common *common) {
    spins[site] = (uchar)((spins[site] + common->shift) % SW_Q);
}
#else
#define SW_STEP_OF(m, step) SW_MIRROR((m), (step))
typedef struct sw_mirror sw_common;

ERGO_INLINE uint sw_site_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common,
                               ulong step) {
    const float part = sw_part(SW_SPIN(spins, s.index), common);
    float weights[3] = {0.0f, 0.0f, 0.0f};
    uint around;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (sw_site_owns(s.x, s.y, s.z, d)) {
            const uint next = sw_site_next(s.x, s.y, s.z, d, &around);
            const float weight = part * sw_part(SW_SPIN(spins, next), common);
            weights[d] = sw_site_turns(around) ? 0.0f - weight : weight;
        }
    return sw_site_activate_parts(m, s.index, step, weights);
}

ERGO_INLINE void sw_site_change(__global sw_word *spins, uint site, const sw_common *common) {
    sw_spin_store(spins, site, sw_mirrored(SW_SPIN(spins, site), common));
}

/* Unit vectors: whether the cluster flips. */
ERGO_INLINE uint sw_site_draw(const struct sw_site_member *m, uint root, ulong step) {
    return sw_site_flips(m, root, step);
}

ERGO_INLINE void sw_site_give_state(__global sw_word *spins, uint site, uint state,
                                    const sw_common *common) {
    if (state)
        sw_site_change(spins, site, common);
}
#endif

/*
 * Draw the bonds, and label the parts of clusters in a tile. The first bond that leads back gives a
 * site its label by a plain store, which makes trees; these are made lower by SW_JUMPS rounds, in
 * which each site gets the label of its label; the others are joined by atomics. `bonds`
 * gets the active bonds of each site; `labels` the site index of the first site of its part. sized:
 * also set `sizes` to 0. chances: method probability-changing, which needs ways = 0.
 */
__kernel SW_TILE_GROUP void sw_site_label(__global const sw_word *spins,
                                          __global const struct sw_site_member *members,
                                          __global uchar *bonds, __global uint *labels, ulong step,
                                          __global uint *sizes, uint sized,
                                          __global const uint *chances, __global uint *ways) {
    __local uint tile[SW_TILE];
    __local uchar active[SW_TILE];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    struct sw_site_member m = members[index];
#if SW_ADAPTS
    sw_site_take(&m, chances[index]);
    if (first == 0u && get_group_id(0) == 0)
        ways[index] = 0u;
#endif
    const sw_common common = SW_STEP_OF(&m, step);
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint mine = 0u;
        if (s.inside) {
            mine = sw_site_bonds(spins + SW_COMPONENTS * plane, s, &m, &common, step);
            bonds[plane + s.index] = (uchar)mine;
            if (sized)
                sizes[plane + s.index] = 0u;
        }
        active[n] = (uchar)mine;
    }
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint label = n;
        for (uint d = 0; d < SW_DIRECTIONS; d++) {
            const uint back = sw_tile_back(s, d);
            if (label == n && back && active[n - back] >> d & 1u)
                label = n - back;
        }
        tile[n] = label;
    }
    SW_SYNC;
    for (uint k = 0; k < SW_JUMPS; k++) {
        for (uint n = first; n < SW_TILE; n += SW_GROUP)
            SW_LOWER_TILE(&tile[n], SW_READ_TILE(&tile[SW_READ_TILE(&tile[n])]));
        SW_SYNC;
    }
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint linked = 0u;
        for (uint d = 0; d < SW_DIRECTIONS; d++) {
            const uint back = sw_tile_back(s, d);
            if (!back || !(active[n - back] >> d & 1u))
                continue;
            if (linked)
                sw_join_local(tile, n, n - back);
            linked = 1u;
        }
    }
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside)
            labels[plane + s.index] = SW_LABEL(sw_tile_site_of(sw_find_local(tile, n)).index);
    }
}

/* Join clusters across the edges of tiles, and around the lattice. Each bond is a walk through
 * global memory, and few sites have one, so the bonds are listed first and shared out. sample:
 * record in wraps[sample][member] the directions in which a cluster leads around. */
__kernel SW_TILE_GROUP void sw_site_join(__global const uchar *bonds, __global uint *labels,
                                         __global uint *wraps, uint sample) {
    __local ushort list[SW_DIRECTIONS * SW_TILE]; /* site of the tile, SW_PLACES times direction */
    __local uint listed;
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    uint found = 0u;
    if (first == 0u)
        listed = 0u;
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint leaves = 0u;
        for (uint d = 0; d < SW_DIRECTIONS; d++)
            leaves |= sw_tile_leaves(s, d) << d;
        if (!s.inside || !leaves)
            continue;
        leaves &= bonds[plane + s.index];
        for (uint d = 0; d < SW_DIRECTIONS; d++)
            if (leaves >> d & 1u)
                list[SW_ADD_LOCAL(&listed, 1u)] = (ushort)(n + SW_PLACES * d);
    }
    SW_SYNC;
    const uint count = listed;
    for (uint k = first; k < count; k += SW_GROUP) {
        const uint d = list[k] / SW_PLACES;
        const struct sw_tile_site s = sw_tile_site_of(list[k] % SW_PLACES);
        uint around;
        const uint next = sw_site_next(s.x, s.y, s.z, d, &around);
        found |= sw_join(labels + plane, s.index, next, around);
    }
    if (found && sample != SW_NO_SAMPLE)
        atomic_or(&wraps[(ulong)sample * get_num_groups(1) + index], found);
}

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

/* Where each site of the tile finds its cluster: itself, if its label leads to itself or out of the
 * tile, or a site before it. list: those that find it themselves, a third of all at a critical
 * point, in any order; all work-items then have one. Barriers before and after. */
ERGO_INLINE void sw_site_leads(__global const uint *labels, __local uint *leads,
                               __local ushort *list, __local uint *listed) {
    if (get_local_id(0) == 0)
        *listed = 0u;
    SW_SYNC;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        const uint place = s.inside ? sw_tile_place(SW_LEADS(labels[s.index])) : n;
        leads[n] = place < SW_TILE ? place : n;
        if (s.inside && leads[n] == n)
            list[SW_ADD_LOCAL(listed, 1u)] = (ushort)n;
    }
    SW_SYNC;
}

ERGO_INLINE uint sw_site_lead(__local const uint *leads, uint n) {
    while (leads[n] != n)
        n = leads[n];
    return n;
}

/* Draw the states of the tile's clusters, or whether they flip, and give them to the sites. leads:
 * see above. states: of the sites that find their clusters themselves; before, if sized, the number
 * of sites of the tile that find it there. */
ERGO_INLINE void sw_site_give(__global sw_word *spins, const struct sw_site_member *m,
                              __global const uint *labels, ulong step, __global uint *sizes,
                              bool sized, __local const uint *leads, __local uint *states,
                              __local const ushort *list, uint listed) {
    const uint first = (uint)get_local_id(0);
    for (uint k = first; k < listed; k += SW_GROUP) {
        const uint n = list[k], root = sw_find_still(labels, sw_tile_site_of(n).index);
        if (sized)
            atomic_add(&sizes[root], states[n]);
        states[n] = sw_site_draw(m, root, step);
    }
    SW_SYNC;
    const sw_common common = SW_STEP_OF(m, step);
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside)
            sw_site_give_state(spins, s.index, states[sw_site_lead(leads, n)], &common);
    }
}

__kernel SW_TILE_GROUP void sw_site_flip(__global sw_word *spins,
                                         __global const struct sw_site_member *members,
                                         __global const uint *labels, ulong step) {
    __local uint leads[SW_TILE], states[SW_TILE], listed;
    __local ushort list[SW_TILE];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    sw_site_leads(labels + plane, leads, list, &listed);
    sw_site_give(spins + SW_COMPONENTS * plane, &m, labels + plane, step, 0, false, leads, states,
                 list, listed);
}

/* The same in a measured sweep: also add up the sizes of clusters at their roots. */
__kernel SW_TILE_GROUP void sw_site_flip_sizes(__global sw_word *spins,
                                               __global const struct sw_site_member *members,
                                               __global const uint *labels, ulong step,
                                               __global uint *sizes) {
    __local uint leads[SW_TILE], states[SW_TILE], listed;
    __local ushort list[SW_TILE];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    sw_site_leads(labels + plane, leads, list, &listed);
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        states[n] = 0u;
    SW_SYNC;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        if (sw_tile_site_of(n).inside)
            SW_ADD_LOCAL(&states[sw_site_lead(leads, n)], 1u);
    SW_SYNC;
    sw_site_give(spins + SW_COMPONENTS * plane, &m, labels + plane, step, sizes + plane, true,
                 leads, states, list, listed);
}

/*
 * Wolff's update: the seed's cluster gets another state. Unless sample is SW_NO_SAMPLE,
 * grown[sample][member][3] gets the cluster's size, and the sum of the sizes of its parts along the
 * mirror, in units of 2^-30, as two words.
 */
__kernel SW_TILE_GROUP void sw_site_flip_one(__global sw_word *spins,
                                             __global const struct sw_site_member *members,
                                             __global const uint *labels, ulong step,
                                             __global uint *grown, uint sample) {
    __local uint leads[SW_TILE], states[SW_TILE], listed, root, flipped[3];
    __local ushort list[SW_TILE];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    __global sw_word *own = spins + SW_COMPONENTS * plane;
    if (first == 0u) {
        root = sw_find_still(labels + plane, sw_site_seed(&m, step).site);
        flipped[0] = flipped[1] = flipped[2] = 0u;
    }
    sw_site_leads(labels + plane, leads, list, &listed);
    for (uint k = first; k < listed; k += SW_GROUP) {
        const uint n = list[k], at = sw_tile_site_of(n).index;
        states[n] = sw_find_still(labels + plane, at) == root ? 1u : 0u;
    }
    SW_SYNC;
    uint mine = 0u;
    ulong parts = 0UL;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (!s.inside || !states[sw_site_lead(leads, n)])
            continue;
#if SW_MODEL != SW_MODEL_POTTS
        parts += sw_part_fixed(sw_part(SW_SPIN(own, s.index), &common));
#endif
        sw_site_change(own, s.index, &common);
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

/* The representative of each site's cluster. */
__kernel SW_TILE_GROUP void sw_site_name(__global const uint *labels, __global uint *names) {
    const ulong plane = (ulong)get_group_id(1) * SW_N;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside)
            names[plane + s.index] = sw_find_still(labels + plane, s.index);
    }
}

/* Pairs of sites half a side apart, and a quarter, along all sides, that lie in one cluster: their
 * number; of unit vectors the sum of products of their parts along the mirror, in units of 2^-30.
 * pairs[sample][member][2], two words a number. */
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
    __global const sw_word *own = spins + SW_COMPONENTS * plane;
#endif
    for (uint k = first; k < 4u; k += SW_GROUP)
        sums[k] = 0u;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        for (uint k = 0; k < 2u * SW_SIDES && s.inside; k++) {
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
