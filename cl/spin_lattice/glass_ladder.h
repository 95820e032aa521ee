/* Spin glasses: what the kernels of parallel tempering share. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_LADDER_H
#define ERGO_CL_SPIN_LATTICE_GLASS_LADDER_H

#include "spin_lattice/glass_update.h"

/* Pairs of neighbours on the ladder by parity: (0, 1), (2, 3) ... or (1, 2), (3, 4) ... */
#define GLASS_PAIRS(parity) ((parity) ? ((uint)(GLASS_T)-1) / 2 : (uint)(GLASS_T) / 2)
#define GLASS_SLOTS (4 * GLASS_QUADS)
/* Is this temperature the colder one of a pair? */
#define GLASS_COLDER(t, parity) (((t)&1) == (parity) && (t) + 1 < GLASS_T)

/* Does sample `bit` of a word exchange slot a and the hotter one? A word with this bit, or 0. */
ERGO_INLINE uint glass_wants(long worse, float slope, uint word, uint bit, ulong step, uint a,
                             uint2 key) {
    const uint4 r =
        glass_draw(32 * word + bit, step, GLASS_PURPOSE_SWAP, 4 * GLASS_QUADS_BEFORE + a, key);
    return glass_exchanges(worse, slope, r.x) << bit;
}

/* What is kept of the exchanges of slots a = (t, copy) and b above it, of a word-lattice: looked up
 * before it is known who exchanges, because these loads take their time. */
struct glass_book {
    uint from, to;
    ulong accepted, trips;
};

ERGO_INLINE struct glass_book glass_open(__global const uint *came, __global const ulong *accepted,
                                         __global const ulong *trips, uint t, uint copy) {
    struct glass_book book;
    const uint a = t * GLASS_COPIES + copy;
    book.from = came[a];
    book.to = came[a + GLASS_COPIES];
    book.accepted = accepted[a];
    book.trips = trips[copy];
    return book;
}

/* The samples m exchange. */
ERGO_INLINE void glass_note(struct glass_book book, __global uint *came, __global ulong *accepted,
                            __global ulong *trips, uint t, uint copy, uint m, uint lanes) {
    const uint a = t * GLASS_COPIES + copy;
    const uint move = (book.from ^ book.to) & m, cold = book.from ^ move;
    if (GLASS_RUNG + t == 0)
        trips[copy] = book.trips + ERGO_POPCOUNT(cold);
    came[a] = GLASS_RUNG + t == 0 ? 0u : cold;
    came[a + GLASS_COPIES] = GLASS_RUNG + t + 2 == GLASS_RUNGS ? lanes : book.to ^ move;
    accepted[a] = book.accepted + ERGO_POPCOUNT(m);
}

/* A quad of a site after the exchange. at: the quad; before: has it one before it? Partners beyond
 * the ends have no bits in the mask. */
ERGO_INLINE uint4 glass_moved(__global const uint4 *at, uint quad, uint before, uint4 mask,
                              uint parity) {
    const uint4 own = at[0];
    uint4 other;
    if (GLASS_COPIES == 4) { /* a quad is a temperature */
        other = (quad + parity) & 1 ? at[before ? -1 : 0] : at[quad + 1 < GLASS_QUADS];
    } else if (parity == 0) {
        other = GLASS_COPIES == 2 ? own.zwxy : own.yxwz;
    } else if (GLASS_COPIES == 2) {
        __global const uint2 *pairs = (__global const uint2 *)at;
        const uint2 lower = pairs[before ? -1 : 0], upper = pairs[quad + 1 < GLASS_QUADS ? 2 : 1];
        other =
            (uint4)(lower.x, lower.y, upper.x, upper.y); /* of two pairs: Oclgrind ends itself */
    } else {
        __global const uint *one = (__global const uint *)at;
        other = (uint4)(one[before ? -1 : 0], own.z, own.y, one[quad + 1 < GLASS_QUADS ? 4 : 3]);
    }
    return own ^ ((own ^ other) & mask);
}

#endif
