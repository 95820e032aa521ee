/*
 * One block of one colour on the lattice, in the address space ISING_SPACE: load, decide, store.
 *
 * How a block is loaded depends on W, the number of words in a row. ISING_WIDE (W a multiple of 4,
 * so rows of whole blocks) and ISING_NARROW (W = 1 or 2, so blocks of whole rows) move 16 bytes at
 * once. Any other shape gathers word by word. CPUs use lanes.h instead of this file.
 */
#ifndef ERGO_CL_SPIN_LATTICE_BLOCK_H
#define ERGO_CL_SPIN_LATTICE_BLOCK_H

#include "spin_lattice/core.h"

/* Where a block's words are, as offsets in words into one colour's array; ISING_WIDE only. */
struct ising_place {
    uint row;          /* first word of the block's row */
    uint above, below; /* first words of the rows above and below */
    uint w;            /* the block's first word within a row, a multiple of 4 */
    uint odd;          /* (y + colour) & 1 */
};

/* The place of a block of `colour` on a whole lattice. */
ERGO_INLINE struct ising_place ising_place(uint block, uint colour) {
    struct ising_place p;
    const uint y = 4 * block / ISING_W;
    p.row = y * ISING_W;
    p.w = 4 * block - p.row;
    p.above = (y == 0 ? ISING_LY - 1 : y - 1) * ISING_W;
    p.below = (y == ISING_LY - 1 ? 0u : y + 1) * ISING_W;
    p.odd = (y + colour) & 1;
    return p;
}

#if defined(ISING_WIDE) || defined(ISING_NARROW)
#define ISING_VECTOR
#define ISING_SET4(target, member, v)                                                              \
    (target)[0] member = (v).x, (target)[1] member = (v).y, (target)[2] member = (v).z,            \
                (target)[3] member = (v).w
#endif

#ifdef ISING_NARROW
/* A row of one word, shifted by one site towards lower and towards higher k. */
#define ISING_LOWER1(s) (((s) >> 1) | (((s) % 2u) << (ISING_TAIL - 1)))
#define ISING_HIGHER1(s) (((s) << 1) | (((s) >> (ISING_TAIL - 1)) & 1u))
/* The same for rows of two words (a, b). The result is a list of two values, because Oclgrind 21.10
 * crashes on uint2 within uint4 when it looks for uninitialised values (2026-11-21). */
#define ISING_LOWER2(a, b)                                                                         \
    ((a) >> 1) | (((b) % 2u) << 31), ((b) >> 1) | (((a) % 2u) << (ISING_TAIL - 1))
#define ISING_HIGHER2(a, b) ((a) << 1) | (((b) >> (ISING_TAIL - 1)) & 1u), ((b) << 1) | ((a) >> 31)

/* Blocks of four rows of one word, or two rows of two; the first row of a block has even y. */
ERGO_INLINE void ising_load_narrow(ISING_SPACE const uint *own, ISING_SPACE const uint *other,
                                   uint block, uint colour, uint spins[4],
                                   struct ising_bonds_vec n[4]) {
    const uint first = 4 * block;
    const uint4 o = *(ISING_SPACE const uint4 *)(own + first);
    const uint4 s = *(ISING_SPACE const uint4 *)(other + first);
    const uint before = first == 0 ? ISING_WORDS - ISING_W : first - ISING_W;
    const uint after = first + 4 == ISING_WORDS ? 0u : first + 4;
#if ISING_NARROW == 1
    const uint4 up = (uint4)(other[before], s.x, s.y, s.z);
    const uint4 down = (uint4)(s.y, s.z, s.w, other[after]);
    const uint4 lower = ISING_LOWER1(s), higher = ISING_HIGHER1(s);
    const uint4 side = colour ? (uint4)(lower.x, higher.y, lower.z, higher.w)
                              : (uint4)(higher.x, lower.y, higher.z, lower.w);
#else
    const uint4 up = (uint4)(other[before], other[before + 1], s.x, s.y);
    const uint4 down = (uint4)(s.z, s.w, other[after], other[after + 1]);
    const uint4 side = colour ? (uint4)(ISING_LOWER2(s.x, s.y), ISING_HIGHER2(s.z, s.w))
                              : (uint4)(ISING_HIGHER2(s.x, s.y), ISING_LOWER2(s.z, s.w));
#endif
    ISING_SET4(spins, , o);
    ISING_SET4(n, .up, up);
    ISING_SET4(n, .down, down);
    ISING_SET4(n, .same, s);
    ISING_SET4(n, .side, side);
}
#endif

/* Load a block's own words and its neighbours. */
ERGO_INLINE void ising_load(ISING_SPACE const uint *own, ISING_SPACE const uint *other,
                            struct ising_place p, uint block, uint colour, uint spins[4],
                            struct ising_bonds_vec n[4]) {
#ifdef ISING_WIDE
    const uint4 o = *(ISING_SPACE const uint4 *)(own + p.row + p.w);
    const uint4 u = *(ISING_SPACE const uint4 *)(other + p.above + p.w);
    const uint4 d = *(ISING_SPACE const uint4 *)(other + p.below + p.w);
    const uint4 s = *(ISING_SPACE const uint4 *)(other + p.row + p.w);
    const uint next = p.w + 4 == ISING_W ? 0u : p.w + 4;
    const uint last = (p.w == 0 ? ISING_W : p.w) - 1;
    const uint beside = other[p.row + (p.odd ? next : last)];
    const uint odd = p.odd;
    /* the bit that enters each word from its neighbour in the row */
    const uint shift = p.w == 0 ? ISING_TAIL - 1 : 31u;
    ISING_SET4(spins, , o);
    ISING_SET4(n, .up, u);
    ISING_SET4(n, .down, d);
    ISING_SET4(n, .same, s);
    n[0].side = ising_shift(s.x, odd ? s.y & 1 : (beside >> shift) & 1, odd, 0);
    n[1].side = ising_shift(s.y, odd ? s.z & 1 : s.x >> 31, odd, 0);
    n[2].side = ising_shift(s.z, odd ? s.w & 1 : s.y >> 31, odd, 0);
    n[3].side = ising_shift(s.w, odd ? beside & 1 : s.z >> 31, odd, p.w + 4 == ISING_W);
    (void)block, (void)colour;
#elif defined(ISING_NARROW)
    (void)p;
    ising_load_narrow(own, other, block, colour, spins, n);
#else
    (void)p;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        spins[l] = own[4 * block + l]; /* padding words exist and are zero */
        const struct ising_bonds b = ising_gather(other, 4 * block + l, colour);
        n[l].up = b.up, n[l].down = b.down, n[l].same = b.same, n[l].side = b.side;
    }
#endif
}

/* Add the sums of block `block` of colour 0, at its place on a whole lattice. Each bond joins both
 * colours, so colour 0 sees all bonds. */
ERGO_INLINE void ising_count_block(ISING_SPACE const uint *own, ISING_SPACE const uint *other,
                                   uint block, uint sums[ISING_SUMS]) {
    uint spins[4];
    struct ising_bonds_vec n[4];
    ising_load(own, other, ising_place(block, 0), block, 0, spins, n);
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        const uint valid = ISING_VALID(4 * block + l);
        const struct ising_bonds b = {n[l].up, n[l].down, n[l].same, n[l].side};
        const uint first = ERGO_POPCOUNT(spins[l]);
        sums[0] += first + ERGO_POPCOUNT(n[l].same & valid);
        sums[1] += ising_unequal(spins[l], b, valid);
#if ISING_SUMS > 2
        sums[2] += first;
#endif
    }
}

/* Store a block's words with their flips. */
ERGO_INLINE void ising_store(ISING_SPACE uint *own, struct ising_place p, uint block,
                             const uint spins[4], const struct ising_word s[4]) {
#ifdef ISING_VECTOR
#ifdef ISING_WIDE
    const uint at = p.row + p.w; /* in a tile this is not the block's place on the lattice */
    (void)block;
#else
    const uint at = 4 * block;
    (void)p;
#endif
    *(ISING_SPACE uint4 *)(own + at) = (uint4)(spins[0] ^ s[0].flip, spins[1] ^ s[1].flip,
                                               spins[2] ^ s[2].flip, spins[3] ^ s[3].flip);
#else
    (void)p;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        own[4 * block + l] = spins[l] ^ s[l].flip;
#endif
}

/* Update one block of `own` at place p. `block` is its number on the lattice. */
ERGO_INLINE void ising_update(ISING_SPACE uint *own, ISING_SPACE const uint *other,
                              struct ising_place p, uint block, ulong sweep, uint colour,
                              const struct ising_member *member) {
    uint spins[4];
    struct ising_bonds_vec n[4];
    struct ising_word s[4];
    ising_load(own, other, p, block, colour, spins, n);
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        s[l] = ising_open(spins[l], n[l], ISING_VALID(4 * block + l), member);
    ising_decide(s, ISING_ENTITY(block, member), sweep, colour, member);
    ising_store(own, p, block, spins, s);
}

#endif
