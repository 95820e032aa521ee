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
 * Macros: HELIUM_N, HELIUM_GROUP, HELIUM_U_BASE and HELIUM_U_SIZE as in walk_registers.cl;
 * HELIUM_E_MATES walkers share a work-group and its table.
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
#define HELIUM_E_BYTES __local const char
#else
#define HELIUM_E_SPACE __global const helium_cubic
#define HELIUM_E_BYTES __global const char
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

/* d: the difference of two places. Returns their squared distance. */
ERGO_INLINE float helium_apart2(int4 a, int4 b, const struct helium_member *member, float d[3]) {
    d[0] = (float)(int)((uint)a.x - (uint)b.x);
    d[1] = (float)(int)((uint)a.y - (uint)b.y);
    d[2] = (float)(int)((uint)a.z - (uint)b.z);
#if HELIUM_CUBE /* scale[0] is a power of two: the same bits as below */
    return helium_distance2(d[0], d[1], d[2]) * (member->scale[0] * member->scale[0]);
#else
    return helium_distance2(d[0] * member->scale[0], d[1] * member->scale[1],
                            d[2] * member->scale[2]);
#endif
}

/* A partner: its squared distance and the difference of the places, then cubics at its piece. */
struct helium_partner {
    float x, d[3];
    uint inside;
    float y, t;
    helium_cubic v, f;
};

/* Where a partner is in the tables. One beyond the cut reads the last piece, and adds nothing: no
 * branch, so that HELIUM_AHEAD partners are read at once (H200, 2048 atoms: 1.12 times as fast). */
ERGO_INLINE void helium_look_up(struct helium_partner *p, HELIUM_E_SPACE *table,
                                const struct helium_member *member, const uint pairs) {
    p->inside = p->x < 1.0f;
    const int bits = min(max(as_int(p->x), as_int(member->low)), 0x3f7fffff);
    const uint begin = (uint)bits & (0xffffffffu << (23 - HELIUM_E_PIECES));
    /* in bytes: one shift; the load does the rest */
    const uint bytes = (begin >> (19 - HELIUM_E_PIECES)) - (HELIUM_E_BASE << 4);
    const uint at =
        (uint)bits - member->kink < member->kink_width ? 16 * (HELIUM_E_SIZE - 1) : bytes;
    HELIUM_E_SPACE *piece = (HELIUM_E_SPACE *)((HELIUM_E_BYTES *)table + at);
    p->y = as_float(bits);
    p->t = p->y - as_float(begin);
    p->f = piece[HELIUM_E_SIZE];
    if (pairs)
        p->v = piece[0];
}

/* Add a pair to the share of an atom. pairs: not only to the gradient. */
ERGO_INLINE void helium_pair(const struct helium_partner *p, const uint pairs,
                             struct helium_share *run) {
    float force;
    if (pairs) {
        const struct helium_slope v = helium_quartic_slope(p->v, p->t),
                                  f = helium_cubic_slope(p->f, p->t);
        force = p->inside ? f.value : 0.0f;
        run->potential += p->inside ? v.value : 0.0f;
        run->virial = p->inside ? fma(p->y, v.slope, run->virial) : run->virial;
        run->force += force;
        run->slope = p->inside ? fma(p->y, f.slope, run->slope) : run->slope;
    } else {
        force = p->inside ? helium_poly(p->f, p->t) : 0.0f;
    }
    run->gx = fma(force, p->d[0], run->gx);
    run->gy = fma(force, p->d[1], run->gy);
    run->gz = fma(force, p->d[2], run->gz);
}

/* Add the partners of a block. whole: they are HELIUM_E_BLOCK atoms other than atom i. */
ERGO_INLINE void helium_block(const int4 own, uint i, uint begin, HELIUM_PLACES *place,
                              HELIUM_E_SPACE *table, const struct helium_member *member,
                              const uint pairs, const uint whole, struct helium_share *run) {
    const uint end = whole ? begin + HELIUM_E_BLOCK : min(begin + HELIUM_E_BLOCK, (uint)HELIUM_N);
    for (uint first = begin; first < end; first += HELIUM_AHEAD) {
        struct helium_partner p[HELIUM_AHEAD];
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++) {
            const uint j = whole ? first + k : min(first + k, (uint)HELIUM_N - 1);
            p[k].x = helium_apart2(own, HELIUM_PLACE(j), member, p[k].d);
            if (!whole)
                p[k].x = first + k == i || first + k >= end ? 1.0f : p[k].x;
            helium_look_up(&p[k], table, member, pairs);
        }
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++)
            helium_pair(&p[k], pairs, run);
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
        const uint begin = b * HELIUM_E_BLOCK;
        if (weight == 1u || begin + HELIUM_E_BLOCK > HELIUM_N)
            helium_block(own, i, begin, place, table, member, 1, 0, &run);
        else if (weight)
            helium_block(own, i, begin, place, table, member, 1, 1, &run);
        else
            helium_block(own, i, begin, place, table, member, 0, 1, &run);
        if (weight) {
            const float times = (float)weight;
            all.potential = fma(times, run.potential, all.potential);
            all.virial = fma(times, run.virial, all.virial);
            all.force = fma(times, run.force, all.force);
            all.slope = fma(times, run.slope, all.slope);
        }
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

#define HELIUM_E_ITEMS (HELIUM_GROUP / HELIUM_E_MATES)
#define HELIUM_HEADS (HELIUM_E_ITEMS >= 32 ? 8 : 1)

/*
 * Dimension 0: groups of HELIUM_E_MATES walkers of a member; 1: groups that share a walker's atoms.
 * sums: [row ..][member][count][group of the walker]. potential, virial: over ordered pairs, so
 * twice the sum over pairs; laplacian: -lambda lap ln psi; gradient: lambda |grad ln psi|^2. ln psi
 * is computed from scratch if `psi` is set, else it is the running one.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_energy(__global const int *positions, __global const struct helium_walker *kept_walkers,
              __global const struct helium_member *members, __global const helium_cubic *u_tables,
              __global const helium_cubic *e_tables, uint count, uint walkers, uint row, uint psi,
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
    for (uint i = piece * HELIUM_E_ITEMS + item; there && i < HELIUM_N;
         i += pieces * HELIUM_E_ITEMS) {
        const int4 own = HELIUM_PLACE(i);
        helium_atom(own, i, place, table, &member, total + 1, &marks);
        if (psi)
            total[0] += helium_atom_u(own, i, place, u_table, &member);
    }
    if (marks)
        atomic_or(&beyond[mate], marks);
    for (uint k = 0; k < 5; k++)
        parts[k * HELIUM_GROUP + id] = total[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = id; k < 5 * HELIUM_HEADS * HELIUM_E_MATES; k += HELIUM_GROUP) {
        __local const long *part = parts + k / (HELIUM_HEADS * HELIUM_E_MATES) * HELIUM_GROUP +
                                   k / HELIUM_HEADS % HELIUM_E_MATES * HELIUM_E_ITEMS;
        long sum = 0;
        for (uint p = k % HELIUM_HEADS; p < HELIUM_E_ITEMS; p += HELIUM_HEADS)
            sum += part[p];
        heads[k] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = id; k < 6 * HELIUM_E_MATES; k += HELIUM_GROUP) { /* as struct helium_sums */
        const uint m = k / 6, q = k - 6 * m, home = which * count + first + m;
        long sum = 0;
        if (first + m >= count)
            break;
        for (uint p = 0; q < 5 && p < HELIUM_HEADS; p++)
            sum += heads[(q * HELIUM_E_MATES + m) * HELIUM_HEADS + p];
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
