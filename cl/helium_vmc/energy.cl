/*
 * Measurement: the energies of every walker from its positions.
 *
 * V and u'/r are read from tables. r V' and lap u follow from the derivatives of the same pieces,
 * because reads of the tables take the time: 16 bytes for each function at random places of local
 * memory, which waits for its banks. The gradient needs all ordered pairs, the other sums half of
 * them.
 *
 * An atom's share is a float sum over its partners in the order of their numbers, block by block,
 * so that rounding errors stay small. One work-item does it, so the launch cannot change it. Sums
 * over atoms are integers.
 *
 * Macros: HELIUM_N, HELIUM_GROUP, HELIUM_U_BASE and HELIUM_U_SIZE as in walk_registers.cl.
 * HELIUM_E_BASE and HELIUM_E_SIZE describe the tables of energies; the piece that contains the
 * potential's kink has its part beyond the kink as an extra last piece. HELIUM_LOCAL: positions fit
 * local memory; HELIUM_E_LOCAL: so do the tables.
 */
#include "helium_vmc/core.h"

#define HELIUM_E_BLOCKS ((HELIUM_N + HELIUM_E_BLOCK - 1) / HELIUM_E_BLOCK)
#define HELIUM_AHEAD 4 /* distances that do not wait for each other; divides HELIUM_E_BLOCK */

#if HELIUM_LOCAL
#define HELIUM_PLACES __local const int4
#define HELIUM_PLACE(j) (place[j])
#else
#define HELIUM_PLACES __global const int
#define HELIUM_PLACE(j) ((int4)(place[j], place[HELIUM_N + (j)], place[2 * HELIUM_N + (j)], 0))
#endif
#if HELIUM_E_LOCAL
#define HELIUM_E_SPACE __local const helium_cubic
#else
#define HELIUM_E_SPACE __global const helium_cubic
#endif

/* Sums over an atom's partners, in the units of the tables: V, x dV/dx, u'/r, x d(u'/r)/dx, and
 * u'/r times the difference of the places. */
struct helium_share {
    float potential, virial, force, slope, gx, gy, gz;
};

/* x in its kind's fixed point. A value that does not fit, or is no number, is marked in *beyond
 * instead. */
ERGO_INLINE long helium_fixed(float x, uint kind, const struct helium_member *member,
                              uint *beyond) {
    const uint fits = fabs(x) < member->limit[kind];
    *beyond |= fits ? 0u : 1u << kind;
    return fits ? (long)(x * member->unit[kind]) : 0;
}

ERGO_INLINE float helium_apart2(int4 a, int4 b, const struct helium_member *member, float d[3]) {
    d[0] = (float)(int)((uint)a.x - (uint)b.x);
    d[1] = (float)(int)((uint)a.y - (uint)b.y);
    d[2] = (float)(int)((uint)a.z - (uint)b.z);
    return helium_distance2(d[0] * member->scale[0], d[1] * member->scale[1],
                            d[2] * member->scale[2]);
}

/* Add the partners of a block to the share of atom i. pairs: not only to the gradient. */
ERGO_INLINE void helium_block(const int4 own, uint i, uint begin, HELIUM_PLACES *place,
                              HELIUM_E_SPACE *table, const struct helium_member *member,
                              const uint pairs, struct helium_share *run) {
    const uint end = min(begin + HELIUM_E_BLOCK, (uint)HELIUM_N);
    for (uint first = begin; first < end; first += HELIUM_AHEAD) {
        float x[HELIUM_AHEAD], d[HELIUM_AHEAD][3];
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++) {
            const uint j = min(first + k, (uint)HELIUM_N - 1);
            const float found = helium_apart2(own, HELIUM_PLACE(j), member, d[k]);
            x[k] = first + k == i || first + k >= end ? 1.0f : found;
        }
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++) {
            if (!(x[k] < 1.0f))
                continue;
            const float y = helium_clamp(x[k], member->low);
            const uint p = ergo_as_uint(y) - member->kink < member->kink_width
                               ? HELIUM_E_SIZE - 1
                               : helium_piece(y, HELIUM_E_PIECES) - HELIUM_E_BASE;
            const float t = helium_within(y, HELIUM_E_PIECES);
            const helium_cubic c = table[HELIUM_E_SIZE + p];
            float force;
            if (pairs) {
                const struct helium_slope v = helium_quartic_slope(table[p], t),
                                          f = helium_cubic_slope(c, t);
                run->potential += v.value;
                run->virial = fma(y, v.slope, run->virial);
                run->force += f.value;
                run->slope = fma(y, f.slope, run->slope);
                force = f.value;
            } else {
                force = helium_poly(c, t);
            }
            run->gx = fma(force, d[k][0], run->gx);
            run->gy = fma(force, d[k][1], run->gy);
            run->gz = fma(force, d[k][2], run->gz);
        }
    }
}

/* Add the share of atom i of its walker to the sums of potential, virial, laplacian, gradient. With
 * f = u'/r: lap u = 3 f + 2 x df/dx, and r V' = 2 x dV/dx. */
ERGO_INLINE void helium_atom(const int4 own, uint i, HELIUM_PLACES *place, HELIUM_E_SPACE *table,
                             const struct helium_member *member, long *total, uint *beyond) {
    struct helium_share all = {0, 0, 0, 0, 0, 0, 0};
    for (uint b = 0; b < HELIUM_E_BLOCKS; b++) {
        struct helium_share run = {0, 0, 0, 0, 0, 0, 0};
        const uint weight = helium_weight(i / HELIUM_E_BLOCK, b, HELIUM_E_BLOCKS);
        if (weight)
            helium_block(own, i, b * HELIUM_E_BLOCK, place, table, member, 1, &run);
        else
            helium_block(own, i, b * HELIUM_E_BLOCK, place, table, member, 0, &run);
        const float times = (float)weight;
        all.potential = fma(times, run.potential, all.potential);
        all.virial = fma(times, run.virial, all.virial);
        all.force = fma(times, run.force, all.force);
        all.slope = fma(times, run.slope, all.slope);
        all.gx += run.gx;
        all.gy += run.gy;
        all.gz += run.gz;
    }
    const float gx = all.gx * member->length[0], gy = all.gy * member->length[1],
                gz = all.gz * member->length[2];
    total[0] += helium_fixed(all.potential, 0, member, beyond);
    total[1] += helium_fixed(2.0f * all.virial, 1, member, beyond);
    total[2] +=
        helium_fixed(-member->root * fma(2.0f, all.slope, 3.0f * all.force), 2, member, beyond);
    total[3] += helium_fixed(fma(gx, gx, fma(gy, gy, gz * gz)), 3, member, beyond);
}

/* u summed over the partners of atom i. */
ERGO_INLINE long helium_atom_u(const int4 own, uint i, HELIUM_PLACES *place,
                               __global const helium_cubic *u_table,
                               const struct helium_member *member) {
    long sum = 0;
    for (uint j = 0; j < HELIUM_N; j++) {
        float d[3];
        const float y = helium_clamp(helium_apart2(own, HELIUM_PLACE(j), member, d), member->low);
        const int u = (int)helium_poly(u_table[helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE],
                                       helium_within(y, HELIUM_U_PIECES));
        sum += j == i ? 0 : u;
    }
    return sum;
}

#define HELIUM_HEADS (HELIUM_GROUP >= 64 ? 8 : 1)

/*
 * Dimension 0: groups that take the `walkers` walkers of all members in turn, and load a member's
 * tables once for several walkers; 1: groups that share a walker's atoms. sums: [row
 * ..][member][count][group of the walker]. potential, virial: over ordered pairs, so twice the sum
 * over pairs; laplacian: -lambda lap ln psi; gradient: lambda |grad ln psi|^2. ln psi is computed
 * from scratch if `psi` is set, else it is the running one.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_energy(__global const int *positions, __global const struct helium_walker *kept_walkers,
              __global const struct helium_member *members, __global const helium_cubic *u_tables,
              __global const helium_cubic *e_tables, uint count, uint walkers, uint row, uint psi,
              __global long *sums) {
    __local long parts[5 * HELIUM_GROUP], heads[5 * HELIUM_HEADS];
    __local uint beyond; /* marks of all the walker's atoms */
    const uint item = (uint)get_local_id(0);
    const uint piece = (uint)get_group_id(1), pieces = (uint)get_num_groups(1);
    const uint groups = (uint)get_num_groups(0);
#if HELIUM_E_LOCAL
    __local helium_cubic table[2 * HELIUM_E_SIZE];
    uint loaded = 0xffffffffu;
#endif
#if HELIUM_LOCAL
    __local int4 place[HELIUM_N];
#endif
    for (uint index = (uint)get_group_id(0); index < walkers; index += groups) {
        const uint which = index / count;
        const struct helium_member member = members[which];
        __global const int *kept = positions + (ulong)index * (3 * HELIUM_N);
        __global const helium_cubic *u_table = u_tables + which * HELIUM_U_SIZE;
        long total[5] = {0, 0, 0, 0, 0};
        uint marks = 0;
        if (item == 0)
            beyond = 0;
#if HELIUM_E_LOCAL
        if (which != loaded) {
            for (uint k = item; k < 2 * HELIUM_E_SIZE; k += HELIUM_GROUP)
                table[k] = e_tables[2 * which * HELIUM_E_SIZE + k];
            loaded = which;
        }
#else
        __global const helium_cubic *table = e_tables + 2 * which * HELIUM_E_SIZE;
#endif
#if HELIUM_LOCAL
        for (uint k = item; k < HELIUM_N; k += HELIUM_GROUP)
            place[k] = (int4)(kept[k], kept[HELIUM_N + k], kept[2 * HELIUM_N + k], 0);
#else
        __global const int *place = kept;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = piece * HELIUM_GROUP + item; i < HELIUM_N; i += pieces * HELIUM_GROUP) {
            const int4 own = HELIUM_PLACE(i);
            helium_atom(own, i, place, table, &member, total + 1, &marks);
            if (psi)
                total[0] += helium_atom_u(own, i, place, u_table, &member);
        }
        if (marks)
            atomic_or(&beyond, marks);
        for (uint k = 0; k < 5; k++)
            parts[k * HELIUM_GROUP + item] = total[k];
        barrier(CLK_LOCAL_MEM_FENCE); /* also: places and tables have been read */
        for (uint k = item; k < 5 * HELIUM_HEADS; k += HELIUM_GROUP) {
            long sum = 0;
            for (uint p = k % HELIUM_HEADS; p < HELIUM_GROUP; p += HELIUM_HEADS)
                sum += parts[k / HELIUM_HEADS * HELIUM_GROUP + p];
            heads[k] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        __global long *out = sums + (((ulong)row * walkers + index) * pieces + piece) * 6;
        for (uint k = item; k < 6; k += HELIUM_GROUP) { /* in the order of struct helium_sums */
            long sum = 0;
            for (uint p = 0; k < 5 && p < HELIUM_HEADS; p++)
                sum += heads[k * HELIUM_HEADS + p];
            if (k == 0 && !psi)
                sum = piece ? 0 : 2 * kept_walkers[index].ln_psi;
            out[k] =
                k == 5 ? (long)kept_walkers[index].accepted | (long)beyond << HELIUM_BEYOND : sum;
        }
#if HELIUM_GROUP > 1
        barrier(CLK_LOCAL_MEM_FENCE); /* before the next walker writes `parts` */
#endif
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
