/* Ising kernels for lattices that fit in local memory: one work-group has a member and makes many
 * sweeps and measurements in one launch. */
#define ISING_SPACE __local
#include "spin_lattice/block.h"
#ifdef ISING_AHEAD
#include "spin_lattice/ahead.h"
#define ISING_UNROLL_COLOURS ERGO_UNROLL /* what is loaded for a colour stays in its registers */
#else
#define ISING_UNROLL_COLOURS
#endif

#define ISING_COLOUR_WORDS (4u * ISING_BLOCKS)
#define ISING_STEPS ((ISING_BLOCKS + ISING_GROUP - 1) / ISING_GROUP)

#ifdef ISING_AHEAD
/* A work-item's parts of the sums of ISING_KEPT samples wait until they are added all at once, by
 * ISING_FOLD work-items a sample: barriers cost more than additions. */
#define ISING_SHARE (ISING_GROUP / ISING_KEPT)
#define ISING_FOLD (ISING_SHARE < 1 ? 1 : ISING_SHARE < 16 ? ISING_SHARE : 16)

ERGO_INLINE void ising_fold(__local const uint *parts, __local uint *folded, uint item, uint kept) {
    const uint each = ISING_GROUP / ISING_FOLD;
    for (uint i = item; i < kept * ISING_SUMS * ISING_FOLD; i += ISING_GROUP) {
        const uint row = i / ISING_FOLD, lane = i - row * ISING_FOLD;
        uint sum = 0;
        for (uint j = 0; j < each; j++) /* work-items of a warp read other banks */
            sum += parts[row * ISING_GROUP + lane + ISING_FOLD * ((j + row) % each)];
        folded[i] = sum;
    }
}

/* sums: of the first of `kept` samples, `stride` apart. */
ERGO_INLINE void ising_add_folded(__local const uint *folded, uint item, uint kept,
                                  __global uint *sums, ulong stride) {
    for (uint i = item; i < kept * ISING_SUMS; i += ISING_GROUP) {
        const uint sample = i / ISING_SUMS;
        uint sum = 0;
        for (uint lane = 0; lane < ISING_FOLD; lane++)
            sum += folded[i * ISING_FOLD + lane];
        sums[sample * stride + i - sample * ISING_SUMS] = sum;
    }
}

#endif

/* `samples` times: `every` sweeps, then one measurement. If samples is 0, only `every` sweeps.
 * sums: [first + sample][member][ISING_SUMS]. With ISING_AHEAD, all random bits of the launch have
 * been drawn, and a work-item has half a block. Bits are loaded two decisions before they are used.
 * With ISING_SNAPSHOTS, the lattice at sample `due`, and at each `interval`-th after it, is kept
 * for the correlations: snapshots[number][member]. So a launch need not end there.
 */
__kernel __attribute__((reqd_work_group_size(ISING_GROUP, 1, 1))) void
ising_sweep_local(__global uint *spins, __global const struct ising_member *members, ulong sweep,
                  uint samples, uint every, uint first, __global uint *sums
#ifdef ISING_AHEAD
                  ,
                  __global const uint4 *drawn
#endif
#ifdef ISING_SNAPSHOTS
                  ,
                  __global uint *snapshots, uint due, uint interval
#endif
) {
    __local uint4 storage[2 * ISING_BLOCKS];
#ifdef ISING_AHEAD
    __local uint parts[ISING_KEPT * ISING_SUMS * ISING_GROUP];
    __local uint folded[ISING_KEPT * ISING_SUMS * ISING_FOLD];
#else
    __local uint scratch[ISING_SUMS * ISING_GROUP];
#endif
    __local uint *lattice = (__local uint *)storage;
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(0);
    const uint count = (uint)get_num_groups(0);
    const struct ising_member member = members[index];
    __global uint *home = spins + (ulong)index * (2 * ISING_COLOUR_WORDS);

    for (uint i = item; i < 2 * ISING_COLOUR_WORDS; i += ISING_GROUP)
        lattice[i] = home[i];
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint rounds = samples ? samples : 1;
#ifdef ISING_AHEAD
    __local uint before[ISING_BLOCKS];
    const uint mine = item < 2 * ISING_BLOCKS ? item : 0u, last = 2 * every * rounds - 1;
    uint half_sweep = 1;
    struct ising_pair_drawn next[2];
    next[0] = ising_fetch(drawn, ISING_DRAWN_AT(0, count, index, 0), mine);
    next[1] = ising_fetch(drawn, ISING_DRAWN_AT(1, count, index, 0), mine);
#endif
    for (uint sample = 0; sample < rounds; sample++) {
#ifdef ISING_AHEAD
        const uint kept = sample % ISING_KEPT + 1;
        __local uint *part = parts + (kept - 1) * (ISING_SUMS * ISING_GROUP) + item;
#endif
        for (uint e = 0; e < every; e++, sweep++) {
            ISING_UNROLL_COLOURS
            for (uint colour = 0; colour < 2; colour++) {
                __local uint *own = lattice + colour * ISING_COLOUR_WORDS;
                __local const uint *other = lattice + (1 - colour) * ISING_COLOUR_WORDS;
#ifdef ISING_AHEAD
                ising_update_pair(own, other, next[colour], item, before, sweep, colour, &member,
                                  samples && colour && e + 1 == every, part);
                half_sweep += half_sweep < last;
                next[colour] =
                    ising_fetch(drawn, ISING_DRAWN_AT(half_sweep, count, index, 0), mine);
#else
                for (uint step = 0; step < ISING_STEPS; step++) {
                    const uint block = step * ISING_GROUP + item;
                    if (ISING_BLOCKS % ISING_GROUP == 0 || block < ISING_BLOCKS)
                        ising_update(own, other, ising_place(block, colour), block, sweep, colour,
                                     &member);
                }
#endif
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        if (samples) {
#ifdef ISING_SNAPSHOTS
            if (sample >= due && (sample - due) % interval == 0) {
                __global uint *to =
                    snapshots +
                    ((ulong)((sample - due) / interval) * count + index) * (2 * ISING_COLOUR_WORDS);
                for (uint i = item; i < 2 * ISING_COLOUR_WORDS; i += ISING_GROUP)
                    to[i] = lattice[i];
            }
#endif
#ifdef ISING_AHEAD
            /* the next sweep overwrites spins that are being kept */
            barrier(CLK_LOCAL_MEM_FENCE);
            const bool full = kept == ISING_KEPT || sample + 1 == rounds;
            if (full)
                ising_fold(parts, folded, item, kept);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (full) {
                const ulong at = ((ulong)first + sample + 1 - kept) * count + index;
                ising_add_folded(folded, item, kept, sums + ISING_SUMS * at,
                                 ISING_SUMS * (ulong)count);
            }
#else
            uint counts[ISING_SUMS];
            ERGO_UNROLL
            for (int k = 0; k < ISING_SUMS; k++)
                counts[k] = 0;
            for (uint block = item; block < ISING_BLOCKS; block += ISING_GROUP)
                ising_count_block(lattice, lattice + ISING_COLOUR_WORDS, block, counts);
            ERGO_UNROLL
            for (int k = 0; k < ISING_SUMS; k++)
                scratch[k * ISING_GROUP + item] = counts[k];
            barrier(CLK_LOCAL_MEM_FENCE);
            /* four at a time: half the barriers */
            for (uint width = ISING_GROUP; width > 1; width = (width + 3) / 4) {
                const uint left = (width + 3) / 4;
                if (item < left)
                    for (uint k = 0; k < ISING_SUMS; k++)
                        for (uint from = item + left; from < width; from += left)
                            scratch[k * ISING_GROUP + item] += scratch[k * ISING_GROUP + from];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            for (int k = 0; k < ISING_SUMS && item == 0; k++)
                sums[ISING_SUMS * (((ulong)first + sample) * count + index) + k] =
                    scratch[k * ISING_GROUP];
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
        }
    }

    for (uint i = item; i < 2 * ISING_COLOUR_WORDS; i += ISING_GROUP)
        home[i] = lattice[i];
}
