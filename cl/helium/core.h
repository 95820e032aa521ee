/*
 * Liquid helium: the physics as pure functions (C and OpenCL C).
 *
 * Positions are 32-bit fractions of the box: coordinate / side * 2^32. The difference of two, as a
 * signed integer, is exactly the minimum image. At exactly half a side the sign is lost, but not
 * the distance.
 *
 * Functions are piecewise cubic. Exponent and leading bits of the argument choose the piece, so
 * pieces are narrow where functions are steep. No square root, division, or exp.
 */
#ifndef ERGO_CL_HELIUM_CORE_H
#define ERGO_CL_HELIUM_CORE_H

#include "common/rng.h"
#include "helium/params.h"

#ifdef __OPENCL_VERSION__
typedef float4 helium_cubic;
#ifndef HELIUM_TABLES
#define HELIUM_TABLES __global const
#endif
#else
#include <math.h>
#include <string.h>
typedef struct {
    float x, y, z, w;
} helium_cubic;
#define fma fmaf /* for floats, as in OpenCL C */
#define HELIUM_TABLES const
#endif

/* Number of the piece that holds x > 0, counted from the lowest piece of exponent field 0. */
ERGO_INLINE uint helium_piece(float x, uint pieces) {
    return ergo_as_uint(x) >> (23 - pieces);
}

/* Distance of x from the start of its piece: exact. */
ERGO_INLINE float helium_within(float x, uint pieces) {
    return x - ergo_as_float(ergo_as_uint(x) & (0xffffffffu << (23 - pieces)));
}

ERGO_INLINE float helium_poly(helium_cubic c, float t) {
    return fma(fma(fma(c.w, t, c.z), t, c.y), t, c.x);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Squared distance in units of the cut-off: below 1 inside it. */
ERGO_INLINE float helium_distance2(float dx, float dy, float dz) {
    return fma(dx, dx, fma(dy, dy, dz * dz));
}

/* The argument of a pair table, clamped to [low, 1). At 1 u is 0. */
ERGO_INLINE float helium_clamp(float x, float low) {
    const float top = ergo_as_float(0x3f7fffffu); /* the largest float below 1 */
    x = x < low ? low : x;
    return x < top ? x : top;
}

/* ---- sites ----------------------------------------------------------------------------------- */

/* The squared distance of an atom from its site, or from a slab's middle plane, A^2. d: difference
 * of the places. */
ERGO_INLINE float helium_site2(const float d[3], const struct helium_member *member) {
    return helium_distance2(d[0] * member->site_length[0], d[1] * member->site_length[1],
                            d[2] * member->site_length[2]);
}

/* -c/2 times that, in units of 2^-HELIUM_U_BITS. */
ERGO_INLINE int helium_site_u(const float d[3], const struct helium_member *member) {
    const float u = helium_site2(d, member) * member->site_u;
    return -(int)(u < HELIUM_SITE_LIMIT ? u + 0.5f : HELIUM_SITE_LIMIT);
}

/* ---- energies ---------------------------------------------------------------------------------
 */

/* A function of x and its derivative. */
struct helium_slope {
    float value, slope;
};

/* A cubic and its derivative. */
ERGO_INLINE struct helium_slope helium_cubic_slope(helium_cubic c, float t) {
    const float a = fma(c.w, t, c.z), b = fma(a, t, c.y);
    const struct helium_slope f = {fma(b, t, c.x), fma(fma(c.w, t, a), t, b)};
    return f;
}

/* The same of a fourth degree. The last word holds two coefficients: 20 bits of the third, and
 * below them the upper 12 bits of the fourth, which are enough of it. */
ERGO_INLINE struct helium_slope helium_quartic_slope(helium_cubic c, float t) {
    const uint word = ergo_as_uint(c.w);
    const float fourth = ergo_as_float(word << (32 - HELIUM_FOURTH_BITS));
    const float third = ergo_as_float(word & (0xffffffffu << HELIUM_FOURTH_BITS));
    const float a = fma(fourth, t, third), b = fma(a, t, c.z), d = fma(b, t, c.y);
    const struct helium_slope f = {fma(d, t, c.x), fma(fma(fma(fourth, t, a), t, b), t, d)};
    return f;
}

/* Sums over pairs, but not the gradient, need each pair once. What an atom of block `a` (of
 * HELIUM_E_BLOCK atoms) adds for a partner in block `b` counts this often: once within a block,
 * where the partner adds the same, else twice or not at all. Half of the other blocks fall to each.
 */
ERGO_INLINE uint helium_weight(uint a, uint b, uint blocks) {
    const uint apart = b >= a ? b - a : b + blocks - a;
    return apart == 0 ? 1u : 2 * apart < blocks || (2 * apart == blocks && a < b) ? 2u : 0u;
}

/* ---- one-body tables ------------------------------------------------------------------------- */

/* Where an atom is in the table: of r^2 of a trap, of z of a slab. */
struct helium_one_place {
    uint piece;
    float t, y; /* within the piece, and in all, in pieces */
};

ERGO_INLINE struct helium_one_place helium_one_find(const float d[3], uint slab,
                                                    const struct helium_member *member) {
    const float x = slab ? d[2] * member->site_length[2] : helium_site2(d, member);
    const float top = 0x1.fffffep9f; /* the largest float below 1024 */
    struct helium_one_place at;
    at.y = fma(x, member->site_u, member->site_v);
    at.y = at.y > 0.0f ? at.y : 0.0f;
    at.y = at.y < top ? at.y : top;
    at.piece = (uint)at.y;
    at.t = at.y - (float)at.piece;
    return at;
}

/* ln phi in units of 2^-HELIUM_U_BITS. */
ERGO_INLINE int helium_one_u(helium_cubic w, float t, const struct helium_member *member) {
    float u = helium_poly(w, t) * member->one_w;
    u = u > -HELIUM_SITE_LIMIT ? u : -HELIUM_SITE_LIMIT;
    u = u < HELIUM_SITE_LIMIT ? u : HELIUM_SITE_LIMIT;
    return (int)(u < 0.0f ? u - 0.5f : u + 0.5f);
}

/* What an atom adds to its sums over pairs, which count twice: V, r dV/dr, laplacian and gradient
 * of ln phi, as in struct helium_share. f: (d ln phi/dr)/r of a trap, d ln phi/dz of a slab. */
struct helium_one_share {
    float potential, virial, force, slope, g[3];
};

ERGO_INLINE struct helium_one_share helium_one_share_of(struct helium_one_place at,
                                                        const float d[3], helium_cubic v,
                                                        helium_cubic f, uint slab,
                                                        const struct helium_member *member) {
    const struct helium_slope vs = helium_cubic_slope(v, at.t), fs = helium_cubic_slope(f, at.t);
    const float z = d[2] * member->site_length[2];
    const float value = fs.value * member->one_w, bend = fs.slope * member->one_w;
    struct helium_one_share s;
    s.potential = 2.0f * (vs.value * member->one_v);
    s.virial = (slab ? z * (vs.slope * member->site_u) : 2.0f * (at.y * vs.slope)) * member->one_v;
    s.force = slab ? 0.0f : value * member->site_mean;
    s.slope = (slab ? 0.5f * member->site_u : at.y) * (bend * member->site_mean);
    for (uint k = 0; k < 3; k++)
        s.g[k] = value * (slab ? member->site_force[k] : member->site_force[k] * d[k]);
    return s;
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* The move of one atom: its displacement in 2^-32 of the sides, and the bound ln(uniform). The move
 * is rejected if twice the change of ln psi, in units of 2^-(HELIUM_U_BITS - 1), is below the
 * bound. */
struct helium_move {
    int dx, dy, dz, bound;
};

/* A standard normal number, whose sign is the top bit. The table holds the inverse of the upper
 * tail as a function of the other 31 bits. The absolute value is at most 6.3. */
ERGO_INLINE float helium_normal(HELIUM_TABLES helium_cubic *table, uint word) {
    const float x = (float)(word & 0x7fffffffu) + 0.5f;
    const float z =
        helium_poly(table[helium_piece(x, HELIUM_R_PIECES) - (HELIUM_R_LOWEST << HELIUM_R_PIECES)],
                    helium_within(x, HELIUM_R_PIECES));
    return word >> 31 ? -z : z;
}

/* ln((word + 1/2) / 2^32) in units of 2^-(HELIUM_U_BITS - 1). The table contains that scale. */
ERGO_INLINE int helium_bound(HELIUM_TABLES helium_cubic *table, uint word) {
    const float x = (float)word + 0.5f;
    return (int)helium_poly(
        table[helium_piece(x, HELIUM_R_PIECES) - (HELIUM_R_LOWEST << HELIUM_R_PIECES)],
        helium_within(x, HELIUM_R_PIECES));
}

/* To 2^-32 of a side. Beyond half a side (6 standard deviations in tiny boxes) it is cut, in both
 * directions alike. */
ERGO_INLINE int helium_shift(float d) {
    const float most = 2147483520.0f; /* the largest float below 2^31 */
    d = d < -most ? -most : d;
    return (int)(d < most ? d : most);
}

/* `random`: the table of the normal distribution, then that of the logarithm. entity: walker * N +
 * atom. */
ERGO_INLINE struct helium_move helium_draw(HELIUM_TABLES helium_cubic *random,
                                           const struct helium_member *member, uint factor,
                                           uint entity, ulong step) {
    const struct ergo_words w =
        ergo_philox_words(entity, (uint)step, (uint)(step >> 32), ERGO_DRAW(HELIUM_PURPOSE_MOVE, 0),
                          member->key0, member->key1);
    const float f = (float)factor * (1.0f / HELIUM_FACTOR_ONE);
    struct helium_move move;
    move.dx = helium_shift(helium_normal(random, w.x) * (member->step[0] * f));
    move.dy = helium_shift(helium_normal(random, w.y) * (member->step[1] * f));
    move.dz = helium_shift(helium_normal(random, w.z) * (member->step[2] * f));
    move.bound = helium_bound(random + HELIUM_R_SIZE, w.w);
    return move;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* A lattice site plus a small random displacement: (site + 1/2 + 0.2 (uniform - 1/2)) cells, where
 * `cell` is 2^32 / number of sites along the side. */
ERGO_INLINE uint helium_start_coordinate(uint site, ulong cell, uint word) {
    const ulong middle = (ulong)site * cell + cell / 2;
    const ulong jitter = (cell / 5) * (ulong)(word >> 16) >> 16;
    return (uint)(middle + jitter - cell / 10);
}

#endif
