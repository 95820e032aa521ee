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

/*
 * Ladders whose rungs are members of a batch (common/ladder.cl, src/engine/temper.h): the energy
 * of a member is a sum of terms, each an integer that its measurement has counted times a weight.
 * The integer: `parts` words of the member's counts, from `first` on, `stride` apart, added up.
 */
#define ERGO_LADDER_TERMS 8
#define ERGO_LADDER_UINT 0u /* words */
#define ERGO_LADDER_INT 1u  /* words with a sign */
#define ERGO_LADDER_LONG 2u /* lower and upper words of 64 bits */
struct ergo_ladder_term {
    uint first, stride, parts, kind;
    float weight; /* energy of a count of 1 */
    uint unused[3];
};
#define ERGO_LADDER_TERM_BYTES 32
struct ergo_ladder_rung {
    float slope;     /* 1/T less that of the next rung; 0 of the hottest */
    uint key0, key1; /* Philox key of the ladder */
    uint unused;
};
#define ERGO_LADDER_RUNG_BYTES 16
#define ERGO_LADDER_PURPOSE 48 /* entity: the colder rung */

#ifdef __OPENCL_VERSION__
#define ERGO_LADDER_GLOBAL __global
#else
#define ERGO_LADDER_GLOBAL
#endif

ERGO_INLINE ulong ergo_ladder_sum(ERGO_LADDER_GLOBAL const uint *counts,
                                  ERGO_LADDER_GLOBAL const struct ergo_ladder_term *term) {
    ulong sum = 0;
    for (uint p = 0, at = term->first; p < term->parts; p++, at += term->stride) {
        const uint low = counts[at];
        const uint high = term->kind == ERGO_LADDER_LONG  ? counts[at + 1]
                          : term->kind == ERGO_LADDER_INT ? 0u - (low >> 31)
                                                          : 0u;
        sum += (ulong)high << 32 | low;
    }
    return sum;
}

/* Energy of the hotter member less that of the colder one: of each term the exact difference of
 * integers, which is then rounded to 24 bits. */
ERGO_INLINE float ergo_ladder_worse(ERGO_LADDER_GLOBAL const uint *cold,
                                    ERGO_LADDER_GLOBAL const uint *hot,
                                    ERGO_LADDER_GLOBAL const struct ergo_ladder_term *terms) {
    float worse = 0.0f;
    for (uint k = 0; k < ERGO_LADDER_TERMS; k++) {
        const long more =
            (long)(ergo_ladder_sum(hot, terms + k) - ergo_ladder_sum(cold, terms + k));
        worse = worse + (float)more * terms[k].weight;
    }
    return worse;
}

/* Do rungs t and t + 1 of a ladder exchange their configurations? rung: number t. */
ERGO_INLINE uint ergo_ladder_exchanges(float worse, uint t, ulong step,
                                       ERGO_LADDER_GLOBAL const struct ergo_ladder_rung *rung) {
    const struct ergo_words r =
        ergo_philox_words(t, (uint)step, (uint)(step >> 32), ERGO_DRAW(ERGO_LADDER_PURPOSE, 0),
                          rung->key0, rung->key1);
    return (uint)(worse <= 0.0f) | (uint)(worse * rung->slope < ergo_minus_log(r.x));
}

#endif
