/*
 * Spins that are unit vectors (xy, clock, heisenberg): a site's update and a bond's part in what is
 * measured, as pure functions, in C and in OpenCL C.
 *
 * H = -J sum s.s' - B sum s_n - h sum s.n - D sum s_z^2, n random at each site; with random
 * couplings -J sum j s.s'. A spin in a plane
 * (xy, clock) is an angle of 32 bits, and one of q directions is the angle floor(k 2^32 / q). A
 * spin in space (heisenberg) has three components on the grid of common/unit.h. The field B points
 * along z, in a plane along x.
 */
#ifndef ERGO_CL_SPIN_LATTICE_VECTOR_H
#define ERGO_CL_SPIN_LATTICE_VECTOR_H

#include "common/log.h"
#include "common/rng.h"
#include "common/unit.h"
#include "spin_lattice/vector_params.h"

/* floor(a b / 2^32) */
ERGO_INLINE uint vector_part(uint a, uint b) {
    return (uint)(((ulong)a * b) >> 32);
}

/* ---- one of q directions -------------------------------------------------------------------- */

/* Angle of direction k < q. */
ERGO_INLINE uint vector_direction(uint k, uint q) {
    const uint whole = (0u - q) / q + 1u; /* floor(2^32 / q) */
    return k * whole + k * (0u - whole * q) / q;
}

/* k of vector_direction. */
ERGO_INLINE uint vector_number(uint angle, uint q) {
    return (uint)(((ulong)angle * q + (q - 1u)) >> 32);
}

/* ---- starts --------------------------------------------------------------------------------- */

/* q 0: any angle */
ERGO_INLINE uint vector_start_angle(uint word, uint q) {
    return q ? vector_direction(vector_part(word, q), q) : word;
}

ERGO_INLINE ergo_vector vector_start(uint height, uint around) {
    return ergo_unit_of(ergo_unit_random(height, around));
}

/* Direction of a site's random field. */
ERGO_INLINE ergo_vector vector_random(uint site, uint key0, uint key1, uint space) {
    const struct ergo_words w =
        ergo_philox_words(site, 0u, 0u, ERGO_DRAW(VECTOR_PURPOSE_FIELD, 0), key0, key1);
    return space ? ergo_unit_random(w.x, w.y) : ergo_vector_of(ergo_cos(w.x), ergo_sin(w.x), 0.0f);
}

/* ---- updates -------------------------------------------------------------------------------- */

/* The local field, from the sum of the neighbours: the energy of a spin is -s.h. */
ERGO_INLINE float vector_field(float sum, float coupling, float field) {
    return ERGO_FMA(coupling, sum, field);
}

/* Metropolis: is a move accepted that costs `cost`? u < exp(-cost / T) for u from the word. */
ERGO_INLINE uint vector_accepts(float cost, float beta, uint word) {
    return ergo_minus_log(word) >= beta * cost;
}

/*
 * A spin in a plane, in the local field (hx, hy). The proposal is one of `width` angles, or
 * directions where q > 0, around the old one: as many on either side, so it is symmetric. The old
 * one is among them: so no spin has to flip at each step, which a chain with two directions would
 * repeat for ever where flips cost nothing.
 */
ERGO_INLINE uint vector_turn(uint old, float hx, float hy, float beta, uint width, uint q,
                             struct ergo_words random) {
    const uint by = vector_part(random.x, width) - width / 2u;
    uint new = old + by;
    if (q) {
        const uint to = vector_number(old, q) + q + by; /* |by| <= q / 2 */
        new = vector_direction(to % q, q);
    }
    const float cost =
        ERGO_FMA(ergo_cos(old) - ergo_cos(new), hx, (ergo_sin(old) - ergo_sin(new)) * hy);
    return vector_accepts(cost, beta, random.y) ? new : old;
}

/* A spin in space: a step of length `step` in a random direction, and back to the sphere. How
 * likely it is depends on the angle between old and new alone, so the proposal is symmetric. */
ERGO_INLINE ergo_vector vector_tilt(ergo_vector old, ergo_vector h, float beta, float step,
                                    float anisotropy, struct ergo_words random) {
    const ergo_vector by = ergo_unit_random(random.x, random.y);
    const ergo_vector new = ergo_unit_of(ergo_vector_of(
        ERGO_FMA(step, by.x, old.x), ERGO_FMA(step, by.y, old.y), ERGO_FMA(step, by.z, old.z)));
    const ergo_vector less = ergo_vector_of(old.x - new.x, old.y - new.y, old.z - new.z);
    const float cost = ERGO_FMA(anisotropy * (old.z + new.z), less.z, ergo_dot(less, h));
    return vector_accepts(cost, beta, random.z) ? new : old;
}

/*
 * Heat bath: 1 - cos of the angle to the local field, k = |h|/T. The density exp(k cos) has the
 * inverse cos = 1 + ln(v + (1 - v) exp(-2k)) / k with v uniform (Miyatake et al., J. Phys. C 19,
 * 2539 (1986)). For small k that is a quotient of small numbers: there its series in k, with x = 2v
 * - 1, whose rest is below k^3 / 10.
 */
ERGO_INLINE float vector_below(float k, uint word) {
    const float v = ERGO_FMA((float)word, 0x1p-32f, 0x1p-33f);
    if (k < 0.015625f) {
        const float x = 2.0f * v - 1.0f, rest = (1.0f - x) * (1.0f + x);
        return 1.0f - ERGO_FMA(k * rest, ERGO_FMA(k * x, -0.333333343f, 0.5f), x);
    }
    const float low = k < 43.0f ? ergo_exp(-2.0f * k) : 0.0f;
    const float below = (0.0f - ergo_ln(ERGO_FMA(1.0f - v, low, v))) * ergo_inverse(k);
    return below < 2.0f ? below : 2.0f;
}

ERGO_INLINE ergo_vector vector_heat(ergo_vector h, float beta, struct ergo_words random) {
    const float h2 = ergo_dot(h, h), inverse = ergo_rsqrt(h2);
    const uint none = h2 == 0.0f;
    const ergo_vector n = ergo_vector_of(h.x * inverse, h.y * inverse, none ? 1.0f : h.z * inverse);
    return ergo_unit_beside(n, vector_below(beta * (h2 * inverse), random.x), random.y);
}

/* Over-relaxation: reflected at the local field, at the same energy. Once more gives the old spin
 * to the bit. */
ERGO_INLINE uint vector_relax_angle(uint old, float hx, float hy) {
    return 2u * ergo_angle(hx, hy) - old;
}

/* ---- measurements --------------------------------------------------------------------------- */

/* |x| < 2 in units of 2^-30 */
ERGO_INLINE int vector_fixed(float x) {
    return (int)(x * 0x1p30f);
}

/* A component of a x b. */
ERGO_INLINE int vector_cross(float a1, float a2, float b1, float b2) {
    return vector_fixed(ERGO_FMA(a1, b2, 0.0f - a2 * b1));
}

/* The same times a bond's coupling. */
ERGO_INLINE int vector_coupled(float j, float a1, float a2, float b1, float b2) {
    return vector_fixed(j * ERGO_FMA(a1, b2, 0.0f - a2 * b1));
}

/* The angle of the wave k at a site: k in units of 2^-32 of a turn. */
ERGO_INLINE uint vector_phase(const uint *k, uint x, uint y, uint z) {
    return k[0] * x + k[1] * y + k[2] * z;
}

/* Chirality of a triangle: the sum of the sines of the turns around it, in units of 2^-29. */
ERGO_INLINE int vector_chirality(uint a, uint b, uint c) {
    return (int)(ergo_sin(b - a) * 0x1p29f) + (int)(ergo_sin(c - b) * 0x1p29f) +
           (int)(ergo_sin(a - c) * 0x1p29f);
}

/* Is there a vortex, of either sense, in the plaquette whose corners have these angles? The four
 * turns, each by the shorter way, add up to a multiple of 2^32. */
ERGO_INLINE uint vector_vortex(uint a, uint b, uint c, uint d) {
    /* sign bits of the turns, against the bits that the sum wraps by: the signed sum is the
     * unsigned one, 0, less 2^32 for each negative turn, and the carries of the unsigned sum */
    const uint t0 = b - a, t1 = c - b, t2 = d - c, t3 = a - d;
    const uint s1 = t0 + t1, s2 = s1 + t2, s3 = s2 + t3;
    const uint carries = (uint)(s1 < t0) + (uint)(s2 < s1) + (uint)(s3 < s2);
    return carries != (t0 >> 31) + (t1 >> 31) + (t2 >> 31) + (t3 >> 31);
}

#endif
