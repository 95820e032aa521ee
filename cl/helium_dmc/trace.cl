/*
 * Forward walking of structures. Every window of steps the places of all walkers are kept; each
 * walker carries the number of its ancestor among these, and when the window is over the places of
 * the ancestors of some walkers are those of the ground state.
 *
 * Macro: HELIUM_N: atoms.
 */
#include "helium_dmc/core.h"

/* Walkers take the ancestors of their parents. Dimension 0: walkers of a member, from `begin` to
 * end - 1; 1: members. */
__kernel void helium_dmc_trace(__global const uint *parents, __global const uint *ancestors,
                               uint count, uint begin, uint end, __global uint *next) {
    const uint k = begin + (uint)get_global_id(0);
    const ulong first = (ulong)get_global_id(1) * count;
    if (k < end)
        next[first + k] = ancestors[first + min(k + parents[first + k], count - 1)];
}

/* Dimension 0: coordinates of a walker; 1: walkers of all members. */
__kernel void helium_dmc_tag(__global const int *middle, uint count, __global int *tags,
                             __global uint *ancestors) {
    const uint k = (uint)get_global_id(0), walker = (uint)get_global_id(1);
    if (k < 3 * HELIUM_N)
        tags[(ulong)walker * (3 * HELIUM_N) + k] = middle[(ulong)walker * (3 * HELIUM_N) + k];
    if (k == 0)
        ancestors[walker] = walker % count;
}

/* Dimension 0: coordinates of a walker; 1: the `chosen` walkers of all members. */
__kernel void helium_dmc_harvest(__global const int *tags, __global const uint *ancestors,
                                 uint count, uint chosen, __global int *pure) {
    const uint k = (uint)get_global_id(0), row = (uint)get_global_id(1);
    const uint which = row / chosen,
               walker = helium_dmc_chosen(row - which * chosen, count, chosen);
    const ulong first = (ulong)which * count;
    if (k < 3 * HELIUM_N)
        pure[(ulong)row * (3 * HELIUM_N) + k] =
            tags[(first + min(ancestors[first + walker], count - 1)) * (3 * HELIUM_N) + k];
}
