/*
 * Spins on graphs, many sweeps a launch, in local memory. A work-group has GRAPH_LANES chains, a
 * byte for each spin, [slot][chain]. A colour is updated in two steps with a barrier after each:
 * forces, a work-item for a vertex and four chains; decisions, a work-item for four vertices that
 * share a counter and one chain. With levels of costs (graph_levels.h) forces are counts of
 * neighbours, of four chains in a word.
 *
 * An update costs then 1/4 of (its neighbours' indices and spins and their addition), some 80 / 4
 * instructions of Philox, and 10 of the decision.
 *
 * Compile-time: graph_chains.h; GRAPH_LANES, a power of two, 4 and more, that divides the group;
 * GRAPH_LEVELS, the most neighbours of a vertex, or 0 without levels; GRAPH_HEAT (heat bath).
 */
#include "spin_lattice/graph_levels.h"
#include "spin_lattice/graph_chains.h"

#define GRAPH_WORDS (GRAPH_LANES / 4)

#if GRAPH_LEVELS
/* Counts of neighbours of four chains, as 2 c - d + 128; 0 if there are none. */
ERGO_INLINE uint graph_counts(__local const uint *own, uint word, struct graph_head head,
                              __global const ushort4 *to) {
    uint sum = GRAPH_NEGATIVE(head) * 0x01010101u;
    for (uint k = 0; k < GRAPH_PLUS(head); k++)
        sum += own[to[k].x * GRAPH_WORDS + word] + own[to[k].y * GRAPH_WORDS + word] +
               own[to[k].z * GRAPH_WORDS + word] + own[to[k].w * GRAPH_WORDS + word];
    to += GRAPH_PLUS(head);
    for (uint k = 0; k < GRAPH_MINUS(head); k++)
        sum -= own[to[k].x * GRAPH_WORDS + word] + own[to[k].y * GRAPH_WORDS + word] +
               own[to[k].z * GRAPH_WORDS + word] + own[to[k].w * GRAPH_WORDS + word];
    return GRAPH_NEIGHBOURS(head) == 0
               ? 0
               : 2 * sum + (uint)(128 - GRAPH_NEIGHBOURS(head)) * 0x01010101u;
}
#else
/* Adds a coupling where its neighbour is up. */
ERGO_INLINE int4 graph_add(int4 sum, uint four, int j) {
    return sum +
           (int4)((int)(four & 1), (int)(four >> 8 & 1), (int)(four >> 16 & 1), (int)(four >> 24)) *
               j;
}

/* Forces of four chains. */
ERGO_INLINE int4 graph_forces(__local const uint *own, uint word, struct graph_head head,
                              __global const ushort4 *to, __global const int4 *values, int base) {
    int4 sum = (int4)(0);
    for (uint k = 0; k < GRAPH_PLUS(head); k++) {
        const int4 j = values[k];
        sum = graph_add(sum, own[to[k].x * GRAPH_WORDS + word], j.x);
        sum = graph_add(sum, own[to[k].y * GRAPH_WORDS + word], j.y);
        sum = graph_add(sum, own[to[k].z * GRAPH_WORDS + word], j.z);
        sum = graph_add(sum, own[to[k].w * GRAPH_WORDS + word], j.w);
    }
    return base + 2 * sum;
}
#endif

/* values: couplings, without levels. colours: first slot and number of vertices. tables:
 * [table_of[row] + stage][levels]. own: rows (GRAPH_ROWS), then counts or forces of a colour. */
__kernel void graph_local(__global uchar *spins, __global const ushort4 *restrict lists,
                          __global const int4 *restrict values,
                          __global const struct graph_head *restrict heads,
                          __global const int2 *restrict terms, __global const uint2 *colours,
                          __global const uint *tables, __global const uint *table_of,
                          __global const struct graph_member *members, __global const uint *places,
                          uint slots, uint n_colours, ulong step, uint sweeps,
                          struct graph_stages stages, __local uint *own) {
    const uint id = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint lane = id % GRAPH_LANES, wanted = (uint)get_group_id(0) * GRAPH_LANES + lane;
    const uint is_chain = (uint)(wanted < GRAPH_CHAINS);
    const uint chain = is_chain ? wanted : GRAPH_CHAINS - 1;
    const uint m = GRAPH_ROW(chain), column = GRAPH_COLUMN(chain);
    const uint key0 = members[m].key0, key1 = members[m].key1;
    __local uchar *mine = (__local uchar *)own;
    __local uint *counts = own + GRAPH_ROWS(slots) * GRAPH_WORDS;
#if GRAPH_LEVELS
    __local uchar *found = (__local uchar *)counts;
#else
    __local int *forces = (__local int *)counts;
#endif
    for (uint i = id; i < GRAPH_ROWS(slots) * GRAPH_LANES; i += size) {
        const uint slot = i / GRAPH_LANES;
        if (slot < slots)
            mine[i] = is_chain ? spins[GRAPH_AT(slot, column)] : (uchar)0;
        else
            mine[i] = (uchar)(slot == GRAPH_ONES(slots));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 0; s < sweeps; s++) {
        const ulong now = step + s;
        __global const uint *table =
            tables + (table_of[m] + graph_stage(stages, now)) * GRAPH_LEVEL_WORDS(GRAPH_LEVELS);
#if GRAPH_LEVELS
        const int certain = (int)table[GRAPH_LEVEL_FIRST(GRAPH_LEVELS)];
#endif
        for (uint c = 0; c < n_colours; c++) {
            const uint first = colours[c].x, count = colours[c].y;
            for (uint i = id; i < count * GRAPH_WORDS; i += size) {
                const uint at = i / GRAPH_WORDS, word = i % GRAPH_WORDS;
                const struct graph_head head = heads[first + at];
#if GRAPH_LEVELS
                counts[i] = graph_counts(own, word, head, lists + head.first);
#else
                vstore4(graph_forces(own, word, head, lists + head.first, values + head.first,
                                     terms[first + at].x),
                        i, forces);
#endif
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = id; i < (count + 3) / 4 * GRAPH_LANES; i += size) {
                const uint quad = i / GRAPH_LANES;
                const struct ergo_words r = graph_words(first / 4 + quad, now, GRAPH_PURPOSE_SWEEP,
                                                        GRAPH_OWN(chain), key0, key1);
                const uint random[4] = {r.x, r.y, r.z, r.w};
                ERGO_UNROLL
                for (uint l = 0; l < 4; l++) {
                    const uint at = 4 * quad + l;
                    if (at >= count)
                        continue;
                    __local uchar *spin = mine + (first + at) * GRAPH_LANES + lane;
#if GRAPH_LEVELS
                    const int asked = found[at * GRAPH_LANES + lane];
                    const int level = asked == 0 ? GRAPH_LEVELS + 1
                                      : *spin    ? asked - 128
                                                 : 128 - asked;
                    *spin ^= (uchar)(level < certain ||
                                     random[l] < table[GRAPH_LEVEL_AT(GRAPH_LEVELS, level)]);
#else
                    *spin ^= (uchar)graph_flips(*spin, forces[at * GRAPH_LANES + lane], random[l],
                                                as_float(table[0]), GRAPH_HEAT,
                                                (uint)GRAPH_NEIGHBOURS(heads[first + at]));
#endif
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (uint i = id; i < slots * GRAPH_LANES && is_chain; i += size)
        spins[GRAPH_AT(i / GRAPH_LANES, column)] = mine[i];
}
