/* Eight pairs at once, for CPUs, with the same arithmetic as lj_distance2 and lj_pair. */
#ifndef ERGO_CL_LJ_GCMC_PAIRS8_H
#define ERGO_CL_LJ_GCMC_PAIRS8_H

#include "lj_gcmc/core.h"

#if defined(LJ_SLOTTED) || defined(LJ_VECTOR)
#ifdef LJ_MIE_N
LJ_DEFINE_POWER(lj_power8, float8)
#endif

/* Contacts per lane: the outer shell in the lower 16 bits, the inner one above; of a mixture in
 * their own unit. */
#ifdef LJ_SPECIES
typedef long8 lj_lanes;
#else
typedef int8 lj_lanes;
#endif

struct lj_sum8 {
    long8 energy, virial;
    lj_lanes contacts;
    uint overlap;
};

/* ergo_inverse and ergo_rsqrt of eight numbers. */
ERGO_INLINE float8 lj_inverse8(float8 d) {
    float8 y = as_float8((uint8)(0x7EF311C7u) - as_uint8(d));
    y = fma(y, fma(-d, y, (float8)(1.0f)), y);
    y = fma(y, fma(-d, y, (float8)(1.0f)), y);
    return fma(y, fma(-d, y, (float8)(1.0f)), y);
}

#ifdef LJ_MIE_N
ERGO_INLINE float8 lj_rsqrt8(float8 d) {
    const float8 minus = d * (float8)(-0.5f);
    float8 y = as_float8((uint8)(0x5f375a86u) - (as_uint8(d) >> (uint8)(1u)));
    y = y * fma(minus * y, y, (float8)(1.5f));
    y = y * fma(minus * y, y, (float8)(1.5f));
    return y * fma(minus * y, y, (float8)(1.5f));
}
#endif

#ifdef LJ_SPECIES
/* The lanes whose particles are of species t. */
#define LJ_LANES_OF(ux, t) ((as_int8(ux) & (int8)((int)LJ_SPECIES_MASK)) == (int8)((int)(t)))

/* Add the pairs of `at` that are near, as lj_pair_at. */
ERGO_INLINE void lj_mixed8(float8 r2, int8 near, uint8 ux, lj_position at,
                           const struct lj_member *m, struct lj_sum8 *sum) {
    float8 inverse = (float8)(0.0f), strength = (float8)(0.0f);
    ERGO_UNROLL
    for (uint t = 0u; t < LJ_SPECIES; t++) {
        const int8 is = LJ_LANES_OF(ux, t);
        __global const uint4 *rule = lj_rule(m, at.x, t);
        const uint4 whole = rule[0], both = rule[1], reach = rule[2];
        const int8 shells = r2 >= (float8)(as_float(reach.w)),
                   outer = r2 >= (float8)(as_float(reach.z));
        inverse = as_float8(as_int8(inverse) | (is & (int8)((int)both.z)));
        strength = as_float8(as_int8(strength) | (is & (int8)((int)both.w)));
        sum->energy -= convert_long8(near & is) & (long8)(lj_long_of(whole.x, whole.y));
        sum->contacts +=
            (convert_long8(near & is & outer) & (long8)(lj_long_of(whole.z, whole.w))) +
            (convert_long8(near & is & shells & ~outer) & (long8)(lj_long_of(both.x, both.y)));
    }
    const float8 d = as_float8((as_int8(r2 * inverse) & near) | (as_int8((float8)(1e9f)) & ~near));
    const float8 s2 = lj_inverse8(d), s6 = s2 * s2 * s2, s12 = s6 * s6;
    const long8 a = convert_long8(s12 * strength), b = convert_long8(s6 * strength);
    sum->virial += a + a - b;
    sum->energy += a - b;
}
#endif

/* Add the pairs of `at` with the eight places in ux, uy, uz that are set in `mask` and within the
 * cutoff. If one is inside the core, `overlap` is set and the sums have no meaning. */
ERGO_INLINE void lj_pairs8(uint8 ux, uint8 uy, uint8 uz, lj_position at, int8 mask,
                           const struct lj_member *m, struct lj_sum8 *sum) {
    const float8 x = convert_float8(as_int8(ux - (uint8)(at.x))) * (float8)(m->scale[0]);
    const float8 y = convert_float8(as_int8(uy - (uint8)(at.y))) * (float8)(m->scale[1]);
    const float8 z = convert_float8(as_int8(uz - (uint8)(at.z))) * (float8)(m->scale[2]);
    const float8 r2 = fma(z, z, fma(y, y, x * x));
#ifdef LJ_SPECIES
    float8 reach = (float8)(0.0f), core = (float8)(0.0f);
    ERGO_UNROLL
    for (uint t = 0u; t < LJ_SPECIES; t++) {
        const int8 is = LJ_LANES_OF(ux, t);
        const uint4 row = lj_rule(m, at.x, t)[2];
        reach = as_float8(as_int8(reach) | (is & (int8)((int)row.y)));
        core = as_float8(as_int8(core) | (is & (int8)((int)row.x)));
    }
    const int8 near = (r2 < reach) & mask, overlap = (r2 < core) & near;
#else
    const int8 near = (r2 < (float8)(m->cutoff2)) & mask,
               overlap = (r2 < (float8)(m->core2)) & near;
#endif
    if (!any(near))
        return;
    if (any(overlap)) {
        sum->overlap = 1u;
        return;
    }
#ifdef LJ_SPECIES
    lj_mixed8(r2, near, ux, at, m, sum);
#else
#ifdef LJ_TABLE /* lane by lane: each looks up a cell of its own */
    float apart[8];
    int inside[8];
    vstore8(r2, 0, apart);
    vstore8(near, 0, inside);
    long energies[8], virials[8];
    for (uint k = 0u; k < 8u; k++) {
        energies[k] = virials[k] = 0;
        if (inside[k])
            lj_pair(apart[k], m, &energies[k], &virials[k]);
    }
    sum->energy += vload8(0, energies);
    sum->virial += vload8(0, virials);
#else
    /* Lanes outside the cutoff get a distance so large that they add nothing. Masks, because PoCL's
     * compiler makes select() slow. */
    const float8 d = as_float8((as_int8(r2) & near) | (as_int8((float8)(1e6f)) & ~near));
    const float8 s2 = lj_inverse8(d);
#ifdef LJ_MIE_N
    const float8 s1 = lj_rsqrt8(d);
    const long8 a = convert_long8(lj_power8(s2, s1, LJ_MIE_N) * (float8)(0x1p30f)),
                b = convert_long8(lj_power8(s2, s1, LJ_MIE_M) * (float8)(0x1p30f));
    sum->virial += ((long8)((long)LJ_MIE_N) * a - (long8)((long)LJ_MIE_M) * b) >> (ulong8)(5UL);
#else
    const float8 s6 = s2 * s2 * s2, s12 = s6 * s6;
    const long8 a = convert_long8(s12 * (float8)(0x1p30f)),
                b = convert_long8(s6 * (float8)(0x1p30f));
    sum->virial += a + a - b;
#endif
    sum->energy += a - b - (convert_long8(near) & (long8)(m->shift));
#endif
    const int8 outer = r2 >= (float8)(m->contact2[0]), shells = r2 >= (float8)(m->contact2[1]);
    sum->contacts += near & ((outer & (int8)(1)) | (shells & ~outer & (int8)(0x10000)));
#endif
}

ERGO_INLINE long lj_total8(long8 v) {
    const long4 four = v.lo + v.hi;
    const long2 two = four.lo + four.hi;
    return two.x + two.y;
}

#ifdef LJ_SPECIES
#define lj_contacts8(v) lj_total8(v)
#else
/* The sum of the lanes, as a word of lj_contact. */
ERGO_INLINE long lj_contacts8(int8 v) {
    const uint8 u = as_uint8(v);
    const uint8 outer = u & (uint8)(0xffffu), inner = u >> (uint8)(16u);
    const uint4 four = outer.lo + outer.hi, above = inner.lo + inner.hi;
    const ulong low = four.x + four.y + four.z + four.w;
    const ulong high = above.x + above.y + above.z + above.w;
    return (long)(high << 32 | low);
}
#endif

/* The lanes below `count`. */
ERGO_INLINE int8 lj_below8(uint count) {
    return (int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)((int)count);
}
#endif

#endif
