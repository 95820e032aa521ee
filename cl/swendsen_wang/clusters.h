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

/* Sums of a work-item alone. The sites are 2^32 at most, so that these do not overflow but where
 * one cluster has them all, and its size is 0. */
struct sw_own_sums {
    ulong squares, fourths, fourths_high;
    uint largest;
};

ERGO_INLINE void sw_count_own(struct sw_own_sums *own, __local uint *fields, uint n) {
    const ulong square = (ulong)n * n, fourth = square * square;
    atomic_inc(&fields[SW_FIELD_BINS + (n ? 31u - ERGO_CLZ(n) : 32u)]);
    own->largest = n > own->largest ? n : own->largest;
    own->squares += square;
    own->fourths += fourth;
    own->fourths_high += mul_hi(square, square) + (own->fourths < fourth ? 1UL : 0UL);
}

ERGO_INLINE void sw_count_own_end(const struct sw_own_sums *own, __local uint *fields) {
    if (own->largest)
        atomic_max(&fields[SW_FIELD_LARGEST], own->largest);
    sw_count_limbs(fields + SW_FIELD_SQUARES, own->squares);
    sw_count_limbs(fields + SW_FIELD_FOURTHS, own->fourths);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, own->fourths_high);
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
