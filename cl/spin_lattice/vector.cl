/* Spins that are unit vectors: entry points. vector_sites.h has the options and the layout. */
#include "common/sum64.h"
#include "spin_lattice/vector_sites.h"

/* Dimension 0: sites, in natural order; 1: members. */
__kernel void vector_start_all(__global vector_word *spins,
                               __global const struct vector_member *members, uint random) {
    const uint site = (uint)get_global_id(0), member = (uint)get_global_id(1);
    if (site >= VECTOR_SITES)
        return;
    const uint row = site / VECTOR_LX, x = site - row * VECTOR_LX;
    const uint z = row / VECTOR_LY, y = row - z * VECTOR_LY;
    const struct ergo_words w = ergo_philox_words(site, 0u, 0u, ERGO_DRAW(VECTOR_PURPOSE_START, 0),
                                                  members[member].key0, members[member].key1);
#if VECTOR_SPACE
    const vector_spin s = random ? vector_start(w.x, w.y) : ergo_vector_of(0.0f, 0.0f, 1.0f);
#else
    const vector_spin s = random ? vector_start_angle(w.x, VECTOR_Q) : 0u;
#endif
    vector_store(spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES, vector_place(x, y, z),
                 s);
}

/* The site of a work-item and its local field. Dimensions: sites of the colour in a row; y; z and
 * then members. */
#define VECTOR_SITE(spins, members, colour)                                                        \
    const uint i = (uint)get_global_id(0), y = (uint)get_global_id(1);                             \
    const uint zm = (uint)get_global_id(2), member = zm / VECTOR_LZ;                               \
    const uint z = zm - member * VECTOR_LZ;                                                        \
    if (i >= VECTOR_ROW || y >= VECTOR_LY)                                                         \
        return;                                                                                    \
    __global const struct vector_member *m = (members) + member;                                   \
    __global vector_word *own = (spins) + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;        \
    const uint x = vector_x(i, y, z, colour), at = vector_place(x, y, z);                          \
    const vector_spin old = vector_load(own, at);                                                  \
    const ergo_vector sum = vector_around(own, x, y, z)

#if VECTOR_SPACE
#define VECTOR_FIELD(m, sum)                                                                       \
    ergo_vector_of(vector_field(sum.x, m->coupling, 0.0f), vector_field(sum.y, m->coupling, 0.0f), \
                   vector_field(sum.z, m->coupling, m->field))
#else
#define VECTOR_FIELD(m, sum)                                                                       \
    ergo_vector_of(vector_field(sum.x, m->coupling, m->field),                                     \
                   vector_field(sum.y, m->coupling, 0.0f), 0.0f)
#endif

/* Metropolis, or heat bath (VECTOR_HEAT), of all sites of a colour. */
__kernel void vector_sweep(__global vector_word *spins,
                           __global const struct vector_member *members, uint colour, ulong step) {
    VECTOR_SITE(spins, members, colour);
    const ergo_vector h = VECTOR_FIELD(m, sum);
    const struct ergo_words w =
        ergo_philox_words(x + VECTOR_LX * (y + VECTOR_LY * z), (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(VECTOR_PURPOSE_SWEEP, 0), m->key0, m->key1);
#if !VECTOR_SPACE
    const vector_spin to = vector_turn(old, h.x, h.y, m->beta, m->width, VECTOR_Q, w);
#elif VECTOR_HEAT
    const vector_spin to = vector_heat(h, m->beta, w);
#else
    const vector_spin to = vector_tilt(old, h, m->beta, m->step, m->anisotropy, w);
#endif
    vector_store(own, at, to);
}

/* Over-relaxation of all sites of a colour. */
__kernel void vector_relax(__global vector_word *spins,
                           __global const struct vector_member *members, uint colour) {
    VECTOR_SITE(spins, members, colour);
    const ergo_vector h = VECTOR_FIELD(m, sum);
#if VECTOR_SPACE
    vector_store(own, at, ergo_unit_reflect(old, h));
#else
    vector_store(own, at, vector_relax_angle(old, h.x, h.y));
#endif
}

#define VECTOR_NUMBERS (VECTOR_SPACE ? VECTOR_NUMBERS_SPACE : VECTOR_NUMBERS_PLANE)

/* What the site at (x, y, z) and its bonds ahead add to a sample. */
ERGO_INLINE void vector_count(__global const vector_word *own, uint x, uint y, uint z, long *sum) {
    const vector_spin s = vector_load(own, vector_place(x, y, z));
#if VECTOR_SPACE
    sum[VECTOR_TOTAL] += vector_fixed(s.x);
    sum[VECTOR_TOTAL + 1] += vector_fixed(s.y);
    sum[VECTOR_TOTAL + 2] += vector_fixed(s.z);
    sum[VECTOR_SQUARES] += vector_fixed(s.z * s.z);
#else
    sum[VECTOR_TOTAL] += vector_fixed(ergo_cos(s));
    sum[VECTOR_TOTAL + 1] += vector_fixed(ergo_sin(s));
#if VECTOR_D == 2 && !VECTOR_TRIANGULAR
    const uint x1 = vector_next(x, VECTOR_LX), y1 = vector_next(y, VECTOR_LY);
    sum[VECTOR_SQUARES] += vector_vortex(s, own[vector_place(x1, y, z)],
                                         own[vector_place(x1, y1, z)], own[vector_place(x, y1, z)]);
#endif
#endif
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_DIRECTIONS; k++) {
        const vector_spin t = vector_load(own, vector_ahead(k, x, y, z));
#if VECTOR_SPACE
        sum[VECTOR_BONDS] += vector_fixed(ergo_dot(s, t));
        sum[VECTOR_CURRENTS + 3u * k] += vector_cross(s.y, s.z, t.y, t.z);
        sum[VECTOR_CURRENTS + 3u * k + 1u] += vector_cross(s.z, s.x, t.z, t.x);
        sum[VECTOR_CURRENTS + 3u * k + 2u] += vector_cross(s.x, s.y, t.x, t.y);
#else
        sum[VECTOR_BONDS] += vector_fixed(ergo_cos(t - s));
        sum[VECTOR_CURRENTS + k] += vector_fixed(ergo_sin(t - s));
#endif
    }
}

/* Add a sample's sums to `counts`. Dimension 0: any number of work-items; 1: members. */
__kernel void vector_measure(__global const vector_word *spins, __global uint *counts, uint sample,
                             __local uint *part) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint member = (uint)get_global_id(1), stride = (uint)get_global_size(0);
    __global const vector_word *own = spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;
    long sum[VECTOR_NUMBERS];
    for (uint k = item; k < 2u * VECTOR_NUMBERS; k += size)
        part[k] = 0u;
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_NUMBERS; k++)
        sum[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint site = (uint)get_global_id(0); site < VECTOR_SITES; site += stride) {
        const uint row = site / VECTOR_LX, z = row / VECTOR_LY;
        vector_count(own, site - row * VECTOR_LX, row - z * VECTOR_LY, z, sum);
    }
    ERGO_UNROLL
    for (uint k = 0; k < VECTOR_NUMBERS; k++)
        ERGO_ADD_LONG(part + 2u * k, (uint)sum[k], (uint)((ulong)sum[k] >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to =
        counts + 2u * VECTOR_NUMBERS * ((ulong)sample * get_global_size(1) + member);
    for (uint k = item; k < VECTOR_NUMBERS; k += size)
        ERGO_ADD_LONG(to + 2u * k, part[2u * k], part[2u * k + 1u]);
}

/* Sums of the spins in each plane of the last dimension. Dimension 0: a work-group for each plane;
 * 1: members. */
__kernel void vector_planes(__global const vector_word *spins, __global uint *counts, uint sample,
                            __local uint *part) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint plane = (uint)get_group_id(0), member = (uint)get_global_id(1);
    const uint planes = VECTOR_D > 2 ? VECTOR_LZ : VECTOR_LY, sites = VECTOR_SITES / planes;
    __global const vector_word *own = spins + (ulong)member * VECTOR_COMPONENTS * VECTOR_SITES;
    for (uint k = item; k < 6u; k += size)
        part[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    long a = 0, b = 0, c = 0;
    for (uint site = item; site < sites; site += size) {
        const uint row = site / VECTOR_LX, x = site - row * VECTOR_LX;
        const uint at = VECTOR_D > 2 ? vector_place(x, row, plane) : vector_place(x, plane, 0u);
        const vector_spin s = vector_load(own, at);
#if VECTOR_SPACE
        a += vector_fixed(s.x);
        b += vector_fixed(s.y);
        c += vector_fixed(s.z);
#else
        a += vector_fixed(ergo_cos(s));
        b += vector_fixed(ergo_sin(s));
#endif
    }
    ERGO_ADD_LONG(part, (uint)a, (uint)((ulong)a >> 32));
    ERGO_ADD_LONG(part + 2, (uint)b, (uint)((ulong)b >> 32));
    ERGO_ADD_LONG(part + 4, (uint)c, (uint)((ulong)c >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to =
        counts + 6u * (((ulong)sample * get_global_size(1) + member) * planes + plane);
    for (uint k = item; k < 6u; k += size)
        to[k] = part[k];
}
