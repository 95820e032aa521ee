/* Tuning of displacements, multiplication of walkers. HELIUM_N: atoms. */
#include "helium_vmc/core.h"

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
