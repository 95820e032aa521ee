/*
 * Parallel tempering: what kernels and the host have in common. The temperatures of a ladder are
 * its rungs, 0 the coldest. Copies on neighbouring rungs exchange their configurations, pairs (0,
 * 1), (2, 3) ... at exchanges of parity 0, (1, 2), (3, 4) ... at those of parity 1.
 */
#ifndef ERGO_CL_LADDER_H
#define ERGO_CL_LADDER_H

#include "common/log.h"
#include "common/rng.h"

/* The number of pairs of a parity. rungs >= 1. */
ERGO_INLINE uint ergo_ladder_pairs(uint rungs, uint parity) {
    return parity ? (rungs - 1) / 2 : rungs / 2;
}

/* Is rung t the colder one of a pair? */
ERGO_INLINE uint ergo_ladder_colder(uint t, uint rungs, uint parity) {
    return (t & 1) == parity && t + 1 < rungs;
}

/* Is an exchange accepted, with probability min(1, exp(-slope worse))? worse: energy of the hotter
 * copy minus that of the colder one, so positive if the exchange is unfavourable; slope: 1/T - 1/T'
 * per unit of energy; r: 32 random bits. Without a branch: PoCL 7.1 (LLVM 21, AVX-512), which
 * makes vectors of a group's work-items, decides some exchanges wrongly with || in its place (an
 * audit found it, 2026-11-24; right with POCL_WORK_GROUP_METHOD=cbs). */
ERGO_INLINE uint ergo_ladder_accepts(long worse, float slope, uint r) {
    return (uint)(worse <= 0) | (uint)((float)worse * slope < ergo_minus_log(r));
}

/* The same by the random number of (entity, step, draw) and key; draw: of ERGO_DRAW. */
ERGO_INLINE uint ergo_ladder_decides(long worse, float slope, uint entity, ulong step, uint draw,
                                     uint key0, uint key1) {
    const struct ergo_words r =
        ergo_philox_words(entity, (uint)step, (uint)(step >> 32), draw, key0, key1);
    return ergo_ladder_accepts(worse, slope, r.x);
}

/* Round trips of up to 32 samples, a bit each. *cold and *hot, of rungs t and t + 1: the samples
 * whose copy there was at the hottest rung more recently than at the coldest. They become what they
 * are after the samples in `accepted` have exchanged. samples: those in use. Returns those that
 * have arrived at the coldest rung. */
ERGO_INLINE uint ergo_ladder_walk(uint *cold, uint *hot, uint accepted, uint samples, uint t,
                                  uint rungs) {
    const uint move = (*cold ^ *hot) & accepted, down = *cold ^ move;
    *cold = t == 0 ? 0u : down;
    *hot = t + 2 == rungs ? samples : *hot ^ move;
    return t == 0 ? down : 0u;
}

#endif
