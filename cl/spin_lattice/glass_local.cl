/*
 * Spin glasses: parallel tempering in local memory. A work-group has all temperatures and copies of
 * a word-lattice, so sweeps and exchanges need no launch of their own. Local memory holds one
 * colour at a time, the one whose spins are neighbours. Work-items read and write their own sites
 * of the other colour in global memory, where a cache holds them.
 */
#include "spin_lattice/glass_count.h"
#include "spin_lattice/glass_ladder.h"

/* Work-items per quad and per group, and sites of each colour per work-item. */
#define GLASS_PER_QUAD ((uint)(GLASS_LADDER_LANES))
#define GLASS_GROUP (GLASS_PER_QUAD * GLASS_QUADS)
#define GLASS_EACH ((GLASS_HALF + GLASS_PER_QUAD - 1) / GLASS_PER_QUAD)
/* to count up to 6 EACH */
#define GLASS_EACH_BITS (GLASS_EACH == 1 ? 3u : GLASS_EACH == 2 ? 4u : 5u)
#define GLASS_LAST_LANES (1u << GLASS_COUNT_LEVELS)
#define GLASS_LAST_GROUP (GLASS_LAST_LANES * GLASS_QUADS)

/* Loops over a work-item's sites of a colour: e numbers them, h is the site. */
#define GLASS_MINE(e, h)                                                                           \
    ERGO_UNROLL                                                                                    \
    for (uint e = 0, h = lane; e < GLASS_EACH; e++, h += GLASS_PER_QUAD)                           \
        if (GLASS_HALF % GLASS_PER_QUAD == 0 || h < GLASS_HALF)

/* Half a sweep of one site. mine: spins of its colour; room: the other colour. */
ERGO_INLINE struct glass_decision glass_step(__global uint4 *mine, __local const uint4 *room,
                                             struct glass_place p, uint colour, uint h,
                                             uint4 *next) {
    const struct glass_at a = glass_site(h, colour);
    const uint4 own = mine[h * GLASS_QUADS];
    uint4 x[7];
    GLASS_LOOK(x, own, a, room, GLASS_QUADS)
    const struct glass_decision d = glass_decide(x, p, a.site, colour * GLASS_HALF + h);
    *next = own ^ d.flip;
    mine[h * GLASS_QUADS] = *next;
    return d;
}

/* The quad `own` of a site after the exchange. at: its place among the site's quads. Partners
 * beyond the ends of the ladder have no bits in the mask. */
ERGO_INLINE uint4 glass_moved(uint4 own, __global const uint4 *at, uint quad, uint4 mask,
                              uint parity) {
    const int lower = quad > 0 ? -1 : 0, upper = quad + 1 < GLASS_QUADS;
    uint4 other;
    if (GLASS_COPIES == 4) {
        other = at[(quad + parity) & 1 ? lower : upper];
    } else if (parity == 0) {
        other = GLASS_COPIES == 2 ? own.zwxy : own.yxwz;
    } else if (GLASS_COPIES == 2) {
        __global const uint2 *pairs = (__global const uint2 *)at;
        const uint2 one = pairs[lower], two = pairs[1 + upper];
        /* made of four values, because Oclgrind crashes if it is made of two pairs */
        other = (uint4)(one.x, one.y, two.x, two.y);
    } else {
        __global const uint *words = (__global const uint *)at;
        other = (uint4)(words[lower], own.z, own.y, words[3 + upper]);
    }
    return own ^ ((own ^ other) & mask);
}

/* Counters c with `planes` planes, of a quad's first `width` work-items: the upper half of the
 * work-items gives its counters to the lower half, until GLASS_LAST_LANES hold all. */
#define GLASS_KEEP(width) ((width) - (width) / 2)
#define GLASS_NEXT(width) ((width) > GLASS_LAST_LANES ? GLASS_KEEP(width) : (width))
#define GLASS_W1 GLASS_NEXT(GLASS_PER_QUAD)
#define GLASS_W2 GLASS_NEXT(GLASS_W1)
#define GLASS_W3 GLASS_NEXT(GLASS_W2)
#define GLASS_W4 GLASS_NEXT(GLASS_W3)
#define GLASS_W5 GLASS_NEXT(GLASS_W4)
#define GLASS_FOLD(width, planes)                                                                  \
    if ((width) > GLASS_LAST_LANES) {                                                              \
        __local uint4 *given = room + quad;                                                        \
        if (lane >= GLASS_KEEP(width) && lane < (width)) {                                         \
            ERGO_UNROLL                                                                            \
            for (uint k = 0; k < (planes); k++)                                                    \
                given[(k * ((width) / 2) + lane - GLASS_KEEP(width)) * GLASS_QUADS] = c[k];        \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (lane < (width) / 2) {                                                                  \
            uint4 carry = (uint4)(0u);                                                             \
            ERGO_UNROLL                                                                            \
            for (uint k = 0; k < (planes); k++) {                                                  \
                const uint4 a = c[k], b = given[(k * ((width) / 2) + lane) * GLASS_QUADS];         \
                c[k] = a ^ b ^ carry;                                                              \
                carry = (a & b) | (carry & (a | b));                                               \
            }                                                                                      \
            c[planes] = carry;                                                                     \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    }

/*
 * `rounds` rounds of sweeps, from `sweep` on: `first` sweeps in the first round and `every` in the
 * others. Each round ends with an exchange; the first has parity `odd`. Dimension 0: one group of
 * GLASS_GROUP. room: GLASS_LADDER_ROOM, then a number and a word for each sample of each slot.
 */
__attribute__((reqd_work_group_size(GLASS_GROUP, 1, 1))) __kernel void
glass_local_ladder(__global uint4 *spins, __global const uint *couplings,
                   __global const uint4 *tables, __global const uint2 *keys, ulong sweep,
                   uint rounds, uint first, uint every, uint odd, uint2 words, uint last,
                   __global const float *slopes, __global uint *from_hot, __global ulong *accepted,
                   __global ulong *trips, __global uint4 *moves, __local uint4 *room) {
    __local uint masks[GLASS_SLOTS];
    __local uint *counts = (__local uint *)(room + GLASS_LADDER_ROOM);
    __local uint *wants = counts + 32 * GLASS_SLOTS;
    const uint item = (uint)get_local_id(0), lattice = (uint)get_global_id(1);
    const uint lane = item / GLASS_QUADS, quad = item - lane * GLASS_QUADS;
    const uint member = lattice / words.x, word = lattice - member * words.x;
    struct glass_place p = glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __global uint4 *mine = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    __local uint4 *here = room + quad;
    uint4 next[GLASS_EACH];
    GLASS_MINE(e, h)
    here[h * GLASS_QUADS] = mine[(GLASS_HALF + h) * GLASS_QUADS];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint round = 0; round < rounds; round++) {
        const uint parity = (odd + round) & 1;
        const uint turns = 2 * (round ? every : first) - 1;
        for (uint turn = 0; turn < turns; turn++) {
            const uint colour = turn & 1;
            GLASS_MINE(e, h)
            glass_step(mine + colour * GLASS_HALF * GLASS_QUADS, here, p, colour, h, &next[e]);
            barrier(CLK_LOCAL_MEM_FENCE);
            GLASS_MINE(e, h)
            here[h * GLASS_QUADS] = next[e];
            barrier(CLK_LOCAL_MEM_FENCE);
            p.sweep += colour;
        }
        /* the last half sweep is apart, because counters within the loop would cost it registers */
        struct glass_counter counter = glass_count_zero();
        GLASS_MINE(e, h) {
            const struct glass_decision d =
                glass_step(mine + GLASS_HALF * GLASS_QUADS, here, p, 1, h, &next[e]);
            counter = glass_count_one(counter, glass_after(d.sum, d.flip));
        }
        p.sweep++;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 c[12] = {counter.p0, counter.p1, counter.p2, counter.p3, counter.p4, counter.p5};
        GLASS_FOLD(GLASS_PER_QUAD, GLASS_EACH_BITS)
        GLASS_FOLD(GLASS_W1, GLASS_EACH_BITS + 1)
        GLASS_FOLD(GLASS_W2, GLASS_EACH_BITS + 2)
        GLASS_FOLD(GLASS_W3, GLASS_EACH_BITS + 3)
        GLASS_FOLD(GLASS_W4, GLASS_EACH_BITS + 4)
        const uint4 all = (uint4)(lane < GLASS_W5 ? 0xffffffffu : 0u);
        counter.p0 = c[0] & all;
        counter.p1 = c[1] & all;
        counter.p2 = c[2] & all;
        counter.p3 = c[3] & all;
        counter.p4 = c[4] & all;
        counter.p5 = c[5] & all;
        counter.p6 = c[6] & all;
        counter.p7 = c[7] & all;
        glass_count_sum(counter, room, item, GLASS_LAST_GROUP, GLASS_COUNT_LEVELS, GLASS_QUADS);
        for (uint o = item; o < 8 * GLASS_SLOTS; o += GLASS_GROUP) {
            __local uint *to = counts + o / 8 * 32 + (o & 7u);
            const uint4 sum =
                glass_count_four(room, GLASS_LAST_GROUP, GLASS_COUNT_LEVELS, o / 8, o & 7u);
            to[0] = sum.x;
            to[8] = sum.y;
            to[16] = sum.z;
            to[24] = sum.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint o = item; o < 32 * GLASS_SLOTS; o += GLASS_GROUP) {
            const uint slot = o / 32, t = slot / GLASS_COPIES;
            if (GLASS_COLDER(t, parity))
                wants[o] = glass_wants((long)counts[o + 32 * GLASS_COPIES] - (long)counts[o],
                                       slopes[member * (GLASS_T) + t], words.y + word, o & 31u,
                                       p.sweep, slot, p.key);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = item; slot < GLASS_SLOTS; slot += GLASS_GROUP) {
            const uint t = slot / GLASS_COPIES, copy = slot % GLASS_COPIES;
            const uint hotter = t > 0 && GLASS_COLDER(t - 1, parity);
            uint m = 0;
            if (hotter || GLASS_COLDER(t, parity))
                for (uint i = 0; i < 32; i++)
                    m |= wants[32 * (hotter ? slot - GLASS_COPIES : slot) + i];
            m &= p.lanes;
            masks[slot] = m;
            if (GLASS_COLDER(t, parity)) {
                __global uint *c = from_hot + lattice * GLASS_SLOTS;
                __global ulong *own_accepted =
                    accepted + (ulong)lattice * ((uint)(GLASS_T)*GLASS_COPIES);
                __global ulong *own_trips = trips + lattice * GLASS_COPIES;
                __global uint4 *own_moves = moves + lattice * (GLASS_ROWS * GLASS_MOVES);
                glass_pair_write(glass_pair_read(c, own_accepted, own_trips, own_moves, t, copy), c,
                                 own_accepted, own_trips, own_moves, t, copy, m, p.lanes);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const uint4 mask =
            (uint4)(masks[4 * quad], masks[4 * quad + 1], masks[4 * quad + 2], masks[4 * quad + 3]);
        for (uint colour = 0; colour < 2; colour++) {
            __global uint4 *of = mine + colour * GLASS_HALF * GLASS_QUADS;
            GLASS_MINE(e, h)
            next[e] = glass_moved(of[h * GLASS_QUADS], of + h * GLASS_QUADS, quad, mask, parity);
            barrier(CLK_GLOBAL_MEM_FENCE);
            GLASS_MINE(e, h)
            of[h * GLASS_QUADS] = next[e];
        }
        GLASS_MINE(e, h)
        here[h * GLASS_QUADS] = next[e];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
