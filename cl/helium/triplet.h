/*
 * The triplet factor (C and OpenCL C): ln psi = -sign sum_i |G_i|^2, G_i = sum_j X(r_ij) (r_i -
 * r_j), X = sqrt(|strength|) / 2 xi. Its terms of two atoms are part of u.
 *
 * G is a sum of integers in units of 2^-bits, so that it does not depend on an order: a pair's part
 * for one atom is exactly minus that for the other. The share of an atom in ln psi follows from its
 * G alone, as an integer in units of 2^-HELIUM_U_BITS.
 *
 * A table has HELIUM_U_SIZE pieces of X, in units of 2^-bits, then as many of X'/r.
 */
#ifndef ERGO_CL_HELIUM_TRIPLET_H
#define ERGO_CL_HELIUM_TRIPLET_H

#include "helium/core.h"

/* A member's triplet factor. |G| is below 2^30 along each axis, whatever the places (the host sees
 * to it), so its square is below 2^62. */
struct helium_triplet {
    float
        gradient[3]; /* from sums of helium_triplet_pair to those of helium_share: of gx, gy, gz */
    float slope;     /* likewise of `slope`, for the laplacian */
    int sign;
    uint shift; /* 2 bits - HELIUM_U_BITS */
};
#define HELIUM_TRIPLET_BYTES 24

struct helium_vector {
    int x, y, z;
};

/* An atom's share in -sign ln psi. */
ERGO_INLINE long helium_triplet_square(struct helium_vector g, uint shift) {
    const long square = (long)g.x * g.x + (long)g.y * g.y + (long)g.z * g.z;
    return (square + (1L << (shift - 1))) >> shift;
}

/* What a partner adds to G. value: X; d: the difference of the places. */
ERGO_INLINE struct helium_vector helium_triplet_part(float value, const float d[3],
                                                     const struct helium_member *member) {
    const struct helium_vector g = {(int)(value * (d[0] * member->length[0])),
                                    (int)(value * (d[1] * member->length[1])),
                                    (int)(value * (d[2] * member->length[2]))};
    return g;
}

/* Sums over the partners of atom i, with M = X 1 + X'/r d d: M, |M|^2 + (G_i - G_j) d (X'' + 4
 * X'/r), and M (G_i - G_j). In units of 2^-bits, or of its square. In two dimensions 1 has no third
 * component, and it is 3 X'/r. */
struct helium_triplet_sums {
    float xx, yy, zz, xy, xz, yz, square, gx, gy, gz;
};

/* Add a partner. x: (r / cut)^2, clamped; d: the difference of the places; own, other: G. */
ERGO_INLINE void helium_triplet_pair(float x, const float d[3], helium_cubic value,
                                     helium_cubic slope, struct helium_vector own,
                                     struct helium_vector other, const struct helium_member *member,
                                     struct helium_triplet_sums *run) {
    const float t = helium_within(x, HELIUM_U_PIECES), v = helium_poly(value, t);
    const struct helium_slope s = helium_cubic_slope(slope, t);
    const float dx = d[0] * member->length[0], dy = d[1] * member->length[1],
                dz = d[2] * member->length[2];
    const float gx = (float)(own.x - other.x), gy = (float)(own.y - other.y),
                gz = (float)(own.z - other.z);
    const float sx = s.value * dx, sy = s.value * dy, sz = s.value * dz;
    const float third = v * (member->dimensions - 2.0f);
    const float xx = fma(sx, dx, v), yy = fma(sy, dy, v), zz = fma(sz, dz, third);
    const float xy = sx * dy, xz = sx * dz, yz = sy * dz;
    const float along = fma(gx, dx, fma(gy, dy, gz * dz));
    const float diagonal = fma(xx, xx, fma(yy, yy, zz * zz));
    const float others = fma(xy, xy, fma(xz, xz, yz * yz));
    /* X'' + (d + 1) X'/r = (d + 2) (X'/r) + 2 x d(X'/r)/dx in d dimensions */
    const float bent = fma(2.0f * x, s.slope, (member->dimensions + 2.0f) * s.value);
    run->xx += xx;
    run->yy += yy;
    run->zz += zz;
    run->xy += xy;
    run->xz += xz;
    run->yz += yz;
    run->square += fma(along, bent, fma(2.0f, others, diagonal));
    run->gx += fma(xx, gx, fma(xy, gy, xz * gz));
    run->gy += fma(xy, gx, fma(yy, gy, yz * gz));
    run->gz += fma(xz, gx, fma(yz, gy, zz * gz));
}

/* What an atom's sums add to its sums over pairs: its gradient in `g`; returned: its laplacian, as
 * the slope of helium_share. */
ERGO_INLINE float helium_triplet_add(const struct helium_triplet_sums *sums,
                                     const struct helium_triplet *triplet, float g[3]) {
    const float diagonal = fma(sums->xx, sums->xx, fma(sums->yy, sums->yy, sums->zz * sums->zz));
    const float others = fma(sums->xy, sums->xy, fma(sums->xz, sums->xz, sums->yz * sums->yz));
    g[0] = fma(sums->gx, triplet->gradient[0], g[0]);
    g[1] = fma(sums->gy, triplet->gradient[1], g[1]);
    g[2] = fma(sums->gz, triplet->gradient[2], g[2]);
    return (sums->square + fma(2.0f, others, diagonal)) * triplet->slope;
}

#endif
