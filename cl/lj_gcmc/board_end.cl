/* The end of an activation of the checkerboard, and the list of particles made from the cells. */
#include "lj_gcmc/chain.h"

/* One work-group per chain. Adds the changes of the active cells to the chain's sums, and ends the
 * step. If a cell lacked room, the chain waits for the host before the end of that step. Samples
 * are as in lj_run. */
__kernel __attribute__((reqd_work_group_size(LJ_END_GROUP, 1, 1))) void
lj_board_end(__global const struct lj_member *members, __global struct lj_chain *chains,
             __global const struct lj_part *parts, __global const uint *full,
             __global struct lj_sample *samples, ulong start, ulong target, ulong every, uint count,
             uint capacity) {
    __local long energies[LJ_END_GROUP], virials[LJ_END_GROUP], contacts[LJ_END_GROUP];
    __local uint counts[8]; /* tried and accepted by kind, N, blocks that are done */
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    struct lj_chain c = chains[chain];
    const uint runs = c.status == (uint)LJ_RUNNING && c.step < target;
    const ulong stamp = c.step + 1UL;
    __global const struct lj_part *mine = parts + (ulong)chain * LJ_BLOCKS;
    long energy = 0, virial = 0, contact = 0;
    uint mine_of[8] = {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
    for (uint k = item; k < 8u; k += LJ_END_GROUP)
        counts[k] = 0u;
    for (uint b = item; runs && b < LJ_BLOCKS; b += LJ_END_GROUP) {
        const struct lj_part p = mine[b];
        if (p.stamp != stamp)
            continue;
        energy += p.energy;
        virial += p.virial;
        contact += p.contacts;
        const uint displaced = p.tried & 0xffffu, inserted = p.tried >> 16;
        mine_of[0] += displaced;
        mine_of[1] += inserted;
        mine_of[2] += LJ_TRIALS - displaced - inserted;
        mine_of[3] += p.accepted & 0xffffu;
        mine_of[4] += p.accepted >> 16;
        mine_of[5] += p.accepted_deletion;
        mine_of[6] += (uint)p.particles;
        mine_of[7] += 1u;
    }
    energies[item] = energy;
    virials[item] = virial;
    contacts[item] = contact;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0u; k < 8u; k++)
        atomic_add(&counts[k], mine_of[k]);
    for (uint width = LJ_END_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            energies[item] += energies[item + width];
            virials[item] += virials[item + width];
            contacts[item] += contacts[item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all work-items have read the chain */
    if (item != 0u || !runs)
        return;
    const uint missing = full[chain];
    if (missing) {
        chains[chain].status = missing & 2u ? (uint)LJ_TILE_FULL : (uint)LJ_CELL_FULL;
        return;
    }
    if (counts[7] !=
        LJ_BLOCKS) /* a launch was lost: the chain does not move on, and the audit notices */
        return;
    if (c.particles + counts[6] > capacity) {
        chains[chain].status = (uint)LJ_PARTICLES_FULL;
        return;
    }
    c.energy += energies[0];
    c.virial += virials[0];
    c.contacts += contacts[0];
    c.particles += counts[6];
    c.now.tried = counts[0];
    c.now.accepted = counts[1];
    c.now.accepted_deletion = counts[2];
    c.last.tried = counts[3];
    c.last.accepted = counts[4];
    c.last.accepted_deletion = counts[5];
    c.step++;
    if (c.step <= members[chain].tune_until)
        c.step_size = lj_tuned(c.step_size, counts[0], counts[3]);
    if (count && c.step > start && (c.step - start) % every == 0UL)
        samples[((c.step - start) / every - 1UL) * get_num_groups(0) + chain] = lj_sample_of(&c);
    chains[chain] = c;
}

/* Lists a chain's particles, cell by cell. One work-group per chain. */
__kernel __attribute__((reqd_work_group_size(LJ_END_GROUP, 1, 1))) void
lj_board_list(__global const uint4 *cells, __global uint4 *particles, uint capacity) {
    __local uint counts[LJ_END_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    __global const uint4 *mine = cells + (ulong)chain * LJ_GRID;
    const ulong plane = (ulong)get_num_groups(0) * LJ_GRID;
    const uint share = (LJ_GRID + LJ_END_GROUP - 1u) / LJ_END_GROUP;
    const uint first = item * share;
    const uint last = first + share < LJ_GRID ? first + share : LJ_GRID;
    uint count = 0u, at = 0u;
    for (uint i = first; i < last; i++)
        count += mine[i].w;
    counts[item] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0u; i < item; i++)
        at += counts[i];
    for (uint i = first; i < last; i++) {
        const uint inside = mine[i].w;
        for (uint s = 0u; s < inside && at < capacity; s++, at++)
            particles[(ulong)chain * capacity + at] = mine[i + s * plane];
    }
}
