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
#define BYTES_TERMS (1 + (BYTES_BONDS ? 2 * BYTES_D : 0))
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
#endif

#endif
