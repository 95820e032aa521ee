/* A byte per spin on a device: what a measurement counts of a block of sixteen sites. */
#ifndef ERGO_CL_SPIN_LATTICE_BYTES_COUNT_H
#define ERGO_CL_SPIN_LATTICE_BYTES_COUNT_H

#include "common/sum64.h"
#include "spin_lattice/bytes_step.h"

#define BYTES_STATES ((BYTES_MODEL) == 0 ? 4u : (uint)(BYTES_Q)) /* values of a byte */
#define BYTES_COUNTS (3 + BYTES_STATES + (BYTES_MODEL == 0))     /* of a measurement */
#define BYTES_NUMBERS (BYTES_COUNTS + 2 * BYTES_GENERAL)         /* of a sample of a member */

/* Equal neighbours (or bytes_pairs) along x, y, z; with at most four values of a byte the sites
 * with each; up spins on sites of positive sign. */
struct bytes_tally {
    uint x, y, z, few[4], even;
};

/* The number of equal ones among four pairs. For blume-capel: the sum of s s', modulo 2^32. */
ERGO_INLINE uint bytes_pairs(uint a, uint b, uint here) {
    const uint charged = ~(a | b) & here; /* neither is 0 */
    return BYTES_MODEL == 3 ? popcount(charged) - 2 * popcount((a ^ b) >> 1 & charged)
                            : popcount(bytes_equal(a, b) & here);
}

/* Add block `at` of the lattice `first`, blocks of colour 0 before those of colour 1. With more
 * than four values of a byte the sites with value k go to states[k]. */
ERGO_INLINE struct bytes_tally bytes_count(struct bytes_tally t, BYTES_PLACE const uint4 *first,
                                           ulong at, uint staggered, __local uint *states) {
    const uint colour = at >= BYTES_COLOUR, of = (uint)(at - colour * BYTES_COLOUR);
    const uint row = of / BYTES_BLOCKS, block = of - row * BYTES_BLOCKS;
    const struct bytes_sixteen s = bytes_load(first, at);
    struct bytes_view v;
    if (colour == 0)
        v = bytes_look(first + BYTES_COLOUR, row, block, 0);
    else
        v = bytes_look(first, row, block, 1);
    const uint mask = BYTES_MODEL == 0 ? BYTES_ONES : 0xffffffffu;
    const uint before = t.few[1] + t.few[3];
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (h >= BYTES_HALF)
            break;
        const uint here =
            BYTES_HALF - h < 4 ? BYTES_ONES >> 8 * (4 - (BYTES_HALF - h)) : BYTES_ONES;
        const uint a = s.at[g] & mask;
        if (colour == 0) {
            t.x += bytes_pairs(a, v.near.at[g] & mask, here) +
                   bytes_pairs(a, v.side.at[g] & mask, here);
            if (BYTES_D > 1)
                t.y += bytes_pairs(a, v.north.at[g] & mask, here) +
                       bytes_pairs(a, v.south.at[g] & mask, here);
            if (BYTES_D > 2)
                t.z += bytes_pairs(a, v.above.at[g] & mask, here) +
                       bytes_pairs(a, v.below.at[g] & mask, here);
        }
        if (BYTES_STATES <= 4) {
            for (uint k = 0; k < BYTES_STATES; k++)
                t.few[k] += popcount(bytes_equal(s.at[g], k * BYTES_ONES) & here);
        } else {
            for (uint l = 0; l < 4; l++)
                if (h + l < BYTES_HALF)
                    atomic_inc(&states[s.at[g] >> 8 * l & 255]);
        }
    }
    if (BYTES_MODEL == 0 && !bytes_odd(staggered, row, colour))
        t.even += t.few[1] + t.few[3] - before;
    return t;
}

#if BYTES_GENERAL
/* Of block `at`: the sum of s B and, with general couplings, of J s s', in the member's unit;
 * potts: of the states' fields and of J (delta - 1). */
ERGO_INLINE long bytes_general_sum(BYTES_PLACE const uint4 *first, ulong at,
                                   __global const struct bytes_member *m, uint member,
                                   __global const int4 *terms) {
    const uint colour = at >= BYTES_COLOUR, of = (uint)(at - colour * BYTES_COLOUR);
    const uint row = of / BYTES_BLOCKS, block = of - row * BYTES_BLOCKS;
    const struct bytes_sixteen s = bytes_load(first, at);
    const struct bytes_view v = bytes_look(first + BYTES_COLOUR * (1 - colour), row, block, colour);
    long sum = 0;
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (h >= BYTES_HALF)
            break;
#if BYTES_MODEL != 0
        __global const int *t = bytes_terms_at(terms, 2 * (ulong)member + colour, of, g);
        for (uint l = 0; l < 4 && h + l < BYTES_HALF; l++, t++) {
            const uint own = s.at[g] >> 8 * l & 255;
            const struct bytes_site site = bytes_site_of(bytes_around_of(v, g), l, t, m);
            sum += bytes_in_field(t, m, own);
            if (BYTES_BONDS && colour == 0) /* colour 0 counts each bond once */
                sum += bytes_bonds_sum(own, site.near, site.j);
        }
#else
        const struct bytes_terms t = bytes_terms_of(terms, m, 2 * (ulong)member + colour, of, g);
        int4 part = t.field * BYTES_SIGNS(s.at[g]);
        if (BYTES_BONDS && colour == 0) /* colour 0 counts each bond once */
            part = bytes_half_cost(s.at[g], bytes_around_of(v, g), t);
        sum += (long)part.x + (h + 1 < BYTES_HALF ? part.y : 0) +
               (h + 2 < BYTES_HALF ? part.z : 0) + (h + 3 < BYTES_HALF ? part.w : 0);
#endif
    }
    return sum;
}
#endif

#endif
