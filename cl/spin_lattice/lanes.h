/*
 * Eight consecutive blocks at once, for CPUs with vectors of 64-bit lanes.
 *
 * Words lie in rows of W without gaps. So each kind of neighbour of 32 consecutive words is again
 * 32 consecutive words, at a fixed distance. Which of two candidates enters at the end of a row is
 * chosen by lane. Neighbours and classes are found in the order of memory. Then the words are dealt
 * out, one block per lane: words 0 and 1 in one vector, 2 and 3 in the other, in the order of the
 * random words. Lattices of any shape are handled alike.
 *
 * With ISING_MARGIN, `other` points into an array with that many words more at both ends, its
 * periodic continuation. Without it, windows that reach over an end are gathered word by word.
 */
#ifndef ERGO_CL_SPIN_LATTICE_LANES_H
#define ERGO_CL_SPIN_LATTICE_LANES_H

#include "spin_lattice/core.h"

#define ISING_CHUNK 32u /* words in eight blocks */

/* ---- decisions ------------------------------------------------------------------------------ */

/* The block of each lane, in the order in which two unpack instructions deal them. */
#define ISING_LANE_BLOCKS (ulong8)(0, 4, 1, 5, 2, 6, 3, 7)

/* Consecutive draws of blocks `block` .. `block` + 7, around the lattice's end: words 0 and 1 of
 * each lane's block, words 2 and 3. */
ERGO_INLINE void ising_random(uint block, ulong sweep, uint colour, uint draw,
                              const struct ising_member *member, ulong8 out[ERGO_PHILOX_SIDES][2]) {
    ulong8 entity = (ulong8)((ulong)block) + ISING_LANE_BLOCKS;
#ifdef ISING_CUT
    entity -= (ulong8)((ulong)(ISING_ALL)) & ISING_MASK(entity >= (ulong8)((ulong)(ISING_ALL)));
#endif
    ergo_philox_lanes(entity, sweep, ERGO_DRAW(1 + colour, draw), member->key0, member->key1, out);
}

/* ising_resolve of core.h with two words per lane: decides the lowest open spin of each block. */
ERGO_INLINE void ising_resolve(struct ising_word s[2], ulong8 random,
                               const struct ising_member *member) {
    const ulong8 zero = (ulong8)(0UL);
    const ulong8 b0 = s[0].open & (zero - s[0].open);
    const ulong8 b1 = s[1].open & (zero - s[1].open) & ISING_MASK(s[0].open == zero);
    ulong8 threshold = (ulong8)((ulong)ISING_LOW(*member, ISING_CLASSES - 1));
    ERGO_UNROLL
    for (int k = 0; k < ISING_CLASSES - 1; k++) {
        const ulong8 other = ISING_MASK(((b0 & s[0].k.in[k]) | (b1 & s[1].k.in[k])) == zero);
        threshold = (threshold & other) | ((ulong8)((ulong)ISING_LOW(*member, k)) & ~other);
    }
    const ulong8 hit = ISING_MASK(random < threshold);
    s[0].flip |= b0 & hit;
    s[1].flip |= b1 & hit;
    s[0].open ^= b0;
    s[1].open ^= b1;
}

/* ising_decide of core.h. s[0]: words 0 and 1; s[1]: words 2 and 3. The first draw of those that
 * resolve comes beside the last planes'. */
ERGO_INLINE void ising_decide(struct ising_word s[2], uint block, ulong sweep, uint colour,
                              const struct ising_member *member) {
    const ulong8 low = (ulong8)(0xffffffffUL);
    const int sides = ERGO_PHILOX_SIDES;
    ulong8 r[ERGO_PHILOX_SIDES][2], last[2];
    ERGO_UNROLL
    for (int first = ISING_DRAW_RESOLVE + 1 - sides; first >= 0; first -= sides) {
        ising_random(block, sweep, colour, (uint)first, member, r);
        ERGO_UNROLL
        for (int d = sides - 1; d >= 0; d--) {
            if (first + d == ISING_DRAW_RESOLVE) {
                last[0] = r[d][0], last[1] = r[d][1];
                continue;
            }
            ERGO_UNROLL
            for (int l = 0; l < 2; l++)
                ising_compare(&s[l], r[d][l], ISING_PLANES - 1 - first - d, member);
        }
    }
    s[0].flip |= s[0].below;
    s[1].flip |= s[1].below;
    for (uint draw = ISING_DRAW_RESOLVE + 1;; draw++) {
        ising_resolve(s, last[0] & low, member);
        ising_resolve(s, last[0] >> 32, member);
        ising_resolve(s, last[1] & low, member);
        ising_resolve(s, last[1] >> 32, member);
        if (!ISING_ANY(s[0].open | s[1].open))
            return;
        ising_random(block, sweep, colour, draw, member, r);
        last[0] = r[0][0], last[1] = r[0][1];
    }
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* 32 words in the order of memory. */
struct ising_window {
    uint16 part[2];
};

/* The words from `first` on. They may begin up to a row before the start, or end up to a row after
 * the last word. */
ERGO_INLINE struct ising_window ising_window(ISING_SPACE const uint *p, int first, bool inside) {
    struct ising_window v;
#ifndef ISING_MARGIN
    if (!inside) {
        union {
            uint word[32];
            uint16 vector[2];
        } u;
        for (int i = 0; i < 32; i++)
            u.word[i] = p[(uint)(first + i + 2 * (int)ISING_WORDS) % ISING_WORDS];
        v.part[0] = u.vector[0], v.part[1] = u.vector[1];
        return v;
    }
#endif
    v.part[0] = vload16(0, p + first);
    v.part[1] = vload16(1, p + first);
    return v;
}

#define ISING_CHOOSE(condition, yes, no) (((yes) & (condition)) | ((no) & ~(condition)))

/* The four neighbours of a chunk. */
struct ising_around {
    struct ising_bonds_vec n[2];
    ulong8 valid[2];
};

/* The neighbours of blocks `block` .. `block` + 7, whose words begin at `first`. */
ERGO_INLINE struct ising_around ising_neighbours(ISING_SPACE const uint *other, int first,
                                                 uint block, uint colour) {
    const int row = (int)ISING_W;
    const bool inside = first > row && first + 32 + row < (int)ISING_WORDS;
    const struct ising_window up = ising_window(other, first - row, inside);
    const struct ising_window down = ising_window(other, first + row, inside);
    const struct ising_window same = ising_window(other, first, inside);
    const struct ising_window next = ising_window(other, first + 1, inside);
    const struct ising_window last = ising_window(other, first - 1, inside);
    /* the row's first word beside its last one, and the other way round */
    const struct ising_window around_next = ising_window(other, first + 1 - row, inside);
    const struct ising_window around_last = ising_window(other, first - 1 + row, inside);
    struct ising_around a;
    ERGO_UNROLL
    for (uint h = 0; h < 2; h++) {
        const uint16 lane =
            (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (uint16)(16 * h);
        const uint16 word = (uint16)(4 * block) + lane;
#if 32 % ISING_W == 0 && ISING_W < 32
        /* an even number of whole rows, so it is the same in every chunk and known to the compiler
         */
        const uint16 y = lane / ISING_W, w = lane % ISING_W;
#elif ISING_W % 32 == 0
        const uint row_of = 4 * block / ISING_W; /* within one row, so no lane needs a division */
        const uint16 y = (uint16)(row_of), w = (uint16)(4 * block - row_of * ISING_W) + lane;
#else
        const uint16 y = word / ISING_W, w = word - y * ISING_W;
#endif
        const uint16 odd = as_uint16(((y + colour) & 1) != (uint16)(0u));
        const uint16 ends = as_uint16(w == (uint16)(ISING_W - 1));
        const uint16 begins = as_uint16(w == (uint16)(0u));
        const uint16 after = ISING_CHOOSE(ends, around_next.part[h], next.part[h]);
        const uint16 before = ISING_CHOOSE(begins, around_last.part[h], last.part[h]);
#if ISING_TAIL == 32
        /* Rotate towards the neighbours. The bit that went around is taken from the next word. */
        const uint16 by = ISING_CHOOSE(odd, (uint16)(31u), (uint16)(1u));
        const uint16 enters = ISING_CHOOSE(odd, (uint16)(1u << 31), (uint16)(1u));
        const uint16 beside = ISING_CHOOSE(odd, after, before);
        const uint16 side = ISING_CHOOSE(enters, rotate(beside, by), rotate(same.part[h], by));
#else
        const uint16 high = ISING_CHOOSE(ends, (after & 1u) << (ISING_TAIL - 1), after << 31);
        const uint16 low = ISING_CHOOSE(begins, (before >> (ISING_TAIL - 1)) & 1u, before >> 31);
        const uint16 side =
            ISING_CHOOSE(odd, (same.part[h] >> 1) | high, (same.part[h] << 1) | low);
#endif
        a.n[h].up = as_ulong8(up.part[h]);
        a.n[h].down = as_ulong8(down.part[h]);
        a.n[h].same = as_ulong8(same.part[h]);
        a.n[h].side = as_ulong8(side);
#ifdef ISING_FULL
        a.valid[h] = (ulong8)(~0UL);
#else
        a.valid[h] = as_ulong8((~ends | ISING_TAIL_MASK) & as_uint16(word < (uint16)(ISING_WORDS)));
#endif
    }
    return a;
}

/* ---- a chunk -------------------------------------------------------------------------------- */

/* Deal 16 pairs of words in the order of memory to lanes, one block per lane. Applied twice it
 * gives the first order back. */
ERGO_INLINE void ising_deal(ulong8 a, ulong8 b, ulong8 *first, ulong8 *second) {
    *first = (ulong8)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6);
    *second = (ulong8)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7);
}

ERGO_INLINE uint ising_sum_lanes(ulong8 v) {
    return (uint)(v.s0 + v.s1 + v.s2 + v.s3 + v.s4 + v.s5 + v.s6 + v.s7);
}

/* ising_count_block of block.h for blocks `block` .. `block` + 7. A chunk adds at most 64 bonds x 4
 * to a lane of a sum. */
ERGO_INLINE void ising_count_lanes(ISING_SPACE const uint *own, ISING_SPACE const uint *other,
                                   uint block, ulong8 sums[ISING_SUMS]) {
    const struct ising_around a = ising_neighbours(other, (int)(4 * block), block, 0);
    ERGO_UNROLL
    for (int h = 0; h < 2; h++) {
        const ulong8 spins = as_ulong8(vload16(h, own + 4 * block));
        const uint16 word =
            (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (4 * block + 16 * h);
        /* lattices without padding may still end within a chunk (ISING_FULL) */
        const ulong8 valid = a.valid[h] & as_ulong8(as_uint16(word < (uint16)(ISING_WORDS)));
        const ulong8 first = ERGO_POPCOUNT(spins & valid);
        sums[0] += first + ERGO_POPCOUNT(a.n[h].same & valid);
#if ISING_SUMS > 2
        sums[2] += first;
#endif
        sums[1] += ERGO_POPCOUNT((spins ^ a.n[h].up) & valid) +
                   ERGO_POPCOUNT((spins ^ a.n[h].down) & valid) +
                   ERGO_POPCOUNT((spins ^ a.n[h].same) & valid) +
                   ERGO_POPCOUNT((spins ^ a.n[h].side) & valid);
    }
}

/* Update blocks `block` .. `block` + 7 of the lattice, as far as they exist, whose words begin at
 * `at` in `own` and `other`. Words after the last block belong to another work-item. */
ERGO_INLINE void ising_update_lanes(ISING_SPACE uint *own, ISING_SPACE const uint *other, uint at,
                                    uint block, ulong sweep, uint colour,
                                    const struct ising_member *member) {
    const struct ising_around a = ising_neighbours(other, (int)at, block, colour);
    const bool whole = ISING_BLOCKS % 8 == 0 || block + 8 <= ISING_BLOCKS;
    union {
        uint word[32];
        uint16 vector[2];
    } u;
    uint16 spins[2];
    struct ising_word m[2], s[2];
    if (whole) {
        spins[0] = vload16(0, own + at);
        spins[1] = vload16(1, own + at);
    } else {
        for (uint i = 0; i < 32; i++)
            u.word[i] = i < 4 * (ISING_BLOCKS % 8) ? own[at + i] : 0u;
        spins[0] = u.vector[0];
        spins[1] = u.vector[1];
    }
    ERGO_UNROLL
    for (int h = 0; h < 2; h++) {
        m[h] = ising_open(as_ulong8(spins[h]), a.n[h], a.valid[h], member);
    }
    ERGO_UNROLL
    for (int k = 0; k < ISING_CLASSES; k++)
        ising_deal(m[0].k.in[k], m[1].k.in[k], &s[0].k.in[k], &s[1].k.in[k]);
    ising_deal(m[0].open, m[1].open, &s[0].open, &s[1].open);
    ising_deal(m[0].flip, m[1].flip, &s[0].flip, &s[1].flip);
    s[0].below = s[1].below = (ulong8)(0UL);
    ising_decide(s, ISING_ENTITY(block, member), sweep, colour, member);
    /* dealt a second time, pairs are back in their places */
    const ulong8 p = s[0].flip, q = s[1].flip;
    spins[0] ^= as_uint16((ulong8)(p.s0, q.s0, p.s2, q.s2, p.s4, q.s4, p.s6, q.s6));
    spins[1] ^= as_uint16((ulong8)(p.s1, q.s1, p.s3, q.s3, p.s5, q.s5, p.s7, q.s7));
    if (whole) {
        vstore16(spins[0], 0, own + at);
        vstore16(spins[1], 1, own + at);
    } else {
        u.vector[0] = spins[0], u.vector[1] = spins[1];
        for (uint i = 0; i < 4 * (ISING_BLOCKS % 8); i++)
            own[at + i] = u.word[i];
    }
}

#endif
