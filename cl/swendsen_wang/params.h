/* What crosses between host and device, for Swendsen-Wang. Fixed-width, explicit padding. */
#ifndef ERGO_CL_SWENDSEN_WANG_PARAMS_H
#define ERGO_CL_SWENDSEN_WANG_PARAMS_H

#include "common/compat.h"

/* A bond probability p < 1 as the 40-bit integer round(p 2^40): 8 bits compared for all bonds of a
 * word at once, 32 bits compared one bond at a time where the 8 leave it open (1 of 256). */
#define SW_BOND_PLANES 8
#define SW_DRAW_RESOLVE 4 /* first draw after the planes of both directions */

#define SW_PURPOSE_BOND 1
#define SW_PURPOSE_SPIN 2
#define SW_PURPOSE_START 3

#define SW_Q_MAX 256

struct sw_member {
    uint key0, key1; /* Philox key: the member's stream */
    uint high, low;  /* upper 8 and lower 32 of the 40 bits */
    uint always;     /* 1: p rounds to 1, every bond between equal spins is active */
    uint first_word; /* of a rectangle in the whole lattice; 0: this is the whole lattice */
};
#define SW_MEMBER_BYTES 24

/* Sums over clusters, in uints: the largest; the number of clusters with 2^b <= size < 2^(b + 1),
 * b = 0 .. 32; the sums of n^2 and n^4 in limbs of 16 bits, the lowest first, each of which has
 * carries to give to the next; then the number of clusters of n sites, n = 1 .. SW_SMALL, which
 * stand nowhere else. */
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

/* Sites of a tile as nodes: the one of bit `bit` in the tile's word `item` is SW_NODE_ROW item +
 * bit. A label can stand at its node, and work-items of neighbouring words use different banks. */
#define SW_NODE_ROW 33u

/* Instead of a sample's number: of a sweep that is not measured. */
#define SW_NO_SAMPLE 0xffffffffu

/* Instead of a label: there is no bond. */
#define SW_NO_BOND 0xffffffffu

#endif
