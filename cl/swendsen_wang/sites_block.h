/*
 * Blocks of 16 sites, which a work-item has in registers: 4 x 2 x 2, or 4 x 4 in two dimensions.
 * Pure functions, also compiled as C. Site i of a block has x = i mod 4, then y, then z.
 *
 * The parts of clusters in a block are two words of eight numbers of four bits: of each site the
 * first site of its part. To join two, the larger number is replaced wherever it stands, by a dozen
 * instructions without a branch. At the critical point of the cubic Ising model 28 of a block's 48
 * bonds are within it, and 16 sites have ten parts: bonds within blocks need no memory, and no warp
 * waits for the longest of 32 walks.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_SITES_BLOCK_H
#define ERGO_CL_SWENDSEN_WANG_SITES_BLOCK_H

#include "swendsen_wang/sites.h"

#define SW_BLOCK 16u
#define SW_BX 4u
#define SW_BY (SW_LZ > 1u ? 2u : 4u)
#define SW_BZ (SW_LZ > 1u ? 2u : 1u)
#define SW_DIAGONAL (SW_LATTICE == SW_LATTICE_TRIANGULAR)

/* Sites whose next one in a direction is in the block, by bits, and how far it is. */
#define SW_WITHIN_X 0x7777u
#define SW_WITHIN_Y (SW_LZ > 1u ? 0x0f0fu : 0x0fffu)
#define SW_WITHIN_Z (SW_DIAGONAL ? 0x0777u : 0x00ffu)
#define SW_APART_Y 4u
#define SW_APART_Z (SW_DIAGONAL ? 5u : 8u)

struct sw_block_parts {
    uint low, high;
};

ERGO_INLINE uint sw_part_of(struct sw_block_parts p, uint i) {
    return (i < 8u ? p.low : p.high) >> 4u * (i & 7u) & 15u;
}

/* The numbers of a word that are equal to those of another: the lowest bit of each. */
ERGO_INLINE uint sw_numbers_equal(uint word, uint other) {
    uint x = word ^ other;
    x |= x >> 1;
    x |= x >> 2;
    return ~x & 0x11111111u;
}

ERGO_INLINE void sw_parts_join(struct sw_block_parts *p, uint a, uint b, uint active) {
    const uint pa = sw_part_of(*p, a), pb = sw_part_of(*p, b);
    const uint change = active ? pa ^ pb : 0u, larger = (pa < pb ? pb : pa) * 0x11111111u;
    p->low ^= sw_numbers_equal(p->low, larger) * change;
    p->high ^= sw_numbers_equal(p->high, larger) * change;
}

/* Two sites of one word, as long as no part has sites in both. */
ERGO_INLINE uint sw_word_join(uint word, uint a, uint b, uint active) {
    const uint pa = word >> 4u * a & 15u, pb = word >> 4u * b & 15u;
    const uint change = active ? pa ^ pb : 0u, larger = (pa < pb ? pb : pa) * 0x11111111u;
    return word ^ sw_numbers_equal(word, larger) * change;
}

/* The parts that active bonds make; x, y, z: the sites that own one, by bits. Those that leave the
 * block do not count. */
ERGO_INLINE struct sw_block_parts sw_parts_of(uint x, uint y, uint z) {
    struct sw_block_parts p = {0u, 0u};
    uint before = 0u;
    ERGO_UNROLL
    for (uint i = 0; i < SW_BLOCK; i++) {
        before = i && (x & SW_WITHIN_X) >> (i - 1u) & 1u ? before : i;
        if (i < 8u)
            p.low |= before << 4u * i;
        else
            p.high |= before << 4u * (i - 8u);
    }
    ERGO_UNROLL
    for (uint i = 0; i < 4u; i++) {
        p.low = sw_word_join(p.low, i, i + SW_APART_Y, y >> i & 1u);
        p.high = sw_word_join(p.high, i, i + SW_APART_Y, y >> (8u + i) & 1u);
    }
    ERGO_UNROLL
    for (uint i = 0; i < SW_BLOCK; i++) {
        if (SW_WITHIN_Y >> i & i >> 2 & 1u)
            sw_parts_join(&p, i, i + SW_APART_Y, y >> i & 1u);
        if (SW_DIRECTIONS > 2u && SW_WITHIN_Z >> i & 1u)
            sw_parts_join(&p, i, i + SW_APART_Z, z >> i & 1u);
    }
    return p;
}

/* The first sites of parts: bit 4 k for site k, and 4 k + 1 for site 8 + k. */
ERGO_INLINE uint sw_parts_firsts(struct sw_block_parts p) {
    return sw_numbers_equal(p.low, 0x76543210u) | sw_numbers_equal(p.high, 0xfedcba98u) << 1;
}

/* The lowest of these bits as a site. */
ERGO_INLINE uint sw_first_site(uint bits) {
    const uint place = 31u - ERGO_CLZ(bits & (0u - bits));
    return (place >> 2) + 8u * (place & 1u);
}

/* Bit 0 of each of four bytes, side by side. */
ERGO_INLINE uint sw_four_bits(uint bytes) {
    return ((bytes & 0x01010101u) * 0x01020408u) >> 24 & 15u;
}

#endif
