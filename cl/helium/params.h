/* Structs and constants of the helium kernels that host and device share. Fixed widths, explicit
 * padding. */
#ifndef ERGO_CL_HELIUM_PARAMS_H
#define ERGO_CL_HELIUM_PARAMS_H

#include "common/compat.h"

/* ln psi is summed in units of 2^-21. One pair contributes at most 32 in absolute value, because
 * the host cuts u there. So 16 pairs stay within 2^30, a difference of two within 2^27, and no
 * number of atoms comes near 2^63. */
#define HELIUM_U_BITS 21
#define HELIUM_U_LIMIT 32
#define HELIUM_CHUNK 16
/* An atom's part of ln psi by its site is cut at -512. */
#define HELIUM_SITE_LIMIT 1073741824.0f

/* One-body factors and external potentials: none; of sites, harmonic; from tables, of r^2 and of z.
 * A table has so many equal pieces, cubics of V, ln phi, and its slope (core.h), behind the sites.
 */
#define HELIUM_ONE_NONE 0
#define HELIUM_ONE_SITES 1
#define HELIUM_ONE_TRAP 2
#define HELIUM_ONE_SLAB 3
#define HELIUM_ONE_PIECES 1024
#define HELIUM_ONE_CUBICS (3 * HELIUM_ONE_PIECES)

/* Pieces per binade of the argument, which is (r / r_cut)^2 for u and energies, and a 32-bit word
 * for random numbers. */
#define HELIUM_U_PIECES 5
#define HELIUM_E_PIECES 7
#define HELIUM_R_PIECES 4
#define HELIUM_R_LOWEST 126 /* exponent field of 1/2, the smallest argument */
#define HELIUM_R_BINADES 34 /* up to 2^32, which occurs as a rounded word */
#define HELIUM_R_SIZE (HELIUM_R_BINADES << HELIUM_R_PIECES)

/* Sums of an energy measurement are integers, in units that the host chooses for each job and
 * quantity (fixed.c), usually 2^-20 K. `limit` keeps the sums below 2^62. A larger share of an atom
 * is not added but marked in `accepted` of struct helium_sums, and the run ends. */
#define HELIUM_E_KINDS 4  /* potential, virial, laplacian, gradient */
#define HELIUM_E_BLOCK 32 /* atoms of a block: see helium_weight */
#define HELIUM_E_BITS 20
#define HELIUM_FOURTH_BITS 12 /* of a quartic's last coefficient, see helium_quartic_slope */
#define HELIUM_BEYOND 32      /* the first bit of `accepted` that marks them */

#define HELIUM_PURPOSE_MOVE 1
#define HELIUM_PURPOSE_START 2
#define HELIUM_PURPOSE_DISPLACED 4 /* 3 is helium-dmc's comb */

/* The unit of a factor of displacements. */
#define HELIUM_FACTOR_ONE 65536

struct helium_member {
    uint key0, key1; /* Philox key: the member's stream */
    float low;       /* smallest argument of the pair tables; smaller ones use its value */
    uint target;     /* helium-vmc: wanted acceptance in 2^-16; 0: the displacement is fixed */
    float scale[3];  /* from (float)difference to units of the cut-off, half the shortest side */
    float length[3]; /* from (float)difference to A */
    float step[3];   /* standard deviation of a displacement at factor 1, in 2^-32 of the side */
    /* bits of the argument where the potential's last piece begins, and how many follow in its
     * piece */
    uint kink, kink_width;
    float unit[HELIUM_E_KINDS], limit[HELIUM_E_KINDS]; /* 1/K and K: fixed point of energies */
    float root;                                        /* sqrt(lambda): that of K A^2 */
    /* of squared distances from sites, A^2: -ln psi in 2^-HELIUM_U_BITS, twice the external
     * potential in K; and -sqrt(lambda) c, see helium_site_u: along each axis, and the mean. Axes
     * along which the factor does not act have the length 0 here, and no force. */
    float site_u, site_v, site_length[3], site_force[3], site_mean;
    /* 3, or 2: then the third coordinate of all atoms is 0, and nothing moves along it */
    float dimensions;
    /* HELIUM_ONE_BODY. Of tables: site_u is pieces per A^2 (of a slab: per A), site_v the piece at
     * 0, site_mean sqrt(lambda), site_force that over length, or in a trap that */
    uint site_kind;
    float one_v, one_w; /* factors of V and of ln phi in the table, which members share */
};
#define HELIUM_MEMBER_BYTES 148

/* One measurement of a walker. */
struct helium_sums {
    long ln_psi; /* in 2^-HELIUM_U_BITS; from scratch over ordered pairs, so twice ln psi */
    long potential, virial, laplacian, gradient; /* in the member's units, see energy.cl */
    long accepted; /* from bit HELIUM_BEYOND on: marks of energies that were not added */
};
#define HELIUM_SUMS_BYTES 48

#endif
