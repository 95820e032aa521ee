/*
 * The energy that one particle has by what does not move: the walls of a slit (LJ_SLIT), a grid of
 * values (LJ_VOXELS), atoms (LJ_FROZEN, the number of their species). Each is a sum of integers, so
 * it does not matter which work-items add them up. Where one of them is above 100 T, or an atom's
 * core is, there are no particles. Part of gather.h.
 */
#ifndef ERGO_CL_LJ_GCMC_FIELD_H
#define ERGO_CL_LJ_GCMC_FIELD_H

#ifdef LJ_FIELD

/* u, in units of the fixed point, as a whole number; *core: it is above 100 T. */
ERGO_INLINE lj_long lj_field_of(float u, const struct lj_member *m, uint *core) {
    if (u * m->beta4 > 100.0f) {
        *core = 1u;
        return 0;
    }
    return (lj_long)u;
}

#ifdef LJ_SLIT
#ifdef LJ_TABLE
#define LJ_SLIT_AT (1u + LJ_PAIR_CELLS)
#else
#define LJ_SLIT_AT 0u
#endif
ERGO_INLINE lj_long lj_slit(lj_position p, const struct lj_member *m, uint *core) {
    const float t = (float)(p.z << LJ_FIELD_BITS >> LJ_FIELD_BITS) *
                    (1.0f / (float)(1u << (32 - LJ_FIELD_BITS)));
    const float4 c =
        ((__global const float4 *)m->tables)[LJ_SLIT_AT + (p.z >> (32 - LJ_FIELD_BITS))];
    return lj_field_of(fma(fma(fma(c.w, t, c.z), t, c.y), t, c.x) * m->field, m, core);
}
#endif

#ifdef LJ_VOXELS
/* From a at t = 0 to b at t = 1. Each end's share is rounded for itself, because the other end may
 * be a wall. */
ERGO_INLINE float lj_linear(float a, float b, float t) {
    return fma(t, b, fma(0.0f - t, a, a));
}

/* The points next to a coordinate, and its fraction between them. */
ERGO_INLINE float lj_voxel_of(uint p, uint n, uint *low, uint *high) {
    *low = mul_hi(p, n);
    *high = *low + 1u == n ? 0u : *low + 1u;
    return (float)(p * n >> 8) * 0x1p-24f;
}

ERGO_INLINE lj_long lj_voxels(lj_position p, const struct lj_member *m, uint *core) {
    __global const float *u =
        (__global const float *)((__global const float4 *)m->tables + LJ_VOXELS_AT);
    uint x[2], y[2], z[2];
    float lines[4];
    const float tx = lj_voxel_of(p.x, LJ_VOXELS_X, x, x + 1);
    const float ty = lj_voxel_of(p.y, LJ_VOXELS_Y, y, y + 1);
    const float tz = lj_voxel_of(p.z, LJ_VOXELS_Z, z, z + 1);
    ERGO_UNROLL
    for (uint k = 0u; k < 4u; k++) {
        const uint line = (x[k >> 1] * LJ_VOXELS_Y + y[k & 1u]) * LJ_VOXELS_Z;
        lines[k] = lj_linear(u[line + z[0]], u[line + z[1]], tz);
    }
    const float at =
        lj_linear(lj_linear(lines[0], lines[1], ty), lj_linear(lines[2], lines[3], ty), tx);
    return lj_field_of(at * m->voxels, m, core);
}
#endif

#ifdef LJ_FROZEN
#define LJ_FROZEN_CELLS ((uint)(LJ_FROZEN_X) * (LJ_FROZEN_Y) * (LJ_FROZEN_Z))

/* What makes a pair of a particle and an atom. */
struct lj_kind_of_atom {
    lj_long shift;
    float inverse, core2, strength;
};

ERGO_INLINE struct lj_kind_of_atom lj_atoms_of(const struct lj_member *m, uint species) {
    __global const uint4 *rows = (__global const uint4 *)m->tables + m->frozen + 2u * species;
    const uint4 row = rows[0];
    struct lj_kind_of_atom a;
    a.shift = (lj_long)((ulong)row.x | (ulong)row.y << 32);
    a.inverse = as_float(row.z);
    a.core2 = as_float(row.w);
    a.strength = as_float(rows[1].x);
    return a;
}

/* Adds the pairs of p with atoms first to last - 1 of a species; *overlap: p is in a core. cores:
 * only find that out. */
#ifdef LJ_SLOTTED
typedef long8 lj_atom_sum;
ERGO_INLINE void lj_frozen_run(__global const uint *places, uint first, uint last, lj_position p,
                               const struct lj_member *m, const struct lj_kind_of_atom *a,
                               uint cores, lj_atom_sum *energy, uint *overlap) {
    const float8 strength = (float8)(a->strength);
    for (uint i = first; i < last; i += 8u) {
        const uint8 ux = vload8(0, places + i), uy = vload8(0, places + LJ_FROZEN_ATOMS + i),
                    uz = vload8(0, places + 2u * LJ_FROZEN_ATOMS + i);
        const float8 x = convert_float8(as_int8(ux - (uint8)(p.x))) * (float8)(m->scale[0]);
        const float8 y = convert_float8(as_int8(uy - (uint8)(p.y))) * (float8)(m->scale[1]);
        const float8 z = convert_float8(as_int8(uz - (uint8)(p.z))) * (float8)(m->scale[2]);
        const float8 r2 = fma(z, z, fma(y, y, x * x));
        const int8 mask = lj_below8(last - i), near = (r2 < (float8)(m->cutoff2)) & mask;
        if (any((r2 < (float8)(a->core2)) & mask)) {
            *overlap = 1u;
            return;
        }
        if (cores || !any(near))
            continue;
        /* lanes outside the cutoff get a distance so large that they add nothing */
        const float8 d = as_float8((as_int8(r2 * (float8)(a->inverse)) & near) |
                                   (as_int8((float8)(1e9f)) & ~near));
        const float8 s2 = lj_inverse8(d);
#ifdef LJ_MIE_N
        const float8 s1 = lj_rsqrt8(d);
        *energy += convert_long8(lj_power8(s2, s1, LJ_MIE_N) * strength) -
                   convert_long8(lj_power8(s2, s1, LJ_MIE_M) * strength);
#else
        const float8 s6 = s2 * s2 * s2;
        *energy += convert_long8(s6 * s6 * strength) - convert_long8(s6 * strength);
#endif
        *energy -= convert_long8(near) & (long8)(a->shift);
    }
}
#else
typedef lj_long lj_atom_sum;
ERGO_INLINE void lj_frozen_run(__global const uint *places, uint first, uint last, lj_position p,
                               const struct lj_member *m, const struct lj_kind_of_atom *a,
                               uint cores, lj_atom_sum *energy, uint *overlap) {
    for (uint i = first; i < last; i++) {
        const lj_position q =
            (uint4)(places[i], places[LJ_FROZEN_ATOMS + i], places[2u * LJ_FROZEN_ATOMS + i], 0u);
        const float r2 = lj_distance2(q, p, m->scale);
        if (r2 < a->core2)
            *overlap = 1u;
        if (cores || r2 < a->core2 || r2 >= m->cutoff2)
            continue;
        const float d = r2 * a->inverse, s2 = ergo_inverse(d);
#ifdef LJ_MIE_N
        const float s1 = ergo_rsqrt(d);
        *energy += (lj_long)(lj_power(s2, s1, LJ_MIE_N) * a->strength) -
                   (lj_long)(lj_power(s2, s1, LJ_MIE_M) * a->strength) - a->shift;
#else
        const float s6 = s2 * s2 * s2;
        *energy += (lj_long)(s6 * s6 * a->strength) - (lj_long)(s6 * a->strength) - a->shift;
#endif
    }
}
#endif

/* A work-item's share of the pairs with all atoms within the cutoff. Cells along x follow each
 * other: a run of them is read at once, in two pieces where it crosses the box's edge. */
ERGO_INLINE void lj_frozen_share(lj_position p, const struct lj_member *m, uint cores, uint item,
                                 uint items, struct lj_sum *sum) {
    __global const uint *starts =
        (__global const uint *)((__global const uint4 *)m->tables + LJ_FROZEN_AT);
    __global const uint *places = starts + LJ_FROZEN * (LJ_FROZEN_CELLS + 1u);
    const int reach = cores ? LJ_FROZEN_NEAR : LJ_FROZEN_REACH;
    const int cx = (int)mul_hi(p.x, (uint)LJ_FROZEN_X), cy = (int)mul_hi(p.y, (uint)LJ_FROZEN_Y),
              cz = (int)mul_hi(p.z, (uint)LJ_FROZEN_Z);
    const int wide = 2 * reach + 1;
    const uint wy = wide < LJ_FROZEN_Y ? (uint)wide : LJ_FROZEN_Y,
               wz = wide < LJ_FROZEN_Z ? (uint)wide : LJ_FROZEN_Z;
    /* where the run begins and ends, and its second piece */
    int low = 0, high = LJ_FROZEN_X, low2 = 0, high2 = 0;
    if (wide < LJ_FROZEN_X) {
        low = cx - reach;
        high = cx + reach + 1;
        low2 = low < 0 ? low + LJ_FROZEN_X : 0;
        high2 = low < 0 ? LJ_FROZEN_X : high > LJ_FROZEN_X ? high - LJ_FROZEN_X : 0;
        low = low < 0 ? 0 : low;
        high = high > LJ_FROZEN_X ? LJ_FROZEN_X : high;
    }
    lj_atom_sum energy = (lj_atom_sum)(0);
    /* only a search for cores ends at one: a sum of pairs may come to a work-item that has found
     * some other move's */
    for (uint run = item; run < LJ_FROZEN * wz * wy && !(cores && sum->overlap); run += items) {
        const uint y = run % wy, z = run / wy % wz, species = run / wy / wz;
        const int row = (lj_wrap(cz + (int)z - (int)(wz / 2u), LJ_FROZEN_Z) * LJ_FROZEN_Y +
                         lj_wrap(cy + (int)y - (int)(wy / 2u), LJ_FROZEN_Y)) *
                        LJ_FROZEN_X;
        __global const uint *begin = starts + species * (LJ_FROZEN_CELLS + 1u) + (uint)row;
        const struct lj_kind_of_atom a = lj_atoms_of(m, species);
        lj_frozen_run(places, begin[low], begin[high], p, m, &a, cores, &energy, &sum->overlap);
        lj_frozen_run(places, begin[low2], begin[high2], p, m, &a, cores, &energy, &sum->overlap);
    }
#ifdef LJ_SLOTTED
    sum->energy += lj_total8(energy);
#else
    sum->energy += energy;
#endif
}
#endif

/* A work-item's share of a particle's energy at p. */
ERGO_INLINE void lj_field_share(lj_position p, const struct lj_member *m, uint cores, uint item,
                                uint items, struct lj_sum *sum) {
    lj_long energy = 0;
    if (item == 0u) {
#ifdef LJ_SLIT
        energy += lj_slit(p, m, &sum->overlap);
#endif
#ifdef LJ_VOXELS
        energy += lj_voxels(p, m, &sum->overlap);
#endif
        sum->energy += cores ? 0 : energy;
    }
#ifdef LJ_FROZEN
    lj_frozen_share(p, m, cores, item, items, sum);
#else
    (void)items;
#endif
}

/* All of it; *core: it is not finite. */
ERGO_INLINE lj_long lj_field(lj_position p, const struct lj_member *m, uint *core) {
    struct lj_sum sum;
    sum.energy = 0;
    sum.overlap = 0u;
    lj_field_share(p, m, 0u, 0u, 1u, &sum);
    *core |= sum.overlap;
    return sum.energy;
}
#endif

#endif
