/* Structs and constants of facilitated dynamics that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_FACILITATED_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_FACILITATED_PARAMS_H

#include "common/compat.h"

/* A probability p < 1 is the 39-bit integer round(p 2^39). It is compared with random words bit by
 * bit (plane by plane), upper bits first, until all realisations are decided. */
#define FAC_PLANES 39
/* A spin with n up neighbours has class n if it is up, 5 + n if it is down. Class 10 is the
 * probability that a site is up at the start. */
#define FAC_CLASS_START 10
#define FAC_PURPOSE_ATTEMPT 4
#define FAC_PURPOSE_START 5
#define FAC_PURPOSE_DIVISION 6
#define FAC_WORDS_MAX (1u << 20) /* word-lattices use 20 of the 24 bits of a draw */

struct fac_member {
    ulong threshold[11]; /* 39 bits each, by class */
    uint key0, key1;     /* Philox key: the member's stream */
    uint always;         /* bit k: class k flips without a draw */
    uint spare;
};
#define FAC_MEMBER_BYTES 104

/* Counts of a word-lattice, over all its realisations. */
#define FAC_COUNTS 4 /* up; equal to the reference; never flipped since; unequal bonds */

/* Tiles (facilitated_tiles.cl): the upper bits of an entry are the attempt's offset from the first
 * one of its segment; the lower bits are its place in the tile with its halo. */
#define FAC_PLACE_BITS 14
#define FAC_SEGMENT_MAX (1u << (32 - FAC_PLACE_BITS))
/* words from one tile's counter to the next, so that each has its own cache line */
#define FAC_COUNTER_STRIDE 32

#endif
