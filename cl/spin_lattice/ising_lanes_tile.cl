/*
 * ising_sweep_tile for CPUs: a work-item takes a stripe of ISING_ROWS rows into its cache and goes
 * through it in chunks of eight blocks, several sweeps per launch.
 *
 * Chunks must be whole rows or parts of one row (32 a multiple of ISING_W, or the other way round).
 * Stripes, halos and the lattice must consist of whole chunks. Then no chunk lies across the
 * lattice's seam, and blocks have their usual numbers.
 */
#define ISING_LANES
#define ISING_SPACE __local
#define ISING_MARGIN                                                                               \
    (ISING_W + 1) /* one row and a word, which are read beside the outermost rows but not used */
#include "spin_lattice/lanes.h"

/* rows of a block: a wrong neighbour of one may change its other decisions, too */
#define ISING_TOGETHER (ISING_W < 4 ? 4u / ISING_W : 1u)
/* so many per half-sweep and side, rounded up to whole chunks */
#define ISING_CHUNK_ROWS (ISING_W < ISING_CHUNK ? ISING_CHUNK / ISING_W : 1u)
#define ISING_HALO                                                                                 \
    ((2 * ISING_TOGETHER * ISING_SWEEPS + ISING_CHUNK_ROWS - 1) / ISING_CHUNK_ROWS *               \
     ISING_CHUNK_ROWS)
#define ISING_TALL (ISING_ROWS + 2 * ISING_HALO)
#define ISING_ROOM (ISING_TALL * ISING_W + 2 * ISING_MARGIN)

/* Arguments as in ising_tile.cl. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
ising_sweep_tile(__global const uint *from, __global uint *to,
                 __global const struct ising_member *members, ulong sweep, uint sweeps) {
    __local uint storage[2 * ISING_ROOM];
    const uint index = (uint)get_global_id(1), top = (uint)get_group_id(0) * ISING_ROWS;
    const uint start = (top + (ISING_LY * ISING_HALO - ISING_HALO)) % ISING_LY * ISING_W;
    const struct ising_member member = members[index];
    const ulong home = (ulong)index * (8u * ISING_BLOCKS);

    for (uint colour = 0; colour < 2; colour++) {
        __local uint *own = storage + colour * ISING_ROOM + ISING_MARGIN;
        __global const uint *source = from + home + colour * (4u * ISING_BLOCKS);
        for (uint i = 0; i < ISING_MARGIN; i++)
            own[-1 - (int)i] = own[ISING_TALL * ISING_W + i] = 0;
        for (uint i = 0, word = start; i < ISING_TALL * ISING_W; i += ISING_CHUNK) {
            vstore16(vload16(0, source + word), 0, own + i);
            vstore16(vload16(1, source + word), 1, own + i);
            word = word + ISING_CHUNK == ISING_WORDS ? 0u : word + ISING_CHUNK;
        }
    }

    for (uint half_sweep = 0; half_sweep < 2 * sweeps; half_sweep++) {
        const uint colour = half_sweep & 1;
        __local uint *own = storage + colour * ISING_ROOM + ISING_MARGIN;
        __local const uint *other = storage + (1 - colour) * ISING_ROOM + ISING_MARGIN;
        /* The valid part of the halo shrinks with each half-sweep. Fewer sweeps need less of it. */
        const uint first =
            ISING_TOGETHER * (1 + half_sweep) + (ISING_HALO - 2 * ISING_TOGETHER * sweeps);
        const uint begin = first * ISING_W / ISING_CHUNK * ISING_CHUNK;
        uint word = (start + begin) % ISING_WORDS;
        for (uint i = begin; i < (ISING_TALL - first) * ISING_W; i += ISING_CHUNK) {
            ising_update_lanes(own, other, i, word / 4, sweep + half_sweep / 2, colour, &member);
            word = word + ISING_CHUNK == ISING_WORDS ? 0u : word + ISING_CHUNK;
        }
    }

    const uint rows = min((uint)ISING_ROWS, ISING_LY - top);
    for (uint colour = 0; colour < 2; colour++) {
        __local const uint *own =
            storage + colour * ISING_ROOM + ISING_MARGIN + ISING_HALO * ISING_W;
        __global uint *target = to + home + colour * (4u * ISING_BLOCKS) + top * ISING_W;
        for (uint i = 0; i < rows * ISING_W; i += ISING_CHUNK) {
            vstore16(vload16(0, own + i), 0, target + i);
            vstore16(vload16(1, own + i), 1, target + i);
        }
    }
}
