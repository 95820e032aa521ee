/*
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11), the only source of randomness.
 *
 * Random numbers are addressed by physics, never by thread. The key is the member's 64-bit stream,
 * made of seed, replica and physical parameters (src/job). The counter:
 *
 *     word 0   entity: lattice block, cell, chain, walker, cluster root
 *     word 1   step, low 32 bits
 *     word 2   step, high 32 bits
 *     word 3   purpose << 24 | draw
 *
 * Overflow: a sampler whose entities exceed 2^32 must refuse the job in its plan. Steps are 64-bit
 * and do not overflow. A purpose has 2^24 draws per entity and step, and a kernel must be written
 * so that it cannot need more.
 *
 * Random123's header is not used: PoCL's compiler needs the rounds as scalars written in line (285
 * against 10 million blocks a second). Tests compare the words with Random123's.
 */
#ifndef ERGO_CL_RNG_H
#define ERGO_CL_RNG_H

#include "common/compat.h"

#define ERGO_DRAW(purpose, draw) (((uint)(purpose) << 24) | (uint)(draw))

ERGO_INLINE struct ergo_words ergo_philox_words(uint c0, uint c1, uint c2, uint c3, uint k0,
                                                uint k1) {
#define ERGO_PHILOX_ROUND                                                                          \
    {                                                                                              \
        const ulong p0 = (ulong)0xD2511F53u * c0;                                                  \
        const ulong p1 = (ulong)0xCD9E8D57u * c2;                                                  \
        const uint n0 = (uint)(p1 >> 32) ^ c1 ^ k0;                                                \
        const uint n2 = (uint)(p0 >> 32) ^ c3 ^ k1;                                                \
        c1 = (uint)p1;                                                                             \
        c3 = (uint)p0;                                                                             \
        c0 = n0;                                                                                   \
        c2 = n2;                                                                                   \
        k0 += 0x9E3779B9u;                                                                         \
        k1 += 0xBB67AE85u;                                                                         \
    }
    ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND
        ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND ERGO_PHILOX_ROUND
#undef ERGO_PHILOX_ROUND
        struct ergo_words out;
    out.x = c0;
    out.y = c1;
    out.z = c2;
    out.w = c3;
    return out;
}

/* floor(x n / 2^32), a number below n. Its probabilities differ from 1/n by at most 2^-32. */
ERGO_INLINE uint ergo_below(uint x, uint n) {
    return (uint)(((ulong)x * n) >> 32);
}

#ifdef __OPENCL_VERSION__
ERGO_INLINE uint4 ergo_philox(uint4 counter, uint key0, uint key1) {
    const struct ergo_words r =
        ergo_philox_words(counter.x, counter.y, counter.z, counter.w, key0, key1);
    return (uint4)(r.x, r.y, r.z, r.w);
}

/*
 * Draws `draw` .. `draw` + 3 for eight entities, one per lane. Of each draw out[d][0] holds words 0
 * and 1, the latter in the upper half; out[d][1] words 2 and 3. A draw that is not used costs
 * nothing.
 *
 * This is for CPUs: with 64-bit lanes that hold 32 bits, each product is one vpmuludq. Two details
 * make the compiler choose it over vpmullq, which is three times slower. The upper halves may hold
 * anything until the last round, and the masks show this to the compiler. The rotation at the end
 * shows it that all bits of each product are used.
 *
 * Rounds of one draw wait for each other: 60 instructions take 50 cycles. Four draws side by side
 * fill the time; a core's scheduler does not look far enough to find them one behind the other.
 * (Their number as an argument: PoCL's compiler puts them one behind the other again.)
 */
#define ERGO_PHILOX_SIDES 4u

ERGO_INLINE void ergo_philox_lanes(ulong8 entities, ulong step, uint draw, uint key0, uint key1,
                                   ulong8 out[ERGO_PHILOX_SIDES][2]) {
    const ulong8 low = (ulong8)(0xffffffffUL);
    ulong8 c0[ERGO_PHILOX_SIDES], c1[ERGO_PHILOX_SIDES], c2[ERGO_PHILOX_SIDES],
        c3[ERGO_PHILOX_SIDES];
    ERGO_UNROLL
    for (uint d = 0; d < ERGO_PHILOX_SIDES; d++) {
        c0[d] = entities;
        c1[d] = (ulong8)(step & 0xffffffffUL), c2[d] = (ulong8)(step >> 32);
        c3[d] = (ulong8)((ulong)(draw + d));
    }
    ERGO_UNROLL
    for (int round = 0; round < 9; round++) {
        ERGO_UNROLL
        for (uint d = 0; d < ERGO_PHILOX_SIDES; d++) {
            const ulong8 p0 = (ulong8)(0xD2511F53UL) * (c0[d] & low);
            const ulong8 p1 = (ulong8)(0xCD9E8D57UL) * (c2[d] & low);
            c0[d] = (p1 >> 32) ^ c1[d] ^ (ulong8)((ulong)key0);
            c2[d] = (p0 >> 32) ^ c3[d] ^ (ulong8)((ulong)key1);
            c1[d] = p1;
            c3[d] = p0;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    ERGO_UNROLL
    for (uint d = 0; d < ERGO_PHILOX_SIDES; d++) {
        const ulong8 p0 = (ulong8)(0xD2511F53UL) * (c0[d] & low);
        const ulong8 p1 = (ulong8)(0xCD9E8D57UL) * (c2[d] & low);
        out[d][0] = rotate(p1, (ulong8)(32UL)) ^ (c1[d] & low) ^ (ulong8)((ulong)key0);
        out[d][1] = rotate(p0, (ulong8)(32UL)) ^ (c3[d] & low) ^ (ulong8)((ulong)key1);
    }
}
#endif

#endif
