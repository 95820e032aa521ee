/*
 * Spins on graphs, many sweeps a launch, for CPUs. A work-group is one work-item with 32 chains
 * side by side in vectors, a byte for each spin, [slot][chain]: GRAPH_SPIN_UP or 0.
 *
 * With levels of costs (graph_levels.h) neighbours are counted in bytes, and decisions compare the
 * highest byte of the random word with that of the number of words that accept; where they are
 * equal, once in 256, the whole words. An update costs 1/32 of (its neighbours' additions and some
 * 3 vector operations for each level that words accept now and then), and its quarter of Philox.
 * Else couplings are added up as integers, 16 chains at a time, and decisions are those of graph.h.
 *
 * Compile-time: graph_chains.h; GRAPH_LANES, 32; GRAPH_LEVELS, the most neighbours of a vertex, or
 * 0 without levels; GRAPH_HEAT (heat bath).
 */
#include "spin_lattice/graph_levels.h"
#include "spin_lattice/graph_chains.h"

#define GRAPH_HALF 16u
#if GRAPH_LEVELS
#define GRAPH_SPIN_UP 1u
#else
#define GRAPH_SPIN_UP 255u /* a mask, when its sign is extended */
#endif

/* Random words of 16 chains for four slots: out[eight][0] has words 0 and 1 of eight chains, the
 * latter in the upper half, out[eight][1] words 2 and 3. As ergo_philox_lanes, with keys that
 * differ. */
ERGO_INLINE void graph_words_lanes(uint quad, ulong step, const ulong8 *draws, const ulong8 *key0,
                                   const ulong8 *key1, ulong8 out[2][2]) {
    const ulong8 low = (ulong8)(0xffffffffUL);
    ulong8 c0[2], c1[2], c2[2], c3[2], k0[2], k1[2];
    ERGO_UNROLL
    for (uint d = 0; d < 2; d++) {
        c0[d] = (ulong8)((ulong)quad);
        c1[d] = (ulong8)(step & 0xffffffffUL), c2[d] = (ulong8)(step >> 32);
        c3[d] = draws[d], k0[d] = key0[d], k1[d] = key1[d];
    }
    ERGO_UNROLL
    for (int round = 0; round < 9; round++) {
        ERGO_UNROLL
        for (uint d = 0; d < 2; d++) {
            const ulong8 p0 = (ulong8)(0xD2511F53UL) * (c0[d] & low);
            const ulong8 p1 = (ulong8)(0xCD9E8D57UL) * (c2[d] & low);
            c0[d] = (p1 >> 32) ^ c1[d] ^ k0[d];
            c2[d] = (p0 >> 32) ^ c3[d] ^ k1[d];
            c1[d] = p1;
            c3[d] = p0;
            k0[d] += (ulong8)(0x9E3779B9UL);
            k1[d] += (ulong8)(0xBB67AE85UL);
        }
    }
    ERGO_UNROLL
    for (uint d = 0; d < 2; d++) {
        const ulong8 p0 = (ulong8)(0xD2511F53UL) * (c0[d] & low);
        const ulong8 p1 = (ulong8)(0xCD9E8D57UL) * (c2[d] & low);
        out[d][0] = rotate(p1, (ulong8)(32UL)) ^ (c1[d] & low) ^ (k0[d] & low);
        out[d][1] = rotate(p0, (ulong8)(32UL)) ^ (c3[d] & low) ^ (k1[d] & low);
    }
}

#if GRAPH_LEVELS
/* What decides about chains of a vertex: their tables, and by bytes [level][chain] from `first` to
 * `last`; below it all flip, above it none whose word's highest byte is not 0. */
struct graph_bytes {
    int first, last;
};

/* The tables of a stage, by bytes. */
ERGO_INLINE struct graph_bytes graph_bytes_of(__global const uint *tables, const uint *at,
                                              __local uchar16 *bytes) {
    struct graph_bytes b = {GRAPH_LEVELS + 1, -GRAPH_LEVELS};
    for (uint l = 0; l < GRAPH_LANES; l++)
        b.first = min(b.first, (int)tables[at[l] + GRAPH_LEVEL_FIRST(GRAPH_LEVELS)]);
    __local uchar *to = (__local uchar *)bytes;
    for (int m = b.first, some = 1; some && m <= GRAPH_LEVELS; m++) {
        some = 0; /* fewer words accept what costs more */
        for (uint l = 0; l < GRAPH_LANES; l++) {
            const int certain = (int)tables[at[l] + GRAPH_LEVEL_FIRST(GRAPH_LEVELS)];
            const uint words = tables[at[l] + GRAPH_LEVEL_AT(GRAPH_LEVELS, m)];
            const uint high = m < certain ? 255 : words >> 24;
            some |= (int)high;
            to[(uint)(m - b.first) * GRAPH_LANES + l] = (uchar)high;
        }
        b.last = some ? m : b.last;
    }
    return b;
}

/* Updates a vertex, whose random words have number l. */
ERGO_INLINE void graph_update(__local ulong4 *own, uint slot, struct graph_head head,
                              __global const ushort4 *to, const ulong8 words[4][2], uint l,
                              __global const uint *tables, const uint *table, struct graph_bytes b,
                              __local const uchar16 *high) {
    ulong4 sum = (ulong4)(GRAPH_NEGATIVE(head) * 0x0101010101010101UL);
    for (uint k = 0; k < GRAPH_PLUS(head); k++)
        sum += own[to[k].x] + own[to[k].y] + own[to[k].z] + own[to[k].w];
    to += GRAPH_PLUS(head);
    for (uint k = 0; k < GRAPH_MINUS(head); k++)
        sum -= own[to[k].x] + own[to[k].y] + own[to[k].z] + own[to[k].w];
    const uint shift = 24 + 32 * (l & 1);
    const int degree = GRAPH_NEIGHBOURS(head);
    ulong4 flips;
    ERGO_UNROLL
    for (uint side = 0; side < 2; side++) {
        const uchar16 spin = as_uchar16(side ? own[slot].hi : own[slot].lo);
        const char16 up = as_char16(side ? sum.hi : sum.lo) * (char16)(2) - (char16)((char)degree);
        const char16 down = spin == (uchar16)(0);
        const char16 level = (up ^ down) - down;
        const uchar16 random = (uchar16)(convert_uchar8(words[2 * side][l / 2] >> shift),
                                         convert_uchar8(words[2 * side + 1][l / 2] >> shift));
        const char16 certain = level < (char16)((char)b.first);
        uchar16 bound = (uchar16)(0);
        for (int m = b.first + ((b.first ^ degree) & 1); m <= b.last; m += 2)
            bound |= as_uchar16(level == (char16)((char)m)) & high[2 * (uint)(m - b.first) + side];
        char16 yes = certain | (random < bound);
        const char16 open = degree == 0 ? (char16)(-1) : ~certain & (random == bound);
        if (any(open)) {
            char decided[16], asked[16], levels[16];
            vstore16(yes, 0, decided);
            vstore16(open, 0, asked);
            vstore16(level, 0, levels);
            for (uint i = 0; i < GRAPH_HALF; i++) {
                const uint lane = side * GRAPH_HALF + i;
                const uint r = (uint)(((const ulong *)words[lane / 8])[8 * (l / 2) + lane % 8] >>
                                      32 * (l & 1));
                const int m = degree == 0 ? GRAPH_LEVELS + 1 : levels[i];
                if (asked[i])
                    decided[i] = m < (int)tables[table[lane] + GRAPH_LEVEL_FIRST(GRAPH_LEVELS)] ||
                                         r < tables[table[lane] + GRAPH_LEVEL_AT(GRAPH_LEVELS, m)]
                                     ? -1
                                     : 0;
            }
            yes = vload16(0, decided);
        }
        if (side)
            flips.hi = as_ulong2(yes);
        else
            flips.lo = as_ulong2(yes);
    }
    own[slot] ^= flips & (ulong4)(0x0101010101010101UL);
}
#else
/* The same. base: its force without those that are up; scale: of each chain. */
ERGO_INLINE void graph_update(__local uchar *own, uint slot, struct graph_head head,
                              __global const ushort4 *to, __global const int4 *values, int base,
                              const ulong8 words[4][2], uint l, const float *scale) {
    int force[GRAPH_LANES];
    uint random[GRAPH_LANES];
    __local const uchar16 *rows = (__local const uchar16 *)own;
    ERGO_UNROLL
    for (uint side = 0; side < 2; side++) {
        int16 sum = (int16)(0);
        for (uint k = 0; k < GRAPH_PLUS(head); k++) {
            const ushort4 at = to[k];
            const int4 j = values[k];
            sum += (convert_int16(as_char16(rows[2 * at.x + side])) & (int16)(j.x)) +
                   (convert_int16(as_char16(rows[2 * at.y + side])) & (int16)(j.y)) +
                   (convert_int16(as_char16(rows[2 * at.z + side])) & (int16)(j.z)) +
                   (convert_int16(as_char16(rows[2 * at.w + side])) & (int16)(j.w));
        }
        vstore16((int16)(base) + (int16)(2) * sum, side, force);
        for (uint e = 2 * side; e < 2 * side + 2; e++)
            vstore8(convert_uint8(words[e][l / 2] >> (32 * (l & 1))), e, random);
    }
    __local uchar *spins = own + slot * GRAPH_LANES;
    uchar flips[GRAPH_LANES];
    if (GRAPH_HEAT || GRAPH_NEIGHBOURS(head) == 0)
        for (uint i = 0; i < GRAPH_LANES; i++)
            flips[i] =
                (spins[i] ? force[i] : -force[i]) < spin_limit(random[i], scale[i], 1) ? 255 : 0;
    else
        for (uint i = 0; i < GRAPH_LANES; i++)
            flips[i] =
                (spins[i] ? force[i] : -force[i]) < spin_limit(random[i], scale[i], 0) ? 255 : 0;
    for (uint i = 0; i < GRAPH_LANES; i++)
        spins[i] ^= flips[i];
}
#endif

/* Arguments as of graph_local. own: rows, then the tables of a stage by bytes. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
graph_lanes(__global uchar *spins, __global const ushort4 *restrict lists,
            __global const int4 *restrict values, __global const struct graph_head *restrict heads,
            __global const int2 *restrict terms, __global const uint2 *colours,
            __global const uint *tables, __global const uint *table_of,
            __global const struct graph_member *members, __global const uint *places, uint slots,
            uint n_colours, ulong step, uint sweeps, struct graph_stages stages,
            __local ulong4 *own) {
    const uint begin = (uint)get_group_id(0) * GRAPH_LANES;
    const uint lanes = min((uint)GRAPH_CHAINS - begin, GRAPH_LANES);
    __local uchar *mine = (__local uchar *)own;
#if GRAPH_LEVELS
    __local uchar16 *high = (__local uchar16 *)(own + GRAPH_ROWS(slots));
#endif
    ulong8 draws[4], key0[4], key1[4], words[4][2];
    uint column[GRAPH_LANES], row[GRAPH_LANES], table[GRAPH_LANES];
    for (uint l = 0; l < GRAPH_LANES; l++) {
        const uint chain = begin + min(l, lanes - 1), m = GRAPH_ROW(chain);
        ((ulong *)draws)[l] = ERGO_DRAW(GRAPH_PURPOSE_SWEEP, GRAPH_OWN(chain));
        ((ulong *)key0)[l] = members[m].key0;
        ((ulong *)key1)[l] = members[m].key1;
        column[l] = GRAPH_COLUMN(chain);
        row[l] = table_of[m];
    }
    for (uint slot = 0; slot < slots; slot++)
        for (uint l = 0; l < GRAPH_LANES; l++)
            mine[slot * GRAPH_LANES + l] = spins[GRAPH_AT(slot, column[l])] ? GRAPH_SPIN_UP : 0;
    own[GRAPH_ZEROS(slots)] = (ulong4)(0);
    own[GRAPH_ONES(slots)] = (ulong4)(0x0101010101010101UL * GRAPH_SPIN_UP);
    for (uint e = 0; e < 4; e++)
        words[e][0] = words[e][1] = (ulong8)(0);
    ulong stage = graph_stage(stages, step);
#if GRAPH_LEVELS
    struct graph_bytes b = {0, 0};
#else
    float scale[GRAPH_LANES];
#endif
    for (uint s = 0; s < sweeps; s++) {
        const ulong next = graph_stage(stages, step + s);
        if (s == 0 || next != stage) {
            stage = next;
            for (uint l = 0; l < GRAPH_LANES; l++)
                table[l] = (uint)((row[l] + stage) * GRAPH_LEVEL_WORDS(GRAPH_LEVELS));
#if GRAPH_LEVELS
            b = graph_bytes_of(tables, table, high);
#else
            for (uint l = 0; l < GRAPH_LANES; l++)
                scale[l] = as_float(tables[table[l]]);
#endif
        }
        for (uint c = 0; c < n_colours; c++) {
            const uint first = colours[c].x, end = first + colours[c].y;
            for (uint at = first; at < end; at++) {
                /* min: llvmpipe loads once more when a loop has ended (quirks.c) */
                const uint slot = min(at, slots - 1), l = slot % 4;
                if (l == 0)
                    for (uint side = 0; side * GRAPH_HALF < lanes; side++)
                        graph_words_lanes(slot / 4, step + s, draws + 2 * side, key0 + 2 * side,
                                          key1 + 2 * side, words + 2 * side);
                const struct graph_head head = heads[slot];
#if GRAPH_LEVELS
                graph_update(own, slot, head, lists + head.first, words, l, tables, table, b, high);
#else
                graph_update(mine, slot, head, lists + head.first, values + head.first,
                             terms[slot].x, words, l, scale);
#endif
            }
        }
    }
    for (uint slot = 0; slot < slots; slot++)
        for (uint l = 0; l < lanes; l++)
            spins[GRAPH_AT(slot, column[l])] = mine[slot * GRAPH_LANES + l] & 1;
}
