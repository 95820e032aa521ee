/* Structs and constants of fully connected spin glasses that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_DENSE_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_DENSE_PARAMS_H

#include "common/compat.h"

#define DENSE_PURPOSE_START 1
#define DENSE_PURPOSE_UPDATE 2
#define DENSE_PURPOSE_SWAP 3
#define DENSE_PURPOSE_COUPLING 4 /* key: the disorder's */

/* Couplings are integers of 16 bits in units of 2^-12 / sqrt(n). */
#define DENSE_UNIT_BITS 12
#define DENSE_COUPLING_MAX 32767
#define DENSE_SITES_MAX 16384 /* times DENSE_COUPLING_MAX: fields are below 2^29 */

/* The record of a measurement, of a slot. */
struct dense_record {
    long energy;  /* twice the energy, in the unit of the couplings */
    uint up;      /* up spins */
    uint unequal; /* of copy 0: spins that differ from copy 1 */
};
#define DENSE_RECORD_BYTES 16

#endif
