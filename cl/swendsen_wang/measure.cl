/* Swendsen-Wang: start, sums over the spins after a sweep. Dimension 1 is the member. */
#include "swendsen_wang/bonds.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"
#include "swendsen_wang/spins.h"

/* Mode 0: all spins in state 0; mode 1: random. */
__kernel void sw_start(__global uint *spins, __global const struct sw_member *members, uint mode) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    __global uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    uint bits[SW_PLANES];
    for (uint p = 0; p < SW_PLANES; p++)
        bits[p] = 0u;
    if (mode == 1u) {
        const uint sites = sw_last_bit(word % SW_WORDS) + 1u;
        for (uint b = 0; b < sites; b++) {
            const uint state = sw_state(sw_global_site(32u * word + b), SW_PURPOSE_START, 0u, 0u,
                                        members[index].key0, members[index].key1);
            for (uint p = 0; p < SW_PLANES; p++)
                bits[p] |= (state >> p & 1u) << b;
        }
    }
    for (uint p = 0; p < SW_PLANES; p++)
        planes[p * SW_PLANE_WORDS + word] = bits[p];
}

/* Sums over spins: sums[sample][member][place][SW_Q]. A work-group sees fewer than 2^26 words, so
 * each number stays below 2^32. */
__kernel void sw_measure(__global const uint *spins, __global uint *sums, uint sample) {
    __local uint fields[SW_Q];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1), members = (uint)get_global_size(1);
    __global const uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    struct sw_spins item_sums;
    for (uint f = item; f < SW_Q; f += size)
        fields[f] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    sw_spins_begin(&item_sums);
    const uint stride = groups * size, rounds = (SW_PLANE_WORDS + stride - 1u) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * stride + group * size + item;
        const uint i = word % SW_WORDS, y = word / SW_WORDS;
        uint side, under;
        if (word >= SW_PLANE_WORDS)
            continue;
        sw_equal(planes, i, y, &side, &under);
        uint spin[SW_PLANES];
        for (uint p = 0; p < SW_PLANES; p++)
            spin[p] = planes[p * SW_PLANE_WORDS + word];
        sw_spins_add(&item_sums, fields, spin, i, side, under);
    }
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        atomic_add(&fields[k], item_sums.sums[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong at = ((ulong)sample * members + index) * SW_SUM_SLOTS + group % SW_SUM_SLOTS;
    sw_spins_end(sums + at * SW_Q, fields, item, size);
}
