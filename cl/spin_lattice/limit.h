/* Acceptance of flips whose cost is any integer, and not one of a few. A random number is turned
 * into the largest cost that it accepts, with the same bits on all devices. */
#ifndef ERGO_CL_SPIN_LATTICE_LIMIT_H
#define ERGO_CL_SPIN_LATTICE_LIMIT_H

#include "common/compat.h"

/* -ln((r + 1/2) / 2^32) within 2e-7, a relative error if the result is above 1. It uses only + *
 * fma, so the bits are the same everywhere. */
ERGO_INLINE float spin_log(uint r) {
    /* u = v 2^-33 with v = 2r + 1. In the upper half of r the last bits are beyond a float's
     * precision, so v = r
     * and u = v 2^-32 there */
    const uint v = r >> 31 ? r : 2 * r + 1, zeros = ERGO_CLZ(v);
    float f = ergo_as_float(0x3f800000u | (((v << zeros) >> 8) & 0x7fffffu)); /* in [1, 2) */
    uint halvings = r >> 31 ? 1 : zeros + 2; /* u = f 2^-halvings */
    if (f > 1.41421354f) {
        f = 0.5f * f;
        halvings--;
    }
    const float y = f - 1.0f;
    /* ln(1 + y) / y on [sqrt(1/2) - 1, sqrt 2 - 1], interpolated at the Chebyshev points */
    float p = -0.0745118633f;
    p = ERGO_FMA(p, y, 0.128066108f);
    p = ERGO_FMA(p, y, -0.132660314f);
    p = ERGO_FMA(p, y, 0.141996503f);
    p = ERGO_FMA(p, y, -0.166083694f);
    p = ERGO_FMA(p, y, 0.200009391f);
    p = ERGO_FMA(p, y, -0.250015795f);
    p = ERGO_FMA(p, y, 0.333333462f);
    p = ERGO_FMA(p, y, -0.499999881f);
    p = ERGO_FMA(p, y, 1.0f);
    return ERGO_FMA((float)halvings, 0.693147182f, -(p * y));
}

/* A spin flips if `cost`, half of the energy that the flip costs, is below this limit. |cost| <
 * 2^30. scale: T/2 in the cost's unit. */
ERGO_INLINE int spin_limit(uint r, float scale, uint heat_bath) {
    const float most = 1073741824.0f; /* 2^30: above any cost */
    if (!heat_bath) {
        /* u < exp(-2 cost / T), and always if cost <= 0 */
        const float l = spin_log(r) * scale;
        const int limit = l < most ? (int)l : (int)most;
        return limit > 0 ? limit : 1;
    }
    /* u < 1 / (1 + exp(2 cost / T)): 2 cost / T < ln(1 - u) - ln u; 1 - u is ~r's */
    const float l = (spin_log(r) - spin_log(~r)) * scale;
    return l >= most ? (int)most : l <= -most ? -(int)most : (int)l;
}

#endif
