/* A byte per spin on a device: blocks of sixteen sites of a row, and their neighbours, in lattices
 * in the address space BYTES_PLACE. */
#ifndef ERGO_CL_SPIN_LATTICE_BYTES_VIEW_H
#define ERGO_CL_SPIN_LATTICE_BYTES_VIEW_H

#include "spin_lattice/bytes.h"

#ifndef BYTES_PLACE
#define BYTES_PLACE __global
#endif
#define BYTES_BLOCKS (BYTES_PITCH / 16)                 /* per row */
#define BYTES_COLOUR ((ulong)BYTES_ROWS * BYTES_BLOCKS) /* blocks of sixteen sites per colour */

/* Blocks of a colour that a measurement looks at. Number i of both colours', in units of which
 * `some` of a colour are looked at and a block has `units`: its place. */
#ifdef BYTES_CUT
#define BYTES_SOME ((ulong)(BYTES_TO - BYTES_FROM) * BYTES_BLOCKS)
#define BYTES_AT(i, some, units)                                                                   \
    ((i) + (ulong)BYTES_FROM * (BYTES_BLOCKS * (units)) +                                          \
     ((i) >= (some) ? BYTES_COLOUR * (units) - (some) : 0UL))
#else
#define BYTES_SOME BYTES_COLOUR
#define BYTES_AT(i, some, units) (i)
#endif

struct bytes_sixteen {
    uint at[4];
};

ERGO_INLINE struct bytes_sixteen bytes_load(BYTES_PLACE const uint4 *from, ulong block) {
    const uint4 v = from[block];
    struct bytes_sixteen s;
    s.at[0] = v.x;
    s.at[1] = v.y;
    s.at[2] = v.z;
    s.at[3] = v.w;
    return s;
}

ERGO_INLINE uint bytes_one(BYTES_PLACE const uint4 *from, ulong row, uint h) {
    return ((BYTES_PLACE const uint *)from)[row * (BYTES_PITCH / 4) + h / 4] >> 8 * (h % 4) & 255;
}

/* All neighbours of sixteen sites. */
struct bytes_view {
    struct bytes_sixteen near, side, north, south, above, below;
};

/* The second neighbours along x of the sixteen sites whose first ones are `near`. odd: they are at
 * x + 1, the next byte of the row; else at x - 1, the byte before. `other`: the other colour. */
ERGO_INLINE struct bytes_sixteen bytes_side(BYTES_PLACE const uint4 *other,
                                            struct bytes_sixteen near, uint row, uint block,
                                            uint odd) {
    struct bytes_sixteen side;
    const uint h = 16 * block;
    if (odd) {
        const uint next = bytes_one(other, row, h + 16 < BYTES_HALF ? h + 16 : 0);
        ERGO_UNROLL
        for (int g = 0; g < 4; g++)
            side.at[g] = near.at[g] >> 8 | (g < 3 ? near.at[g + 1] : next) << 24;
        if (BYTES_HALF % 16 && h + 16 >= BYTES_HALF) { /* the row ends within this block */
            const uint last = BYTES_HALF - 1 - h, shift = 8 * (last % 4);
            ERGO_UNROLL
            for (uint g = 0; g < 4; g++)
                if (g == last / 4)
                    side.at[g] = (side.at[g] & ~(255u << shift)) | next << shift;
        }
    } else {
        const uint before = bytes_one(other, row, h ? h - 1 : BYTES_HALF - 1);
        ERGO_UNROLL
        for (int g = 0; g < 4; g++)
            side.at[g] = near.at[g] << 8 | (g > 0 ? near.at[g - 1] >> 24 : before);
    }
    return side;
}

/* The neighbours in the rows beside this one. */
ERGO_INLINE struct bytes_sixteen bytes_north(BYTES_PLACE const uint4 *other, uint row, uint y,
                                             uint block) {
    return bytes_load(other,
                      (ulong)(y == 0 ? row + (BYTES_LY - 1) : row - 1) * BYTES_BLOCKS + block);
}

ERGO_INLINE struct bytes_sixteen bytes_south(BYTES_PLACE const uint4 *other, uint row, uint y,
                                             uint block) {
    return bytes_load(
        other, (ulong)(y + 1 == BYTES_LY ? row - (BYTES_LY - 1) : row + 1) * BYTES_BLOCKS + block);
}

/* The neighbours in the planes beside this one. */
ERGO_INLINE struct bytes_sixteen bytes_above(BYTES_PLACE const uint4 *other, uint row, uint z,
                                             uint block) {
    return bytes_load(
        other,
        (ulong)(z == 0 ? row + (BYTES_LZ - 1) * BYTES_LY : row - BYTES_LY) * BYTES_BLOCKS + block);
}

ERGO_INLINE struct bytes_sixteen bytes_below(BYTES_PLACE const uint4 *other, uint row, uint z,
                                             uint block) {
    return bytes_load(
        other, (ulong)(z + 1 == BYTES_LZ ? row - (BYTES_LZ - 1) * BYTES_LY : row + BYTES_LY) *
                       BYTES_BLOCKS +
                   block);
}

ERGO_INLINE struct bytes_view bytes_look(BYTES_PLACE const uint4 *other, uint row, uint block,
                                         uint colour) {
    struct bytes_view v;
    const uint z = row / BYTES_LY, y = row - z * BYTES_LY;
    v.near = bytes_load(other, (ulong)row * BYTES_BLOCKS + block);
    v.side = bytes_side(other, v.near, row, block, (y + z + colour) & 1);
    if (BYTES_D > 1) {
        v.north = bytes_north(other, row, y, block);
        v.south = bytes_south(other, row, y, block);
    } else {
        v.north = v.near;
        v.south = v.near;
    }
    if (BYTES_D > 2) {
        v.above = bytes_above(other, row, z, block);
        v.below = bytes_below(other, row, z, block);
    } else {
        v.above = v.near;
        v.below = v.near;
    }
    return v;
}

/* The neighbours of four of the sixteen sites. Which of west and east is which depends on the row;
 * the caller knows. */
ERGO_INLINE struct bytes_around bytes_around_of(struct bytes_view v, uint four) {
    struct bytes_around n;
    n.west = v.near.at[four];
    n.east = v.side.at[four];
    n.north = v.north.at[four];
    n.south = v.south.at[four];
    n.above = v.above.at[four];
    n.below = v.below.at[four];
    return n;
}

#if BYTES_CHOICES
/* Heat bath of potts for four sites, the first of which is `entity`; `here` of them exist. */
#define BYTES_POWER (BYTES_Q * BYTES_Q * BYTES_Q * BYTES_Q)
ERGO_INLINE uint bytes_choose_four(struct bytes_around n, uint entity, uint here, ulong step,
                                   uint draw, uint key0, uint key1, __local const uint4 *table) {
    __local const uint *states = (__local const uint *)(table + BYTES_CHOICES);
    uint result = 0, low = n.west + BYTES_Q * n.east, high = 0; /* all below 256 */
    if (BYTES_D > 1)
        low += BYTES_Q * BYTES_Q * (n.north + BYTES_Q * n.south);
    if (BYTES_D > 2)
        high = n.above + BYTES_Q * n.below;
    ERGO_UNROLL
    for (uint l = 0; l < 4; l++) {
        const uint at = (low >> 8 * l & 255) + BYTES_POWER * (high >> 8 * l & 255);
        const uint4 t = table[at];
        struct bytes_choice c;
        c.thresholds[0] = (ulong)t.y << 32 | t.x;
        c.thresholds[1] = (ulong)t.w << 32 | t.z;
        c.states = states[at];
        const struct ergo_words r =
            ergo_philox_words(entity + l, (uint)step, (uint)(step >> 32), draw, key0, key1);
        if (l < here)
            result |= bytes_choose(c, r) << 8 * l;
    }
    return result;
}
#endif

#endif
