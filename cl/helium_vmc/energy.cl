/*
 * Measurement: the energies of every walker from its positions.
 *
 * An atom's share is a float sum over its partners in the order of their numbers, in runs of 64 so
 * that rounding errors stay small. One work-item does it, so the launch cannot change it. Sums over
 * atoms are integers.
 *
 * Macros: HELIUM_N, HELIUM_GROUP, HELIUM_U_BASE and HELIUM_U_SIZE as in walk_registers.cl.
 * HELIUM_E_BASE and HELIUM_E_SIZE describe the tables of energies; the piece that contains the
 * potential's kink has its part beyond the kink as an extra last piece. HELIUM_LOCAL: positions fit
 * local memory; HELIUM_E_LOCAL: so do the tables.
 */
#include "helium_vmc/core.h"

/* An atom's share of V, r V' in K, u'/r sqrt(lambda) and -lambda (u'' + 2 u'/r). These are the
 * components of the vectors in e_tables, which has one vector for each power of t. */
struct helium_share {
    float potential, virial, laplacian, gx, gy, gz;
};

/* x in its kind's fixed point. A value that does not fit, or is no number, is marked in *beyond
 * instead. */
ERGO_INLINE long helium_fixed(float x, uint kind, const struct helium_member *member,
                              uint *beyond) {
    const uint fits = fabs(x) < member->limit[kind];
    *beyond |= fits ? 0u : 1u << kind;
    return fits ? (long)(x * member->unit[kind]) : 0;
}

#if HELIUM_LOCAL
#define HELIUM_PLACES __local
#else
#define HELIUM_PLACES __global
#endif
#if HELIUM_E_LOCAL
#define HELIUM_E_SPACE __local
/* Stored by powers of t, so that work-items that read at the same time share few banks. */
#define HELIUM_E_AT(power, piece) e_table[(power)*HELIUM_E_SIZE + (piece)]
#else
#define HELIUM_E_SPACE __global
#define HELIUM_E_AT(power, piece) e_table[4 * (piece) + (power)]
#endif

/* Add the share of atom i of its walker. */
ERGO_INLINE void helium_atom(const int4 own, uint i, HELIUM_PLACES const int *place,
                             HELIUM_E_SPACE const float4 *e_table,
                             HELIUM_E_SPACE const helium_cubic *u_table,
                             const struct helium_member *member, uint psi, long *total,
                             uint *beyond) {
    struct helium_share all = {0, 0, 0, 0, 0, 0};
    long ln_psi = 0;
    for (uint begin = 0; begin < HELIUM_N; begin += 64) {
        struct helium_share run = {0, 0, 0, 0, 0, 0};
        const uint end = min(begin + 64u, (uint)HELIUM_N);
        for (uint j = begin; j < end; j++) {
            const float dx = (float)(int)((uint)own.x - (uint)place[j]);
            const float dy = (float)(int)((uint)own.y - (uint)place[HELIUM_N + j]);
            const float dz = (float)(int)((uint)own.z - (uint)place[2 * HELIUM_N + j]);
            const float x = helium_distance2(dx * member->scale[0], dy * member->scale[1],
                                             dz * member->scale[2]);
            if (j == i || !(x < 1.0f))
                continue;
            const float y = helium_clamp(x, member->low);
            const uint k = ergo_as_uint(y) - member->kink < member->kink_width
                               ? HELIUM_E_SIZE - 1
                               : helium_piece(y, HELIUM_E_PIECES) - HELIUM_E_BASE;
            const float4 t = (float4)(helium_within(y, HELIUM_E_PIECES));
            const float4 v =
                fma(fma(fma(HELIUM_E_AT(3, k), t, HELIUM_E_AT(2, k)), t, HELIUM_E_AT(1, k)), t,
                    HELIUM_E_AT(0, k));
            run.potential += v.x;
            run.virial += v.y;
            run.laplacian += v.w;
            run.gx = fma(v.z, dx * member->length[0], run.gx);
            run.gy = fma(v.z, dy * member->length[1], run.gy);
            run.gz = fma(v.z, dz * member->length[2], run.gz);
            if (psi)
                ln_psi +=
                    (int)helium_poly(u_table[helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE],
                                     helium_within(y, HELIUM_U_PIECES));
        }
        all.potential += run.potential;
        all.virial += run.virial;
        all.laplacian += run.laplacian;
        all.gx += run.gx;
        all.gy += run.gy;
        all.gz += run.gz;
    }
    total[0] += ln_psi;
    total[1] += helium_fixed(all.potential, 0, member, beyond);
    total[2] += helium_fixed(all.virial, 1, member, beyond);
    total[3] += helium_fixed(all.laplacian, 2, member, beyond);
    total[4] +=
        helium_fixed(fma(all.gx, all.gx, fma(all.gy, all.gy, all.gz * all.gz)), 3, member, beyond);
}

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
              __global const float4 *e_tables, uint count, uint walkers, uint row, uint psi,
              __global long *sums) {
    __local long parts[5 * HELIUM_GROUP];
    __local uint beyond; /* marks of all the walker's atoms */
    const uint item = (uint)get_local_id(0);
    const uint piece = (uint)get_group_id(1), pieces = (uint)get_num_groups(1);
    const uint groups = (uint)get_num_groups(0);
#if HELIUM_E_LOCAL
    __local float4 e_table[4 * HELIUM_E_SIZE];
    __local helium_cubic u_table[HELIUM_U_SIZE];
    uint loaded = 0xffffffffu;
#endif
#if HELIUM_LOCAL
    __local int place[3 * HELIUM_N];
#endif
    for (uint index = (uint)get_group_id(0); index < walkers; index += groups) {
        const uint which = index / count;
        const struct helium_member member = members[which];
        __global const int *kept = positions + (ulong)index * (3 * HELIUM_N);
        long total[5] = {0, 0, 0, 0, 0};
        uint marks = 0;
        if (item == 0)
            beyond = 0;
#if HELIUM_E_LOCAL
        if (which != loaded) {
            for (uint k = item; k < 4 * HELIUM_E_SIZE; k += HELIUM_GROUP)
                HELIUM_E_AT(k % 4, k / 4) = e_tables[4 * which * HELIUM_E_SIZE + k];
            for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
                u_table[k] = u_tables[which * HELIUM_U_SIZE + k];
            loaded = which;
        }
#else
        __global const float4 *e_table = e_tables + 4 * which * HELIUM_E_SIZE;
        __global const helium_cubic *u_table = u_tables + which * HELIUM_U_SIZE;
#endif
#if HELIUM_LOCAL
        for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_GROUP)
            place[k] = kept[k];
#else
        __global const int *place = kept;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = piece * HELIUM_GROUP + item; i < HELIUM_N; i += pieces * HELIUM_GROUP)
            helium_atom((int4)(place[i], place[HELIUM_N + i], place[2 * HELIUM_N + i], 0), i, place,
                        e_table, u_table, &member, psi, total, &marks);
        if (marks)
            atomic_or(&beyond, marks);
        for (uint k = 0; k < 5; k++)
            parts[k * HELIUM_GROUP + item] = total[k];
        barrier(CLK_LOCAL_MEM_FENCE); /* also: places and tables have been read */
        __global long *out = sums + (((ulong)row * walkers + index) * pieces + piece) * 6;
        for (uint k = item; k < 6; k += HELIUM_GROUP) { /* in the order of struct helium_sums */
            long sum = 0;
            for (uint p = 0; k < 5 && p < HELIUM_GROUP; p++)
                sum += parts[k * HELIUM_GROUP + p];
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
