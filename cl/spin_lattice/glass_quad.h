/* Spin glasses: a work-group has all sites of a quad in local memory. */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_QUAD_H
#define ERGO_CL_SPIN_LATTICE_GLASS_QUAD_H

#include "spin_lattice/glass_update.h"

GLASS_UPDATE(glass_update_local, __local, 1u)

/* Sweeps of the quad's spins `mine`, which are in room[site] afterwards, too. */
ERGO_INLINE void glass_quad_sweeps(__global uint4 *mine, __local uint4 *room, struct glass_place p,
                                   uint sweeps, uint item, uint size) {
    for (uint i = item; i < GLASS_SITES; i += size)
        room[i] = mine[i * GLASS_QUADS];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < sweeps; t++) {
        for (uint colour = 0; colour < 2; colour++) {
            for (uint h = item; h < GLASS_HALF; h += size)
                glass_update_local(room, p, colour, h);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        p.sweep++;
    }
    for (uint i = item; i < GLASS_SITES; i += size)
        mine[i * GLASS_QUADS] = room[i];
}

#endif
