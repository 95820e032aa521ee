/*
 * Edges and halos of a slab of a lattice that is cut over ranks (src/engine/slab.h). The state has
 * pieces, `pitch` words from one to the next; of each go or come `words` words at `before` and as
 * many at `behind`. edges[side][piece][words]. Dimension 0: words of both sides; 1: piece.
 */
#include "common/compat.h"

__kernel void slab_pack(__global const uint *state, __global uint *edges, uint words, ulong pitch,
                        ulong before, ulong behind) {
    const uint i = (uint)get_global_id(0), piece = (uint)get_global_id(1);
    const uint pieces = (uint)get_global_size(1);
    if (i >= 2 * words)
        return;
    const uint side = i >= words, at = i - side * words;
    edges[((ulong)side * pieces + piece) * words + at] =
        state[piece * pitch + (side ? behind : before) + at];
}

__kernel void slab_unpack(__global uint *state, __global const uint *edges, uint words, ulong pitch,
                          ulong before, ulong behind) {
    const uint i = (uint)get_global_id(0), piece = (uint)get_global_id(1);
    const uint pieces = (uint)get_global_size(1);
    if (i >= 2 * words)
        return;
    const uint side = i >= words, at = i - side * words;
    state[piece * pitch + (side ? behind : before) + at] =
        edges[((ulong)side * pieces + piece) * words + at];
}
