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

/* Where the sums over a cluster of several tiles are. */
ERGO_INLINE __global uint *sw_wave_of(SW_SHAPE __global uint *own, __global uint *edges,
                                      uint root) {
    return root < (uint)SW_SITES ? own + 4UL * root : edges + 4UL * (root - (uint)SW_SITES);
}

/*
 * cos and sin are summed over the runs of a tile's parts in local memory, one after the other.
 * Closed parts are clusters, and their squares are added up at once. Open ones are listed first, so
 * that all work-items look for their roots at the same time. Many are of the lattice's largest
 * cluster, so those of the tile's smallest root are added up in local memory.
 */
__kernel SW_TILE_GROUP void sw_waves(SW_SHAPE __global const uint *right, __global const uint *runs,
                                     __global const uint *open, __global const uint *labels,
                                     __global uint *inside, __global uint *edges, uint side,
                                     __global uint *sums, uint sample) {
    __local uint parts[SW_NODES], total[SW_WAVE_ALL], listed, common[2];
    __local int weights[2u * SW_TILE_ROWS];
    __local uint2 found[SW_MOST_OPEN]; /* of each open part its root and node */
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    __global const uint *tile_runs = runs + (ulong)t.index * SW_RUNS + t.id * SW_SLAB;
    __global const uint *own_labels = labels + (ulong)t.index * SW_SITES;
    __global uint *own = inside + 4UL * t.index * SW_SITES;
    struct sw_wave_sum sum = {0UL, 0UL};
    uint firsts[SW_PER]; /* first sites of parts, by bits */
    for (uint k = t.first; k < SW_WAVE_ALL; k += SW_GROUP)
        total[k] = 0u;
    for (uint k = t.first; k < 2u * SW_TILE_ROWS; k += SW_GROUP)
        weights[k] = sw_wave_weight((uint)(t.y * SW_TILE_ROWS + k % SW_TILE_ROWS + SW_ROW_0), side,
                                    k / SW_TILE_ROWS);
    if (t.first == 0u) {
        listed = 0u;
        common[0] = 0xffffffffu;
    }
    for (uint wave = 0; wave < 2u; wave++) {
        for (uint n = t.first; n < SW_NODES; n += SW_GROUP)
            parts[n] = 0u;
        if (t.first == 0u)
            common[1] = 0u;
        SW_SYNC;
        for (uint k = 0; k < SW_PER; k++) {
            const struct sw_place at = sw_place_of(SW_HERE k);
            const uint starts = at.inside ? sw_starts(right[t.plane + at.word], at.valid) : 0u;
            const uint sites = sw_last_bit(SW_HERE at.i) + 1u;
            const int weight = weights[wave * SW_TILE_ROWS + at.item / SW_TILE_WORDS];
            uint rest = starts & at.mine, first = 0u,
                 run = popcount(starts & ((at.mine & (0u - at.mine)) - 1u));
            for (; rest; rest &= rest - 1u, run++) {
                const uint low = rest & (0u - rest), bit = sw_bit_of(low);
                const uint after = starts & ~(low | (low - 1u));
                const uint length = (after ? sw_first_bit(after) : sites) - bit;
                const uint node = sw_wave_node(tile_runs + at.item, run);
                first |= node == SW_NODE(at.item, bit) ? low : 0u;
                SW_ADD_LOCAL(&parts[node], (uint)((int)length * weight));
            }
            firsts[k] = first;
        }
        SW_SYNC;
        for (uint k = 0; k < SW_PER; k++) {
            const struct sw_place at = sw_place_of(SW_HERE k);
            const uint opens = firsts[k] ? open[t.plane + at.word] : 0u;
            for (uint rest = firsts[k] & ~opens; rest; rest &= rest - 1u) {
                const uint value = parts[SW_NODE(at.item, sw_bit_of(rest & (0u - rest)))];
                const ulong size = value >> 31 ? 0u - value : value;
                sum.low += size * size;
            }
            for (uint rest = wave == 0u ? firsts[k] & opens : 0u; rest; rest &= rest - 1u) {
                const uint bit = sw_bit_of(rest & (0u - rest));
                const uint j = SW_ADD_LOCAL(&listed, 1u);
                if (j < SW_MOST_OPEN) /* always, unless a launch was lost */
                    found[j] = (uint2)(32u * at.word + bit, SW_NODE(at.item, bit));
            }
        }
        SW_SYNC;
        const uint count = min(listed, SW_MOST_OPEN);
        for (uint j = t.first; j < count && wave == 0u; j += SW_GROUP) {
            const uint root = sw_find_still(own_labels, found[j].x);
            found[j].x = root;
            SW_MIN_LOCAL(&common[0], root);
        }
        SW_SYNC;
        for (uint j = t.first; j < count; j += SW_GROUP) {
            const uint root = found[j].x, value = parts[found[j].y];
            if (root == common[0])
                SW_ADD_LOCAL(&common[1], value);
            else
                SW_WAVE_ADD(sw_wave_of(SW_HERE own, edges, root) + 2u * wave, value);
        }
        SW_SYNC;
        if (t.first == 0u && count)
            SW_WAVE_ADD(sw_wave_of(SW_HERE own, edges, common[0]) + 2u * wave, common[1]);
        SW_SYNC;
    }
    sw_wave_collect(total, sum, t.first, SW_WAVE_TILE_LIMBS);
    SW_SYNC;
    sw_wave_give(sums + (ulong)SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + t.index), total,
                 t.first, SW_GROUP, SW_WAVE_TILE_LIMBS);
}

/* Of the clusters of several tiles. */
__kernel void sw_wave_roots(SW_SHAPE __global const uint *open, __global const uint *labels,
                            __global uint *inside, __global uint *sums, uint sample) {
    __local uint total[SW_WAVE_ALL];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), stride = size * (uint)get_num_groups(0);
    const uint index = (uint)get_group_id(1);
    __global const uint *own_labels = labels + (ulong)index * SW_SITES;
    __global uint *own = inside + 4UL * index * SW_SITES;
    struct sw_wave_sum sum = {0UL, 0UL};
    for (uint k = item; k < SW_WAVE_ALL; k += size)
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
    sw_wave_collect(total, sum, item, SW_WAVE_LIMBS);
    barrier(CLK_LOCAL_MEM_FENCE);
    sw_wave_give(sums + (ulong)SW_WAVE_WORDS * ((ulong)sample * get_num_groups(1) + index), total,
                 item, size, SW_WAVE_LIMBS);
}
