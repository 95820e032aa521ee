/*
 * The time step of step.cl for few walkers of many atoms: work-groups share a walker, and launches
 * stand where step.cl has barriers.
 *
 * A group has HELIUM_ATOMS atoms in a row, and HELIUM_LANES work-items for each. These share its
 * partners block by block, and what the blocks add up to is added in the order of the blocks, as
 * helium_atom does it: the bits are the same. In a group neighbours have neighbouring atoms and one
 * block, so that they read one place at a time.
 *
 * A launch has walkers `begin` to end - 1 of each member's `count`; dimension 1 counts those of all
 * members.
 *
 * Macros besides those of helium/atom.h: HELIUM_LANES; HELIUM_TRIPLET, as in step.cl; HELIUM_LOCAL:
 * blocks of partners are in local memory (not with a triplet factor).
 */
#include "helium_dmc/places.h"
#if HELIUM_TRIPLET
#include "helium/triplet_atom.h"
#endif

#define HELIUM_ATOMS (HELIUM_GROUP / HELIUM_LANES)
#define HELIUM_SHARES ((HELIUM_N + HELIUM_ATOMS - 1) / HELIUM_ATOMS) /* groups of a walker */
#define HELIUM_KINDS 7 /* floats of helium_share: the gradient's 3, then 4 of pairs */

/* Places after diffusion, from those of the parents. Dimension 0: atoms; 1: walkers of all members.
 */
__kernel void helium_dmc_diffuse(__global const int *positions, __global const uint *parents,
                                 __global const struct helium_member *members,
                                 __global const helium_cubic *random, ulong step, uint count,
                                 uint begin, uint end, __global int *next) {
    const uint i = (uint)get_global_id(0);
    const uint index = helium_dmc_index((uint)get_global_id(1), count, begin, end);
    const uint which = index / count, walker = index - which * count;
    const ulong parent = which * count + min(walker + parents[index], count - 1);
    const struct helium_member member = members[which];
    if (i < HELIUM_N)
        helium_store(next + (ulong)index * (3 * HELIUM_N), i,
                     helium_diffused(helium_fetch(positions + parent * (3 * HELIUM_N), i), random,
                                     &member, walker * HELIUM_N + i, step));
}

#if HELIUM_TRIPLET
/* G of all atoms. Dimension 0: atoms; 1: walkers of all members. */
__kernel void helium_dmc_field(__global const int *places,
                               __global const struct helium_member *members,
                               __global const helium_cubic *t_tables, uint count, uint begin,
                               uint end, __global int *fields) {
    const uint i = (uint)get_global_id(0);
    const uint index = helium_dmc_index((uint)get_global_id(1), count, begin, end);
    const uint which = index / count;
    const struct helium_member member = members[which];
    __global const int *place = places + (ulong)index * (3 * HELIUM_N);
    if (i < HELIUM_N)
        helium_triplet_keep(fields + (ulong)index * (3 * HELIUM_N), i,
                            helium_triplet_field(HELIUM_PLACE(i), place,
                                                 t_tables + 2 * which * HELIUM_U_SIZE, &member));
}
#endif

/* What a work-item is for, and local memory that the group has in common. */
struct helium_spread {
    uint id, atom, lane; /* number in the group; of its atom there; of its blocks */
    uint i;              /* the atom; HELIUM_N or more: none */
    __local int4 *tile;  /* [HELIUM_LANES][HELIUM_E_BLOCK] */
    __local float *runs; /* [HELIUM_KINDS][HELIUM_GROUP]: what blocks add up to */
    __local float *sums; /* [HELIUM_KINDS][HELIUM_ATOMS] */
};

/* As helium_atom; all of the group call it. Only the atom's first work-item gets the share. */
ERGO_INLINE struct helium_share helium_spread_atom(const struct helium_spread *s,
                                                   __global const int *places,
                                                   HELIUM_E_SPACE *table, __global const int *sites,
                                                   const struct helium_member *member,
                                                   const uint pairs) {
    const uint kinds = pairs ? HELIUM_KINDS : 3u, i = min(s->i, (uint)HELIUM_N - 1);
    const int4 own = helium_fetch(places, i);
    for (uint q = s->lane; q < kinds; q += HELIUM_LANES)
        s->sums[q * HELIUM_ATOMS + s->atom] = 0;
    for (uint first = 0; first < HELIUM_E_BLOCKS; first += HELIUM_LANES) {
        const uint b = first + s->lane;
        struct helium_share run = {0, 0, 0, 0, 0, 0, 0};
#if HELIUM_LOCAL
        for (uint k = s->id; k < HELIUM_LANES * HELIUM_E_BLOCK; k += HELIUM_GROUP)
            s->tile[k] = helium_fetch(places, min(first * HELIUM_E_BLOCK + k, (uint)HELIUM_N - 1));
        barrier(CLK_LOCAL_MEM_FENCE);
        HELIUM_PLACES *place = s->tile + s->lane * HELIUM_E_BLOCK;
#else
        HELIUM_PLACES *place = places + min(b, HELIUM_E_BLOCKS - 1u) * HELIUM_E_BLOCK;
#endif
        if (b < HELIUM_E_BLOCKS)
            run =
                helium_of_block(own, i, b, place, table, member, pairs,
                                pairs ? helium_weight(i / HELIUM_E_BLOCK, b, HELIUM_E_BLOCKS) : 0);
        s->runs[s->id] = run.gx;
        s->runs[HELIUM_GROUP + s->id] = run.gy;
        s->runs[2 * HELIUM_GROUP + s->id] = run.gz;
        if (pairs) {
            s->runs[3 * HELIUM_GROUP + s->id] = run.potential;
            s->runs[4 * HELIUM_GROUP + s->id] = run.virial;
            s->runs[5 * HELIUM_GROUP + s->id] = run.force;
            s->runs[6 * HELIUM_GROUP + s->id] = run.slope;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint q = s->lane; q < kinds; q += HELIUM_LANES) {
            float sum = s->sums[q * HELIUM_ATOMS + s->atom];
            for (uint l = 0; l < HELIUM_LANES && first + l < HELIUM_E_BLOCKS; l++) {
                const float value = s->runs[q * HELIUM_GROUP + l * HELIUM_ATOMS + s->atom];
                const uint weight =
                    q < 3 ? 1u : helium_weight(i / HELIUM_E_BLOCK, first + l, HELIUM_E_BLOCKS);
                if (weight)
                    sum = fma((float)weight, value, sum);
            }
            s->sums[q * HELIUM_ATOMS + s->atom] = sum;
        }
#if !HELIUM_LOCAL /* else the next blocks' barrier does it */
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    struct helium_share all = {0, 0, 0, 0, 0, 0, 0};
    all.gx = s->sums[s->atom];
    all.gy = s->sums[HELIUM_ATOMS + s->atom];
    all.gz = s->sums[2 * HELIUM_ATOMS + s->atom];
    if (pairs) {
        all.potential = s->sums[3 * HELIUM_ATOMS + s->atom];
        all.virial = s->sums[4 * HELIUM_ATOMS + s->atom];
        all.force = s->sums[5 * HELIUM_ATOMS + s->atom];
        all.slope = s->sums[6 * HELIUM_ATOMS + s->atom];
    }
    helium_add_site(own, i, sites, member, &all);
    return all;
}

/* The local memory and numbers of a group, and the tables of its member. */
#if HELIUM_LOCAL
#define HELIUM_TILE_SIZE (HELIUM_LANES * HELIUM_E_BLOCK)
#else
#define HELIUM_TILE_SIZE 1
#endif
#define HELIUM_SPREAD                                                                              \
    __local int4 tile[HELIUM_TILE_SIZE];                                                           \
    __local float runs[HELIUM_KINDS * HELIUM_GROUP], adds[HELIUM_KINDS * HELIUM_ATOMS];            \
    const uint id = (uint)get_local_id(0), group = (uint)get_group_id(0);                          \
    const uint index = helium_dmc_index((uint)get_group_id(1), count, begin, end);                 \
    const uint which = index / count;                                                              \
    const struct helium_spread spread = {id,                                                       \
                                         id % HELIUM_ATOMS,                                        \
                                         id / HELIUM_ATOMS,                                        \
                                         group * HELIUM_ATOMS + id % HELIUM_ATOMS,                 \
                                         tile,                                                     \
                                         runs,                                                     \
                                         adds};                                                    \
    const bool mine = spread.lane == 0 && spread.i < HELIUM_N;                                     \
    const uint i = min(spread.i, (uint)HELIUM_N - 1);                                              \
    const ulong home = (ulong)index * (3 * HELIUM_N);                                              \
    const struct helium_member member = members[which];                                            \
    const struct helium_dmc dmc = steps[which]
#if HELIUM_E_LOCAL
#define HELIUM_LOAD_TABLE                                                                          \
    __local helium_cubic table[2 * HELIUM_E_SIZE];                                                 \
    for (uint k = id; k < 2 * HELIUM_E_SIZE; k += HELIUM_GROUP)                                    \
        table[k] = e_tables[2 * which * HELIUM_E_SIZE + k];                                        \
    barrier(CLK_LOCAL_MEM_FENCE)
#else
#define HELIUM_LOAD_TABLE __global const helium_cubic *table = e_tables + 2 * which * HELIUM_E_SIZE
#endif
#if HELIUM_TRIPLET
#define HELIUM_SHARED(share)                                                                       \
    const struct helium_triplet triplet = triplets[which];                                         \
    const int4 own = helium_fetch(places + home, i);                                               \
    if (mine)                                                                                      \
    helium_triplet_share(own, i, places + home, t_tables + 2 * which * HELIUM_U_SIZE,              \
                         fields + home, &triplet, &member, &(share))
#else
#define HELIUM_SHARED(share)
#endif

/*
 * Half the drift of the atoms at `places`. Dimension 0: groups of a walker; 1: walkers of all
 * members. mean: 0: Euler's guess from there; 1: from the place halfway between `next` and there,
 * by half of that (the mean of two gradients).
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_dmc_drift_half(__global const int *places, __global const int *next,
                      __global const struct helium_member *members,
                      __global const struct helium_dmc *steps,
                      __global const helium_cubic *e_tables, __global const int *sites, uint count,
                      uint begin, uint end, uint mean,
#if HELIUM_TRIPLET
                      __global const struct helium_triplet *triplets,
                      __global const helium_cubic *t_tables, __global const int *fields,
#endif
                      __global int *drifted) {
    HELIUM_SPREAD;
    HELIUM_LOAD_TABLE;
    struct helium_share share =
        helium_spread_atom(&spread, places + home, table, sites, &member, 0);
    HELIUM_SHARED(share);
    if (mine) {
        int4 from = helium_fetch(places + home, i);
        if (mean)
            from = helium_halfway(helium_fetch(next + home, i), from);
        helium_store(drifted + home, i, helium_drifted(from, &share, mean ? 0.5f : 1.0f, &dmc));
    }
}

/*
 * The whole drift of the atoms at `next`, by the gradient at `places`, in the middle, and the
 * energies there: parts [walkers of all members][HELIUM_SHARES][6], as struct helium_sums.
 * Dimensions as above.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_dmc_drift_whole(__global const int *places, __global const struct helium_member *members,
                       __global const struct helium_dmc *steps,
                       __global const helium_cubic *e_tables, __global const int *sites, uint count,
                       uint begin, uint end,
#if HELIUM_TRIPLET
                       __global const struct helium_triplet *triplets,
                       __global const helium_cubic *t_tables, __global const int *fields,
#endif
                       __global int *next, __global long *parts) {
    __local long totals[4 * HELIUM_ATOMS];
    __local uint beyond;
    HELIUM_SPREAD;
    if (id == 0)
        beyond = 0;
    HELIUM_LOAD_TABLE;
    struct helium_share share =
        helium_spread_atom(&spread, places + home, table, sites, &member, 1);
    HELIUM_SHARED(share);
    long total[4] = {0, 0, 0, 0};
    uint marks = 0;
    if (mine) {
        helium_add(&share, &member, total, &marks);
        helium_store(next + home, i,
                     helium_drifted(helium_fetch(next + home, i), &share, 2.0f, &dmc));
    }
    if (spread.lane == 0)
        for (uint q = 0; q < 4; q++)
            totals[q * HELIUM_ATOMS + spread.atom] = total[q];
    if (marks)
        atomic_or(&beyond, marks);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint q = id; q < 6; q += HELIUM_GROUP) {
        long sum = q == 5 ? (long)beyond << HELIUM_BEYOND : 0;
        for (uint k = 0; q > 0 && q < 5 && k < HELIUM_ATOMS; k++)
            sum += totals[(q - 1) * HELIUM_ATOMS + k];
        parts[((ulong)index * HELIUM_SHARES + group) * 6 + q] = sum;
    }
}

/* Sums of a walker's groups, and its records (push: as in step.cl). Dimension 0: a group; 1:
 * walkers of all members. */
__kernel __attribute__((reqd_work_group_size(HELIUM_COLLECTORS, 1, 1))) void
helium_dmc_collect(__global const long *parts, __global const uint *parents,
                   __global const long *records, __global const struct helium_dmc *steps,
                   uint count, uint begin, uint end, uint push, __global long *next_records,
                   __global long *sums) {
    __local long all[6];
    const uint id = (uint)get_local_id(0);
    const uint index = helium_dmc_index((uint)get_group_id(1), count, begin, end);
    const uint which = index / count;
    const ulong parent = which * count + min(index - which * count + parents[index], count - 1);
    __global const long *part = parts + (ulong)index * HELIUM_SHARES * 6;
    __global const long *old = records + parent * HELIUM_DMC_RECORDS;
    for (uint q = id; q < 6; q += HELIUM_COLLECTORS) {
        long sum = 0;
        for (uint k = 0; k < HELIUM_SHARES; k++)
            sum = q < 5 ? sum + part[k * 6 + q] : sum | part[k * 6 + q];
        all[q] = sum;
        sums[(ulong)index * 6 + q] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = id; steps[which].every && k < HELIUM_DMC_RECORDS; k += HELIUM_COLLECTORS)
        next_records[(ulong)index * HELIUM_DMC_RECORDS + k] =
            push == 2u || (push && k == 0) ? all[1] : old[push ? k - 1 : k];
}
