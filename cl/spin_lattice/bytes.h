/*
 * Models with a byte per spin on lattices of one to three dimensions, with all sides even: pure
 * functions. Updates go by checkerboard: a sweep updates the sites of one colour c = (x + y + z) &
 * 1, then those of the other.
 *
 * Layout. Each colour has rows (y, z), row = y + LY z, of BYTES_PITCH bytes, a multiple of 16; the
 * first LX / 2 of them are sites. Byte h of a row is at x = 2h + ((y + z + c) & 1). Four bytes form
 * a uint, the lowest byte first. Ising: bit 0 is the spin (1: up), bit 1 the sign of the random
 * field (1: up). Potts: the state. Blume-Capel: 1 - s.
 *
 * Random numbers. The four sites h = 4g .. 4g + 3 of a row share a counter and use one word each:
 * entity = row ceil(LX/8) + g, step = sweep, draw = colour. The heat bath of potts uses four words
 * per site: entity = row LX/2 + h.
 *
 * Tables hold probabilities. A probability p is stored as round(2^32 p), at most 2^32 - 1. Below,
 * nk is the number of neighbours along direction k that are up (ising) or in a state (potts).
 *   Ising: of a flip, at (nx + 3 ny + 9 nz) + 27 spin + 54 field.
 *   Potts, Metropolis: of taking the proposed state, at 62 + sum over k of
 *   5^k (nk for the old state - nk for the new one).
 *   Blume-Capel: of taking the proposed state, at 39 own + 13 proposed + sum of all neighbours'
 *   bytes.
 *   Potts, heat bath: a state's weight instead, at nx + 3 ny + 9 nz. It is exp(sum Jk nk / T),
 *   divided by the largest possible weight, times 2^40, in two words. With two or three states the
 *   choices that follow from the weights have a table of their own, see bytes_choose.
 *
 * General fields and couplings use no table. Each site has its field, of potts one for each state
 * or none beside the uniform one. It also has a coupling for each neighbour, or there is one
 * coupling for each direction. All are integers in the member's unit of energy, a power of two. An
 * Ising spin flips if half of the energy that this costs is below the limit of its random word
 * (limit.h). Potts and Blume-Capel, by Metropolis only: the proposed state is taken if what it
 * costs is below the limit of the word's lower part.
 *
 * With BYTES_CUT the lattice here is a slab of one that is cut over ranks: layers (planes, in two
 * dimensions rows) of it with halos around them (src/engine/slab.h), the first of an even number.
 * BYTES_ALL_ROWS: rows of the whole lattice. Kernels then say for which rows they are, BYTES_RANGE.
 *
 * Compile-time: BYTES_D, BYTES_LX, BYTES_LY, BYTES_LZ, BYTES_Q, BYTES_MODEL (0 ising, 1 potts
 * Metropolis, 2 potts heat bath, 3 Blume-Capel), BYTES_FIELDS (0: no random field, bit 1 is always
 * 0), BYTES_GENERAL (general fields), BYTES_BONDS (also general couplings), BYTES_FIELD_PLANES
 * (general fields of a site), BYTES_HEAT (heat bath for both), BYTES_STRIP (rows per work-item, a
 * divisor of BYTES_LY), BYTES_CHOICES (entries of the table of choices, or 0).
 */
#ifndef ERGO_CL_SPIN_LATTICE_BYTES_H
#define ERGO_CL_SPIN_LATTICE_BYTES_H

#include "common/rng.h"
#include "spin_lattice/bytes_params.h"
#include "spin_lattice/limit.h"

#define BYTES_HALF ((BYTES_LX) / 2)
#define BYTES_PITCH (((BYTES_HALF) + 15) / 16 * 16)
#define BYTES_ROWS ((uint)(BYTES_LY) * (uint)(BYTES_LZ))
#define BYTES_QUADS (((BYTES_HALF) + 3) / 4) /* per row */
#define BYTES_ONES 0x01010101u

#ifdef BYTES_CUT
#define BYTES_RANGE , uint begin_row, uint end_row
#define BYTES_FROM begin_row
#define BYTES_TO end_row
/* The number of a row in the whole lattice, around its end. */
#define BYTES_ENTITY(row, member) (((row) + (member)->first_row) % (uint)(BYTES_ALL_ROWS))
#else
#define BYTES_RANGE
#define BYTES_FROM 0u
#define BYTES_TO BYTES_ROWS
#define BYTES_ENTITY(row, member) (row)
#endif

/* Is the sign (-1)^(sum of x, y, z over the staggered directions) negative? All sites of one colour
 * in a row have the same. */
ERGO_INLINE uint bytes_odd(uint staggered, uint row, uint colour) {
    const uint z = row / (uint)(BYTES_LY), y = row - z * (uint)(BYTES_LY), x = y + z + colour;
    return ((staggered & x) ^ (staggered >> 1 & y) ^ (staggered >> 2 & z)) & 1;
}

/* 1 in each byte in which a and b agree, 0 in the others. */
ERGO_INLINE uint bytes_equal(uint a, uint b) {
    const uint x = a ^ b;
    return (~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) >> 7) & BYTES_ONES;
}

ERGO_INLINE uint bytes_accepts(uint random, uint chance) {
    return random < chance;
}

/* The neighbours of four sites. Those along absent dimensions are not read. */
struct bytes_around {
    uint west, east; /* in this order only for the heat bath of potts */
    uint north, south, above, below;
};

/* New bytes of four sites, except for the heat bath of potts. table: of the member. */
#ifdef __OPENCL_VERSION__
#define BYTES_SPACE __local
#else
#define BYTES_SPACE
#endif
ERGO_INLINE uint bytes_update(uint own, struct bytes_around n, struct ergo_words r,
                              BYTES_SPACE const uint *table) {
    const uint random[4] = {r.x, r.y, r.z, r.w};
    uint result = 0;
    if ((BYTES_MODEL) == 0) {
        /* without fields the other bits are 0 anyway */
        const uint spin = (BYTES_FIELDS) ? BYTES_ONES : 0xffffffffu;
        uint at = (n.west & spin) + (n.east & spin) + 27 * (own & spin);
        if (BYTES_FIELDS)
            at += 54 * (own >> 1 & BYTES_ONES);
        if ((BYTES_D) > 1)
            at += 3 * ((n.north & spin) + (n.south & spin));
        if ((BYTES_D) > 2)
            at += 9 * ((n.above & spin) + (n.below & spin));
        ERGO_UNROLL
        for (int l = 0; l < 4; l++)
            result |= bytes_accepts(random[l], table[at >> 8 * l & 255]) << 8 * l;
        return own ^ result;
    }
    uint proposed = 0, rest[4];
    ERGO_UNROLL
    for (int l = 0; l < 4; l++) {
        /* The upper word chooses one of the other states. The lower one, what is left of the random
         * number in steps of q - 1, decides about acceptance. */
        const ulong w = (ulong)random[l] * ((BYTES_Q)-1);
        uint state = (own >> 8 * l & 255) + 1 + (uint)(w >> 32);
        state -= state >= (BYTES_Q) ? (BYTES_Q) : 0;
        proposed |= state << 8 * l;
        rest[l] = (uint)w;
    }
    uint at;
    if ((BYTES_MODEL) == 3) {
        at = 39 * own + 13 * proposed + n.west + n.east;
        if ((BYTES_D) > 1)
            at += n.north + n.south;
        if ((BYTES_D) > 2)
            at += n.above + n.below;
    } else {
        at = 62 * BYTES_ONES + bytes_equal(own, n.west) + bytes_equal(own, n.east);
        if ((BYTES_D) > 1)
            at += 5 * (bytes_equal(own, n.north) + bytes_equal(own, n.south));
        if ((BYTES_D) > 2)
            at += 25 * (bytes_equal(own, n.above) + bytes_equal(own, n.below));
        at -= bytes_equal(proposed, n.west) + bytes_equal(proposed, n.east);
        if ((BYTES_D) > 1)
            at -= 5 * (bytes_equal(proposed, n.north) + bytes_equal(proposed, n.south));
        if ((BYTES_D) > 2)
            at -= 25 * (bytes_equal(proposed, n.above) + bytes_equal(proposed, n.below));
    }
    ERGO_UNROLL
    for (int l = 0; l < 4; l++)
        result |= (0u - bytes_accepts(rest[l], table[at >> 8 * l & 255])) & (255u << 8 * l);
    return (own & ~result) | (proposed & result);
}

/* General fields and couplings: of four sites on the device, of one in C. */
#ifdef __OPENCL_VERSION__
typedef int4 bytes_ints;
#define BYTES_SIGNS(v)                                                                             \
    (((int4)((int)(v), (int)((v) >> 8), (int)((v) >> 16), (int)((v) >> 24)) & 1) * 2 - 1)
#define BYTES_BELOW(a, b) as_uint4((a) < (b))
#else
typedef int bytes_ints;
#define BYTES_SIGNS(v) ((int)((v)&1) * 2 - 1)
#define BYTES_BELOW(a, b) ((uint)((a) < (b)))
#endif
struct bytes_terms {
    bytes_ints field;
    bytes_ints west, east, north, south, above, below; /* the couplings to these neighbours */
};

/* s (B + sum J s'), half of the energy that a flip costs. */
ERGO_INLINE bytes_ints bytes_half_cost(uint own, struct bytes_around n, struct bytes_terms t) {
    bytes_ints force = t.field + t.west * BYTES_SIGNS(n.west) + t.east * BYTES_SIGNS(n.east);
    if ((BYTES_D) > 1)
        force += t.north * BYTES_SIGNS(n.north) + t.south * BYTES_SIGNS(n.south);
    if ((BYTES_D) > 2)
        force += t.above * BYTES_SIGNS(n.above) + t.below * BYTES_SIGNS(n.below);
    return force * BYTES_SIGNS(own);
}

/* General terms of one site of potts or blume-capel. near, j: the neighbours' bytes and the
 * couplings to them. */
#if BYTES_MODEL == 1 || BYTES_MODEL == 3
/* What the bonds add if the site goes from `own` to `to`. */
ERGO_INLINE int bytes_bonds_cost(uint own, uint to, const uint *near, const int *j) {
    int sum = 0;
    ERGO_UNROLL
    for (uint k = 0; k < 2 * (BYTES_D); k++)
        sum += (BYTES_MODEL) == 3 ? j[k] * (1 - (int)near[k])
                                  : j[k] * ((int)(near[k] == own) - (int)(near[k] == to));
    return (BYTES_MODEL) == 3 ? ((int)to - (int)own) * sum : sum;
}

/* The sum over the bonds of J (delta - 1), of blume-capel of J s s'. */
ERGO_INLINE int bytes_bonds_sum(uint own, const uint *near, const int *j) {
    int sum = 0;
    ERGO_UNROLL
    for (uint k = 0; k < 2 * (BYTES_D); k++)
        sum += (BYTES_MODEL) == 3 ? j[k] * ((1 - (int)own) * (1 - (int)near[k]))
                                  : j[k] * ((int)(near[k] == own) - 1);
    return sum;
}
#endif

/* Heat bath of potts for one site: byte `lane` of the neighbours. A state is drawn in proportion to
 * its weight. */
ERGO_INLINE uint bytes_heat_bath(struct bytes_around n, int lane, struct ergo_words r,
                                 BYTES_SPACE const uint *table, BYTES_SPACE const uint *low) {
    const uint all[6] = {n.west >> 8 * lane & 255,  n.east >> 8 * lane & 255,
                         n.north >> 8 * lane & 255, n.south >> 8 * lane & 255,
                         n.above >> 8 * lane & 255, n.below >> 8 * lane & 255};
    ulong weight[6] = {0, 0, 0, 0, 0, 0};
    uint distinct = 0;
    const ulong alone = (ulong)table[0] << 32 | low[0];
    ulong total = 0;
    for (uint i = 0u; i < 2 * (BYTES_D); i++) {
        uint at = 0, seen = 0;
        for (uint k = 0u; k < 2 * (BYTES_D); k++) {
            const uint same = all[k] == all[i];
            at += same * (k < 2 ? 1u : k < 4 ? 3u : 9u);
            seen |= same & (uint)(k < i);
        }
        weight[i] = seen ? 0 : (ulong)table[at] << 32 | low[at];
        distinct += 1 - seen;
        total += weight[i];
    }
    total += ((BYTES_Q)-distinct) * alone; /* below 2^48 + 2^43 */
    /* upper part of the product with 64 random bits; total has at most 49 bits */
    const ulong high = total >> 32, part = total & 0xffffffffu, middle = part * r.x;
    ulong target = high * r.x + (middle >> 32) +
                   (((middle & 0xffffffffu) + high * r.y + (part * r.y >> 32)) >> 32);
    for (uint i = 0u; i < 2 * (BYTES_D); i++) {
        if (target < weight[i])
            return all[i];
        target -= weight[i];
    }
    /* a state that no neighbour has: the j-th of these */
    const uint j = (uint)(((ulong)r.z * ((BYTES_Q)-distinct)) >> 32);
    uint state = j;
    for (uint pass = 0u; pass < 2 * (BYTES_D) + 1; pass++) {
        uint below = 0;
        for (uint i = 0u; i < 2 * (BYTES_D); i++)
            below += weight[i] != 0 && all[i] <= state;
        state = j + below;
    }
    return state;
}

/* The same by a table over all states of the neighbours: entry sum over k of q^k (state of
 * neighbour k), in the order west, east, north, south, above, below. A state is drawn with a number
 * of 64 bits, the first two words. `thresholds` are the numbers from which on it is not the first,
 * and not the second of the neighbours' states. Of two states that no neighbour has, the third word
 * chooses. states: for 0, 1, 2 thresholds passed four bits each for either half of these. */
struct bytes_choice {
    ulong thresholds[2];
    uint states;
};
ERGO_INLINE uint bytes_choose(struct bytes_choice c, struct ergo_words r) {
    const ulong random = (ulong)r.x << 32 | r.y;
    const uint passed = (uint)(random >= c.thresholds[0]) + (uint)(random >= c.thresholds[1]);
    return c.states >> (8 * passed + (r.z >> 31 << 2)) & 15;
}

/* The byte of a site at the start: mode 0 the last state (down), 1 the first state (up), 2 random.
 * Ising: up is 1. */
ERGO_INLINE uint bytes_start(uint random, uint mode) {
    if ((BYTES_MODEL) == 0)
        return mode == 2 ? random >> 31 : mode;
    return mode == 2 ? (uint)(((ulong)random * (BYTES_Q)) >> 32) : mode == 1 ? 0 : (BYTES_Q)-1;
}

#endif
