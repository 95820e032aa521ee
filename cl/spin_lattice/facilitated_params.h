/* What crosses between host and device, for facilitated dynamics. */
#ifndef ERGO_CL_SPIN_LATTICE_FACILITATED_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_FACILITATED_PARAMS_H

#include "common/compat.h"

/* A probability p < 1 is the 39-bit integer round(p 2^39), compared bit by bit (plane by plane)
 * with random words, the upper bits first, until no realisation is undecided. */
#define FAC_PLANES 39
/* Class of a spin with n up neighbours: n if it is up, 5 + n if it is down. Class 10: a site's
 * chance to be up at the start. */
#define FAC_CLASS_START 10
#define FAC_PURPOSE_ATTEMPT 4
#define FAC_PURPOSE_START 5
#define FAC_PURPOSE_DIVISION 6
#define FAC_WORDS_MAX (1u << 20) /* word-lattices: 20 of the 24 bits of a draw */

struct fac_member {
    ulong threshold[11]; /* of 39 bits, by class */
    uint key0, key1;     /* Philox key: the member's stream */
    uint always;         /* bit k: class k flips without a draw */
    uint spare;
};
#define FAC_MEMBER_BYTES 104

/* What is counted of a word-lattice, over all its realisations. */
#define FAC_COUNTS 4 /* up; equal to the reference; never flipped since; unequal bonds */

/* Tiles (facilitated_tiles.cl): an entry is an attempt's offset from the first one of its segment,
 * above its place in the tile with its halo. */
#define FAC_PLACE_BITS 14
#define FAC_SEGMENT_MAX (1u << (32 - FAC_PLACE_BITS))
#define FAC_COUNTER_STRIDE 32 /* words from one tile's counter to the next: a cache line each */
/* Words of a word-lattice's flags: whether its segment has to be done again; segments done;
 * segments done again. */
#define FAC_FLAGS 3

#endif
