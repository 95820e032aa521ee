/* Several sweeps per launch on one large lattice. Each work-group takes a stripe of ISING_ROWS rows
 * with a halo into local memory, and recomputes the halo instead of exchanging it. Random numbers
 * belong to sites, so both copies of a halo row use the same ones and agree. Rows must be whole
 * blocks (ISING_WIDE). */
#define ISING_SPACE __local
#include "spin_lattice/block.h"

#define ISING_HALO (2 * ISING_SWEEPS) /* one row per half-sweep and side */
#define ISING_TALL (ISING_ROWS + 2 * ISING_HALO)
#define ISING_ROW_BLOCKS (ISING_W / 4)

/* Make `sweeps` <= ISING_SWEEPS sweeps, from `from` to `to`. Group (g, member) has rows from g
 * ISING_ROWS on. */
__kernel __attribute__((reqd_work_group_size(ISING_GROUP, 1, 1))) void
ising_sweep_tile(__global const uint4 *from, __global uint4 *to,
                 __global const struct ising_member *members, ulong sweep, uint sweeps) {
    __local uint4 tile[2 * ISING_TALL * ISING_ROW_BLOCKS];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const uint top = (uint)get_group_id(0) * ISING_ROWS;
    const struct ising_member member = members[index];
    const ulong home = (ulong)index * (2 * ISING_BLOCKS);

    /* local row r is row top - ISING_HALO + r of the lattice */
    for (uint i = item; i < ISING_TALL * ISING_ROW_BLOCKS; i += ISING_GROUP) {
        const uint r = i / ISING_ROW_BLOCKS, b = i - r * ISING_ROW_BLOCKS;
        const uint y = (top + r + (ISING_LY * ISING_HALO - ISING_HALO)) % ISING_LY;
        const ulong source = home + y * ISING_ROW_BLOCKS + b;
        tile[i] = from[source];
        tile[ISING_TALL * ISING_ROW_BLOCKS + i] = from[source + ISING_BLOCKS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint half_sweep = 0; half_sweep < 2 * sweeps; half_sweep++) {
        const uint colour = half_sweep & 1;
        __local uint *own = (__local uint *)(tile + colour * (ISING_TALL * ISING_ROW_BLOCKS));
        __local const uint *other =
            (__local const uint *)(tile + (1 - colour) * (ISING_TALL * ISING_ROW_BLOCKS));
        /* The valid part of the halo shrinks with each half-sweep. Fewer sweeps need less of it. */
        const uint first = 1 + half_sweep + 2 * (ISING_SWEEPS - sweeps);
        const uint count = (ISING_TALL - 2 * first) * ISING_ROW_BLOCKS;
        for (uint i = item; i < count; i += ISING_GROUP) {
            const uint r = first + i / ISING_ROW_BLOCKS;
            const uint y = (top + r + (ISING_LY * ISING_HALO - ISING_HALO)) % ISING_LY;
            struct ising_place p;
            p.row = r * ISING_W;
            p.w = 4 * (i % ISING_ROW_BLOCKS);
            p.above = p.row - ISING_W;
            p.below = p.row + ISING_W;
            p.odd = (y + colour) & 1;
            ising_update(own, other, p, y * ISING_ROW_BLOCKS + p.w / 4, sweep + half_sweep / 2,
                         colour, &member);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const uint rows = min((uint)ISING_ROWS, ISING_LY - top);
    for (uint i = item; i < rows * ISING_ROW_BLOCKS; i += ISING_GROUP) {
        const uint j = i + ISING_HALO * ISING_ROW_BLOCKS;
        const ulong target = home + top * ISING_ROW_BLOCKS + i;
        to[target] = tile[j];
        to[target + ISING_BLOCKS] = tile[ISING_TALL * ISING_ROW_BLOCKS + j];
    }
}
