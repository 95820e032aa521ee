/*
 * Eight consecutive blocks at once, for CPUs: word q of block l in lane l of vector q.
 *
 * Words lie in rows of W without gaps, so each kind of neighbour of 32 consecutive words is 32
 * consecutive words again, at a fixed distance; which of two candidates enters at a row's end is
 * chosen by lane. No shape of lattice is special. With ISING_MARGIN, `other` points into an array
 * that has a margin of that many words at both ends, its periodic continuation; without, windows
 * that reach over an end are gathered word by word.
 */
#ifndef ERGO_CL_SPIN_LATTICE_LANES_H
#define ERGO_CL_SPIN_LATTICE_LANES_H

#include "spin_lattice/core.h"

#define ISING_CHUNK 32u /* words in eight blocks */

/* 32 words, dealt out four to a lane. */
ERGO_INLINE struct ising_quad ising_deal(const uint16 a, const uint16 b) {
    struct ising_quad q;
    q.w[0] = (uint8)(a.s048c, b.s048c);
    q.w[1] = (uint8)(a.s159d, b.s159d);
    q.w[2] = (uint8)(a.s26ae, b.s26ae);
    q.w[3] = (uint8)(a.s37bf, b.s37bf);
    return q;
}

/* The 32 words from `first` on, which may be up to a row before the start or end behind the last. */
ERGO_INLINE struct ising_quad ising_window(ISING_SPACE const uint *p, int first, bool inside) {
#ifndef ISING_MARGIN
    if (!inside) {
        union {
            uint word[32];
            uint16 vector[2];
        } u;
        for (int i = 0; i < 32; i++)
            u.word[i] = p[(uint)(first + i + 2 * (int)ISING_WORDS) % ISING_WORDS];
        return ising_deal(u.vector[0], u.vector[1]);
    }
#endif
    return ising_deal(vload16(0, p + first), vload16(1, p + first));
}

ERGO_INLINE void ising_undeal_vectors(const struct ising_quad q, uint16 v[2]) {
    v[0].s048c = q.w[0].s0123, v[1].s048c = q.w[0].s4567;
    v[0].s159d = q.w[1].s0123, v[1].s159d = q.w[1].s4567;
    v[0].s26ae = q.w[2].s0123, v[1].s26ae = q.w[2].s4567;
    v[0].s37bf = q.w[3].s0123, v[1].s37bf = q.w[3].s4567;
}

ERGO_INLINE void ising_undeal(const struct ising_quad q, ISING_SPACE uint *p) {
    uint16 v[2];
    ising_undeal_vectors(q, v);
    vstore16(v[0], 0, p);
    vstore16(v[1], 1, p);
}

/* Update blocks `block` .. `block` + 7 of `own`; words up to the chunk's end can be read. */
ERGO_INLINE void ising_update_lanes(ISING_SPACE uint *own, ISING_SPACE const uint *other,
                                    uint block, ulong sweep, uint colour,
                                    const struct ising_member *member) {
    const int first = (int)(4 * block), row = (int)ISING_W;
    const bool inside = first > row && first + 32 + row < (int)ISING_WORDS;
    struct ising_quad spins = ising_deal(vload16(0, own + first), vload16(1, own + first));
    const struct ising_quad up = ising_window(other, first - row, inside);
    const struct ising_quad down = ising_window(other, first + row, inside);
    const struct ising_quad same = ising_window(other, first, inside);
    const struct ising_quad next = ising_window(other, first + 1, inside);
    const struct ising_quad last = ising_window(other, first - 1, inside);
    /* the row's first word for its last one, and the other way round */
    const struct ising_quad around_next = ising_window(other, first + 1 - row, inside);
    const struct ising_quad around_last = ising_window(other, first - 1 + row, inside);
    struct ising_word s[4];
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        const uint8 word = (uint8)(4 * block + l) + (uint8)(0, 4, 8, 12, 16, 20, 24, 28);
        const uint8 y = word / ISING_W, w = word - y * ISING_W;
        const uint8 odd = ISING_MASK(((y + colour) & 1) != (uint8)(0u));
        const uint8 ends = ISING_MASK(w == (uint8)(ISING_W - 1)), begins = ISING_MASK(w == (uint8)(0u));
        const uint8 high = (next.w[l] & ~ends) << 31 |
                           (around_next.w[l] & ends & 1u) << (ISING_TAIL - 1);
        const uint8 low = ((last.w[l] >> 31) & ~begins) |
                          ((around_last.w[l] >> (ISING_TAIL - 1)) & begins & 1u);
        struct ising_bonds_vec n;
        n.up = up.w[l];
        n.down = down.w[l];
        n.same = same.w[l];
        n.side = (((same.w[l] >> 1) | high) & odd) | (((same.w[l] << 1) | low) & ~odd);
#ifdef ISING_FULL
        const uint8 valid = (uint8)(0xffffffffu);
#else
        const uint8 valid = (~ends | ISING_TAIL_MASK) & ISING_MASK(word < (uint8)(ISING_WORDS));
#endif
        s[l] = ising_open(spins.w[l], n, valid, member);
    }
    ising_decide(s, block, sweep, colour, member);
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        spins.w[l] ^= s[l].flip;
    if (ISING_BLOCKS % 8 == 0 || block + 8 <= ISING_BLOCKS) {
        ising_undeal(spins, own + 4 * block);
    } else { /* what lies behind the last block belongs to another work-item */
        union {
            uint word[32];
            uint16 vector[2];
        } u;
        ising_undeal_vectors(spins, u.vector);
        for (uint i = 0; i < 4 * (ISING_BLOCKS % 8); i++)
            own[4 * block + i] = u.word[i];
    }
}

#endif
