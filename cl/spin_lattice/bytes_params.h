/* Structs and constants of models with a byte per spin that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_BYTES_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_BYTES_PARAMS_H

#include "common/compat.h"

#define BYTES_TABLE 128 /* entries of a member's table, see bytes.h */
#define BYTES_PURPOSE_SWEEP 12
#define BYTES_PURPOSE_START 13
#define BYTES_PURPOSE_FIELD 14

struct bytes_member {
    uint key0, key1; /* Philox key: the member's stream */
    /* key of the random field, from seed and replica but not from the temperature */
    uint field0, field1;
    /* general terms, in the member's unit of energy: T/2 of ising, else T; couplings along x, y, z
     */
    float scale;
    int j[3];
    /* bit k: the coupling along direction k is negative, so the order alternates along it */
    uint staggered;
    int field;      /* general terms of potts: the uniform field on the first state */
    int crystal;    /* general terms of blume-capel: its crystal field */
    uint first_row; /* of a slab (bytes.h): the lattice's row that is its first; else 0 */
    uint table[BYTES_TABLE];
    uint low[BYTES_TABLE]; /* heat bath of potts: lower words of the weights */
};
#define BYTES_MEMBER_BYTES (48 + 8 * BYTES_TABLE)

#endif
