/*
 * Spin glasses: parallel tempering of lattices in local memory. One launch from an exchange to the
 * next: who exchanges is decided by each group that has a part in it, alike, and configurations
 * change places while they are loaded.
 */
#include "spin_lattice/glass_count.h"
#include "spin_lattice/glass_ladder.h"

GLASS_UPDATE(glass_update_local, __local, 1u)

#define GLASS_LOCAL_LANES (1u << GLASS_COUNT_LEVELS)

/* Unsatisfied bonds of a site of colour 0. */
ERGO_INLINE struct glass_sum glass_unsatisfied(__local const uint4 *spins,
                                               __global const uint *couplings, uint h) {
    const struct glass_at a = glass_site(h, 0);
    __global const uint2 *bonds = (__global const uint2 *)(couplings + h * GLASS_Z);
    const uint4 own = spins[h];
    uint4 x[6];
    ERGO_UNROLL
    for (uint d = 0; d < GLASS_Z / 2; d++) {
        const uint2 pair = bonds[d];
        x[2 * d] = own ^ spins[GLASS_HALF + a.near[2 * d]] ^ pair.x;
        x[2 * d + 1] = own ^ spins[GLASS_HALF + a.near[2 * d + 1]] ^ pair.y;
    }
    return glass_add(x);
}

/*
 * An exchange of this parity before `sweep` (2: none), by counts[parity]; `sweeps` sweeps; and
 * counts[next] of what then is (2: not), as in glass_temper.cl. All quads read `from` and write
 * `to`. Dimension 0: one group per quad, of GLASS_LOCAL_LANES and more. room: of the lattice, or
 * GLASS_LOCAL_LANES (8 + GLASS_COUNT_LEVELS).
 */
__kernel void glass_local_ladder(__global const uint4 *from, __global uint4 *to,
                                 __global const uint *couplings, __global const uint4 *tables,
                                 __global const uint2 *keys, ulong sweep, uint sweeps, uint2 words,
                                 uint last, __global uint *counts, __global const float *slopes,
                                 __global uint *came, __global ulong *accepted,
                                 __global ulong *trips, uint parity, uint next,
                                 __local uint4 *room) {
    __local uint4 wants[32];
    __local uint masks[4];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint quad = (uint)get_group_id(0), lattice = (uint)get_global_id(1);
    const uint lattices = (uint)get_global_size(1);
    struct glass_place p = glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    const uint member = lattice / words.x, word = lattice - member * words.x;
    const ulong offset = (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    __global const uint *count = counts + (ulong)(parity * lattices + lattice) * (GLASS_SLOTS * 32);
    for (uint i = item; i < 128; i += size) {
        const uint slot = 4 * quad + i / 32, t = slot / GLASS_COPIES;
        const uint upper = (t & 1) != parity, low = upper ? slot - GLASS_COPIES : slot;
        uint want = 0;
        if (parity < 2 && (upper ? t > 0 && t < GLASS_T : t + 1 < GLASS_T)) {
            const uint at = low * 32 + (i & 31u);
            want = glass_wants((long)count[at + 32 * GLASS_COPIES] - (long)count[at],
                               slopes[member * (GLASS_T) + low / GLASS_COPIES], words.y + word,
                               i & 31u, sweep, low, p.key);
        }
        ((__local uint *)wants)[i] = want;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 4) {
        const uint slot = 4 * quad + item, t = slot / GLASS_COPIES;
        uint4 all = (uint4)(0u);
        for (uint i = 0; i < 8; i++)
            all |= wants[8 * item + i];
        const uint m = (all.x | all.y | all.z | all.w) & p.lanes;
        masks[item] = m;
        if ((t & 1) == parity && t + 1 < GLASS_T) { /* the pair's colder one */
            __global uint *c = came + lattice * GLASS_SLOTS;
            __global ulong *own_accepted =
                accepted + (ulong)lattice * ((uint)(GLASS_T)*GLASS_COPIES);
            __global ulong *own_trips = trips + lattice * GLASS_COPIES;
            glass_note(glass_open(c, own_accepted, own_trips, t, slot % GLASS_COPIES), c,
                       own_accepted, own_trips, t, slot % GLASS_COPIES, m, p.lanes);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint4 mask = (uint4)(masks[0], masks[1], masks[2], masks[3]);
    for (uint i = item; i < GLASS_SITES; i += size)
        room[i] = glass_moved(from + offset + i * GLASS_QUADS, quad, quad > 0, mask, parity & 1);
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
        to[offset + i * GLASS_QUADS] = room[i];
    struct glass_counter counter = glass_count_zero();
    if (next < 2 && item < GLASS_LOCAL_LANES)
        for (uint h = item; h < GLASS_HALF; h += 2 * GLASS_LOCAL_LANES) {
            struct glass_sum m = glass_unsatisfied(room, p.couplings, h), n;
            n.m0 = n.m1 = n.m2 = (uint4)(0u);
            if (h + GLASS_LOCAL_LANES < GLASS_HALF)
                n = glass_unsatisfied(room, p.couplings, h + GLASS_LOCAL_LANES);
            counter = glass_count_add(counter, m, n);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    glass_count_sum(counter, room, item, GLASS_LOCAL_LANES, GLASS_COUNT_LEVELS, 1);
    __global uint *out =
        counts + ((ulong)(next * lattices + lattice) * GLASS_SLOTS + 4 * quad) * 32;
    for (uint o = item; o < 32 && next < 2; o += size) {
        const uint4 sum =
            glass_count_four(room, GLASS_LOCAL_LANES, GLASS_COUNT_LEVELS, o / 8, o & 7u);
        __global uint *own = out + o / 8 * 32 + (o & 7u);
        own[0] = sum.x;
        own[8] = sum.y;
        own[16] = sum.z;
        own[24] = sum.w;
    }
}
