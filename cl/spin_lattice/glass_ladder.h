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
 * before what is noted is written: these loads are on their way together. */
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

/* Are partners in other quads? With four copies a quad is a temperature. */
#define GLASS_ELSEWHERE(parity) (GLASS_COPIES == 4 || (parity))

/* A quad `own` of a site after the exchange. at: where it is among the site's quads, if partners
 * are elsewhere. Partners beyond the ends have no bits in the mask. */
#define GLASS_MOVED(NAME, SPACE)                                                                   \
    ERGO_INLINE uint4 NAME(uint4 own, SPACE const uint4 *at, uint quad, uint4 mask, uint parity) { \
        const int lower = quad > 0 ? -1 : 0, upper = quad + 1 < GLASS_QUADS;                       \
        uint4 other;                                                                               \
        if (GLASS_COPIES == 4) {                                                                   \
            other = at[(quad + parity) & 1 ? lower : upper];                                       \
        } else if (parity == 0) {                                                                  \
            other = GLASS_COPIES == 2 ? own.zwxy : own.yxwz;                                       \
        } else if (GLASS_COPIES == 2) {                                                            \
            SPACE const uint2 *pairs = (SPACE const uint2 *)at;                                    \
            const uint2 one = pairs[lower], two = pairs[1 + upper];                                \
            other = (uint4)(one.x, one.y, two.x, two.y); /* of two pairs: Oclgrind ends itself */  \
        } else {                                                                                   \
            SPACE const uint *words = (SPACE const uint *)at;                                      \
            other = (uint4)(words[lower], own.z, own.y, words[3 + upper]);                         \
        }                                                                                          \
        return own ^ ((own ^ other) & mask);                                                       \
    }

#endif
