/* Structs and constants of spin glasses that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_GLASS_PARAMS_H

#include "common/compat.h"

#define GLASS_PURPOSE_COUPLING 6 /* key: the disorder's; entity: bond; step: word */
#define GLASS_PURPOSE_START 7
#define GLASS_PURPOSE_UPDATE 8
#define GLASS_PURPOSE_TIE 9 /* second draw, for the lower 32 bits, if the first one is zero */
#define GLASS_PURPOSE_SWAP 10
#define GLASS_PURPOSE_FIELD 11 /* key: the disorder's; entity: site; step: word */
#define GLASS_PURPOSE_CLUSTER 18

#define GLASS_CLASSES 7 /* unsatisfied bonds of a spin: 0 to 6 */
#define GLASS_QUADS_MAX 256
#define GLASS_WORDS_MAX 65536
#define GLASS_REAL_BITS 24 /* couplings that are not +-1: integers in units of 2^-24 */

/* The record of a measurement, per word-lattice, slot and bit. */
struct glass_record {
    long energy;       /* unsatisfied bonds, or the energy in units of 2^-24 */
    long cosine, sine; /* weighted sums of unequal sites, for the pair with this slot's number */
    uint up;           /* up spins */
    uint unequal;      /* unequal sites of the pair */
};
#define GLASS_RECORD_BYTES 32

#endif
