/*
 * Lennard-Jones grand canonical Monte Carlo as pure functions, in OpenCL C and C11.
 *
 * Positions are 32-bit fractions of the box. The difference of two, as a signed word, is the
 * minimum image, and unsigned arithmetic wraps by itself.
 *
 * Energy. s6 = (sigma/r)^6 in fp32, with + - * and fma only. s12 - s6 is truncated to a multiple of
 * 2^-30 and summed in 64-bit integers. So sums do not depend on their order, and a running sum does
 * not drift. A pair's energy is 4 epsilon (s12 - s6). Bound: a sum overflows at 2^33 = 8.6e9 in
 * units of 4 epsilon. At temperatures T up to 100 epsilon, a state of N particles lies between
 * about -4 N (twelve neighbours in the well) and T/epsilon N, and N is at most 2^26, or 2^27 at T
 * up to 50.
 *
 * Core. A pair closer than r_core has infinite energy, where u(r_core) = 100 T, so only weights of
 * exp(-100) are lost. This bounds s12 by 2600 and lets a trial end early.
 */
#ifndef ERGO_CL_LJ_GCMC_CORE_H
#define ERGO_CL_LJ_GCMC_CORE_H

#include "common/exp.h"
#include "common/rng.h"
#if defined(LJ_MIE_N) || defined(LJ_WHOLE)
#include "common/unit.h"
#endif
#include "lj_gcmc/params.h"

#ifdef __OPENCL_VERSION__
#define lj_mul_hi(a, b) mul_hi((uint)(a), (uint)(b))
#else
#include <math.h>
#include <stdbool.h>
#include <string.h>
#define lj_mul_hi(a, b) ((uint)((ulong)(a) * (b) >> 32))
#endif

/* A vector on devices, with .w unused, because Oclgrind loses track of structs passed by value. */
#ifdef __OPENCL_VERSION__
typedef uint4 lj_position;
#else
typedef struct {
    uint x, y, z;
} lj_position;
#endif

/* A sum over pairs: energy, virial and contacts, and whether a pair was inside the core. */
struct lj_sum {
    lj_long energy, virial, contacts;
    uint overlap;
#ifdef LJ_QUEUE
    /* Squared distances of pairs within the cutoff, one distance in eight. They are queued, so that
     * the work-items of a row evaluate them together. */
    uint queued;
    __local float *queue; /* this work-item's entries are LJ_GROUP apart */
#endif
};

/* One trial move as drawn, before any energy is known. */
struct lj_move {
    uint kind, index; /* of the particle, for displacement and deletion */
    uint idle;        /* 1: no particle to displace or delete, so rejected */
    uint word;        /* random word of the acceptance test */
    lj_position to;
#ifdef LJ_SPECIES
    uint other; /* random word: does a displacement change the species? */
#endif
};

ERGO_INLINE float lj_distance2(lj_position a, lj_position b, const float *scale) {
    const float x = (float)(int)(a.x - b.x) * scale[0];
    const float y = (float)(int)(a.y - b.y) * scale[1];
    const float z = (float)(int)(a.z - b.z) * scale[2];
    return ERGO_FMA(z, z, ERGO_FMA(y, y, x * x));
}

#ifdef __OPENCL_VERSION__
/* A pointer in a struct that host and device share is a whole number, which comes back as the
 * pointer (OpenCL C, 6.1.1). */
ERGO_INLINE void lj_tables_at(struct lj_member *m, __global const float4 *tables) {
#if defined(LJ_FIELD) || defined(LJ_TABLE) || defined(LJ_SPECIES)
    m->tables = (ulong)tables;
#else
    (void)m;
    (void)tables;
#endif
}
#endif

#ifdef LJ_MIE_N
/* (sigma/r)^k, k below 64, from its second and first power, as squares from the upper bit of k/2
 * on: of 12 and 6 the very products of Lennard-Jones. Without a loop, of which Mesa's CPU counts
 * each turn against those of a launch. */
#define LJ_SQUARE(k, bit) p = ((k) & (bit)) != 0u ? p * p * s2 : p * p
#define LJ_DEFINE_POWER(name, type)                                                                \
    ERGO_INLINE type name(type s2, type s1, uint k) {                                              \
        type p = (k & 32u) != 0u ? s2 : (type)(1.0f);                                              \
        LJ_SQUARE(k, 16u);                                                                         \
        LJ_SQUARE(k, 8u);                                                                          \
        LJ_SQUARE(k, 4u);                                                                          \
        LJ_SQUARE(k, 2u);                                                                          \
        return (k & 1u) != 0u ? p * s1 : p;                                                        \
    }
LJ_DEFINE_POWER(lj_power, float)

/* The same of a Mie potential with these exponents; the virial in units of 32. */
ERGO_INLINE void lj_pair(float r2, const struct lj_member *m, lj_long *energy, lj_long *virial) {
    const float s2 = ergo_inverse(r2), s1 = ergo_rsqrt(r2);
    const lj_long a = (lj_long)(lj_power(s2, s1, LJ_MIE_N) * 0x1p30f),
                  b = (lj_long)(lj_power(s2, s1, LJ_MIE_M) * 0x1p30f);
    *energy = a - b - m->shift;
    *virial = ((lj_long)LJ_MIE_N * a - (lj_long)LJ_MIE_M * b) >> 5;
}
#elif defined(LJ_TABLE)
/* The same from a table; the virial, from the slope of the very cubic, in units of 32. */
ERGO_INLINE void lj_pair(float r2, const struct lj_member *m, lj_long *energy, lj_long *virial) {
    __global const float4 *table = (__global const float4 *)m->tables;
    const float4 head = table[0];
    const float from = r2 - head.x;
    uint cell = (uint)(from * head.y);
    cell = cell < LJ_PAIR_CELLS ? cell : LJ_PAIR_CELLS - 1u;
    const float t = ERGO_FMA(from, head.y, 0.0f - (float)cell);
    const float4 c = table[1u + cell];
    const float u = ERGO_FMA(ERGO_FMA(ERGO_FMA(c.w, t, c.z), t, c.y), t, c.x);
    const float slope = ERGO_FMA(ERGO_FMA(3.0f * c.w, t, 2.0f * c.z), t, c.y);
    *energy = (lj_long)(u * 0x1p30f) - m->shift;
    *virial = (lj_long)(slope * head.y * r2 * -0x1p26f);
}
#else
/* Energy and virial of a pair inside the cutoff and outside the core. */
ERGO_INLINE void lj_pair(float r2, const struct lj_member *m, lj_long *energy, lj_long *virial) {
    const float s2 = ergo_inverse(r2), s6 = s2 * s2 * s2, s12 = s6 * s6;
    const lj_long a = (lj_long)(s12 * 0x1p30f), b = (lj_long)(s6 * 0x1p30f);
    *energy = a - b - m->shift;
    *virial = 2 * a - b;
}
#endif

/*
 * Contacts are pairs in two shells of equal width just inside the cutoff. Their densities are
 * extrapolated to the cutoff, for the pressure that comes from the jump there
 * (src/samplers/lj_gcmc/README.md). One word counts both shells: the outer one in the lower 32
 * bits, the inner one in the upper. Sums and differences of such words are sums and differences of
 * both counts. A job that could reach 2^32 contacts is refused.
 */
ERGO_INLINE lj_long lj_contact(float r2, const struct lj_member *m) {
    return r2 < m->contact2[1] ? 0 : r2 < m->contact2[0] ? (lj_long)1 << 32 : (lj_long)1;
}

/*
 * What depends on the species of the two particles of a pair, which are at a and b: the squared
 * distances up to which it interacts and overlaps; its energy, virial and contact. LJ_SPECIES is
 * the number of species (params.h).
 */
#ifdef LJ_SPECIES
/* struct lj_rule of two particles, by their x. */
ERGO_INLINE __global const uint4 *lj_rule(const struct lj_member *m, uint a, uint b) {
    return (__global const uint4 *)m->tables + m->mixture +
           3u * ((a & LJ_SPECIES_MASK) * LJ_MOST_SPECIES + (b & LJ_SPECIES_MASK));
}

ERGO_INLINE float lj_core2_at(const struct lj_member *m, lj_position a, lj_position b) {
    return as_float(lj_rule(m, a.x, b.x)[2].x);
}

ERGO_INLINE float lj_cutoff2_at(const struct lj_member *m, lj_position a, lj_position b) {
    return as_float(lj_rule(m, a.x, b.x)[2].y);
}

ERGO_INLINE lj_long lj_long_of(uint low, uint high) {
    return (lj_long)((ulong)low | (ulong)high << 32);
}

ERGO_INLINE void lj_pair_at(float r2, lj_position a, lj_position b, const struct lj_member *m,
                            lj_long *energy, lj_long *virial, lj_long *contact) {
    __global const uint4 *rule = lj_rule(m, a.x, b.x);
    const uint4 whole = rule[0], both = rule[1], reach = rule[2];
    const float s2 = ergo_inverse(r2 * as_float(both.z)), s6 = s2 * s2 * s2, s12 = s6 * s6;
    const float strength = as_float(both.w);
    const lj_long up = (lj_long)(s12 * strength), down = (lj_long)(s6 * strength);
    *energy = up - down - lj_long_of(whole.x, whole.y);
    *virial = 2 * up - down;
    *contact = r2 < as_float(reach.w)   ? 0
               : r2 < as_float(reach.z) ? lj_long_of(both.x, both.y)
                                        : lj_long_of(whole.z, whole.w);
}
#else
#define lj_core2_at(m, a, b) ((m)->core2)
#define lj_cutoff2_at(m, a, b) ((m)->cutoff2)

ERGO_INLINE void lj_pair_at(float r2, lj_position a, lj_position b, const struct lj_member *m,
                            lj_long *energy, lj_long *virial, lj_long *contact) {
    (void)a;
    (void)b;
    lj_pair(r2, m, energy, virial);
    *contact = lj_contact(r2, m);
}
#endif

ERGO_INLINE uint lj_kind_of(const struct lj_member *m, uint word) {
    const uint k = word >> 1;
    return k < m->displacement ? (uint)LJ_DISPLACEMENT
           : k < m->insertion  ? (uint)LJ_INSERTION
                               : (uint)LJ_DELETION;
}

/* A trial move from eight random words, with `particles` particles. Word 0: kind of move; 1 and 2:
 * which particle, from 64 bits; 3: acceptance; the second block: the new place, and of a mixture
 * the species of a particle that is inserted. */
ERGO_INLINE struct lj_move lj_move_of(const struct lj_member *m, uint particles,
                                      struct ergo_words a, struct ergo_words b) {
    struct lj_move move;
#ifdef __OPENCL_VERSION__
    move.to = (uint4)(0u);
#endif
    move.kind = lj_kind_of(m, a.x);
    move.index = (uint)(((ulong)a.y * particles + lj_mul_hi(a.z, particles)) >> 32);
    move.idle = particles == 0u && move.kind != (uint)LJ_INSERTION ? 1u : 0u;
    move.word = a.w;
    move.to.x = b.x;
    move.to.y = b.y;
    move.to.z = b.z;
#ifdef LJ_SPECIES
    move.other = b.w;
    if (move.kind == (uint)LJ_INSERTION)
        move.to.x = (b.x & ~LJ_SPECIES_MASK) | lj_mul_hi(b.w, LJ_SPECIES);
#endif
    return move;
}

/* Displace by at most step_size (2^-32 of a side) along one axis. Both signs have the same
 * probability to the bit. */
ERGO_INLINE uint lj_shift_by(uint from, uint word, uint step_size, uint ratio) {
    const uint size = ratio ? lj_mul_hi(step_size, ratio) : step_size;
    const uint by = lj_mul_hi(word << 1 | 1u, size);
    return word >> 31 ? from - by : from + by;
}

/* The target of a displacement in steps, from the words drawn for a position. */
ERGO_INLINE void lj_local_target(const struct lj_member *m, lj_position from, uint step_size,
                                 struct lj_move *move) {
    move->to.x = lj_shift_by(from.x, move->to.x, step_size, m->ratio[0]);
    move->to.y = lj_shift_by(from.y, move->to.y, step_size, m->ratio[1]);
    move->to.z = lj_shift_by(from.z, move->to.z, step_size, m->ratio[2]);
}

#ifdef LJ_SPECIES
/*
 * The target of a displacement of a mixture, from the words drawn for a position: a place of the
 * same species, or a change of species, which stays where it is. Steps along x are whole places of
 * a species, so that both signs have the same probability.
 */
ERGO_INLINE void lj_mixed_target(const struct lj_member *m, lj_position from, uint step_size,
                                 struct lj_move *move) {
    __global const struct lj_mixture *mixture =
        (__global const struct lj_mixture *)((__global const uint4 *)m->tables + m->mixture);
    const uint species = from.x & LJ_SPECIES_MASK, word = move->to.x;
    if (move->other < mixture->identity) {
        const uint next = species + 1u + lj_mul_hi(word, LJ_SPECIES - 1u);
        move->to = from;
        move->to.x = (from.x & ~LJ_SPECIES_MASK) | (next < LJ_SPECIES ? next : next - LJ_SPECIES);
    } else if (m->local_moves) {
        const uint size = m->ratio[0] ? lj_mul_hi(step_size, m->ratio[0]) : step_size;
        const uint by = lj_mul_hi(word << 1 | 1u, size) & ~LJ_SPECIES_MASK;
        lj_local_target(m, from, step_size, move);
        move->to.x = word >> 31 ? from.x - by : from.x + by;
    } else {
        move->to.x = (word & ~LJ_SPECIES_MASK) | species;
    }
}
#endif

/*
 * Metropolis with u in (0, 1], and N before the move: displacement u <= exp(x); insertion u (N + 1)
 * <= zV exp(x); deletion u zV <= N exp(x), x = -beta dU. This is Frenkel and Smit's form; the
 * paper's Eq. 4 with Eq. 2 has the wrong sign of mu for insertions. The argument of exp is cut at
 * -80 and 60, beyond which the outcome is certain for any zV in range.
 */
ERGO_INLINE uint lj_decide(const struct lj_member *m, uint kind, uint word, uint particles,
                           float x) {
    const float u = ((float)word + 0.5f) * 0x1p-32f, n = (float)particles;
    if (x < -80.0f)
        return 0u;
    const float w = ergo_exp(x > 60.0f ? 60.0f : x);
    if (kind == (uint)LJ_INSERTION)
        return u * (n + 1.0f) <= m->zv * w ? 1u : 0u;
    if (kind == (uint)LJ_DELETION)
        return u * m->zv <= n * w ? 1u : 0u;
    return u <= w ? 1u : 0u;
}

/* The same for a change of the pairs' energy, with the tail's. */
ERGO_INLINE uint lj_accept(const struct lj_member *m, uint kind, uint word, uint particles,
                           lj_long energy_change) {
    float x = -(float)energy_change * m->beta4;
    if (kind == (uint)LJ_INSERTION)
        x = ERGO_FMA(-m->tail, (float)(2u * particles + 1u), x);
    if (kind == (uint)LJ_DELETION)
        x = ERGO_FMA(m->tail, (float)(2u * particles - 1u), x);
    return lj_decide(m, kind, word, particles, x);
}

#ifdef LJ_SPECIES
/*
 * The same of a mixture: the particle is at `from` and comes to `to`, and numbers[s] are N_s before
 * the move. A state is a list of places with species, of the weight
 *     product over the particles of z_s / N! exp(-beta U),
 * and N!/(product of N_s!) lists are one configuration of N_s particles each. An insertion chooses
 * one of S species and a place, a deletion one of all N. So an insertion is accepted with
 * min(1, S z_s V/(N + 1) exp(x)) and a deletion with min(1, N/(S z_s V) exp(x)), N of all species.
 * A change of species has z'/z. Tails: the sum over s and t of N_s N_t tail[s][t], of which a
 * particle more of species s changes 2 sum over t of N_t tail[s][t], and tail[s][s].
 */
ERGO_INLINE uint lj_accept_mixed(const struct lj_member *m, uint kind, uint word, uint particles,
                                 const uint *numbers, lj_position from, lj_position to,
                                 lj_long energy_change) {
    __global const struct lj_mixture *mixture =
        (__global const struct lj_mixture *)((__global const uint4 *)m->tables + m->mixture);
    const uint leaves = from.x & LJ_SPECIES_MASK, comes = to.x & LJ_SPECIES_MASK;
    const uint less = kind != (uint)LJ_INSERTION, more = kind != (uint)LJ_DELETION;
    const float u = ((float)word + 0.5f) * 0x1p-32f, n = (float)particles;
    float x = -(float)energy_change * m->beta4;
    ERGO_UNROLL
    for (uint t = 0u; t < LJ_SPECIES; t++) {
        /* twice the numbers, halfway between those before and after the move */
        const float mean =
            (float)(2u * numbers[t] + (more && t == comes)) - (float)(less && t == leaves);
        const float in = more ? mixture->tail[LJ_MOST_SPECIES * comes + t] : 0.0f,
                    out = less ? mixture->tail[LJ_MOST_SPECIES * leaves + t] : 0.0f;
        x = ERGO_FMA(out - in, mean, x);
    }
    if (x < -80.0f)
        return 0u;
    const float w = ergo_exp(x > 60.0f ? 60.0f : x);
    if (kind == (uint)LJ_INSERTION)
        return u * (n + 1.0f) <= mixture->zv[comes] * w ? 1u : 0u;
    if (kind == (uint)LJ_DELETION)
        return u * mixture->zv[leaves] <= n * w ? 1u : 0u;
    return leaves == comes                                     ? (u <= w ? 1u : 0u)
           : u * mixture->zv[leaves] <= mixture->zv[comes] * w ? 1u
                                                               : 0u;
}
#endif

/* exp(-beta dU) of one particle more than n, with its pairs' energy; at most 2^50. */
ERGO_INLINE float lj_ghost_weight(const struct lj_member *m, uint n, lj_long energy) {
    const float x = ERGO_FMA(-m->tail, (float)(2u * n + 1u), -(float)energy * m->beta4);
    return x < -80.0f ? 0.0f : ergo_exp(x > 34.6f ? 34.6f : x);
}

#ifdef LJ_SPECIES
/* The same of one particle more of species s, N_t there are of each; thinner: what the tails are of
 * those at the start's volume. */
ERGO_INLINE float lj_ghost_weight_mixed(const struct lj_member *m, float thinner,
                                        const uint *numbers, uint s, lj_long energy) {
    __global const struct lj_mixture *mixture =
        (__global const struct lj_mixture *)((__global const uint4 *)m->tables + m->mixture);
    float x = -(float)energy * m->beta4;
    ERGO_UNROLL
    for (uint t = 0u; t < LJ_SPECIES; t++)
        x = ERGO_FMA(-(mixture->tail[LJ_MOST_SPECIES * s + t] * thinner),
                     (float)(2u * numbers[t] + (s == t)), x);
    return x < -80.0f ? 0.0f : ergo_exp(x > 34.6f ? 34.6f : x);
}
#endif

/* The probability of an acceptance, in units of 2^-36: an insertion into n particles, which has
 * this weight; or the deletion of one of n, with its pairs' energy. */
ERGO_INLINE lj_long lj_ghost_rises(const struct lj_member *m, uint n, float weight) {
    const float p = m->zv * weight * ergo_inverse((float)n + 1.0f);
    return (lj_long)ERGO_FMA(p < 1.0f ? p : 1.0f, 0x1p36f, 0.5f);
}

ERGO_INLINE lj_long lj_ghost_falls(const struct lj_member *m, uint n, lj_long energy) {
    const float x = ERGO_FMA(m->tail, (float)(2u * n - 1u), (float)energy * m->beta4);
    const float w = x < -80.0f ? 0.0f : ergo_exp(x > 60.0f ? 60.0f : x);
    const float p = (float)n * w * ergo_inverse(m->zv);
    return (lj_long)ERGO_FMA(p < 1.0f ? p : 1.0f, 0x1p36f, 0.5f);
}

ERGO_INLINE void lj_ghost_add(float weight, lj_long *lower, lj_long *upper) {
    if (weight < 0x1p20f)
        *lower += (lj_long)ERGO_FMA(weight, 0x1p31f, 0.5f);
    else
        *upper += (lj_long)weight;
}

/*
 * The checkerboard (cl/lj_gcmc/board.cl). Along an axis the box has `period` x blocks cells. The
 * active cell of a block is LJ_ACTIVE cells wide and begins period x block + offset cells from the
 * box's corner. Each activation (a step) draws a new offset, independent of the configuration. A
 * trial uses random words as a chain's move does, but with the block's own counter.
 */
#define LJ_ACTIVE 2u

ERGO_INLINE struct ergo_words lj_board_offset(const struct lj_member *m, ulong step, uint period) {
    struct ergo_words o = ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                                            ERGO_DRAW(LJ_PURPOSE_BOARD, 0), m->key0, m->key1);
    o.x = lj_mul_hi(o.x, period);
    o.y = lj_mul_hi(o.y, period);
    o.z = lj_mul_hi(o.z, period);
    return o;
}

/* Philox block `which` (0 or 1) of the words of a trial. */
ERGO_INLINE struct ergo_words lj_board_words(const struct lj_member *m, ulong step, uint block,
                                             uint trial, uint which) {
    return ergo_philox_words(block, (uint)step, (uint)(step >> 32),
                             ERGO_DRAW(LJ_PURPOSE_CELL, 2u * trial + which), m->key0, m->key1);
}

/* A uniform place in the active cell that begins at `low` and is `width` wide. */
ERGO_INLINE lj_position lj_board_place(lj_position words, lj_position low, lj_position width) {
    lj_position p = words;
    p.x = low.x + lj_mul_hi(words.x, width.x);
    p.y = low.y + lj_mul_hi(words.y, width.y);
    p.z = low.z + lj_mul_hi(words.z, width.z);
    return p;
}

ERGO_INLINE uint lj_board_inside(lj_position p, lj_position low, lj_position width) {
    return p.x - low.x < width.x && p.y - low.y < width.y && p.z - low.z < width.z ? 1u : 0u;
}

/* Adjust the largest displacement so that half of the displacements are accepted. Integers only. */
ERGO_INLINE uint lj_tuned(uint step_size, uint tried, uint accepted) {
    if (2u * accepted > tried)
        step_size = step_size > 0x70000000u ? 0x78000000u : step_size + (step_size >> 4);
    else if (step_size > 0x1000u)
        step_size -= step_size >> 4;
    return step_size;
}

#endif
