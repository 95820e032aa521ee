/* Cells in planes: plane s holds the s-th particle of every cell. Beside them are lists of the
 * cells within the cutoff, and the particles' pair energies. Part of gather.h. */
#ifndef ERGO_CL_LJ_GCMC_PLANES_H
#define ERGO_CL_LJ_GCMC_PLANES_H

/*
 * The cells within the cutoff of a place. A cell is divided into parts, and each part has its own
 * list. Lists are made for the half of the cell next to its own corner, with LJ_PARTS parts along
 * each axis; other corners are mirror images. The list of a part begins at .x and has .y offsets;
 * in the first .z of them a particle may be inside the core. An offset is in units of 2^-32 of the
 * sides, so offsets across the box's edge wrap by themselves.
 */
struct lj_place {
    uint x, y, z;    /* the middle of the cell */
    uint sx, sy, sz; /* 1, or -1 for a mirror image */
    uint begin, count, near;
};

ERGO_INLINE uint lj_mirror(uint inside, uint *sign) {
    *sign = inside >> 31 ? 0xffffffffu : 1u;
    return LJ_PARTS > 1u ? (inside >> 31 ? ~inside : inside) >> 30 : 0u;
}

ERGO_INLINE struct lj_place lj_place_of(const struct lj_home *home, lj_position p) {
    struct lj_place c;
    c.x = (2u * mul_hi(p.x, (uint)LJ_NX) + 1u) * (0x80000000u / LJ_NX);
    c.y = (2u * mul_hi(p.y, (uint)LJ_NY) + 1u) * (0x80000000u / LJ_NY);
    c.z = (2u * mul_hi(p.z, (uint)LJ_NZ) + 1u) * (0x80000000u / LJ_NZ);
    const uint px = lj_mirror(p.x * (uint)LJ_NX, &c.sx), py = lj_mirror(p.y * (uint)LJ_NY, &c.sy),
               pz = lj_mirror(p.z * (uint)LJ_NZ, &c.sz);
    const uint4 list = home->lists[(pz * LJ_PARTS + py) * LJ_PARTS + px];
    c.begin = list.x;
    c.count = list.y;
    c.near = list.z;
    return c;
}

/* The cell at offset number i from c. */
ERGO_INLINE uint lj_cell_near(const struct lj_home *home, const struct lj_place *c, uint i) {
    const uint4 by = home->lists[c->begin + i];
    return (mul_hi(c->z + c->sz * by.z, (uint)LJ_NZ) * (uint)LJ_NY +
            mul_hi(c->y + c->sy * by.y, (uint)LJ_NY)) *
               (uint)LJ_NX +
           mul_hi(c->x + c->sx * by.x, (uint)LJ_NX);
}

/* Add the pair of the particle at q with the place `at`. `away` is the place of the particle that
 * moves, which is no partner. cores: do not sum, only find out whether q is inside the core. */
ERGO_INLINE void lj_visit(lj_position q, lj_position at, lj_position away, uint has_away,
                          uint cores, const struct lj_member *m, struct lj_sum *sum) {
    const float r2 = lj_distance2(q, at, m->scale);
    if (r2 >= (cores ? m->core2 : m->cutoff2) || (has_away && lj_same(q, away)))
        return;
    if (r2 < m->core2) {
        sum->overlap = 1u;
        return;
    }
#ifdef LJ_QUEUE
    if (sum->queued < LJ_QUEUE) {
        sum->queue[LJ_GROUP * sum->queued++] = r2;
        return;
    }
#endif
    long energy, virial;
    lj_pair(r2, m->shift, &energy, &virial);
    sum->energy += energy;
    sum->virial += virial;
    sum->contacts += lj_contact(r2, m);
}

#ifdef LJ_QUEUE
/* Add the energies of the queued pairs. */
ERGO_INLINE void lj_visit_queued(const struct lj_member *m, struct lj_sum *sum) {
    for (uint k = 0u; k < sum->queued; k++) {
        long energy, virial;
        lj_pair(sum->queue[LJ_GROUP * k], m->shift, &energy, &virial);
        sum->energy += energy;
    }
    sum->queued = 0u;
}
#endif

/* LJ_AT_ONCE cells are loaded before the first one is used, because with thousands of chains a cell
 * comes from far memory. This loads the cells of shares i, i + stride, ... of a list that ends
 * before `last`: the number of particles in each and the first particle of each. Returns the
 * largest number. */
#define LJ_AT_ONCE 4u
ERGO_INLINE uint lj_cells_at(const struct lj_home *home, const struct lj_place *c, uint i,
                             uint stride, uint last, uint *cell, uint *count, uint4 *one) {
    uint most = 0u;
    ERGO_UNROLL
    for (uint k = 0u; k < LJ_AT_ONCE; k++) {
        const uint share = i + k * stride;
        cell[k] = share < last ? lj_cell_near(home, c, share) : 0u;
        one[k] = home->cells[cell[k]];
        count[k] = share < last ? one[k].w : 0u;
        most = count[k] > most ? count[k] : most;
    }
    return most;
}

/* Load the s-th particles of these cells. */
ERGO_INLINE void lj_cells_next(const struct lj_home *home, uint s, const uint *cell,
                               const uint *count, uint4 *one) {
    ERGO_UNROLL
    for (uint k = 0u; k < LJ_AT_ONCE; k++)
        if (s > 0u && s < count[k])
            one[k] = home->cells[cell[k] + s * home->plane];
}

/* The pairs of `at` in cells item, item + stride, ... of its neighbourhood. cores: only find out
 * whether a particle in the nearest cells is inside the core. */
ERGO_INLINE void lj_scan(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint cores, uint item, uint stride,
                         const struct lj_member *m, struct lj_sum *sum) {
    const struct lj_place c = lj_place_of(home, at);
    const uint last = cores ? c.near : c.count;
    for (uint i = item; i < last; i += LJ_AT_ONCE * stride) {
        uint cell[LJ_AT_ONCE], count[LJ_AT_ONCE];
        uint4 one[LJ_AT_ONCE];
        const uint most = lj_cells_at(home, &c, i, stride, last, cell, count, one);
        for (uint s = 0u; s < most; s++) {
            lj_cells_next(home, s, cell, count, one);
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++)
                if (s < count[k])
                    lj_visit(one[k], at, away, has_away, cores, m, sum);
        }
    }
}

/* All pairs of the particle at `at`. */
ERGO_INLINE void lj_scan_all(const struct lj_home *home, lj_position at, const struct lj_member *m,
                             struct lj_sum *sum) {
    lj_scan(home, at, at, 1u, 0u, 0u, 1u, m, sum);
}

ERGO_INLINE uint lj_cell_count(const struct lj_home *home, uint cell) {
    return home->cells[cell].w;
}

ERGO_INLINE lj_position lj_cell_get(const struct lj_home *home, uint cell, uint s) {
    return lj_position_of(home->cells[cell + s * home->plane]);
}

ERGO_INLINE uint lj_is_full(const struct lj_home *home, lj_position p) {
    return home->cells[lj_cell_of(p)].w >= home->slots;
}

ERGO_INLINE void lj_cell_add(const struct lj_home *home, lj_position p, long energy) {
    __global uint4 *cell = home->cells + lj_cell_of(p);
    const uint count = cell[0].w;
#ifdef LJ_ENERGIES
    home->energies[lj_cell_of(p) + count * home->plane] = energy;
#else
    (void)energy;
#endif
    if (count == 0u) {
        cell[0] = (uint4)(p.x, p.y, p.z, 1u);
        return;
    }
    cell[count * home->plane] = (uint4)(p.x, p.y, p.z, 0u);
    cell[0].w = count + 1u;
}

ERGO_INLINE void lj_cell_remove(const struct lj_home *home, lj_position p) {
    __global uint4 *cell = home->cells + lj_cell_of(p);
    const uint count = cell[0].w;
    uint s = 0u;
    while (s + 1u < count && !lj_same(lj_position_of(cell[s * home->plane]), p))
        s++;
    const uint4 last = cell[(count - 1u) * home->plane];
    cell[s * home->plane] = (uint4)(last.x, last.y, last.z, 0u);
    cell[0].w = count - 1u;
#ifdef LJ_ENERGIES
    __global long *energies = home->energies + lj_cell_of(p);
    energies[s * home->plane] = energies[(count - 1u) * home->plane];
#endif
}

#ifdef LJ_ENERGIES
/* The stored pair energy of the particle at p. */
ERGO_INLINE __global long *lj_energy_at(const struct lj_home *home, lj_position p) {
    ulong at = lj_cell_of(p);
    for (uint s = 1u; s < home->slots && !lj_same(home->cells[at], p); s++)
        at += home->plane;
    return home->energies + at;
}

/* The same to *energy, by `stride` work-items at once: loads that wait for each other took a third
 * of a lone chain's time (H200). A cell keeps copies of particles beyond its count. */
ERGO_INLINE void lj_find_energy(const struct lj_home *home, lj_position p, uint item, uint stride,
                                __local long *energy) {
    const uint cell = lj_cell_of(p), count = home->cells[cell].w;
    for (uint s = item; s < home->slots; s += stride)
        if (lj_same(home->cells[cell + s * home->plane], p) && s < count)
            *energy = home->energies[cell + s * home->plane];
}

/* A particle arrives at (is_new) or leaves `at`. Updates the pair energies of its neighbours,
 * except the one at `away`, and adds this work-item's share of virial and contacts. */
ERGO_INLINE void lj_update_neighbours(const struct lj_home *home, lj_position at, lj_position away,
                                      uint has_away, uint is_new, uint item, uint items,
                                      const struct lj_member *m, long *virial, long *contacts) {
    const struct lj_place c = lj_place_of(home, at);
    for (uint i = item; i < c.count; i += LJ_AT_ONCE * items) {
        uint cell[LJ_AT_ONCE], count[LJ_AT_ONCE];
        uint4 one[LJ_AT_ONCE];
        const uint most = lj_cells_at(home, &c, i, items, c.count, cell, count, one);
        for (uint s = 0u; s < most; s++) {
            float r2[LJ_AT_ONCE];
            long before[LJ_AT_ONCE];
            lj_cells_next(home, s, cell, count, one);
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                r2[k] = lj_distance2(one[k], at, m->scale);
                if (s >= count[k] || (has_away && lj_same(one[k], away)))
                    r2[k] = m->cutoff2;
                before[k] = 0;
                if (r2[k] < m->cutoff2)
                    before[k] = home->energies[cell[k] + s * home->plane];
            }
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                long energy, pair_virial;
                if (r2[k] >= m->cutoff2)
                    continue;
                lj_pair(r2[k], m->shift, &energy, &pair_virial);
                home->energies[cell[k] + s * home->plane] = before[k] + (is_new ? energy : -energy);
                *virial += is_new ? pair_virial : -pair_virial;
                const long contact = lj_contact(r2[k], m);
                *contacts += is_new ? contact : -contact;
            }
        }
    }
}
#endif

#endif
