/* One chain per work-group, many moves per launch: the paper's optimised version, for every way of
 * finding neighbours. */
#include "lj_gcmc/chain.h"

/*
 * Moves until step `target`. Samples: `count` of them, each after `every` moves from step `start`
 * on; count 0: none. A chain that needs more room stops before the move that needs it (status) and
 * goes on, when the host has made room, by the same launch again: what is done is not done twice.
 */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_run(__global const struct lj_member *members, __global struct lj_chain *chains,
       __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
       __global struct lj_sample *samples, ulong start, ulong target, ulong every, uint count,
       uint capacity, uint slots) {
    __local long energies[LJ_GROUP], virials[LJ_GROUP];
    __local uint overlaps[2];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint n_chains = (uint)get_num_groups(0);
    const struct lj_member m = members[chain];
    struct lj_chain c = chains[chain];
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, n_chains);
    ulong next = c.step >= start ? start + ((c.step - start) / every + 1UL) * every : start;
    if (item < 2u)
        overlaps[item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#if LJ_GROUP == 1
    if (item == 0u)
        overlaps[1] = 0u;
#endif

    while (c.step < target && c.status == (uint)LJ_RUNNING) {
        struct lj_sum sum = {0, 0, 0u};
        lj_position from;
        const struct lj_move move = lj_propose(&home, &m, &c, &from);
        const uint flag = (uint)c.step & 1u;

        lj_gather(&home, &move, from, c.particles, 0u, item, LJ_GROUP, &m, &sum);
        if (sum.overlap)
            atomic_or(&overlaps[flag], 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint overlap = overlaps[flag];
        if (!overlap)
            lj_gather(&home, &move, from, c.particles, 1u, item, LJ_GROUP, &m, &sum);
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read the flag of phase 0 */
        if (sum.overlap)
            atomic_or(&overlaps[flag], 1u);
        if (item == 0u)
            overlaps[flag ^ 1u] = 0u;
        energies[item] = sum.energy;
        virials[item] = sum.virial;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint width = LJ_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
            if (item < width) {
                energies[item] += energies[item + width];
                virials[item] += virials[item + width];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        overlap = overlaps[flag];
        const long energy = energies[0], virial = virials[0];
        const uint accepted =
            !move.idle && !overlap && lj_accept(&m, move.kind, move.word, c.particles, energy);
        const uint room = accepted ? lj_room(&home, &move, from, c.particles) : (uint)LJ_RUNNING;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* read before item 0 writes */
        if (room != (uint)LJ_RUNNING) {
            c.status = room;
        } else {
            if (accepted && item == 0u)
                lj_apply(&home, &move, from, c.particles);
            lj_finish(&c, &m, &move, accepted, energy, virial);
            if (c.step == next) {
                if (count && item == 0u && c.step > start)
                    samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
                next += every;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (item == 0u)
        chains[chain] = c;
}
