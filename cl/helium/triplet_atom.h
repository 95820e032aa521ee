/* G of an atom, and what the triplet factor adds to its energies: for kernels that have walkers in
 * HELIUM_PLACES (atom.h). Macros besides: HELIUM_U_BASE, HELIUM_U_SIZE; HELIUM_T_LOCAL: the table is
 * in local memory. */
#ifndef ERGO_CL_HELIUM_TRIPLET_ATOM_H
#define ERGO_CL_HELIUM_TRIPLET_ATOM_H

#include "helium/atom.h"
#include "helium/triplet.h"

#if HELIUM_T_LOCAL
#define HELIUM_T_SPACE __local const helium_cubic
#else
#define HELIUM_T_SPACE __global const helium_cubic
#endif

/* What an atom at `b` adds to G of one at `a`; 0 if they are at one place. table: X, then X'/r. */
ERGO_INLINE struct helium_vector helium_triplet_of(const int4 a, const int4 b,
                                                   HELIUM_T_SPACE *table,
                                                   const struct helium_member *member) {
    float d[3];
    const float x = helium_apart2(a, b, member, d);
    const float y = helium_clamp(x, member->low);
    const float value = helium_poly(table[helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE],
                                    helium_within(y, HELIUM_U_PIECES));
    struct helium_vector part = helium_triplet_part(value, d, member);
    const int mask = x < 1.0f ? -1 : 0;
    part.x &= mask;
    part.y &= mask;
    part.z &= mask;
    return part;
}

/* G of atom i, which itself adds 0. */
ERGO_INLINE struct helium_vector helium_triplet_field(const int4 own, HELIUM_PLACES *place,
                                                      HELIUM_T_SPACE *table,
                                                      const struct helium_member *member) {
    struct helium_vector g = {0, 0, 0};
    for (uint j = 0; j < HELIUM_N; j++) {
        const struct helium_vector part = helium_triplet_of(own, HELIUM_PLACE(j), table, member);
        g.x += part.x;
        g.y += part.y;
        g.z += part.z;
    }
    return g;
}

ERGO_INLINE void helium_triplet_keep(__global int *field, uint i, struct helium_vector g) {
    field[i] = g.x;
    field[HELIUM_N + i] = g.y;
    field[2 * HELIUM_N + i] = g.z;
}

ERGO_INLINE struct helium_vector helium_triplet_kept(__global const int *field, uint i) {
    const struct helium_vector g = {field[i], field[HELIUM_N + i], field[2 * HELIUM_N + i]};
    return g;
}

/* G of all atoms of a walker, by its work-items, of which this is one. Before they are read, and
 * before places change again, there is a barrier. */
ERGO_INLINE void helium_triplet_fields(uint item, uint there, HELIUM_PLACES *place,
                                       HELIUM_T_SPACE *table,
                                       const struct helium_member *member, __global int *field) {
    for (uint i = item; there && i < HELIUM_N; i += HELIUM_E_ITEMS)
        helium_triplet_keep(field, i,
                            helium_triplet_field(HELIUM_PLACE(i), place, table, member));
}

/* Add the triplet factor to what atom i has of its pairs. field: G of all atoms. */
ERGO_INLINE void helium_triplet_share(const int4 own, uint i, HELIUM_PLACES *place,
                                      HELIUM_T_SPACE *table, __global const int *field,
                                      const struct helium_triplet *triplet,
                                      const struct helium_member *member,
                                      struct helium_share *share) {
    struct helium_triplet_sums run = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const struct helium_vector mine = helium_triplet_kept(field, i);
    for (uint j = 0; j < HELIUM_N; j++) {
        float d[3];
        const float x = helium_apart2(own, HELIUM_PLACE(j), member, d);
        const float y = helium_clamp(x, member->low);
        const uint k = helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE;
        if (j != i && x < 1.0f)
            helium_triplet_pair(y, d, table[k], table[HELIUM_U_SIZE + k], mine,
                                helium_triplet_kept(field, j), member, &run);
    }
    float g[3] = {share->gx, share->gy, share->gz};
    share->slope += helium_triplet_add(&run, triplet, g);
    share->gx = g[0];
    share->gy = g[1];
    share->gz = g[2];
}

#endif
