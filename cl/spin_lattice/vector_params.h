/* Structs and constants of spins that are unit vectors, shared by host and device. */
#ifndef ERGO_CL_SPIN_LATTICE_VECTOR_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_VECTOR_PARAMS_H

#include "common/compat.h"

/* entity: the site's number, x + lx (y + ly z) */
#define VECTOR_PURPOSE_SWEEP 15
#define VECTOR_PURPOSE_START 16
#define VECTOR_PURPOSE_FIELD 17 /* key: the random field's */

/* Numbers of a sample, sums over sites as 64-bit integers. Products and components are in units of
 * 2^-30. Spins in a plane have the first VECTOR_NUMBERS_PLANE. */
#define VECTOR_BONDS 0   /* s.s' over bonds, times their couplings in the member's unit */
#define VECTOR_TOTAL 1   /* x, y, z */
#define VECTOR_SQUARES 4 /* z^2; in a plane: vortices (square), chirality (triangular) */
#define VECTOR_ALONG                                                                               \
    5                     /* s.n, n the direction of the site's random field, or the field in the  \
                             member's unit */
#define VECTOR_CURRENTS 6 /* s x s' over the bonds of a direction: [direction][component] */
#define VECTOR_NUMBERS_PLANE 9
#define VECTOR_NUMBERS_SPACE 15
/* Of a wave: sums of s cos(k r) and of s sin(k r), [component][2]. */
#define VECTOR_WAVE_NUMBERS 6

struct vector_member {
    uint key0, key1;  /* Philox key: the member's stream */
    float beta;       /* 1/T */
    float coupling;   /* J, times the unit of random couplings */
    float field;      /* along z; spins in a plane: along x */
    float anisotropy; /* of s_z^2 */
    float step;       /* heisenberg: length of the random step */
    /* number of the states that a move may lead to, odd: xy, in units of an angle; clock, in
     * states */
    uint width;
    float random;        /* strength of the random field, times the unit of stored ones */
    uint field0, field1; /* its Philox key, from seed and replica but not from the temperature */
    uint first;          /* of a slab: the lattice's layer that is its first; else 0 */
};
#define VECTOR_MEMBER_BYTES 48

#endif
