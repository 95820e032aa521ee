/* Spin glasses: start, half a sweep of all word-lattices, sweeps of a quad in local memory.
 * Dimension 1 is the word-lattice: member * words.x + word. */
#include "spin_lattice/glass_update.h"

GLASS_UPDATE(glass_update_global, __global, GLASS_QUADS)

/* Half a sweep. Dimension 0: quad + QUADS * h. */
__kernel void glass_sweep(__global uint4 *spins, __global const uint *couplings,
                          __global const uint4 *tables, __global const uint2 *keys, ulong sweep,
                          uint colour, uint2 words, uint last) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    if (i >= GLASS_HALF * GLASS_QUADS)
        return;
    const uint h = i / GLASS_QUADS, quad = i - h * GLASS_QUADS;
    const struct glass_place p =
        glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    glass_update_global(spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad, p, colour, h);
}

#ifdef GLASS_LOCAL
GLASS_UPDATE(glass_update_local, __local, 1u)

/* `sweeps` sweeps of a quad in local memory. Dimension 0: one group per quad. */
__kernel void glass_local(__global uint4 *spins, __global const uint *couplings,
                          __global const uint4 *tables, __global const uint2 *keys, ulong sweep,
                          uint sweeps, uint2 words, uint last, __local uint4 *room) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint quad = (uint)get_group_id(0), lattice = (uint)get_global_id(1);
    struct glass_place p = glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __global uint4 *mine = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
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

/* mode 0 down, 1 up, 2 random. Dimension 0: quad + QUADS * (h + HALF * colour). */
__kernel void glass_start(__global uint4 *spins, __global const uint2 *keys, uint mode, uint2 words,
                          uint last) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    if (i >= GLASS_SITES * GLASS_QUADS)
        return;
    const uint at = i / GLASS_QUADS, quad = i - at * GLASS_QUADS;
    const uint colour = at >= GLASS_HALF;
    const struct glass_at a = glass_site(at - colour * GLASS_HALF, colour);
    const uint member = lattice / words.x, word = lattice - member * words.x;
    uint4 up = mode ? (uint4)(0xffffffffu) : (uint4)(0u);
    if (mode == 2)
        up = glass_draw(a.site, 0, GLASS_PURPOSE_START,
                        (words.y + word) << 8 | (GLASS_QUADS_BEFORE + quad), keys[member]);
    spins[(ulong)lattice * (GLASS_SITES * GLASS_QUADS) + i] = up & GLASS_LANES(word, words.x, last);
}
