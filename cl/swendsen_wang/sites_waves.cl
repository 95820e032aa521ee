/*
 * Structure factor by clusters of lattices of sites (correlate.h), after a sweep. Dimension 1 is
 * the member.
 *
 * waves[member][site][SW_SITE_WAVES], two words each: sums over a cluster, at its root, of cos and
 * sin of the wave, of unit vectors times |s.r|, and then of |s.r| alone. They are 0 before
 * sw_site_waves, and again after sw_site_wave_roots, which adds their squares to
 * sums[sample][member][SW_SITE_POWERS][SW_WAVE_LIMBS]: of both, and of the last.
 */
#define SW_PLACES 8192u
#include "swendsen_wang/sites_leads.h"
#include "swendsen_wang/wave_sums.h"

#define SW_ALONG (SW_LZ > 1u ? SW_TZ : SW_TY) /* sites of a tile along the wave */
#define SW_LAST_SIDE (SW_LZ > 1u ? SW_LZ : SW_LY)
#if SW_MODEL == SW_MODEL_POTTS
#define SW_SITE_WAVES 2u
#define SW_SITE_POWERS 1u
#else
#define SW_SITE_WAVES 3u
#define SW_SITE_POWERS 2u
#endif

__kernel SW_TILE_GROUP void sw_site_waves(__global const sw_word *spins,
                                          __global const struct sw_site_member *members,
                                          __global const ushort *firsts,
                                          __global const uint *labels, ulong step,
                                          __global uint *waves) {
    __local ushort4 rows[SW_TILE / 4u];
    __local ushort list[SW_TILE];
    __local ushort *leads = (__local ushort *)rows;
    __local uint parts[SW_TILE], listed;
    __local int weights[SW_SITE_WAVES * SW_ALONG];
    const uint first = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const ulong plane = (ulong)index * SW_N;
    const uint corner = SW_LZ > 1u ? sw_tile_site_of(0u).z : sw_tile_site_of(0u).y;
#if SW_MODEL != SW_MODEL_POTTS
    const struct sw_site_member m = members[index];
    const sw_common common = SW_STEP_OF(&m, step);
    __global const sw_word *own = spins + SW_COMPONENTS * plane;
#endif
    for (uint k = first; k < SW_SITE_WAVES * SW_ALONG; k += SW_GROUP) {
        const uint at = corner + k % SW_ALONG;
        weights[k] = k / SW_ALONG < 2u
                         ? sw_wave_weight(at < SW_LAST_SIDE ? at : 0u, SW_LAST_SIDE, k / SW_ALONG)
                         : 1 << SW_WAVE_SHIFT;
    }
    sw_site_leads(firsts + plane, rows, list, &listed);
    for (uint wave = 0; wave < SW_SITE_WAVES; wave++) {
        for (uint n = first; n < SW_TILE; n += SW_GROUP)
            parts[n] = 0u;
        SW_SYNC;
        for (uint n = first; n < SW_TILE; n += SW_GROUP) {
            const struct sw_tile_site s = sw_tile_site_of(n);
            if (!s.inside)
                continue;
            int value = weights[wave * SW_ALONG + (SW_LZ > 1u ? s.tz : s.ty)];
#if SW_MODEL != SW_MODEL_POTTS
            value = sw_wave_part(sw_part(SW_SPIN(own, s.index), &common), value);
#endif
            SW_ADD_LOCAL(&parts[leads[n] < SW_FOUND ? leads[n] : n], (uint)value);
        }
        SW_SYNC;
        for (uint k = first; k < listed; k += SW_GROUP) {
            const uint n = list[k], value = parts[n];
            if (!value)
                continue;
            const uint root = sw_find_still(labels + plane, sw_tile_site_of(n).index);
            __global uint *to = waves + 2UL * (SW_SITE_WAVES * (plane + root) + wave);
            ERGO_ADD_LONG(to, value, value >> 31 ? ~0u : 0u);
        }
        SW_SYNC;
    }
}

__kernel void sw_site_wave_roots(__global uint *waves, __global uint *sums, uint sample) {
    __local uint total[SW_SITE_POWERS * SW_WAVE_WORDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_group_id(1);
    __global uint *mine = waves + 2UL * SW_SITE_WAVES * index * SW_N;
    struct sw_wave_sum powers[SW_SITE_POWERS];
    for (uint p = 0; p < SW_SITE_POWERS; p++)
        powers[p].low = powers[p].high = 0UL;
    for (uint k = item; k < SW_SITE_POWERS * SW_WAVE_WORDS; k += size)
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
        SW_WAVE_COLLECT(total + SW_WAVE_WORDS * p, powers[p]);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to =
        sums + (ulong)SW_SITE_POWERS * SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + index);
    for (uint k = 2u * item; k < SW_SITE_POWERS * SW_WAVE_WORDS; k += 2u * size)
        ERGO_ADD_LONG(to + k, total[k], total[k + 1u]);
}
