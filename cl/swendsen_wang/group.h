/*
 * A work-group of SW_GROUP work-items and the labels of its tile in local memory: barriers,
 * atomics, and joins by union-find. A label leads to a smaller one of the same cluster, a root's to
 * itself.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_GROUP_H
#define ERGO_CL_SWENDSEN_WANG_GROUP_H

#include "swendsen_wang/params.h"
#include "swendsen_wang/relaxed.h"

/* Barriers and atomics between the work-items of a group. A group of one work-item needs neither.
 */
#if SW_GROUP == 1
ERGO_INLINE uint sw_add_alone(__local uint *p, uint value) {
    const uint before = *p;
    *p = before + value;
    return before;
}
ERGO_INLINE uint sw_min_alone(__local uint *p, uint value) {
    const uint before = *p;
    *p = before < value ? before : value;
    return before;
}
#define SW_SYNC
#define SW_SYNC_GLOBAL
#define SW_ADD_LOCAL(p, value) sw_add_alone((p), (value))
#define SW_MIN_LOCAL(p, value) sw_min_alone((p), (value))
#define SW_OR_LOCAL(p, value) (*(p) |= (value))
#define SW_READ_TILE(p) (*(p))
#define SW_LOWER_TILE(p, value) (*(p) = (value))
#else
#define SW_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define SW_SYNC_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define SW_ADD_LOCAL(p, value) atomic_add((p), (value))
#define SW_MIN_LOCAL(p, value) atomic_min((p), (value))
#define SW_OR_LOCAL(p, value) atomic_or((p), (value))
#define SW_READ_TILE(p) SW_READ_LOCAL(p)
#define SW_LOWER_TILE(p, value) SW_LOWER_LOCAL((p), (value))
#endif

/* One step of a join (M. Rem's algorithm). The larger of two labels is followed, and lowered to the
 * smaller one if that is less than what it leads to, until both meet. Another work-item may have
 * changed it meanwhile, so the node that it led to before must be joined with the smaller one too.
 * Returns the node that is to be joined with the smaller one next. */
ERGO_INLINE uint sw_step_local(__local uint *labels, uint large, uint small) {
    uint next = SW_READ_TILE(&labels[large]);
    if (next > small)
        next = SW_MIN_LOCAL(&labels[large], small);
    return next == large ? small : next;
}

#endif
