/* What crosses between host and device, for the Ising kernels. Fixed-width, explicit padding. */
#ifndef ERGO_CL_SPIN_LATTICE_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_PARAMS_H

#include "common/compat.h"

/* An acceptance probability p < 1 as the 39-bit integer round(p 2^39): 7 bits compared for all
 * spins of a word at once, 32 bits compared one spin at a time where the 7 leave it open. */
#define ISING_PLANES 7
#define ISING_DRAW_RESOLVE 7 /* first draw after the planes */

/* Classes of a spin that share an acceptance probability.
 * Without a field: 0 all four bonds satisfied, 1 three of four; fewer: always flipped (Metropolis).
 * General: n up neighbours and the spin itself: class 5 * (spin down) + n. */
#define ISING_CLASSES_MAX 10

/* Sums of a sample, 32 bits each: up spins, unequal bonds, and where a member of the batch is an
 * antiferromagnet up spins of colour 0. */
#ifndef ISING_SUMS
#define ISING_SUMS 2
#endif
#define ISING_SUMS_MAX 3

#define ISING_PURPOSE_COLOUR0 1 /* purpose of colour c is 1 + c */
#define ISING_PURPOSE_START 3

struct ising_member {
    uint key0, key1;              /* Philox key: the member's stream */
    uint always;                  /* bit k: class k is flipped without a draw */
    uint anti;                    /* ~0: a bond is satisfied by unequal spins (J < 0) */
    uint high[ISING_CLASSES_MAX]; /* top 7 of the 39 bits */
    uint low[ISING_CLASSES_MAX];  /* lower 32 bits */
};
#define ISING_MEMBER_BYTES 96

#endif
