/*
 * Structure factor by clusters of lattices of sites (correlate.h), after a sweep. Dimension 1 is
 * the member.
 *
 * waves[member][site][SW_SITE_WAVES], two words each: sums over a cluster, at its root, of cos and
 * sin of the wave, of unit vectors times |s.r|, and then of |s.r| alone. They are 0 before
 * sw_site_waves, and again after sw_site_wave_roots. Their squares go to
 * sums[sample][member][SW_SITE_POWERS][SW_WAVE_LIMBS]: of both, and of the last.
 */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_bridges.h"
#include "swendsen_wang/sites_leads.h"
#include "swendsen_wang/wave_sums.h"

#define SW_ALONG (SW_LZ > 1u ? SW_TZ : SW_TY) /* sites of a tile along the wave */
#define SW_LAST_SIDE SW_ALL_LAYERS
#define SW_LAST_HERE (SW_LZ > 1u ? SW_LZ : SW_LY)
#if SW_MODEL == SW_MODEL_POTTS
#define SW_SITE_WAVES 2u
#define SW_SITE_POWERS 1u
#else
#define SW_SITE_WAVES 3u
#define SW_SITE_POWERS 2u
#endif

/* Has the site an active bond out of the tile, or around the lattice? On the first layer of a slab
 * it may have one to another rank. */
ERGO_INLINE uint sw_site_leads_out(__global const uchar *bonds, struct sw_tile_site s,
                                   struct sw_tile_ends e) {
    const uint end_x = s.tx == e.x ? 1u : 0u, end_y = s.ty == e.y ? 1u : 0u;
    const uint end_z = s.tz == e.z ? 1u : 0u, last_z = SW_DIAGONAL ? end_x | end_y : end_z;
    const uint begin_x = s.tx == 0u ? 1u : 0u, begin_y = s.ty == 0u ? 1u : 0u;
    const uint begin_z = s.tz == 0u ? 1u : 0u, first_z = SW_DIAGONAL ? begin_x | begin_y : begin_z;
    const uint last = end_x | end_y << 1 | last_z << 2;
    const uint before = begin_x | begin_y << 1 | first_z << 2;
    uint open = last ? bonds[s.index] & last : 0u;
    for (uint d = 0; d < SW_DIRECTIONS; d++) {
        uint x, y;
        if (SW_SLAB && d == SW_ONWARD && (SW_FLAT ? s.y : s.z) == 0u)
            open |= 1u;
        else if (before >> d & 1u)
            open |= bonds[sw_site_before(s.x, s.y, s.z, d, &x, &y)] & 1u << d;
    }
    return open;
}

/*
 * Parts are summed in local memory. Those without a bond out of the tile are clusters, and their
 * squares are added up at once. Many others are of the lattice's largest cluster, so those of the
 * tile's smallest root are added up in local memory first.
 */
__kernel SW_TILE_GROUP void sw_site_waves(__global const sw_word *spins,
                                          __global const struct sw_site_member *members,
                                          __global const uchar *bonds,
                                          __global const ushort *firsts,
                                          __global const uint *labels, ulong step,
                                          __global uint *waves, __global uint *sums, uint sample) {
    SW_LOCAL_LEADS;
    __local uint parts[SW_TILE], roots[SW_TILE]; /* roots: SW_NO_BOND of parts that are clusters */
    __local uint total[SW_SITE_POWERS * SW_WAVE_ALL], common[2];
    __local int weights[SW_SITE_WAVES * SW_ALONG];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const uint corner = SW_LZ > 1u ? sw_tile_site_of(0u).z : sw_tile_site_of(0u).y;
    const struct sw_tile_ends ends = sw_tile_ends();
    struct sw_wave_sum powers[SW_SITE_POWERS];
#if SW_MODEL != SW_MODEL_POTTS
    const struct sw_site_member m = members[index];
    const sw_common common_step = SW_STEP_OF(&m, step);
    __global const sw_word *own = spins + SW_COMPONENTS * (ulong)index * SW_SPAN;
#endif
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        powers[p].low = powers[p].high = 0UL;
    for (uint k = first; k < SW_SITE_POWERS * SW_WAVE_ALL; k += SW_GROUP)
        total[k] = 0u;
    for (uint k = first; k < SW_SITE_WAVES * SW_ALONG; k += SW_GROUP) {
        const uint here = corner + k % SW_ALONG;
        const uint at = here + (SW_SLAB ? members[index].first / SW_LAYER : 0u);
        weights[k] = k / SW_ALONG < 2u
                         ? sw_wave_weight(here < SW_LAST_HERE ? at : 0u, SW_LAST_SIDE, k / SW_ALONG)
                         : 1 << SW_WAVE_SHIFT;
    }
    for (uint n = first; n < SW_TILE; n += SW_GROUP)
        roots[n] = SW_NO_BOND;
    if (first == 0u)
        common[0] = 0xffffffffu;
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint wave = 0; wave < SW_SITE_WAVES; wave++) {
        for (uint n = first; n < SW_TILE; n += SW_GROUP)
            parts[n] = 0u;
        if (first == 0u)
            common[1] = 0u;
        SW_SYNC;
        for (uint n = first; n < SW_TILE; n += SW_GROUP) {
            const struct sw_tile_site s = sw_tile_site_of(n);
            if (!s.inside)
                continue;
            const uint part = leads[n] < SW_FOUND ? leads[n] : n;
            int value = weights[wave * SW_ALONG + (SW_LZ > 1u ? s.tz : s.ty)];
#if SW_MODEL != SW_MODEL_POTTS
            value = sw_wave_part(sw_part(SW_SPIN(own, s.index), &common_step), value);
#endif
            SW_ADD_LOCAL(&parts[part], (uint)value);
            if (wave == 0u && sw_site_leads_out(bonds + plane, s, ends))
                SW_MIN_LOCAL(&roots[part], 0u); /* to be found */
        }
        SW_SYNC;
        for (uint k = first; k < listed; k += SW_GROUP) {
            const uint n = list[k], value = parts[n];
            const ulong size = value >> 31 ? 0u - value : value;
            if (roots[n] == SW_NO_BOND) {
                powers[wave / 2u].low += size * size;
            } else if (wave == 0u) {
                roots[n] = sw_find_still(labels + plane, sw_tile_site_of(n).index);
                SW_MIN_LOCAL(&common[0], roots[n]);
            }
        }
        SW_SYNC;
        for (uint k = first; k < listed; k += SW_GROUP) {
            const uint n = list[k], root = roots[n];
            if (root == SW_NO_BOND)
                continue;
            if (root == common[0])
                SW_ADD_LOCAL(&common[1], parts[n]);
            else
                SW_WAVE_ADD(waves + 2UL * (SW_SITE_WAVES * (plane + root) + wave), parts[n]);
        }
        SW_SYNC;
        if (first == 0u && common[0] != 0xffffffffu)
            SW_WAVE_ADD(waves + 2UL * (SW_SITE_WAVES * (plane + common[0]) + wave), common[1]);
        SW_SYNC;
    }
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        sw_wave_collect(total + SW_WAVE_ALL * p, powers[p], first, SW_WAVE_TILE_LIMBS);
    SW_SYNC;
    __global uint *to =
        sums + (ulong)SW_SITE_POWERS * SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + index);
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        sw_wave_give(to + SW_WAVE_WORDS * p, total + SW_WAVE_ALL * p, first, SW_GROUP,
                     SW_WAVE_TILE_LIMBS);
}

#if SW_SLAB
/* Sums of parts that reach an edge, to `sums` behind their sites (sites_bridges.h), since others
 * join them; their roots have 0 then. */
__kernel void sw_slab_waves(__global const uint *edges, __global const uint *roots,
                            __global uint *waves, __global uint *sums) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong at = (ulong)index * SW_ITEMS + item;
    if (item >= SW_ITEMS || edges[at] == SW_NO_BOND || (edges[at] & SW_EDGE_NUMBER) != item)
        return;
    __global uint *from = waves + 2UL * SW_SITE_WAVES * ((ulong)index * SW_N + roots[at]);
    __global uint *to = sums + sw_sums_at(item, index, (uint)get_global_size(1)) + 2u;
    for (uint k = 0; k < 2u * SW_SITE_WAVES; k++) {
        to[k] = from[k];
        from[k] = 0u;
    }
}
#endif

/* Of the clusters that lie in several tiles. */
__kernel void sw_site_wave_roots(__global uint *waves, __global uint *sums, uint sample) {
    __local uint total[SW_SITE_POWERS * SW_WAVE_ALL];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_group_id(1);
    __global uint *mine = waves + 2UL * SW_SITE_WAVES * index * SW_N;
    struct sw_wave_sum powers[SW_SITE_POWERS];
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        powers[p].low = powers[p].high = 0UL;
    for (uint k = item; k < SW_SITE_POWERS * SW_WAVE_ALL; k += size)
        total[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = (ulong)group * size + item; at < SW_N; at += (ulong)groups * size)
        for (uint wave = 0; wave < SW_SITE_WAVES; wave++) {
            __global uint *from = mine + 2UL * (SW_SITE_WAVES * at + wave);
            const ulong value = (ulong)from[1] << 32 | from[0];
            if (!value)
                continue;
            sw_wave_add(&powers[wave / 2u], value >> 63 ? 0UL - value : value);
            from[0] = from[1] = 0u;
        }
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        sw_wave_collect(total + SW_WAVE_ALL * p, powers[p], item, SW_WAVE_LIMBS);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to =
        sums + (ulong)SW_SITE_POWERS * SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + index);
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        sw_wave_give(to + SW_WAVE_WORDS * p, total + SW_WAVE_ALL * p, item, size, SW_WAVE_LIMBS);
}
