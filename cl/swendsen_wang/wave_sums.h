/* Sums of squares of waves over clusters (correlate.h), exact: of a work-item in 128 bits, of a
 * group and of a sample in SW_WAVE_LIMBS numbers of two words, each the sum of a limb of 32 bits.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_WAVE_SUMS_H
#define ERGO_CL_SWENDSEN_WANG_WAVE_SUMS_H

#include "common/sum64.h"
#include "swendsen_wang/correlate.h"

struct sw_wave_sum {
    ulong low, high;
};

ERGO_INLINE void sw_wave_add(struct sw_wave_sum *sum, ulong value) {
    const ulong square = value * value;
    sum->low += square;
    sum->high += mul_hi(value, value) + (sum->low < square ? 1UL : 0UL);
}

/* A number of 32 bits with a sign, to a cluster's sum. */
#define SW_WAVE_ADD(words, value) ERGO_ADD_LONG((words), (value), (value) >> 31 ? ~0u : 0u)

#define SW_WAVE_WORDS (2u * SW_WAVE_LIMBS)

/* Sums of a group: each limb in 32 places, so that the work-items of a warp do not wait for each
 * other. 0 at first; a barrier between the two. */
#define SW_WAVE_LANES 32u
#define SW_WAVE_ALL (SW_WAVE_LANES * SW_WAVE_WORDS)

/* Of a work-item; the first `limbs` limbs, where the others are 0. */
ERGO_INLINE void sw_wave_collect(__local uint *total, struct sw_wave_sum sum, uint item,
                                 uint limbs) {
    __local uint *lane = total + 2u * (item % SW_WAVE_LANES);
    ERGO_ADD_LONG(lane, (uint)sum.low, 0u);
    ERGO_ADD_LONG(lane + 2u * SW_WAVE_LANES, (uint)(sum.low >> 32), 0u);
    if (limbs > 2u) {
        ERGO_ADD_LONG(lane + 4u * SW_WAVE_LANES, (uint)sum.high, 0u);
        ERGO_ADD_LONG(lane + 6u * SW_WAVE_LANES, (uint)(sum.high >> 32), 0u);
    }
}

/* To a sample's. */
ERGO_INLINE void sw_wave_give(__global uint *to, __local const uint *total, uint item, uint size,
                              uint limbs) {
    for (uint k = item; k < limbs; k += size) {
        ulong all = 0UL;
        for (uint lane = 0; lane < SW_WAVE_LANES; lane++) {
            __local const uint *at = total + 2u * (SW_WAVE_LANES * k + lane);
            all += (ulong)at[1] << 32 | at[0];
        }
        ERGO_ADD_LONG(to + 2u * k, (uint)all, (uint)(all >> 32));
    }
}

/* Tiles have fewer than 2^15 sites: sums of their squares are below 2^62. */
#define SW_WAVE_TILE_LIMBS 2u

#endif
