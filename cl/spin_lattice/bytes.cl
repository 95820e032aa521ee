/* A byte per spin, for lattices in global memory, [member][colour][row]. A work-item has sixteen
 * sites of a row. One launch per colour. */
#include "spin_lattice/bytes_count.h"

/* Dimension 0: blocks of sixteen sites by BYTES_STRIP rows; 1: members. table: of the member.
 * choices: of all members. */
__kernel void bytes_sweep(__global uint4 *spins, __global const struct bytes_member *members,
                          uint colour, ulong step, __local bytes_entry *table
#if BYTES_CHOICES
                          ,
                          __global const uint4 *choices
#endif
                              BYTES_RANGE) {
    const uint item = BYTES_FROM / BYTES_STRIP * BYTES_BLOCKS + (uint)get_global_id(0);
    const uint member = (uint)get_global_id(1);
    const uint local_item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    __global const struct bytes_member *m = members + member;
    for (uint i = local_item; i < BYTES_LOOKUP; i += size)
        table[i] = BYTES_ENTRY(i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= BYTES_TO / BYTES_STRIP * BYTES_BLOCKS)
        return;
    const uint strip = item / BYTES_BLOCKS, block = item - strip * BYTES_BLOCKS;
    const uint first = strip * BYTES_STRIP, z = first / BYTES_LY, y = first - z * BYTES_LY;
    __global uint4 *own = spins + BYTES_COLOUR * (2 * (ulong)member + colour);
    __global const uint4 *other = spins + BYTES_COLOUR * (2 * (ulong)member + 1 - colour);
    const uint key0 = m->key0, key1 = m->key1;
    struct bytes_view v;
    v.near = bytes_load(other, (ulong)first * BYTES_BLOCKS + block);
    v.north = v.south = v.above = v.below = v.near;
    if (BYTES_D > 1)
        v.north = bytes_north(other, first, y, block);
#if BYTES_MODEL != 2
    ERGO_UNROLL /* a row is loaded while the row before it is decided */
#endif
        for (uint r = 0; r < BYTES_STRIP; r++) { /* a strip lies within a plane */
        const uint row = first + r, odd = (y + r + z + colour) & 1;
        const ulong at = (ulong)row * BYTES_BLOCKS + block;
        if (BYTES_D > 1)
            v.south = bytes_south(other, row, y + r, block);
        if (BYTES_D > 2) {
            v.above = bytes_above(other, row, z, block);
            v.below = bytes_below(other, row, z, block);
        }
        v.side = bytes_side(other, v.near, row, block, odd);
        const struct bytes_sixteen s =
            bytes_step(bytes_load(own, at), v, BYTES_ENTITY(row, m), block, odd, step,
                       ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour), key0, key1, table);
        own[at] = (uint4)(s.at[0], s.at[1], s.at[2], s.at[3]);
        v.north = v.near;
        v.near = v.south;
    }
}

#if BYTES_GENERAL
/* Like bytes_sweep. */
__kernel void bytes_general_sweep(__global uint4 *spins,
                                  __global const struct bytes_member *members, uint colour,
                                  ulong step, __global const int4 *terms BYTES_RANGE) {
    const uint item = BYTES_FROM * BYTES_BLOCKS + (uint)get_global_id(0);
    const uint member = (uint)get_global_id(1);
    if (item >= BYTES_TO * BYTES_BLOCKS)
        return;
    __global const struct bytes_member *m = members + member;
    const uint row = item / BYTES_BLOCKS, block = item - row * BYTES_BLOCKS;
    const ulong side = 2 * (ulong)member + colour;
    __global uint4 *own = spins + BYTES_COLOUR * side;
    __global const uint4 *other = spins + BYTES_COLOUR * (2 * (ulong)member + 1 - colour);
    const struct bytes_view v = bytes_look(other, row, block, colour);
    const struct bytes_sixteen s =
        bytes_general_step(bytes_load(own, item), v, BYTES_ENTITY(row, m), block, step,
                           ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour), m, terms, side, item);
    own[item] = (uint4)(s.at[0], s.at[1], s.at[2], s.at[3]);
}

/* The last two numbers of a sample: the sum of s B and, with general couplings, of J s s', in the
 * member's unit. Dimension 0: any number of work-items; 1: members. */
__kernel void bytes_general_energy(__global const uint4 *spins,
                                   __global const struct bytes_member *members,
                                   __global uint *counts, uint sample, __global const int4 *terms,
                                   __local uint *own BYTES_RANGE) {
    const uint member = (uint)get_global_id(1);
    const ulong stride = get_global_size(0), some = BYTES_SOME;
    __global const struct bytes_member *m = members + member;
    __global const uint4 *first = spins + 2 * BYTES_COLOUR * member;
    if (get_local_id(0) == 0)
        own[0] = own[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    long sum = 0;
    for (ulong at = get_global_id(0); at < 2 * some; at += stride)
        sum += bytes_general_sum(first, BYTES_AT(at, some, 1), m, member, terms);
    ERGO_ADD_LONG(own, (uint)sum, (uint)((ulong)sum >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        __global uint *to =
            counts + ((ulong)sample * get_global_size(1) + member) * BYTES_NUMBERS + BYTES_COUNTS;
        ERGO_ADD_LONG(to, own[0], own[1]);
    }
}
#endif

/* Dimension 0: blocks of sixteen sites of one colour, then of the other; 1: members. */
__kernel void bytes_start_all(__global uint4 *spins, __global const struct bytes_member *members,
                              uint mode, uint field) {
    const ulong item = get_global_id(0);
    const uint member = (uint)get_global_id(1);
    if (item >= 2 * BYTES_COLOUR)
        return;
    const uint colour = item >= BYTES_COLOUR, of = (uint)(item - colour * BYTES_COLOUR);
    const uint row = of / BYTES_BLOCKS, block = of - row * BYTES_BLOCKS;
    __global const struct bytes_member *m = members + member;
    uint out[4];
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g, entity = BYTES_ENTITY(row, m) * BYTES_QUADS + h / 4;
        const struct ergo_words a = ergo_philox_words(
            entity, 0, 0, ERGO_DRAW(BYTES_PURPOSE_START, colour), m->key0, m->key1);
        const struct ergo_words b = ergo_philox_words(
            entity, 0, 0, ERGO_DRAW(BYTES_PURPOSE_FIELD, colour), m->field0, m->field1);
        const uint start[4] = {a.x, a.y, a.z, a.w}, sign[4] = {b.x, b.y, b.z, b.w};
        out[g] = 0;
        for (uint l = 0; l < 4; l++)
            if (h + l < BYTES_HALF)
                out[g] |= (bytes_start(start[l], mode) | (field ? sign[l] >> 31 << 1 : 0)) << 8 * l;
    }
    spins[2 * BYTES_COLOUR * member + item] = (uint4)(out[0], out[1], out[2], out[3]);
}

/*
 * counts[sample][member]: equal neighbours (or bytes_pairs) along x, y, z; then sites with each
 * value of a byte; for ising then up spins on sites of positive sign (bytes_odd). Dimension 0: any
 * number of work-items; 1: members. own: BYTES_COUNTS.
 */
__kernel void bytes_measure(__global const uint4 *spins,
                            __global const struct bytes_member *members, __global uint *counts,
                            uint sample, __local uint *own BYTES_RANGE) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint member = (uint)get_global_id(1);
    const ulong stride = get_global_size(0), some = BYTES_SOME;
    __global const uint4 *first = spins + 2 * BYTES_COLOUR * member;
    const uint staggered = BYTES_MODEL == 0 ? members[member].staggered : 0u;
    for (uint i = item; i < BYTES_COUNTS; i += size)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct bytes_tally t = {0, 0, 0, {0, 0, 0, 0}, 0};
    for (ulong at = get_global_id(0); at < 2 * some; at += stride)
        t = bytes_count(t, first, BYTES_AT(at, some, 1), staggered, own + 3);
    atomic_add(&own[0], t.x);
    atomic_add(&own[1], t.y);
    atomic_add(&own[2], t.z);
    if (BYTES_STATES <= 4)
        for (uint k = 0; k < BYTES_STATES; k++)
            atomic_add(&own[3 + k], t.few[k]);
    if (BYTES_MODEL == 0)
        atomic_add(&own[BYTES_COUNTS - 1], t.even);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < BYTES_COUNTS; i += size)
        if (own[i])
            atomic_add(&counts[((ulong)sample * get_global_size(1) + member) * BYTES_NUMBERS + i],
                       own[i]);
}

/*
 * Pairs of equal sites at a distance along an axis, where all sites serve as the first of a pair:
 * counts[sample][which = axis reach + distance - 1] of each member, `stride` apart. Dimension 0:
 * any number of work-items; 1: member (BYTES_D reach) + which. Along y and z a partner has the same
 * h, and its colour changes with the distance. Along x see the layout in bytes.h.
 */
__kernel void bytes_correlate(__global const uint4 *spins, __global uint *counts, uint sample,
                              uint reach, uint stride, __local uint *sum BYTES_RANGE) {
    const uint which = (uint)get_global_id(1) % (BYTES_D * reach);
    const uint member = (uint)get_global_id(1) / (BYTES_D * reach);
    const uint members = (uint)get_global_size(1) / (BYTES_D * reach);
    const uint axis = which / reach, r = which - axis * reach + 1;
    const uint mask = BYTES_MODEL == 0 ? BYTES_ONES : 0xffffffffu;
    __global const uint4 *first = spins + 2 * BYTES_COLOUR * member;
    if (get_local_id(0) == 0)
        sum[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint equal = 0;
    const ulong quads = 8 * BYTES_COLOUR, step = get_global_size(0), some = 4 * BYTES_SOME;
    for (ulong i = get_global_id(0); i < 2 * some; i += step) {
        const ulong at = BYTES_AT(i, some, 4);
        const uint colour = at >= quads / 2;
        const uint of = (uint)(at - colour * (quads / 2));
        const uint row = of / (BYTES_PITCH / 4), h = 4 * (of - row * (BYTES_PITCH / 4));
        if (h >= BYTES_HALF)
            continue;
        const uint z = row / BYTES_LY, y = row - z * BYTES_LY, odd = r & 1;
        const uint here =
            BYTES_HALF - h < 4 ? BYTES_ONES >> 8 * (4 - (BYTES_HALF - h)) : BYTES_ONES;
        __global const uint4 *other = first + BYTES_COLOUR * (colour ^ odd);
        const uint own = ((__global const uint *)first)[at];
        uint partner = 0;
        if (axis == 0) {
            const uint shift = odd ? (r - 1) / 2 + ((y + z + colour) & 1) : r / 2;
            for (uint l = 0; l < 4; l++)
                partner |= bytes_one(other, row, (h + l + shift) % BYTES_HALF) << 8 * l;
        } else {
            const uint to =
                axis == 1 ? (y + r) % BYTES_LY + BYTES_LY * z : y + BYTES_LY * ((z + r) % BYTES_LZ);
            partner = ((__global const uint *)other)[(ulong)to * (BYTES_PITCH / 4) + h / 4];
        }
        equal += popcount(bytes_equal(own & mask, partner & mask) & here);
    }
    atomic_add(&sum[0], equal);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(&counts[((ulong)sample * members + member) * stride + which], sum[0]);
}

/*
 * Sites in each state in each plane of the last dimension, stored after the numbers of
 * bytes_correlate. For antiferromagnets: sites of positive sign minus the others, modulo 2^32.
 * Dimension 0: one work-group per plane; 1: members.
 */
__kernel void bytes_planes(__global const uint4 *spins, __global const struct bytes_member *members,
                           __global uint *counts, uint sample, uint behind, uint stride,
                           __local uint *own) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint plane = (uint)get_group_id(0), member = (uint)get_global_id(1);
    const uint rows = BYTES_D > 2 ? BYTES_LY : 1, quads = rows * (BYTES_PITCH / 4);
    const uint mask = BYTES_MODEL == 0 ? 1 : 255;
    __global const uint *first = (__global const uint *)(spins + 2 * BYTES_COLOUR * member);
    const uint staggered = members[member].staggered;
    for (uint i = item; i < BYTES_Q; i += size)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at < 2 * quads; at += size) {
        const uint colour = at >= quads, of = at - colour * quads;
        const uint row = of / (BYTES_PITCH / 4), h = 4 * (of - row * (BYTES_PITCH / 4));
        const uint s = first[4 * BYTES_COLOUR * colour + (ulong)plane * quads + of];
        const uint one = bytes_odd(staggered, plane * rows + row, colour) ? 0xffffffffu : 1u;
        for (uint l = 0; l < 4; l++)
            if (h + l < BYTES_HALF)
                atomic_add(&own[s >> 8 * l & mask], one);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < BYTES_Q; i += size)
        counts[((ulong)sample * get_global_size(1) + member) * stride + behind + BYTES_Q * plane +
               i] = own[i];
}
