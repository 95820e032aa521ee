/* Sums over 32 work-items with consecutive numbers that run in step, by one instruction (NVIDIA).
 * All of them call it, with any values; each gets the sum. */
#ifndef ERGO_CL_WARP_H
#define ERGO_CL_WARP_H

#include "common/compat.h"

ERGO_INLINE int ergo_warp_add(int x) {
    int sum;
    __asm__ volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x));
    return sum;
}

/* For |x| < 2^46: sums of 32 lower parts of 20 bits, and of 32 upper ones, fit in 32 bits. */
ERGO_INLINE long ergo_warp_sum(long x) {
    const int low = ergo_warp_add((int)(x & 0xfffffL)), high = ergo_warp_add((int)(x >> 20));
    return (long)high * 0x100000L + (long)low;
}

#endif
