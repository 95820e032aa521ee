/*
 * Branching at a fixed population (common/comb.h), and samples.
 *
 * Macro: HELIUM_COMB, work-items of a group.
 */
#include "helium_dmc/core.h"

/*
 * A group for each member. A work-item has `share` walkers in a row: it adds up their energies,
 * then their weights, and leaves in `weights` the sum up to and with each walker. Then work-items
 * look up the walkers that teeth belong to: `parents` of the next step, each as its number less
 * that of the walker, so that zeros are the start. growth: [members][remember] pairs of the mean
 * energy and the sum of the weights, of the last steps.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_COMB, 1, 1))) void
helium_dmc_comb(__global const struct helium_sums *sums,
                __global const struct helium_member *members,
                __global const struct helium_dmc *steps, ulong step, uint count, uint remember,
                __global ulong *weights, __global uint *parents, __global ulong *growth) {
    __local long part[HELIUM_COMB];
    const uint id = (uint)get_local_id(0), which = (uint)get_group_id(0);
    const ulong first = (ulong)which * count;
    const uint share = (count + HELIUM_COMB - 1) / HELIUM_COMB;
    const uint begin = min(id * share, count), end = min(begin + share, count);
    const struct helium_dmc dmc = steps[which];
    const uint word = helium_dmc_word(step, members[which].key0, members[which].key1);
    long energy = 0;
    for (uint w = begin; w < end; w++) {
        __global const struct helium_sums *s = sums + first + w;
        energy += helium_dmc_energy(s->potential, s->laplacian, s->gradient, &dmc);
    }
    (void)ergo_comb_up_to(energy, id, HELIUM_COMB, part);
    const long mean = part[HELIUM_COMB - 1] / (long)count;
    ulong own = 0;
    for (uint w = begin; w < end; w++) {
        __global const struct helium_sums *s = sums + first + w;
        const long e = helium_dmc_energy(s->potential, s->laplacian, s->gradient, &dmc);
        own += helium_dmc_weight(helium_dmc_exponent(e, mean, &dmc),
                                 (uint)(s->accepted >> HELIUM_BEYOND));
        weights[first + w] = own;
    }
    const ulong before = (ulong)ergo_comb_up_to((long)own, id, HELIUM_COMB, part) - own;
    for (uint w = begin; w < end; w++)
        weights[first + w] += before;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const ulong all = (ulong)part[HELIUM_COMB - 1];
    if (remember && id == 0) {
        __global ulong *now = growth + 2 * ((ulong)which * remember + (uint)(step % remember));
        now[0] = (ulong)mean;
        now[1] = all;
    }
    for (uint k = id; k < count; k += HELIUM_COMB) {
        const ulong tooth = ergo_comb_tooth(k, all, count, word);
        const uint whose = ergo_comb_whose(tooth, part, HELIUM_COMB, weights + first, share, count);
        parents[first + k] = all ? whose - k : 0;
    }
}

/* The sums of the last step, or the growth of all that are remembered, become sample `row`. words:
 * 64-bit words of them. */
__kernel void helium_dmc_keep(__global const long *sums, uint words, uint row,
                              __global long *sample) {
    const uint k = (uint)get_global_id(0);
    if (k < words)
        sample[(ulong)row * words + k] = sums[k];
}

/* A group for each record and member: the sum of that record over walkers `begin` to end - 1. */
__kernel __attribute__((reqd_work_group_size(HELIUM_COMB, 1, 1))) void
helium_dmc_forward(__global const long *records, uint count, uint begin, uint end, uint members,
                   uint row, __global long *sample) {
    __local long part[HELIUM_COMB];
    const uint id = (uint)get_local_id(0), record = (uint)get_group_id(0);
    const uint which = (uint)get_group_id(1);
    long sum = 0;
    for (uint w = begin + id; w < end; w += HELIUM_COMB)
        sum += records[((ulong)which * count + w) * HELIUM_DMC_RECORDS + record];
    sum = ergo_comb_up_to(sum, id, HELIUM_COMB, part);
    if (id == HELIUM_COMB - 1)
        sample[((ulong)row * members + which) * HELIUM_DMC_RECORDS + record] = sum;
}
