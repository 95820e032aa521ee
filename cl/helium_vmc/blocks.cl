/*
 * Macroupdates with many work-groups per walker, for systems of many atoms and few walkers. The
 * chain is the same as in walk_registers.cl.
 *
 * The trials of HELIUM_GROUP consecutive atoms make a block. Their moves do not depend on earlier
 * decisions, so two kernels can share the work.
 *
 *   helium_attempt   computes their new sums of u, with all atoms as they are before the block. A
 *                    work-group takes all trials of a block and HELIUM_TILE partners. First it
 *                    updates the sums of its partners by the accepted moves of the last block.
 *   helium_decide    has one work-group per walker and decides trial by trial. Each work-item keeps
 *                    the new and old sum of its own trial. It corrects both when an earlier trial
 *                    of the block is accepted, so no sum over the work-group is needed.
 *
 * All sums are integers, so the decisions are the same as with one trial after the other.
 *
 * Macros from the host are as in walk_registers.cl, plus HELIUM_TILE, a multiple of HELIUM_GROUP.
 */
#include "helium_vmc/pair.h"

#ifdef HELIUM_NO_UNROLL
#define HELIUM_UNROLL
#else
#define HELIUM_UNROLL ERGO_UNROLL
#endif

/* A block's accepted moves: (their number, first atom of the block), then pairs of old and new
 * places. */
#define HELIUM_DECISIONS (1 + 2 * HELIUM_GROUP)
#define HELIUM_TILES ((HELIUM_N + HELIUM_TILE - 1) / HELIUM_TILE)

ERGO_INLINE int4 helium_place(__global const int *place, uint j) {
    return (int4)(place[j], place[HELIUM_N + j], place[2 * HELIUM_N + j], 0);
}

/* The sum of u between `a` and `count` places. */
ERGO_INLINE long helium_row(__local const helium_cubic *table, int4 a, __local const int4 *places,
                            uint count, const struct helium_member *m) {
    long sum = 0;
    uint c = 0;
    for (; c + HELIUM_CHUNK <= count; c += HELIUM_CHUNK) {
        int part = 0; /* cannot overflow, with at most HELIUM_CHUNK pairs */
        HELIUM_UNROLL
        for (uint k = 0; k < HELIUM_CHUNK; k++)
            part += helium_u(table, a, places[c + k], m);
        sum += part;
    }
    for (; c < count; c++)
        sum += helium_u(table, a, places[c], m);
    return sum;
}

/* Compute all sums from scratch. Dimension 0: tiles of atoms; 1: walkers that are `active`. */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_sum(__global const int *positions, __global long *sums,
           __global const struct helium_member *members, __global const helium_cubic *tables,
           __global const int *sites, uint count, uint active) {
    __local helium_cubic table[HELIUM_U_SIZE];
    __local int4 places[HELIUM_GROUP];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(1);
    const uint j = (uint)get_group_id(0) * HELIUM_GROUP + item;
    const uint which = index / active;
    const ulong home = (ulong)which * count + (index - which * active);
    const struct helium_member member = members[which];
    __global const int *place = positions + home * (3 * HELIUM_N);
    const int4 own = helium_place(place, min(j, (uint)HELIUM_N - 1));
    long sum = 0;
    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k];
    for (uint begin = 0; begin < HELIUM_N; begin += HELIUM_GROUP) {
        /* the last places have been read, and the table is complete */
        barrier(CLK_LOCAL_MEM_FENCE);
        places[item] = helium_place(place, min(begin + item, (uint)HELIUM_N - 1));
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += helium_row(table, own, places, min((uint)HELIUM_GROUP, HELIUM_N - begin), &member);
    }
    if (j < HELIUM_N)
        sums[home * HELIUM_N + j] =
            sum - helium_u(table, own, own, &member) + helium_at_site(own, j, sites, &member);
}

/* Dimension 0: HELIUM_TILES groups; 1: active walkers of all members. The block begins with atom
 * `first`; with HELIUM_N there is no block, and only the accepted moves are applied. attempts:
 * [walker][tile][trial]. */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_attempt(__global const int *positions, __global long *sums,
               __global const struct helium_member *members, __global const uint *factors,
               __global const helium_cubic *tables, __global const helium_cubic *random, ulong step,
               uint first, uint count, uint active, uint apply, __global const int4 *decisions,
               __global long *attempts) {
    __local helium_cubic table[HELIUM_U_SIZE];
    __local int4 places[HELIUM_TILE], moves[2 * HELIUM_GROUP];
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);
    const uint index = (uint)get_group_id(1), which = index / active;
    const uint walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    __global const int *place = positions + home * (3 * HELIUM_N);
    __global const int4 *decided = decisions + (ulong)index * HELIUM_DECISIONS;
    const int4 head = apply ? decided[0] : (int4)(0);
    const uint accepted = (uint)head.x;

    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k];
    for (uint k = item; k < 2 * accepted; k += HELIUM_GROUP)
        moves[k] = decided[1 + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < HELIUM_TILE; c += HELIUM_GROUP) {
        const uint j = tile * HELIUM_TILE + c;
        if (j >= HELIUM_N)
            break;
        const int4 own = helium_place(place, j);
        places[c] = own;
        if (accepted == 0 || j - (uint)head.y < HELIUM_GROUP)
            continue; /* helium_decide has updated the block's own atoms */
        long change = 0;
        uint k = 0;
        /* differences are twice as large as u, and `part` has 32 bits */
        for (; k + 4 <= accepted; k += 4) {
            int part = 0;
            HELIUM_UNROLL
            for (uint a = k; a < k + 4; a++)
                part += helium_u(table, moves[2 * a + 1], own, &member) -
                        helium_u(table, moves[2 * a], own, &member);
            change += part;
        }
        for (; k < accepted; k++)
            change += helium_u(table, moves[2 * k + 1], own, &member) -
                      helium_u(table, moves[2 * k], own, &member);
        sums[home * HELIUM_N + j] += change;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint i = first + item;
    if (i >= HELIUM_N)
        return;
    const int4 new =
        helium_moved(helium_place(place, i),
                     helium_draw(random, &member, factors[which], walker * HELIUM_N + i, step));
    attempts[((ulong)index * HELIUM_TILES + tile) * HELIUM_GROUP + item] = helium_row(
        table, new, places, min((uint)HELIUM_TILE, HELIUM_N - tile * HELIUM_TILE), &member);
}

/* One work-group per walker. */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_decide(__global int *positions, __global long *sums, __global struct helium_walker *walkers,
              __global const struct helium_member *members, __global const uint *factors,
              __global const helium_cubic *tables, __global const helium_cubic *random,
              __global const int *sites, ulong step, uint first, uint count, uint active,
              __global int4 *decisions, __global const long *attempts) {
    __local helium_cubic table[HELIUM_U_SIZE];
    __local int4 moves[2 * HELIUM_GROUP];
    __local long changes[HELIUM_GROUP];
    __local uint verdicts[2];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(0);
    const uint which = index / active, walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    __global int *place = positions + home * (3 * HELIUM_N);
    __global int4 *decided = decisions + (ulong)index * HELIUM_DECISIONS;
    const uint i = first + item, there = min(i, (uint)HELIUM_N - 1);
    const uint end = min((uint)HELIUM_GROUP, HELIUM_N - first);

    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k];
    const int4 old = helium_place(place, there);
    const struct helium_move move =
        helium_draw(random, &member, factors[which], walker * HELIUM_N + there, step);
    const int4 new = helium_moved(old, move);
    moves[2 * item] = old;
    moves[2 * item + 1] = new;
    barrier(CLK_LOCAL_MEM_FENCE);
    long before = sums[home * HELIUM_N + there];
    /* the tiles contain the atom itself */
    long after =
        (long)helium_at_site(new, there, sites, &member) - helium_u(table, new, old, &member);
    __global const long *attempt = attempts + (ulong)index * HELIUM_TILES * HELIUM_GROUP + item;
    uint tile = 0;
    for (; tile + 16 <= HELIUM_TILES; tile += 16) { /* loads that do not wait for each other */
        HELIUM_UNROLL
        for (uint k = 0; k < 16; k++)
            after += attempt[(tile + k) * HELIUM_GROUP];
    }
    for (; tile < HELIUM_TILES; tile++)
        after += attempt[tile * HELIUM_GROUP];

    int4 now = old;
    long change = 0;
    uint accepted = 0;
    for (uint m = 0; m < end; m++) {
        const bool own = m == item;
        if (own) {
            const bool taken = helium_accepts(after - before, move.bound);
            verdicts[m & 1] = taken;
            if (taken) {
                change = after - before;
                before = after;
                now = new;
                decided[1 + 2 * accepted] = old;
                decided[2 + 2 * accepted] = new;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (verdicts[m & 1]) {
            accepted++;
            const int4 from = moves[2 * m], to = moves[2 * m + 1];
            const int others = own ? 0 : -1;
            before +=
                (helium_u(table, to, now, &member) - helium_u(table, from, now, &member)) & others;
            after +=
                (helium_u(table, to, new, &member) - helium_u(table, from, new, &member)) & others;
        }
    }

    changes[item] = change;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all places have been read */
    if (i < HELIUM_N) {
        sums[home * HELIUM_N + i] = before;
        place[i] = now.x;
        place[HELIUM_N + i] = now.y;
        place[2 * HELIUM_N + i] = now.z;
    }
    if (item == 0) {
        long all = 0;
        for (uint k = 0; k < HELIUM_GROUP; k++)
            all += changes[k];
        decided[0] = (int4)((int)accepted, (int)first, 0, 0);
        walkers[home].ln_psi += all;
        walkers[home].accepted = accepted + (first ? walkers[home].accepted : 0);
        walkers[home].window += accepted;
    }
}
