/*
 * Macroupdates with a triplet factor: HELIUM_LANES work-items keep one walker for a whole launch.
 *
 * All of them together try atom i, each with its own partners: what the move changes of u and of
 * the partners' G, and the atom's new G. A trial so takes N steps, as one of pairs does. Sums are
 * integers. G of all atoms is made anew at the beginning of a launch. Moves are drawn for as many
 * trials at once as there are work-items.
 *
 * Macros: HELIUM_N, HELIUM_GROUP, HELIUM_LANES, HELIUM_MATES, HELIUM_WARP, HELIUM_U_BASE and
 * HELIUM_U_SIZE as in walk_registers.cl; HELIUM_LOCAL: places and G fit local memory.
 */
#include "helium/site.h"
#include "helium/triplet.h"
#include "helium_vmc/core.h"
#ifdef HELIUM_WARP
#include "common/warp.h"
#endif

#define HELIUM_ROWS ((HELIUM_N + HELIUM_LANES - 1) / HELIUM_LANES) /* atoms of a work-item */
#define HELIUM_KEEPS (HELIUM_ROWS <= 4) /* their G after a move stays in registers */
#if HELIUM_MATES > 1 && (!defined(HELIUM_WARP) || HELIUM_LANES != 32)
#error "walkers of a group would meet in barriers"
#endif

#if HELIUM_LOCAL
#define HELIUM_SPACE __local
#else
#define HELIUM_SPACE __global
#endif

#ifdef HELIUM_WARP
#define HELIUM_MEET __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#elif HELIUM_LANES > 1
#define HELIUM_MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define HELIUM_MEET
#endif

#define HELIUM_HEADS (HELIUM_LANES >= 32 ? 8 : 1)

/* A change of ln psi but for the tried atom's own G, and that G. */
struct helium_outcome {
    long change;
    struct helium_vector g;
};

/* u of a pair and its part of G. */
struct helium_touch {
    int u;
    struct helium_vector g;
};

ERGO_INLINE struct helium_vector helium_vector_of(HELIUM_SPACE const int *from, uint i) {
    const struct helium_vector v = {from[i], from[HELIUM_N + i], from[2 * HELIUM_N + i]};
    return v;
}

ERGO_INLINE void helium_vector_set(HELIUM_SPACE int *to, uint i, struct helium_vector v) {
    to[i] = v.x;
    to[HELIUM_N + i] = v.y;
    to[2 * HELIUM_N + i] = v.z;
}

/* b - a, or b + a; exact, modulo 2^32. */
ERGO_INLINE struct helium_vector helium_less(struct helium_vector b, struct helium_vector a) {
    const struct helium_vector v = {(int)((uint)b.x - (uint)a.x), (int)((uint)b.y - (uint)a.y),
                                    (int)((uint)b.z - (uint)a.z)};
    return v;
}

ERGO_INLINE struct helium_vector helium_more(struct helium_vector b, struct helium_vector a) {
    const struct helium_vector v = {(int)((uint)b.x + (uint)a.x), (int)((uint)b.y + (uint)a.y),
                                    (int)((uint)b.z + (uint)a.z)};
    return v;
}

/* table: u, then X. */
ERGO_INLINE struct helium_touch helium_touch_at(__local const helium_cubic *table,
                                                struct helium_vector a, struct helium_vector b,
                                                const struct helium_member *member) {
    const struct helium_vector apart = helium_less(a, b);
    const float d[3] = {(float)apart.x, (float)apart.y, (float)apart.z};
    const float x =
        helium_distance2(d[0] * member->scale[0], d[1] * member->scale[1], d[2] * member->scale[2]);
    const float y = helium_clamp(x, member->low), t = helium_within(y, HELIUM_U_PIECES);
    const uint k = helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE;
    const float value = helium_poly(table[HELIUM_U_SIZE + k], t);
    struct helium_touch touch = {(int)helium_poly(table[k], t),
                                 helium_triplet_part(value, d, member)};
    const int mask = x < 1.0f ? -1 : 0;
    touch.g.x &= mask;
    touch.g.y &= mask;
    touch.g.z &= mask;
    return touch;
}

/* The sum over the walker's work-items, to each of them. What is written to `parts` and `heads` has
 * been read before the next call's first barrier. */
ERGO_INLINE struct helium_outcome helium_all(struct helium_outcome mine, const uint item,
                                             __local struct helium_outcome *parts,
                                             __local struct helium_outcome *heads) {
#ifdef HELIUM_WARP
    const struct helium_outcome all = {
        ergo_warp_sum_any(mine.change),
        {ergo_warp_add(mine.g.x), ergo_warp_add(mine.g.y), ergo_warp_add(mine.g.z)}};
    return all;
#elif HELIUM_LANES > 1
    struct helium_outcome sum = {0, {0, 0, 0}};
    parts[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < HELIUM_HEADS) {
        for (uint k = item; k < HELIUM_LANES; k += HELIUM_HEADS) {
            sum.change += parts[k].change;
            sum.g = helium_more(sum.g, parts[k].g);
        }
        heads[item] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = heads[0];
    for (uint k = 1; k < HELIUM_HEADS; k++) {
        sum.change += heads[k].change;
        sum.g = helium_more(sum.g, heads[k].g);
    }
    return sum;
#else
    return mine;
#endif
}

/* What atom j has if another one goes from `old` to `new`: its G then is returned. */
ERGO_INLINE struct helium_vector
helium_partner(__local const helium_cubic *table, struct helium_vector old,
               struct helium_vector new, struct helium_vector other, struct helium_vector g,
               const struct helium_triplet *triplet, const struct helium_member *member,
               struct helium_outcome *mine) {
    const struct helium_touch from = helium_touch_at(table, old, other, member);
    const struct helium_touch to = helium_touch_at(table, new, other, member);
    const struct helium_vector then = helium_more(helium_less(g, to.g), from.g);
    mine->change += to.u - from.u -
                    triplet->sign * (helium_triplet_square(then, triplet->shift) -
                                     helium_triplet_square(g, triplet->shift));
    mine->g = helium_more(mine->g, to.g);
    return then;
}

/*
 * `steps` macroupdates, from number `step` on, of the first `active` walkers of each member.
 * positions, fields: [member][walkers][3][HELIUM_N]; fields: work space for G. tables:
 * [member][HELIUM_U_SIZE] of u; t_tables: [member][2][HELIUM_U_SIZE], X and X'/r.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_walk(__global int *positions, __global struct helium_walker *walkers,
            __global const struct helium_member *members,
            __global const struct helium_triplet *triplets, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *t_tables,
            __global const helium_cubic *random, __global const int *sites, ulong step, uint steps,
            uint count, uint active, __global int *fields) {
    __local helium_cubic table[2 * HELIUM_U_SIZE];
    __local struct helium_outcome parts[HELIUM_GROUP], heads[HELIUM_HEADS];
    __local int4 all_tries[HELIUM_GROUP];
    const uint id = (uint)get_local_id(0);
#if HELIUM_MATES > 1
    const uint item = id % HELIUM_LANES, mate = id / HELIUM_LANES;
#else /* PoCL 3.1 goes wrong in these loops if `item` is not the number itself */
    const uint item = id, mate = 0;
#endif
    const uint group = (uint)get_group_id(0), crews = (active + HELIUM_MATES - 1) / HELIUM_MATES;
    const uint which = group / crews, walker = (group - which * crews) * HELIUM_MATES + mate;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const struct helium_triplet triplet = triplets[which];
    const uint factor = factors[which];
    __global int *kept = positions + home * (3 * HELIUM_N);
    __local int4 *tries = all_tries + mate * HELIUM_LANES;
    long gained = 0;
    uint accepted = 0, earlier = 0; /* earlier: accepted before the last macroupdate */
    for (uint k = id; k < HELIUM_U_SIZE; k += HELIUM_GROUP) {
        table[k] = tables[which * HELIUM_U_SIZE + k];
        table[HELIUM_U_SIZE + k] = t_tables[2 * which * HELIUM_U_SIZE + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if HELIUM_MATES > 1
    if (walker >= active)
        return; /* there is no barrier below */
#endif
#if HELIUM_LOCAL
    __local int all_places[3 * HELIUM_N * HELIUM_MATES], all_fields[3 * HELIUM_N * HELIUM_MATES];
    __local int *place = all_places + mate * (3 * HELIUM_N),
                *field = all_fields + mate * (3 * HELIUM_N);
    for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_LANES)
        place[k] = kept[k];
#else
    __global int *place = kept, *field = fields + home * (3 * HELIUM_N);
#endif
    HELIUM_MEET;
    for (uint i = item; i < HELIUM_N; i += HELIUM_LANES) {
        const struct helium_vector own = helium_vector_of(place, i);
        struct helium_vector g = {0, 0, 0};
        for (uint j = 0; j < HELIUM_N; j++) /* the atom itself adds 0 */
            g = helium_more(g, helium_touch_at(table, own, helium_vector_of(place, j), &member).g);
        helium_vector_set(field, i, g);
    }

    for (uint s = 0; s < steps; s++) {
        earlier = accepted;
        for (uint first = 0; first < HELIUM_N; first += HELIUM_LANES) {
            const struct helium_move move =
                helium_draw(random, &member, factor,
                            walker * HELIUM_N + min(first + item, (uint)HELIUM_N - 1), step + s);
            HELIUM_MEET; /* the last moves have been read */
            tries[item] = (int4)(move.dx, move.dy, move.dz, move.bound);
            HELIUM_MEET;
            const uint end = min((uint)HELIUM_LANES, HELIUM_N - first);
            for (uint m = 0; m < end; m++) {
                const uint i = first + m;
                const int4 drawn = tries[m];
                const struct helium_vector by = {drawn.x, drawn.y, drawn.z};
                const struct helium_vector old = helium_vector_of(place, i);
                const struct helium_vector new = helium_more(old, by),
                                           was = helium_vector_of(field, i);
                struct helium_outcome mine = {0, {0, 0, 0}};
#if HELIUM_KEEPS
                struct helium_vector then[HELIUM_ROWS];
                ERGO_UNROLL
                for (uint q = 0; q < HELIUM_ROWS; q++) {
                    const uint j = q * HELIUM_LANES + item;
                    if (j < HELIUM_N && j != i)
                        then[q] =
                            helium_partner(table, old, new, helium_vector_of(place, j),
                                           helium_vector_of(field, j), &triplet, &member, &mine);
                }
#else
                for (uint j = item; j < HELIUM_N; j += HELIUM_LANES)
                    if (j != i)
                        (void)helium_partner(table, old, new, helium_vector_of(place, j),
                                             helium_vector_of(field, j), &triplet, &member, &mine);
#endif
                const struct helium_outcome all = helium_all(mine, item, parts, heads);
                const long site =
                    helium_at_site((int4)(new.x, new.y, new.z, 0), i, sites, &member) -
                    helium_at_site((int4)(old.x, old.y, old.z, 0), i, sites, &member);
                const long change = site + all.change -
                                    triplet.sign * (helium_triplet_square(all.g, triplet.shift) -
                                                    helium_triplet_square(was, triplet.shift));
                HELIUM_MEET; /* all have read atom i */
                if (helium_accepts(change, drawn.w)) {
                    gained += change;
                    accepted++;
#if HELIUM_KEEPS
                    ERGO_UNROLL
                    for (uint q = 0; q < HELIUM_ROWS; q++) {
                        const uint j = q * HELIUM_LANES + item;
                        if (j < HELIUM_N && j != i)
                            helium_vector_set(field, j, then[q]);
                    }
#else
                    for (uint j = item; j < HELIUM_N; j += HELIUM_LANES)
                        if (j != i)
                            helium_vector_set(
                                field, j,
                                helium_partner(table, old, new, helium_vector_of(place, j),
                                               helium_vector_of(field, j), &triplet, &member,
                                               &mine));
#endif
                    if (item == m) {
                        helium_vector_set(place, i, new);
                        helium_vector_set(field, i, all.g);
                    }
                }
                HELIUM_MEET;
            }
        }
    }

#if HELIUM_LOCAL
    for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_LANES)
        kept[k] = place[k];
#endif
    if (item == 0) {
        walkers[home].ln_psi += gained;
        walkers[home].accepted = accepted - earlier;
        walkers[home].window += accepted;
    }
}
