/* exp(x) and 1/x with the same bits on all devices: only + - * fma and integers. */
#ifndef ERGO_CL_EXP_H
#define ERGO_CL_EXP_H

#include "common/compat.h"

#ifdef __OPENCL_VERSION__
#define ergo_floor(x) floor(x)
#else
#include <math.h>
#define ergo_floor(x) floorf(x)
#endif

/* 1/x for normal x > 0, within 1 unit in the last place. The first guess is good to 12%, and each
 * Newton step squares the error. */
ERGO_INLINE float ergo_inverse(float x) {
    float y = ergo_as_float(0x7EF311C7u - ergo_as_uint(x));
    y = ERGO_FMA(y, ERGO_FMA(-x, y, 1.0f), y);
    y = ERGO_FMA(y, ERGO_FMA(-x, y, 1.0f), y);
    return ERGO_FMA(y, ERGO_FMA(-x, y, 1.0f), y);
}

/* exp(x) for -87 <= x <= 60, relative error 2e-7. x = n ln 2 + r, |r| <= 0.35. */
ERGO_INLINE float ergo_exp(float x) {
    const float n = ergo_floor(ERGO_FMA(x, 0x1.715476p+0f, 0.5f));
    float r = ERGO_FMA(n, -0x1.62e400p-1f, x);
    r = ERGO_FMA(n, 0x1.7f7d1cp-20f * -1.0f, r);
    float p = 0x1.a01a02p-13f;           /* 1/5040 */
    p = ERGO_FMA(p, r, 0x1.6c16c2p-10f); /* 1/720 */
    p = ERGO_FMA(p, r, 0x1.111112p-7f);  /* 1/120 */
    p = ERGO_FMA(p, r, 0x1.555556p-5f);  /* 1/24 */
    p = ERGO_FMA(p, r, 0x1.555556p-3f);  /* 1/6 */
    p = ERGO_FMA(p, r, 0.5f);
    p = ERGO_FMA(p, r, 1.0f);
    p = ERGO_FMA(p, r, 1.0f);
    return p * ergo_as_float((uint)((int)n + 127) << 23);
}

#endif
