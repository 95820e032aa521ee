/* New states of clusters, and states of a start. */
#ifndef ERGO_CL_SWENDSEN_WANG_STATE_H
#define ERGO_CL_SWENDSEN_WANG_STATE_H

#include "common/rng.h"
#include "swendsen_wang/params.h"

/* Uniform over 0 .. n - 1, from 64 random bits (bias n 2^-64). */
ERGO_INLINE uint sw_one_of(uint n, uint high, uint low) {
    return (uint)(((ulong)high * n + ((ulong)low * n >> 32)) >> 32);
}

/* A spin uniform over all q states, from 64 random bits (bias below 2^-56). */
ERGO_INLINE uint sw_state(ulong site, uint purpose, uint step_low, uint step_high, uint key0,
                          uint key1) {
    const struct ergo_words r = ergo_philox_words(
        (uint)site, step_low, step_high, ERGO_DRAW(purpose, (uint)(site >> 32)), key0, key1);
    return sw_one_of(SW_Q, r.x, r.y);
}

#endif
