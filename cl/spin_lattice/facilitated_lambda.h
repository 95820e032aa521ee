/*
 * Facilitated dynamics by concurrent picks (Levy, Cohen, Rabani 2010, section III.2), with defined
 * results: pure functions.
 *
 * The lattice is divided into sub-lattices of 32 x 32. Twice per sweep each makes half as many
 * picks as it has sites, in rounds of lambda concurrent picks. In the paper races decide some
 * outcomes; here rules do. Picks of a round see the spins before the round, also at each other's
 * sites. Of several picks of one site the first counts, and the others are lost. Spins outside the
 * sub-lattice are seen as they were at the beginning of the half sweep. So the order of
 * sub-lattices (random in the paper) has no effect. Each half sweep draws a new origin of the
 * division (FAC_DIVISION 0), or all have the same (1, the paper's).
 *
 * FAC_DIVISION 2 keeps detailed balance. The sub-lattices form four classes, by whether their
 * number is odd along x and along y. In each half sweep the classes take turns in random order.
 * Within a sub-lattice a round picks sites of one colour of the checkerboard, and the next round of
 * the other. So no pick changes a spin that a concurrent pick sees.
 *
 * Counter of pick p (0 .. 511) of half h of a sub-lattice: entity = 1024 sub-lattice + 512 h + p;
 * the rest as in facilitated.h. Word x chooses the site; z, w and the following blocks decide about
 * acceptance.
 */
#ifndef ERGO_CL_SPIN_LATTICE_FACILITATED_LAMBDA_H
#define ERGO_CL_SPIN_LATTICE_FACILITATED_LAMBDA_H

#include "spin_lattice/facilitated.h"

struct fac_division {
    uint x, y;  /* origin */
    uint order; /* of the classes, one of 24 */
};

ERGO_INLINE struct fac_division fac_divide(uint part, ulong sweep, uint word,
                                           const struct fac_member *m) {
    struct fac_division d;
    const struct ergo_words r =
        ergo_philox_words(part, (uint)sweep, (uint)(sweep >> 32),
                          ERGO_DRAW(FAC_PURPOSE_DIVISION, 16 * word), m->key0, m->key1);
    d.x = (FAC_DIVISION) == 1 ? 0 : r.x >> 27;
    d.y = (FAC_DIVISION) == 1 ? 0 : r.y >> 27;
    d.order = (uint)(((ulong)r.z * 24) >> 32); /* uniform within 2^-27 */
    return d;
}

/* The class (0 .. 3) at position `turn` of an order. */
ERGO_INLINE uint fac_class_of_turn(uint order, uint turn) {
    /* classes that still wait for their turn, four bits each */
    uint left = 0x3210, radix = 6, chosen = 0;
    for (uint t = 0; t <= turn; t++) {
        const uint at = 4 * (order / radix);
        order %= radix;
        radix = t == 0 ? 2 : 1;
        chosen = left >> at & 15;
        left = (left & ((1u << at) - 1)) | left >> at >> 4 << at;
    }
    return chosen;
}

/* The place of a pick in its sub-lattice, x + 32 y. */
ERGO_INLINE uint fac_place(uint random, uint pick, uint lambda) {
    if ((FAC_DIVISION) != 2)
        return random >> 22;
    const uint y = random >> 27, colour = pick / lambda & 1;
    return 32 * y + 2 * (random >> 23 & 15) + ((y + colour) & 1);
}

#endif
