/* Starting configurations. HELIUM_N: atoms. */
#include "helium/core.h"

/* Dimension 0: atoms of all walkers of a member (rounded up), dimension 1: members. Atom i starts
 * at site i S / N of S = across deep high sites, which spreads vacancies evenly. */
__kernel void helium_start(__global int *positions, __global const struct helium_member *members,
                           uint count, uint across, uint deep, uint high) {
    const ulong k = get_global_id(0);
    const uint which = (uint)get_global_id(1);
    if (k >= (ulong)count * HELIUM_N)
        return;
    const uint walker = (uint)(k / HELIUM_N), atom = (uint)(k - (ulong)walker * HELIUM_N);
    const uint site = (uint)((ulong)atom * ((ulong)across * deep * high) / HELIUM_N);
    const uint ix = site % across, iy = site / across % deep, iz = site / across / deep;
    const struct ergo_words w = ergo_philox_words((uint)k, 0, 0, ERGO_DRAW(HELIUM_PURPOSE_START, 0),
                                                  members[which].key0, members[which].key1);
    __global int *home = positions + ((ulong)which * count + walker) * (3 * HELIUM_N) + atom;
    home[0] = (int)helium_start_coordinate(ix, 0x100000000UL / across, w.x);
    home[HELIUM_N] = (int)helium_start_coordinate(iy, 0x100000000UL / deep, w.y);
    home[2 * HELIUM_N] = (int)helium_start_coordinate(iz, 0x100000000UL / high, w.z);
}
