/* Starting configurations, tuning of displacements, multiplication of walkers. HELIUM_N: atoms. */
#include "helium_vmc/core.h"

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

/* A new displacement factor from the window's acceptance, one work-item per member. Members without
 * a target only start a new window. */
__kernel void helium_tune(__global struct helium_walker *walkers,
                          __global const struct helium_member *members, __global uint *factors,
                          uint n_members, uint count, uint active) {
    const uint which = (uint)get_global_id(0);
    if (which >= n_members)
        return;
    ulong accepted = 0;
    for (uint w = 0; w < active; w++) {
        accepted += walkers[(ulong)which * count + w].window;
        walkers[(ulong)which * count + w].window = 0;
    }
    if (members[which].target)
        factors[which] =
            helium_tune_factor(factors[which], accepted,
                               (ulong)active * HELIUM_N * HELIUM_TUNE_EVERY, members[which].target);
}

/* Walker w becomes a copy of walker w % active. Dimension 0: coordinates of a walker; 1: walkers
 * from `active` on, of all members. */
__kernel void helium_multiply(__global int *positions, __global struct helium_walker *walkers,
                              uint count, uint active) {
    const uint k = (uint)get_global_id(0), copies = count - active;
    const uint which = (uint)get_global_id(1) / copies;
    const uint to = active + (uint)get_global_id(1) % copies;
    const ulong first = (ulong)which * count;
    if (k < 3 * HELIUM_N)
        positions[(first + to) * (3 * HELIUM_N) + k] =
            positions[(first + to % active) * (3 * HELIUM_N) + k];
    if (k == 0)
        walkers[first + to] = walkers[first + to % active];
}
