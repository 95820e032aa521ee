/*
 * Where spins that are unit vectors lie on a device, and their neighbours. Options:
 *
 *     VECTOR_COUPLED                              1: each bond has its coupling
 *     VECTOR_RANDOM                               random fields, 1: of a drawn direction, 2: stored
 *     VECTOR_D, VECTOR_LX, VECTOR_LY, VECTOR_LZ   dimensions and sides (1 beyond them)
 *     VECTOR_TRIANGULAR                           1: each site has neighbours at (1, 1) and
 *                                                 (-1, -1), too
 *     VECTOR_SPACE                                1: three components, else an angle
 *     VECTOR_Q                                    directions of clock; 0: any
 *     VECTOR_CUT, VECTOR_ALL                      a slab of a lattice of so many layers
 *
 * Layers are planes, in two dimensions rows, and a chain is one. Of a slab the sides are those with
 * its halos, and members say which layer of the lattice is its first, a multiple of the colours.
 *
 * Sites of one colour go together: (x + y + z) modulo 2, triangular modulo 3. No two of a colour
 * are neighbours. A member has all sites of the first colour, then of the next, each row by row; in
 * space of a row all x, then all y, then all z: so near that one address and constants will do.
 * Angles are words, components are floats.
 */
#ifndef ERGO_CL_SPIN_LATTICE_VECTOR_SITES_H
#define ERGO_CL_SPIN_LATTICE_VECTOR_SITES_H

#include "spin_lattice/vector.h"

#define VECTOR_COLOURS (VECTOR_TRIANGULAR ? 3u : 2u)
#define VECTOR_ROW (VECTOR_LX / VECTOR_COLOURS)       /* sites of a colour in a row */
#define VECTOR_WORDS (VECTOR_COMPONENTS * VECTOR_ROW) /* and their words */
#define VECTOR_SITES (VECTOR_ROW * VECTOR_COLOURS * VECTOR_LY * VECTOR_LZ)
#define VECTOR_COMPONENTS (VECTOR_SPACE ? 3u : 1u)
#define VECTOR_DIRECTIONS (VECTOR_TRIANGULAR ? 3u : (uint)(VECTOR_D))

/* Numbers of sites: the couplings of the bonds ahead, direction by direction (VECTOR_COUPLED), and
 * the components of random fields (VECTOR_RANDOM 2): [plane][place], fractions of the member's
 * largest. */
#define VECTOR_STORED (VECTOR_COUPLED || VECTOR_RANDOM == 2)
#define VECTOR_BOND_PLANES (VECTOR_COUPLED ? VECTOR_DIRECTIONS : 0u)
#define VECTOR_PLANES (VECTOR_BOND_PLANES + (VECTOR_RANDOM == 2 ? (VECTOR_SPACE ? 3u : 2u) : 0u))
#if VECTOR_STORED
#define VECTOR_TERMS , __global const float *terms
#define VECTOR_PASS , terms
#else
#define VECTOR_TERMS
#define VECTOR_PASS
#endif

#if VECTOR_SPACE
typedef float vector_word;
typedef ergo_vector vector_spin;
#else
typedef uint vector_word;
typedef uint vector_spin;
#endif

#define VECTOR_LAYERS (VECTOR_D == 3 ? VECTOR_LZ : VECTOR_D == 2 ? VECTOR_LY : 1u)
#define VECTOR_LAYER (VECTOR_SITES / VECTOR_LAYERS) /* sites of one */

/* Coordinates in the lattice: what belongs to a site is numbered there. */
#ifdef VECTOR_CUT
#define VECTOR_IN_LATTICE(k, d, first) (VECTOR_D == (d) ? ((k) + (first)) % VECTOR_ALL : (k))
#else
#define VECTOR_IN_LATTICE(k, d, first) (k)
#endif

/* Number of the row of a colour at (y, z). */
ERGO_INLINE uint vector_row(uint colour, uint y, uint z) {
    return (colour * VECTOR_LZ + z) * VECTOR_LY + y;
}

/* Number of the site at (x, y, z) in this order. */
ERGO_INLINE uint vector_place(uint x, uint y, uint z) {
    return vector_row((x + y + z) % VECTOR_COLOURS, y, z) * VECTOR_ROW + x / VECTOR_COLOURS;
}

/* Where in a member its spin is, or x of it. */
ERGO_INLINE uint vector_word_of(uint x, uint y, uint z) {
    return vector_row((x + y + z) % VECTOR_COLOURS, y, z) * VECTOR_WORDS + x / VECTOR_COLOURS;
}

/* x of number i in a row of a colour. */
ERGO_INLINE uint vector_x(uint i, uint y, uint z, uint colour) {
    return VECTOR_COLOURS * i + (colour + (VECTOR_COLOURS - 1u) * (y + z)) % VECTOR_COLOURS;
}

ERGO_INLINE uint vector_next(uint x, uint side) {
    return x + 1u < side ? x + 1u : 0u;
}

ERGO_INLINE uint vector_last(uint x, uint side) {
    return x ? x - 1u : side - 1u;
}

ERGO_INLINE vector_spin vector_load(__global const vector_word *spins, uint at) {
#if VECTOR_SPACE
    return ergo_vector_of(spins[at], spins[at + VECTOR_ROW], spins[at + 2u * VECTOR_ROW]);
#else
    return spins[at];
#endif
}

ERGO_INLINE void vector_store(__global vector_word *spins, uint at, vector_spin s) {
#if VECTOR_SPACE
    spins[at] = s.x;
    spins[at + VECTOR_ROW] = s.y;
    spins[at + 2u * VECTOR_ROW] = s.z;
#else
    spins[at] = s;
#endif
}

/* Where the neighbour in positive direction k is; OF is vector_word_of, or vector_place. */
#define VECTOR_DEFINE_NEIGHBOUR(name, of, next)                                                    \
    ERGO_INLINE uint name(uint k, uint x, uint y, uint z) {                                        \
        const uint diagonal = (uint)(k == 2u) & VECTOR_TRIANGULAR;                                 \
        const uint x1 = (uint)(k == 0u) | diagonal ? next(x, VECTOR_LX) : x;                       \
        const uint y1 = (uint)(k == 1u) | diagonal ? next(y, VECTOR_LY) : y;                       \
        return of(x1, y1, (uint)(k == 2u) & ~diagonal ? next(z, VECTOR_LZ) : z);                   \
    }
VECTOR_DEFINE_NEIGHBOUR(vector_ahead, vector_word_of, vector_next)
VECTOR_DEFINE_NEIGHBOUR(vector_behind, vector_word_of, vector_last)
VECTOR_DEFINE_NEIGHBOUR(vector_place_behind, vector_place, vector_last)

ERGO_INLINE ergo_vector vector_of(vector_spin s) {
#if VECTOR_SPACE
    return s;
#else
    return ergo_vector_of(ergo_cos(s), ergo_sin(s), 0.0f);
#endif
}

/* A work-item goes from layer to layer along a column: number i of a row of the other colour, in
 * the layers before, beside and behind the site. Each of these spins is a neighbour in three layers
 * and is loaded once. Not where colours are three. */
#define VECTOR_COLUMN (VECTOR_D > 1 && !VECTOR_TRIANGULAR)
#if VECTOR_COLUMN
/* across: y in three dimensions */
ERGO_INLINE ergo_vector vector_of_column(__global const vector_word *spins, uint i, uint across,
                                         uint layer, uint colour) {
    const uint row = VECTOR_D == 2 ? layer : across + VECTOR_LY * layer;
    return vector_of(
        vector_load(spins, ((1u - colour) * (VECTOR_LY * VECTOR_LZ) + row) * VECTOR_WORDS + i));
}

/* Before the first layer, and on to each. */
ERGO_INLINE void vector_column(__global const vector_word *spins, uint i, uint across, uint layer,
                               uint colour, ergo_vector *column) {
    column[1] = vector_of_column(spins, i, across, vector_last(layer, VECTOR_LAYERS), colour);
    column[2] = vector_of_column(spins, i, across, layer, colour);
}

ERGO_INLINE void vector_column_on(__global const vector_word *spins, uint i, uint across,
                                  uint layer, uint colour, ergo_vector *column) {
    column[0] = column[1];
    column[1] = column[2];
    column[2] = vector_of_column(spins, i, across, vector_next(layer, VECTOR_LAYERS), colour);
}
#else
#define vector_column(spins, i, across, layer, colour, column)                                     \
    column[0] = column[1] = column[2] = ergo_vector_of(0.0f, 0.0f, 0.0f)
#define vector_column_on(spins, i, across, layer, colour, column) (void)0
#endif

/* Sum of the neighbours, or of couplings times neighbours, one direction after the other, in each
 * the one ahead first; in a plane as components, too. The order is part of the chain. column: as
 * above. */
ERGO_INLINE ergo_vector vector_around(__global const vector_word *spins, uint x, uint y, uint z,
                                      const ergo_vector *column VECTOR_TERMS) {
    ergo_vector sum = ergo_vector_of(0.0f, 0.0f, 0.0f);
#if VECTOR_COLUMN
    const uint odd =
        x & 1u; /* of the two beside it along x the column has the one behind, or not */
    const ergo_vector side =
        vector_of(vector_load(spins, odd ? vector_ahead(0, x, y, z) : vector_behind(0, x, y, z)));
#endif
    ERGO_UNROLL
    for (uint k = 0; k < 2u * VECTOR_DIRECTIONS; k++) {
        const uint at = k & 1u ? vector_behind(k >> 1, x, y, z) : vector_ahead(k >> 1, x, y, z);
#if VECTOR_COLUMN
        const ergo_vector other = k >> 1 == VECTOR_D - 1u ? column[k & 1u ? 0 : 2]
                                  : k > 1u                ? vector_of(vector_load(spins, at))
                                  : k == odd              ? column[1]
                                                          : side;
#else
        const ergo_vector other = vector_of(vector_load(spins, at));
#endif
#if VECTOR_COUPLED /* a bond's coupling is at the site that it is ahead of */
        const float j =
            terms[(k >> 1) * VECTOR_SITES +
                  (k & 1u ? vector_place_behind(k >> 1, x, y, z) : vector_place(x, y, z))];
        sum.x = ERGO_FMA(j, other.x, sum.x);
        sum.y = ERGO_FMA(j, other.y, sum.y);
        sum.z = ERGO_FMA(j, other.z, sum.z);
#else
        sum += other;
#endif
    }
    return sum;
}

#endif
