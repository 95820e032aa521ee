/* A byte per spin, for lattices in global memory, [member][colour][row]. A work-item has sixteen
 * sites of a row. One launch per colour. */
#include "spin_lattice/bytes.h"
#include "spin_lattice/bytes_view.h"

#define BYTES_STATES ((BYTES_MODEL) == 0 ? 4u : (uint)(BYTES_Q)) /* values of a byte */
#define BYTES_COUNTS (3 + BYTES_STATES + (BYTES_MODEL == 0))     /* of bytes_measure */
#define BYTES_NUMBERS (BYTES_COUNTS + 2 * BYTES_GENERAL)         /* of a sample of a member */

/* What a work-group looks up in local memory: of the member's tables, or the choices, whose
 * thresholds are followed by their states. */
#if BYTES_CHOICES
typedef uint4 bytes_entry;
#define BYTES_LOOKUP (BYTES_CHOICES + (BYTES_CHOICES + 3) / 4)
#define BYTES_ENTRY(i) choices[(ulong)member * BYTES_LOOKUP + (i)]
#elif BYTES_MODEL == 2
typedef uint bytes_entry;
#define BYTES_LOOKUP (2 * BYTES_TABLE)
#define BYTES_ENTRY(i) ((i) < BYTES_TABLE ? m->table[i] : m->low[(i)-BYTES_TABLE])
#else
typedef uint bytes_entry;
#define BYTES_LOOKUP BYTES_TABLE
#define BYTES_ENTRY(i) m->table[i]
#endif

/* Update sixteen sites whose neighbours are all in v. */
ERGO_INLINE struct bytes_sixteen bytes_step(struct bytes_sixteen s, struct bytes_view v, uint row,
                                            uint block, uint odd, ulong step, uint draw, uint key0,
                                            uint key1, __local const bytes_entry *table) {
    ERGO_UNROLL
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (BYTES_HALF % 16 && h >= BYTES_HALF)
            continue;
        struct bytes_around n = bytes_around_of(v, g);
        if (BYTES_MODEL == 2) { /* the heat bath's choice depends on the order of the neighbours */
            if (!odd) {
                n.west = v.side.at[g];
                n.east = v.near.at[g];
            }
#if BYTES_CHOICES
            s.at[g] = bytes_choose_four(n, row * BYTES_HALF + h, min(BYTES_HALF - h, 4u), step,
                                        draw, key0, key1, table);
#elif BYTES_MODEL == 2
            uint result = 0;
            for (int l = 0; l < 4; l++) {
                const struct ergo_words r = ergo_philox_words(row * BYTES_HALF + h + l, (uint)step,
                                                              (uint)(step >> 32), draw, key0, key1);
                if (h + l < BYTES_HALF)
                    result |= bytes_heat_bath(n, l, r, table, table + BYTES_TABLE) << 8 * l;
            }
            s.at[g] = result;
#endif
        } else {
#if BYTES_MODEL != 2
            const struct ergo_words r = ergo_philox_words(row * BYTES_QUADS + h / 4, (uint)step,
                                                          (uint)(step >> 32), draw, key0, key1);
            s.at[g] = bytes_update(s.at[g], n, r, table);
#endif
        }
    }
    return s;
}

/* Dimension 0: blocks of sixteen sites by BYTES_STRIP rows; 1: members. table: of the member.
 * choices: of all members. */
__kernel void bytes_sweep(__global uint4 *spins, __global const struct bytes_member *members,
                          uint colour, ulong step, __local bytes_entry *table
#if BYTES_CHOICES
                          ,
                          __global const uint4 *choices
#endif
) {
    const uint item = (uint)get_global_id(0), member = (uint)get_global_id(1);
    const uint local_item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    __global const struct bytes_member *m = members + member;
    for (uint i = local_item; i < BYTES_LOOKUP; i += size)
        table[i] = BYTES_ENTRY(i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= BYTES_COLOUR / BYTES_STRIP)
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
            bytes_step(bytes_load(own, at), v, row, block, odd, step,
                       ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour), key0, key1, table);
        own[at] = (uint4)(s.at[0], s.at[1], s.at[2], s.at[3]);
        v.north = v.near;
        v.near = v.south;
    }
}

#if BYTES_GENERAL
/* terms: [member][colour][plane][block][four]. The planes are the fields, then the couplings to the
 * neighbours, in bytes_view's order. side: 2 member + colour. */
#define BYTES_TERMS (1 + (BYTES_BONDS ? 2 * BYTES_D : 0))
ERGO_INLINE struct bytes_terms bytes_terms_of(__global const int4 *terms,
                                              __global const struct bytes_member *m, ulong side,
                                              uint block, uint four) {
    const ulong plane = 4 * BYTES_COLOUR, at = side * BYTES_TERMS * plane + 4 * (ulong)block + four;
    struct bytes_terms t;
    t.field = terms[at];
    t.west = t.east = (int4)(m->j[0]);
    t.north = t.south = (int4)(m->j[1]);
    t.above = t.below = (int4)(m->j[2]);
#if BYTES_BONDS
    t.west = terms[at + plane];
    t.east = terms[at + 2 * plane];
#if BYTES_D > 1
    t.north = terms[at + 3 * plane];
    t.south = terms[at + 4 * plane];
#endif
#if BYTES_D > 2
    t.above = terms[at + 5 * plane];
    t.below = terms[at + 6 * plane];
#endif
#endif
    return t;
}

/* Like bytes_sweep. */
__kernel void bytes_general_sweep(__global uint4 *spins,
                                  __global const struct bytes_member *members, uint colour,
                                  ulong step, __global const int4 *terms) {
    const uint item = (uint)get_global_id(0), member = (uint)get_global_id(1);
    if (item >= BYTES_COLOUR)
        return;
    __global const struct bytes_member *m = members + member;
    const uint row = item / BYTES_BLOCKS, block = item - row * BYTES_BLOCKS;
    const ulong side = 2 * (ulong)member + colour;
    __global uint4 *own = spins + BYTES_COLOUR * side;
    __global const uint4 *other = spins + BYTES_COLOUR * (2 * (ulong)member + 1 - colour);
    const struct bytes_view v = bytes_look(other, row, block, colour);
    const float scale = m->scale;
    struct bytes_sixteen s = bytes_load(own, item);
    ERGO_UNROLL
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (BYTES_HALF % 16 && h >= BYTES_HALF)
            continue;
        const struct ergo_words r =
            ergo_philox_words(row * BYTES_QUADS + h / 4, (uint)step, (uint)(step >> 32),
                              ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour), m->key0, m->key1);
        const int4 limit =
            (int4)(spin_limit(r.x, scale, BYTES_HEAT), spin_limit(r.y, scale, BYTES_HEAT),
                   spin_limit(r.z, scale, BYTES_HEAT), spin_limit(r.w, scale, BYTES_HEAT));
        const int4 cost = bytes_half_cost(s.at[g], bytes_around_of(v, g),
                                          bytes_terms_of(terms, m, side, item, g));
        const uint4 flip = BYTES_BELOW(cost, limit) & 1u;
        s.at[g] ^= flip.x | flip.y << 8 | flip.z << 16 | flip.w << 24;
    }
    own[item] = (uint4)(s.at[0], s.at[1], s.at[2], s.at[3]);
}

/* Add a 64-bit number to two words, modulo 2^64. The order of additions does not matter. */
#define BYTES_ADD_LONG(words, low, high)                                                           \
    do {                                                                                           \
        const uint bytes_low = (low), bytes_was = atomic_add(&(words)[0], bytes_low);              \
        atomic_add(&(words)[1], (high) + (uint)(bytes_was + bytes_low < bytes_was));               \
    } while (0)

/* The last two numbers of a sample: the sum of s B and, with general couplings, of J s s', in the
 * member's unit. Dimension 0: any number of work-items; 1: members. */
__kernel void bytes_general_energy(__global const uint4 *spins,
                                   __global const struct bytes_member *members,
                                   __global uint *counts, uint sample, __global const int4 *terms,
                                   __local uint *own) {
    const uint member = (uint)get_global_id(1);
    const ulong stride = get_global_size(0);
    __global const struct bytes_member *m = members + member;
    __global const uint4 *first = spins + 2 * BYTES_COLOUR * member;
    if (get_local_id(0) == 0)
        own[0] = own[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    long sum = 0;
    for (ulong at = get_global_id(0); at < 2 * BYTES_COLOUR; at += stride) {
        const uint colour = at >= BYTES_COLOUR, of = (uint)(at - colour * BYTES_COLOUR);
        const uint row = of / BYTES_BLOCKS, block = of - row * BYTES_BLOCKS;
        const struct bytes_sixteen s = bytes_load(first, at);
        const struct bytes_view v =
            bytes_look(first + BYTES_COLOUR * (1 - colour), row, block, colour);
        for (uint g = 0; g < 4; g++) {
            const uint h = 16 * block + 4 * g;
            if (h >= BYTES_HALF)
                break;
            const struct bytes_terms t =
                bytes_terms_of(terms, m, 2 * (ulong)member + colour, of, g);
            int4 part = t.field * BYTES_SIGNS(s.at[g]);
            if (BYTES_BONDS && colour == 0) /* colour 0 counts each bond once */
                part = bytes_half_cost(s.at[g], bytes_around_of(v, g), t);
            sum += (long)part.x + (h + 1 < BYTES_HALF ? part.y : 0) +
                   (h + 2 < BYTES_HALF ? part.z : 0) + (h + 3 < BYTES_HALF ? part.w : 0);
        }
    }
    BYTES_ADD_LONG(own, (uint)sum, (uint)((ulong)sum >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        __global uint *to =
            counts + ((ulong)sample * get_global_size(1) + member) * BYTES_NUMBERS + BYTES_COUNTS;
        BYTES_ADD_LONG(to, own[0], own[1]);
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
        const uint h = 16 * block + 4 * g, entity = row * BYTES_QUADS + h / 4;
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

/* The number of equal ones among four pairs. For blume-capel: the sum of s s', modulo 2^32. */
ERGO_INLINE uint bytes_pairs(uint a, uint b, uint here) {
    const uint charged = ~(a | b) & here; /* neither is 0 */
    return BYTES_MODEL == 3 ? popcount(charged) - 2 * popcount((a ^ b) >> 1 & charged)
                            : popcount(bytes_equal(a, b) & here);
}

/*
 * counts[sample][member]: equal neighbours (or bytes_pairs) along x, y, z; then sites with each
 * value of a byte; for ising then up spins on sites of positive sign (bytes_odd). Dimension 0: any
 * number of work-items; 1: members. own: BYTES_COUNTS.
 */
__kernel void bytes_measure(__global const uint4 *spins,
                            __global const struct bytes_member *members, __global uint *counts,
                            uint sample, __local uint *own) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint member = (uint)get_global_id(1);
    const ulong stride = get_global_size(0);
    __global const uint4 *first = spins + 2 * BYTES_COLOUR * member;
    const uint staggered = BYTES_MODEL == 0 ? members[member].staggered : 0u;
    for (uint i = item; i < BYTES_COUNTS; i += size)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint x = 0, y = 0, z = 0, few[4] = {0, 0, 0, 0}, even = 0;
    for (ulong at = get_global_id(0); at < 2 * BYTES_COLOUR; at += stride) {
        const uint colour = at >= BYTES_COLOUR, of = (uint)(at - colour * BYTES_COLOUR);
        const uint row = of / BYTES_BLOCKS, block = of - row * BYTES_BLOCKS;
        const struct bytes_sixteen s = bytes_load(first, at);
        struct bytes_view v;
        if (colour == 0)
            v = bytes_look(first + BYTES_COLOUR, row, block, 0);
        else
            v = bytes_look(first, row, block, 1);
        const uint mask = BYTES_MODEL == 0 ? BYTES_ONES : 0xffffffffu;
        const uint before = few[1] + few[3];
        for (uint g = 0; g < 4; g++) {
            const uint h = 16 * block + 4 * g;
            if (h >= BYTES_HALF)
                break;
            const uint here =
                BYTES_HALF - h < 4 ? BYTES_ONES >> 8 * (4 - (BYTES_HALF - h)) : BYTES_ONES;
            const uint a = s.at[g] & mask;
            if (colour == 0) {
                x += bytes_pairs(a, v.near.at[g] & mask, here) +
                     bytes_pairs(a, v.side.at[g] & mask, here);
                if (BYTES_D > 1)
                    y += bytes_pairs(a, v.north.at[g] & mask, here) +
                         bytes_pairs(a, v.south.at[g] & mask, here);
                if (BYTES_D > 2)
                    z += bytes_pairs(a, v.above.at[g] & mask, here) +
                         bytes_pairs(a, v.below.at[g] & mask, here);
            }
            if (BYTES_STATES <= 4) {
                for (uint k = 0; k < BYTES_STATES; k++)
                    few[k] += popcount(bytes_equal(s.at[g], k * BYTES_ONES) & here);
            } else {
                for (uint l = 0; l < 4; l++)
                    if (h + l < BYTES_HALF)
                        atomic_inc(&own[3 + (s.at[g] >> 8 * l & 255)]);
            }
        }
        if (BYTES_MODEL == 0 && !bytes_odd(staggered, row, colour))
            even += few[1] + few[3] - before;
    }
    atomic_add(&own[0], x);
    atomic_add(&own[1], y);
    atomic_add(&own[2], z);
    if (BYTES_STATES <= 4)
        for (uint k = 0; k < BYTES_STATES; k++)
            atomic_add(&own[3 + k], few[k]);
    if (BYTES_MODEL == 0)
        atomic_add(&own[BYTES_COUNTS - 1], even);
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
                              uint reach, uint stride, __local uint *sum) {
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
    const ulong quads = 8 * BYTES_COLOUR, step = get_global_size(0);
    for (ulong at = get_global_id(0); at < quads; at += step) {
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
