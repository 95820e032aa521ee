/*
 * Sums over clusters, exact in integers: the largest cluster, a histogram, sum n^2 and sum n^4. A
 * work-group first adds in local memory, then to one of SW_SUM_SLOTS slots in global memory.
 *
 * fields[SW_CLUSTER_FIELDS]: see params.h. Most clusters are small; of these only the numbers by
 * size are kept. Sums of powers are kept in limbs of 16 bits, and each limb is summed by itself. A
 * work-group counts fewer than 2^16 clusters larger than SW_SMALL, so no limb overflows. It carries
 * one limb further before it adds to global memory, so 2^15 groups may add to one slot.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_CLUSTERS_H
#define ERGO_CL_SWENDSEN_WANG_CLUSTERS_H

#include "swendsen_wang/params.h"

ERGO_INLINE void sw_count_begin(__local uint *fields, uint item, uint size) {
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size)
        fields[f] = 0u;
}

/* The field that counts clusters of n sites; n = 0 means 2^32. */
ERGO_INLINE uint sw_count_at(uint n) {
    return n - 1u < SW_SMALL ? SW_FIELD_SMALL + n - 1u
                             : SW_FIELD_BINS + (n ? 31u - ERGO_CLZ(n) : 32u);
}

/* add value to a sum whose lowest limb is limbs[0] */
ERGO_INLINE void sw_count_limbs(__local uint *limbs, ulong value) {
    for (uint l = 0; l < 4u && value; l++, value >>= 16)
        if ((uint)value & 0xffffu)
            atomic_add(&limbs[l], (uint)value & 0xffffu);
}

/* Count a cluster of n sites; n = 0 means 2^32. */
ERGO_INLINE void sw_count(__local uint *fields, uint n) {
    const ulong square = (ulong)n * n;
    atomic_inc(&fields[sw_count_at(n)]);
    if (n - 1u < SW_SMALL)
        return;
    atomic_max(&fields[SW_FIELD_LARGEST], n);
    if (n - 1u < 0xffffu) { /* nearly all clusters: no branch for each limb */
        const ulong fourth = square * square;
        for (uint l = 0; l < 2u; l++)
            atomic_add(&fields[SW_FIELD_SQUARES + l], (uint)(square >> 16 * l) & 0xffffu);
        for (uint l = 0; l < 4u; l++)
            atomic_add(&fields[SW_FIELD_FOURTHS + l], (uint)(fourth >> 16 * l) & 0xffffu);
        return;
    }
    sw_count_limbs(fields + SW_FIELD_SQUARES, square);
    sw_count_limbs(fields + SW_FIELD_FOURTHS, square * square);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, mul_hi(square, square));
}

/* The same, but clusters larger than SW_SMALL are only listed. They are few and take long, so the
 * work-items of a group later share them out. */
ERGO_INLINE void sw_count_or_list(__local uint *fields, __local uint *list, __local uint *listed,
                                  uint n) {
    if (n - 1u < SW_SMALL)
        atomic_inc(&fields[SW_FIELD_SMALL + n - 1u]);
    else
        list[atomic_inc(listed)] = n;
}

/* Sums of one work-item. There are at most 2^32 sites, so the sums overflow only if one cluster has
 * all of them, and then its size is 0. */
struct sw_item_sums {
    ulong squares, fourths, fourths_high;
    uint largest;
};

ERGO_INLINE void sw_count_by_item(struct sw_item_sums *sums, __local uint *fields, uint n) {
    const ulong square = (ulong)n * n, fourth = square * square;
    atomic_inc(&fields[SW_FIELD_BINS + (n ? 31u - ERGO_CLZ(n) : 32u)]);
    sums->largest = n > sums->largest ? n : sums->largest;
    sums->squares += square;
    sums->fourths += fourth;
    sums->fourths_high += mul_hi(square, square) + (sums->fourths < fourth ? 1UL : 0UL);
}

ERGO_INLINE void sw_count_by_item_end(const struct sw_item_sums *sums, __local uint *fields) {
    if (sums->largest)
        atomic_max(&fields[SW_FIELD_LARGEST], sums->largest);
    sw_count_limbs(fields + SW_FIELD_SQUARES, sums->squares);
    sw_count_limbs(fields + SW_FIELD_FOURTHS, sums->fourths);
    sw_count_limbs(fields + SW_FIELD_FOURTHS + 4, sums->fourths_high);
}

/* Add a group's fields to `sums`, its slot for this sample and member. */
ERGO_INLINE void sw_count_end(__global uint *sums, __local const uint *fields, uint item,
                              uint size) {
    for (uint f = item; f < SW_CLUSTER_FIELDS; f += size) {
        uint value = fields[f];
        if (f >= SW_FIELD_SQUARES && f < SW_FIELD_SMALL) {
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
