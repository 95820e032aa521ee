/* Ising kernels on lattices in global memory: any size, any number of members.
 *
 * spins: [member][colour][block] of four words. Dimension 0 is the block, dimension 1 the member.
 */
#define ISING_SPACE __global
#include "spin_lattice/block.h"

#define ISING_MEMBER_WORDS (8u * ISING_BLOCKS)

/* Half a sweep: all sites of one colour. A group has one member, whose keys are then the same for
 * all of its work-items. */
__kernel void ising_sweep(__global uint *spins, __global const struct ising_member *members,
                          uint colour, ulong sweep) {
    const uint block = (uint)get_global_id(0), index = (uint)get_group_id(1);
    if (block >= ISING_BLOCKS)
        return;
    const struct ising_member member = members[index];
    __global uint *lattice = spins + (ulong)index * ISING_MEMBER_WORDS;
    ising_update(lattice + colour * (4u * ISING_BLOCKS),
                 lattice + (1u - colour) * (4u * ISING_BLOCKS), ising_place(block, colour), block,
                 sweep, colour, &member);
}

/* Start: mode 0 all down, 1 all up, 2 random. */
__kernel void ising_start(__global uint *spins, __global const struct ising_member *members,
                          uint mode) {
    const uint block = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (block >= ISING_BLOCKS)
        return;
    __global uint *lattice = spins + (ulong)index * ISING_MEMBER_WORDS;
    for (uint colour = 0; colour < 2; colour++) {
        const struct ising_quad r = ising_random(block, 0, ISING_PURPOSE_START, colour,
                                                 members[index].key0, members[index].key1);
        for (uint l = 0; l < 4; l++) {
            const uint spin = mode == 2 ? r.w[l] : mode == 1 ? 0xffffffffu : 0u;
            lattice[(colour * ISING_BLOCKS + block) * 4 + l] = spin & ising_valid(4 * block + l);
        }
    }
}

/* The sum of `value` over the group, valid in work-item 0. `scratch` has one uint per work-item,
 * and the group's size is a power of two. */
static inline uint ising_group_sum(__local uint *scratch, uint item, uint size, uint value) {
    scratch[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = size / 2; width > 0; width /= 2) {
        if (item < width)
            scratch[item] += scratch[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint sum = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

/* Partial sums, sums[sample][member][group][ISING_SUMS]. Each group strides over the blocks. The
 * host bounds the blocks per group, so that a partial sum is at most 2^32 - 1. */
__kernel void ising_measure(__global const uint *spins, __global uint *sums, uint sample,
                            __local uint *scratch) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint index = (uint)get_global_id(1);
    __global const uint *own = spins + (ulong)index * ISING_MEMBER_WORDS;
    __global const uint *other = own + 4u * ISING_BLOCKS;
    uint counts[ISING_SUMS];
    ERGO_UNROLL
    for (int k = 0; k < ISING_SUMS; k++)
        counts[k] = 0;
    /* All work-items make the same number of rounds. If each left the loop on its own, PoCL 3.1
     * would never end it with one block and more than one work-item (2026-11-21: 4 x 4 in groups of
     * 8). */
    const uint stride = groups * size, rounds = (ISING_BLOCKS + stride - 1) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint block = round * stride + group * size + item;
        if (block >= ISING_BLOCKS)
            continue;
        ising_count_block(own, other, block, counts);
    }
    __global uint *to =
        sums + ISING_SUMS * (((ulong)sample * (uint)get_global_size(1) + index) * groups + group);
    ERGO_UNROLL
    for (int k = 0; k < ISING_SUMS; k++) {
        const uint sum = ising_group_sum(scratch, item, size, counts[k]);
        if (item == 0)
            to[k] = sum;
    }
}

/*
 * Unequal pairs at distances 1..reach along both axes. Dimension 0: group (axis * reach + r - 1) *
 * parts + part, dimension 1: member. counts[sample][member][axis][r - 1][part], with members
 * `stride` apart. The host chooses `parts` so that a part counts at most 2^32 - 1 pairs.
 */
__kernel void ising_correlate(__global const uint *spins, __global uint *counts, uint sample,
                              uint reach, uint parts, uint stride, __local uint *scratch) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), index = (uint)get_global_id(1);
    const uint part = group % parts, r = group / parts % reach + 1, axis = group / parts / reach;
    __global const uint *lattice = spins + (ulong)index * ISING_MEMBER_WORDS;
    uint unequal = 0;
    for (uint word = part * size + item; word < ISING_WORDS; word += parts * size)
        unequal += ising_pairs(lattice, word, 0, axis, r) + ising_pairs(lattice, word, 1, axis, r);
    unequal = ising_group_sum(scratch, item, size, unequal);
    if (item == 0)
        counts[((ulong)sample * get_global_size(1) + index) * stride + group] = unequal;
}

/* Up spins of each row, stored after the numbers of ising_correlate. For antiferromagnets: those of
 * colour 0 minus those of colour 1, modulo 2^32. Dimension 0: a group for each row; 1: member. */
__kernel void ising_rows(__global const uint *spins, __global const struct ising_member *members,
                         __global uint *counts, uint sample, uint behind, uint stride,
                         __local uint *scratch) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint y = (uint)get_group_id(0), index = (uint)get_global_id(1);
    __global const uint *row = spins + (ulong)index * ISING_MEMBER_WORDS + y * ISING_W;
    const uint rounds = (ISING_W + size - 1) / size; /* as in ising_measure */
    const uint anti = members[index].anti;
    uint up = 0;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * size + item;
        if (word >= ISING_W)
            continue;
        const uint other = popcount(row[4u * ISING_BLOCKS + word]);
        up += popcount(row[word]) + (anti ? 0u - other : other);
    }
    up = ising_group_sum(scratch, item, size, up);
    if (item == 0)
        counts[((ulong)sample * get_global_size(1) + index) * stride + behind + y] = up;
}
