/*
 * Spins on graphs with levels of costs (graph_levels.h): many sweeps a launch, in local memory. A
 * work-group has GRAPH_LANES chains, a byte for each spin, [slot][chain]. A colour is updated in
 * two steps with a barrier after each: counts of neighbours, a work-item for a vertex and four
 * chains; decisions, a work-item for four vertices that share a counter and one chain.
 *
 * An update costs 1/4 of (its neighbours' indices and spins and their addition), some 70 / 4
 * instructions of Philox, and 10 of the decision.
 *
 * Compile-time: graph_chains.h; GRAPH_LANES, a power of two, 4 and more, that divides the group;
 * GRAPH_LEVELS, the most neighbours of a vertex.
 */
#include "spin_lattice/graph_levels.h"
#include "spin_lattice/graph_chains.h"

#define GRAPH_WORDS (GRAPH_LANES / 4)

/* colours: first slot and number of vertices. tables: [table_of[row] + stage][levels]. own: rows
 * (GRAPH_ROWS), then the counts of a colour. */
__kernel void graph_local(__global uchar *spins, __global const ushort4 *restrict lists,
                          __global const struct graph_head *restrict heads,
                          __global const uint2 *colours, __global const uint *tables,
                          __global const uint *table_of,
                          __global const struct graph_member *members, __global const uint *places,
                          uint slots, uint n_colours, ulong step, uint sweeps,
                          struct graph_stages stages, __local uint *own) {
    const uint id = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint lane = id % GRAPH_LANES, wanted = (uint)get_group_id(0) * GRAPH_LANES + lane;
    const uint is_chain = (uint)(wanted < GRAPH_CHAINS);
    const uint chain = is_chain ? wanted : GRAPH_CHAINS - 1;
    const uint m = GRAPH_ROW(chain), column = GRAPH_COLUMN(chain);
    const uint key0 = members[m].key0, key1 = members[m].key1;
    __local uint *counts = own + GRAPH_ROWS(slots) * GRAPH_WORDS;
    __local uchar *mine = (__local uchar *)own, *found = (__local uchar *)counts;
    for (uint i = id; i < GRAPH_ROWS(slots) * GRAPH_LANES; i += size) {
        const uint slot = i / GRAPH_LANES;
        mine[i] = slot < slots ? spins[GRAPH_AT(slot, column)] : (uchar)(slot == GRAPH_ONES(slots));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 0; s < sweeps; s++) {
        const ulong now = step + s;
        __global const uint *table =
            tables + (table_of[m] + graph_stage(stages, now)) * GRAPH_LEVEL_WORDS(GRAPH_LEVELS);
        const int certain = (int)table[GRAPH_LEVEL_FIRST(GRAPH_LEVELS)];
        for (uint c = 0; c < n_colours; c++) {
            const uint first = colours[c].x, count = colours[c].y;
            for (uint i = id; i < count * GRAPH_WORDS; i += size) {
                const uint at = i / GRAPH_WORDS, word = i % GRAPH_WORDS;
                const struct graph_head head = heads[first + at];
                __global const ushort4 *to = lists + head.first;
                uint sum = GRAPH_NEGATIVE(head) * 0x01010101u;
                for (uint k = 0; k < GRAPH_PLUS(head); k++)
                    sum += own[to[k].x * GRAPH_WORDS + word] + own[to[k].y * GRAPH_WORDS + word] +
                           own[to[k].z * GRAPH_WORDS + word] + own[to[k].w * GRAPH_WORDS + word];
                to += GRAPH_PLUS(head);
                for (uint k = 0; k < GRAPH_MINUS(head); k++)
                    sum -= own[to[k].x * GRAPH_WORDS + word] + own[to[k].y * GRAPH_WORDS + word] +
                           own[to[k].z * GRAPH_WORDS + word] + own[to[k].w * GRAPH_WORDS + word];
                /* 2 c - d + 128, of each of the four; 0 if alone */
                counts[i] = GRAPH_NEIGHBOURS(head) == 0
                                ? 0
                                : 2 * sum + (uint)(128 - GRAPH_NEIGHBOURS(head)) * 0x01010101u;
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
                    const int asked = found[at * GRAPH_LANES + lane];
                    const int level = asked == 0 ? GRAPH_LEVELS + 1
                                      : *spin    ? asked - 128
                                                 : 128 - asked;
                    *spin ^= (uchar)(level < certain ||
                                     random[l] < table[GRAPH_LEVEL_AT(GRAPH_LEVELS, level)]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (uint i = id; i < slots * GRAPH_LANES && is_chain; i += size)
        spins[GRAPH_AT(i / GRAPH_LANES, column)] = mine[i];
}
