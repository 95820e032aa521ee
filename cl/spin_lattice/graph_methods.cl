/*
 * Spins on any graph, more than one chain a member: exchanges of a ladder; populations.
 *
 * Compile-time: graph_chains.h; GRAPH_KEEP (configurations kept); GRAPH_COMB, work-items of a
 * member.
 */
#include "spin_lattice/graph.h"
#include "spin_lattice/graph_chains.h"

ERGO_INLINE void graph_clear(__global uint *numbers, uint chain) {
    for (uint i = 0; i < GRAPH_NUMBERS; i++)
        numbers[(ulong)chain * GRAPH_NUMBERS + i] = 0;
}

/*
 * Which configurations are kept, after `step` sweeps. numbers: of graph_measure; with `clear` they
 * are zeroed for the next time. A group for each member; in each round it takes the lowest energy
 * among its chains that is not yet kept, of equal ones the first chain.
 */
__kernel __attribute__((reqd_work_group_size(GRAPH_COMB, 1, 1))) void
graph_look_all(__global uint *numbers, __global const struct graph_member *members,
               __global struct graph_found *found, __global ulong *hits, __global uint *looks,
               ulong step, uint clear) {
    __local long top[GRAPH_COMB];
    __local uint who[GRAPH_COMB], hit;
    const uint m = (uint)get_group_id(0), id = (uint)get_local_id(0);
    __global uint *own = numbers + (ulong)m * GRAPH_WIDTH * GRAPH_NUMBERS;
    __global uint *look = looks + m * GRAPH_KEEP;
    __global struct graph_found *kept = found + (ulong)m * GRAPH_KEEP;
    const long goal = members[m * GRAPH_RUNGS].goal;
    if (id == 0)
        hit = 0;
    for (uint k = id; k < GRAPH_KEEP; k += GRAPH_COMB)
        look[k] = GRAPH_NOTHING;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint reached = 0;
    for (uint c = id; c < GRAPH_WIDTH; c += GRAPH_COMB) {
        const long sum = graph_long(own + c * GRAPH_NUMBERS + GRAPH_SUM);
        reached |= (uint)(sum >= goal);
    }
    atomic_or(&hit, reached);
    for (uint round = 0; round < (GRAPH_KEEP < GRAPH_WIDTH ? GRAPH_KEEP : GRAPH_WIDTH); round++) {
        long best = GRAPH_EMPTY;
        uint chain = GRAPH_NOTHING;
        for (uint c = id; c < GRAPH_WIDTH; c += GRAPH_COMB) {
            const long sum = graph_long(own + c * GRAPH_NUMBERS + GRAPH_SUM);
            const ulong mark = (ulong)graph_long(own + c * GRAPH_NUMBERS + GRAPH_MARK);
            const uint taken = (uint)(sum > best) &
                               (uint)(graph_choose(kept, GRAPH_KEEP, sum, mark) != GRAPH_NOTHING);
            best = taken ? sum : best;
            chain = taken ? c : chain;
        }
        top[id] = best;
        who[id] = chain;
        for (uint d = GRAPH_COMB / 2; d; d /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < d) {
                const uint other = (uint)(top[id + d] > top[id]) |
                                   ((uint)(top[id + d] == top[id]) & (uint)(who[id + d] < who[id]));
                top[id] = other ? top[id + d] : top[id];
                who[id] = other ? who[id + d] : who[id];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const uint taken = who[0];
        if (id == 0 && taken != GRAPH_NOTHING) {
            const ulong mark = (ulong)graph_long(own + taken * GRAPH_NUMBERS + GRAPH_MARK);
            const uint place = graph_choose(kept, GRAPH_KEEP, top[0], mark);
            kept[place].sum = top[0];
            kept[place].mark = mark;
            kept[place].step = step;
            look[place] = taken;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (uint i = id; clear && i < GRAPH_WIDTH * GRAPH_NUMBERS; i += GRAPH_COMB)
        own[i] = 0;
    if (id == 0)
        hits[m] = hit && hits[m] == GRAPH_NEVER ? step : hits[m];
}

/*
 * Exchanges of temperatures. came[chain]: was the configuration there at the hottest temperature
 * more recently than at the coldest? moves[chain]: accepted exchanges with the next temperature; of
 * the hottest, round trips of this copy. numbers: of graph_measure, zeroed for the next time.
 * Dimension 0: pairs of temperatures, those without a partner too.
 */
__kernel void graph_swap(__global uint *numbers, __global uint *places, __global uint *came,
                         __global ulong *moves, __global const struct graph_member *members,
                         ulong step, uint parity) {
    const uint pairs = (GRAPH_RUNGS / 2 + 1) * GRAPH_COPIES;
    const uint item = (uint)get_global_id(0), m = item / pairs, pair = item - m * pairs;
    const uint copy = pair % GRAPH_COPIES, above = 2 * (pair / GRAPH_COPIES) + 1 - parity;
    const uint first = m * GRAPH_WIDTH + copy, hot = first + above * GRAPH_COPIES;
    const uint cold = hot - GRAPH_COPIES;
    if (m >= GRAPH_MEMBERS)
        return;
    if (above > 0 && above < GRAPH_RUNGS) {
        const uint t = above - 1, row = GRAPH_ROW(cold);
        const uint yes = graph_exchange(
            graph_long(numbers + (ulong)cold * GRAPH_NUMBERS + GRAPH_SUM),
            graph_long(numbers + (ulong)hot * GRAPH_NUMBERS + GRAPH_SUM), members[row].slope,
            GRAPH_OWN(cold), step, members[row].key0, members[row].key1);
        uint from = came[cold], to = came[hot];
        const uint arrived = ergo_ladder_walk(&from, &to, yes, 1, t, GRAPH_RUNGS);
        came[cold] = from;
        came[hot] = to;
        if (yes) {
            const uint place = places[cold];
            places[cold] = places[hot];
            places[hot] = place;
            moves[cold]++;
        }
        if (t == 0)
            moves[first + (GRAPH_RUNGS - 1) * GRAPH_COPIES] += arrived;
    }
    if (above > 0 && above <= GRAPH_RUNGS)
        graph_clear(numbers, cold);
    if (above < GRAPH_RUNGS)
        graph_clear(numbers, hot);
}

/*
 * Houdayer's move (2001): of two copies at one temperature, a cluster of connected vertices at
 * which they differ changes sides, from a random one of these vertices on. The sum of their
 * energies stays. queue[slot][pair]: the cluster's slots; those in it have bit 1 of the first
 * copy's byte set until it is flipped. Dimension 0: pairs of all members' temperatures. It is one
 * work-item's work, which needs neither atomics nor an order of others.
 */
__kernel void graph_cluster(__global uchar *spins, __global const uint *first,
                            __global const int2 *bonds, __global const uint *places,
                            __global const struct graph_member *members, __global uint *queue,
                            ulong step, uint slots) {
    const uint pair = (uint)get_global_id(0), pairs = GRAPH_MEMBERS * GRAPH_RUNGS;
    if (pair >= pairs)
        return;
    const uint one = pair * GRAPH_COPIES, a = GRAPH_COLUMN(one), b = GRAPH_COLUMN(one + 1);
    uint differ = 0;
    for (uint slot = 0; slot < slots; slot++)
        differ += spins[GRAPH_AT(slot, a)] ^ spins[GRAPH_AT(slot, b)];
    if (differ == 0)
        return;
    uint left =
        graph_seed(differ, step, pair % GRAPH_RUNGS, members[pair].key0, members[pair].key1) + 1;
    uint seed = 0;
    for (uint slot = 0; slot < slots && left > 0; slot++) {
        left -= spins[GRAPH_AT(slot, a)] ^ spins[GRAPH_AT(slot, b)];
        seed = slot;
    }
    uint size = 1;
    queue[pair] = seed;
    spins[GRAPH_AT(seed, a)] |= 2;
    for (uint i = 0; i < size; i++) {
        const uint slot = queue[(ulong)i * pairs + pair];
        for (uint k = first[slot]; k < first[slot + 1]; k++) {
            const uint to = (uint)bonds[k].x;
            if ((spins[GRAPH_AT(to, a)] ^ spins[GRAPH_AT(to, b)]) != 1)
                continue;
            spins[GRAPH_AT(to, a)] |= 2;
            queue[(ulong)size * pairs + pair] = to;
            size++;
        }
    }
    for (uint i = 0; i < size; i++) {
        const uint slot = queue[(ulong)i * pairs + pair];
        spins[GRAPH_AT(slot, a)] ^= 3;
        spins[GRAPH_AT(slot, b)] ^= 1;
    }
}

/*
 * Whose configurations a population continues with: parents[chain], numbers of chains in their
 * member. A group for each member. slope: of graph_weight. weights: their sums up to and with each
 * chain. numbers: of graph_measure, zeroed for the next time.
 */
__kernel __attribute__((reqd_work_group_size(GRAPH_COMB, 1, 1))) void
graph_comb(__global uint *numbers, __global const struct graph_member *members, float slope,
           ulong step, __global ulong *weights, __global uint *parents,
           __global struct graph_totals *totals) {
    __local long part[GRAPH_COMB];
    const uint id = (uint)get_local_id(0), m = (uint)get_group_id(0);
    const uint share = (GRAPH_WIDTH + GRAPH_COMB - 1) / GRAPH_COMB;
    const uint begin = min(id * share, GRAPH_WIDTH), end = min(begin + share, GRAPH_WIDTH);
    __global uint *own = numbers + (ulong)m * GRAPH_WIDTH * GRAPH_NUMBERS;
    __global ulong *sums = weights + (ulong)m * GRAPH_WIDTH;
    const uint word = graph_comb_word(step, members[m].key0, members[m].key1);
    long best = GRAPH_EMPTY;
    for (uint w = begin; w < end; w++)
        best = max(best, graph_long(own + w * GRAPH_NUMBERS + GRAPH_SUM));
    part[id] = best;
    for (uint d = GRAPH_COMB / 2; d; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < d)
            part[id] = max(part[id], part[id + d]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    best = part[0];
    ulong sum = 0;
    for (uint w = begin; w < end; w++) {
        sum += graph_weight(graph_long(own + w * GRAPH_NUMBERS + GRAPH_SUM), best, slope);
        sums[w] = sum;
    }
    const ulong before = (ulong)ergo_comb_up_to((long)sum, id, GRAPH_COMB, part) - sum;
    for (uint w = begin; w < end; w++)
        sums[w] += before;
    for (uint i = begin * GRAPH_NUMBERS; i < end * GRAPH_NUMBERS; i++)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const ulong all = (ulong)part[GRAPH_COMB - 1];
    for (uint w = id; w < GRAPH_WIDTH; w += GRAPH_COMB)
        parents[m * GRAPH_WIDTH + w] = ergo_comb_whose(ergo_comb_tooth(w, all, GRAPH_WIDTH, word),
                                                       part, GRAPH_COMB, sums, share, GRAPH_WIDTH);
    if (id == 0) {
        totals[m].weights = all;
        totals[m].best = best;
    }
}

/* Copies of the parents. Dimension 0: as graph_measure. */
__kernel void graph_branch(__global const uchar *spins, __global const uint *families,
                           __global const uint *parents, __global uchar *next,
                           __global uint *next_families, uint stripes, uint slots) {
    const uint item = (uint)get_global_id(0);
    const uint stripe = item / GRAPH_CHAINS, chain = item - stripe * GRAPH_CHAINS;
    if (stripe >= stripes)
        return;
    const uint parent = chain - GRAPH_OWN(chain) + parents[chain];
    for (uint slot = stripe; slot < slots; slot += stripes)
        next[GRAPH_AT(slot, chain)] = spins[GRAPH_AT(slot, parent)];
    if (stripe == 0)
        next_families[chain] = families[parent];
}

/* A population's families and totals as those of a sample. Dimension 0: chains. */
__kernel void graph_census(__global const uint *families,
                           __global const struct graph_totals *totals, __global uint *of_sample,
                           __global struct graph_totals *totals_of_sample, uint sample) {
    const uint chain = (uint)get_global_id(0);
    if (chain < GRAPH_CHAINS)
        of_sample[(ulong)sample * GRAPH_CHAINS + chain] = families[chain];
    if (chain < GRAPH_MEMBERS) {
        const ulong to = (ulong)sample * GRAPH_MEMBERS + chain;
        totals_of_sample[to].weights = totals[chain].weights;
        totals_of_sample[to].best = totals[chain].best;
    }
}
