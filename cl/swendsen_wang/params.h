/* Structs and constants of Swendsen-Wang that host and device share. Fixed widths, explicit
 * padding. */
#ifndef ERGO_CL_SWENDSEN_WANG_PARAMS_H
#define ERGO_CL_SWENDSEN_WANG_PARAMS_H

#include "common/compat.h"

/* A bond probability p < 1 is the 40-bit integer round(p 2^40). Its upper 8 bits are compared for
 * all bonds of a word at once. Where these decide nothing (1 bond of 256), the lower 32 bits are
 * compared for that bond alone. */
#define SW_BOND_PLANES 8
#define SW_DRAW_RESOLVE 4 /* first draw after the planes of both directions */

#define SW_PURPOSE_BOND 1
#define SW_PURPOSE_SPIN 2
#define SW_PURPOSE_START 3
#define SW_PURPOSE_SEED 4
#define SW_PURPOSE_MIRROR 5
#define SW_PURPOSE_COUPLING 6 /* key: the disorder's; as spin-lattice has it */

#define SW_Q_MAX 256

struct sw_member {
    uint key0, key1; /* Philox key: the member's stream */
    uint high, low;  /* upper 8 and lower 32 of the 40 bits of p */
    uint always;     /* 1: p rounds to 1, every bond between equal spins is active */
    uint unused;
};
#define SW_MEMBER_BYTES 24

/* Lattices of sites.h; square has two dimensions or three. */
#define SW_LATTICE_SQUARE 0
#define SW_LATTICE_TRIANGULAR 1
#define SW_LATTICE_HONEYCOMB 2

/* Spins of sites.h: states; angles; directions of a plane; three components. */
#define SW_MODEL_POTTS 0
#define SW_MODEL_XY 1
#define SW_MODEL_CLOCK 2
#define SW_MODEL_HEISENBERG 3

/* A member of sites.h. */
struct sw_site_member {
    uint key0, key1; /* Philox key: the member's stream */
    uint threshold;  /* potts: p as a 32-bit integer */
    uint always;     /* potts, by bits SW_ALWAYS_...: chances that round to 1 */
    float coupling;  /* unit vectors: 2 J/T */
    /* method probability-changing: what is added to the member's chance, and subtracted from it */
    uint up, down;
    uint first;        /* id of the first site here, of a lattice cut over ranks; else 0 */
    uint seed0, seed1; /* with disorder: Philox key of the couplings */
    uint share;        /* the share of bonds with the other coupling, in units of 2^-32 */
    uint weak;         /* potts: p of these bonds */
    float ratio;       /* their coupling over the first */
    uint ghost;        /* potts, with a field: the chance of a site's bond to the ghost spin */
};
#define SW_SITE_MEMBER_BYTES 56
#define SW_ALWAYS 1u
#define SW_ALWAYS_WEAK 2u
#define SW_ALWAYS_GHOST 4u
#define SW_ALL_WEAK 8u /* the share */

/* Beside the bonds of a site to others, by bits: that to the ghost spin. */
#define SW_GHOST_BOND 8u

/* Sums over sites of unit vectors, as 64-bit integers. Products and components are in units of
 * 2^-30. */
#define SW_NUMBER_BONDS 0    /* s.s' over bonds */
#define SW_NUMBER_TOTAL 1    /* x, y, z */
#define SW_NUMBER_VORTICES 4 /* plaquettes of square lattices in two dimensions */
#define SW_NUMBER_CURRENTS                                                                         \
    5                      /* s x s' over the bonds of a direction: [direction][component]; in a   \
                            * plane the first component alone */
#define SW_NUMBER_WAVES 14 /* of each component: times cos and sin of the smallest wave */
#define SW_NUMBERS 20

/* Sums over clusters, in uints: the largest size; the number of clusters with 2^b <= size < 2^(b +
 * 1), b = 0 .. 32; the sums of n^2 and n^4, in limbs of 16 bits, the lowest first, whose carries
 * the host adds to the next limb; the number of clusters of n sites, n = 1 .. SW_SMALL, which no
 * other field counts. */
#define SW_CLUSTER_BINS 33
#define SW_SMALL 32
#define SW_SQUARE_LIMBS 5
#define SW_FOURTH_LIMBS 9
#define SW_FIELD_LARGEST 0
#define SW_FIELD_BINS 1
#define SW_FIELD_SQUARES (SW_FIELD_BINS + SW_CLUSTER_BINS)
#define SW_FIELD_FOURTHS (SW_FIELD_SQUARES + SW_SQUARE_LIMBS)
#define SW_FIELD_SMALL (SW_FIELD_FOURTHS + SW_FOURTH_LIMBS)
#define SW_CLUSTER_FIELDS (SW_FIELD_SMALL + SW_SMALL)

/* Nodes number the sites of a tile: bit `bit` of the tile's word `item` is node SW_NODE_ROW item +
 * bit. A label is kept at its node. With 33 nodes per word, work-items of neighbouring words use
 * different banks of local memory. */
#define SW_NODE_ROW 33u

/* Directions of a way around the lattice, by bits. */
#define SW_AROUND_X 1u
#define SW_AROUND_Y 2u
#define SW_AROUND_Z 4u

/* The sample number of a sweep that is not measured. */
#define SW_NO_SAMPLE 0xffffffffu

/* The label that means: no bond. */
#define SW_NO_BOND 0xffffffffu

#endif
