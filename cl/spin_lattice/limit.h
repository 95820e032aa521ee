/* Acceptance of flips whose cost is any integer, and not one of a few. A random number is turned
 * into the largest cost that it accepts, with the same bits on all devices. */
#ifndef ERGO_CL_SPIN_LATTICE_LIMIT_H
#define ERGO_CL_SPIN_LATTICE_LIMIT_H

#include "common/log.h"

/* A spin flips if `cost`, half of the energy that the flip costs, is below this limit. |cost| <
 * 2^30. scale: T/2 in the cost's unit. */
ERGO_INLINE int spin_limit(uint r, float scale, uint heat_bath) {
    const float most = 1073741824.0f; /* 2^30: above any cost */
    if (!heat_bath) {
        /* u < exp(-2 cost / T), and always if cost <= 0 */
        const float l = ergo_minus_log(r) * scale;
        const int limit = l < most ? (int)l : (int)most;
        return limit > 0 ? limit : 1;
    }
    /* u < 1 / (1 + exp(2 cost / T)): 2 cost / T < ln(1 - u) - ln u; 1 - u is ~r's */
    const float l = (ergo_minus_log(r) - ergo_minus_log(~r)) * scale;
    return l >= most ? (int)most : l <= -most ? -(int)most : (int)l;
}

#endif
