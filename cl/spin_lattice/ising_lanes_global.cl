/* ising_sweep for CPUs: a work-item has eight blocks. */
#define ISING_LANES
#define ISING_SPACE __global
#include "spin_lattice/lanes.h"

/* Arguments as in ising_global.cl. Dimension 0 counts chunks of eight blocks; the last one may be
 * partial. Ranges begin and end at chunks. */
__kernel void ising_sweep_lanes(__global uint *spins, __global const struct ising_member *members,
                                uint colour, ulong sweep ISING_RANGE) {
    const uint block = ISING_FROM + 8 * (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (block >= ISING_TO)
        return;
    const struct ising_member member = members[index];
    __global uint *lattice = spins + (ulong)index * (8u * ISING_BLOCKS);
    ising_update_lanes(lattice + colour * (4u * ISING_BLOCKS),
                       lattice + (1u - colour) * (4u * ISING_BLOCKS), 4 * block, block, sweep,
                       colour, &member);
}
