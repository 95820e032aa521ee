/*
 * Lets one header compile as OpenCL C and as C11, so that unit tests on the host run the same
 * functions as the kernels.
 *
 * Rules for everything under cl/ (see CONTRIBUTING.md): no contraction to fma except by an explicit
 * fma(), no native_* or vendor transcendental functions, no size_t and no bool in structs, "UL" and
 * never "ULL".
 */
#ifndef ERGO_CL_COMPAT_H
#define ERGO_CL_COMPAT_H

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#ifdef cles_khr_int64 /* the embedded profile's 64-bit integers are an extension */
#pragma OPENCL EXTENSION cles_khr_int64 : enable
#endif
/* Inlining is forced because PoCL's inliner gives up on large functions, and a call in the inner
 * loop is several times slower. Oclgrind cannot run forced inlines that return structs
 * (src/device/quirks.c). */
#ifdef ERGO_NO_FORCED_INLINE
#define ERGO_INLINE static inline
#else
#define ERGO_INLINE static inline __attribute__((always_inline))
#endif
#define ERGO_UNROLL _Pragma("unroll")
#define ERGO_ROLLED _Pragma("unroll 1")
#define ERGO_POPCOUNT(x) popcount(x)
#define ERGO_CLZ(x) clz(x)
#define ERGO_FMA(a, b, c) fma(a, b, c)
#define ergo_as_float(bits) as_float(bits)
#define ergo_as_uint(x) as_uint(x)
#ifdef ERGO_SOFTWARE_FMA
#include "common/fma.h"
#endif
#else
#include <stdint.h>
#include <string.h>
typedef uint32_t uint;
typedef uint64_t ulong;
#define ERGO_INLINE static inline
#define ERGO_UNROLL
#define ERGO_POPCOUNT(x) ((uint)__builtin_popcount(x))
#define ERGO_CLZ(x) ((uint)__builtin_clz(x)) /* x != 0 */
#define ERGO_FMA(a, b, c) __builtin_fmaf(a, b, c)
ERGO_INLINE float ergo_as_float(uint bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
ERGO_INLINE uint ergo_as_uint(float x) {
    uint bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
#endif

/* Four 32-bit words, in C as in OpenCL C. */
struct ergo_words {
    uint x, y, z, w;
};

#endif
