/*
 * Fully connected spin glasses: a chain is a work-group, with its local fields f_i = sum_j J_ij s_j
 * + h in registers.
 *
 * A sweep tries the sites 0, 1, ... n - 1 in this order. Each site's random number is known at the
 * beginning of the sweep, as a limit for its cost s_i f_i. Fields change only where a spin flips.
 * So all sites are looked at together, the first one that flips is taken, all fields get its
 * change (a row of couplings), and the sites behind it are looked at again. These are the flips of
 * a serial sweep, by one barrier for each of them and not for each trial.
 *
 * A flip reads a row of couplings, 2 n bytes, and a rejected trial reads nothing.
 */
#include "spin_lattice/dense.h"

/* Where the members' numbers begin: realisation `pile` of all members, of `samples` each. */
struct dense_place {
    uint slot, pile, member, sample;
};

ERGO_INLINE struct dense_place dense_place(uint chain, uint samples) {
    struct dense_place p;
    p.pile = chain / DENSE_SLOTS;
    p.slot = chain - p.pile * DENSE_SLOTS;
    p.member = p.pile / samples;
    p.sample = p.pile - p.member * samples;
    return p;
}

/* Work-item's first vector of a configuration. */
ERGO_INLINE ulong dense_home(uint pile, uint place, uint item) {
    return ((ulong)pile * DENSE_SLOTS + place) * (DENSE_PADDED / 8) + item * DENSE_EIGHTS;
}

ERGO_INLINE ulong dense_row(uint pile, uint site, uint item) {
    return ((ulong)pile * DENSE_N + site) * (DENSE_PADDED / 8) + item * DENSE_EIGHTS;
}

/* The first own site, from `from` on, that flips: twice its number, and one more where it is up.
 * DENSE_NONE: none. (A group of one stops at the first.) */
ERGO_INLINE uint dense_first(const int8 *sign, const int8 *field, const int8 *limit, uint item,
                             uint from) {
    int best = 0x7fffffff;
    const uint begin = DENSE_GROUP == 1 ? from / 8 : 0;
    for (uint q = begin; q < DENSE_EIGHTS; q++) {
        const int8 site = dense_sites(item * DENSE_EACH + 8 * q);
        const int8 flips = (sign[q] * field[q] < limit[q]) & (site >= (int8)((int)from));
        const int8 number = 2 * site - (sign[q] > (int8)(0));
        best = min(best, dense_least(flips ? number : (int8)(0x7fffffff)));
        if (DENSE_GROUP == 1 && best != 0x7fffffff)
            break;
    }
    return best == 0x7fffffff ? DENSE_NONE : (uint)best;
}

#define DENSE_GROUP_SIZE __attribute__((reqd_work_group_size(DENSE_GROUP, 1, 1)))

/* spins: +1, -1, 0 beyond the last site. */
DENSE_GROUP_SIZE __kernel void
dense_sweep(__global char8 *spins, __global int8 *fields, __global const short8 *couplings,
            __global const uint *places, __global const uint2 *keys, __global const float *scales,
            __global const int *external, __global long *energies, __global ulong *flips,
            ulong step, uint sweeps, uint samples) {
    __local uint first[3];
    __local long sums[DENSE_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const struct dense_place p = dense_place(chain, samples);
    const ulong home = dense_home(p.pile, places[chain], item);
    const uint2 key = keys[p.member];
    const float scale = scales[p.member * (DENSE_RUNGS) + p.slot / (DENSE_COPIES)];
    int8 sign[DENSE_EIGHTS], field[DENSE_EIGHTS], limit[DENSE_EIGHTS];
    uint turn = 0, flipped = 0;
    for (uint q = 0; q < DENSE_EIGHTS; q++) {
        sign[q] = convert_int8(spins[home + q]);
        field[q] = fields[home + q];
    }
    if (item == 0)
        first[0] = DENSE_NONE;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < sweeps; t++) {
        const uint own = item * DENSE_EACH;
        for (uint q = 0; q < DENSE_EIGHTS; q++)
            limit[q] = dense_limits(p.sample * DENSE_QUADS + own / 4 + 2 * q, own + 8 * q, step + t,
                                    p.slot, key, scale);
        uint from = 0, found;
        do {
            /* Three words in turn: the next one is cleared while none looks at it, and a round
             * has one barrier. */
            const uint next = turn == 2 ? 0 : turn + 1;
            const uint best = dense_first(sign, field, limit, item, from);
            if (best != DENSE_NONE)
                atomic_min(&first[turn], best);
            if (item == 0)
                first[next] = DENSE_NONE;
            barrier(CLK_LOCAL_MEM_FENCE);
            found = first[turn];
            turn = next;
            if (found != DENSE_NONE) {
                const uint site = found >> 1;
                const ulong row = dense_row(p.pile, site, item);
                const int8 change = (int8)(found & 1 ? -2 : 2);
                for (uint q = 0; q < DENSE_EIGHTS; q++) {
                    field[q] += change * convert_int8(couplings[row + q]);
                    sign[q] = dense_sites(own + 8 * q) == (int8)((int)site) ? -sign[q] : sign[q];
                }
                from = site + 1;
                flipped++;
            }
        } while (found != DENSE_NONE);
    }
    /* 2 E = -sum s (f + h): the fields have h once, the energy twice as much */
    const long8 outside = (long8)(external[p.member]);
    long8 sum = (long8)(0);
    for (uint q = 0; q < DENSE_EIGHTS; q++) {
        spins[home + q] = convert_char8(sign[q]);
        fields[home + q] = field[q];
        sum -= convert_long8(sign[q]) * (convert_long8(field[q]) + outside);
    }
    const long4 four = sum.lo + sum.hi;
    const long2 two = four.lo + four.hi;
    sums[item] = two.x + two.y;
    for (uint part = DENSE_GROUP / 2; part; part /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < part)
            sums[item] += sums[item + part];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        energies[chain] = sums[0];
        flips[chain] += flipped;
    }
}

/* Fields of configurations that were made or loaded, of chains from `begin` on. */
DENSE_GROUP_SIZE __kernel void dense_fields(__global const char8 *spins, __global int8 *fields,
                                            __global const short8 *couplings,
                                            __global const int *external, uint samples,
                                            uint begin) {
    const uint item = (uint)get_local_id(0), chain = begin + (uint)get_group_id(0);
    const struct dense_place p = dense_place(chain, samples);
    const ulong home = dense_home(p.pile, p.slot, item);
    __global const char *all = (__global const char *)(spins + dense_home(p.pile, p.slot, 0));
    for (uint q = 0; q < DENSE_EIGHTS; q++) {
        int8 field = (int8)(external[p.member]);
        for (uint site = 0; site < DENSE_N; site++)
            field += (int)all[site] * convert_int8(couplings[dense_row(p.pile, site, item) + q]);
        fields[home + q] = field;
    }
}

/* A work-item for each entry of a configuration. mode: 0 down, 1 up, 2 random. */
__kernel void dense_start(__global char *spins, __global uint *places, __global const uint2 *keys,
                          uint mode, uint samples) {
    const uint site = (uint)get_global_id(0), chain = (uint)get_global_id(1);
    const struct dense_place p = dense_place(chain, samples);
    if (site >= DENSE_PADDED)
        return;
    uint up = mode;
    if (mode == 2) {
        const uint4 r = dense_draw(p.sample * DENSE_QUADS + site / 4, 0,
                                   ERGO_DRAW(DENSE_PURPOSE_START, p.slot), keys[p.member]);
        const uint two = site & 2 ? (site & 1 ? r.w : r.z) : (site & 1 ? r.y : r.x);
        up = two >> 31;
    }
    spins[(ulong)chain * DENSE_PADDED + site] = site < DENSE_N ? (up ? 1 : -1) : 0;
    if (site == 0)
        places[chain] = p.slot;
}

/* Exchanges of tempering: a work-item for each pair of slots of this parity. came[chain]: was the
 * configuration there at the hottest rung more recently than at the coldest? */
__kernel void dense_swap(__global uint *places, __global long *energies, __global uint *came,
                         __global ulong *accepted, __global ulong *trips,
                         __global const uint2 *keys, __global const float *slopes, ulong step,
                         uint parity, uint samples) {
    const uint pair = (uint)get_global_id(0), pile = (uint)get_global_id(1);
    if (pair >= ergo_ladder_pairs(DENSE_RUNGS, parity) * (DENSE_COPIES))
        return;
    const uint t = 2 * (pair / (DENSE_COPIES)) + parity, copy = pair % (DENSE_COPIES);
    const uint slot = t * (DENSE_COPIES) + copy, member = pile / samples;
    const uint cold = pile * DENSE_SLOTS + slot, hot = cold + (DENSE_COPIES);
    const long energy = energies[cold], other = energies[hot];
    const uint2 key = keys[member];
    const uint yes = ergo_ladder_decides(other - energy, slopes[member * (DENSE_RUNGS) + t],
                                         pile - member * samples, step,
                                         ERGO_DRAW(DENSE_PURPOSE_SWAP, slot), key.x, key.y);
    uint from = came[cold], to = came[hot];
    const uint arrived = ergo_ladder_walk(&from, &to, yes, 1, t, DENSE_RUNGS);
    came[cold] = from;
    came[hot] = to;
    if (yes) {
        const uint place = places[cold];
        places[cold] = places[hot];
        places[hot] = place;
        energies[cold] = other;
        energies[hot] = energy;
        accepted[cold]++;
    }
    if (t == 0)
        trips[pile * (DENSE_COPIES) + copy] += arrived;
}

/* How many of eight are true, which is -1. */
ERGO_INLINE uint dense_count(char8 yes) {
    const char4 four = yes.lo + yes.hi;
    const char2 two = four.lo + four.hi;
    return (uint)(-two.x - two.y);
}

DENSE_GROUP_SIZE __kernel void dense_measure(__global const char8 *spins,
                                             __global const uint *places,
                                             __global const long *energies,
                                             __global struct dense_record *records, uint samples,
                                             uint chains, uint number) {
    __local uint2 sums[DENSE_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const struct dense_place p = dense_place(chain, samples);
    const uint pairs = (DENSE_COPIES) > 1 && p.slot % (DENSE_COPIES) == 0;
    const ulong home = dense_home(p.pile, places[chain], item);
    const ulong other = dense_home(p.pile, places[pairs ? chain + 1 : chain], item);
    uint2 sum = (uint2)(0u);
    for (uint q = 0; q < DENSE_EIGHTS; q++) {
        const char8 a = spins[home + q], b = spins[other + q];
        sum.x += dense_count(a > (char8)(0));
        sum.y += dense_count(a != b);
    }
    sums[item] = sum;
    for (uint part = DENSE_GROUP / 2; part; part /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < part)
            sums[item] += sums[item + part];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        struct dense_record r;
        r.energy = energies[chain];
        r.up = sums[0].x;
        r.unequal = sums[0].y;
        records[(ulong)number * chains + chain] = r;
    }
}
