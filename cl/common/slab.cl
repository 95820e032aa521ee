/*
 * Edges and halos of a slab of a lattice that is cut over ranks (src/engine/slab.h). The state has
 * pieces, `pitch` words from one to the next; of each go or come `words` words at `before` and as
 * many at `behind`. edges[side][piece][sent]. Dimension 0: sent words of both sides; 1: piece.
 *
 * Where a state is a byte for each spin, of which SLAB_BITS bits are used, 8 / SLAB_BITS words are
 * sent as one. 8: words as they are.
 */
#include "common/compat.h"

#define SLAB_FOLD (8u / (SLAB_BITS))
#define SLAB_MASK (((1u << (SLAB_BITS)) - 1u) * 0x01010101u)

/* Which words of the state a sent one has: every `sent` words one, so that work-items in step are
 * neighbours in both. */
#define SLAB_EACH(k, word)                                                                         \
    for (uint k = 0, word = at; k < SLAB_FOLD; k++, word += sent)                                  \
        if (word < words)

__kernel void slab_pack(__global const uint *state, __global uint *edges, uint words, ulong pitch,
                        ulong before, ulong behind) {
    const uint i = (uint)get_global_id(0), piece = (uint)get_global_id(1);
    const uint pieces = (uint)get_global_size(1), sent = (words + SLAB_FOLD - 1u) / SLAB_FOLD;
    if (i >= 2 * sent)
        return;
    const uint side = i >= sent, at = i - side * sent;
    uint folded = 0;
    SLAB_EACH(k, word) {
        folded |= state[piece * pitch + (side ? behind : before) + word] << k * (SLAB_BITS);
    }
    edges[((ulong)side * pieces + piece) * sent + at] = folded;
}

__kernel void slab_unpack(__global uint *state, __global const uint *edges, uint words, ulong pitch,
                          ulong before, ulong behind) {
    const uint i = (uint)get_global_id(0), piece = (uint)get_global_id(1);
    const uint pieces = (uint)get_global_size(1), sent = (words + SLAB_FOLD - 1u) / SLAB_FOLD;
    if (i >= 2 * sent)
        return;
    const uint side = i >= sent, at = i - side * sent;
    const uint folded = edges[((ulong)side * pieces + piece) * sent + at];
    SLAB_EACH(k, word) {
        state[piece * pitch + (side ? behind : before) + word] =
            (folded >> k * (SLAB_BITS)) & SLAB_MASK;
    }
}
