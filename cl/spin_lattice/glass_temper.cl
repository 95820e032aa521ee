/*
 * Spin glasses: parallel tempering. Who exchanges, and the exchange: alone (glass_exchange), or as
 * part of the next sweep (glass_moving_*); the energies that decide come from the last half
 * sweep before it (glass_sweep_counting).
 */
#define GLASS_OWN 6
#include "spin_lattice/glass_count.h"
#include "spin_lattice/glass_ladder.h"

/*
 * Who exchanges: one group per (pair, copy), one work-item per sample. masks[parity][word-lattice]
 * [slot]: the same for both slots of a pair; a slot without one has no bits, from the beginning on.
 * came[word-lattice][slot]: those that have been at the hottest end since they were at the coldest;
 * trips: their arrivals there. energies: [word-lattice][part][slot][32]; without parts
 * counts[word-lattice][slot][32] has them, and becomes zero.
 */
__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void
glass_swap(__global const long *energies, __global uint *counts, __global const float *slopes,
           __global const uint2 *keys, __global uint *masks, __global uint *came,
           __global ulong *accepted, __global ulong *trips, ulong step, uint parity, uint parts,
           uint2 words, uint last) {
    __local uint4 mine[8]; /* a word of each work-item */
    const uint bit = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint lattice = (uint)get_global_id(1), lattices = (uint)get_global_size(1);
    const uint member = lattice / words.x, word = lattice - member * words.x;
    const uint t = 2 * (group / GLASS_COPIES) + parity, copy = group % GLASS_COPIES;
    const uint a = t * GLASS_COPIES + copy, b = a + GLASS_COPIES;
    __global uint *c = came + lattice * GLASS_SLOTS;
    __global ulong *own_accepted = accepted + (ulong)lattice * ((uint)(GLASS_T)*GLASS_COPIES);
    __global ulong *own_trips = trips + lattice * GLASS_COPIES;
    struct glass_book book;
    book.from = book.to = 0;
    book.accepted = book.trips = 0;
    if (bit == 0)
        book = glass_open(c, own_accepted, own_trips, t, copy);
    long worse = 0;
    __global const long *e = energies + (ulong)lattice * parts * (GLASS_SLOTS * 32) + bit;
    if (parts == 0) {
        __global uint *count = counts + (ulong)lattice * (GLASS_SLOTS * 32) + bit;
        worse = (long)count[b * 32] - (long)count[a * 32];
        count[a * 32] = count[b * 32] = 0;
        if (t == 1) /* and of the ends without a partner */
            count[(a - GLASS_COPIES) * 32] = 0;
        if (t + 3 == GLASS_T)
            count[(b + GLASS_COPIES) * 32] = 0;
    }
    for (uint part = 0; part < parts; part++)
        worse += e[(part * GLASS_SLOTS + b) * 32] - e[(part * GLASS_SLOTS + a) * 32];
    ((__local uint *)mine)[bit] = glass_wants(worse, slopes[member * (GLASS_T) + t], words.y + word,
                                              bit, step, a, keys[member]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bit == 0) {
        const uint4 all =
            (mine[0] | mine[1]) | (mine[2] | mine[3]) | (mine[4] | mine[5]) | (mine[6] | mine[7]);
        const uint lanes = GLASS_LANES(word, words.x, last);
        const uint m = (all.x | all.y | all.z | all.w) & lanes;
        __global uint *mask = masks + (parity * lattices + lattice) * GLASS_SLOTS;
        mask[a] = m;
        mask[b] = m;
        glass_note(book, c, own_accepted, own_trips, t, copy, m, lanes);
    }
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
                             uint parity) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    const uint n = GLASS_PAIRS(parity);
    const uint at = parity ? i / (GLASS_PAIRS(1) + !GLASS_PAIRS(1)) : i / GLASS_PAIRS(0);
    if (at >= GLASS_SITES)
        return;
    const uint pair = i - at * n;
    const uint rungs = GLASS_SLOTS / GLASS_COPIES, cold_rung = 2 * pair + parity;
    const glass_copies m = masks[(parity * (uint)get_global_size(1) + lattice) * rungs + cold_rung];
    if (GLASS_NONE(m))
        return;
    __global glass_copies *s = spins + ((ulong)lattice * GLASS_SITES + at) * rungs + cold_rung;
    const glass_copies cold = s[0], hot = s[1], x = (cold ^ hot) & m;
    s[0] = cold ^ x;
    s[1] = hot ^ x;
}

#if !GLASS_REAL
/*
 * Half a sweep that finds configurations where they were before an exchange and leaves them where
 * they are after it: colour 0, when nobody has moved, then colour 1, when colour 0 has. Work-groups
 * have all quads of a site, so that nobody's word changes before all have read. Dimension 0: quad +
 * QUADS * h. A kernel for each colour and parity: all loads are on their way together.
 */
#define GLASS_MOVING(NAME, COLOUR, PARITY)                                                         \
    __kernel void NAME(__global uint4 *spins, __global const uint *couplings,                      \
                       __global const uint4 *tables, __global const uint2 *keys, ulong sweep,      \
                       uint2 words, uint last, __global const uint4 *masks) {                      \
        const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);                   \
        const uint here = i < GLASS_HALF * GLASS_QUADS; /* others: the group's first site */       \
        const uint h = (here ? i : (uint)get_group_id(0) * (uint)get_local_size(0)) / GLASS_QUADS; \
        const uint quad = i % GLASS_QUADS;                                                         \
        const struct glass_place p =                                                               \
            glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);               \
        const uint4 mask =                                                                         \
            masks[((PARITY) * (uint)get_global_size(1) + lattice) * GLASS_QUADS + quad];           \
        const struct glass_at a = glass_site(h, COLOUR);                                           \
        const uint own_at = (COLOUR)*GLASS_HALF + h;                                               \
        __global uint4 *here_spins = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;  \
        __global uint4 *mine = here_spins + own_at * GLASS_QUADS;                                  \
        __global const uint4 *other = here_spins + (1 - (COLOUR)) * GLASS_HALF * GLASS_QUADS;      \
        const uint4 own = glass_moved(mine, quad, quad > 0, mask, PARITY);                         \
        uint4 x[6];                                                                                \
        ERGO_UNROLL                                                                                \
        for (uint d = 0; d < GLASS_Z; d++) {                                                       \
            __global const uint4 *near = other + a.near[d] * GLASS_QUADS;                          \
            /* of colour 1 what is before is of the buffer, whatever it is */                      \
            x[d] = own ^ ((COLOUR) ? near[0] : glass_moved(near, quad, 1, mask, PARITY));          \
        }                                                                                          \
        const struct glass_decision decision = glass_decide(x, p, a.site, own_at);                 \
        if (GLASS_COPIES == 4 || (PARITY)) /* partners are in other quads */                       \
            barrier(CLK_GLOBAL_MEM_FENCE);                                                         \
        if (here)                                                                                  \
            mine[0] = own ^ decision.flip;                                                         \
    }
GLASS_MOVING(glass_moving_00, 0, 0)
GLASS_MOVING(glass_moving_01, 0, 1)
GLASS_MOVING(glass_moving_10, 1, 0)
GLASS_MOVING(glass_moving_11, 1, 1)

GLASS_UPDATE(glass_update_global, __global, GLASS_QUADS)

#define GLASS_COUNT_LANES (1u << GLASS_COUNT_LEVELS)
#define GLASS_COUNT_GROUP (GLASS_QUADS * GLASS_COUNT_LANES)

/*
 * Half a sweep of colour 1, and the unsatisfied bonds afterwards, each of which has one end there,
 * added to counts[word-lattice][slot][32]. Dimension 0: groups of GLASS_COUNT_GROUP, item = lane *
 * QUADS + quad; lanes take `each` sites (at most 10) in turns.
 */
__kernel void glass_sweep_counting(__global uint4 *spins, __global const uint *couplings,
                                   __global const uint4 *tables, __global const uint2 *keys,
                                   ulong sweep, uint2 words, uint last, __global uint *counts,
                                   uint each, __local uint4 *planes) {
    const uint item = (uint)get_local_id(0), lattice = (uint)get_global_id(1);
    const uint lane = item / GLASS_QUADS, quad = item - lane * GLASS_QUADS;
    const uint first = (uint)get_group_id(0) * (each * GLASS_COUNT_LANES) + lane;
    const struct glass_place p =
        glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __global uint4 *mine = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    __global uint *out = counts + (ulong)lattice * (GLASS_SLOTS * 32);
    struct glass_counter counter = glass_count_zero();
    for (uint i = 0; i < each; i++) {
        const uint h = first + i * GLASS_COUNT_LANES;
        if (h < GLASS_HALF) {
            const struct glass_decision d = glass_update_global(mine, p, 1, h);
            counter = glass_count_one(counter, glass_after(d.sum, d.flip));
        }
    }
    glass_count_sum(counter, planes, item, GLASS_COUNT_GROUP, GLASS_COUNT_LEVELS, GLASS_QUADS);
    for (uint o = item; o < 32 * GLASS_QUADS; o += GLASS_COUNT_GROUP) {
        __global uint *to = out + o / 8 * 32 + (o & 7u);
        const uint4 sum =
            glass_count_four(planes, GLASS_COUNT_GROUP, GLASS_COUNT_LEVELS, o / 8, o & 7u);
        atomic_add(&to[0], sum.x);
        atomic_add(&to[8], sum.y);
        atomic_add(&to[16], sum.z);
        atomic_add(&to[24], sum.w);
    }
}
#endif
