/*
 * Random bits of whole blocks, drawn and compared before the spins are known (two classes only).
 *
 * Where lattices are few, one work-group each leaves most of a GPU idle, and Philox is most of its
 * work. No draw depends on the spins. So a launch over all blocks of many sweeps compares each
 * spin's bits with the thresholds of both classes, and the work-group that has the lattice chooses
 * by class. Numbers and decisions are those of ising_decide.
 */
#ifndef ERGO_CL_SPIN_LATTICE_AHEAD_H
#define ERGO_CL_SPIN_LATTICE_AHEAD_H

#include "spin_lattice/block.h"

/* Of a block, by class: the spins whose bits are below those of the threshold, and the spins where
 * they are equal. rest: the first draw for open spins. */
struct ising_drawn {
    uint4 below[2], equal[2], rest;
};
#define ISING_DRAWN 5u

/* The same of two words, half a block, the share of one work-item; and the block's first draw. */
struct ising_pair_drawn {
    uint2 below[2], equal[2];
    uint4 rest;
};

/* [half sweep][member][ISING_DRAWN][block]. */
#define ISING_DRAWN_AT(at, members, index, block)                                                  \
    ((((ulong)(at) * (members) + (index)) * ISING_DRAWN) * ISING_BLOCKS + (block))

ERGO_INLINE struct ising_drawn ising_draw_block(uint block, ulong sweep, uint colour,
                                                const struct ising_member *member) {
    struct ising_drawn d;
    ERGO_UNROLL
    for (int k = 0; k < 2; k++) {
        d.below[k] = (uint4)(0u);
        d.equal[k] = (uint4)(0xffffffffu);
    }
    ERGO_UNROLL
    for (int j = ISING_PLANES - 1; j >= 0; j--) {
        const struct ising_quad q =
            ising_random(block, sweep, 1 + colour, (uint)j, member->key0, member->key1);
        const uint4 r = (uint4)(q.w[0], q.w[1], q.w[2], q.w[3]);
        ERGO_UNROLL
        for (int k = 0; k < 2; k++) {
            const uint4 t = (uint4)(ISING_PLANE(*member, k, ISING_PLANES - 1 - j));
            d.below[k] = (~r & t) | (d.below[k] & (~r | t));
            d.equal[k] &= ~(r ^ t);
        }
    }
    ERGO_UNROLL
    for (int k = 0; k < 2; k++) {
        const uint4 always = (uint4)(ISING_BIT_MASK(ISING_ALWAYS(*member), k));
        d.below[k] |= always;
        d.equal[k] &= ~always;
    }
    const struct ising_quad q =
        ising_random(block, sweep, 1 + colour, ISING_DRAW_RESOLVE, member->key0, member->key1);
    d.rest = (uint4)(q.w[0], q.w[1], q.w[2], q.w[3]);
    return d;
}

/* What has been drawn for a pair of words. at: ISING_DRAWN_AT of block 0. */
ERGO_INLINE struct ising_pair_drawn ising_fetch(__global const uint4 *drawn, ulong at, uint pair) {
    __global const uint2 *from = (__global const uint2 *)(drawn + at) + pair;
    struct ising_pair_drawn d;
    d.below[0] = from[0];
    d.below[1] = from[2 * ISING_BLOCKS];
    d.equal[0] = from[4 * ISING_BLOCKS];
    d.equal[1] = from[6 * ISING_BLOCKS];
    d.rest = drawn[at + 4 * ISING_BLOCKS + pair / 2];
    return d;
}

/* Word `rank` of four. */
ERGO_INLINE uint ising_word_of(uint4 q, uint rank) {
    const uint low = rank & 1 ? q.y : q.x, high = rank & 1 ? q.w : q.z;
    return rank & 2 ? high : low;
}

/* The number for open spin `rank` of a block, from 0 on. */
ERGO_INLINE uint ising_rest(uint4 rest, uint rank, uint block, ulong sweep, uint colour,
                            const struct ising_member *member) {
    if (rank >= 4) {
        const struct ising_quad q = ising_random(
            block, sweep, 1 + colour, ISING_DRAW_RESOLVE + rank / 4, member->key0, member->key1);
        rest = (uint4)(q.w[0], q.w[1], q.w[2], q.w[3]);
    }
    return ising_word_of(rest, rank);
}

/* Two words and their open spins. */
struct ising_pair {
    ulong zero, open, flip; /* zero: spins of class 0 */
};

/* Decide the lowest open spin of a pair, if there is one. */
ERGO_INLINE struct ising_pair ising_resolve_pair(struct ising_pair s, uint random,
                                                 const struct ising_member *member) {
    const ulong others = s.open & (s.open - 1), bit = s.open ^ others;
    const uint threshold = bit & s.zero ? ISING_LOW(*member, 0) : ISING_LOW(*member, 1);
    s.flip |= random < threshold ? bit : 0UL;
    s.open = others;
    return s;
}

/* Decide and store a pair of each block. Pairs from 2 ISING_BLOCKS on do nothing, but all
 * work-items pass the barrier. before: a word a block, for the open spins of its first pair. If
 * `counting`, which is for colour 1 at the end of a sweep, the pair's sums go to part, ISING_GROUP
 * apart: its neighbours are at hand. */
ERGO_INLINE void ising_update_pair(__local uint *own, __local const uint *other,
                                   struct ising_pair_drawn d, uint pair, __local uint *before,
                                   ulong sweep, uint colour, const struct ising_member *member,
                                   bool counting, __local uint *part) {
    const bool mine = pair < 2 * ISING_BLOCKS;
    const uint block = pair / 2;
    const uint below[2][2] = {{d.below[0].x, d.below[0].y}, {d.below[1].x, d.below[1].y}};
    const uint equal[2][2] = {{d.equal[0].x, d.equal[0].y}, {d.equal[1].x, d.equal[1].y}};
    uint spins[2] = {0, 0}, flip[2] = {0, 0}, open[2] = {0, 0}, zero[2] = {0, 0};
    struct ising_bonds bonds[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (mine) {
        ERGO_UNROLL
        for (uint l = 0; l < 2; l++) {
            const uint word = 2 * pair + l, valid = ISING_VALID(word);
            const struct ising_bonds b = ising_gather(other, word, colour);
            const struct ising_bonds_vec n = {b.up, b.down, b.same, b.side};
            bonds[l] = b;
            spins[l] = own[word];
            const struct ising_classes k = ising_classify(spins[l], n, valid, member->anti);
            zero[l] = k.in[0];
            flip[l] =
                (valid & ~(k.in[0] | k.in[1])) | (k.in[0] & below[0][l]) | (k.in[1] & below[1][l]);
            open[l] = (k.in[0] & equal[0][l]) | (k.in[1] & equal[1][l]);
        }
        if (pair % 2 == 0)
            before[block] = ERGO_POPCOUNT(open[0]) + ERGO_POPCOUNT(open[1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine) {
        struct ising_pair s;
        s.zero = zero[0] | (ulong)zero[1] << 32;
        s.open = open[0] | (ulong)open[1] << 32;
        s.flip = flip[0] | (ulong)flip[1] << 32;
        uint rank = pair % 2 ? before[block] : 0u;
        /* two without a branch, if they are among the first four of the block; seldom more */
        if (rank < 3) {
            s = ising_resolve_pair(s, ising_word_of(d.rest, rank), member);
            s = ising_resolve_pair(s, ising_word_of(d.rest, rank + 1), member);
            rank += 2;
        }
        for (; s.open; rank++)
            s = ising_resolve_pair(s, ising_rest(d.rest, rank, block, sweep, colour, member),
                                   member);
        spins[0] ^= (uint)s.flip;
        spins[1] ^= (uint)(s.flip >> 32);
        own[2 * pair] = spins[0];
        own[2 * pair + 1] = spins[1];
    }
    if (counting) {
        uint up = 0, unequal = 0, first = 0;
        ERGO_UNROLL
        for (uint l = 0; l < 2 && mine; l++) {
            const uint valid = ISING_VALID(2 * pair + l);
            up += ERGO_POPCOUNT(spins[l]);
            first += ERGO_POPCOUNT(bonds[l].same & valid);
            unequal += ising_unequal(spins[l], bonds[l], valid);
        }
        part[0] = up + first;
        part[ISING_GROUP] = unequal;
#if ISING_SUMS > 2
        part[2 * ISING_GROUP] = first;
#endif
    }
}

#endif
