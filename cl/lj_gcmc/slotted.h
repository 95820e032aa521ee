/* Cells whose particles lie together in memory, by coordinate: LJ_SLOTTED, for CPUs. A work-group
 * of one evaluates eight of them at once. Part of gather.h. */
#ifndef ERGO_CL_LJ_GCMC_SLOTTED_H
#define ERGO_CL_LJ_GCMC_SLOTTED_H

/* The cell at this offset from c, or LJ_FAR if it is farther than reach2. */
#define LJ_FAR 0xffffffffu
ERGO_INLINE uint lj_cell_near(const struct lj_shape *g, uint packed, const struct lj_spot *c,
                              float reach2, const float *width) {
    const int dx = (int)(packed << 24) >> 24, dy = (int)(packed << 16) >> 24,
              dz = (int)(packed << 8) >> 24;
    if (g->cull) {
        /* The factor 1.0001 covers the rounding of gaps. It may cost the visit of a cell, but never
         * loses a pair. */
        const float gx = lj_gap(dx, c->fx) * width[0], gy = lj_gap(dy, c->fy) * width[1],
                    gz = lj_gap(dz, c->fz) * width[2];
        if (fma(gx, gx, fma(gy, gy, gz * gz)) > reach2 * 1.0001f)
            return LJ_FAR;
    }
    return lj_cell_around(g, c->x + dx, c->y + dy, c->z + dz, 0u);
}

/* A cell's words: x[slots], y[slots], z[slots]. */
ERGO_INLINE __global uint *lj_cell_words(const struct lj_home *home, uint cell) {
    return (__global uint *)home->cells + (ulong)cell * 3UL * home->slots;
}

/* Numbers of particles in the cells, stored after the words of all cells. */
ERGO_INLINE __global uint *lj_cell_counts(const struct lj_home *home) {
    return (__global uint *)home->cells + (ulong)home->shape.cells * 3UL * home->slots;
}

ERGO_INLINE uint lj_cell_count(const struct lj_home *home, uint cell) {
    return lj_cell_counts(home)[cell];
}

ERGO_INLINE lj_position lj_cell_get(const struct lj_home *home, uint cell, uint s) {
    __global const uint *words = lj_cell_words(home, cell) + s;
    return (uint4)(words[0], words[home->slots], words[2u * home->slots], 0u);
}

enum lj_which { LJ_NEAREST, LJ_REST, LJ_ALL }; /* of the cells within the cutoff */

/* Add the sums over the neighbourhood of `at` (is_new), or subtract them. The particle at `away`,
 * the one that moves, is no partner. */
ERGO_INLINE void lj_scan(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint is_new, uint which, const struct lj_member *m,
                         struct lj_sum *sum) {
    /* copies, which PoCL's compiler keeps in registers */
    const struct lj_shape g = home->shape;
    __global const uint *offsets = home->offsets;
    const float width[3] = {m->scale[0] * g.width[0], m->scale[1] * g.width[1],
                            m->scale[2] * g.width[2]};
    const struct lj_spot c = lj_spot_of(&g, at);
    const uint near = g.near, all = g.offsets;
    const uint first = which == LJ_REST ? near : 0u;
    const uint last = which == LJ_NEAREST ? near : all;
    const uint slots = home->slots;
    const int8 keep = (int8)(has_away ? 0 : -1);
    struct lj_sum8 eight = {(long8)(0L), (long8)(0L), (lj_lanes)(0), 0u};
    for (uint i = first; i < last && !eight.overlap; i++) {
        const uint cell = lj_cell_near(&g, offsets[i], &c, m->cutoff2, width);
        if (cell == LJ_FAR)
            continue;
        __global const uint *words = lj_cell_words(home, cell);
        const uint count = lj_cell_counts(home)[cell];
        for (uint s = 0u; s < count; s += 8u) {
            const uint8 ux = vload8(0, words + s), uy = vload8(0, words + slots + s),
                        uz = vload8(0, words + 2u * slots + s);
            const int8 other =
                (ux != (uint8)(away.x)) | (uy != (uint8)(away.y)) | (uz != (uint8)(away.z)) | keep;
            lj_pairs8(ux, uy, uz, at, lj_below8(count - s) & other, m, &eight);
        }
    }
    sum->overlap |= eight.overlap;
    sum->energy += is_new ? lj_total8(eight.energy) : -lj_total8(eight.energy);
    sum->virial += is_new ? lj_total8(eight.virial) : -lj_total8(eight.virial);
    sum->contacts += is_new ? lj_contacts8(eight.contacts) : -lj_contacts8(eight.contacts);
}

/* All pairs of the particle at `at`. */
ERGO_INLINE void lj_scan_all(const struct lj_home *home, lj_position at, const struct lj_member *m,
                             struct lj_sum *sum) {
    lj_scan(home, at, at, 1u, 1u, LJ_ALL, m, sum);
}

/* All pairs of one particle more at `at`. */
ERGO_INLINE void lj_scan_new(const struct lj_home *home, lj_position at, const struct lj_member *m,
                             struct lj_sum *sum) {
    lj_scan(home, at, at, 0u, 1u, LJ_ALL, m, sum);
}

ERGO_INLINE uint lj_is_full(const struct lj_home *home, lj_position p) {
    return lj_cell_counts(home)[lj_cell_of(home, p)] >= home->slots;
}

ERGO_INLINE void lj_cell_put(__global uint *words, uint slots, uint s, uint x, uint y, uint z) {
    words[s] = x;
    words[slots + s] = y;
    words[2u * slots + s] = z;
}

ERGO_INLINE void lj_cell_add(const struct lj_home *home, lj_position p) {
    const uint cell = lj_cell_of(home, p);
    __global uint *count = lj_cell_counts(home) + cell;
    lj_cell_put(lj_cell_words(home, cell), home->slots, *count, p.x, p.y, p.z);
    *count += 1u;
}

ERGO_INLINE void lj_cell_remove(const struct lj_home *home, lj_position p) {
    const uint cell = lj_cell_of(home, p), slots = home->slots;
    __global uint *words = lj_cell_words(home, cell), *count = lj_cell_counts(home) + cell;
    const uint last = *count - 1u;
    uint s = 0u;
    while (s < last && (words[s] != p.x || words[slots + s] != p.y || words[2u * slots + s] != p.z))
        s++;
    lj_cell_put(words, slots, s, words[last], words[slots + last], words[2u * slots + last]);
    *count = last;
}

/* Carry out an accepted move. The last particle takes the place of a deleted one. */
ERGO_INLINE void lj_apply(const struct lj_home *home, const struct lj_move *move, lj_position from,
                          uint particles) {
    const uint4 to = (uint4)(move->to.x, move->to.y, move->to.z, 0u);
    if (move->kind != (uint)LJ_INSERTION)
        lj_cell_remove(home, from);
    if (move->kind != (uint)LJ_DELETION)
        lj_cell_add(home, move->to);
    if (move->kind == (uint)LJ_DELETION)
        home->particles[move->index] = home->particles[particles - 1u];
    else
        home->particles[move->kind == (uint)LJ_INSERTION ? particles : move->index] = to;
}

#endif
