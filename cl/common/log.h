/* Logarithms with the same bits on all devices. They use only + * fma and integers. */
#ifndef ERGO_CL_LOG_H
#define ERGO_CL_LOG_H

#include "common/compat.h"

/* -ln(f 2^-halvings) for f in [1, 2) */
ERGO_INLINE float ergo_minus_log_of(float f, int halvings) {
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

/* -ln((r + 1/2) / 2^32) within 2e-7, a relative error if the result is above 1. */
ERGO_INLINE float ergo_minus_log(uint r) {
    /* u = v 2^-33 with v = 2r + 1. In the upper half of r the last bits are beyond a float's
     * precision, so v = r and u = v 2^-32 there */
    const uint v = r >> 31 ? r : 2 * r + 1, zeros = ERGO_CLZ(v);
    return ergo_minus_log_of(ergo_as_float(0x3f800000u | (((v << zeros) >> 8) & 0x7fffffu)),
                             r >> 31 ? 1 : (int)zeros + 2);
}

/* ln(x) for normal x > 0, within 2e-7, a relative error if |ln(x)| is above 1. */
ERGO_INLINE float ergo_ln(float x) {
    const uint bits = ergo_as_uint(x);
    return 0.0f - ergo_minus_log_of(ergo_as_float((bits & 0x7fffffu) | 0x3f800000u),
                                    127 - (int)(bits >> 23));
}

#endif
