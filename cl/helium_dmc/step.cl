/*
 * A time step of all walkers: diffusion, drift, energies. Each walker begins from the places of its
 * parent (comb.cl), so copies need no launch of their own.
 *
 * A work-item has the same atoms throughout, and finds them in `next` and `middle` again: its own
 * writes. Macros: those of helium/atom.h; HELIUM_TRIPLET: with a triplet factor (and then
 * HELIUM_U_BASE and HELIUM_U_SIZE, as in helium/triplet_atom.h).
 */
#include "helium/atom.h"
#include "helium_dmc/places.h"
#if HELIUM_TRIPLET
#include "helium/triplet_atom.h"
/* Before an atom's gradient, G of all; after it, what the triplet factor adds. */
#define HELIUM_FIELDS(places)                                                                      \
    helium_triplet_fields(item, there, places, t_table, &member, field);                           \
    barrier(HELIUM_FENCE)
#define HELIUM_SHARED(places, own, share)                                                          \
    helium_triplet_share(own, i, places, t_table, field, &triplet, &member, &(share))
#else
#define HELIUM_FIELDS(places)
#define HELIUM_SHARED(places, own, share)
#endif

#define HELIUM_FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

ERGO_INLINE int4 helium_own(HELIUM_PLACES *place, uint i) {
    return HELIUM_PLACE(i);
}

/*
 * Dimension 0: groups of HELIUM_E_MATES walkers of a member, of which this launch has walkers
 * `begin` to end - 1. next: the places after the step;
 * middle: those in the middle of the drift, where `sums` are the energies (as struct helium_sums;
 * no ln psi); euler: Euler's guess of these, unless it is in local memory. push: 1: this step's
 * potential energies become records; 2: all of a walker's.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_dmc_step(__global const int *positions, __global const uint *parents,
                __global const long *records, __global const struct helium_member *members,
                __global const struct helium_dmc *steps, __global const helium_cubic *e_tables,
                __global const helium_cubic *random, __global const int *sites, ulong step,
                uint count, uint begin, uint end, uint push,
#if HELIUM_TRIPLET
                __global const struct helium_triplet *triplets,
                __global const helium_cubic *t_tables, __global int *fields,
#endif
                __global int *next, __global long *next_records, __global int *euler,
                __global int *middle, __global long *sums) {
    __local long parts[4 * HELIUM_GROUP], heads[4 * HELIUM_HEADS * HELIUM_E_MATES];
    __local uint beyond[HELIUM_E_MATES]; /* marks of all atoms of a walker */
    const uint id = (uint)get_local_id(0);
    const uint item = id % HELIUM_E_ITEMS, mate = id / HELIUM_E_ITEMS;
    const uint crews = (end - begin + HELIUM_E_MATES - 1) / HELIUM_E_MATES;
    const uint which = (uint)get_group_id(0) / crews;
    const uint first = begin + ((uint)get_group_id(0) - which * crews) * HELIUM_E_MATES;
    const uint walker = first + mate, there = walker < end, known = there ? walker : begin;
    const uint index = which * count + known;
    const ulong parent = which * count + min(known + parents[index], count - 1);
    const struct helium_member member = members[which];
    const struct helium_dmc dmc = steps[which];
    __global const int *from = positions + parent * (3 * HELIUM_N);
    __global int *home = next + (ulong)index * (3 * HELIUM_N);
    __global int *between = middle + (ulong)index * (3 * HELIUM_N);
#if HELIUM_LOCAL /* of its own atoms alone: others read local memory */
    __global int *guess = between;
#else
    __global int *guess = euler + (ulong)index * (3 * HELIUM_N);
#endif
#if HELIUM_TRIPLET
    const struct helium_triplet triplet = triplets[which];
#if HELIUM_T_LOCAL
    __local helium_cubic t_table[2 * HELIUM_U_SIZE];
    for (uint k = id; k < 2 * HELIUM_U_SIZE; k += HELIUM_GROUP)
        t_table[k] = t_tables[2 * which * HELIUM_U_SIZE + k];
#else
    __global const helium_cubic *t_table = t_tables + 2 * which * HELIUM_U_SIZE;
#endif
    __global int *field = fields + (ulong)index * (3 * HELIUM_N);
#endif
    long total[4] = {0, 0, 0, 0};
    uint marks = 0;
    if (item == 0)
        beyond[mate] = 0;
#if HELIUM_E_LOCAL
    __local helium_cubic table[2 * HELIUM_E_SIZE];
    for (uint k = id; k < 2 * HELIUM_E_SIZE; k += HELIUM_GROUP)
        table[k] = e_tables[2 * which * HELIUM_E_SIZE + k];
#else
    __global const helium_cubic *table = e_tables + 2 * which * HELIUM_E_SIZE;
#endif
#if HELIUM_LOCAL
    __local int4 places[HELIUM_N * HELIUM_E_MATES];
    __local int4 *place = places + mate * HELIUM_N, *place_guess = place, *place_half = place;
#else
    __global const int *place = home, *place_guess = guess, *place_half = between;
#endif
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS) {
        const int4 old = helium_fetch(from, i);
        const int4 now = helium_diffused(old, random, &member, walker * HELIUM_N + i, step);
        helium_store(home, i, now);
#if HELIUM_LOCAL
        place[i] = now;
#endif
    }
    barrier(HELIUM_FENCE);
    HELIUM_FIELDS(place);
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS) {
        const int4 own = helium_own(place, i);
        struct helium_share share = helium_atom(own, i, place, table, sites, &member, 0);
        HELIUM_SHARED(place, own, share);
        helium_store(guess, i, helium_drifted(own, &share, 1.0f, &dmc));
    }
    barrier(HELIUM_FENCE);
#if HELIUM_LOCAL
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS)
        place[i] = helium_fetch(guess, i);
    barrier(HELIUM_FENCE);
#endif
    HELIUM_FIELDS(place_guess);
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS) {
        const int4 own = helium_own(place_guess, i);
        struct helium_share share = helium_atom(own, i, place_guess, table, sites, &member, 0);
        HELIUM_SHARED(place_guess, own, share);
        const int4 mid = helium_halfway(helium_fetch(home, i), own);
        helium_store(between, i, helium_drifted(mid, &share, 0.5f, &dmc));
    }
    barrier(HELIUM_FENCE);
#if HELIUM_LOCAL
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS)
        place[i] = helium_fetch(between, i);
    barrier(HELIUM_FENCE);
#endif
    HELIUM_FIELDS(place_half);
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS) {
        const int4 own = helium_own(place_half, i);
        struct helium_share share = helium_atom(own, i, place_half, table, sites, &member, 1);
        HELIUM_SHARED(place_half, own, share);
        helium_add(&share, &member, total, &marks);
        helium_store(home, i, helium_drifted(helium_fetch(home, i), &share, 2.0f, &dmc));
    }
    if (marks)
        atomic_or(&beyond[mate], marks);
    helium_gather(total, 4, id, parts, heads);
    for (uint k = id; k < 6 * HELIUM_E_MATES; k += HELIUM_GROUP) { /* as struct helium_sums */
        const uint m = k / 6, q = k - 6 * m;
        if (first + m < end)
            sums[((ulong)which * count + first + m) * 6 + q] =
                q == 0   ? 0
                : q == 5 ? (long)beyond[m] << HELIUM_BEYOND
                         : helium_gathered(heads, q - 1, m);
    }
    const long potential = helium_gathered(heads, 0, mate);
    __global const long *old = records + parent * HELIUM_DMC_RECORDS;
    for (uint k = item; there && dmc.every && k < HELIUM_DMC_RECORDS; k += HELIUM_E_ITEMS)
        next_records[(ulong)index * HELIUM_DMC_RECORDS + k] =
            push == 2u || (push && k == 0) ? potential : old[push ? k - 1 : k];
}
