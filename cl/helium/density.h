/*
 * The one-body density matrix (C and OpenCL C): <psi(.., r_i + d, ..) / psi(R)>, the same
 * displacement d for one atom after the other. W. L. McMillan, Phys. Rev. 138, A442 (1965).
 *
 * Displacements have addresses of their own in the stream, so chains are the same without them. The
 * first `points` go out along one random direction, to half the shortest side; as many others go
 * anywhere in the box.
 */
#ifndef ERGO_CL_HELIUM_DENSITY_H
#define ERGO_CL_HELIUM_DENSITY_H

#include "common/exp.h"
#include "common/unit.h"
#include "helium/core.h"

/* Ratios are integers in units of 2^-24, so that sums over atoms have no order. exp(15) at most:
 * those of 65536 atoms stay below 2^62. Larger ratios are cut. Over |psi|^2 they have less than
 * exp(-15) of the mean, because the mean square of a ratio is at most 1. */
#define HELIUM_RATIO_BITS 24
#define HELIUM_RATIO_MOST 15.0f
#define HELIUM_RATIO_LEAST (-30.0f)

#define HELIUM_TOGETHER 8 /* displacements of a work-group */
#ifndef HELIUM_SLICE
#define HELIUM_SLICE 1024 /* and its atoms: a second of a slow GPU's multiprocessor at the most */
#endif

/* Displacement p in 2^-32 of the sides. pitch: 1 / points. */
ERGO_INLINE void helium_displacement(const struct helium_member *member, uint walker, ulong step,
                                     uint p, uint points, float pitch, uint d[3]) {
    const uint draw = p < points ? 0u : p - points + 1u;
    const struct ergo_words w =
        ergo_philox_words(walker, (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(HELIUM_PURPOSE_DISPLACED, draw), member->key0, member->key1);
    d[0] = w.x;
    d[1] = w.y;
    d[2] = w.z;
    if (member->dimensions < 3.0f)
        d[2] = 0;
    if (p < points && member->dimensions < 3.0f) {
        const float r = (float)(p + 1u) * pitch;
        d[0] = (uint)helium_shift(ergo_cos(w.x) * r * ergo_inverse(member->scale[0]));
        d[1] = (uint)helium_shift(ergo_sin(w.x) * r * ergo_inverse(member->scale[1]));
    } else if (p < points) {
        const ergo_vector along = ergo_unit_random(w.x, w.y);
        const float r = (float)(p + 1u) * pitch; /* of the cut-off */
        d[0] = (uint)helium_shift(along.x * r * ergo_inverse(member->scale[0]));
        d[1] = (uint)helium_shift(along.y * r * ergo_inverse(member->scale[1]));
        d[2] = (uint)helium_shift(along.z * r * ergo_inverse(member->scale[2]));
    }
}

/* psi'/psi. change: of ln psi, in units of 2^-HELIUM_U_BITS. */
ERGO_INLINE long helium_ratio(long change) {
    float x = (float)change * (1.0f / (float)(1 << HELIUM_U_BITS));
    x = x < HELIUM_RATIO_LEAST ? HELIUM_RATIO_LEAST : x < HELIUM_RATIO_MOST ? x : HELIUM_RATIO_MOST;
    return (long)(ergo_exp(x) * (float)(1 << HELIUM_RATIO_BITS) + 0.5f);
}

#endif
