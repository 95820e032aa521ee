/*
 * Spins on any graph: pure functions. Vertices have slots, colour by colour (network.h of the
 * sampler). A sweep updates one colour after the other, all its vertices at once.
 *
 * A member of a batch has one chain; or those of a ladder, [temperature][copy]; or a population.
 *
 * Layout. A byte for each spin, 0 or 1, [slot][column]: work-items in a row have chains in a row,
 * load neighbouring bytes and share the couplings. Per update of a vertex with d neighbours among R
 * chains, memory gives and takes 2 bytes of the vertex, the bytes of its neighbours, each once a
 * colour if caches hold them, and (8 d + 16) / R bytes of the graph: 5 bytes where d = 6 and R =
 * 32, a floor of 650 updates/ns at 3.3 TB/s. Decisions cost more: some 80 instructions each.
 *
 * Random numbers. Four slots share a counter, entity = slot / 4, step = sweep, draw = the chain's
 * number in its member, one word each.
 *
 * force = h + sum of J s' of the neighbours = base + 2 (sum of J of those that are up), an integer
 * in the unit of couplings below 2^30.
 */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_H

#include "common/comb.h"
#include "common/exp.h"
#include "common/ladder.h"
#include "common/rng.h"
#include "spin_lattice/graph_params.h"
#include "spin_lattice/limit.h"

/* The words of four slots of a member's chain number `own`. */
ERGO_INLINE struct ergo_words graph_words(uint quad, ulong step, uint purpose, uint own, uint key0,
                                          uint key1) {
    return ergo_philox_words(quad, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, own), key0,
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

/* Do chains with these sums exchange? An exchange is named by the colder one's number `own`; slope:
 * of its temperature. */
ERGO_INLINE uint graph_exchange(long cold, long hot, float slope, uint own, ulong step, uint key0,
                                uint key1) {
    return ergo_ladder_decides(cold - hot, slope, 0, step, ERGO_DRAW(GRAPH_PURPOSE_SWAP, own), key0,
                               key1);
}

/* Of two copies at temperature number `rung`, which differ at `count` vertices: where among them,
 * in the order of slots, a cluster begins. */
ERGO_INLINE uint graph_seed(uint count, ulong step, uint rung, uint key0, uint key1) {
    return ergo_below(graph_words(0, step, GRAPH_PURPOSE_CLUSTER, rung, key0, key1).x, count);
}

/* The weight of a member of a population, exp(-(1/T' - 1/T)(E - lowest E)); slope: the difference
 * of 1/T, per unit of sums. */
ERGO_INLINE ulong graph_weight(long sum, long best, float slope) {
    const float x = (float)(sum - best) * slope;
    const float bound = x < -80.0f ? -80.0f : x;
    return (ulong)(ergo_exp(bound) * (float)(1u << GRAPH_WEIGHT_BITS) + 0.5f);
}

/* The random word of a comb. */
ERGO_INLINE uint graph_comb_word(ulong step, uint key0, uint key1) {
    return graph_words(0, step, GRAPH_PURPOSE_COMB, 0, key0, key1).x;
}

#endif
