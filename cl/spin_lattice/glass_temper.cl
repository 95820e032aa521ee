/*
 * Spin glasses: parallel tempering between launches of sweeps. glass_energy has counted the
 * energies. glass_swap decides which samples exchange, and glass_exchange moves their
 * configurations. (glass_local.cl has whole ladders in a work-group.)
 *
 * masks[parity][word-lattice][slot]: the samples that exchange, the same for both slots of a pair;
 * a slot without a pair has no bits. from_hot[word-lattice][slot]: the samples that were at the
 * hottest end more recently than at the coldest. trips: how many of these have arrived at the
 * coldest end.
 */
#include "spin_lattice/glass_ladder.h"

/* One group per (pair, copy), one work-item per sample. energies: [word-lattice][part][slot][32].
 */
__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void
glass_swap(__global const long *energies, __global const float *slopes, __global const uint2 *keys,
           __global uint *masks, ulong step, uint parity, uint parts, uint2 words, uint last) {
    __local uint4 mine[8]; /* one word per work-item */
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

/* Work-item i of a word-lattice updates the records of one pair. mask: of the word-lattice. */
#define GLASS_KEPT(parity) (GLASS_PAIRS(parity) * GLASS_COPIES)
ERGO_INLINE void glass_keep(uint i, uint parity, uint lattice, __global const uint *mask,
                            __global uint *from_hot, __global ulong *accepted,
                            __global ulong *trips, __global uint4 *moves, uint lanes) {
    const uint t = 2 * (i / GLASS_COPIES) + parity, copy = i % GLASS_COPIES;
    __global uint *c = from_hot + lattice * GLASS_SLOTS;
    __global ulong *own_accepted = accepted + (ulong)lattice * ((uint)(GLASS_T)*GLASS_COPIES);
    __global ulong *own_trips = trips + lattice * GLASS_COPIES;
    __global uint4 *own_moves = moves + lattice * (GLASS_ROWS * GLASS_MOVES);
    glass_pair_write(glass_pair_read(c, own_accepted, own_trips, own_moves, t, copy), c,
                     own_accepted, own_trips, own_moves, t, copy, mask[t * GLASS_COPIES + copy],
                     lanes);
}

/* All copies of a temperature as one vector. */
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

/* Exchange the configurations. Dimension 0: pair + PAIRS * site. */
__kernel void glass_exchange(__global glass_copies *spins, __global const glass_copies *masks,
                             __global uint *from_hot, __global ulong *accepted,
                             __global ulong *trips, __global uint4 *moves, uint parity, uint2 words,
                             uint last) {
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
        glass_keep(i, parity, lattice, (__global const uint *)mask, from_hot, accepted, trips,
                   moves, GLASS_LANES(lattice % words.x, words.x, last));
    const glass_copies m = mask[cold_rung];
    if (GLASS_NONE(m))
        return;
    __global glass_copies *s = spins + ((ulong)lattice * GLASS_SITES + at) * rungs + cold_rung;
    const glass_copies cold = s[0], hot = s[1], x = (cold ^ hot) & m;
    s[0] = cold ^ x;
    s[1] = hot ^ x;
}
