/* u of a pair from a table in local memory, for the kernels that walk. Macros: walk_registers.cl.
 */
#ifndef ERGO_CL_HELIUM_VMC_PAIR_H
#define ERGO_CL_HELIUM_VMC_PAIR_H

#include "helium/site.h"
#include "helium_vmc/core.h"

#define HELIUM_PIECE_SHIFT /* bytes between pieces */                                              \
    (HELIUM_COPIES == 8 ? 7 : HELIUM_COPIES == 4 ? 6 : HELIUM_COPIES == 2 ? 5 : 4)

/* u between two places. `table` begins with the work-item's copy. */
ERGO_INLINE int helium_u_at(__local const helium_cubic *table, int4 a, int x, int y, int z,
                            const struct helium_member *m) {
    const int dx = (int)((uint)a.x - (uint)x), dy = (int)((uint)a.y - (uint)y),
              dz = (int)((uint)a.z - (uint)z);
#if HELIUM_CUBE /* scale[0] is a power of two: the same bits as below */
    const float r = helium_distance2((float)dx, (float)dy, (float)dz) * (m->scale[0] * m->scale[0]);
#else
    const float r =
        helium_distance2((float)dx * m->scale[0], (float)dy * m->scale[1], (float)dz * m->scale[2]);
#endif
    /* floats that are not negative have the order of their bits */
    const int bits = min(max(as_int(r), as_int(m->low)), 0x3f7fffff);
    const uint begin = (uint)bits & (0xffffffffu << (23 - HELIUM_U_PIECES));
    /* in bytes: one shift; the load does the rest */
    const uint at = (begin >> (23 - HELIUM_U_PIECES - HELIUM_PIECE_SHIFT)) -
                    (HELIUM_U_BASE << HELIUM_PIECE_SHIFT);
    return (int)helium_poly(*(__local const helium_cubic *)((__local const char *)table + at),
                            as_float(bits) - as_float(begin));
}

ERGO_INLINE int helium_u(__local const helium_cubic *table, int4 a, int4 b,
                         const struct helium_member *m) {
    return helium_u_at(table, a, b.x, b.y, b.z, m);
}

ERGO_INLINE int4 helium_moved(int4 old, struct helium_move move) {
    return (int4)((int)((uint)old.x + (uint)move.dx), (int)((uint)old.y + (uint)move.dy),
                  (int)((uint)old.z + (uint)move.dz), 0);
}

#endif
