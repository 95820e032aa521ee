/* The random words of a chain's next moves, in local memory. */
#ifndef ERGO_CL_LJ_GCMC_DRAWS_H
#define ERGO_CL_LJ_GCMC_DRAWS_H

#include "lj_gcmc/chain.h"

/* Moves drawn at once, two blocks of words each. It must divide 1024. Small groups keep local
 * memory for the cache (8448 chains on an H200: 3%). */
#ifdef LJ_WHOLE
#define LJ_AHEAD (LJ_GROUP > 32u ? 64u : 32u)
#else
#define LJ_AHEAD (LJ_GROUP > 128u ? LJ_GROUP / 2u : 64u)
#endif

/* Draw the words of the moves from step `first` on. */
ERGO_INLINE void lj_draw_ahead(const struct lj_member *m, ulong first, uint item,
                               __local uint4 *draws) {
    for (uint t = item; t < 2u * LJ_AHEAD; t += LJ_GROUP) {
        const ulong step = first + t / 2u;
        const struct ergo_words w =
            ergo_philox_words(LJ_BOX(m), (uint)step, (uint)(step >> 32),
                              ERGO_DRAW(LJ_PURPOSE_MOVE, t % 2u), m->key0, m->key1);
        draws[t] = (uint4)(w.x, w.y, w.z, w.w);
    }
}

ERGO_INLINE struct lj_move lj_move_of_words(const struct lj_member *m, uint particles,
                                            __local const uint4 *draws) {
    const uint4 a = draws[0], b = draws[1];
    const struct ergo_words wa = {a.x, a.y, a.z, a.w}, wb = {b.x, b.y, b.z, b.w};
    return lj_move_of(m, particles, wa, wb);
}

#endif
