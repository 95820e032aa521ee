/* u of an atom with all others, from the table in global memory. Macros: HELIUM_U_BASE,
 * HELIUM_U_SIZE, and those of atom.h. */
#ifndef ERGO_CL_HELIUM_PAIR_SUM_H
#define ERGO_CL_HELIUM_PAIR_SUM_H

#include "helium/atom.h"

/* Atom i is at `own`, or thought to be there. */
ERGO_INLINE long helium_pair_sum(const int4 own, uint i, HELIUM_PLACES *place,
                                 __global const helium_cubic *u_table,
                                 const struct helium_member *member) {
    long sum = 0;
    for (uint j = 0; j < HELIUM_N; j++) {
        float d[3];
        const float y = helium_clamp(helium_apart2(own, HELIUM_PLACE(j), member, d), member->low);
        const int u = (int)helium_poly(u_table[helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE],
                                       helium_within(y, HELIUM_U_PIECES));
        sum += j == i ? 0 : u;
    }
    return sum;
}

#endif
