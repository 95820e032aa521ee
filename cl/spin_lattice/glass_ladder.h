/* Spin glasses: functions that the kernels of parallel tempering share. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_LADDER_H
#define ERGO_CL_SPIN_LATTICE_GLASS_LADDER_H

#include "common/ladder.h"
#include "spin_lattice/glass_update.h"

/* Of the temperatures here: the pairs of a parity; is t the colder one of a pair? */
#define GLASS_PAIRS(parity) ergo_ladder_pairs(GLASS_T, parity)
#define GLASS_COLDER(t, parity) ergo_ladder_colder(t, GLASS_T, parity)
#define GLASS_SLOTS (4 * GLASS_QUADS)

/* Does sample `bit` of a word exchange slot a with the hotter one? Returns this bit, or 0. */
ERGO_INLINE uint glass_wants(long worse, float slope, uint word, uint bit, ulong step, uint a,
                             uint2 key) {
    return ergo_ladder_decides(worse, slope, 32 * word + bit, step,
                               ERGO_DRAW(GLASS_PURPOSE_SWAP, 4 * GLASS_QUADS_BEFORE + a), key.x,
                               key.y)
           << bit;
}

/* The records of exchanges between slot a = (t, copy) and the slot b above it, of a word-lattice.
 * All are read before any is written, so that the loads overlap. */
struct glass_pair_record {
    uint from, to;
    ulong accepted, trips;
    uint4 low, more; /* the first planes of `moves` */
};

/* moves[word-lattice][row][32 planes]: how often each sample has exchanged since the host took the
 * counts. Rows are the colder slots, then (from GLASS_TRIPS on) round trips of the copies. Carries
 * seldom go beyond the first eight planes, which have been read. */
#define GLASS_MOVES 8 /* vectors of four planes */
#define GLASS_TRIPS ((uint)(GLASS_T)*GLASS_COPIES)
#define GLASS_ROWS (GLASS_TRIPS + GLASS_COPIES)
#define GLASS_UP(plane)                                                                            \
    {                                                                                              \
        const uint out = (plane)&carry;                                                            \
        (plane) ^= carry;                                                                          \
        carry = out;                                                                               \
    }
#define GLASS_UP_FOUR(v) GLASS_UP((v).x) GLASS_UP((v).y) GLASS_UP((v).z) GLASS_UP((v).w)
ERGO_INLINE void glass_count_moves(__global uint4 *planes, uint4 low, uint4 more, uint carry) {
    GLASS_UP_FOUR(low)
    GLASS_UP_FOUR(more)
    planes[0] = low;
    planes[1] = more;
    for (uint k = 2; k < GLASS_MOVES && carry; k++) {
        uint4 v = planes[k];
        GLASS_UP_FOUR(v)
        planes[k] = v;
    }
}

ERGO_INLINE struct glass_pair_record
glass_pair_read(__global const uint *from_hot, __global const ulong *accepted,
                __global const ulong *trips, __global const uint4 *moves, uint t, uint copy) {
    struct glass_pair_record record;
    const uint a = t * GLASS_COPIES + copy;
    record.from = from_hot[a];
    record.to = from_hot[a + GLASS_COPIES];
    record.accepted = accepted[a];
    /* for other t another work-item may be writing it */
    record.trips = GLASS_RUNG + t == 0 ? trips[copy] : 0;
    record.low = moves[a * GLASS_MOVES];
    record.more = moves[a * GLASS_MOVES + 1];
    return record;
}

/* The samples in m exchange. */
ERGO_INLINE void glass_pair_write(struct glass_pair_record record, __global uint *from_hot,
                                  __global ulong *accepted, __global ulong *trips,
                                  __global uint4 *moves, uint t, uint copy, uint m, uint lanes) {
    const uint a = t * GLASS_COPIES + copy;
    const uint arrived =
        ergo_ladder_walk(&record.from, &record.to, m, lanes, GLASS_RUNG + t, GLASS_RUNGS);
    if (GLASS_RUNG + t == 0) {
        __global uint4 *own = moves + (GLASS_TRIPS + copy) * GLASS_MOVES;
        trips[copy] = record.trips + ERGO_POPCOUNT(arrived);
        glass_count_moves(own, own[0], own[1], arrived);
    }
    glass_count_moves(moves + a * GLASS_MOVES, record.low, record.more, m);
    from_hot[a] = record.from;
    from_hot[a + GLASS_COPIES] = record.to;
    accepted[a] = record.accepted + ERGO_POPCOUNT(m);
}

#endif
