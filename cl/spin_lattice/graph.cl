/*
 * Spins on any graph, [slot][column], a byte each (graph.h).
 *
 * Compile-time: graph_chains.h; GRAPH_HEAT (heat bath), GRAPH_KEEP (configurations kept),
 * GRAPH_DEGREE (of every vertex; 0: they differ).
 */
#include "common/sum64.h"
#include "spin_lattice/graph.h"
#include "spin_lattice/graph_chains.h"

/* base + 2 (sum of J of neighbours that are up) */
ERGO_INLINE int graph_force(__global const uchar *spins, __global const int2 *bonds, uint begin,
                            uint end, int base, uint column) {
    int sum = 0;
#if GRAPH_DEGREE
    ERGO_UNROLL
    for (uint k = 0; k < GRAPH_DEGREE; k++)
        sum += bonds[begin + k].y * (int)spins[GRAPH_AT((uint)bonds[begin + k].x, column)];
#else
    for (uint k = begin; k < end; k++)
        sum += bonds[k].y * (int)spins[GRAPH_AT((uint)bonds[k].x, column)];
#endif
    return base + 2 * sum;
}

/* Slots from 4 quad to end - 1, of one colour. Dimension 0: four slots of a chain, chains fastest.
 * terms: base and field of slots. factor: of the temperature, at this step. */
__kernel void graph_sweep(__global uchar *spins, __global const uint *first,
                          __global const int2 *bonds, __global const int2 *terms,
                          __global const struct graph_member *members, __global const uint *places,
                          uint quad, uint end, ulong step, float factor) {
    const uint item = (uint)get_global_id(0);
    const uint of = item / GRAPH_CHAINS, chain = item - of * GRAPH_CHAINS;
    const uint slot = 4 * (quad + of);
    if (slot >= end)
        return;
    const uint m = GRAPH_ROW(chain), column = GRAPH_COLUMN(chain);
    const struct ergo_words r = graph_words(quad + of, step, GRAPH_PURPOSE_SWEEP, GRAPH_OWN(chain),
                                            members[m].key0, members[m].key1);
    const uint random[4] = {r.x, r.y, r.z, r.w};
    const float scale = members[m].scale * factor;
    uint flips = 0;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        if (slot + l >= end)
            continue;
        const uint begin = first[slot + l], next = first[slot + l + 1];
        const int force = graph_force(spins, bonds, begin, next, terms[slot + l].x, column);
        flips |= graph_flips(spins[GRAPH_AT(slot + l, column)], force, random[l], scale, GRAPH_HEAT,
                             next - begin)
                 << l;
    }
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        if (flips >> l & 1)
            spins[GRAPH_AT(slot + l, column)] ^= 1;
}

/* mode: 0 all down, 1 all up, 2 random. A chain's column is its own at the start. Dimension 0: as
 * graph_sweep, of all slots. */
__kernel void graph_start(__global uchar *spins, __global const uint *vertices,
                          __global const struct graph_member *members, uint mode, uint slots) {
    const uint item = (uint)get_global_id(0);
    const uint of = item / GRAPH_CHAINS, chain = item - of * GRAPH_CHAINS, m = GRAPH_ROW(chain);
    if (4 * of >= slots)
        return;
    const struct ergo_words r =
        graph_words(of, 0, GRAPH_PURPOSE_START, GRAPH_OWN(chain), members[m].key0, members[m].key1);
    const uint random[4] = {r.x, r.y, r.z, r.w};
    for (uint l = 0; l < 4; l++)
        spins[GRAPH_AT(4 * of + l, chain)] = vertices[4 * of + l] == 0xffffffffu ? 0
                                             : mode == 2                         ? random[l] >> 31
                                                                                 : mode;
}

/*
 * counts[sample][chain]. Dimension 0: slots from stripe on, `stripes` apart, of a chain, chains
 * fastest. own: sums of a group, of each of its chains.
 */
__kernel void graph_measure(__global const uchar *spins, __global const uint *first,
                            __global const int2 *bonds, __global const int2 *terms,
                            __global const uint *vertices, __global const uint *places,
                            __global uint *counts, uint sample, uint stripes, uint slots,
                            __local uint *own) {
    const uint item = (uint)get_global_id(0), local_item = (uint)get_local_id(0);
    const uint size = (uint)get_local_size(0), begin_item = item - local_item;
    const uint stripe = item / GRAPH_CHAINS, chain = item - stripe * GRAPH_CHAINS;
    const uint rows = GRAPH_CHAINS < size ? GRAPH_CHAINS : size, column = GRAPH_COLUMN(chain);
    for (uint i = local_item; i < rows * GRAPH_NUMBERS; i += size)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    long sum = 0;
    ulong mark = 0;
    uint up = 0;
    for (uint slot = stripe; slot < slots && stripe < stripes; slot += stripes) {
        if (vertices[slot] == 0xffffffffu)
            continue;
        const int2 t = terms[slot];
        const int both = t.y + graph_force(spins, bonds, first[slot], first[slot + 1], t.x, column);
        const uint spin = spins[GRAPH_AT(slot, column)];
        sum += spin ? both : -both;
        mark += spin ? graph_mark(slot) : 0;
        up += spin;
    }
    __local uint *to = own + (GRAPH_CHAINS < size ? chain : local_item) * GRAPH_NUMBERS;
    ERGO_ADD_LONG(to + GRAPH_SUM, (uint)sum, (uint)((ulong)sum >> 32));
    ERGO_ADD_LONG(to + GRAPH_MARK, (uint)mark, (uint)(mark >> 32));
    atomic_add(to + GRAPH_UP, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = local_item; i < rows; i += size) {
        const uint of = GRAPH_CHAINS < size ? i : (begin_item + i) % GRAPH_CHAINS;
        __local const uint *from = own + i * GRAPH_NUMBERS;
        __global uint *out = counts + ((ulong)sample * GRAPH_CHAINS + of) * GRAPH_NUMBERS;
        ERGO_ADD_LONG(out + GRAPH_SUM, from[GRAPH_SUM], from[GRAPH_SUM + 1]);
        ERGO_ADD_LONG(out + GRAPH_MARK, from[GRAPH_MARK], from[GRAPH_MARK + 1]);
        atomic_add(out + GRAPH_UP, from[GRAPH_UP]);
    }
}

/* Where a configuration is kept, after `step` sweeps; of members with one chain. numbers: of
 * graph_measure, zeroed for the next time. Dimension 0: members. */
__kernel void graph_look(__global uint *numbers, __global const struct graph_member *members,
                         __global struct graph_found *found, __global ulong *hits,
                         __global uint *looks, ulong step) {
    const uint m = (uint)get_global_id(0);
    if (m >= GRAPH_MEMBERS)
        return;
    __global uint *own = numbers + (ulong)m * GRAPH_NUMBERS;
    __global uint *look = looks + m * GRAPH_KEEP;
    __global struct graph_found *kept = found + (ulong)m * GRAPH_KEEP;
    const long sum = graph_long(own + GRAPH_SUM);
    const ulong mark = (ulong)graph_long(own + GRAPH_MARK);
    const uint place = graph_choose(kept, GRAPH_KEEP, sum, mark);
    for (uint i = 0; i < GRAPH_NUMBERS; i++)
        own[i] = 0;
    for (uint k = 0; k < GRAPH_KEEP; k++)
        look[k] = k == place ? 0 : GRAPH_NOTHING;
    if (place != GRAPH_NOTHING) {
        kept[place].sum = sum;
        kept[place].mark = mark;
        kept[place].step = step;
    }
    if (sum >= members[m].goal && hits[m] == GRAPH_NEVER)
        hits[m] = step;
}

/* kept[place][slot][member]. Dimension 0: slots from stripe on, `stripes` apart, of a member,
 * members fastest. */
__kernel void graph_keep(__global const uchar *spins, __global const uint *places,
                         __global const uint *looks, __global uchar *kept, uint stripes,
                         uint slots) {
    const uint item = (uint)get_global_id(0);
    const uint stripe = item / GRAPH_MEMBERS, m = item - stripe * GRAPH_MEMBERS;
    if (stripe >= stripes)
        return;
    __global const uint *look = looks + m * GRAPH_KEEP;
    for (uint place = 0; place < GRAPH_KEEP; place++) {
        const uint own = look[place];
        if (own == GRAPH_NOTHING)
            continue;
        const uint chain = m * GRAPH_WIDTH + own, column = GRAPH_COLUMN(chain);
        __global uchar *to = kept + (ulong)place * slots * GRAPH_MEMBERS;
        for (uint slot = stripe; slot < slots; slot += stripes)
            to[(GRAPH_INDEX)slot * GRAPH_MEMBERS + m] = spins[GRAPH_AT(slot, column)];
    }
}

/* Spins of one member as bits, lowest first: those of its chains, then of the configurations kept,
 * rows of as many words each. Dimension 0: words. */
__kernel void graph_pack(__global const uchar *spins, __global const uint *places,
                         __global const uchar *kept, __global uint *packed, uint m, uint slots) {
    const uint words = (slots + 31) / 32;
    const uint item = (uint)get_global_id(0), row = item / words;
    const uint first = 32 * (item - row * words);
    if (row >= GRAPH_WIDTH + GRAPH_KEEP)
        return;
    const uint chain = m * GRAPH_WIDTH + min(row, GRAPH_WIDTH - 1), column = GRAPH_COLUMN(chain);
    __global const uchar *from = GRAPH_KEPT_ROW(kept);
    uint word = 0;
    for (uint l = 0; l < 32 && first + l < slots; l++)
        word |= (uint)(row < GRAPH_WIDTH ? spins[GRAPH_AT(first + l, column)]
                                         : from[(GRAPH_INDEX)(first + l) * GRAPH_MEMBERS + m])
                << l;
    packed[item] = word;
}

/* The reverse. A chain's column is its own then. */
__kernel void graph_unpack(__global uchar *spins, __global uchar *kept, __global const uint *packed,
                           uint m, uint slots) {
    const uint words = (slots + 31) / 32;
    const uint item = (uint)get_global_id(0), row = item / words;
    const uint first = 32 * (item - row * words);
    if (row >= GRAPH_WIDTH + GRAPH_KEEP)
        return;
    __global uchar *to = GRAPH_KEPT_ROW(kept);
    const uint word = packed[item];
    for (uint l = 0; l < 32 && first + l < slots; l++)
        if (row < GRAPH_WIDTH)
            spins[GRAPH_AT(first + l, m * GRAPH_WIDTH + row)] = word >> l & 1;
        else
            to[(GRAPH_INDEX)(first + l) * GRAPH_MEMBERS + m] = word >> l & 1;
}
