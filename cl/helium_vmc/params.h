/* What crosses between host and device, for the helium kernels. Fixed-width, explicit padding. */
#ifndef ERGO_CL_HELIUM_VMC_PARAMS_H
#define ERGO_CL_HELIUM_VMC_PARAMS_H

#include "common/compat.h"

/* ln psi is summed in units of 2^-21; one pair contributes at most 32 in absolute value (the host
 * cuts u there). So 16 pairs stay within 2^30, differences of two within 2^27, and no number of
 * atoms comes near 2^63. */
#define HELIUM_U_BITS 21
#define HELIUM_U_LIMIT 32
#define HELIUM_CHUNK 16

/* Pieces per binade of the argument. u: (r / r_cut)^2; energies: the same; random: a 32-bit word.
 */
#define HELIUM_U_PIECES 5
#define HELIUM_E_PIECES 6
#define HELIUM_R_PIECES 4
#define HELIUM_R_LOWEST 126 /* exponent field of 1/2, the smallest argument */
#define HELIUM_R_BINADES 34 /* up to 2^32, which occurs (as a rounded word) */
#define HELIUM_R_SIZE (HELIUM_R_BINADES << HELIUM_R_PIECES)

/* Sums of an energy measurement are integers, in units that the host chooses for each job and
 * quantity (fixed.c), 2^-20 K as a rule. An atom's share beyond `limit`, which 2^62 allows, is not
 * added but marked in `accepted` of struct helium_sums, and the run ends. */
#define HELIUM_E_KINDS 4 /* potential, virial, laplacian, gradient */
#define HELIUM_E_BITS 20
#define HELIUM_BEYOND 32 /* first of the bits of `accepted` that mark them */

#define HELIUM_PURPOSE_MOVE 1
#define HELIUM_PURPOSE_START 2

/* While a displacement is tuned: macroupdates between changes, and its unit. */
#define HELIUM_TUNE_EVERY 16
#define HELIUM_FACTOR_ONE 65536

struct helium_member {
    uint key0, key1; /* Philox key: the member's stream */
    float low;       /* smallest argument of the pair tables; below, their value there */
    uint target;     /* wanted acceptance in 2^-16; 0: the displacement is as given */
    float scale[3]; /* (float)difference * scale: in units of the cut-off, half the shortest side */
    float length[3]; /* (float)difference * length: in A */
    float step[3];   /* standard deviation of a displacement, in 2^-32 of the side, at factor 1 */
    uint kink, kink_width; /* bits of the argument at which the potential's last piece takes over,
                              and how many follow them */
    float unit[HELIUM_E_KINDS], limit[HELIUM_E_KINDS]; /* 1/K, K: of the fixed point of energies */
};
#define HELIUM_MEMBER_BYTES 92

struct helium_walker {
    long ln_psi;   /* running, units of 2^-HELIUM_U_BITS */
    uint accepted; /* moves of the last macroupdate */
    uint window;   /* moves since the displacement was last tuned, or in all; modulo 2^32 */
};
#define HELIUM_WALKER_BYTES 16

/* One measurement of a walker. */
struct helium_sums {
    long ln_psi; /* from scratch, 2^-HELIUM_U_BITS, both directions of a pair: twice ln psi */
    long potential, virial, laplacian, gradient; /* by the member's units, see the energy kernel */
    long accepted; /* from bit HELIUM_BEYOND on: kinds of energies that were not added */
};
#define HELIUM_SUMS_BYTES 48

#endif
