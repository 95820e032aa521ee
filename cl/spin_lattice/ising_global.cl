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
                          uint colour, ulong sweep ISING_RANGE) {
    const uint block = ISING_FROM + (uint)get_global_id(0), index = (uint)get_group_id(1);
    if (block >= ISING_TO)
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
        const struct ising_quad r =
            ising_random(ISING_ENTITY(block, &members[index]), 0, ISING_PURPOSE_START, colour,
                         members[index].key0, members[index].key1);
        for (uint l = 0; l < 4; l++) {
            const uint spin = mode == 2 ? r.w[l] : mode == 1 ? 0xffffffffu : 0u;
            lattice[(colour * ISING_BLOCKS + block) * 4 + l] = spin & ising_valid(4 * block + l);
        }
    }
}

/* `count` sums over the group, of scratch[k * size + item], into scratch[k * size]. The group's
 * size is a power of two. */
ERGO_INLINE void ising_group_sums(__local uint *scratch, uint item, uint size, uint count) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = size / 2; width > 0; width /= 2) {
        if (item < width)
            for (uint k = 0; k < count; k++)
                scratch[k * size + item] += scratch[k * size + item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Partial sums, sums[sample][member][group][ISING_SUMS]. Each group strides over the blocks. The
 * host bounds the blocks per group, so that a partial sum is at most 2^32 - 1. scratch: ISING_SUMS
 * numbers per work-item. */
__kernel void ising_measure(__global const uint *spins, __global uint *sums, uint sample,
                            __local uint *scratch ISING_RANGE) {
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
    const uint stride = groups * size, blocks = ISING_TO - ISING_FROM;
    const uint rounds = (blocks + stride - 1) / stride;
    for (uint round = 0; round < rounds; round++) {
        const uint block = round * stride + group * size + item;
        if (block >= blocks)
            continue;
        ising_count_block(own, other, ISING_FROM + block, counts);
    }
    __global uint *to =
        sums + ISING_SUMS * (((ulong)sample * (uint)get_global_size(1) + index) * groups + group);
    ERGO_UNROLL
    for (uint k = 0; k < ISING_SUMS; k++)
        scratch[k * size + item] = counts[k];
    ising_group_sums(scratch, item, size, ISING_SUMS);
    for (uint k = item; k < ISING_SUMS; k += size)
        to[k] = scratch[k * size];
}

/*
 * Unequal pairs at distances 1..reach along both axes. A word that a group reads is compared with
 * its partners at several distances, which lie close together, so that caches have them. Dimension
 * 0: group (axis * batches + batch)
 * * parts + part, with batches of ISING_AT_ONCE distances; dimension 1: member; dimension 2: number
 * of the lattices, spins[number][member], which are those of samples `sample` and following.
 * counts[sample][member][axis][r - 1][part], with members `stride` apart. The host chooses `parts`
 * so that a part counts at most 2^32 - 1 pairs. scratch: ISING_AT_ONCE numbers per work-item; the
 * group's size is a power of two.
 */
__kernel void ising_correlate(__global const uint *spins, __global uint *counts, uint sample,
                              uint reach, uint parts, uint stride,
                              __local uint *scratch ISING_RANGE) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), index = (uint)get_global_id(1);
    const uint batches = (reach + ISING_AT_ONCE - 1) / ISING_AT_ONCE;
    const uint part = group % parts, axis = group / parts / batches;
    const uint before = (group / parts - axis * batches) * ISING_AT_ONCE; /* the first is 1 more */
    const uint members = (uint)get_global_size(1), number = (uint)get_global_id(2);
    __global const uint *lattice = spins + ((ulong)number * members + index) * ISING_MEMBER_WORDS;
    uint unequal[ISING_AT_ONCE];
    ERGO_UNROLL
    for (uint k = 0; k < ISING_AT_ONCE; k++)
        unequal[k] = 0;
    const uint end = min((uint)ISING_WORDS, 4u * ISING_TO);
    for (uint word = 4u * ISING_FROM + part * size + item; word < end; word += parts * size) {
        ERGO_UNROLL
        for (uint k = 0; k < ISING_AT_ONCE; k++) { /* those beyond `reach` are not stored */
            const uint r = min(before + k + 1, reach);
            unequal[k] +=
                ising_pairs(lattice, word, 0, axis, r) + ising_pairs(lattice, word, 1, axis, r);
        }
    }
    ERGO_UNROLL
    for (uint k = 0; k < ISING_AT_ONCE; k++)
        scratch[k * size + item] = unequal[k];
    ising_group_sums(scratch, item, size, ISING_AT_ONCE);
    __global uint *to = counts + ((ulong)(sample + number) * members + index) * stride;
    for (uint k = item; k < ISING_AT_ONCE && before + k < reach; k += size)
        to[(axis * reach + before + k) * parts + part] = scratch[k * size];
}

/* Up spins of each row, stored after the numbers of ising_correlate. For antiferromagnets: those of
 * colour 0 minus those of colour 1, modulo 2^32. Dimension 0: `lanes` work-items for each row,
 * within a group; 1: member; 2: number, as above. lanes and the group's size are powers of two. */
__kernel void ising_rows(__global const uint *spins, __global const struct ising_member *members,
                         __global uint *counts, uint sample, uint behind, uint stride, uint lanes,
                         __local uint *scratch) {
    const uint item = (uint)get_local_id(0), index = (uint)get_global_id(1);
    const uint y = (uint)get_global_id(0) / lanes, lane = item & (lanes - 1);
    const uint count = (uint)get_global_size(1), number = (uint)get_global_id(2);
    __global const uint *row =
        spins + ((ulong)number * count + index) * ISING_MEMBER_WORDS + y * ISING_W;
    const uint anti = members[index].anti;
    const uint rounds = (ISING_W + lanes - 1) / lanes; /* as in ising_measure */
    uint up = 0;
    for (uint round = 0; round < rounds; round++) {
        const uint word = round * lanes + lane;
        if (word >= ISING_W || y >= ISING_LY)
            continue;
        const uint other = popcount(row[4u * ISING_BLOCKS + word]);
        up += popcount(row[word]) + (anti ? 0u - other : other);
    }
    scratch[item] = up;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = lanes / 2; width > 0; width /= 2) {
        if (lane < width)
            scratch[item] += scratch[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && y < ISING_LY)
        counts[((ulong)(sample + number) * count + index) * stride + behind + y] = scratch[item];
}
