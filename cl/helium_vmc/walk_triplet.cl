/*
 * Macroupdates with a triplet factor: a work-group keeps one walker for a whole launch.
 *
 * All work-items together try atom i, each with its own partners: what the move changes of u and of
 * the partners' G, and the atom's new G. A trial so takes N steps, as one of pairs does. Sums are
 * integers. G of all atoms is made anew at the beginning of a launch.
 *
 * Macros: HELIUM_N, HELIUM_GROUP, HELIUM_U_BASE and HELIUM_U_SIZE as in walk_registers.cl;
 * HELIUM_LOCAL: places and G fit local memory.
 */
#include "helium/site.h"
#include "helium/triplet.h"
#include "helium_vmc/core.h"

#if HELIUM_LOCAL
#define HELIUM_SPACE __local
#else
#define HELIUM_SPACE __global
#endif

#if HELIUM_GROUP > 1
#define HELIUM_MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define HELIUM_MEET
#endif

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

/* The sum over the group's work-items, to each of them. */
ERGO_INLINE struct helium_outcome helium_all(struct helium_outcome mine, const uint item,
                                             __local struct helium_outcome *parts) {
#if HELIUM_GROUP > 1
    parts[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint apart = HELIUM_GROUP / 2; apart > 0; apart /= 2) {
        if (item < apart) {
            parts[item].change += parts[item + apart].change;
            parts[item].g = helium_more(parts[item].g, parts[item + apart].g);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return parts[0];
#else
    return mine;
#endif
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
    __local struct helium_outcome parts[HELIUM_GROUP];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint which = group / active, walker = group - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const struct helium_triplet triplet = triplets[which];
    const uint factor = factors[which];
    __global int *kept = positions + home * (3 * HELIUM_N);
#if HELIUM_LOCAL
    __local int place[3 * HELIUM_N], field[3 * HELIUM_N];
    for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_GROUP)
        place[k] = kept[k];
#else
    __global int *place = kept, *field = fields + home * (3 * HELIUM_N);
#endif
    long gained = 0;
    uint accepted = 0, earlier = 0; /* earlier: accepted before the last macroupdate */
    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP) {
        table[k] = tables[which * HELIUM_U_SIZE + k];
        table[HELIUM_U_SIZE + k] = t_tables[2 * which * HELIUM_U_SIZE + k];
    }
    HELIUM_MEET;
    for (uint i = item; i < HELIUM_N; i += HELIUM_GROUP) {
        const struct helium_vector own = helium_vector_of(place, i);
        struct helium_vector g = {0, 0, 0};
        for (uint j = 0; j < HELIUM_N; j++) /* the atom itself adds 0 */
            g = helium_more(g, helium_touch_at(table, own, helium_vector_of(place, j), &member).g);
        helium_vector_set(field, i, g);
    }
    HELIUM_MEET;

    for (uint s = 0; s < steps; s++) {
        earlier = accepted;
        for (uint i = 0; i < HELIUM_N; i++) {
            const struct helium_move move =
                helium_draw(random, &member, factor, walker * HELIUM_N + i, step + s);
            const struct helium_vector by = {move.dx, move.dy, move.dz};
            const struct helium_vector old = helium_vector_of(place, i);
            const struct helium_vector new = helium_more(old, by), was = helium_vector_of(field, i);
            struct helium_outcome mine = {0, {0, 0, 0}};
            for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) {
                if (j == i)
                    continue;
                const struct helium_vector other = helium_vector_of(place, j);
                const struct helium_vector g = helium_vector_of(field, j);
                const struct helium_touch from = helium_touch_at(table, old, other, &member);
                const struct helium_touch to = helium_touch_at(table, new, other, &member);
                const struct helium_vector then = helium_more(helium_less(g, to.g), from.g);
                mine.change += to.u - from.u -
                               triplet.sign * (helium_triplet_square(then, triplet.shift) -
                                               helium_triplet_square(g, triplet.shift));
                mine.g = helium_more(mine.g, to.g);
            }
            const struct helium_outcome all = helium_all(mine, item, parts);
            const long site = helium_at_site((int4)(new.x, new.y, new.z, 0), i, sites, &member) -
                              helium_at_site((int4)(old.x, old.y, old.z, 0), i, sites, &member);
            const long change = site + all.change -
                                triplet.sign * (helium_triplet_square(all.g, triplet.shift) -
                                                helium_triplet_square(was, triplet.shift));
            const uint taken = helium_accepts(change, move.bound);
            HELIUM_MEET; /* all have read the sums and G of atom i */
            if (taken) {
                gained += change;
                accepted++;
                for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) {
                    if (j == i) {
                        helium_vector_set(place, i, new);
                        helium_vector_set(field, i, all.g);
                        continue;
                    }
                    const struct helium_vector other = helium_vector_of(place, j);
                    const struct helium_touch from = helium_touch_at(table, old, other, &member);
                    const struct helium_touch to = helium_touch_at(table, new, other, &member);
                    helium_vector_set(
                        field, j,
                        helium_more(helium_less(helium_vector_of(field, j), to.g), from.g));
                }
            }
            HELIUM_MEET;
        }
    }

#if HELIUM_LOCAL
    for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_GROUP)
        kept[k] = place[k];
#endif
    if (item == 0) {
        walkers[home].ln_psi += gained;
        walkers[home].accepted = accepted - earlier;
        walkers[home].window += accepted;
    }
}
