/* The smallest of a work-group's numbers, in local memory: for its first item. */
#ifndef ERGO_CL_LEAST_H
#define ERGO_CL_LEAST_H

#include "common/compat.h"

/* Called by all `size` items of a group, a power of two. */
ERGO_INLINE ulong ergo_least(__local ulong *parts, uint item, uint size, ulong mine) {
    parts[item] = mine;
    for (uint some = size / 2u; some > 0u; some /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < some)
            parts[item] = min(parts[item], parts[item + some]);
    }
    return parts[item];
}

#endif
