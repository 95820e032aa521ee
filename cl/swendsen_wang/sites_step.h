/* What a step does to a site: bonds, new states, for states and unit vectors. */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_STEP_H
#define ERGO_CL_SWENDSEN_WANG_SITES_STEP_H

#include "swendsen_wang/sites_spin.h"
#include "swendsen_wang/sites_tile.h"

/* What a step has in common: Wolff's seed, or the mirror of unit vectors. */
#if SW_MODEL == SW_MODEL_POTTS
#define SW_STEP_OF(m, step) sw_site_seed((m), (step))
typedef struct sw_seed sw_common;

/* The active bonds of a site, by bits: some of those between equal neighbours. */
ERGO_INLINE uint sw_site_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common, ulong step,
                               uint weak) {
    const uint spin = spins[s.index];
    uint open = SW_FIELD && spin == 0u ? SW_GHOST_BOND : 0u, around;
    (void)common;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (sw_site_owns(s.x, s.y, s.z, d)) {
            const uint other = spins[sw_site_next(s.x, s.y, s.z, d, &around)];
            open |= (other ^ sw_site_turns(around)) == spin ? 1u << d : 0u;
        }
    return sw_site_activate(m, s.index, step, open, weak);
}

/* The state of a representative's cluster, and a site of it that gets it. */
ERGO_INLINE uint sw_site_draw(const struct sw_site_member *m, uint root, ulong step) {
    return sw_state(root, SW_PURPOSE_SPIN, (uint)step, (uint)(step >> 32), m->key0, m->key1);
}

ERGO_INLINE void sw_site_give_state(__global sw_word *spins, uint site, uint state,
                                    const sw_common *common) {
    (void)common;
    /* across antiperiodic sides a cluster has both states, and changes both or none */
    spins[site] = (uchar)(SW_TURNED ? spins[site] ^ state : state);
}

/* A site of Wolff's cluster gets another state. */
ERGO_INLINE void sw_site_change(__global sw_word *spins, uint site, const sw_common *common) {
    spins[site] = (uchar)((spins[site] + common->shift) % SW_Q);
}
#else
#define SW_STEP_OF(m, step) SW_MIRROR((m), (step))
typedef struct sw_mirror sw_common;

ERGO_INLINE uint sw_site_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common, ulong step,
                               uint weak) {
    const float part = sw_part(SW_SPIN(spins, s.index), common);
    float weights[3] = {0.0f, 0.0f, 0.0f};
    uint around;
    for (uint d = 0; d < SW_DIRECTIONS; d++)
        if (sw_site_owns(s.x, s.y, s.z, d)) {
            const uint next = sw_site_next(s.x, s.y, s.z, d, &around);
            const float weight = part * sw_part(SW_SPIN(spins, next), common);
            weights[d] = sw_site_turns(around) ? 0.0f - weight : weight;
            if (SW_DISORDER)
                weights[d] *= sw_site_coupling(m, weak, d);
        }
    return sw_site_activate_parts(m, s.index, step, weights);
}

ERGO_INLINE void sw_site_change(__global sw_word *spins, uint site, const sw_common *common) {
    sw_spin_store(spins, site, sw_mirrored(SW_SPIN(spins, site), common));
}

/* Unit vectors: whether the cluster flips. */
ERGO_INLINE uint sw_site_draw(const struct sw_site_member *m, uint root, ulong step) {
    return sw_site_flips(m, root, step);
}

ERGO_INLINE void sw_site_give_state(__global sw_word *spins, uint site, uint state,
                                    const sw_common *common) {
    if (state)
        sw_site_change(spins, site, common);
}
#endif

/* A CPU's work-item does a whole tile: nothing is gained, and there is more to compile. */
#if SW_GROUP == 1
#define SW_UNROLL
#else
#define SW_UNROLL ERGO_UNROLL
#endif

#if SW_MODEL == SW_MODEL_POTTS && SW_LATTICE == SW_LATTICE_SQUARE && SW_LX % 4 == 0
/* Bit 0 of each byte in which two words are equal. */
ERGO_INLINE uint sw_bytes_equal(uint a, uint b) {
    const uint x = a ^ b;
    return ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) >> 7 & 0x01010101u;
}

/* Bonds in a direction that may be active. ends: bit 0 of the sites whose bond crosses a side. */
ERGO_INLINE uint sw_four_open(uint own, uint next, uint side, uint ends) {
    const uint open = sw_bytes_equal(own, SW_ANTI & side ? next ^ ends : next);
    return SW_OPEN & side ? open & ~ends : open;
}

/* The active bonds of the site and the three after it: a byte for each, a bit for each direction.
 * weak: of all sites (sw_site_weak), with disorder. */
ERGO_INLINE uint sw_four_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common, ulong step,
                               __global const uchar *weak) {
    uint active = 0u, weaker = 0u;
    (void)common;
    if (!s.inside)
        return 0u;
    const uint last_x = s.x + 4u == SW_LX, last_y = s.y + 1u == SW_LY, last_z = s.z + 1u == SW_LZ;
    const uint own = *(__global const uint *)(spins + s.index);
    const uint right = spins[s.index + 4u - (last_x ? SW_LX : 0u)];
    const uint below = s.index + SW_LX - (last_y ? SW_AROUND_ROWS : 0u);
    uint open = sw_four_open(own, own >> 8 | right << 24, SW_AROUND_X, last_x ? 1u << 24 : 0u);
    open |= sw_four_open(own, *(__global const uint *)(spins + below), SW_AROUND_Y,
                         last_y ? 0x01010101u : 0u)
            << 1;
#if SW_DIRECTIONS > 2
    const uint behind = s.index + SW_LAYER - (last_z ? SW_AROUND_LAYERS : 0u);
    open |= sw_four_open(own, *(__global const uint *)(spins + behind), SW_AROUND_Z,
                         last_z ? 0x01010101u : 0u)
            << 2;
#endif
    if (SW_FIELD)
        open |= sw_bytes_equal(own, 0u) << 3;
    if (SW_DISORDER)
        weaker = *(__global const uint *)(weak + s.index);
    SW_UNROLL
    for (uint j = 0; j < 4u; j++)
        active |= sw_site_activate(m, s.index + j, step, open >> 8u * j & 15u, weaker >> 8u * j)
                  << 8u * j;
    return active;
}
#else
ERGO_INLINE uint sw_four_bonds(__global const sw_word *spins, struct sw_tile_site s,
                               const struct sw_site_member *m, const sw_common *common, ulong step,
                               __global const uchar *weak) {
    uint active = 0u;
    for (uint j = 0; j < 4u && s.inside && s.x < SW_LX; j++) {
        const uint weaker = SW_DISORDER ? weak[s.index] : 0u;
        active |= sw_site_bonds(spins, s, m, common, step, weaker) << 8u * j;
        s.x++;
        s.index++;
    }
    return active;
}
#endif

#endif
