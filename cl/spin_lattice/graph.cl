/*
 * Spins on any graph, [slot][member], a byte each (graph.h).
 *
 * Compile-time: GRAPH_MEMBERS, GRAPH_HEAT (heat bath), GRAPH_KEEP (configurations kept),
 * GRAPH_DEGREE (of every vertex; 0: they differ), GRAPH_INDEX (uint, or ulong where there are 2^32
 * spins).
 */
#include "common/sum64.h"
#include "spin_lattice/graph.h"

#define GRAPH_AT(slot) ((GRAPH_INDEX)(slot)*GRAPH_MEMBERS + m)

/* base + 2 (sum of J of neighbours that are up) */
ERGO_INLINE int graph_force(__global const uchar *spins, __global const int2 *bonds, uint begin,
                            uint end, int base, uint m) {
    int sum = 0;
#if GRAPH_DEGREE
    ERGO_UNROLL
    for (uint k = 0; k < GRAPH_DEGREE; k++)
        sum += bonds[begin + k].y * (int)spins[GRAPH_AT((uint)bonds[begin + k].x)];
#else
    for (uint k = begin; k < end; k++)
        sum += bonds[k].y * (int)spins[GRAPH_AT((uint)bonds[k].x)];
#endif
    return base + 2 * sum;
}

/* Slots from 4 quad to end - 1, of one colour. Dimension 0: four slots of a member, members
 * fastest. terms: base and field of slots. factor: of the temperature, at this step. */
__kernel void graph_sweep(__global uchar *spins, __global const uint *first,
                          __global const int2 *bonds, __global const int2 *terms,
                          __global const struct graph_member *members, uint quad, uint end,
                          ulong step, float factor) {
    const uint item = (uint)get_global_id(0);
    const uint of = item / GRAPH_MEMBERS, m = item - of * GRAPH_MEMBERS;
    const uint slot = 4 * (quad + of);
    if (slot >= end)
        return;
    const struct ergo_words r =
        graph_words(quad + of, step, GRAPH_PURPOSE_SWEEP, members[m].key0, members[m].key1);
    const uint random[4] = {r.x, r.y, r.z, r.w};
    const float scale = members[m].scale * factor;
    uint flips = 0;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        if (slot + l >= end)
            continue;
        const uint begin = first[slot + l], next = first[slot + l + 1];
        const int force = graph_force(spins, bonds, begin, next, terms[slot + l].x, m);
        flips |= graph_flips(spins[GRAPH_AT(slot + l)], force, random[l], scale, GRAPH_HEAT,
                             next - begin)
                 << l;
    }
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++)
        if (flips >> l & 1)
            spins[GRAPH_AT(slot + l)] ^= 1;
}

/* mode: 0 all down, 1 all up, 2 random. Dimension 0: as graph_sweep, of all slots. */
__kernel void graph_start(__global uchar *spins, __global const uint *vertices,
                          __global const struct graph_member *members, uint mode, uint slots) {
    const uint item = (uint)get_global_id(0);
    const uint of = item / GRAPH_MEMBERS, m = item - of * GRAPH_MEMBERS;
    if (4 * of >= slots)
        return;
    const struct ergo_words r =
        graph_words(of, 0, GRAPH_PURPOSE_START, members[m].key0, members[m].key1);
    const uint random[4] = {r.x, r.y, r.z, r.w};
    for (uint l = 0; l < 4; l++)
        spins[GRAPH_AT(4 * of + l)] = vertices[4 * of + l] == 0xffffffffu ? 0
                                      : mode == 2                         ? random[l] >> 31
                                                                          : mode;
}

/*
 * counts[sample][member]. Dimension 0: slots from stripe on, `stripes` apart, of a member, members
 * fastest. own: sums of a group, of each of its members.
 */
__kernel void graph_measure(__global const uchar *spins, __global const uint *first,
                            __global const int2 *bonds, __global const int2 *terms,
                            __global const uint *vertices, __global uint *counts, uint sample,
                            uint stripes, uint slots, __local uint *own) {
    const uint item = (uint)get_global_id(0), local_item = (uint)get_local_id(0);
    const uint size = (uint)get_local_size(0), begin_item = item - local_item;
    const uint stripe = item / GRAPH_MEMBERS, m = item - stripe * GRAPH_MEMBERS;
    const uint rows = GRAPH_MEMBERS < size ? GRAPH_MEMBERS : size;
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
        const int both = t.y + graph_force(spins, bonds, first[slot], first[slot + 1], t.x, m);
        const uint spin = spins[GRAPH_AT(slot)];
        sum += spin ? both : -both;
        mark += spin ? graph_mark(slot) : 0;
        up += spin;
    }
    __local uint *to = own + (GRAPH_MEMBERS < size ? m : local_item) * GRAPH_NUMBERS;
    ERGO_ADD_LONG(to + GRAPH_SUM, (uint)sum, (uint)((ulong)sum >> 32));
    ERGO_ADD_LONG(to + GRAPH_MARK, (uint)mark, (uint)(mark >> 32));
    atomic_add(to + GRAPH_UP, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = local_item; i < rows; i += size) {
        const uint member = GRAPH_MEMBERS < size ? i : (begin_item + i) % GRAPH_MEMBERS;
        __local const uint *from = own + i * GRAPH_NUMBERS;
        __global uint *out = counts + ((ulong)sample * GRAPH_MEMBERS + member) * GRAPH_NUMBERS;
        ERGO_ADD_LONG(out + GRAPH_SUM, from[GRAPH_SUM], from[GRAPH_SUM + 1]);
        ERGO_ADD_LONG(out + GRAPH_MARK, from[GRAPH_MARK], from[GRAPH_MARK + 1]);
        atomic_add(out + GRAPH_UP, from[GRAPH_UP]);
    }
}

/* Where a configuration is kept, after `step` sweeps. numbers: of graph_measure; zeroed for the
 * next time. Dimension 0: members. */
__kernel void graph_look(__global uint *numbers, __global const struct graph_member *members,
                         __global struct graph_found *found, __global ulong *hits,
                         __global uint *looks, ulong step) {
    const uint m = (uint)get_global_id(0);
    if (m >= GRAPH_MEMBERS)
        return;
    __global uint *own = numbers + (ulong)m * GRAPH_NUMBERS, *look = looks + m * GRAPH_LOOK_WORDS;
    __global struct graph_found *kept = found + (ulong)m * GRAPH_KEEP;
    const long sum = (long)((ulong)own[GRAPH_SUM + 1] << 32 | own[GRAPH_SUM]);
    const ulong mark = (ulong)own[GRAPH_MARK + 1] << 32 | own[GRAPH_MARK];
    const uint place = graph_choose(kept, GRAPH_KEEP, sum, mark);
    for (uint i = 0; i < GRAPH_NUMBERS; i++)
        own[i] = 0;
    look[GRAPH_LOOK_CHOICE] = place;
    look[GRAPH_LOOK_TRACE] += graph_trace(sum, mark);
    if (place != GRAPH_NOTHING) {
        kept[place].sum = sum;
        kept[place].mark = mark;
        kept[place].step = step;
    }
    if (sum >= members[m].goal && hits[m] == GRAPH_NEVER)
        hits[m] = step;
}

/* kept[place][slot][member]. Dimension 0: as graph_measure. */
__kernel void graph_keep(__global const uchar *spins, __global uint *looks, __global uchar *kept,
                         uint stripes, uint slots) {
    const uint item = (uint)get_global_id(0);
    const uint stripe = item / GRAPH_MEMBERS, m = item - stripe * GRAPH_MEMBERS;
    if (stripe >= stripes)
        return;
    __global uint *look = looks + m * GRAPH_LOOK_WORDS;
    const uint place = look[GRAPH_LOOK_CHOICE];
    if (stripe == 0)
        look[GRAPH_LOOK_TIMES]++;
    if (place == GRAPH_NOTHING)
        return;
    __global uchar *to = kept + (ulong)place * slots * GRAPH_MEMBERS;
    for (uint slot = stripe; slot < slots; slot += stripes)
        to[GRAPH_AT(slot)] = spins[GRAPH_AT(slot)];
}

/* Spins of one member as bits, lowest first: row 0 of its configuration, then of those kept, each
 * of GRAPH_WORDS words. Dimension 0: words. */
#define GRAPH_ROW(row) (kept + ((ulong)(row)-1) * slots * GRAPH_MEMBERS)
__kernel void graph_pack(__global const uchar *spins, __global const uchar *kept,
                         __global uint *packed, uint m, uint slots) {
    const uint words = (slots + 31) / 32;
    const uint item = (uint)get_global_id(0), row = item / words;
    const uint first = 32 * (item - row * words);
    if (row > GRAPH_KEEP)
        return;
    __global const uchar *from = row ? GRAPH_ROW(row) : spins;
    uint word = 0;
    for (uint l = 0; l < 32 && first + l < slots; l++)
        word |= (uint)from[GRAPH_AT(first + l)] << l;
    packed[item] = word;
}

__kernel void graph_unpack(__global uchar *spins, __global uchar *kept, __global const uint *packed,
                           uint m, uint slots) {
    const uint words = (slots + 31) / 32;
    const uint item = (uint)get_global_id(0), row = item / words;
    const uint first = 32 * (item - row * words);
    if (row > GRAPH_KEEP)
        return;
    __global uchar *to = row ? GRAPH_ROW(row) : spins;
    const uint word = packed[item];
    for (uint l = 0; l < 32 && first + l < slots; l++)
        to[GRAPH_AT(first + l)] = word >> l & 1;
}
