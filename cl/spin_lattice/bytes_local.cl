/* A byte per spin, for lattices that fit in local memory: one work-group has a member and makes
 * many sweeps and measurements in one launch. */
#define BYTES_PLACE __local
#include "spin_lattice/bytes_count.h"

/* With a block for each work-item the loop over blocks ends at once, and compilers see it. */
#define BYTES_STRIDE (BYTES_COLOUR <= BYTES_GROUP ? (uint)BYTES_COLOUR : BYTES_GROUP)
#define BYTES_OWN (BYTES_STATES <= 4 ? 8u : 3u) /* sums of which each work-item has a part */

#ifdef BYTES_AHEAD
ERGO_INLINE struct bytes_drawn bytes_fetch(__global const uint4 *drawn) {
    struct bytes_drawn d;
    ERGO_UNROLL
    for (uint g = 0; g < BYTES_FOURS; g++)
        d.of[g] = drawn[g * (uint)BYTES_COLOUR];
    return d;
}
#endif

/* `samples` times: `every` sweeps, then one measurement. If samples is 0, only `every` sweeps.
 * counts: [first + sample][member], see bytes_measure. With BYTES_AHEAD, all words of the launch
 * have been drawn, and a work-item has one block. They are loaded two decisions before they are
 * used. */
__kernel __attribute__((reqd_work_group_size(BYTES_GROUP, 1, 1))) void
bytes_sweep_local(__global uint4 *spins, __global const struct bytes_member *members, ulong step,
                  uint samples, uint every, uint first, __global uint *counts
#if BYTES_GENERAL
                  ,
                  __global const int4 *terms
#elif BYTES_CHOICES
                  ,
                  __global const uint4 *choices
#endif
#ifdef BYTES_AHEAD
                  ,
                  __global const uint4 *drawn
#endif
) {
    __local uint4 lattice[2 * BYTES_COLOUR];
    __local bytes_entry table[BYTES_LOOKUP];
    __local uint parts[BYTES_OWN * BYTES_GROUP], states[BYTES_STATES + 2];
    const uint item = (uint)get_local_id(0), member = (uint)get_group_id(0);
    const uint count = (uint)get_num_groups(0);
    __global const struct bytes_member *m = members + member;
    __global uint4 *home = spins + 2 * BYTES_COLOUR * member;
    const uint key0 = m->key0, key1 = m->key1, rounds = samples ? samples : 1;
    const uint staggered = BYTES_MODEL == 0 ? m->staggered : 0u;
    for (uint i = item; i < 2 * BYTES_COLOUR; i += BYTES_GROUP)
        lattice[i] = home[i];
    for (uint i = item; i < BYTES_LOOKUP; i += BYTES_GROUP)
        table[i] = BYTES_ENTRY(i);
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BYTES_AHEAD
    /* of this work-item's block: the next half sweep, and how many are still to be loaded */
    const ulong stride = (ulong)count * BYTES_FOURS * BYTES_COLOUR;
    __global const uint4 *from =
        drawn + member * (BYTES_FOURS * BYTES_COLOUR) + (item < BYTES_COLOUR ? item : 0u) + stride;
    uint left = 2 * every * rounds - 2;
    struct bytes_drawn next[2];
    next[0] = bytes_fetch(from - stride);
    next[1] = bytes_fetch(from);
#endif

    for (uint sample = 0; sample < rounds; sample++) {
        for (uint e = 0; e < every; e++, step++) {
#ifdef BYTES_AHEAD
            ERGO_UNROLL /* what is loaded for a colour stays in its registers */
#endif
                for (uint colour = 0; colour < 2; colour++) {
                __local uint4 *own = lattice + colour * BYTES_COLOUR;
                __local const uint4 *other = lattice + (1 - colour) * BYTES_COLOUR;
                const uint draw = ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour);
                for (uint at = item; at < BYTES_COLOUR; at += BYTES_STRIDE) {
                    const uint row = at / BYTES_BLOCKS, block = at - row * BYTES_BLOCKS;
                    const struct bytes_view v = bytes_look(other, row, block, colour);
#if BYTES_GENERAL
                    const struct bytes_sixteen s =
                        bytes_general_step(bytes_load(own, at), v, row, block, step, draw, m, terms,
                                           2 * (ulong)member + colour, at);
#else
                    const uint z = row / BYTES_LY, odd = (row - z * BYTES_LY + z + colour) & 1;
                    const struct bytes_sixteen s =
                        bytes_step(bytes_load(own, at), v, row, block, odd, step, draw, key0, key1,
#ifdef BYTES_AHEAD
                                   next[colour],
#endif
                                   table);
#endif
                    own[at] = (uint4)(s.at[0], s.at[1], s.at[2], s.at[3]);
                }
#ifdef BYTES_AHEAD
                from += left ? stride : 0;
                left -= left > 0;
                next[colour] = bytes_fetch(from);
#endif
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        if (!samples)
            continue;
        for (uint i = item; i < BYTES_STATES + 2; i += BYTES_GROUP)
            states[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        struct bytes_tally t = {0, 0, 0, {0, 0, 0, 0}, 0};
        for (uint at = item; at < 2 * BYTES_COLOUR; at += BYTES_GROUP)
            t = bytes_count(t, lattice, at, staggered, states);
        parts[item] = t.x;
        parts[BYTES_GROUP + item] = t.y;
        parts[2 * BYTES_GROUP + item] = t.z;
        if (BYTES_STATES <= 4) {
            for (uint k = 0; k < 4; k++)
                parts[(3 + k) * BYTES_GROUP + item] = t.few[k];
            parts[7 * BYTES_GROUP + item] = t.even;
        }
#if BYTES_GENERAL
        long sum = 0;
        for (uint at = item; at < 2 * BYTES_COLOUR; at += BYTES_GROUP)
            sum += bytes_general_sum(lattice, at, m, member, terms);
        ERGO_ADD_LONG(states + BYTES_STATES, (uint)sum, (uint)((ulong)sum >> 32));
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        /* all sums at once, eight parts a step; no step reads what another work-item writes */
        for (uint width = BYTES_GROUP; width > 1; width = (width + 7) / 8) {
            const uint left = (width + 7) / 8;
            for (uint i = item; i < BYTES_OWN * left; i += BYTES_GROUP) {
                const uint k = i / left, to = i - k * left;
                uint part = 0;
                for (uint from = to; from < width; from += left)
                    part += parts[k * BYTES_GROUP + from];
                parts[k * BYTES_GROUP + to] = part;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        __global uint *to = counts + (((ulong)first + sample) * count + member) * BYTES_NUMBERS;
        for (uint i = item; i < BYTES_NUMBERS; i += BYTES_GROUP)
            to[i] = i >= BYTES_COUNTS            ? states[BYTES_STATES + i - BYTES_COUNTS]
                    : BYTES_STATES <= 4 || i < 3 ? parts[i * BYTES_GROUP]
                                                 : states[i - 3];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (uint i = item; i < 2 * BYTES_COLOUR; i += BYTES_GROUP)
        home[i] = lattice[i];
}
