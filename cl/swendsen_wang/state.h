/* New states of clusters, and states of a start. */
#ifndef ERGO_CL_SWENDSEN_WANG_STATE_H
#define ERGO_CL_SWENDSEN_WANG_STATE_H

#include "common/rng.h"
#include "swendsen_wang/params.h"

/* A spin uniform over all q states, from 64 random bits (bias below 2^-56). */
ERGO_INLINE uint sw_state(ulong site, uint purpose, uint step_low, uint step_high, uint key0,
                          uint key1) {
    const struct ergo_words r = ergo_philox_words(
        (uint)site, step_low, step_high, ERGO_DRAW(purpose, (uint)(site >> 32)), key0, key1);
    return (uint)(((ulong)r.x * SW_Q + ((ulong)r.y * SW_Q >> 32)) >> 32);
}

#endif
