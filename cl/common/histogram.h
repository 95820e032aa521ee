/* Histograms of pair distances in exact integers. */
#ifndef ERGO_CL_HISTOGRAM_H
#define ERGO_CL_HISTOGRAM_H

#include "common/compat.h"

/* The bin b with limits[b] <= r2 < limits[b + 1], where limits[0] <= r2 < limits[bins]. `guess`, in
 * whatever precision, is only where the search begins. */
ERGO_INLINE uint ergo_bin(__global const ulong *limits, uint bins, ulong r2, float guess) {
    uint b = guess > 0.0f ? (uint)guess : 0u;
    b = b < bins ? b : bins - 1u;
    while (r2 < limits[b])
        b--;
    while (r2 >= limits[b + 1u])
        b++;
    return b;
}

#endif
