/*
 * Hard walls and an external field in boxes of hard particles. Places are in units from the lower
 * face of the box along each axis, with the grid's origin added: cells move, walls do not.
 *
 * A wall is a region that centres do not enter: they keep half a diameter from both faces, so no
 * two particles meet across it, and the box stays periodic for the checkerboard. The field is
 * beta u along one axis, linear between nodes 2^shift units apart, in whole numbers: a place has
 * one energy, whichever way a particle came there.
 */
#ifndef ERGO_CL_WALLS_H
#define ERGO_CL_WALLS_H

#include "common/exp.h"

#ifdef __OPENCL_VERSION__
typedef long ergo_walls_long;
#else
typedef int64_t ergo_walls_long;
#endif

/* Nodes of a member's field, in 2^-32 k_B T; energies of places are in 2^-20 k_B T. */
#define ERGO_FIELD_NODES 8194
#define ERGO_FIELD_BITS 32
#define ERGO_FIELD_ENERGY_BITS 20
/* exp(-23) is below 2^-32. */
#define ERGO_FIELD_HOPELESS (23L << ERGO_FIELD_ENERGY_BITS)

struct ergo_walls {
    ulong low[3], high[3]; /* centres: low <= place <= high; without walls all places */
    ulong range;           /* of the histograms next to walls, in units */
    uint axis, shift;      /* of the field and the profile; distance of nodes */
};
#define ERGO_WALLS_BYTES 64

/* Where something at x from the corner of a cell is; below the box's side. */
ERGO_INLINE ulong ergo_walls_place(ulong corner, int x, ulong side) {
    const ulong at = corner + (ulong)x;
    return at >= side ? at - side : at;
}

/* The corner of cell number c along an axis. */
ERGO_INLINE ulong ergo_walls_corner(ulong grid, uint c, uint width, ulong side) {
    const ulong at = grid + (ulong)c * width;
    return at >= side ? at - side : at;
}

/* Between nodes a and b, `rest` units beyond the first one. */
ERGO_INLINE ergo_walls_long ergo_field_between(ergo_walls_long a, ergo_walls_long b, ulong rest,
                                               uint shift) {
    return (a + (((b - a) * (ergo_walls_long)rest) >> shift)) >>
           (ERGO_FIELD_BITS - ERGO_FIELD_ENERGY_BITS);
}

/* beta u at a place. */
#define ERGO_FIELD_AT(nodes, shift, place)                                                         \
    ergo_field_between((nodes)[(place) >> (shift)], (nodes)[((place) >> (shift)) + 1UL],           \
                       (place) & ((1UL << (shift)) - 1UL), shift)

/* Metropolis, from one random word. */
ERGO_INLINE uint ergo_field_accepts(ergo_walls_long rise, uint word) {
    if (rise <= 0L)
        return 1u;
    if (rise >= ERGO_FIELD_HOPELESS)
        return 0u;
    const float chance = ergo_exp((float)(uint)rise * -0x1p-20f); /* below 1 - 2^-21 */
    return (uint)(word < (uint)(chance * 0x1p32f));
}

/* The bin of `bins` equal ones, `away` of `length` units from where they begin; bins or more: none.
 * away is below 2^40. */
ERGO_INLINE ulong ergo_walls_bin(ulong away, uint bins, ulong length) {
    return away * bins / length;
}

#ifdef __OPENCL_VERSION__
ERGO_INLINE void ergo_walls_count(__global uint *counts, ulong away, uint bins, ulong length) {
    if (away < length)
        atomic_inc(&counts[ergo_walls_bin(away, bins, length)]);
}

/* A centre at that place, in the profile and next to walls (wall_bins 0: there are none). */
ERGO_INLINE void ergo_walls_counted(__global const struct ergo_walls *walls, ulong place,
                                    __global uint *profile, uint bins, __global uint *low,
                                    __global uint *high, uint wall_bins) {
    const ulong first = walls->low[walls->axis], last = walls->high[walls->axis];
    ergo_walls_count(profile, place - first, bins, last - first + 1UL);
    if (wall_bins > 0u) {
        ergo_walls_count(low, place - first, wall_bins, walls->range);
        ergo_walls_count(high, last - place, wall_bins, walls->range);
    }
}
#endif

#endif
