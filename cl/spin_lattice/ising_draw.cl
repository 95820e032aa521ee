/* The random bits of sweeps to come, for ising_local.cl. Dimension 0: blocks of both colours of
 * `sweeps` sweeps; 1: members. drawn: see ISING_DRAWN_AT. */
#define ISING_SPACE __local
#include "spin_lattice/ahead.h"

__kernel void ising_draw(__global uint4 *drawn, __global const struct ising_member *members,
                         ulong sweep, uint sweeps) {
    const uint item = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint half_sweep = item / ISING_BLOCKS, block = item - half_sweep * ISING_BLOCKS;
    if (half_sweep >= 2 * sweeps)
        return;
    const struct ising_member member = members[index];
    const struct ising_drawn d =
        ising_draw_block(block, sweep + half_sweep / 2, half_sweep & 1, &member);
    const ulong at = ISING_DRAWN_AT(half_sweep, (uint)get_global_size(1), index, block);
    drawn[at] = d.below[0];
    drawn[at + ISING_BLOCKS] = d.below[1];
    drawn[at + 2 * ISING_BLOCKS] = d.equal[0];
    drawn[at + 3 * ISING_BLOCKS] = d.equal[1];
    drawn[at + 4 * ISING_BLOCKS] = d.rest;
}
