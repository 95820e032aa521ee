/* Sums over spins: unequal bonds, and sites in states 1 .. q - 1. */
#ifndef ERGO_CL_SWENDSEN_WANG_SPINS_H
#define ERGO_CL_SWENDSEN_WANG_SPINS_H

#include "swendsen_wang/core.h"

/* Sums that each work-item keeps for itself: unequal bonds, then states. With many states only
 * bonds; the states are counted in local memory. */
#if SW_Q <= 8
#define SW_SPIN_SUMS SW_Q
#else
#define SW_SPIN_SUMS 1
#endif

struct sw_spins {
    uint sums[SW_SPIN_SUMS];
};

ERGO_INLINE void sw_spins_begin(struct sw_spins *item) {
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        item->sums[k] = 0u;
}

/* Add a word of column i. spins[plane]: its spins. side, under: bonds between equal neighbours.
 * fields[SW_Q]: counts of states, if there are too many for each work-item. */
ERGO_INLINE void sw_spins_add(SW_SHAPE struct sw_spins *item, __local uint *fields,
                              const uint *spins, uint i, uint side, uint under) {
    const uint valid = sw_valid(SW_HERE i);
    item->sums[0] += popcount(valid & ~side) + popcount(valid & ~under);
#if SW_Q <= 8
    for (uint k = 1; k < SW_Q; k++) {
        uint match = valid;
        for (uint p = 0; p < SW_PLANES; p++)
            match &= k >> p & 1u ? spins[p] : ~spins[p];
        item->sums[k] += popcount(match);
    }
    (void)fields;
#else
    for (uint b = 0; b <= sw_last_bit(SW_HERE i); b++) {
        uint k = 0u;
        for (uint p = 0; p < SW_PLANES; p++)
            k |= (spins[p] >> b & 1u) << p;
        if (k)
            atomic_add(&fields[k], 1u);
    }
#endif
}

/* Add a work-group's sums to `sums`, its slot. */
ERGO_INLINE void sw_spins_end(__global uint *sums, __local const uint *fields, uint item,
                              uint size) {
    for (uint f = item; f < SW_Q; f += size)
        if (fields[f])
            atomic_add(&sums[f], fields[f]);
}

#endif
