/*
 * Correlations by improved estimators (U. Wolff, Nucl. Phys. B 322, 759 (1989)): pure functions,
 * also compiled as C. Spins of one cluster are equal, and those of different clusters independent.
 *
 * Pairs: the correlation of two sites is the chance that they are in one cluster. Pairs lie along
 * lines, up to SW_LINES rows and as many columns at equal distances: of smaller lattices all pairs
 * of a distance, of larger ones as many as tell something new, and few enough to be sent between
 * ranks.
 *
 * Waves: the structure factor is sum_c |sum over sites r of c of exp(i k r)|^2 / N, k the smallest
 * wave along the last side. cos and sin are whole numbers, in units of 2^-SW_WAVE_SHIFT, so that
 * all sums are exact.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_CORRELATE_H
#define ERGO_CL_SWENDSEN_WANG_CORRELATE_H

#include "common/unit.h"

#define SW_LINES 64u
#define SW_WAVE_SHIFT 15 /* 32768 sites of a tile fit 31 bits */
#define SW_WAVE_LIMBS 4u /* of 32 bits, in 64 each */

ERGO_INLINE uint sw_line_count(uint side) {
    return side < SW_LINES ? side : SW_LINES;
}

/* The row or column of line j, of lines that are spread over this side. */
ERGO_INLINE uint sw_line_at(uint j, uint side) {
    return (uint)((ulong)j * side / sw_line_count(side));
}

/* Distances along a side: half of it, a quarter, and from number 2 on 1, 2, 3, 4, 6, 8, 12, ... */
#define SW_DISTANCE_CURVE 2u
#define SW_DISTANCES 46u /* of all lattices */

ERGO_INLINE uint sw_distance(uint k, uint side) {
    const uint j = k - SW_DISTANCE_CURVE;
    if (k < SW_DISTANCE_CURVE)
        return side >> (k + 1u);
    return j < 2u ? j + 1u : j & 1u ? 2u << (j >> 1) : 3u << (j / 2u - 1u);
}

/* How many there are: those of the curve end at half of the least side. */
ERGO_INLINE uint sw_distance_count(uint least) {
    uint k = SW_DISTANCE_CURVE;
    while (sw_distance(k, least) <= least / 2u)
        k++;
    return k;
}

/* wave 0: cos, 1: sin, of 2 pi at/side. */
ERGO_INLINE int sw_wave_weight(uint at, uint side, uint wave) {
    const uint angle = (uint)(((ulong)at << 32) / side);
    const float w = (wave ? ergo_sin(angle) : ergo_cos(angle)) * (float)(1 << SW_WAVE_SHIFT);
    return (int)(w < 0.0f ? w - 0.5f : w + 0.5f);
}

/* Times a part of a unit vector, at most 1. */
ERGO_INLINE int sw_wave_part(float part, int weight) {
    const float w = part * (float)weight;
    return (int)(w < 0.0f ? w - 0.5f : w + 0.5f);
}

#endif
