/*
 * Facilitated dynamics by concurrent picks (Levy, Cohen, Rabani 2010, section III.2), defined: pure
 * functions.
 *
 * The lattice is divided into sub-lattices of 32 x 32. Twice per sweep each makes half as many
 * picks as it has sites, lambda of them at a time, in rounds. What a race decides in the paper is
 * decided here so: picks of a round see the spins as they were before it, also at each other's
 * sites; of picks of the same site the first counts, and the others are lost; spins outside the
 * sub-lattice are as they were at the beginning of the half sweep. So the order in which
 * sub-lattices are taken (at random, in the paper) means nothing. The division has another origin
 * in each half sweep, drawn from all (FAC_DIVISION 0), or always the same (1, the paper's).
 *
 * FAC_DIVISION 2 keeps balance: sub-lattices are in four classes, by whether their number is odd
 * along x and y, and the classes take turns in each half sweep, in random order; in a sub-lattice a
 * round picks sites of one colour of the checkerboard, then one of the other. What is picked
 * together has no neighbours in common with what is seen.
 *
 * Counter of pick p (0 .. 511) of half h of a sub-lattice: entity = 1024 sub-lattice + 512 h + p;
 * the rest as in facilitated.h. Word x chooses the site; z, w and the following blocks accept.
 */
#ifndef ERGO_CL_SPIN_LATTICE_FACILITATED_LAMBDA_H
#define ERGO_CL_SPIN_LATTICE_FACILITATED_LAMBDA_H

#include "spin_lattice/facilitated.h"

struct fac_division {
    uint x, y;  /* origin */
    uint order; /* of the classes: one of 24 */
};

ERGO_INLINE struct fac_division fac_divide(uint part, ulong sweep, uint word,
                                           const struct fac_member *m) {
    struct fac_division d;
    const struct ergo_words r =
        ergo_philox_words(part, (uint)sweep, (uint)(sweep >> 32),
                          ERGO_DRAW(FAC_PURPOSE_DIVISION, 16 * word), m->key0, m->key1);
    d.x = (FAC_DIVISION) == 1 ? 0 : r.x >> 27;
    d.y = (FAC_DIVISION) == 1 ? 0 : r.y >> 27;
    d.order = (uint)(((ulong)r.z * 24) >> 32); /* uniform but for 2^-27 */
    return d;
}

/* Class (0 .. 3) whose turn is `turn` of an order. */
ERGO_INLINE uint fac_class_of_turn(uint order, uint turn) {
    uint left = 0x3210, radix = 6, chosen = 0; /* those that have not had their turn, by fours */
    for (uint t = 0; t <= turn; t++) {
        const uint at = 4 * (order / radix);
        order %= radix;
        radix = t == 0 ? 2 : 1;
        chosen = left >> at & 15;
        left = (left & ((1u << at) - 1)) | left >> at >> 4 << at;
    }
    return chosen;
}

/* A pick's place in its sub-lattice, x + 32 y. */
ERGO_INLINE uint fac_place(uint random, uint pick, uint lambda) {
    if ((FAC_DIVISION) != 2)
        return random >> 22;
    const uint y = random >> 27, colour = pick / lambda & 1;
    return 32 * y + 2 * (random >> 23 & 15) + ((y + colour) & 1);
}

#endif
