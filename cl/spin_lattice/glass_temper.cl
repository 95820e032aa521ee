/*
 * Spin glasses: parallel tempering. Who exchanges, and the exchange: alone (glass_swap,
 * glass_exchange), or as part of the sweeps (glass_sweep_counting decides, glass_moving_* move).
 * masks[parity][word-lattice][slot]: who exchanges, the same for both slots of a pair; a slot
 * without one has no bits, from the beginning on. came[word-lattice][slot]: those that have been at
 * the hottest end since they were at the coldest; trips: their arrivals there. Kept by the kernel
 * that moves.
 */
#ifndef GLASS_LOCAL /* planes of GLASS_COUNT_EACH, up to four, sites of six bonds */
#define GLASS_OWN (GLASS_COUNT_EACH > 2 ? 5 : 2 + GLASS_COUNT_EACH)
#endif
#include "spin_lattice/glass_count.h"
#include "spin_lattice/glass_ladder.h"
#include "spin_lattice/glass_quad.h"

/* One group per (pair, copy), one work-item per sample. energies: [word-lattice][part][slot][32].
 */
__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void
glass_swap(__global const long *energies, __global const float *slopes, __global const uint2 *keys,
           __global uint *masks, ulong step, uint parity, uint parts, uint2 words, uint last) {
    __local uint4 mine[8]; /* a word of each work-item */
    const uint bit = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint lattice = (uint)get_global_id(1), lattices = (uint)get_global_size(1);
    const uint member = lattice / words.x, word = lattice - member * words.x;
    const uint t = 2 * (group / GLASS_COPIES) + parity, copy = group % GLASS_COPIES;
    const uint a = t * GLASS_COPIES + copy, b = a + GLASS_COPIES;
    long worse = 0;
    __global const long *e = energies + (ulong)lattice * parts * (GLASS_SLOTS * 32) + bit;
    for (uint part = 0; part < parts; part++)
        worse += e[(part * GLASS_SLOTS + b) * 32] - e[(part * GLASS_SLOTS + a) * 32];
    ((__local uint *)mine)[bit] = glass_wants(worse, slopes[member * (GLASS_T) + t], words.y + word,
                                              bit, step, a, keys[member]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bit == 0) {
        const uint4 all =
            (mine[0] | mine[1]) | (mine[2] | mine[3]) | (mine[4] | mine[5]) | (mine[6] | mine[7]);
        const uint m = (all.x | all.y | all.z | all.w) & GLASS_LANES(word, words.x, last);
        __global uint *mask = masks + (parity * lattices + lattice) * GLASS_SLOTS;
        mask[a] = m;
        mask[b] = m;
    }
}

/* Work-item i of a word-lattice keeps what is kept of a pair. mask: of the word-lattice. */
#define GLASS_KEPT(parity) (GLASS_PAIRS(parity) * GLASS_COPIES)
ERGO_INLINE void glass_keep(uint i, uint parity, uint lattice, __global const uint *mask,
                            __global uint *came, __global ulong *accepted, __global ulong *trips,
                            __global uint4 *moves, uint lanes) {
    const uint t = 2 * (i / GLASS_COPIES) + parity, copy = i % GLASS_COPIES;
    __global uint *c = came + lattice * GLASS_SLOTS;
    __global ulong *own_accepted = accepted + (ulong)lattice * ((uint)(GLASS_T)*GLASS_COPIES);
    __global ulong *own_trips = trips + lattice * GLASS_COPIES;
    __global uint4 *own_moves = moves + lattice * (GLASS_ROWS * GLASS_MOVES);
    glass_note(glass_open(c, own_accepted, own_trips, own_moves, t, copy), c, own_accepted,
               own_trips, own_moves, t, copy, mask[t * GLASS_COPIES + copy], lanes);
}

/* The copies of a temperature together. */
#if GLASS_COPIES == 1
typedef uint glass_copies;
#define GLASS_NONE(m) ((m) == 0)
#elif GLASS_COPIES == 2
typedef uint2 glass_copies;
#define GLASS_NONE(m) (((m).x | (m).y) == 0)
#else
typedef uint4 glass_copies;
#define GLASS_NONE(m) (((m).x | (m).y | (m).z | (m).w) == 0)
#endif

/* Configurations change places. Dimension 0: pair + PAIRS * site. */
__kernel void glass_exchange(__global glass_copies *spins, __global const glass_copies *masks,
                             __global uint *came, __global ulong *accepted, __global ulong *trips,
                             __global uint4 *moves, uint parity, uint2 words, uint last) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    const uint n = GLASS_PAIRS(parity);
    const uint at = parity ? i / (GLASS_PAIRS(1) + !GLASS_PAIRS(1)) : i / GLASS_PAIRS(0);
    if (at >= GLASS_SITES)
        return;
    const uint pair = i - at * n;
    const uint rungs = GLASS_SLOTS / GLASS_COPIES, cold_rung = 2 * pair + parity;
    __global const glass_copies *mask =
        masks + (parity * (uint)get_global_size(1) + lattice) * rungs;
    if (i < GLASS_KEPT(parity))
        glass_keep(i, parity, lattice, (__global const uint *)mask, came, accepted, trips, moves,
                   GLASS_LANES(lattice % words.x, words.x, last));
    const glass_copies m = mask[cold_rung];
    if (GLASS_NONE(m))
        return;
    __global glass_copies *s = spins + ((ulong)lattice * GLASS_SITES + at) * rungs + cold_rung;
    const glass_copies cold = s[0], hot = s[1], x = (cold ^ hot) & m;
    s[0] = cold ^ x;
    s[1] = hot ^ x;
}

#if !GLASS_REAL
#define GLASS_COUNT_LANES (1u << GLASS_COUNT_LEVELS)

/*
 * Who exchanges, where many groups count. A vote (of a word-lattice, colder slot and sample) has
 * how many bonds more are unsatisfied in the hotter slot, and from bit GLASS_SHIFT on how many
 * groups are done: `all`, and who sees them decides and leaves zero. One word says both, so that no
 * order of memory between words is relied upon. sum: the vote with this group's, with its mark if
 * it is done. Groups add all their votes before they look at one: these atomics take long.
 */
#define GLASS_MARK (1u << GLASS_SHIFT)
ERGO_INLINE void glass_tally(__global uint *vote, uint sum, uint all, float slope,
                             struct glass_place p, uint bit, ulong step, uint a,
                             __global uint *mask) {
    if ((sum + GLASS_MARK / 2) >> GLASS_SHIFT != all)
        return;
    const int worse = (int)(sum - all * GLASS_MARK);
    const uint want = glass_wants(worse, slope, p.draw >> 8, bit, step, a, p.key) & p.lanes;
    atomic_and(vote, 0u);
    if (want) {
        atomic_or(&mask[a], want);
        atomic_or(&mask[a + GLASS_COPIES], want);
    } else {
        atomic_and(&mask[a], ~(1u << bit));
        atomic_and(&mask[a + GLASS_COPIES], ~(1u << bit));
    }
}

#ifndef GLASS_LOCAL
GLASS_MOVED(glass_moved_local, __local)

/*
 * Half a sweep that finds configurations where they were before an exchange and leaves them where
 * they are after it: colour 0, when nobody has moved, then colour 1, when colour 0 has. What colour
 * 0 needs of the others' places is how many bonds are unsatisfied there: these planes move like
 * spins, which are fewer than all neighbours. Work-groups have all quads of a site. Dimension 0:
 * quad + QUADS * h. A kernel for each colour and parity. given: 4 planes of the group.
 */
#define GLASS_MOVING(NAME, COLOUR, PARITY)                                                         \
    __kernel void NAME(__global uint4 *spins, __global const uint *couplings,                      \
                       __global const uint4 *tables, __global const uint2 *keys, ulong sweep,      \
                       uint2 words, uint last, __global const uint4 *masks, __global uint *came,   \
                       __global ulong *accepted, __global ulong *trips, __global uint4 *moves,     \
                       __local uint4 *given) {                                                     \
        const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);                   \
        const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);                   \
        const uint here = i < GLASS_HALF * GLASS_QUADS; /* others: the group's first site */       \
        const uint h = (here ? i : i - item) / GLASS_QUADS, quad = i % GLASS_QUADS;                \
        const struct glass_place p =                                                               \
            glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);               \
        __global const uint4 *own_masks =                                                          \
            masks + ((PARITY) * (uint)get_global_size(1) + lattice) * GLASS_QUADS;                 \
        if ((COLOUR) && i < GLASS_KEPT(PARITY))                                                    \
            glass_keep(i, PARITY, lattice, (__global const uint *)own_masks, came, accepted,       \
                       trips, moves, p.lanes);                                                     \
        const uint4 mask = own_masks[quad];                                                        \
        const struct glass_at a = glass_site(h, COLOUR);                                           \
        const uint own_at = (COLOUR)*GLASS_HALF + h;                                               \
        __global uint4 *here_spins = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;  \
        __global const uint4 *other = here_spins + (1 - (COLOUR)) * GLASS_HALF * GLASS_QUADS;      \
        __local uint4 *mine = given + item;                                                        \
        uint4 own = here_spins[own_at * GLASS_QUADS], x[6];                                        \
        struct glass_sum s;                                                                        \
        if (!(COLOUR)) {                                                                           \
            GLASS_LOOK(x, own, a, other, GLASS_QUADS)                                              \
            s = glass_unsatisfied(x, p.couplings, own_at);                                         \
        }                                                                                          \
        if (GLASS_ELSEWHERE(PARITY)) {                                                             \
            mine[0] = own;                                                                         \
            if (!(COLOUR)) {                                                                       \
                mine[size] = s.m0;                                                                 \
                mine[2 * size] = s.m1;                                                             \
                mine[3 * size] = s.m2;                                                             \
            }                                                                                      \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        own = glass_moved_local(own, mine, quad, mask, PARITY);                                    \
        if (COLOUR) {                                                                              \
            GLASS_LOOK(x, own, a, other, GLASS_QUADS)                                              \
            s = glass_unsatisfied(x, p.couplings, own_at);                                         \
        } else {                                                                                   \
            s.m0 = glass_moved_local(s.m0, mine + size, quad, mask, PARITY);                       \
            s.m1 = glass_moved_local(s.m1, mine + 2 * size, quad, mask, PARITY);                   \
            s.m2 = glass_moved_local(s.m2, mine + 3 * size, quad, mask, PARITY);                   \
        }                                                                                          \
        if (here)                                                                                  \
            here_spins[own_at * GLASS_QUADS] = own ^ glass_choose(s, p, a.site);                   \
    }
GLASS_MOVING(glass_moving_00, 0, 0)
GLASS_MOVING(glass_moving_01, 0, 1)
GLASS_MOVING(glass_moving_10, 1, 0)
GLASS_MOVING(glass_moving_11, 1, 1)

GLASS_UPDATE(glass_update_global, __global, GLASS_QUADS)

#define GLASS_COUNT_GROUP (GLASS_QUADS * GLASS_COUNT_LANES)

/*
 * Half a sweep of colour 1, and who exchanges afterwards: each bond has one end there. votes:
 * [word-lattice][colder slot][32]. From site `begin` on, groups of GLASS_COUNT_GROUP (dimension 0),
 * item = lane * QUADS + quad; lanes take GLASS_COUNT_EACH sites in turns. mark: GLASS_MARK, or 0 if
 * another launch has other sites. Counters are in local memory, and what does not change is read
 * again for each site: registers limit how many work-items run at once.
 */
__kernel void glass_sweep_counting(__global uint4 *spins, __global const uint *couplings,
                                   __global const uint4 *tables, __global const uint2 *keys,
                                   ulong sweep, uint2 words, uint last, __global uint *votes,
                                   __global uint *masks, __global const float *slopes, uint parity,
                                   uint begin, uint mark, __local uint4 *planes) {
    const uint item = (uint)get_local_id(0), lattice = (uint)get_global_id(1);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint lane = item / GLASS_QUADS, quad = item - lane * GLASS_QUADS;
    __global uint4 *mine = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    const uint first = begin + group * (GLASS_COUNT_EACH * GLASS_COUNT_LANES) + lane;
    ERGO_UNROLL
    for (uint i = 0; i < GLASS_COUNT_EACH; i++) {
        const uint h = first + i * GLASS_COUNT_LANES;
        struct glass_sum m;
        m.m0 = m.m1 = m.m2 = (uint4)(0u);
        if (h < GLASS_HALF) {
            const struct glass_place p =
                glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
            const struct glass_decision d = glass_update_global(mine, p, 1, h);
            m = glass_after(d.sum, d.flip);
        }
        glass_count_onto(planes + item, GLASS_COUNT_GROUP, m, i);
    }
    glass_count_tree(planes, item, GLASS_COUNT_GROUP, GLASS_COUNT_LEVELS, GLASS_QUADS);
    const struct glass_place p =
        glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __global uint *mask = masks + (parity * (uint)get_global_size(1) + lattice) * GLASS_SLOTS;
    for (uint o = item; o < 8 * GLASS_KEPT(parity); o += GLASS_COUNT_GROUP) {
        const uint i = o / 8, bit = o & 7u, t = 2 * (i / GLASS_COPIES) + parity;
        const uint a = t * GLASS_COPIES + i % GLASS_COPIES;
        const uint4 colder =
            glass_count_four(planes, GLASS_COUNT_GROUP, GLASS_COUNT_LEVELS, a, bit);
        const uint4 hotter =
            glass_count_four(planes, GLASS_COUNT_GROUP, GLASS_COUNT_LEVELS, a + GLASS_COPIES, bit);
        __global uint *vote = votes + ((ulong)lattice * GLASS_SLOTS + a) * 32 + bit;
        const float slope = slopes[lattice / words.x * (GLASS_T) + t];
        const uint4 more = mark + hotter - colder;
        uint4 sum;
        sum.x = atomic_add(vote, more.x);
        sum.y = atomic_add(vote + 8, more.y);
        sum.z = atomic_add(vote + 16, more.z);
        sum.w = atomic_add(vote + 24, more.w);
        sum += more;
        ERGO_ROLLED
        for (uint n = 0; n < 4; n++) {
            const uint one = n < 2 ? (n ? sum.y : sum.x) : n < 3 ? sum.z : sum.w;
            glass_tally(vote + 8 * n, one, groups, slope, p, bit + 8 * n, sweep + 1, a, mask);
        }
    }
}
#else
GLASS_COUNT_EVEN(glass_even_local, __local, 1u)

/* Sweeps of a quad in local memory, and who exchanges afterwards: colour 0 has an end of each bond.
 * Dimension 0: one group per quad. room: the quad's, and planes of GLASS_COUNT_LANES. */
__kernel void glass_local_counting(__global uint4 *spins, __global const uint *couplings,
                                   __global const uint4 *tables, __global const uint2 *keys,
                                   ulong sweep, uint sweeps, uint2 words, uint last,
                                   __global uint *votes, __global uint *masks,
                                   __global const float *slopes, uint parity, __local uint4 *room) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint quad = (uint)get_group_id(0), lattice = (uint)get_global_id(1);
    const struct glass_place p =
        glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __local uint4 *planes = room + GLASS_SITES;
    __global uint *mask = masks + (parity * (uint)get_global_size(1) + lattice) * GLASS_SLOTS;
    __global uint *of = votes + (ulong)lattice * (GLASS_SLOTS * 32);
    const uint turn = GLASS_COUNT_EACH * GLASS_COUNT_LANES;
    glass_quad_sweeps(spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad, room, p, sweeps,
                      item, size);
    for (uint begin = 0; begin < GLASS_HALF; begin += turn) {
        const uint end = begin + turn < GLASS_HALF ? begin + turn : GLASS_HALF;
        const struct glass_counter counter =
            glass_even_local(room, p.couplings, begin + item, item < GLASS_COUNT_LANES ? end : 0u,
                             GLASS_COUNT_LANES);
        glass_count_sum(counter, planes, item, GLASS_COUNT_LANES, GLASS_COUNT_LEVELS, 1);
        const uint mark = begin + turn < GLASS_HALF ? 0u : GLASS_MARK;
        for (uint o = item; o < 64; o += size) {
            const uint slot = 4 * quad + o / 16, bit = o & 15u, t = slot / GLASS_COPIES;
            const uint hotter = t > 0 && GLASS_COLDER(t - 1, parity);
            if (!hotter && !GLASS_COLDER(t, parity))
                continue;
            const uint a = hotter ? slot - GLASS_COPIES : slot;
            const uint sum =
                glass_count_two(planes, GLASS_COUNT_LANES, GLASS_COUNT_LEVELS, o / 16, bit);
            const uint one = sum & 0xffffu, two = sum >> 16;
            const float slope = slopes[lattice / words.x * (GLASS_T) + t - hotter];
            __global uint *vote = of + 32 * a + bit;
            const uint one_more = mark + (hotter ? one : 0u - one);
            const uint two_more = mark + (hotter ? two : 0u - two);
            const uint one_sum = atomic_add(vote, one_more) + one_more;
            const uint two_sum = atomic_add(vote + 16, two_more) + two_more;
            /* two groups, or twice one, have a pair */
            glass_tally(vote, one_sum, 2, slope, p, bit, sweep + sweeps, a, mask);
            glass_tally(vote + 16, two_sum, 2, slope, p, bit + 16, sweep + sweeps, a, mask);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
#endif
