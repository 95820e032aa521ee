/* Work-items of one chain: barriers, and sums over them. LJ_GROUP is their number in the kernels
 * that move, LJ_ITEMS that in the kernel at hand. */
#ifndef ERGO_CL_LJ_GCMC_GROUP_H
#define ERGO_CL_LJ_GCMC_GROUP_H

#include "common/compat.h"
#ifdef LJ_WARP
#include "common/warp.h"
#endif

#ifndef LJ_ITEMS
#define LJ_ITEMS LJ_GROUP
#endif

/* Of teams, each with so many work-items. */
#define LJ_WIDTH (LJ_GROUP / LJ_TEAMS)

/* A work-group of one needs no barrier, and PoCL's compiler splits kernels at barriers. */
#if LJ_ITEMS == 1
#define LJ_BARRIER(flags)
#else
#define LJ_BARRIER(flags) barrier(flags)
#endif

/*
 * Sums over work-items in any order. The values are 64-bit integers, but the atomics have 32 bits,
 * so the lower 20 bits and the rest are added separately. The first word holds 4096 shares. The
 * second holds any sum below 2^51, and a particle whose neighbours are all outside the core has
 * less than a thousandth of that.
 */
ERGO_INLINE void lj_add(__local uint *sum, long value) {
#ifdef LJ_WARP /* 32 additions to one word wait for each other */
    value = ergo_warp_sum(value);
    value = get_local_id(0) % 32u == 0u ? value : 0;
#endif
#if LJ_ITEMS == 1
    sum[0] += (uint)value & 0xfffffu;
    sum[1] += (uint)(value >> 20);
#else
    if (value != 0) {
        atomic_add(&sum[0], (uint)value & 0xfffffu);
        atomic_add(&sum[1], (uint)(value >> 20));
    }
#endif
}

ERGO_INLINE long lj_take(__local const uint *sum) {
    return (long)(int)sum[1] * 0x100000L + (long)sum[0];
}

#endif
