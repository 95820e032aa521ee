/*
 * Cluster updates of a spin for each site (sites.h). A sweep takes three launches: labels in tiles,
 * joins across their edges, new states. Dimension 1 is the member.
 */
#include "swendsen_wang/sites_tile.h"

/* Bonds between equal neighbours of a site, by bits. */
ERGO_INLINE uint sw_site_open(__global const uchar *spins, struct sw_tile_site s) {
    const uint spin = spins[s.index];
    uint open = 0u, around;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (sw_site_owns(s.x, s.y, d) && spins[sw_site_next(s.x, s.y, s.z, d, &around)] == spin)
            open |= 1u << d;
    return open;
}

/*
 * Draw the bonds, and label the parts of clusters in a tile. The first bond that leads back gives a
 * site its label by a plain store, which makes trees; the others are joined by atomics. `bonds`
 * gets the active bonds of each site; `labels` the site index of the first site of its part. sized:
 * also set `sizes` to 0.
 */
__kernel SW_TILE_GROUP void sw_site_label(__global const uchar *spins,
                                          __global const struct sw_site_member *members,
                                          __global uchar *bonds, __global uint *labels, ulong step,
                                          __global uint *sizes, uint sized) {
    __local uint tile[SW_TILE];
    __local uchar active[SW_TILE];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint mine = 0u;
        if (s.inside) {
            mine = sw_site_activate(&m, s.index, step, sw_site_open(spins + plane, s));
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

/* Join clusters across the edges of tiles, and around the lattice. sample: record in
 * wraps[sample][member] the directions in which a cluster leads around. */
__kernel SW_TILE_GROUP void sw_site_join(__global const uchar *bonds, __global uint *labels,
                                         __global uint *wraps, uint sample) {
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    uint found = 0u;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        uint leaves = 0u;
        for (uint d = 0; d < SW_DIRECTIONS; d++)
            leaves |= sw_tile_leaves(s, d) << d;
        if (!s.inside || !leaves)
            continue;
        leaves &= bonds[plane + s.index];
        for (uint d = 0; d < SW_DIRECTIONS; d++) {
            uint around;
            const uint next = sw_site_next(s.x, s.y, s.z, d, &around);
            if (leaves >> d & 1u)
                found |= sw_join(labels + plane, s.index, next, around);
        }
    }
    if (found && sample != SW_NO_SAMPLE)
        atomic_or(&wraps[(ulong)sample * get_num_groups(1) + index], found);
}

/* Where each site of the tile finds its cluster: itself, if its label leads to itself or out of the
 * tile, or a site before it. Needs a barrier after it. */
ERGO_INLINE void sw_site_leads(__global const uint *labels, __local uint *leads) {
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        const uint place = s.inside ? sw_tile_place(SW_LEADS(labels[s.index])) : n;
        leads[n] = place < SW_TILE ? place : n;
    }
}

ERGO_INLINE uint sw_site_lead(__local const uint *leads, uint n) {
    while (leads[n] != n)
        n = leads[n];
    return n;
}

/* Draw the states of the clusters of `tile`, and give them to the sites. leads: see above. states:
 * of the sites that find their clusters themselves; before, if sized, the number of sites of the
 * tile that find it there. */
ERGO_INLINE void sw_site_give(__global uchar *spins, const struct sw_site_member *m,
                              __global const uint *labels, ulong step, __global uint *sizes,
                              bool sized, __local const uint *leads, __local uint *states) {
    const uint first = (uint)get_local_id(0);
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (!s.inside || leads[n] != n)
            continue;
        const uint root = sw_find_still(labels, s.index);
        if (sized)
            atomic_add(&sizes[root], states[n]);
        states[n] =
            sw_state(root, SW_PURPOSE_SPIN, (uint)step, (uint)(step >> 32), m->key0, m->key1);
    }
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside)
            spins[s.index] = (uchar)states[sw_site_lead(leads, n)];
    }
}

__kernel SW_TILE_GROUP void sw_site_flip(__global uchar *spins,
                                         __global const struct sw_site_member *members,
                                         __global const uint *labels, ulong step) {
    __local uint leads[SW_TILE], states[SW_TILE];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    sw_site_leads(labels + plane, leads);
    SW_SYNC;
    sw_site_give(spins + plane, &m, labels + plane, step, 0, false, leads, states);
}

/* The same in a measured sweep: also add up the sizes of clusters at their roots. */
__kernel SW_TILE_GROUP void sw_site_flip_sizes(__global uchar *spins,
                                               __global const struct sw_site_member *members,
                                               __global const uint *labels, ulong step,
                                               __global uint *sizes) {
    __local uint leads[SW_TILE], states[SW_TILE];
    const uint index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    sw_site_leads(labels + plane, leads);
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        states[n] = 0u;
    SW_SYNC;
    for (uint n = (uint)get_local_id(0); n < SW_TILE; n += SW_GROUP)
        if (sw_tile_site_of(n).inside)
            SW_ADD_LOCAL(&states[sw_site_lead(leads, n)], 1u);
    SW_SYNC;
    sw_site_give(spins + plane, &m, labels + plane, step, sizes + plane, true, leads, states);
}

/* Wolff's update: the seed's cluster gets another state. grown[sample][member]: its size is added
 * there, unless sample is SW_NO_SAMPLE. */
__kernel SW_TILE_GROUP void sw_site_flip_one(__global uchar *spins,
                                             __global const struct sw_site_member *members,
                                             __global const uint *labels, ulong step,
                                             __global uint *grown, uint sample) {
    __local uint leads[SW_TILE], states[SW_TILE], root, flipped;
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const struct sw_site_member m = members[index];
    const struct sw_seed seed = sw_site_seed(&m, step);
    if (first == 0u) {
        root = sw_find_still(labels + plane, seed.site);
        flipped = 0u;
    }
    sw_site_leads(labels + plane, leads);
    SW_SYNC;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (s.inside && leads[n] == n)
            states[n] = sw_find_still(labels + plane, s.index) == root ? 1u : 0u;
    }
    SW_SYNC;
    uint mine = 0u;
    for (uint n = first; n < SW_TILE; n += SW_GROUP) {
        const struct sw_tile_site s = sw_tile_site_of(n);
        if (!s.inside || !states[sw_site_lead(leads, n)])
            continue;
        spins[plane + s.index] = (uchar)((spins[plane + s.index] + seed.shift) % SW_Q);
        mine++;
    }
    if (mine)
        SW_ADD_LOCAL(&flipped, mine);
    SW_SYNC;
    if (first == 0u && flipped && sample != SW_NO_SAMPLE)
        atomic_add(&grown[(ulong)sample * get_num_groups(1) + index], flipped);
}
