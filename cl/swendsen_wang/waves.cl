/*
 * Structure factor by clusters (correlate.h), after a sweep: bonds, runs and labels are as it left
 * them. Dimension 1 is the member.
 *
 * `inside` has four words for each site: the sums of cos and sin over a cluster, 64 bits each, at
 * its root. They are 0 before sw_waves, and again after sw_wave_roots. `edges` has the same of the
 * parts that reach a rectangle's edge (cut_params.h), for the host. sums[sample][member]: sum of
 * squares of all clusters but those, SW_WAVE_LIMBS numbers.
 */
#include "swendsen_wang/tile_sweep.h"
#include "swendsen_wang/wave_sums.h"

#define SW_TILE_GROUP __attribute__((reqd_work_group_size(SW_GROUP, 1, 1)))

/* Run `run` of a word: its part's first site, as a node of the tile. */
ERGO_INLINE uint sw_wave_node(__global const uint *word_runs, uint run) {
    const uint pair = word_runs[run / 2u * SW_TILE_ITEMS];
    return run & 1u ? pair >> 16 : pair & 0xffffu;
}

/* cos and sin are summed over the runs of a tile's parts in local memory, one after the other.
 * Closed parts are clusters, and their squares are added up at once. Many open ones are of the
 * lattice's largest cluster, so those of the tile's smallest root are added up in local memory
 * first. */
__kernel SW_TILE_GROUP void sw_waves(SW_SHAPE __global const uint *right, __global const uint *runs,
                                     __global const uint *open, __global const uint *labels,
                                     __global uint *inside, __global uint *edges, uint side,
                                     __global uint *sums, uint sample) {
    __local uint parts[SW_NODES], total[SW_WAVE_WORDS], listed, common[3];
    __local uint2 found[SW_MOST_OPEN]; /* root and sum of each open part */
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    __global const uint *tile_runs = runs + (ulong)t.index * SW_RUNS + t.id * SW_SLAB;
    __global const uint *own_labels = labels + (ulong)t.index * SW_SITES;
    __global uint *own = inside + 4UL * t.index * SW_SITES;
    struct sw_wave_sum sum = {0UL, 0UL};
    for (uint k = t.first; k < SW_WAVE_WORDS; k += SW_GROUP)
        total[k] = 0u;
    for (uint wave = 0; wave < 2u; wave++) {
        for (uint n = t.first; n < SW_NODES; n += SW_GROUP)
            parts[n] = 0u;
        if (t.first == 0u) {
            listed = common[1] = common[2] = 0u;
            common[0] = 0xffffffffu;
        }
        SW_SYNC;
        for (uint k = 0; k < SW_PER; k++) {
            const struct sw_place at = sw_place_of(SW_HERE k);
            const uint starts = at.inside ? sw_starts(right[t.plane + at.word], at.valid) : 0u;
            const uint sites = sw_last_bit(SW_HERE at.i) + 1u;
            const int weight = starts ? sw_wave_weight((uint)(at.y + SW_ROW_0), side, wave) : 0;
            uint rest = starts & at.mine,
                 run = popcount(starts & ((at.mine & (0u - at.mine)) - 1u));
            for (; rest; rest &= rest - 1u, run++) {
                const uint low = rest & (0u - rest), bit = sw_bit_of(low);
                const uint after = starts & ~(low | (low - 1u));
                const uint length = (after ? sw_first_bit(after) : sites) - bit;
                SW_ADD_LOCAL(&parts[sw_wave_node(tile_runs + at.item, run)],
                             (uint)((int)length * weight));
            }
        }
        SW_SYNC;
        for (uint k = 0; k < SW_PER; k++) {
            const struct sw_place at = sw_place_of(SW_HERE k);
            const uint starts = at.inside ? sw_starts(right[t.plane + at.word], at.valid) : 0u;
            const uint opens = at.inside ? open[t.plane + at.word] : 0u;
            uint rest = starts & at.mine,
                 run = popcount(starts & ((at.mine & (0u - at.mine)) - 1u));
            for (; rest; rest &= rest - 1u, run++) {
                const uint bit = sw_bit_of(rest & (0u - rest)), node = SW_NODE(at.item, bit);
                if (sw_wave_node(tile_runs + at.item, run) != node)
                    continue;
                const uint value = parts[node];
                if (opens >> bit & 1u) {
                    const uint root = sw_find_still(own_labels, 32u * at.word + bit);
                    const uint j = SW_ADD_LOCAL(&listed, 1u);
                    SW_MIN_LOCAL(&common[0], root);
                    if (j < SW_MOST_OPEN) /* always, unless a launch was lost */
                        found[j] = (uint2)(root, value);
                } else {
                    sw_wave_add(&sum, value >> 31 ? 0u - value : value);
                }
            }
        }
        SW_SYNC;
        const uint count = min(listed, SW_MOST_OPEN);
        for (uint j = t.first; j < count; j += SW_GROUP) {
            const uint root = found[j].x, value = found[j].y, high = value >> 31 ? ~0u : 0u;
            if (root == common[0])
                ERGO_ADD_LONG(common + 1, value, high);
            else
                ERGO_ADD_LONG((root < (uint)SW_SITES ? own + 4UL * root
                                                     : edges + 4UL * (root - (uint)SW_SITES)) +
                                  2u * wave,
                              value, high);
        }
        SW_SYNC;
        if (t.first == 0u && count) {
            const uint root = common[0];
            ERGO_ADD_LONG(
                (root < (uint)SW_SITES ? own + 4UL * root : edges + 4UL * (root - (uint)SW_SITES)) +
                    2u * wave,
                common[1], common[2]);
        }
        SW_SYNC;
    }
    SW_WAVE_COLLECT(total, sum);
    SW_SYNC;
    __global uint *to = sums + (ulong)SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + t.index);
    for (uint k = t.first; k < SW_WAVE_LIMBS; k += SW_GROUP)
        ERGO_ADD_LONG(to + 2u * k, total[2u * k], total[2u * k + 1u]);
}

/* Of the clusters of several tiles. */
__kernel void sw_wave_roots(SW_SHAPE __global const uint *open, __global const uint *labels,
                            __global uint *inside, __global uint *sums, uint sample) {
    __local uint total[SW_WAVE_WORDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), stride = size * (uint)get_num_groups(0);
    const uint index = (uint)get_group_id(1);
    __global const uint *own_labels = labels + (ulong)index * SW_SITES;
    __global uint *own = inside + 4UL * index * SW_SITES;
    struct sw_wave_sum sum = {0UL, 0UL};
    for (uint k = item; k < SW_WAVE_WORDS; k += size)
        total[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rounds = (SW_PLANE_WORDS + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        uint rest = word < SW_PLANE_WORDS ? open[(ulong)index * SW_PLANE_WORDS + word] : 0u;
        while (rest) {
            const uint site = 32u * word + sw_bit_of(rest & (0u - rest));
            __global uint *at = own + 4UL * site;
            rest &= rest - 1u;
            if (SW_LEADS(own_labels[site]) != site)
                continue;
            for (uint wave = 0; wave < 2u; wave++) {
                const ulong value = (ulong)at[2u * wave + 1u] << 32 | at[2u * wave];
                sw_wave_add(&sum, value >> 63 ? 0UL - value : value);
                at[2u * wave] = at[2u * wave + 1u] = 0u;
            }
        }
    }
    SW_WAVE_COLLECT(total, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint *to = sums + (ulong)SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + index);
    for (uint k = item; k < SW_WAVE_LIMBS; k += size)
        ERGO_ADD_LONG(to + 2u * k, total[2u * k], total[2u * k + 1u]);
}
