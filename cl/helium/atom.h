/*
 * The energies and the gradient of an atom of a walker, and sums over the atoms.
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
 * Macros besides that of site.h: HELIUM_N: atoms; HELIUM_GROUP: work-items of a group, in which
 * HELIUM_E_MATES walkers share a table. HELIUM_E_BASE and HELIUM_E_SIZE describe the tables of
 * energies; the piece that contains the potential's kink has its part beyond the kink as an extra
 * last piece. HELIUM_LOCAL: positions fit local memory; HELIUM_E_LOCAL: so do the tables.
 */
#ifndef ERGO_CL_HELIUM_ATOM_H
#define ERGO_CL_HELIUM_ATOM_H

#include "helium/site.h"

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
 * u'/r times the difference of the places. Of these what the one-body factor adds. */
struct helium_share {
    float potential, virial, force, slope, gx, gy, gz;
#if HELIUM_ONE_BODY
    float one_force, one_slope, one[3];
#endif
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

/* Add the first `count` partners of a block. place: that of its first atom; self: the number of the
 * atom, from there. whole: they are HELIUM_E_BLOCK atoms other than the atom, or are added only to
 * its gradient, to which it adds 0. */
ERGO_INLINE void helium_block(const int4 own, uint self, uint count, HELIUM_PLACES *place,
                              HELIUM_E_SPACE *table, const struct helium_member *member,
                              const uint pairs, const uint whole, struct helium_share *run) {
    const uint end = whole ? HELIUM_E_BLOCK : count;
    for (uint first = 0; first < end; first += HELIUM_AHEAD) {
        struct helium_partner p[HELIUM_AHEAD];
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++) {
            const uint j = whole ? first + k : min(first + k, end - 1);
            p[k].x = helium_apart2(own, HELIUM_PLACE(j), member, p[k].d);
            if (!whole)
                p[k].x = first + k == self || first + k >= end ? 1.0f : p[k].x;
            helium_look_up(&p[k], table, member, pairs);
        }
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_AHEAD; k++)
            helium_pair(&p[k], pairs, run);
    }
}

/* What the partners of block b add to the share of atom i. pairs: not only to the gradient, if the
 * block has a weight. */
ERGO_INLINE struct helium_share helium_of_block(const int4 own, uint i, uint b,
                                                HELIUM_PLACES *place, HELIUM_E_SPACE *table,
                                                const struct helium_member *member,
                                                const uint pairs, uint weight) {
    struct helium_share run = {0, 0, 0, 0, 0, 0, 0};
    const uint begin = b * HELIUM_E_BLOCK, self = i - begin;
    const uint part = begin + HELIUM_E_BLOCK > HELIUM_N;
    const uint count = part ? HELIUM_N - begin : HELIUM_E_BLOCK;
    if (pairs && (weight == 1u || part))
        helium_block(own, self, count, place, table, member, 1, 0, &run);
    else if (pairs && weight)
        helium_block(own, self, count, place, table, member, 1, 1, &run);
    else if (!pairs && part)
        helium_block(own, self, count, place, table, member, 0, 0, &run);
    else
        helium_block(own, self, count, place, table, member, 0, 1, &run);
    return run;
}

/* Add what the atom has with its site. Its slope -c (r - site) is that of a pair with a constant
 * u'/r; the sums count pairs twice. */
ERGO_INLINE void helium_add_site(const int4 own, uint i, __global const int *sites,
                                 const struct helium_member *member, struct helium_share *all) {
#if HELIUM_ONE_BODY >= HELIUM_ONE_TRAP
    const uint slab = HELIUM_ONE_BODY == HELIUM_ONE_SLAB;
    float d[3];
    helium_from_site(own, i, sites, d);
    const struct helium_one_place at = helium_one_find(d, slab, member);
    const struct helium_one_share s = helium_one_share_of(
        at, d, helium_one_cubic(sites, at.piece),
        helium_one_cubic(sites, 2 * HELIUM_ONE_PIECES + at.piece), slab, member);
    all->potential += s.potential;
    all->virial += s.virial;
    all->force += s.force;
    all->slope += s.slope;
    all->gx += s.g[0];
    all->gy += s.g[1];
    all->gz += s.g[2];
    all->one_force = s.force;
    all->one_slope = s.slope;
    for (uint k = 0; k < 3; k++)
        all->one[k] = s.g[k];
#elif HELIUM_ONE_BODY
    float d[3];
    helium_from_site(own, i, sites, d);
    const float r2 = helium_site2(d, member);
    all->potential = fma(member->site_v, r2, all->potential);
    all->virial = fma(member->site_v, r2, all->virial);
    all->force += member->site_mean;
    all->gx = fma(member->site_force[0], d[0], all->gx);
    all->gy = fma(member->site_force[1], d[1], all->gy);
    all->gz = fma(member->site_force[2], d[2], all->gz);
    all->one_force = member->site_mean;
    for (uint k = 0; k < 3; k++)
        all->one[k] = member->site_force[k] * d[k];
#endif
}

/* Sums over the partners of atom i, and its site: all that count for it, or without `pairs` its
 * gradient alone. */
ERGO_INLINE struct helium_share helium_atom(const int4 own, uint i, HELIUM_PLACES *place,
                                            HELIUM_E_SPACE *table, __global const int *sites,
                                            const struct helium_member *member, const uint pairs) {
    struct helium_share all = {0, 0, 0, 0, 0, 0, 0};
    for (uint b = 0; b < HELIUM_E_BLOCKS; b++) {
        const uint weight = pairs ? helium_weight(i / HELIUM_E_BLOCK, b, HELIUM_E_BLOCKS) : 0;
        const struct helium_share run =
            helium_of_block(own, i, b, place + b * HELIUM_E_BLOCK, table, member, pairs, weight);
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
    helium_add_site(own, i, sites, member, &all);
    return all;
}

/* Add the share of an atom to the sums of potential, virial, laplacian, gradient. With f = u'/r, in
 * d dimensions: lap u = d f + 2 x df/dx, and r V' = 2 x dV/dx. */
ERGO_INLINE void helium_add(const struct helium_share *all, const struct helium_member *member,
                            long *total, uint *beyond) {
    const float gx = all->gx * member->length[0], gy = all->gy * member->length[1],
                gz = all->gz * member->length[2];
    total[0] += helium_fixed(all->potential, 0, member, beyond);
    total[1] += helium_fixed(2.0f * all->virial, 1, member, beyond);
    total[2] += helium_fixed(-member->root * fma(2.0f, all->slope, member->dimensions * all->force),
                             2, member, beyond);
    total[3] += helium_fixed(fma(gx, gx, fma(gy, gy, gz * gz)), 3, member, beyond);
}

/* ---- sums over a walker's atoms ------------------------------------------------------------- */

#define HELIUM_E_ITEMS (HELIUM_GROUP / HELIUM_E_MATES)
#define HELIUM_HEADS (HELIUM_E_ITEMS >= 32 ? 8 : 1)

/* Every work-item's `count` totals, in parts [count][HELIUM_GROUP], become few sums for each
 * walker, in heads [count][HELIUM_E_MATES][HELIUM_HEADS]. All of the group call it. */
ERGO_INLINE void helium_gather(const long *total, const uint count, const uint id,
                               __local long *parts, __local long *heads) {
    for (uint k = 0; k < count; k++)
        parts[k * HELIUM_GROUP + id] = total[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = id; k < count * HELIUM_HEADS * HELIUM_E_MATES; k += HELIUM_GROUP) {
        __local const long *part = parts + k / (HELIUM_HEADS * HELIUM_E_MATES) * HELIUM_GROUP +
                                   k / HELIUM_HEADS % HELIUM_E_MATES * HELIUM_E_ITEMS;
        long sum = 0;
        for (uint p = k % HELIUM_HEADS; p < HELIUM_E_ITEMS; p += HELIUM_HEADS)
            sum += part[p];
        heads[k] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Sum q of walker `mate` of the group. */
ERGO_INLINE long helium_gathered(__local const long *heads, const uint q, const uint mate) {
    long sum = 0;
    for (uint p = 0; p < HELIUM_HEADS; p++)
        sum += heads[(q * HELIUM_E_MATES + mate) * HELIUM_HEADS + p];
    return sum;
}

#endif
