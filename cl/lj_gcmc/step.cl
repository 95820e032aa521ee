/* One move per launch, several work-groups per chain: how the paper runs `none`, `cells` and its
 * first version of `microcells`; for large cutoffs or no cells, where one group is too few. */
#include "lj_gcmc/chain.h"

/* Partial sums of the trial move of this step: dimension 0 the groups of a chain, 1 the chains. */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_trial(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
         __global long *parts, uint capacity, uint slots) {
    __local long energies[LJ_GROUP], virials[LJ_GROUP], contacts[LJ_GROUP];
    __local uint overlaps[LJ_GROUP];
    const uint item = (uint)get_local_id(0), part = (uint)get_group_id(0);
    const uint n_parts = (uint)get_num_groups(0), chain = (uint)get_group_id(1);
    const struct lj_member m = members[chain];
    const struct lj_chain c = chains[chain];
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, (uint)get_num_groups(1));
    struct lj_sum sum = {0, 0, 0, 0u};
    lj_position from;
    const struct lj_move move = lj_propose(&home, &m, &c, &from);
    const uint items = n_parts * LJ_GROUP, first = part * LJ_GROUP + item;
    lj_gather(&home, &move, from, c.particles, 0u, first, items, &m, &sum);
    lj_gather(&home, &move, from, c.particles, 1u, first, items, &m, &sum);
    energies[item] = sum.energy;
    virials[item] = sum.virial;
    contacts[item] = sum.contacts;
    overlaps[item] = sum.overlap;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = LJ_GROUP / 2u; width > 0u; width /= 2u) { /* a power of two */
        if (item < width) {
            energies[item] += energies[item + width];
            virials[item] += virials[item + width];
            contacts[item] += contacts[item + width];
            overlaps[item] |= overlaps[item + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0u) {
        __global long *mine = parts + 4UL * ((ulong)chain * n_parts + part);
        mine[0] = energies[0];
        mine[1] = virials[0];
        mine[2] = contacts[0];
        mine[3] = (long)overlaps[0];
    }
}

/* Decide it and carry it out, one work-item per chain. Arguments as lj_run. */
__kernel void lj_decide(__global const struct lj_member *members, __global struct lj_chain *chains,
                        __global uint4 *particles, __global uint4 *cells,
                        __global const uint *offsets, __global struct lj_sample *samples,
                        __global const long *parts, ulong start, ulong target, ulong every,
                        uint count, uint capacity, uint slots, uint n_parts) {
    const uint chain = (uint)get_global_id(0), n_chains = (uint)get_global_size(0);
    const struct lj_member m = members[chain];
    struct lj_chain c = chains[chain];
    if (c.status != (uint)LJ_RUNNING || c.step >= target)
        return;
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, n_chains);
    lj_position from;
    const struct lj_move move = lj_propose(&home, &m, &c, &from);
    struct lj_sum sum = {0, 0, 0, 0u};
    for (uint p = 0u; p < n_parts; p++) {
        __global const long *part = parts + 4UL * ((ulong)chain * n_parts + p);
        sum.energy += part[0];
        sum.virial += part[1];
        sum.contacts += part[2];
        sum.overlap |= (uint)part[3];
    }
    const uint accepted =
        !move.idle && !sum.overlap && lj_accept(&m, move.kind, move.word, c.particles, sum.energy);
    const uint room = accepted ? lj_room(&home, &move, from, c.particles) : (uint)LJ_RUNNING;
    if (room != (uint)LJ_RUNNING) {
        c.status = room;
    } else {
        if (accepted)
            lj_apply(&home, &move, from, c.particles, 0);
        lj_finish(&c, &m, move.kind, accepted, sum.energy);
        c.virial += accepted ? sum.virial : 0;
        c.contacts += accepted ? sum.contacts : 0;
        if (count && c.step > start && (c.step - start) % every == 0UL)
            samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
    }
    chains[chain] = c;
}
