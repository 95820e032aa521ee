/* Cells in memory. Those of one checkerboard set are contiguous: eight sets, in each rows of x,
 * then y, then z. */
#ifndef ERGO_CL_HARD_SPHERES_CELL_H
#define ERGO_CL_HARD_SPHERES_CELL_H

#include "hard_spheres/core.h"

/* Where cell (x, y, z) of a member is, from the member's first on. */
ERGO_INLINE uint spheres_at(__global const struct spheres_member *m, uint x, uint y, uint z) {
    const uint hx = m->cells[0] / 2u, hy = m->cells[1] / 2u, hz = m->cells[2] / 2u;
    const uint set = (x & 1u) | (y & 1u) << 1 | (z & 1u) << 2;
    return ((set * hz + (z >> 1)) * hy + (y >> 1)) * hx + (x >> 1);
}

/* The cell d = -1, 0 or 1 away from x, around a side of n cells. */
ERGO_INLINE uint spheres_beside(uint x, int d, uint n) {
    return d < 0 ? (x ? x - 1u : n - 1u) : d > 0 ? (x + 1u < n ? x + 1u : 0u) : x;
}

ERGO_INLINE int spheres_x(ulong sphere) {
    return (int)((uint)sphere & SPHERES_AXIS);
}
ERGO_INLINE int spheres_y(ulong sphere) {
    return (int)((uint)(sphere >> 21) & SPHERES_AXIS);
}
ERGO_INLINE int spheres_z(ulong sphere) {
    return (int)((uint)(sphere >> 42) & SPHERES_AXIS);
}
ERGO_INLINE ulong spheres_pack(int x, int y, int z) {
    return (ulong)(uint)x | (ulong)(uint)y << 21 | (ulong)(uint)z << 42;
}

/* For each sphere of the cell at `at`, in planes from `from` on, where there are any: `do` sees its
 * word as `sphere`, with bit 63 undefined. Planes are `plane` cells apart. */
#define SPHERES_EACH(cells, plane, at, do) SPHERES_EACH_FROM(0u, cells, plane, at, do)
#define SPHERES_EACH_FROM(from, cells, plane, at, do)                                              \
    for (uint p_ = (from), go_ = 1u; go_ && p_ < SPHERES_SLOTS / 2u; p_++) {                       \
        const ulong2 pair_ = (cells)[(size_t)p_ * (plane) + (at)];                                 \
        ulong sphere = pair_.x;                                                                    \
        if (p_ == 0u && sphere == SPHERES_EMPTY)                                                   \
            break;                                                                                 \
        do                                                                                         \
            if (!(pair_.x & SPHERES_NEXT))                                                         \
                break;                                                                             \
        sphere = pair_.y;                                                                          \
        do                                                                                         \
            go_ = (uint)(pair_.y >> 63);                                                           \
    }

/* The n spheres of a cell, without the mark. */
ERGO_INLINE uint spheres_load(__global const ulong2 *cells, uint plane, uint at, ulong *slots) {
    uint n = 0u;
    SPHERES_EACH(cells, plane, at, { slots[n++] = sphere & ~SPHERES_NEXT; })
    return n;
}

#endif
