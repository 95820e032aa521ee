/*
 * The one-body factor exp(-c/2 |r - site|^2) of an atom, and its external potential: what atom i
 * has with its site, in 2^-32 of the sides [3][HELIUM_N].
 *
 * Macro: HELIUM_ONE_BODY: 0: there is no such factor; 2, 3: it is from a table (params.h).
 */
#ifndef ERGO_CL_HELIUM_SITE_H
#define ERGO_CL_HELIUM_SITE_H

#include "helium/core.h"

ERGO_INLINE void helium_from_site(const int4 own, uint i, __global const int *sites, float d[3]) {
    d[0] = (float)(int)((uint)own.x - (uint)sites[i]);
    d[1] = (float)(int)((uint)own.y - (uint)sites[HELIUM_N + i]);
    d[2] = (float)(int)((uint)own.z - (uint)sites[2 * HELIUM_N + i]);
}

#if HELIUM_ONE_BODY >= HELIUM_ONE_TRAP
/* Cubic k of the table. */
ERGO_INLINE helium_cubic helium_one_cubic(__global const int *sites, uint k) {
    return as_float4(vload4(k, sites + 3 * HELIUM_N));
}
#endif

/* The atom's part of ln psi, in units of 2^-HELIUM_U_BITS. */
ERGO_INLINE int helium_at_site(const int4 own, uint i, __global const int *sites,
                               const struct helium_member *member) {
#if HELIUM_ONE_BODY >= HELIUM_ONE_TRAP
    float d[3];
    helium_from_site(own, i, sites, d);
    const struct helium_one_place at =
        helium_one_find(d, HELIUM_ONE_BODY == HELIUM_ONE_SLAB, member);
    return helium_one_u(helium_one_cubic(sites, HELIUM_ONE_PIECES + at.piece), at.t, member);
#elif HELIUM_ONE_BODY
    float d[3];
    helium_from_site(own, i, sites, d);
    return helium_site_u(d, member);
#else
    return 0;
#endif
}

#endif
