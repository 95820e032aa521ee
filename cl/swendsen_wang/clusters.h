/*
 * Sums over clusters, exact in integers: the largest, a histogram, sum n^2 and sum n^4. First in a
 * work-group's local memory, then to one of SW_SUM_SLOTS places in global memory.
 *
 * fields[SW_CLUSTER_FIELDS] (params.h); small[n - 1]: clusters of n sites, n <= SW_SMALL, of which
 * there are most. Sums of powers are kept in limbs of 16 bits, each summed by itself: a group
 * counts fewer than 2^16 clusters beyond SW_SMALL, so no limb overflows; and once carries have gone
 * one limb further, 2^15 groups may add theirs in one place.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_CLUSTERS_H
#define ERGO_CL_SWENDSEN_WANG_CLUSTERS_H

#include "swendsen_wang/core.h"

#define SW_SMALL 32u

ERGO_INLINE void sw_count_begin(__local uint *fields, __local uint *small, uint item, uint size) {
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size)
        fields[f] = 0u;
    for (uint n = item; n < SW_SMALL; n += size)
        small[n] = 0u;
}

/* value 2^(16 first) to the limbs of a sum */
ERGO_INLINE void sw_count_limbs(__local uint *limbs, ulong value) {
    for (uint l = 0; l < 4u && value; l++, value >>= 16)
        if ((uint)value & 0xffffu)
            atomic_add(&limbs[l], (uint)value & 0xffffu);
}

/* A cluster of n sites; 0 is 2^32. */
ERGO_INLINE void sw_count(__local uint *fields, __local uint *small, uint n) {
    if (n - 1u < SW_SMALL) {
        atomic_inc(&small[n - 1u]);
        return;
    }
    const ulong square = (ulong)n * n;
    atomic_max(&fields[SW_FIELD_LARGEST], n);
    atomic_inc(&fields[SW_FIELD_BINS + (n ? 31u - ERGO_CLZ(n) : 32u)]);
    sw_count_limbs(fields + SW_FIELD_SQUARES, square);
    sw_count_limbs(fields + SW_FIELD_FOURTHS, square * square);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, mul_hi(square, square));
}

/* Two clusters that have been counted turn out to be one. Whatever the order in which the parts of
 * a cluster come, what remains in the end is the whole. a == 0: there was only one. */
ERGO_INLINE void sw_count_merge(__local uint *fields, uint a, uint b) {
    const uint sum = a + b;
    if (a == 0u)
        return;
    const ulong twice = 2UL * a * b, square = (ulong)a * a, rest = 3UL * a * b + 2UL * b * b;
    atomic_max(&fields[SW_FIELD_LARGEST], sum);
    atomic_dec(&fields[SW_FIELD_BINS + 31u - ERGO_CLZ(a)]);
    atomic_dec(&fields[SW_FIELD_BINS + 31u - ERGO_CLZ(b)]);
    atomic_inc(&fields[SW_FIELD_BINS + (sum ? 31u - ERGO_CLZ(sum) : 32u)]);
    /* (a + b)^2 - a^2 - b^2; (a + b)^4 - a^4 - b^4 = 2ab (2a^2 + 3ab + 2b^2) */
    sw_count_limbs(fields + SW_FIELD_SQUARES, twice);
    sw_count_limbs(fields + SW_FIELD_FOURTHS, 2UL * twice * square);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, mul_hi(2UL * twice, square));
    sw_count_limbs(fields + SW_FIELD_FOURTHS, twice * rest);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, mul_hi(twice, rest));
}

/* Between barriers: small clusters to the fields. */
ERGO_INLINE void sw_count_small(__local uint *fields, __local const uint *small, uint item,
                                uint size) {
    for (uint k = item; k < SW_SMALL; k += size) {
        const uint n = k + 1u, clusters = small[k];
        if (!clusters)
            continue;
        atomic_max(&fields[SW_FIELD_LARGEST], n);
        atomic_add(&fields[SW_FIELD_BINS + 31u - ERGO_CLZ(n)], clusters);
        sw_count_limbs(fields + SW_FIELD_SQUARES, (ulong)(n * n) * clusters);
        sw_count_limbs(fields + SW_FIELD_FOURTHS, (ulong)(n * n) * (n * n) * clusters);
    }
}

/* sums: of this sample, member and place. */
ERGO_INLINE void sw_count_end(__global uint *sums, __local const uint *fields, uint item,
                              uint size) {
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size) {
        uint value = fields[f];
        if (f >= SW_FIELD_SQUARES) {
            value &= 0xffffu;
            if (f != SW_FIELD_SQUARES && f != SW_FIELD_FOURTHS)
                value += fields[f - 1u] >> 16;
        }
        if (value && f == SW_FIELD_LARGEST)
            atomic_max(&sums[f], value);
        else if (value)
            atomic_add(&sums[f], value);
    }
}

#endif
