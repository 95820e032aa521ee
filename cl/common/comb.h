/*
 * Resampling at a fixed population by a comb: members of a population get as many copies as their
 * weights are worth, rounded up or down. Weights are integers, and the comb runs over the members
 * in the order of their numbers, so nothing depends on the launch.
 */
#ifndef ERGO_CL_COMB_H
#define ERGO_CL_COMB_H

#include "common/compat.h"

/*
 * Tooth k of the comb: of `count` teeth at equal distances over the sum of all weights, the first
 * at a random place. Member w has those teeth that are below the sum of the weights up to and with
 * its own, and not below that of those before it. sum / count is below 2^32.
 */
ERGO_INLINE ulong ergo_comb_tooth(uint k, ulong sum, uint count, uint word) {
    const ulong apart = sum / count, rest = sum % count;
    return k * apart + k * rest / count + (apart * word >> 32);
}

#ifdef __OPENCL_VERSION__
/* The sum of x over this work-item and those before it. part: [size], has it for each afterwards.
 * All `size` items of the group call it. */
ERGO_INLINE long ergo_comb_up_to(long x, const uint id, const uint size, __local long *part) {
    barrier(CLK_LOCAL_MEM_FENCE);
    part[id] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < size; d *= 2) {
        const long before = id >= d ? part[id - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[id] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[id];
}

/* Whose tooth it is. part: sums of weights up to and with those of each of the group's `size`
 * items, which have `share` members in a row; sums: [count], up to and with each member. */
ERGO_INLINE uint ergo_comb_whose(ulong tooth, __local const long *part, const uint size,
                                 __global const ulong *sums, uint share, uint count) {
    uint low = 0, high = size - 1; /* the first work-item whose sum is above */
    while (low < high) {
        const uint middle = (low + high) / 2;
        const uint above = (ulong)part[middle] > tooth;
        high = above ? middle : high;
        low = above ? low : middle + 1;
    }
    low = low * share;
    high = min(low + share, count) - 1; /* and the first of its members */
    while (low < high) {
        const uint middle = (low + high) / 2;
        const uint above = sums[middle] > tooth;
        high = above ? middle : high;
        low = above ? low : middle + 1;
    }
    return low;
}
#endif

#endif
