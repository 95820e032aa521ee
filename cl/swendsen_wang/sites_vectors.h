/*
 * Unit vectors by clusters of Ising spins (U. Wolff, Phys. Rev. Lett. 62, 361 (1989)): pure
 * functions, also compiled as C. A step has a mirror, a random direction r. The Ising spin of a
 * site is the sign of its part s.r; a bond whose ends have parts of the same sign is active with
 * probability 1 - exp(-2 J (s.r)(s'.r)/T); a cluster that flips is mirrored, s - 2 (s.r) r.
 *
 * xy: spins and mirrors are angles of 32 bits (common/unit.h), so mirrored spins are exact. clock:
 * direction k of q is the angle 2 pi k/q, and mirror m of q takes k to m - k modulo q. Parts of
 * mirrored spins are the same but for the sign, to the bit. heisenberg: components on the grid of
 * common/unit.h; a mirror twice gives the old spin to the bit, parts agree within 3e-6.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_VECTORS_H
#define ERGO_CL_SWENDSEN_WANG_SITES_VECTORS_H

#include "common/log.h"
#include "common/unit.h"
#include "spin_lattice/vector.h"
#include "swendsen_wang/sites.h"

struct sw_mirror {
    uint angle; /* xy; clock: m */
    ergo_vector direction;
};

/* q: of clock */
ERGO_INLINE struct sw_mirror sw_mirror_of(const struct sw_site_member *m, ulong step, uint q) {
    const struct ergo_words r = ergo_philox_words(
        0u, (uint)step, (uint)(step >> 32), ERGO_DRAW(SW_PURPOSE_MIRROR, 0), m->key0, m->key1);
    struct sw_mirror mirror;
    mirror.angle = q ? sw_one_of(q, r.x, r.y) : r.x;
    mirror.direction = ergo_unit_random(r.x, r.y);
    return mirror;
}

ERGO_INLINE float sw_part_angle(uint angle, uint mirror) {
    return ergo_cos(angle - mirror);
}

ERGO_INLINE uint sw_mirrored_angle(uint angle, uint mirror) {
    return 2u * mirror + 0x80000000u - angle;
}

/* sin(pi j/q), j = 2 k - m modulo 2 q, from its first quarter. */
ERGO_INLINE float sw_part_clock(uint k, uint m, uint q) {
    const uint turn = (2u * k + 2u * q - m) % (2u * q), within = turn % q;
    const uint low = 2u * within > q ? q - within : within;
    const float part = ergo_sin((uint)(((ulong)low << 31) / q));
    return turn < q ? part : 0.0f - part;
}

ERGO_INLINE uint sw_mirrored_clock(uint k, uint m, uint q) {
    return (m + q - k) % q;
}

ERGO_INLINE ergo_vector sw_mirrored_vector(ergo_vector s, ergo_vector mirror) {
    const ergo_vector turned = ergo_unit_reflect(s, mirror);
    return ergo_vector_of(0.0f - turned.x, 0.0f - turned.y, 0.0f - turned.z);
}

/* A bond's coupling over the first; weak: bonds of the site, by bits. */
ERGO_INLINE float sw_site_coupling(const struct sw_site_member *m, uint weak, uint direction) {
    return weak >> direction & 1u ? m->ratio : 1.0f;
}

/* The active bonds of a site, by bits. weights: the products of parts at their ends, with disorder
 * times the bond's coupling over the first. */
ERGO_INLINE uint sw_site_activate_parts(const struct sw_site_member *m, uint index, ulong step,
                                        const float *weights) {
    const struct ergo_words r = sw_site_words(m, index, step);
    const uint words[3] = {r.x, r.y, r.z};
    uint active = 0u;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (weights[d] > 0.0f && ergo_minus_log(words[d]) < m->coupling * weights[d])
            active |= 1u << d;
    return active;
}

/* Does the cluster of this representative flip? */
ERGO_INLINE uint sw_site_flips(const struct sw_site_member *m, uint root, ulong step) {
    const struct ergo_words r = ergo_philox_words(root, (uint)step, (uint)(step >> 32),
                                                  ERGO_DRAW(SW_PURPOSE_SPIN, 0), m->key0, m->key1);
    return r.x >> 31;
}

/* A part in units of 2^-30. */
ERGO_INLINE uint sw_part_fixed(float part) {
    return (uint)vector_fixed(part < 0.0f ? 0.0f - part : part);
}

/* The angle of the smallest wave along the last dimension, at place `at` of `side`. */
ERGO_INLINE uint sw_wave(uint at, uint side) {
    return at * (uint)(0x100000000UL / side);
}

#endif
