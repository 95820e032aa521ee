/* Cells whose particles lie together in memory, by coordinate: LJ_SLOTTED, for CPUs. A work-group
 * of one evaluates eight of them at once. Part of gather.h. */
#ifndef ERGO_CL_LJ_GCMC_SLOTTED_H
#define ERGO_CL_LJ_GCMC_SLOTTED_H

/* The cell of a position and, for culling, its place within the cell. */
struct lj_place {
    int x, y, z;
    float fx, fy, fz;
};

ERGO_INLINE struct lj_place lj_place_of(lj_position p) {
    struct lj_place c;
    c.x = (int)mul_hi(p.x, (uint)LJ_NX);
    c.y = (int)mul_hi(p.y, (uint)LJ_NY);
    c.z = (int)mul_hi(p.z, (uint)LJ_NZ);
    c.fx = (float)(p.x * (uint)LJ_NX) * 0x1p-32f;
    c.fy = (float)(p.y * (uint)LJ_NY) * 0x1p-32f;
    c.fz = (float)(p.z * (uint)LJ_NZ) * 0x1p-32f;
    return c;
}

/* The cell at offset number i from c, or LJ_FAR if it is farther than reach2. */
#define LJ_FAR 0xffffffffu
ERGO_INLINE uint lj_cell_near(const struct lj_home *home, const struct lj_place *c, uint i,
                              float reach2, const struct lj_member *m) {
    const uint packed = home->offsets[i];
    const int dx = (int)(packed << 24) >> 24, dy = (int)(packed << 16) >> 24,
              dz = (int)(packed << 8) >> 24;
#if LJ_CULL
    /* The factor 1.0001 covers the rounding of gaps. It may cost the visit of a cell, but never
     * loses a pair. */
    const float gx = lj_gap(dx, c->fx) * (m->scale[0] * (0x1p32f / LJ_NX)),
                gy = lj_gap(dy, c->fy) * (m->scale[1] * (0x1p32f / LJ_NY)),
                gz = lj_gap(dz, c->fz) * (m->scale[2] * (0x1p32f / LJ_NZ));
    if (fma(gx, gx, fma(gy, gy, gz * gz)) > reach2 * 1.0001f)
        return LJ_FAR;
#endif
    return (uint)((lj_wrap(c->z + dz, LJ_NZ) * LJ_NY + lj_wrap(c->y + dy, LJ_NY)) * LJ_NX +
                  lj_wrap(c->x + dx, LJ_NX));
}

/* A cell's words: x[slots], y[slots], z[slots]. */
ERGO_INLINE __global uint *lj_cell_words(const struct lj_home *home, uint cell) {
    return (__global uint *)home->cells + (ulong)cell * 3UL * home->slots;
}

/* Numbers of particles in the cells, stored after the words of all cells. */
ERGO_INLINE __global uint *lj_cell_counts(const struct lj_home *home) {
    return (__global uint *)home->cells + (ulong)LJ_GRID * 3UL * home->slots;
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
    const struct lj_place c = lj_place_of(at);
#ifdef LJ_NPT
    const uint near = home->near, all = home->count;
#else
    const uint near = LJ_NEAR, all = LJ_OFFSETS;
#endif
    const uint first = which == LJ_REST ? near : 0u;
    const uint last = which == LJ_NEAREST ? near : all;
    const uint slots = home->slots;
    const int8 keep = (int8)(has_away ? 0 : -1);
    struct lj_sum8 eight = {(long8)(0L), (long8)(0L), (lj_lanes)(0), 0u};
    for (uint i = first; i < last && !eight.overlap; i++) {
        const uint cell = lj_cell_near(home, &c, i, m->cutoff2, m);
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
    return lj_cell_counts(home)[lj_cell_of(p)] >= home->slots;
}

ERGO_INLINE void lj_cell_put(__global uint *words, uint slots, uint s, uint x, uint y, uint z) {
    words[s] = x;
    words[slots + s] = y;
    words[2u * slots + s] = z;
}

ERGO_INLINE void lj_cell_add(const struct lj_home *home, lj_position p) {
    const uint cell = lj_cell_of(p);
    __global uint *count = lj_cell_counts(home) + cell;
    lj_cell_put(lj_cell_words(home, cell), home->slots, *count, p.x, p.y, p.z);
    *count += 1u;
}

ERGO_INLINE void lj_cell_remove(const struct lj_home *home, lj_position p) {
    const uint cell = lj_cell_of(p), slots = home->slots;
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
