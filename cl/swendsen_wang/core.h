/*
 * Swendsen-Wang on words of 32 sites: pure functions, also compiled as C.
 *
 * A rank holds a rectangle of the lattice, or all of it without MPI. The rectangle has SW_LY rows
 * of SW_WORDS words, and SW_TAIL sites in the last word of a row. Word i of row y holds sites x =
 * 32 i .. 32 i + 31. A spin has SW_PLANES bits, one in each bit-plane. Rectangles are cut at words,
 * so only the last word in a row of the whole lattice may be partly filled.
 *
 * Site index (in memory): 32 word + bit, with word = y SW_WORDS + i. Site id (in physics, 64 bits):
 * y Lx + x in the whole lattice. Within a rectangle the index grows with the id. So the smallest
 * index of a cluster there belongs to its smallest id there, and labels can be indices.
 *
 * A whole lattice's shape is constant in a build. A rectangle's (SW_OF_RECT) is an argument,
 * `rect`, because ranks of unequal speed have many shapes, which change, and share one build where
 * it takes long. Functions for both have SW_SHAPE before their parameters, and SW_HERE before the
 * arguments of a call; _ALONE where there are no others.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_CORE_H
#define ERGO_CL_SWENDSEN_WANG_CORE_H

#include "swendsen_wang/state.h"

#ifdef SW_OF_RECT
#include "swendsen_wang/cut_params.h"
#ifdef __OPENCL_VERSION__ /* restrict: it is not written, so it need not be read again */
#define SW_RECT __global const struct sw_rect *restrict
#else
#define SW_RECT const struct sw_rect *
#endif
#define SW_SHAPE_ALONE SW_RECT rect
#define SW_SHAPE SW_SHAPE_ALONE,
#define SW_HERE_ALONE rect
#define SW_HERE SW_HERE_ALONE,
#ifndef SW_WORDS /* or the build is for one width */
#define SW_WORDS (rect->words)
#define SW_TAIL (rect->tail)
#endif
#ifndef SW_LY /* and for one shape */
#define SW_LY (rect->rows)
#endif
#define SW_SUM_SLOTS (rect->sum_slots)
#define SW_ROW_0 (rect->row0)
#define SW_WORD_0 (rect->word0)
#define SW_ALL_WORDS (rect->all_words)
#define SW_ALL_LX (rect->all_lx)
#else
#define SW_SHAPE_ALONE void
#define SW_SHAPE
#define SW_HERE_ALONE
#define SW_HERE
#define SW_ROW_0 0u
#define SW_WORD_0 0u
#define SW_ALL_WORDS SW_WORDS
#define SW_ALL_LX (32u * (SW_WORDS - 1u) + SW_TAIL)
#endif

/* Words in one plane. */
#define SW_PLANE_WORDS (SW_WORDS * SW_LY)

/* Bit of the last site in word i. */
ERGO_INLINE uint sw_last_bit(SW_SHAPE uint i) {
    return i + 1u == SW_WORDS ? SW_TAIL - 1u : 31u;
}

/* The bits of word i that are sites. */
ERGO_INLINE uint sw_valid(SW_SHAPE uint i) {
    return 0xffffffffu >> (31u - sw_last_bit(SW_HERE i));
}

/* The word's number in the whole lattice. It addresses the draws of the word's bonds. The host
 * refuses lattices of more than 2^32 words. */
ERGO_INLINE uint sw_global_word(SW_SHAPE uint i, uint y) {
    return (uint)((y + SW_ROW_0) * SW_ALL_WORDS + i + SW_WORD_0);
}

/* The site's id in the whole lattice. */
ERGO_INLINE ulong sw_global_place(SW_SHAPE uint x, uint y) {
    return ((ulong)y + SW_ROW_0) * SW_ALL_LX + x + 32UL * SW_WORD_0;
}

ERGO_INLINE ulong sw_global_site(SW_SHAPE uint index) {
    return sw_global_place(SW_HERE index % (32u * SW_WORDS), index / (32u * SW_WORDS));
}

/* Compare the upper 8 bits of p with eight random planes: *less gets bonds that are decided active,
 * *same keeps those that are still undecided. */
ERGO_INLINE void sw_bond_planes(uint word, uint direction, uint step_low, uint step_high, uint key0,
                                uint key1, uint high, uint *less, uint *same) {
    for (uint quad = 0; quad < 2u; quad++) {
        const struct ergo_words r =
            ergo_philox_words(word, step_low, step_high,
                              ERGO_DRAW(SW_PURPOSE_BOND, 2u * direction + quad), key0, key1);
        const uint part = high >> (4u - 4u * quad);
        const uint t3 = 0u - (part >> 3 & 1u), t2 = 0u - (part >> 2 & 1u);
        const uint t1 = 0u - (part >> 1 & 1u), t0 = 0u - (part & 1u);
        *less |= *same & t3 & ~r.x;
        *same &= ~(t3 ^ r.x);
        *less |= *same & t2 & ~r.y;
        *same &= ~(t2 ^ r.y);
        *less |= *same & t1 & ~r.z;
        *same &= ~(t1 ^ r.z);
        *less |= *same & t0 & ~r.w;
        *same &= ~(t0 ^ r.w);
    }
}

/* Decide by the lower 32 bits of p whether an undecided bond is active. */
ERGO_INLINE uint sw_bond_resolve(uint word, uint direction, uint bit, uint step_low, uint step_high,
                                 uint key0, uint key1, uint low) {
    const struct ergo_words r = ergo_philox_words(
        word, step_low, step_high,
        ERGO_DRAW(SW_PURPOSE_BOND, SW_DRAW_RESOLVE + 8u * direction + bit / 4u), key0, key1);
    const uint pick = bit & 3u;
    const uint lower = pick == 0u ? r.x : pick == 1u ? r.y : pick == 2u ? r.z : r.w;
    return lower < low ? 1u : 0u;
}

/* The active ones among the bonds in `open`, which join equal spins. Direction 0 is to the right, 1
 * down. */
ERGO_INLINE uint sw_bonds(uint open, uint word, uint direction, uint step_low, uint step_high,
                          uint key0, uint key1, uint high, uint low, uint always) {
    if (always || open == 0u)
        return open;
    uint less = 0u, same = open; /* decided active; still undecided */
    sw_bond_planes(word, direction, step_low, step_high, key0, key1, high, &less, &same);
    while (same) {
        const uint bit = 31u - ERGO_CLZ(same);
        less |= sw_bond_resolve(word, direction, bit, step_low, step_high, key0, key1, low) << bit;
        same ^= 1u << bit;
    }
    return less;
}

/* Both directions. Undecided bonds of both share one loop, because work-items of a GPU wait for
 * each other at the end of a loop. */
ERGO_INLINE void sw_bonds_both(uint *side, uint *under, uint word, uint step_low, uint step_high,
                               uint key0, uint key1, uint high, uint low, uint always) {
    if (always)
        return;
    uint less0 = 0u, less1 = 0u, same0 = *side, same1 = *under;
    sw_bond_planes(word, 0u, step_low, step_high, key0, key1, high, &less0, &same0);
    sw_bond_planes(word, 1u, step_low, step_high, key0, key1, high, &less1, &same1);
    while (same0 | same1) {
        const uint direction = same0 ? 0u : 1u, bit = 31u - ERGO_CLZ(same0 ? same0 : same1);
        const uint active =
            sw_bond_resolve(word, direction, bit, step_low, step_high, key0, key1, low) << bit;
        if (direction) {
            less1 |= active;
            same1 ^= 1u << bit;
        } else {
            less0 |= active;
            same0 ^= 1u << bit;
        }
    }
    *side = less0;
    *under = less1;
}

/* First sites of the runs that bonds to the right make in a word. The bond of bit 31 leads out of
 * the word. */
ERGO_INLINE uint sw_starts(uint right, uint valid) {
    return ~(right << 1) & valid;
}

/* First site of the run that contains `bit`. */
ERGO_INLINE uint sw_start_of(uint starts, uint bit) {
    return 31u - ERGO_CLZ(starts & (0xffffffffu >> (31u - bit)));
}

/* Those bits of `set` that come after another bit of `set` in the same run. */
ERGO_INLINE uint sw_later_in_run(uint set, uint starts) {
    uint seen = set, pass = ~starts;
    for (uint shift = 1u; shift < 32u; shift *= 2u) {
        seen |= pass & (seen << shift);
        pass &= pass << shift;
    }
    return set & (seen << 1) & ~starts;
}

/* Copy the bits at the first sites of runs to all sites of these runs. */
ERGO_INLINE uint sw_fill(uint first, uint starts) {
    uint pass = ~starts;
    for (uint shift = 1u; shift < 32u; shift *= 2u) {
        first |= pass & (first << shift);
        pass &= pass << shift;
    }
    return first;
}

/* Drop bonds down whose two runs are joined already through their left neighbours. */
ERGO_INLINE uint sw_prune(uint down, uint right, uint right_below) {
    return down & ~((down & right & right_below) << 1);
}

#endif
