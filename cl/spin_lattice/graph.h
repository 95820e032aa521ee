/*
 * Spins on any graph: pure functions. Vertices have slots, colour by colour (network.h of the
 * sampler). A sweep updates one colour after the other, all its vertices at once.
 *
 * Layout. A byte for each spin, 0 or 1, [slot][member]: work-items in a row have members in a row,
 * load neighbouring bytes and share the couplings. Per update of a vertex with d neighbours among R
 * members, memory gives and takes 2 bytes of the vertex, the bytes of its neighbours, each once a
 * colour if caches hold them, and (8 d + 16) / R bytes of the graph: 5 bytes where d = 6 and R =
 * 32, a floor of 650 updates/ns at 3.3 TB/s. Decisions cost more: some 80 instructions each.
 *
 * Random numbers. Four slots share a counter, entity = slot / 4, step = sweep, one word each.
 *
 * force = h + sum of J s' of the neighbours = base + 2 (sum of J of those that are up), an integer
 * in the unit of couplings below 2^30.
 */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_H

#include "common/rng.h"
#include "spin_lattice/graph_params.h"
#include "spin_lattice/limit.h"

/* The words of four slots. */
ERGO_INLINE struct ergo_words graph_words(uint quad, ulong step, uint purpose, uint key0,
                                          uint key1) {
    return ergo_philox_words(quad, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, 0), key0,
                             key1);
}

/* Does a spin flip? A vertex without neighbours has no other randomness than its own: with
 * Metropolis it would flip in every sweep. */
ERGO_INLINE uint graph_flips(uint spin, int force, uint random, float scale, uint heat_bath,
                             uint degree) {
    const int cost = spin ? force : -force;
    return (uint)(cost < spin_limit(random, scale, heat_bath | (uint)(degree == 0)));
}

/* 64 bits of a slot, splitmix64 (Steele, Lea, Flood, OOPSLA 2014). The sum over slots that are up
 * marks a configuration. */
ERGO_INLINE ulong graph_mark(uint slot) {
    ulong x = (slot + 1) * 0x9E3779B97F4A7C15UL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9UL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBUL;
    return x ^ (x >> 31);
}

/* Among `n` kept configurations: the place for one with this sum and mark, or GRAPH_NOTHING. It is
 * the first empty one, else the first of the highest energies if that is above. */
#ifdef __OPENCL_VERSION__
#define GRAPH_SPACE __global
#else
#define GRAPH_SPACE
#endif
ERGO_INLINE uint graph_choose(GRAPH_SPACE const struct graph_found *found, uint n, long sum,
                              ulong mark) {
    uint place = 0, known = 0;
    long least = found[0].sum;
    for (uint k = 0u; k < n; k++) {
        const long other = found[k].sum;
        known |= (uint)(other == sum) & (uint)(found[k].mark == mark);
        place = other < least ? k : place;
        least = other < least ? other : least;
    }
    return known || sum <= least ? GRAPH_NOTHING : place;
}

/* What a look adds to the trace. */
ERGO_INLINE uint graph_trace(long sum, ulong mark) {
    return ((uint)sum ^ (uint)mark) * 2 + 1;
}

#endif
