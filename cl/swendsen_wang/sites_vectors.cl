/* Unit vectors on lattices of sites.h: start, sums over sites. Dimension 1 is the member. */
#include "common/sum64.h"
#include "swendsen_wang/sites_spin.h"

/* random 0: all spins along the angle 0, or z. */
__kernel void sw_site_begin(__global sw_word *spins, __global const struct sw_site_member *members,
                            uint random) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (site >= SW_N)
        return;
    const struct ergo_words r =
        ergo_philox_words(members[index].first + site, 0u, 0u, ERGO_DRAW(SW_PURPOSE_START, 0),
                          members[index].key0, members[index].key1);
#if SW_MODEL == SW_MODEL_HEISENBERG
    const sw_spin s = random ? vector_start(r.x, r.y) : ergo_vector_of(0.0f, 0.0f, 1.0f);
#elif SW_MODEL == SW_MODEL_XY
    const sw_spin s = random ? r.x : 0u;
#else
    const sw_spin s = random ? sw_one_of(SW_Q, r.x, r.y) : 0u;
#endif
    sw_spin_store(spins + (ulong)index * SW_COMPONENTS * SW_SPAN, site, s);
}

/* A spin's angle; in space its components. */
#if SW_MODEL == SW_MODEL_CLOCK
#define SW_ANGLE(spins, site) vector_direction(SW_SPIN(spins, site), SW_Q)
#else
#define SW_ANGLE(spins, site) SW_SPIN(spins, site)
#endif

#if SW_MODEL == SW_MODEL_HEISENBERG
#define SW_OPPOSITE(s) ergo_vector_of(0.0f - (s).x, 0.0f - (s).y, 0.0f - (s).z)
#else
#define SW_OPPOSITE(angle) ((angle) + 0x80000000u)
#endif

/* What a component of the spin at (x, y, z) adds to the sums, `wave` being the wave's angle there.
 */
ERGO_INLINE void sw_site_add(long *sum, uint component, float s, uint wave) {
    sum[SW_NUMBER_TOTAL + component] += vector_fixed(s);
    sum[SW_NUMBER_WAVES + 2u * component] += vector_fixed(s * ergo_cos(wave));
    sum[SW_NUMBER_WAVES + 2u * component + 1u] += vector_fixed(s * ergo_sin(wave));
}

/* layer: of the lattice, at which a slab begins. */
ERGO_INLINE void sw_site_sum(__global const sw_word *own, uint site, uint layer, long *sum) {
    const uint x = site % SW_LX, rows = site / SW_LX, y = rows % SW_LY, z = rows / SW_LY;
    const uint wave = sw_wave((SW_FLAT ? y : z) + layer, SW_ALL_LAYERS);
    const sw_spin s = SW_ANGLE(own, site);
    uint around;
#if SW_MODEL == SW_MODEL_HEISENBERG
    sw_site_add(sum, 0u, s.x, wave);
    sw_site_add(sum, 1u, s.y, wave);
    sw_site_add(sum, 2u, s.z, wave);
#else
    sw_site_add(sum, 0u, ergo_cos(s), wave);
    sw_site_add(sum, 1u, ergo_sin(s), wave);
#if SW_LZ == 1 && SW_LATTICE == SW_LATTICE_SQUARE
    const uint right = sw_site_next(x, y, z, 0u, &around);
    const uint corner = sw_site_next(right % SW_LX, y, z, 1u, &around);
    sum[SW_NUMBER_VORTICES] += vector_vortex(s, SW_ANGLE(own, right), SW_ANGLE(own, corner),
                                             SW_ANGLE(own, sw_site_next(x, y, z, 1u, &around)));
#endif
#endif
    for (uint d = 0; d < SW_DIRECTIONS; d++) {
        if (!sw_site_owns(x, y, z, d))
            continue;
        const sw_spin next = SW_ANGLE(own, sw_site_next(x, y, z, d, &around));
        const sw_spin t = sw_site_turns(around) ? SW_OPPOSITE(next) : next;
#if SW_MODEL == SW_MODEL_HEISENBERG
        sum[SW_NUMBER_BONDS] += vector_fixed(ergo_dot(s, t));
        sum[SW_NUMBER_CURRENTS + 3u * d] += vector_cross(s.y, s.z, t.y, t.z);
        sum[SW_NUMBER_CURRENTS + 3u * d + 1u] += vector_cross(s.z, s.x, t.z, t.x);
        sum[SW_NUMBER_CURRENTS + 3u * d + 2u] += vector_cross(s.x, s.y, t.x, t.y);
#else
        sum[SW_NUMBER_BONDS] += vector_fixed(ergo_cos(t - s));
        sum[SW_NUMBER_CURRENTS + 3u * d] += vector_fixed(ergo_sin(t - s));
#endif
    }
}

/* sums[sample][member][SW_NUMBERS][2], two words a number. */
__kernel void sw_site_sums(__global const sw_word *spins, __global const struct sw_site_member *m,
                           __global uint *sums, uint sample) {
    __local uint part[2 * SW_NUMBERS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    __global const sw_word *own = spins + (ulong)index * SW_COMPONENTS * SW_SPAN;
    const uint layer = m[index].first / SW_LAYER;
    long sum[SW_NUMBERS];
    for (uint k = item; k < 2u * SW_NUMBERS; k += size)
        part[k] = 0u;
    for (uint k = 0; k < SW_NUMBERS; k++)
        sum[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = (ulong)group * size + item; at < SW_N; at += (ulong)groups * size)
        sw_site_sum(own, (uint)at, layer, sum);
    for (uint k = 0; k < SW_NUMBERS; k++)
        ERGO_ADD_LONG(part + 2u * k, (uint)sum[k], (uint)((ulong)sum[k] >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to = sums + 2UL * SW_NUMBERS * ((ulong)sample * members + index);
    for (uint k = item; k < SW_NUMBERS; k += size)
        ERGO_ADD_LONG(to + 2u * k, part[2u * k], part[2u * k + 1u]);
}
