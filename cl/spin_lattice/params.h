/* Structs and constants of the Ising kernels that host and device share. Fixed widths, explicit
 * padding. */
#ifndef ERGO_CL_SPIN_LATTICE_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_PARAMS_H

#include "common/compat.h"

/* An acceptance probability p < 1 is the 39-bit integer round(p 2^39). Its upper 7 bits are
 * compared for all spins of a word at once. Where these decide nothing, the lower 32 bits are
 * compared for that spin alone. */
#define ISING_PLANES 7
#define ISING_DRAW_RESOLVE 7 /* first draw after the planes */

/* Classes of spins that share an acceptance probability.
 * Without a field: 0 all four bonds satisfied, 1 three of four; fewer: always flipped (Metropolis).
 * General: with n up neighbours, class n if the spin is up and 5 + n if it is down. */
#define ISING_CLASSES_MAX 10

/* Sums of a sample, 32 bits each: up spins, unequal bonds and, if a member of the batch is an
 * antiferromagnet, up spins of colour 0. */
#ifndef ISING_SUMS
#define ISING_SUMS 2
#endif
#define ISING_SUMS_MAX 3

/* Distances of correlations that a group counts together. */
#define ISING_AT_ONCE 8

#define ISING_PURPOSE_COLOUR0 1 /* purpose of colour c is 1 + c */
#define ISING_PURPOSE_START 3

struct ising_member {
    uint key0, key1;              /* Philox key: the member's stream */
    uint always;                  /* bit k: class k flips without a draw */
    uint anti;                    /* ~0: a bond is satisfied by unequal spins (J < 0) */
    uint high[ISING_CLASSES_MAX]; /* top 7 of the 39 bits */
    uint low[ISING_CLASSES_MAX];  /* lower 32 bits */
    /* bits of high[0] and high[1], from the lowest one on, each as a mask: made of the bit in a
     * kernel, compilers turn it into a predicate, which costs a selection at each use */
    uint planes[2][ISING_PLANES];
    uint first; /* of a slab (core.h): the lattice's block that is its first; else 0 */
};
#define ISING_MEMBER_BYTES 156

#endif
