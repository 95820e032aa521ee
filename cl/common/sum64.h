/* Sums of 64-bit integers for devices whose atomics have 32 bits. */
#ifndef ERGO_CL_SUM64_H
#define ERGO_CL_SUM64_H

#include "common/compat.h"

/* Add a 64-bit number to two words, modulo 2^64. The order of additions does not matter. */
#define ERGO_ADD_LONG(words, low, high)                                                            \
    do {                                                                                           \
        const uint ergo_low = (low), ergo_was = atomic_add(&(words)[0], ergo_low);                 \
        atomic_add(&(words)[1], (high) + (uint)(ergo_was + ergo_low < ergo_was));                  \
    } while (0)

#ifdef __OPENCL_VERSION__
/* The sum of a work-group's numbers, in local memory: for its first item. Called by all `size`
 * items of a group, a power of two. */
ERGO_INLINE long ergo_sum_long(__local long *parts, uint item, uint size, long mine) {
    parts[item] = mine;
    for (uint some = size / 2u; some > 0u; some /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < some)
            parts[item] += parts[item + some];
    }
    return parts[item];
}
#endif

#endif
