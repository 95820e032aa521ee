/* A byte per spin on a device: decide sixteen sites whose neighbours are known. */
#ifndef ERGO_CL_SPIN_LATTICE_BYTES_STEP_H
#define ERGO_CL_SPIN_LATTICE_BYTES_STEP_H

#include "spin_lattice/bytes_view.h"

/* What a work-group looks up in local memory: of the member's tables, or the choices, whose
 * thresholds are followed by their states. */
#if BYTES_CHOICES
typedef uint4 bytes_entry;
#define BYTES_LOOKUP (BYTES_CHOICES + (BYTES_CHOICES + 3) / 4)
#define BYTES_ENTRY(i) choices[(ulong)member * BYTES_LOOKUP + (i)]
#elif BYTES_MODEL == 2
typedef uint bytes_entry;
#define BYTES_LOOKUP (2 * BYTES_TABLE)
#define BYTES_ENTRY(i) ((i) < BYTES_TABLE ? m->table[i] : m->low[(i)-BYTES_TABLE])
#else
typedef uint bytes_entry;
#define BYTES_LOOKUP BYTES_TABLE
#define BYTES_ENTRY(i) m->table[i]
#endif

/* The random words of the four sites of a row from h on. */
ERGO_INLINE struct ergo_words bytes_words(uint row, uint h, ulong step, uint draw, uint key0,
                                          uint key1) {
    return ergo_philox_words(row * BYTES_QUADS + h / 4, (uint)step, (uint)(step >> 32), draw, key0,
                             key1);
}

/* The words of a block, drawn by a launch of their own. */
#define BYTES_FOURS (BYTES_QUADS < 4 ? BYTES_QUADS : 4)
struct bytes_drawn {
    uint4 of[BYTES_FOURS];
};

/* Update sixteen sites whose neighbours are all in v. With BYTES_AHEAD their words are `drawn`. */
ERGO_INLINE struct bytes_sixteen bytes_step(struct bytes_sixteen s, struct bytes_view v, uint row,
                                            uint block, uint odd, ulong step, uint draw, uint key0,
                                            uint key1,
#ifdef BYTES_AHEAD
                                            struct bytes_drawn drawn,
#endif
                                            __local const bytes_entry *table) {
    ERGO_UNROLL
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (BYTES_HALF % 16 && h >= BYTES_HALF)
            continue;
        struct bytes_around n = bytes_around_of(v, g);
        if (BYTES_MODEL == 2) { /* the heat bath's choice depends on the order of the neighbours */
            if (!odd) {
                n.west = v.side.at[g];
                n.east = v.near.at[g];
            }
#if BYTES_CHOICES
            s.at[g] = bytes_choose_four(n, row * BYTES_HALF + h, min(BYTES_HALF - h, 4u), step,
                                        draw, key0, key1, table);
#elif BYTES_MODEL == 2
            uint result = 0;
            for (int l = 0; l < 4; l++) {
                const struct ergo_words r = ergo_philox_words(row * BYTES_HALF + h + l, (uint)step,
                                                              (uint)(step >> 32), draw, key0, key1);
                if (h + l < BYTES_HALF)
                    result |= bytes_heat_bath(n, l, r, table, table + BYTES_TABLE) << 8 * l;
            }
            s.at[g] = result;
#endif
        } else {
#if BYTES_MODEL != 2
#ifdef BYTES_AHEAD
            const uint4 w = drawn.of[g < BYTES_FOURS ? g : 0];
            const struct ergo_words r = {w.x, w.y, w.z, w.w};
#else
            const struct ergo_words r = bytes_words(row, h, step, draw, key0, key1);
#endif
            s.at[g] = bytes_update(s.at[g], n, r, table);
#endif
        }
    }
    return s;
}

#if BYTES_GENERAL
/* terms: [member][colour][plane][block][four]. The planes are the fields, then the couplings to the
 * neighbours, in bytes_view's order. side: 2 member + colour. */
#define BYTES_TERMS (BYTES_FIELD_PLANES + (BYTES_BONDS ? 2 * BYTES_D : 0))
#if BYTES_MODEL == 0
ERGO_INLINE struct bytes_terms bytes_terms_of(__global const int4 *terms,
                                              __global const struct bytes_member *m, ulong side,
                                              uint block, uint four) {
    const ulong plane = 4 * BYTES_COLOUR, at = side * BYTES_TERMS * plane + 4 * (ulong)block + four;
    struct bytes_terms t;
    t.field = terms[at];
    t.west = t.east = (int4)(m->j[0]);
    t.north = t.south = (int4)(m->j[1]);
    t.above = t.below = (int4)(m->j[2]);
#if BYTES_BONDS
    t.west = terms[at + plane];
    t.east = terms[at + 2 * plane];
#if BYTES_D > 1
    t.north = terms[at + 3 * plane];
    t.south = terms[at + 4 * plane];
#endif
#if BYTES_D > 2
    t.above = terms[at + 5 * plane];
    t.below = terms[at + 6 * plane];
#endif
#endif
    return t;
}

/* The same with general fields. side: 2 member + colour; item: the block on the lattice. */
ERGO_INLINE struct bytes_sixteen bytes_general_step(struct bytes_sixteen s, struct bytes_view v,
                                                    uint row, uint block, ulong step, uint draw,
                                                    __global const struct bytes_member *m,
                                                    __global const int4 *terms, ulong side,
                                                    uint item) {
    const float scale = m->scale;
    ERGO_UNROLL
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (BYTES_HALF % 16 && h >= BYTES_HALF)
            continue;
        const struct ergo_words r = bytes_words(row, h, step, draw, m->key0, m->key1);
        const int4 limit =
            (int4)(spin_limit(r.x, scale, BYTES_HEAT), spin_limit(r.y, scale, BYTES_HEAT),
                   spin_limit(r.z, scale, BYTES_HEAT), spin_limit(r.w, scale, BYTES_HEAT));
        const int4 cost = bytes_half_cost(s.at[g], bytes_around_of(v, g),
                                          bytes_terms_of(terms, m, side, item, g));
        const uint4 flip = BYTES_BELOW(cost, limit) & 1u;
        s.at[g] ^= flip.x | flip.y << 8 | flip.z << 16 | flip.w << 24;
    }
    return s;
}
#else
#define BYTES_PLANE (16 * BYTES_COLOUR) /* sites of a plane of terms */

/* The terms of the first site of a four. */
ERGO_INLINE __global const int *bytes_terms_at(__global const int4 *terms, ulong side, uint block,
                                               uint four) {
    return (__global const int *)terms + side * BYTES_TERMS * BYTES_PLANE + 16 * (ulong)block +
           4 * four;
}

/* The energy of a state in the site's fields, with the opposite sign; blume-capel: without the
 * crystal field. */
ERGO_INLINE int bytes_in_field(__global const int *t, __global const struct bytes_member *m,
                               uint state) {
#if BYTES_MODEL == 3
    return (1 - (int)state) * t[0];
#elif BYTES_FIELD_PLANES
    return (state == 0 ? m->field : 0) + t[state * BYTES_PLANE];
#else
    return state == 0 ? m->field : 0;
#endif
}

struct bytes_site {
    uint near[6];
    int j[6];
};

/* Byte `lane` of the neighbours, and the couplings to them. */
ERGO_INLINE struct bytes_site bytes_site_of(struct bytes_around n, uint lane, __global const int *t,
                                            __global const struct bytes_member *m) {
    const uint all[6] = {n.west, n.east, n.north, n.south, n.above, n.below};
    struct bytes_site s;
    ERGO_UNROLL
    for (uint k = 0; k < 6; k++) {
        s.near[k] = all[k] >> 8 * lane & 255;
#if BYTES_BONDS
        s.j[k] = k < 2 * BYTES_D ? t[(BYTES_FIELD_PLANES + k) * BYTES_PLANE] : 0;
#else
        s.j[k] = m->j[k / 2];
#endif
    }
    return s;
}

/* The same for potts and blume-capel, site by site. */
ERGO_INLINE struct bytes_sixteen bytes_general_step(struct bytes_sixteen s, struct bytes_view v,
                                                    uint row, uint block, ulong step, uint draw,
                                                    __global const struct bytes_member *m,
                                                    __global const int4 *terms, ulong side,
                                                    uint item) {
    const float scale = m->scale;
    for (uint g = 0; g < 4; g++) {
        const uint h = 16 * block + 4 * g;
        if (BYTES_HALF % 16 && h >= BYTES_HALF)
            continue;
        const struct ergo_words r = bytes_words(row, h, step, draw, m->key0, m->key1);
        const uint random[4] = {r.x, r.y, r.z, r.w};
        const struct bytes_around n = bytes_around_of(v, g);
        __global const int *t = bytes_terms_at(terms, side, item, g);
        uint result = 0;
        for (uint l = 0; l < 4; l++, t++) {
            const ulong w = (ulong)random[l] * (BYTES_Q - 1);
            const uint own = s.at[g] >> 8 * l & 255;
            uint to = own + 1 + (uint)(w >> 32);
            to -= to >= BYTES_Q ? BYTES_Q : 0;
            if (h + l >= BYTES_HALF) /* there is no such site, and bytes beyond rows stay */
                to = own;
            const struct bytes_site site = bytes_site_of(n, l, t, m);
            int cost = bytes_bonds_cost(own, to, site.near, site.j) + bytes_in_field(t, m, own) -
                       bytes_in_field(t, m, to);
            if (BYTES_MODEL == 3) /* s = 0 is state 1 */
                cost += m->crystal * ((int)(own == 1) - (int)(to == 1));
            result |= (cost < spin_limit((uint)w, scale, 0) ? to : own) << 8 * l;
        }
        s.at[g] = result;
    }
    return s;
}
#endif
#endif

#endif
