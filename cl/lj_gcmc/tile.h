/*
 * An active cell of the checkerboard and all particles within the cutoff of it, in local memory.
 * The frozen neighbours come first, then the cell's own particles, which trial moves change.
 *
 * LJ_TILE is the number of places, LJ_PERIOD the number of cells from one active cell to the next.
 * LJ_GROUP work-items share a tile, and LJ_AT_ONCE places at most are compared with it at once.
 * With LJ_VECTOR a work-group of one evaluates eight particles at once, for CPUs. LJ_WARP: 32
 * work-items with consecutive numbers run in step and can add by one instruction (NVIDIA).
 */
#ifndef ERGO_CL_LJ_GCMC_TILE_H
#define ERGO_CL_LJ_GCMC_TILE_H

#include "common/log.h"
#include "common/unit.h"
#include "lj_gcmc/coarse.h"
#include "lj_gcmc/pairs8.h"
#ifdef LJ_WARP
#include "common/warp.h"
#endif

#define LJ_GAP (LJ_PERIOD - LJ_ACTIVE)
#define LJ_SPAN (LJ_ACTIVE + 2u * LJ_GAP)

/* A work-group of one needs no barrier, and PoCL's compiler splits kernels at barriers. */
#if LJ_GROUP == 1
#define LJ_BARRIER() (void)0
#define LJ_BARRIER_ALL()
#else
#define LJ_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LJ_BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

/*
 * What a particle more adds to -beta U by the tail of the potential, during an activation that
 * begins with n particles. The tail's weight exp(-a n^2), a < 0, is the mean of exp(x n) over x
 * from a normal distribution of mean 0 and variance -2 a (Hubbard and Stratonovich). So x is drawn
 * as it is distributed for this n, with mean -2 a n, and while it stands still the tail acts as an
 * activity does: active cells do not see each other, and n and x together sample what they should.
 * -2 a n alone would be no such draw: the variance of n would be too small.
 */
ERGO_INLINE float lj_board_tail(const struct lj_member *m, ulong step, uint n) {
    const struct ergo_words w = ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                                                  ERGO_DRAW(LJ_PURPOSE_BOARD, 1), m->key0, m->key1);
    const float variance = -2.0f * m->tail;
    const float normal = ergo_sqrt(2.0f * ergo_minus_log(w.x)) * ergo_cos(w.y);
    return ERGO_FMA(variance, (float)n, ergo_sqrt(variance) * normal);
}

struct lj_tile {
    __local uint *x, *y, *z;
    uint env, n; /* numbers of neighbours and of own particles */
};

ERGO_INLINE lj_position lj_tile_get(const struct lj_tile *t, uint i) {
    return (uint4)(t->x[i], t->y[i], t->z[i], 0u);
}

ERGO_INLINE void lj_tile_put(const struct lj_tile *t, uint i, lj_position p) {
    t->x[i] = p.x;
    t->y[i] = p.y;
    t->z[i] = p.z;
}

/* How far p is outside [low, low + width), in units of 2^-32 of the side. */
ERGO_INLINE float lj_outside(uint p, uint low, uint width) {
    const uint d = p - low, beyond = d - width, before = 0u - d;
    return d < width ? 0.0f : (float)(beyond < before ? beyond : before);
}

/* Can p be within the cutoff of the active cell? The factor covers rounding. */
ERGO_INLINE uint lj_tile_needs(lj_position p, lj_position low, lj_position width,
                               const struct lj_member *m) {
    const float x = lj_outside(p.x, low.x, width.x) * m->scale[0],
                y = lj_outside(p.y, low.y, width.y) * m->scale[1],
                z = lj_outside(p.z, low.z, width.z) * m->scale[2];
    return fma(x, x, fma(y, y, z * z)) <= m->cutoff2 * 1.0001f ? 1u : 0u;
}

/* Pairs of one place with others of the tile. Contacts are counted in halves of a word, the inner
 * shell in the upper one, because a tile has fewer than 2^16 places. */
struct lj_near {
    long energy, virial;
    uint contacts, overlap;
};

/* Contacts as a word of lj_contact. */
ERGO_INLINE long lj_contacts_of(uint halves) {
    return (long)(halves >> 16) << 32 | (long)(halves & 0xffffu);
}

/* Add the pair of `at` with place j, if it is within the cutoff. sign: 1 or -1. */
ERGO_INLINE void lj_tile_pair(const struct lj_tile *t, uint j, lj_position at, int sign,
                              const struct lj_member *m, struct lj_near *sum) {
    const float r2 = lj_distance2(lj_tile_get(t, j), at, m->scale);
    if (r2 < m->cutoff2) {
        long energy, virial;
        lj_pair(r2, m, &energy, &virial);
        sum->energy += sign < 0 ? -energy : energy;
        sum->virial += sign < 0 ? -virial : virial;
        const uint contact = r2 < m->contact2[1] ? 0u : r2 < m->contact2[0] ? 0x10000u : 1u;
        sum->contacts += sign < 0 ? 0u - contact : contact;
    }
}

#ifdef LJ_VECTOR

/* Sums of `at` with places `from` to `to` - 1 of the tile except `me`. If one is inside the core,
 * `overlap` is set and the sums have no meaning. */
ERGO_INLINE void lj_tile_sum(const struct lj_tile *t, uint from, uint to, lj_position at, uint me,
                             uint item, const struct lj_member *m, struct lj_near *sum) {
    const int8 lanes = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    struct lj_sum8 eight = {(long8)(0L), (long8)(0L), (int8)(0), 0u};
    (void)item;
    for (uint j = from / 8u * 8u; j < to && !eight.overlap; j += 8u)
        lj_pairs8(vload8(0, t->x + j), vload8(0, t->y + j), vload8(0, t->z + j), at,
                  lj_below8(to - j) & (lanes != (int8)((int)(me - j))) &
                      (lanes >= (int8)((int)(from - j))),
                  m, &eight);
    const long contacts = lj_contacts8(eight.contacts);
    sum->overlap |= eight.overlap;
    sum->energy += lj_total8(eight.energy);
    sum->virial += lj_total8(eight.virial);
    sum->contacts += (uint)(contacts >> 32) << 16 | (uint)contacts;
}

#else

/* Words with a bit for each place of the tile, the first one uppermost. */
#define LJ_WORDS (LJ_TILE / 32u)

/* Coarse places (coarse.h) of a tile, in units of `unit` from `corner` on, the same along all axes.
 * No place of the tile is 127 of them from one in the active cell. */
struct lj_coarse_tile {
    __local uint *word;
    lj_position corner;
    float per[3]; /* units in 2^-32 of a side */
    int limit, core;
};

ERGO_INLINE struct lj_coarse_tile lj_coarse_tile_of(const struct lj_member *m, lj_position low,
                                                    lj_position width, __local uint *word) {
    struct lj_coarse_tile t;
    const float root = m->cutoff2 * ergo_rsqrt(m->cutoff2) * 1.001f;
    const float a = (float)width.x * m->scale[0], b = (float)width.y * m->scale[1],
                c = (float)width.z * m->scale[2];
    const float per = 120.0f * ergo_inverse(fmax(a, fmax(b, c)) + root);
    for (uint k = 0u; k < 3u; k++)
        t.per[k] = m->scale[k] * per;
    t.word = word;
    t.corner = (uint4)(low.x - (uint)(root * ergo_inverse(m->scale[0])),
                       low.y - (uint)(root * ergo_inverse(m->scale[1])),
                       low.z - (uint)(root * ergo_inverse(m->scale[2])), 0u);
    t.limit = lj_coarse_square(m->cutoff2 * per * per);
    t.core = lj_coarse_square(m->core2 * per * per);
    return t;
}

/* lower: 0, or -1/2 for a place that others are compared with, which is half a unit lower in y and
 * z. */
ERGO_INLINE uint lj_coarse_in(const struct lj_coarse_tile *t, lj_position p, float lower) {
    const uint x = (uint)((float)(p.x - t->corner.x) * t->per[0]),
               y = (uint)((float)(p.y - t->corner.y) * t->per[1] + lower),
               z = (uint)((float)(p.z - t->corner.z) * t->per[2] + lower);
    return x | y << 8 | z << 16;
}

/* Which of the 32 places from `first` on, of those below `end` and except `me`, may be within the
 * cutoff of `at`, whose coarse place is `centre`. *overlap: one is inside the core. */
ERGO_INLINE uint lj_tile_look(const struct lj_tile *t, const struct lj_coarse_tile *coarse,
                              uint first, uint end, lj_position at, uint centre, uint me,
                              const struct lj_member *m, uint *overlap) {
    uint others = end - first < 32u ? ~(0xffffffffu >> (end - first)) : 0xffffffffu;
    uint near = 0u, core = 0u;
    ERGO_ROLLED /* so that the loop stays in the first cache of instructions */
        for (uint k = 0u; k < 32u; k += 8u) {
        ERGO_UNROLL
        for (uint j = 0u; j < 8u; j++) {
            const int beyond =
                lj_coarse_beyond(coarse->word[first + k + j] - centre, coarse->limit);
            near = near << 1 | (uint)beyond >> 31;
            core = core << 1 | (uint)(beyond + (coarse->limit - coarse->core)) >> 31;
        }
    }
    others &= me - first < 32u ? ~(0x80000000u >> (me - first)) : 0xffffffffu;
    for (core &= others; core != 0u; core &= ~(0x80000000u >> clz(core)))
        *overlap |=
            lj_distance2(lj_tile_get(t, first + clz(core)), at, m->scale) < m->core2 ? 1u : 0u;
    return near & others;
}

/* This work-item's share of the sums of `at` with places `from` to `to` - 1 of the tile except
 * `me`. If one is inside the core, `overlap` is set and the sums have no meaning. */
ERGO_INLINE void lj_tile_sum(const struct lj_tile *t, uint from, uint to, lj_position at, uint me,
                             uint item, const struct lj_member *m, struct lj_near *sum) {
    for (uint j = from + item; j < to; j += LJ_GROUP) {
        if (j == me)
            continue;
        if (lj_distance2(lj_tile_get(t, j), at, m->scale) < m->core2)
            sum->overlap = 1u;
        if (!sum->overlap)
            lj_tile_pair(t, j, at, 1, m, sum);
    }
}

#endif

/* Sums over a group's work-items. In a warp that is a group, in step, without a barrier. */
#if LJ_GROUP == 1 || (defined(LJ_WARP) && LJ_GROUP == 32)
#define LJ_IN_STEP 1
#else
#define LJ_IN_STEP 0
#endif

/* Room for sums of a work-group. An item's virial is below 2^46; with an overlap it gets this. */
struct lj_tile_room {
    long energies[LJ_GROUP], virials[LJ_GROUP];
    uint contacts[LJ_GROUP];
};
#define LJ_OVERLAP 0x4000000000000L

ERGO_INLINE void lj_tile_share(const struct lj_near *sum, __local struct lj_tile_room *room,
                               uint item) {
    room->energies[item] = sum->energy;
    room->virials[item] = sum->overlap ? LJ_OVERLAP : sum->virial;
    room->contacts[item] = sum->contacts;
}

/* The sum of the shares of work-items from, from + by, ... below `to`. */
ERGO_INLINE struct lj_near lj_tile_total(const __local struct lj_tile_room *room, uint from,
                                         uint to, uint by) {
    struct lj_near total = {0, 0, 0u, 0u};
    for (uint i = from; i < to; i += by) {
        total.energy += room->energies[i];
        total.virial += room->virials[i];
        total.contacts += room->contacts[i];
    }
    total.overlap = total.virial > LJ_OVERLAP / 2 ? 1u : 0u;
    return total;
}

/* The sum over the work-items, for all of them. Between two calls they must pass another barrier,
 * where they are not in step. */
ERGO_INLINE void lj_tile_reduce(struct lj_near *sum, __local struct lj_tile_room *room, uint item) {
#if LJ_GROUP == 1
    (void)sum;
    (void)room;
    (void)item;
#elif LJ_IN_STEP
    (void)room;
    (void)item;
    sum->overlap = (uint)ergo_warp_add((int)sum->overlap);
    if (sum->overlap)
        return;
    sum->energy = ergo_warp_sum(sum->energy);
    sum->virial = ergo_warp_sum(sum->virial);
    sum->contacts = (uint)ergo_warp_add((int)sum->contacts);
#else
    lj_tile_share(sum, room, item);
    LJ_BARRIER();
#if LJ_GROUP == 2 /* PoCL 5.0's compiler crashes on the loop below if it has two rounds */
    const struct lj_near first = lj_tile_total(room, 0u, 1u, 1u),
                         second = lj_tile_total(room, 1u, 2u, 1u);
    sum->energy = first.energy + second.energy;
    sum->virial = first.virial + second.virial;
    sum->contacts = first.contacts + second.contacts;
    sum->overlap = first.overlap | second.overlap;
#elif LJ_GROUP <= 8
    *sum = lj_tile_total(room, 0u, LJ_GROUP, 1u);
#else
    if (item < 8u) {
        struct lj_near some = lj_tile_total(room, item, LJ_GROUP, 8u);
        some.overlap = 0u; /* is in its virial */
        lj_tile_share(&some, room, item);
    }
    LJ_BARRIER();
    *sum = lj_tile_total(room, 0u, 8u, 1u);
#endif
#endif
}

#endif
