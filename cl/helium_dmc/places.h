/* Places of atoms in a step, for the kernels that make it. */
#ifndef ERGO_CL_HELIUM_DMC_PLACES_H
#define ERGO_CL_HELIUM_DMC_PLACES_H

#include "helium/atom.h"
#include "helium_dmc/core.h"

ERGO_INLINE int4 helium_fetch(__global const int *home, uint i) {
    return (int4)(home[i], home[HELIUM_N + i], home[2 * HELIUM_N + i], 0);
}

ERGO_INLINE void helium_store(__global int *home, uint i, const int4 place) {
    home[i] = place.x;
    home[HELIUM_N + i] = place.y;
    home[2 * HELIUM_N + i] = place.z;
}

/* The place after diffusion. entity: walker * HELIUM_N + atom. */
ERGO_INLINE int4 helium_diffused(const int4 from, __global const helium_cubic *random,
                                 const struct helium_member *member, uint entity, ulong step) {
    const struct helium_move move = helium_draw(random, member, HELIUM_FACTOR_ONE, entity, step);
    return (int4)((int)((uint)from.x + (uint)move.dx), (int)((uint)from.y + (uint)move.dy),
                  (int)((uint)from.z + (uint)move.dz), 0);
}

/* An atom's place plus the drift of `halves` half steps. */
ERGO_INLINE int4 helium_drifted(const int4 from, const struct helium_share *share, float halves,
                                const struct helium_dmc *dmc) {
    float one[3] = {0, 0, 0};
#if HELIUM_ONE_BODY
    if (helium_dmc_resolves(share->one_force, share->one_slope, dmc))
        for (uint k = 0; k < 3; k++)
            one[k] = share->one[k];
#endif
    return (int4)((int)((uint)from.x + (uint)helium_dmc_drift(share->gx, one[0], halves, 0, dmc)),
                  (int)((uint)from.y + (uint)helium_dmc_drift(share->gy, one[1], halves, 1, dmc)),
                  (int)((uint)from.z + (uint)helium_dmc_drift(share->gz, one[2], halves, 2, dmc)),
                  0);
}

ERGO_INLINE int4 helium_halfway(const int4 from, const int4 to) {
    return (int4)(helium_dmc_halfway(from.x, to.x), helium_dmc_halfway(from.y, to.y),
                  helium_dmc_halfway(from.z, to.z), 0);
}

#endif
