/*
 * Exchanges of a ladder whose rungs are members of a batch, one after the other, the coldest first
 * (src/engine/temper.h). Two kernels: one decides, from what the model's measurement has counted;
 * one exchanges the configurations of those pairs. Parameters and random streams stay.
 */
#include "common/ladder.h"

/*
 * Dimension 0: pairs of this parity, ladder by ladder. counts: `words` of each member. terms:
 * ERGO_LADDER_TERMS of each ladder. came: of each member, was its configuration at the hottest rung
 * more recently than at the coldest? moves: accepted exchanges with the next rung; at the hottest
 * one round trips. decisions: of the colder member of each pair.
 */
__kernel void ladder_decide(__global const uint *counts,
                            __global const struct ergo_ladder_term *terms,
                            __global const struct ergo_ladder_rung *rungs, __global uint *came,
                            __global ulong *moves, __global uint *decisions, uint words,
                            uint ladders, uint length, uint parity, ulong step) {
    const uint pairs = ergo_ladder_pairs(length, parity), item = (uint)get_global_id(0);
    if (item >= ladders * pairs)
        return;
    const uint ladder = item / pairs, t = 2 * (item - ladder * pairs) + parity;
    const uint member = ladder * length + t;
    __global const uint *cold = counts + (ulong)member * words;
    const float worse = ergo_ladder_worse(cold, cold + words, terms + ladder * ERGO_LADDER_TERMS);
    const uint accepted = ergo_ladder_exchanges(worse, t, step, rungs + member);
    uint here = came[member], next = came[member + 1];
    const uint trip = ergo_ladder_walk(&here, &next, accepted, 1u, t, length);
    if (t == 0) /* alone writes there */
        moves[member + length - 1] += trip;
    moves[member] += accepted;
    came[member] = here;
    came[member + 1] = next;
    decisions[member] = accepted;
}

/* Dimension 0: words of a configuration; 1: pairs, ladder by ladder. */
__kernel void ladder_exchange(__global uint *spins, __global const uint *decisions, ulong words,
                              uint length, uint parity) {
    const uint pairs = ergo_ladder_pairs(length, parity), pair = (uint)get_global_id(1);
    const uint ladder = pair / pairs, t = 2 * (pair - ladder * pairs) + parity;
    const ulong member = ladder * length + t, at = get_global_id(0);
    if (at >= words || !decisions[member])
        return;
    __global uint *cold = spins + member * words + at, *hot = cold + words;
    const uint held = *cold;
    *cold = *hot;
    *hot = held;
}
