/* Spin glasses on a device: the update of one site of four slots. Dimension 1 of all kernels is the
 * word-lattice: member * words.x + word. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_UPDATE_H
#define ERGO_CL_SPIN_LATTICE_GLASS_UPDATE_H

#include "spin_lattice/glass.h"

#define GLASS_SITES (2 * GLASS_HALF)

/* The samples of a word that are in use. */
#define GLASS_LANES(word, words, last) ((word) + 1 == (words) ? (last) : 0xffffffffu)

ERGO_INLINE uint4 glass_draw(uint site, ulong step, uint purpose, uint draw, uint2 key) {
    return ergo_philox((uint4)(site, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, draw)),
                       key.x, key.y);
}

/* Values that are the same for all sites of a quad. */
struct glass_place {
    uint2 key;
    ulong sweep;
    uint draw, lanes;               /* word << 8 | quad; samples in use */
    __global const uint4 *table;    /* +-1: hi and lo of the classes; else: scales */
    __global const uint *couplings; /* of the word-lattice */
};

#if !GLASS_REAL
/* The unsatisfied bonds of a site, at = colour * HALF + h. x: as in glass_decide. */
ERGO_INLINE struct glass_sum glass_unsatisfied(uint4 x[6], __global const uint *couplings,
                                               uint at) {
    __global const uint2 *bonds = (__global const uint2 *)(couplings + at * GLASS_Z);
    ERGO_UNROLL
    for (uint d = 0; d < GLASS_Z / 2; d++) {
        const uint2 pair = bonds[d];
        x[2 * d] ^= pair.x;
        x[2 * d + 1] ^= pair.y;
    }
    return glass_add(x);
}

/* The spins of a site that flip. */
ERGO_INLINE uint4 glass_choose(struct glass_sum s, struct glass_place p, uint site) {
    const uint4 r = glass_draw(site, p.sweep, GLASS_PURPOSE_UPDATE, p.draw, p.key);
    uint4 flip = glass_flips(s, p.table, r, 0, r);
    if (r.x == 0 || r.y == 0 || r.z == 0 || r.w == 0) /* once in 2^30 */
        flip = glass_flips(s, p.table, r, 1,
                           glass_draw(site, p.sweep, GLASS_PURPOSE_TIE, p.draw, p.key));
    return flip & p.lanes;
}
#else
/* Couplings that are not +-1 are added up for each sample. bonds: [32][directions]. */
ERGO_INLINE uint4 glass_real_flips(const uint4 x[7], __global const int *bonds, uint4 r,
                                   float4 scale) {
    const int4 limit = (int4)(glass_limit(r.x, scale.x), glass_limit(r.y, scale.y),
                              glass_limit(r.z, scale.z), glass_limit(r.w, scale.w));
    uint4 flip = (uint4)(0u);
    for (uint b = 0; b < 32; b++) {
        int4 cost = (int4)(0);
        ERGO_UNROLL
        for (uint d = 0; d < GLASS_BONDS; d++) {
            const int4 minus = -as_int4((x[d] >> b) & 1u);
            cost += ((int4)(bonds[b * GLASS_BONDS + d]) ^ minus) - minus;
        }
        flip |= as_uint4(cost < limit) & (1u << b);
    }
    return flip;
}
#endif

/* The spins of a site that flip, and the unsatisfied bonds before the flip (+-J only). */
struct glass_decision {
    uint4 flip;
    struct glass_sum sum;
};

/* x: the spins that differ from each neighbour (and from a field that is up); at: colour * HALF +
 * h. */
ERGO_INLINE struct glass_decision glass_decide(uint4 x[7], struct glass_place p, uint site,
                                               uint at) {
    struct glass_decision d;
#if GLASS_REAL
    const uint4 r = glass_draw(site, p.sweep, GLASS_PURPOSE_UPDATE, p.draw, p.key);
    d.sum.m0 = d.sum.m1 = d.sum.m2 = (uint4)(0u);
    d.flip = glass_real_flips(x, (__global const int *)p.couplings + at * (32 * GLASS_BONDS), r,
                              as_float4(p.table[0])) &
             p.lanes;
#else
    d.sum = glass_unsatisfied(x, p.couplings, at);
    d.flip = glass_choose(d.sum, p, site);
#endif
    return d;
}

/* x: where the own spins differ from each neighbour, and from a field. Sites are STRIDE quads
 * apart. */
#define GLASS_LOOK(x, own, a, other, STRIDE)                                                       \
    ERGO_UNROLL                                                                                    \
    for (uint d = 0; d < GLASS_Z; d++)                                                             \
        x[d] = (own) ^ (other)[(a).near[d] * (STRIDE)];                                            \
    if (GLASS_FIELD)                                                                               \
        x[GLASS_Z] = ~(own);

/* Update one site of four slots. `spins`: of the word-lattice; sites are STRIDE quads apart. */
#define GLASS_UPDATE(NAME, SPACE, STRIDE)                                                          \
    ERGO_INLINE struct glass_decision NAME(SPACE uint4 *spins, struct glass_place p, uint colour,  \
                                           uint h) {                                               \
        const struct glass_at a = glass_site(h, colour);                                           \
        const uint own_at = colour * GLASS_HALF + h;                                               \
        SPACE const uint4 *other = spins + (1 - colour) * GLASS_HALF * (STRIDE);                   \
        const uint4 own = spins[own_at * (STRIDE)];                                                \
        uint4 x[7];                                                                                \
        GLASS_LOOK(x, own, a, other, STRIDE)                                                       \
        const struct glass_decision d = glass_decide(x, p, a.site, own_at);                        \
        spins[own_at * (STRIDE)] = own ^ d.flip;                                                   \
        return d;                                                                                  \
    }

ERGO_INLINE struct glass_place glass_place(__global const uint *couplings,
                                           __global const uint4 *tables, __global const uint2 *keys,
                                           ulong sweep, uint2 words, uint last, uint lattice,
                                           uint quad) {
    struct glass_place p;
    const uint member = lattice / words.x, word = lattice - member * words.x;
    p.key = keys[member];
    p.sweep = sweep;
    p.draw = (words.y + word) << 8 | (GLASS_QUADS_BEFORE + quad);
    p.lanes = GLASS_LANES(word, words.x, last);
    p.table = tables + (member * GLASS_QUADS + quad) * (2 * GLASS_CLASSES);
    p.couplings =
        couplings + (ulong)lattice * (GLASS_SITES * GLASS_BONDS * (GLASS_REAL ? 32u : 1u));
    return p;
}

#endif
