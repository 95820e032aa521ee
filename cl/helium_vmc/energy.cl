/*
 * Measurement: the energies of every walker from its positions (helium/atom.h).
 *
 * Macros besides those of atom.h: HELIUM_U_BASE and HELIUM_U_SIZE as in walk_registers.cl;
 * HELIUM_TRIPLET: with a triplet factor. Then one group has a walker.
 */
#include "helium/atom.h"
#include "helium/pair_sum.h"
#if HELIUM_TRIPLET
#include "helium/triplet_atom.h"
#endif
#include "helium_vmc/params.h"

/*
 * Dimension 0: groups of HELIUM_E_MATES walkers of a member; 1: groups that share a walker's atoms.
 * sums: [row ..][member][count][group of the walker]. potential, virial: over ordered pairs, so
 * twice the sum over pairs; laplacian: -lambda lap ln psi; gradient: lambda |grad ln psi|^2. ln psi
 * is computed from scratch if `psi` is set, else it is the running one.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_energy(__global const int *positions, __global const struct helium_walker *kept_walkers,
              __global const struct helium_member *members, __global const helium_cubic *u_tables,
              __global const helium_cubic *e_tables, __global const int *sites, uint count,
              uint walkers, uint row, uint psi,
#if HELIUM_TRIPLET
              __global const struct helium_triplet *triplets, __global const helium_cubic *t_tables,
              __global int *fields,
#endif
              __global long *sums) {
    __local long parts[5 * HELIUM_GROUP], heads[5 * HELIUM_HEADS * HELIUM_E_MATES];
    __local uint beyond[HELIUM_E_MATES]; /* marks of all atoms of a walker */
    const uint id = (uint)get_local_id(0);
    const uint item = id % HELIUM_E_ITEMS, mate = id / HELIUM_E_ITEMS;
    const uint piece = (uint)get_group_id(1), pieces = (uint)get_num_groups(1);
    const uint crews = (count + HELIUM_E_MATES - 1) / HELIUM_E_MATES;
    const uint which = (uint)get_group_id(0) / crews;
    const uint first = ((uint)get_group_id(0) - which * crews) * HELIUM_E_MATES;
    const uint index = which * count + first + mate, there = first + mate < count;
    const struct helium_member member = members[which];
    __global const helium_cubic *u_table = u_tables + which * HELIUM_U_SIZE;
    __global const int *kept = positions + (ulong)(there ? index : 0u) * (3 * HELIUM_N);
    long total[5] = {0, 0, 0, 0, 0};
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
    __local int4 *place = places + mate * HELIUM_N;
    for (uint k = item; k < HELIUM_N; k += HELIUM_E_ITEMS)
        place[k] = (int4)(kept[k], kept[HELIUM_N + k], kept[2 * HELIUM_N + k], 0);
#else
    __global const int *place = kept;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#if HELIUM_TRIPLET
    const struct helium_triplet triplet = triplets[which];
    __global const helium_cubic *t_table = t_tables + 2 * which * HELIUM_U_SIZE;
    __global int *field = fields + (ulong)(there ? index : 0u) * (3 * HELIUM_N);
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS) {
        const struct helium_vector g =
            helium_triplet_field(HELIUM_PLACE(i), place, t_table, &member);
        helium_triplet_keep(field, i, g);
        if (psi) /* as twice the sum over pairs */
            total[0] -= 2 * triplet.sign * helium_triplet_square(g, triplet.shift);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
    for (uint i = piece * HELIUM_E_ITEMS + item; there && i < HELIUM_N;
         i += pieces * HELIUM_E_ITEMS) {
        const int4 own = HELIUM_PLACE(i);
        struct helium_share share = helium_atom(own, i, place, table, sites, &member, 1);
#if HELIUM_TRIPLET
        helium_triplet_share(own, i, place, t_table, field, &triplet, &member, &share);
#endif
        helium_add(&share, &member, total + 1, &marks);
        if (psi)
            total[0] += helium_pair_sum(own, i, place, u_table, &member) +
                        2 * (long)helium_at_site(own, i, sites, &member);
    }
    if (marks)
        atomic_or(&beyond[mate], marks);
    helium_gather(total, 5, id, parts, heads);
    for (uint k = id; k < 6 * HELIUM_E_MATES; k += HELIUM_GROUP) { /* as struct helium_sums */
        const uint m = k / 6, q = k - 6 * m, home = which * count + first + m;
        if (first + m >= count)
            break;
        long sum = q < 5 ? helium_gathered(heads, q, m) : 0;
        if (q == 0 && !psi)
            sum = piece ? 0 : 2 * kept_walkers[home].ln_psi;
        if (q == 5)
            sum = (long)kept_walkers[home].accepted | (long)beyond[m] << HELIUM_BEYOND;
        sums[(((ulong)row * walkers + home) * pieces + piece) * 6 + q] = sum;
    }
}

/* Add up the sums of a walker's groups; [walkers of all members]. */
__kernel void helium_energy_add(__global const struct helium_sums *parts, uint pieces, uint walkers,
                                uint row, __global struct helium_sums *sums) {
    const uint index = (uint)get_global_id(0);
    if (index >= walkers)
        return;
    struct helium_sums all = parts[(ulong)index * pieces];
    for (uint k = 1; k < pieces; k++) {
        __global const struct helium_sums *part = parts + (ulong)index * pieces + k;
        all.ln_psi += part->ln_psi;
        all.potential += part->potential;
        all.virial += part->virial;
        all.laplacian += part->laplacian;
        all.gradient += part->gradient;
        all.accepted |= part->accepted; /* equal except for marks */
    }
    sums[(ulong)row * walkers + index] = all;
}
