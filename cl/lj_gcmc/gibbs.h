/*
 * Two boxes of a Gibbs ensemble, as pure functions in OpenCL C and C11: what their volumes are, and
 * the moves that change both. Boxes are the chains 2 p and 2 p + 1 of a batch.
 */
#ifndef ERGO_CL_LJ_GCMC_GIBBS_H
#define ERGO_CL_LJ_GCMC_GIBBS_H

#include "lj_gcmc/volume.h"

/* ln(1 + exp(x)) in units of 2^-36, |x| < 2^42, to a unit or so: Newton's method for exp(y) = 1 +
 * exp(-|x|), which is between 1 and 2. A function of x alone, so that volumes are too. */
ERGO_INLINE lj_long lj_gibbs_log(lj_long x) {
    const ulong small = ergo_volume_whole(ergo_volume_exp(x > 0L ? -x : x), 56u);
    const ulong sum = ((1UL << 56) + small) << 6; /* in 2^-62 */
    lj_long y = (lj_long)(small >> 20);
    for (uint i = 0u; i < 5u; i++) {
        const ulong e = ergo_volume_whole(ergo_volume_exp(-y), 60u);
        /* in 2^-61 */
        y += (lj_long)(ergo_volume_high(sum, e << 3) - (1UL << 61)) / (1L << 25);
    }
    return x > 0L ? x + y : y;
}

/* ln V of a box where x = ln(V1/V2). Their difference is x exactly. */
ERGO_INLINE lj_long lj_gibbs_size(const struct lj_volume_rules *r, lj_long x, uint box) {
    return r->total - lj_gibbs_log(x) + (box ? 0L : x);
}

/* The trial x before step `step`. */
ERGO_INLINE lj_long lj_gibbs_trial(const struct lj_volume_rules *r, const struct lj_member *m,
                                   ulong step, uint moved, lj_long size1, lj_long size2) {
    return lj_volume_trial(r, m, step, moved, size1 - size2);
}

/* Judge the volume move before step `step`, whose sums over pairs are given, and carry it out. */
ERGO_INLINE void lj_gibbs_judge(const struct lj_volume_rules *r, const struct lj_member *m,
                                ulong step, const struct lj_sum *sum, struct lj_chain *c) {
    const lj_long x = lj_gibbs_trial(&r[0], &m[0], step, c[0].moved, c[0].size, c[1].size);
    lj_long to[2], exponent = 0L;
    uint limited = 0u;
    for (uint b = 0u; b < 2u; b++) {
        to[b] = lj_gibbs_size(&r[0], x, b);
        limited |= lj_volume_limited(&r[b], to[b]);
    }
    for (uint b = 0u; b < 2u && !limited; b++)
        exponent += (lj_long)(c[b].particles + 1UL) * (to[b] - c[b].size) / 65536L +
                    lj_volume_weight(&r[b], &m[b], &c[b], sum[b], to[b]);
    const uint accepted = !limited && !sum[0].overlap && !sum[1].overlap &&
                          ergo_volume_accepts(exponent, lj_volume_words(&m[0], step, 1u));
    for (uint b = 0u; b < 2u; b++)
        lj_volume_end(&r[b], step, sum[b], to[b], accepted, limited, &c[b]);
}

/* A transfer: a particle of one box goes to a place in the other. */
struct lj_transfer {
    uint from;  /* the box that it leaves */
    uint index; /* in that box's list */
    uint idle;  /* 1: that box is empty */
    uint word;  /* random word of the acceptance test */
    lj_position to;
};

/* Trial number t before step `step`, with so many particles in the boxes. Words of the first block:
 * direction, particle (64 bits), acceptance; of the second: the place. */
ERGO_INLINE struct lj_transfer lj_transfer_of(const struct lj_member *m, ulong step, uint t,
                                              uint particles1, uint particles2) {
    const struct ergo_words a =
        ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_TRANSFER, 2u * t), m->key0, m->key1);
    const struct ergo_words b =
        ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_TRANSFER, 2u * t + 1u), m->key0, m->key1);
    struct lj_transfer move;
#ifdef __OPENCL_VERSION__
    move.to = (uint4)(0u);
#endif
    move.from = a.x >> 31;
    const uint n = move.from ? particles2 : particles1;
    move.index = (uint)(((ulong)a.y * n + lj_mul_hi(a.z, n)) >> 32);
    move.idle = n == 0u ? 1u : 0u;
    move.word = a.w;
    move.to.x = b.x;
    move.to.y = b.y;
    move.to.z = b.z;
    return move;
}

/*
 * With `given` and `got` particles in the box that loses one and the one that gets it, volumes V
 * and V': u (got + 1) V <= given V' exp(-beta dU), dU of both boxes with their tails
 * (Panagiotopoulos 1987; Frenkel and Smit, 8.3). u is in (0, 1].
 */
ERGO_INLINE uint lj_transfer_accepts(const struct lj_member *loses, const struct lj_member *gets,
                                     uint given, uint got, lj_long size, lj_long size_to, uint word,
                                     lj_long energy_change) {
    const float u = ((float)word + 0.5f) * 0x1p-32f;
    float x = -(float)energy_change * loses->beta4;
    x = ERGO_FMA(-gets->tail, (float)(2u * got + 1u), x);
    x = ERGO_FMA(loses->tail, (float)(2u * given - 1u), x);
    if (x < -80.0f)
        return 0u;
    const float w = ergo_exp(x > 60.0f ? 60.0f : x);
    const float volumes = lj_volume_float(size_to - size, 0u);
    return u * ((float)got + 1.0f) <= (float)given * volumes * w ? 1u : 0u;
}

#endif
