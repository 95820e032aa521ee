/*
 * Spin glasses: a ladder that continues on another rank. The kernels concern the last temperature
 * here and its neighbour there: the data by which both ranks decide, and the configurations that
 * are exchanged. An entry is a word-lattice and a copy: COPIES * word-lattice + copy. slot: of the
 * first copy at that temperature.
 */
#include "spin_lattice/glass_ladder.h"

/* look[entry][33]: the energies of the samples, then the word of `from_hot`. Dimension 0: 32 *
 * entry + bit. */
__kernel void glass_border_energies(__global const long *energies, __global const uint *from_hot,
                                    __global long *look, uint parts, uint slot, uint entries) {
    const uint i = (uint)get_global_id(0), entry = i / 32, bit = i % 32;
    if (entry >= entries)
        return;
    const uint lattice = entry / GLASS_COPIES, own = slot + entry % GLASS_COPIES;
    __global const long *e =
        energies + (ulong)lattice * parts * (GLASS_SLOTS * 32) + own * 32 + bit;
    long sum = 0;
    for (uint part = 0; part < parts; part++)
        sum += e[part * (GLASS_SLOTS * 32)];
    look[entry * 33 + bit] = sum;
    if (bit == 0)
        look[entry * 33 + 32] = (long)from_hot[lattice * GLASS_SLOTS + own];
}

/* swaps[entry]: the samples that exchange; the new `from_hot`; the samples whose exchanges are
 * counted here, and those whose round trips are, both by the rank with the colder temperature.
 * Dimension 0: entry. */
__kernel void glass_border_record(__global const uint4 *swaps, __global uint *from_hot,
                                  __global ulong *accepted, __global ulong *trips,
                                  __global uint4 *moves, uint slot, uint entries) {
    const uint entry = (uint)get_global_id(0);
    if (entry >= entries)
        return;
    const uint lattice = entry / GLASS_COPIES, copy = entry % GLASS_COPIES;
    const uint4 swap = swaps[entry];
    from_hot[lattice * GLASS_SLOTS + slot + copy] = swap.y;
    accepted[lattice * ((uint)(GLASS_T)*GLASS_COPIES) + slot + copy] += ERGO_POPCOUNT(swap.z);
    trips[entry] += ERGO_POPCOUNT(swap.w);
    __global uint4 *own = moves + (lattice * GLASS_ROWS + slot + copy) * GLASS_MOVES;
    glass_count_moves(own, own[0], own[1], swap.z);
    own = moves + (lattice * GLASS_ROWS + GLASS_TRIPS + copy) * GLASS_MOVES;
    glass_count_moves(own, own[0], own[1], swap.w);
}

/* Copy the words of an entry to rows[place][site]. list: the entries in which some sample
 * exchanges. Dimension 0: site; 1: place in the list. */
__kernel void glass_border_pack(__global const uint *spins, __global const uint *list,
                                __global uint *rows, uint slot) {
    const uint at = (uint)get_global_id(0), place = (uint)get_global_id(1), entry = list[place];
    if (at >= GLASS_SITES)
        return;
    const ulong lattice = entry / GLASS_COPIES;
    rows[(ulong)place * GLASS_SITES + at] =
        spins[(lattice * GLASS_SITES + at) * GLASS_SLOTS + slot + entry % GLASS_COPIES];
}

/* Replace the samples that exchange by those of the other rank's rows. */
__kernel void glass_border_merge(__global uint *spins, __global const uint *list,
                                 __global const uint *rows, __global const uint4 *swaps,
                                 uint slot) {
    const uint at = (uint)get_global_id(0), place = (uint)get_global_id(1), entry = list[place];
    if (at >= GLASS_SITES)
        return;
    const ulong lattice = entry / GLASS_COPIES;
    __global uint *own =
        spins + (lattice * GLASS_SITES + at) * GLASS_SLOTS + slot + entry % GLASS_COPIES;
    *own ^= (*own ^ rows[(ulong)place * GLASS_SITES + at]) & swaps[entry].x;
}
