/* Counting bits for 32 samples at once. The counters of 32 samples are kept as planes, where bit p
 * of all counters is one word, and are added as words. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_COUNT_H
#define ERGO_CL_SPIN_LATTICE_GLASS_COUNT_H

#include "spin_lattice/glass_update.h"

#define GLASS_OWN 8 /* planes of a work-item's counters: up to 255 */

/* Members with names instead of an array, so that they stay in registers whether or not a compiler
 * unrolls loops. */
struct glass_counter {
    uint4 p0, p1, p2, p3, p4, p5, p6, p7;
};

/* Full adder: sum and carry of a, b, c. Half adder: add to one plane of a counter. */
#define GLASS_FULL(sum, carry, a, b, c)                                                            \
    const uint4 sum = (a) ^ (b) ^ (c), carry = ((a) & (b)) | ((c) & ((a) | (b)));
#define GLASS_HALF_ADD(plane, in, out)                                                             \
    const uint4 out = (plane) & (in);                                                              \
    plane ^= in;

/* Add m and n, of three planes each, to the counters. */
ERGO_INLINE struct glass_counter glass_count_add(struct glass_counter c, struct glass_sum m,
                                                 struct glass_sum n) {
    GLASS_FULL(s0, c0, c.p0, m.m0, n.m0)
    GLASS_FULL(t1, d1, m.m1, n.m1, c0)
    GLASS_HALF_ADD(c.p1, t1, c1)
    GLASS_FULL(t2, d2, m.m2, n.m2, d1)
    GLASS_FULL(s2, c2, c.p2, t2, c1)
    GLASS_FULL(s3, c3, c.p3, d2, c2)
    c.p0 = s0;
    c.p2 = s2;
    c.p3 = s3;
    GLASS_HALF_ADD(c.p4, c3, c4)
    GLASS_HALF_ADD(c.p5, c4, c5)
    GLASS_HALF_ADD(c.p6, c5, c6)
    c.p7 ^= c6;
    return c;
}

/* Add m to the counters. They hold up to 63. */
ERGO_INLINE struct glass_counter glass_count_one(struct glass_counter c, struct glass_sum m) {
    const uint4 c0 = c.p0 & m.m0;
    GLASS_FULL(s1, c1, c.p1, m.m1, c0)
    GLASS_FULL(s2, c2, c.p2, m.m2, c1)
    c.p0 ^= m.m0;
    c.p1 = s1;
    c.p2 = s2;
    GLASS_HALF_ADD(c.p3, c2, c3)
    GLASS_HALF_ADD(c.p4, c3, c4)
    c.p5 ^= c4;
    return c;
}

ERGO_INLINE struct glass_counter glass_count_zero(void) {
    struct glass_counter c;
    c.p0 = c.p1 = c.p2 = c.p3 = c.p4 = c.p5 = c.p6 = c.p7 = (uint4)(0u);
    return c;
}

/* Where plane p of a group's counters begins, in words. plane: the length of one of the first
 * GLASS_OWN planes. The planes that carries need come in pairs, each a quarter as long as the pair
 * before. All together they need less room than one more full plane. */
ERGO_INLINE uint glass_plane(uint p, uint plane) {
    if (p < GLASS_OWN)
        return p * plane;
    const uint pair = (p - GLASS_OWN) / 2, rest = plane >> 2 * pair;
    return GLASS_OWN * plane + (plane - rest) / 3 * 2 + (p - GLASS_OWN) % 2 * (rest / 4);
}

/* Add up the counters of a group's work-items item = lane * stride + column, with 2^levels lanes.
 * Plane p < GLASS_OWN of a counter is at `item` of that plane. Afterwards plane p of a column's sum
 * is at `column`. Four lanes are added at a time, and each work-item takes one of the four slots of
 * a column, so all are busy in the first round and there are few rounds. `planes` needs room for
 * GLASS_OWN + 1 planes. */
ERGO_INLINE void glass_count_tree(__local uint4 *planes, uint item, uint group, uint levels,
                                  uint stride) {
    __local uint *words = (__local uint *)planes;
    const uint plane = 4 * group;
    barrier(CLK_LOCAL_MEM_FENCE);
    ERGO_UNROLL
    for (uint level = 0; level < levels; level += 2) {
        const uint two = level + 1 == levels; /* only two lanes are left */
        const uint own = GLASS_OWN + level, left = (4 * stride) << levels >> (level + 2 - two);
        ERGO_UNROLL
        for (uint n = 0; n < (left + group - 1) / group; n++) {
            const uint o = n * group + item;
            if (item >= group || o >= left)
                continue;
            uint ab = 0, cd = 0, all = 0;
            ERGO_UNROLL
            for (uint p = 0; p < own; p++) {
                __local uint *at = words + glass_plane(p, plane) + o;
                const uint a = at[0], b = at[left], s = a ^ b ^ ab;
                ab = (a & b) | (ab & (a | b));
                if (two) {
                    at[0] = s;
                } else {
                    const uint c = at[2 * left], d = at[3 * left], t = c ^ d ^ cd;
                    cd = (c & d) | (cd & (c | d));
                    at[0] = s ^ t ^ all;
                    all = (s & t) | (all & (s | t));
                }
            }
            words[glass_plane(own, plane) + o] = ab ^ cd ^ all;
            if (!two)
                words[glass_plane(own + 1, plane) + o] = (ab & cd) | (all & (ab | cd));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* The same from counters in registers, of the first `group` work-items. */
ERGO_INLINE void glass_count_sum(struct glass_counter c, __local uint4 *planes, uint item,
                                 uint group, uint levels, uint stride) {
    if (item < group) {
        planes[item] = c.p0;
        planes[group + item] = c.p1;
        planes[2 * group + item] = c.p2;
        planes[3 * group + item] = c.p3;
        planes[4 * group + item] = c.p4;
        planes[5 * group + item] = c.p5;
        planes[6 * group + item] = c.p6;
        planes[7 * group + item] = c.p7;
    }
    glass_count_tree(planes, item, group, levels, stride);
}

/* Four of the sums: samples bit, bit + 8, bit + 16 and bit + 24 (bit < 8) of a slot, where slots
 * count through the columns' four. The lower eight planes and the others each give one byte. */
ERGO_INLINE uint4 glass_count_four(__local const uint4 *planes, uint group, uint levels, uint slot,
                                   uint bit) {
    __local const uint *words = (__local const uint *)planes + slot;
    uint low = 0, high = 0;
    ERGO_UNROLL
    for (uint k = 0; k < GLASS_OWN + levels; k++) {
        const uint bits = (words[glass_plane(k, 4 * group)] >> bit) & 0x01010101u;
        if (k < 8)
            low |= bits << k;
        else
            high |= bits << (k - 8);
    }
    return ((uint4)(low, low >> 8, low >> 16, low >> 24) & 255u) |
           ((uint4)(high, high >> 8, high >> 16, high >> 24) & 255u) << 8;
}

#endif
