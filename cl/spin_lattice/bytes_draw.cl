/* The random words of sweeps to come, for bytes_local.cl. No word depends on a spin, and few
 * lattices leave units idle that can draw them. Dimension 0: fours of sites of `halves` half
 * sweeps; 1: members. drawn: [half sweep][member][four of a block][block]. */
#include "spin_lattice/bytes_step.h"

__kernel void bytes_draw(__global uint4 *drawn, __global const struct bytes_member *members,
                         ulong step, uint halves) {
    const uint fours = (uint)BYTES_COLOUR * BYTES_FOURS;
    const uint item = (uint)get_global_id(0), member = (uint)get_global_id(1);
    const uint turn = item / fours, of = item - turn * fours;
    if (turn >= halves)
        return;
    const uint four = of / (uint)BYTES_COLOUR, at = of - four * (uint)BYTES_COLOUR;
    const uint row = at / BYTES_BLOCKS, block = at - row * BYTES_BLOCKS;
    const struct ergo_words r = bytes_words(row, 16 * block + 4 * four, step + turn / 2,
                                            ERGO_DRAW(BYTES_PURPOSE_SWEEP, turn & 1),
                                            members[member].key0, members[member].key1);
    drawn[((ulong)turn * get_global_size(1) + member) * fours + of] = (uint4)(r.x, r.y, r.z, r.w);
}
