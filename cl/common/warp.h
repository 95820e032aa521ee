/* Warps of NVIDIA: 32 work-items of a group with consecutive numbers. All of them call it, with any
 * values; each gets the sum, or the smallest. */
#ifndef ERGO_CL_WARP_H
#define ERGO_CL_WARP_H

#include "common/compat.h"

ERGO_INLINE int ergo_warp_add(int x) {
    int sum;
    __asm__ volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x));
    return sum;
}

/* Wait for all 32; what they wrote is seen. */
ERGO_INLINE void ergo_warp_sync(void) {
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/* The smallest x of each `some` work-items (a power of two). */
ERGO_INLINE float ergo_warp_least(float x, uint some) {
    for (uint apart = 1u; apart < some; apart *= 2u) {
        float other;
        __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                         : "=f"(other)
                         : "f"(x), "r"(apart));
        x = fmin(x, other);
    }
    return x;
}

/* For |x| < 2^46: sums of 32 lower parts of 20 bits, and of 32 upper ones, fit in 32 bits. */
ERGO_INLINE long ergo_warp_sum(long x) {
    const int low = ergo_warp_add((int)(x & 0xfffffL)), high = ergo_warp_add((int)(x >> 20));
    return (long)high * 0x100000L + (long)low;
}

/* For any x: parts of 22 bits. */
ERGO_INLINE long ergo_warp_sum_any(long x) {
    const int low = ergo_warp_add((int)(x & 0x3fffffL)),
              middle = ergo_warp_add((int)(x >> 22 & 0x3fffffL)),
              high = ergo_warp_add((int)(x >> 44));
    return (long)(((ulong)(long)high << 44) + ((ulong)(long)middle << 22) + (ulong)(long)low);
}

#endif
