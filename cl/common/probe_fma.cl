/*
 * What the device's own fma() costs: chains of it, and of multiplications and additions. The host
 * times both (src/device/probe_fma.c).
 */
#include "common/compat.h"

/* Values stay near 2; no iteration can be left out. */
#define PROBE_CHAIN(name, next)                                                                    \
    __kernel void name(__global float *out, float a, float b, uint iterations) {                   \
        float x = 1.0f + 0x1p-20f * (float)get_global_id(0);                                       \
        ERGO_ROLLED for (uint i = 0u; i < iterations; i++) x = next;                               \
        out[get_global_id(0)] = x;                                                                 \
    }

PROBE_CHAIN(probe_fma, fma(x, a, b))
PROBE_CHAIN(probe_mul_add, x *a + b)
