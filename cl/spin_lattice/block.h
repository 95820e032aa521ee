/*
 * One block of one colour on the lattice, in the address space ISING_SPACE: load, decide, store.
 *
 * ISING_WIDE (rows of whole blocks) loads and stores 16 bytes at once and needs no gathering of
 * single words. ISING_SIMD chooses the decisions written for CPUs.
 */
#ifndef ERGO_CL_SPIN_LATTICE_BLOCK_H
#define ERGO_CL_SPIN_LATTICE_BLOCK_H

#include "spin_lattice/core.h"
#ifdef ISING_SIMD
#include "spin_lattice/simd.h"
#endif

/* Where a block's words are, as word offsets into one colour's array; ISING_WIDE only. */
struct ising_place {
    uint row;          /* first word of the block's row */
    uint above, below; /* first words of the rows above and below */
    uint w;            /* the block's first word within a row, a multiple of 4 */
    uint odd;          /* (y + colour) & 1 */
};

/* The place of block b on a whole lattice of `colour`. */
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

/* Own words and neighbours of a block. */
ERGO_INLINE void ising_load(ISING_SPACE const uint *own, ISING_SPACE const uint *other,
                            struct ising_place p, uint block, uint colour, uint spins[4],
                            struct ising_bonds n[4]) {
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
    spins[0] = o.x, spins[1] = o.y, spins[2] = o.z, spins[3] = o.w;
    n[0].up = u.x, n[1].up = u.y, n[2].up = u.z, n[3].up = u.w;
    n[0].down = d.x, n[1].down = d.y, n[2].down = d.z, n[3].down = d.w;
    n[0].same = s.x, n[1].same = s.y, n[2].same = s.z, n[3].same = s.w;
    n[0].side = ising_shift(s.x, odd ? s.y & 1 : (beside >> shift) & 1, odd, 0);
    n[1].side = ising_shift(s.y, odd ? s.z & 1 : s.x >> 31, odd, 0);
    n[2].side = ising_shift(s.z, odd ? s.w & 1 : s.y >> 31, odd, 0);
    n[3].side = ising_shift(s.w, odd ? beside & 1 : s.z >> 31, odd, p.w + 4 == ISING_W);
    (void)block, (void)colour;
#else
    (void)p;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        spins[l] = own[4 * block + l]; /* padding words exist and are zero */
        n[l] = ising_gather(other, 4 * block + l, colour);
    }
#endif
}

/* Update one block of `own`, which lies at `p`; `block` is its number on the whole lattice. */
ERGO_INLINE void ising_update(ISING_SPACE uint *own, ISING_SPACE const uint *other,
                              struct ising_place p, uint block, ulong sweep, uint colour,
                              const struct ising_member *member) {
    uint spins[4];
    struct ising_bonds n[4];
    struct ising_word s[4];
    ising_load(own, other, p, block, colour, spins, n);
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        s[l] = ising_open(spins[l], n[l], ISING_VALID(4 * block + l), member);
#ifdef ISING_SIMD
    ising_decide_lanes(s, block, sweep, colour, member);
#else
    ising_decide(s, block, sweep, colour, member);
#endif
    ising_decide_rest(s, block, sweep, colour, member);
#ifdef ISING_WIDE
    *(ISING_SPACE uint4 *)(own + p.row + p.w) = (uint4)(spins[0] ^ s[0].flip, spins[1] ^ s[1].flip,
                                                        spins[2] ^ s[2].flip, spins[3] ^ s[3].flip);
#else
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        own[4 * block + l] = spins[l] ^ s[l].flip;
#endif
}

#endif
