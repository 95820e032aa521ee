/*
 * Hard disks in checkerboard cells (Anderson, Jankowski, Grubb, Engel, Glotzer, J. Comput. Phys.
 * 254, 27 (2013)): the random choices of a sweep as pure functions, in C as in OpenCL C.
 */
#ifndef ERGO_CL_HARD_DISKS_CORE_H
#define ERGO_CL_HARD_DISKS_CORE_H

#include "common/rng.h"
#include "hard_disks/params.h"

/* floor(x n / 2^32): a number below n; its probabilities differ by n/2^32 at most. */
ERGO_INLINE uint disks_below(uint x, uint n) {
    return (uint)(((ulong)x * n) >> 32);
}

/* Lines 2, 15 and 16 of Algorithm 1: the plan of a sweep. Both senses of a shift are equally
 * likely at every distance, so the bias of the distance (2^-10 of a unit) breaks no balance. */
ERGO_INLINE uint disks_plan(uint key0, uint key1, ulong step, uint width, uint shuffle) {
    const struct ergo_words r = ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                                                  ERGO_DRAW(DISKS_PURPOSE_GRID, 0), key0, key1);
    uint order = 0xE4u; /* 0, 1, 2, 3 */
    if (shuffle) {      /* Fisher-Yates, from one number below 4! */
        uint k = disks_below(r.x, 24u);
        for (uint i = 3u; i > 0u; i--) {
            const uint j = k % (i + 1u);
            const uint change = ((order >> 2u * i) ^ (order >> 2u * j)) & 3u;
            k /= i + 1u;
            order ^= (change << 2u * i) | (change << 2u * j); /* i == j: change is 0 */
        }
    }
    return order | (r.z >> 30) << DISKS_PLAN_DIRECTION |
           disks_below(r.y, width / 2u) << DISKS_PLAN_DISTANCE;
}

/* sin(pi t / 2) for 0 < t < 1, to 1e-7 (Hastings' polynomial, 1955). Only * and fma. */
#define DISKS_DEFINE_SINE(name, type)                                                              \
    ERGO_INLINE type name(type t) {                                                                \
        const type u = t * t;                                                                      \
        type p = ERGO_FMA(u, (type)(0.00015148419f), (type)(-0.00467376557f));                     \
        p = ERGO_FMA(u, p, (type)(0.07968967928f));                                                \
        p = ERGO_FMA(u, p, (type)(-0.64596371106f));                                               \
        p = ERGO_FMA(u, p, (type)(1.57079631847f));                                                \
        return t * p;                                                                              \
    }
DISKS_DEFINE_SINE(disks_sine, float)

/* To the nearest integer, |x| <= 2^22. */
ERGO_INLINE float disks_round(float x) {
    return (x + 12582912.0f) - 12582912.0f;
}

/*
 * A displacement uniform in a circle (line 8 of Algorithm 1), in whole units, from 56 random bits,
 * without square root: the larger of two uniform numbers is distributed as the radius. The
 * direction is taken in one quadrant and reflected by two random bits, so that d, (-dx, dy), (dx,
 * -dy) and -d have exactly the same probability, whatever the rounding: this is all that detailed
 * balance asks.
 */
ERGO_INLINE void disks_displacement(uint a, uint b, float step, float *dx, float *dy) {
    const uint high = a >> 16, low = a & 0xffffu, larger = high > low ? high : low;
    const float radius = (float)(2u * larger + 1u) * step;
    const float t = (float)(((b & 0xffffffu) >> 2) * 2u + 1u) * 0x1p-23f;
    const float x = disks_round(radius * disks_sine(1.0f - t));
    const float y = disks_round(radius * disks_sine(t));
    *dx = ergo_as_float(ergo_as_uint(x) ^ (b << 31));
    *dy = ergo_as_float(ergo_as_uint(y) ^ ((b & 2u) << 30));
}

/* A coordinate of the grid's origin after a shift; `side` is the box in units. */
ERGO_INLINE ulong disks_grid(ulong origin, uint plan, ulong side) {
    const ulong distance = plan >> DISKS_PLAN_DISTANCE;
    const ulong moved =
        plan >> DISKS_PLAN_DIRECTION & 1u ? origin + distance : origin + side - distance;
    return moved >= side ? moved - side : moved;
}

/* Bits for the shuffle of a cell: those that the moves of draws 0 and 1 leave over. */
ERGO_INLINE uint disks_spare(struct ergo_words r0, struct ergo_words r1) {
    return (r0.y >> 24) | (r0.w >> 24) << 8 | (r1.y >> 24) << 16 | (r1.w >> 24) << 24;
}

#endif
