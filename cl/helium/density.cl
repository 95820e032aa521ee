/*
 * Displaced atoms for the one-body density matrix. A group has HELIUM_TOGETHER displacements of one
 * walker, its work-items have atoms.
 *
 * Macros: those of atom.h, of which the tables of energies are not used; HELIUM_U_BASE and
 * HELIUM_U_SIZE; HELIUM_TRIPLET.
 */
#include "helium/atom.h"
#include "helium/density.h"
#include "helium/pair_sum.h"
#if HELIUM_TRIPLET
#include "helium/triplet_atom.h"

/* What the triplet factor adds to ln psi if atom i goes to `to`. field: G of all atoms. */
ERGO_INLINE long helium_triplet_change(const int4 from, const int4 to, uint i, HELIUM_PLACES *place,
                                       HELIUM_T_SPACE *table, __global const int *field,
                                       const struct helium_triplet *triplet,
                                       const struct helium_member *member) {
    const struct helium_vector was = helium_triplet_kept(field, i);
    struct helium_vector own = {0, 0, 0};
    long change = -helium_triplet_square(was, triplet->shift);
    for (uint j = 0; j < HELIUM_N; j++) {
        if (j == i)
            continue;
        const struct helium_vector g = helium_triplet_kept(field, j);
        const struct helium_vector before = helium_triplet_of(from, HELIUM_PLACE(j), table, member);
        const struct helium_vector after = helium_triplet_of(to, HELIUM_PLACE(j), table, member);
        const struct helium_vector then = {g.x - after.x + before.x, g.y - after.y + before.y,
                                           g.z - after.z + before.z};
        change +=
            helium_triplet_square(then, triplet->shift) - helium_triplet_square(g, triplet->shift);
        own.x += after.x;
        own.y += after.y;
        own.z += after.z;
    }
    return -triplet->sign * (change + helium_triplet_square(own, triplet->shift));
}
#endif

/*
 * A group has the displacements of a chunk and HELIUM_SLICE atoms from number `slice` on. Groups
 * begin with number `begin`, of [members][the first `walkers` of each member's `count`][chunks], so
 * that launches may be short. sums: [of a sample with curves, from `row` on][members][walkers][2
 * points], of ratios over all atoms: those of later slices are added. fields: G of all atoms at
 * these positions.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_density(__global const int *positions, __global const struct helium_member *members,
               __global const helium_cubic *u_tables, __global const int *sites, ulong step,
               uint count, uint walkers, uint points, float pitch, ulong row, ulong begin,
               uint slice, __global long *sums
#if HELIUM_TRIPLET
               ,
               __global const struct helium_triplet *triplets,
               __global const helium_cubic *t_tables, __global const int *fields
#endif
) {
    __local long parts[HELIUM_TOGETHER * HELIUM_GROUP];
    __local int4 moves[HELIUM_TOGETHER];
    const uint chunks = (2u * points + HELIUM_TOGETHER - 1) / HELIUM_TOGETHER;
    const uint item = (uint)get_local_id(0);
    const ulong at = begin + get_group_id(0);
    const uint home = (uint)(at / chunks), first = (uint)(at % chunks) * HELIUM_TOGETHER;
    const uint which = home / walkers, walker = home - which * walkers;
    const uint number = min((uint)HELIUM_TOGETHER, 2u * points - first);
    const uint end = min(slice + HELIUM_SLICE, (uint)HELIUM_N);
    const struct helium_member member = members[which];
    const ulong index = (ulong)which * count + walker;
    __global const helium_cubic *u_table = u_tables + which * HELIUM_U_SIZE;
    __global const int *kept = positions + index * (3 * HELIUM_N);
#if HELIUM_TRIPLET
    const struct helium_triplet triplet = triplets[which];
    __global const helium_cubic *t_table = t_tables + 2 * which * HELIUM_U_SIZE;
    __global const int *field = fields + index * (3 * HELIUM_N);
#endif
#if HELIUM_LOCAL
    __local int4 place[HELIUM_N];
    for (uint k = item; k < HELIUM_N; k += HELIUM_GROUP)
        place[k] = (int4)(kept[k], kept[HELIUM_N + k], kept[2 * HELIUM_N + k], 0);
#else
    __global const int *place = kept;
#endif
    for (uint k = item; k < number; k += HELIUM_GROUP) {
        uint d[3];
        helium_displacement(&member, walker, step, first + k, points, pitch, d);
        moves[k] = (int4)((int)d[0], (int)d[1], (int)d[2], 0);
    }
    long total[HELIUM_TOGETHER];
    for (uint k = 0; k < HELIUM_TOGETHER; k++)
        total[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = slice + item; i < end; i += HELIUM_GROUP) {
        const int4 own = HELIUM_PLACE(i);
        const long before = helium_pair_sum(own, i, place, u_table, &member) +
                            helium_at_site(own, i, sites, &member);
        for (uint k = 0; k < number; k++) {
            const int4 by = moves[k];
            const int4 to = (int4)((int)((uint)own.x + (uint)by.x), (int)((uint)own.y + (uint)by.y),
                                   (int)((uint)own.z + (uint)by.z), 0);
            long change = helium_pair_sum(to, i, place, u_table, &member) +
                          helium_at_site(to, i, sites, &member) - before;
#if HELIUM_TRIPLET
            change += helium_triplet_change(own, to, i, place, t_table, field, &triplet, &member);
#endif
            total[k] += helium_ratio(change);
        }
    }
    for (uint k = 0; k < number; k++)
        parts[k * HELIUM_GROUP + item] = total[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < number; k += HELIUM_GROUP) {
        __global long *all = sums + (row + home) * (2 * points) + first + k;
        long sum = slice ? *all : 0;
        for (uint q = 0; q < HELIUM_GROUP; q++)
            sum += parts[k * HELIUM_GROUP + q];
        *all = sum;
    }
}
