/* ising_sweep_local for CPUs: one work-item has a member and goes through it in chunks of eight
 * blocks. It has no barriers, because PoCL's loops over work-items around them cost more than the
 * sweep. */
#define ISING_LANES
#define ISING_SPACE __local
#define ISING_MARGIN (ISING_LX / 2 / 32 + 2) /* one more than a row */
#include "spin_lattice/lanes.h"

#define ISING_CHUNKS ((ISING_WORDS + ISING_CHUNK - 1) / ISING_CHUNK)
#define ISING_ROOM (ISING_CHUNKS * ISING_CHUNK + 2 * ISING_MARGIN)

/* Arguments as in ising_local.cl. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
ising_sweep_local(__global uint *spins, __global const struct ising_member *members, ulong sweep,
                  uint samples, uint every, uint first, __global uint *sums) {
    __local uint storage[2 * ISING_ROOM];
    const uint index = (uint)get_group_id(0), count = (uint)get_num_groups(0);
    const struct ising_member member = members[index];
    __global uint *home = spins + (ulong)index * (8u * ISING_BLOCKS);

    for (uint colour = 0; colour < 2; colour++) {
        __local uint *own = storage + colour * ISING_ROOM + ISING_MARGIN;
        /* up to the end of the last chunk's windows, although the words there are masked */
        for (uint i = 0; i < ISING_CHUNKS * ISING_CHUNK + ISING_MARGIN; i++)
            own[i] = i < ISING_WORDS ? home[colour * (4u * ISING_BLOCKS) + i] : 0u;
        for (uint i = 0; i < ISING_MARGIN; i++) {
            own[-1 - (int)i] = own[ISING_WORDS - 1 - i % ISING_WORDS];
            own[ISING_WORDS + i] = own[i % ISING_WORDS];
        }
    }

    const uint rounds = samples ? samples : 1;
    for (uint sample = 0; sample < rounds; sample++) {
        for (uint e = 0; e < every; e++, sweep++) {
            for (uint colour = 0; colour < 2; colour++) {
                __local uint *own = storage + colour * ISING_ROOM + ISING_MARGIN;
                __local const uint *other = storage + (1 - colour) * ISING_ROOM + ISING_MARGIN;
                for (uint chunk = 0; chunk < ISING_CHUNKS; chunk++)
                    ising_update_lanes(own, other, ISING_CHUNK * chunk, 8 * chunk, sweep, colour,
                                       &member);
                for (uint i = 0; i < ISING_MARGIN; i++) {
                    own[-1 - (int)i] = own[ISING_WORDS - 1 - i % ISING_WORDS];
                    own[ISING_WORDS + i] = own[i % ISING_WORDS];
                }
            }
        }
        if (samples) {
            __local const uint *own = storage + ISING_MARGIN;
            __local const uint *other = own + ISING_ROOM;
            ulong8 counts[ISING_SUMS];
            for (int k = 0; k < ISING_SUMS; k++)
                counts[k] = (ulong8)(0UL);
            for (uint chunk = 0; chunk < ISING_CHUNKS; chunk++)
                ising_count_lanes(own, other, 8 * chunk, counts);
            __global uint *to = sums + ISING_SUMS * (((ulong)first + sample) * count + index);
            for (int k = 0; k < ISING_SUMS; k++)
                to[k] = ising_sum_lanes(counts[k]);
        }
    }

    for (uint colour = 0; colour < 2; colour++)
        for (uint i = 0; i < ISING_WORDS; i++)
            home[colour * (4u * ISING_BLOCKS) + i] =
                storage[colour * ISING_ROOM + ISING_MARGIN + i];
}
