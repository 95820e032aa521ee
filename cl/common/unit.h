/*
 * Unit vectors in two and three dimensions, with the same bits on all devices: only + - * fma,
 * comparisons and integers.
 *
 * An angle is a 32-bit integer in units of 2 pi / 2^32. It wraps by itself, and sums, differences
 * and reflections of angles are exact.
 *
 * Components of a vector in three dimensions are multiples of 2^-21 (ergo_unit_grid), so its length
 * is 1 within 5e-7, and what is added to a component and taken away again leaves no trace. On that
 * rests ergo_unit_reflect, which undoes itself to the bit.
 */
#ifndef ERGO_CL_UNIT_H
#define ERGO_CL_UNIT_H

#include "common/exp.h"

/* Three components; w is unused. It is a vector on devices because Oclgrind loses track of structs
 * passed by value. */
#ifdef __OPENCL_VERSION__
typedef float4 ergo_vector;
#define ergo_vector_of(x, y, z) ((float4)(x, y, z, 0.0f))
#else
typedef struct {
    float x, y, z;
} ergo_vector;
#define ergo_vector_of(x, y, z) ((ergo_vector){x, y, z})
#endif

ERGO_INLINE float ergo_dot(ergo_vector a, ergo_vector b) {
    return ERGO_FMA(a.z, b.z, ERGO_FMA(a.y, b.y, a.x * b.x));
}

/* ---- roots ---------------------------------------------------------------------------------- */

/* 1/sqrt(x) for normal x > 0, relative error 1.5e-7; some 1e19 for x = 0, so that 0 times it is 0.
 */
ERGO_INLINE float ergo_rsqrt(float x) {
    const float minus = -0.5f * x;
    float y = ergo_as_float(0x5f375a86u - (ergo_as_uint(x) >> 1));
    y = y * ERGO_FMA(minus * y, y, 1.5f);
    y = y * ERGO_FMA(minus * y, y, 1.5f);
    return y * ERGO_FMA(minus * y, y, 1.5f);
}

/* sqrt(x) for x = 0 or normal, relative error 1.2e-7 */
ERGO_INLINE float ergo_sqrt(float x) {
    const float y = ergo_rsqrt(x), root = x * y;
    return ERGO_FMA(0.5f * y, ERGO_FMA(0.0f - root, root, x), root);
}

/* ---- angles --------------------------------------------------------------------------------- */

/* sin(pi t / 2) for 0 <= t <= 1, to 1.7e-7 (Hastings' polynomial, 1955). Only * and fma; exact at 0
 * and 1. */
#define ERGO_DEFINE_QUARTER_SINE(name, type)                                                       \
    ERGO_INLINE type name(type t) {                                                                \
        const type u = t * t;                                                                      \
        type p = ERGO_FMA(u, (type)(0.00015148419f), (type)(-0.00467376557f));                     \
        p = ERGO_FMA(u, p, (type)(0.07968967928f));                                                \
        p = ERGO_FMA(u, p, (type)(-0.64596371106f));                                               \
        p = ERGO_FMA(u, p, (type)(1.57079631847f));                                                \
        return t * p;                                                                              \
    }
ERGO_DEFINE_QUARTER_SINE(ergo_quarter_sine, float)

/* sin of an angle, to 2e-7; exact at multiples of pi / 2. sin(-a) = -sin(a) to the bit. */
ERGO_INLINE float ergo_sin(uint angle) {
    /* mirrored into the first quarter; 2^30 is a quarter */
    const uint low = angle & 0x3fffffffu, in = angle >> 30 & 1u ? 0x40000000u - low : low;
    const float s = ergo_quarter_sine((float)in * 0x1p-30f);
    return angle >> 31 ? 0.0f - s : s;
}

ERGO_INLINE float ergo_cos(uint angle) {
    return ergo_sin(angle + 0x40000000u);
}

/* The angle of (x, y), within 3e-7 of a radian; 0 for (0, 0). |x| and |y| are 0 or from 1e-18 to
 * 1e18. */
ERGO_INLINE uint ergo_angle(float x, float y) {
    const float ax = x < 0.0f ? 0.0f - x : x, ay = y < 0.0f ? 0.0f - y : y;
    const uint steep = ay > ax, zero = ax + ay == 0.0f;
    const float low = steep ? ax : ay, high = zero ? 1.0f : steep ? ay : ax;
    const float t = low * ergo_inverse(high), u = t * t;
    /* atan(t) / (2 pi t) for t from 0 to 1, interpolated at the Chebyshev points */
    float p = -0.000725713434f;
    p = ERGO_FMA(p, u, 0.00378478708f);
    p = ERGO_FMA(p, u, -0.00936304601f);
    p = ERGO_FMA(p, u, 0.0157067872f);
    p = ERGO_FMA(p, u, -0.0222869285f);
    p = ERGO_FMA(p, u, 0.0317784067f);
    p = ERGO_FMA(p, u, -0.0530492275f);
    p = ERGO_FMA(p, u, 0.159154924f);
    uint angle = (uint)(t * p * 0x1p32f); /* at most an eighth, 2^29 */
    angle = steep ? 0x40000000u - angle : angle;
    angle = x < 0.0f ? 0x80000000u - angle : angle;
    return y < 0.0f ? 0u - angle : angle;
}

/* ---- three dimensions ----------------------------------------------------------------------- */

/* To the nearest multiple of 2^-21, |x| < 2; never -0. */
ERGO_INLINE float ergo_unit_grid(float x) {
    return (x + 6.0f) - 6.0f;
}

/* v / |v| on the grid; 1e-18 < |v| < 1e18. (0, 0, 0) stays. */
ERGO_INLINE ergo_vector ergo_unit_of(ergo_vector v) {
    const float scale = ergo_rsqrt(ergo_dot(v, v));
    return ergo_vector_of(ergo_unit_grid(v.x * scale), ergo_unit_grid(v.y * scale),
                          ergo_unit_grid(v.z * scale));
}

/* Uniform on the sphere, from two random words: the height z is uniform (Archimedes), and so is the
 * angle around. Within 3e-7, and not on the grid. */
ERGO_INLINE ergo_vector ergo_unit_random(uint height, uint around) {
    const float z = ERGO_FMA((float)(height >> 8), 0x1p-23f, 0x1p-24f - 1.0f);
    const float r = ergo_sqrt((1.0f - z) * (1.0f + z));
    return ergo_vector_of(r * ergo_cos(around), r * ergo_sin(around), z);
}

/*
 * The unit vector whose cosine with the unit vector n is 1 - `below`, at the angle `around` it, on
 * the grid. The frame is that of Duff et al., J. Comput. Graph. Tech. 6, 1 (2017).
 */
ERGO_INLINE ergo_vector ergo_unit_beside(ergo_vector n, float below, uint around) {
    const float c = 1.0f - below, rest = below * (2.0f - below);
    const float r = ergo_sqrt(rest > 0.0f ? rest : 0.0f);
    const float u = r * ergo_cos(around), v = r * ergo_sin(around);
    const float sign = n.z < 0.0f ? -1.0f : 1.0f;
    const float a = 0.0f - sign * ergo_inverse(1.0f + sign * n.z), b = n.x * n.y * a;
    const float x1 = ERGO_FMA(sign * n.x * n.x, a, 1.0f), y1 = sign * b, z1 = 0.0f - sign * n.x;
    const float y2 = ERGO_FMA(n.y * n.y, a, sign);
    return ergo_vector_of(ergo_unit_grid(ERGO_FMA(u, x1, ERGO_FMA(v, b, c * n.x))),
                          ergo_unit_grid(ERGO_FMA(u, y1, ERGO_FMA(v, y2, c * n.y))),
                          ergo_unit_grid(ERGO_FMA(u, z1, ERGO_FMA(0.0f - v, n.y, c * n.z))));
}

/* t y on the grid, |t y| < 2: what a shear adds to x. Of -y it is the negative, to the bit. */
ERGO_INLINE float ergo_unit_shift(float t, float y) {
    return ERGO_FMA(t, y, 6.0f) - 6.0f; /* ergo_unit_grid(t y), rounded once */
}

/*
 * v turned by pi around h, v being on the grid: 2 (v.h) h / h^2 - v within 3e-6. A second time with
 * the same h gives v back to the bit: h is turned onto the x axis by two turns that can be undone,
 * y and z change their signs there, and the turns are undone. (0, 0, 0) counts as the x axis. The
 * components of h are 0 or from 1e-9 to 1e9, x is not -0.
 *
 * Both turns are by at most a right angle, because h and -h do the same: so no component reaches 2.
 *
 * A turn of (x, y) by the angle whose sine is s and whose half has the tangent t is three shears, x
 * += t y, y -= s x, x += t y, which can be undone on the grid whatever s and t are. Sums on the
 * grid are exact: so shears that follow one another along the same axis are one where they add the
 * same, and signs are changed on the way.
 */
ERGO_INLINE ergo_vector ergo_unit_reflect(ergo_vector v, ergo_vector h) {
    const uint sign = ergo_as_uint(h.x) & 0x80000000u;
    const float hx = ergo_as_float(ergo_as_uint(h.x) ^ sign);
    const float side = ergo_as_float(ergo_as_uint(h.y) ^ sign);
    const float up = ergo_as_float(ergo_as_uint(h.z) ^ sign);
    const float r2 = ERGO_FMA(h.y, h.y, h.x * h.x), h2 = ERGO_FMA(h.z, h.z, r2);
    const float r = ergo_rsqrt(r2), l = ergo_rsqrt(h2);
    const float s1 = side * r, t1 = s1 * ergo_inverse(ERGO_FMA(hx, r, 1.0f));
    const float s2 = up * l, t2 = s2 * ergo_inverse(ERGO_FMA(r2 * r, l, 1.0f));
    float x = v.x, y = v.y, z = v.z;
    x += ergo_unit_shift(t1, y);
    y -= ergo_unit_shift(s1, x);
    const float same = ergo_unit_shift(t1, y); /* before the other turn, and after it with -y */
    x += same;
    x += ergo_unit_shift(t2, z);
    z -= ergo_unit_shift(s2, x);
    x = ERGO_FMA(2.0f, ergo_unit_shift(t2, z), x); /* with z, and with -z undone */
    z = ergo_unit_shift(s2, x) - z;
    x -= ergo_unit_shift(t2, z);
    x += same;
    y = ergo_unit_shift(s1, x) - y;
    x -= ergo_unit_shift(t1, y);
    return ergo_vector_of(x, y, z);
}

#endif
