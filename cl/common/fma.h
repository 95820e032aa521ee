/*
 * fma() from additions and multiplications, with the same bits as the built-in one, in some 50
 * operations without a branch. It is for devices that expand their own fma into hundreds of
 * instructions at each use (src/device/quirks.c).
 *
 * First a b = high + low exactly (Dekker, Numer. Math. 18, 224 (1971), with Veltkamp's split). Then
 * the sum high + low + c is rounded once, because the small parts are rounded to odd (Boldo and
 * Melquiond, IEEE Trans. Comput. 57, 462 (2008), Fig. 5). This holds for |a|, |b|, |a b| and |c|
 * below 2^100 and a product that is 0 or above 2^-100. Larger ones are rounded twice.
 */
#ifndef ERGO_CL_FMA_H
#define ERGO_CL_FMA_H

/* a + b; *error gets the rounding error of the sum (Knuth's two-sum). */
#define ERGO_DEFINE_FMA(qualifiers, name, real, integer, as_real, as_integer)                      \
    qualifiers real name##_sum(real a, real b, real *error) {                                      \
        const real sum = a + b, from_b = sum - a;                                                  \
        *error = (a - (sum - from_b)) + (b - from_b);                                              \
        return sum;                                                                                \
    }                                                                                              \
    qualifiers real name##_upper(real a) {                                                         \
        const real wide = 4097.0f * a;                                                             \
        return wide - (wide - a);                                                                  \
    }                                                                                              \
    /* a + b rounded to odd: if the sum is not exact, the neighbour whose last bit is 1 */         \
    qualifiers real name##_odd(real a, real b) {                                                   \
        real error;                                                                                \
        const integer bits = as_integer(name##_sum(a, b, &error));                                 \
        const integer size = as_integer(error) & 0x7fffffff, even = (bits & 1) - 1;                \
        const integer towards = ((as_integer(error) ^ bits) >> 31) | 1;                            \
        return as_real(bits + (towards & even & ((size | -size) >> 31)));                          \
    }                                                                                              \
    qualifiers real name(real a, real b, real c) {                                                 \
        const real product = a * b, plain = product + c;                                           \
        const real ha = name##_upper(a), la = a - ha, hb = name##_upper(b), lb = b - hb;           \
        const real rest = ((ha * hb - product) + ha * lb + la * hb) + la * lb;                     \
        real low, lower;                                                                           \
        const real high = name##_sum(product, name##_sum(c, rest, &lower), &low);                  \
        const integer fused = as_integer(high + name##_odd(lower, low));                           \
        /* all ones if the result is 2^100 or more, infinite, or not a number */                   \
        const integer large = (0x717fffff - (as_integer(plain) & 0x7fffffff)) >> 31;               \
        return as_real((as_integer(plain) & large) | (fused & ~large));                            \
    }

#ifdef __OPENCL_VERSION__
#define ERGO_FMA_KIND ERGO_INLINE __attribute__((overloadable))
ERGO_DEFINE_FMA(ERGO_FMA_KIND, ergo_fma, float, int, as_float, as_int)
ERGO_DEFINE_FMA(ERGO_FMA_KIND, ergo_fma, float2, int2, as_float2, as_int2)
ERGO_DEFINE_FMA(ERGO_FMA_KIND, ergo_fma, float4, int4, as_float4, as_int4)
ERGO_DEFINE_FMA(ERGO_FMA_KIND, ergo_fma, float8, int8, as_float8, as_int8)
#define fma(a, b, c) ergo_fma(a, b, c)
#endif

#endif
