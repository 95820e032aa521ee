/*
 * The 2D Ising model with one bit per spin and checkerboard updates: pure functions.
 *
 * Compile-time shape: ISING_LX, ISING_LY (both even). ISING_CLASSES is 2 (no field, Metropolis) or
 * 10 (general). ISING_SPACE is the address space of the lattice.
 *
 * Layout. The colour of a site is (x + y) & 1. In row y one colour has H = LX/2 sites, k = 0..H-1,
 * at x = 2k + ((y + colour) & 1). They lie in W = ceil(H/32) words: bit k % 32 of word k / 32.
 * Unused bits of the last word are zero. A block is four consecutive words of one colour, which may
 * span rows. It is the entity of the random counter and the share of one work-item.
 *
 * With ISING_CUT the lattice here is a slab of one that is cut over ranks: rows of it with halos
 * around them (src/engine/slab.h), whose first row is even and begins a block. ISING_ALL: blocks of
 * the whole lattice. Kernels then say for which blocks they are, ISING_RANGE.
 *
 * Neighbours of (k, y) have the other colour: the same k in rows y-1, y, y+1, and in row y also k+1
 * if (y + colour) is odd, or k-1 if it is even.
 */
#ifndef ERGO_CL_SPIN_LATTICE_CORE_H
#define ERGO_CL_SPIN_LATTICE_CORE_H

#include "common/rng.h"
#include "spin_lattice/params.h"

#define ISING_H (ISING_LX / 2)
#define ISING_W ((ISING_H + 31) / 32)
#define ISING_WORDS (ISING_W * ISING_LY)
#define ISING_BLOCKS ((ISING_WORDS + 3) / 4)
#define ISING_TAIL (ISING_H - 32 * (ISING_W - 1)) /* sites in a row's last word, 1..32 */
#define ISING_TAIL_MASK (0xffffffffu >> (32 - ISING_TAIL))

#ifdef ISING_CUT
#define ISING_RANGE , uint first_block, uint end_block
#define ISING_FROM first_block
#define ISING_TO end_block
/* The number of a block in the whole lattice, around its end. */
#define ISING_ENTITY(block, member) (((block) + (member)->first) % (uint)(ISING_ALL))
#else
#define ISING_RANGE
#define ISING_FROM 0u
#define ISING_TO ISING_BLOCKS
#define ISING_ENTITY(block, member) (block)
#endif

/*
 * The type on which decisions work: one word of a block on GPUs and in C. With ISING_LANES, for
 * CPUs, it is two words of each of eight blocks (lanes.h). ISING_MASK(condition) is all ones where
 * the condition is true.
 */
#ifdef ISING_LANES
typedef ulong8 ising_vec;
typedef ulong ising_scalar;
#define ISING_MASK(condition) as_ulong8(condition)
#define ISING_ANY(v) ising_any(v)
/* PoCL's any() moves lane by lane. */
ERGO_INLINE bool ising_any(ulong8 v) {
    const ulong4 four = v.lo | v.hi;
    const ulong2 two = four.lo | four.hi;
    return (two.x | two.y) != 0;
}
#else
typedef uint ising_vec;
typedef uint ising_scalar;
#define ISING_MASK(condition) ((condition) ? 0xffffffffu : 0u)
#define ISING_ANY(v) ((v) != 0)
#define ISING_CHOOSE(v, then, otherwise) ((v) ? (then) : (otherwise)) /* chosen by v != 0 */
#endif
#define ISING_VEC(x) ((ising_vec)(x))
#define ISING_BIT_MASK(value, bit) ((ising_scalar)0 - (((value) >> (bit)) & 1u))

/* ---- neighbours ------------------------------------------------------------------------------ */

/* The four neighbours of a word's spins, one bit each. */
struct ising_bonds {
    uint up, down, same, side;
};
struct ising_bonds_vec {
    ising_vec up, down, same, side;
};

/* The bits of a word that are on the lattice: not those that pad a row's last word, and none of
 * words past the last. */
ERGO_INLINE uint ising_valid(uint word) {
    const uint tail = (word % ISING_W == ISING_W - 1) ? ISING_TAIL_MASK : 0xffffffffu;
    return word < ISING_WORDS ? tail : 0u;
}

/* The same, for lattices where every word is full and the compiler cannot see it. */
#ifdef ISING_FULL
#define ISING_VALID(word) 0xffffffffu /* the host says that there is no padding */
#else
#define ISING_VALID(word) ising_valid(word)
#endif

/* The horizontal neighbour that is not at the same k: `same` shifted by one along the row. `edge`
 * holds the bit that is shifted in, which is bit 0 of the next word or the last bit of the word
 * before. */
ERGO_INLINE uint ising_shift(uint same, uint edge, uint odd, uint last_word) {
    const uint top = last_word ? ISING_TAIL - 1 : 31u;
    return odd ? (same >> 1) | (edge << top) : (same << 1) | edge;
}

/* The neighbours of any word of any lattice. `other`: words of the other colour. */
ERGO_INLINE struct ising_bonds ising_gather(ISING_SPACE const uint *other, uint word, uint colour) {
    const uint i = word < ISING_WORDS ? word : 0u; /* for padding words of the last block */
    const uint y = i / ISING_W, w = i - y * ISING_W;
    const uint row = y * ISING_W;
    const uint above = (y == 0 ? ISING_LY - 1 : y - 1) * ISING_W;
    const uint below = (y == ISING_LY - 1 ? 0u : y + 1) * ISING_W;
    const uint odd = (y + colour) & 1;
    const uint next = w == ISING_W - 1 ? 0u : w + 1;
    const uint last = w == 0 ? ISING_W - 1 : w - 1;
    const uint shift = w == 0 ? ISING_TAIL - 1 : 31u; /* top bit of the word before */
    struct ising_bonds n;
    n.up = other[above + w];
    n.down = other[below + w];
    n.same = other[row + w];
    const uint beside = other[row + (odd ? next : last)];
    n.side = ising_shift(n.same, odd ? beside & 1 : (beside >> shift) & 1, odd, w == ISING_W - 1);
    return n;
}

/* Number of unequal bonds of a word's valid spins. */
ERGO_INLINE uint ising_unequal(uint own, struct ising_bonds n, uint valid) {
    return ERGO_POPCOUNT((own ^ n.up) & valid) + ERGO_POPCOUNT((own ^ n.down) & valid) +
           ERGO_POPCOUNT((own ^ n.same) & valid) + ERGO_POPCOUNT((own ^ n.side) & valid);
}

/* 32 sites of a row, from site k (0..H-1) on, around the row's end. Bits beyond the row's length
 * are repeated or zero, and the caller masks them. */
ERGO_INLINE uint ising_ring(ISING_SPACE const uint *row, uint k) {
    if (ISING_H < 32) /* k == 0 shifts by H, which is allowed because H < 32 */
        return (row[0] >> k) | (row[0] << (ISING_H - k));
    const uint w = k / 32, s = k % 32;
    if (ISING_H % 32 == 0) {
        const ulong pair = (ulong)row[w + 1 < ISING_W ? w + 1 : 0u] << 32 | row[w];
        return (uint)(pair >> s);
    }
    const uint high = w + 1 < ISING_W ? row[w + 1] : 0u;
    const uint bits = s ? (row[w] >> s) | (high << (32 - s)) : row[w];
    const uint rest = ISING_H - k; /* sites before the row begins again */
    return rest < 32 ? bits | (row[0] << rest) : bits;
}

/* Unequal pairs at distance r along x (axis 0) or y (axis 1) whose first site is in `word` of
 * `colour`. lattice: both colours, ISING_BLOCKS blocks each. */
ERGO_INLINE uint ising_pairs(ISING_SPACE const uint *lattice, uint word, uint colour, uint axis,
                             uint r) {
    const uint y = word / ISING_W, w = word - y * ISING_W;
    const uint partner = colour ^ (r & 1);
    ISING_SPACE const uint *other = lattice + partner * (4u * ISING_BLOCKS);
    const uint own = lattice[colour * (4u * ISING_BLOCKS) + word];
    uint bits;
    if (axis == 0) {
        const uint odd = (y + colour) & 1;
        const uint k = (32 * w + (r & 1 ? (odd ? (r + 1) / 2 : (r - 1) / 2) : r / 2)) % ISING_H;
        bits = ising_ring(other + y * ISING_W, k);
    } else {
        bits = other[(y + r) % ISING_LY * ISING_W + w];
    }
    return ERGO_POPCOUNT((own ^ bits) & ising_valid(word));
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* The spins of a word by class (see params.h). Without a field, spins with two or fewer satisfied
 * bonds are in no class, because they always flip. */
struct ising_classes {
    ising_vec in[ISING_CLASSES];
};

ERGO_INLINE struct ising_classes ising_classify(ising_vec own, struct ising_bonds_vec n,
                                                ising_vec valid, uint anti) {
    struct ising_classes k;
#if ISING_CLASSES == 2
    /* a bond is satisfied if own == neighbour, or for J < 0 if they differ */
    const ising_vec s = ~(own ^ ISING_VEC(ISING_BIT_MASK(anti, 0)));
    const ising_vec a = n.up ^ s, b = n.down ^ s, c = n.same ^ s, d = n.side ^ s;
    const ising_vec ab = a & b, cd = c & d;
    k.in[0] = ab & cd & valid;
    k.in[1] = ((ab & (c ^ d)) | ((a ^ b) & cd)) & valid;
#else
    (void)anti;
    const ising_vec both1 = n.up & n.down, one1 = n.up ^ n.down, none1 = ~(n.up | n.down);
    const ising_vec both2 = n.same & n.side, one2 = n.same ^ n.side, none2 = ~(n.same | n.side);
    const ising_vec up = own & valid, down = ~own & valid;
    const ising_vec n0 = none1 & none2, n1 = (one1 & none2) | (none1 & one2);
    const ising_vec n2 = (both1 & none2) | (one1 & one2) | (none1 & both2);
    const ising_vec n3 = (both1 & one2) | (one1 & both2), n4 = both1 & both2;
    k.in[0] = up & n0;
    k.in[1] = up & n1;
    k.in[2] = up & n2;
    k.in[3] = up & n3;
    k.in[4] = up & n4;
    k.in[5] = down & n0;
    k.in[6] = down & n1;
    k.in[7] = down & n2;
    k.in[8] = down & n3;
    k.in[9] = down & n4;
#endif
    return k;
}

/* The upper 7 bits of class k's threshold, as masks by plane. If all members share a temperature it
 * can be compiled in, and most of the comparison is then constant. */
#ifdef ISING_FIXED
#define ISING_HIGH(member, k) ((k) == 0 ? ISING_HIGH0 : ISING_HIGH1)
#define ISING_LOW(member, k) ((k) == 0 ? ISING_LOW0 : ISING_LOW1)
#define ISING_ALWAYS(member) 0u
#define ISING_PLANE(member, k, bit) ISING_BIT_MASK(ISING_HIGH(member, k), bit)
#else
#define ISING_HIGH(member, k) ((member).high[k])
#define ISING_LOW(member, k) ((member).low[k])
#define ISING_ALWAYS(member) ((member).always)
#define ISING_PLANE(member, k, bit) ((ising_scalar)(int)(member).planes[k][bit])
#endif

/* Decisions about a word: the flips so far, the spins whose random bits are below those of the
 * threshold in the planes compared so far, and the open spins, where these bits are equal. */
struct ising_word {
    struct ising_classes k;
    ising_vec flip, below, open;
};

ERGO_INLINE struct ising_word ising_open(ising_vec own, struct ising_bonds_vec n, ising_vec valid,
                                         const struct ising_member *member) {
    struct ising_word s;
    s.k = ising_classify(own, n, valid, member->anti);
    s.below = ISING_VEC(0u);
    s.flip = ISING_VEC(0u);
#if ISING_CLASSES == 2
    s.flip = valid & ~(s.k.in[0] | s.k.in[1]);
#endif
    ERGO_UNROLL
    for (int k = 0; k < ISING_CLASSES; k++)
        s.flip |= s.k.in[k] & ISING_BIT_MASK(ISING_ALWAYS(*member), k);
    s.open = valid & ~s.flip;
    return s;
}

/* Bit `bit` of the upper part of each spin's threshold. Spins that flip anyway may have any,
 * padding has zeros. */
ERGO_INLINE ising_vec ising_threshold(const struct ising_word *s, int bit,
                                      const struct ising_member *member) {
#if ISING_CLASSES == 2
    const ising_vec zero = ISING_VEC(ISING_PLANE(*member, 0, bit));
    const ising_vec one = ISING_VEC(ISING_PLANE(*member, 1, bit));
#ifdef ISING_FULL
    return (s->k.in[0] & zero) | (~s->k.in[0] & one);
#else
    return (s->k.in[0] & zero) | (s->k.in[1] & one);
#endif
#else
    ising_vec threshold = ISING_VEC(0u);
    ERGO_UNROLL
    for (int k = 0; k < ISING_CLASSES; k++)
        threshold |= s->k.in[k] & ISING_BIT_MASK(ISING_HIGH(*member, k), bit);
    return threshold;
#endif
}

/* Compare one random bit of each spin with bit `bit` of its threshold's upper part. Bits come from
 * the lowest to the highest, so the last one that differs decides: `below` is the majority of
 * ~random, threshold and itself, one instruction on GPUs. */
ERGO_INLINE void ising_compare(struct ising_word *s, ising_vec random, int bit,
                               const struct ising_member *member) {
    const ising_vec threshold = ising_threshold(s, bit, member);
    s->below = (~random & threshold) | (s->below & (~random | threshold));
    s->open &= ~(random ^ threshold);
}

#ifndef ISING_LANES
/* The four words of a draw. */
struct ising_quad {
    uint w[4];
};

ERGO_INLINE struct ising_quad ising_random(uint block, ulong sweep, uint purpose, uint draw,
                                           uint key0, uint key1) {
    const struct ergo_words r = ergo_philox_words(block, (uint)sweep, (uint)(sweep >> 32),
                                                  ERGO_DRAW(purpose, draw), key0, key1);
    struct ising_quad q;
    q.w[0] = r.x, q.w[1] = r.y, q.w[2] = r.z, q.w[3] = r.w;
    return q;
}

/* Decide the lowest open spin of a block, by comparing 32 random bits with the lower bits of its
 * threshold. It has no branch: without an open spin nothing changes. */
ERGO_INLINE void ising_resolve(struct ising_word s[4], ising_vec random,
                               const struct ising_member *member) {
    const ising_vec zero = ISING_VEC(0u);
    const ising_vec o0 = s[0].open, o01 = o0 | s[1].open, o012 = o01 | s[2].open;
    const ising_vec b0 = o0 & (zero - o0);
    const ising_vec b1 = ISING_CHOOSE(o0, zero, s[1].open & (zero - s[1].open));
    const ising_vec b2 = ISING_CHOOSE(o01, zero, s[2].open & (zero - s[2].open));
    const ising_vec b3 = ISING_CHOOSE(o012, zero, s[3].open & (zero - s[3].open));
    ising_vec threshold = ISING_VEC(ISING_LOW(*member, ISING_CLASSES - 1));
    ERGO_UNROLL
    for (int k = 0; k < ISING_CLASSES - 1; k++) {
        const ising_vec in =
            (b0 & s[0].k.in[k]) | (b1 & s[1].k.in[k]) | (b2 & s[2].k.in[k]) | (b3 & s[3].k.in[k]);
        threshold = ISING_CHOOSE(in, ISING_VEC(ISING_LOW(*member, k)), threshold);
    }
    const ising_vec hit = ISING_MASK(random < threshold);
    s[0].flip |= b0 & hit;
    s[1].flip |= b1 & hit;
    s[2].flip |= b2 & hit;
    s[3].flip |= b3 & hit;
    s[0].open ^= b0;
    s[1].open ^= b1;
    s[2].open ^= b2;
    s[3].open ^= b3;
}

/* The last decisions about a block, after the planes: its open spins one by one, four per draw.
 * `first`: the first of these draws; fewer than one block in 500 needs another. */
ERGO_INLINE void ising_settle(struct ising_word s[4], struct ising_quad first, uint block,
                              ulong sweep, uint colour, const struct ising_member *member) {
    ising_resolve(s, first.w[0], member);
    ising_resolve(s, first.w[1], member);
    if (!ISING_ANY(s[0].open | s[1].open | s[2].open | s[3].open))
        return;
    ising_resolve(s, first.w[2], member);
    if (!ISING_ANY(s[0].open | s[1].open | s[2].open | s[3].open))
        return;
    ising_resolve(s, first.w[3], member);
    for (uint draw = ISING_DRAW_RESOLVE + 1;
         ISING_ANY(s[0].open | s[1].open | s[2].open | s[3].open); draw++) {
        const struct ising_quad r =
            ising_random(block, sweep, 1 + colour, draw, member->key0, member->key1);
        ERGO_UNROLL
        for (int l = 0; l < 4; l++)
            ising_resolve(s, r.w[l], member);
    }
}

/* Of ten classes an unrolled loop keeps 70 masks, and AMD has 102 registers for what all work-items
 * share: clang 19 spills 166 of them for gfx942 into vector registers, and 124 of the 1653 vector
 * instructions that decide about a block read them back. A loop spills 25 and takes 1343. */
#if defined(__AMDGCN__) && ISING_CLASSES > 2
#define ISING_UNROLL_PLANES ERGO_ROLLED
#else
#define ISING_UNROLL_PLANES ERGO_UNROLL
#endif

/* All decisions about a block: seven planes for all spins at once, then the open spins. */
ERGO_INLINE void ising_decide(struct ising_word s[4], uint block, ulong sweep, uint colour,
                              const struct ising_member *member) {
    ISING_UNROLL_PLANES
    for (int j = ISING_PLANES - 1; j >= 0; j--) {
        const struct ising_quad r =
            ising_random(block, sweep, 1 + colour, (uint)j, member->key0, member->key1);
        ERGO_UNROLL
        for (int l = 0; l < 4; l++)
            ising_compare(&s[l], r.w[l], ISING_PLANES - 1 - j, member);
    }
    ERGO_UNROLL
    for (int l = 0; l < 4; l++)
        s[l].flip |= s[l].below;
    ising_settle(
        s, ising_random(block, sweep, 1 + colour, ISING_DRAW_RESOLVE, member->key0, member->key1),
        block, sweep, colour, member);
}

#endif

#endif
