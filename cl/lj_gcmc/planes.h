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
    const struct lj_shape *g = &home->shape;
    struct lj_place c;
    c.x = (2u * mul_hi(p.x, g->n[0]) + 1u) * g->middle[0];
    c.y = (2u * mul_hi(p.y, g->n[1]) + 1u) * g->middle[1];
    c.z = (2u * mul_hi(p.z, g->n[2]) + 1u) * g->middle[2];
    const uint px = lj_mirror(p.x * g->n[0], &c.sx), py = lj_mirror(p.y * g->n[1], &c.sy),
               pz = lj_mirror(p.z * g->n[2], &c.sz);
    const uint4 list = home->heads[(pz * LJ_PARTS + py) * LJ_PARTS + px];
    c.begin = list.x;
    c.count = list.y;
    c.near = list.z;
    return c;
}

/* The cell at offset number i from c. */
ERGO_INLINE uint lj_cell_near(const struct lj_home *home, const struct lj_place *c, uint i) {
    const uint4 by = home->lists[c->begin + i];
    const lj_position at =
        (uint4)(c->x + c->sx * by.x, c->y + c->sy * by.y, c->z + c->sz * by.z, 0u);
    return lj_cell_in(&home->shape, at, LJ_LOW(home));
}

/* Add the pair of the particle at q with the place `at`. `away` is the place of the particle that
 * moves, which is no partner. cores: do not sum, only find out whether q is inside the core. */
ERGO_INLINE void lj_visit(lj_position q, lj_position at, lj_position away, uint has_away,
                          uint cores, const struct lj_member *m, struct lj_sum *sum) {
    const float r2 = lj_distance2(q, at, m->scale);
    if (r2 >= (cores ? lj_core2_at(m, q, at) : lj_cutoff2_at(m, q, at)) ||
        (has_away && lj_same(q, away)))
        return;
    if (r2 < lj_core2_at(m, q, at)) {
        sum->overlap = 1u;
        return;
    }
#ifdef LJ_QUEUE
    if (sum->queued < LJ_QUEUE) {
        sum->queue[LJ_GROUP * sum->queued++] = r2;
        return;
    }
#endif
    long energy, virial, contact;
    lj_pair_at(r2, q, at, m, &energy, &virial, &contact);
    sum->energy += energy;
    sum->virial += virial;
    sum->contacts += contact;
}

#ifdef LJ_QUEUE
/* Add the energies of the queued pairs. */
ERGO_INLINE void lj_visit_queued(const struct lj_member *m, struct lj_sum *sum) {
    for (uint k = 0u; k < sum->queued; k++) {
        long energy, virial;
        lj_pair(sum->queue[LJ_GROUP * k], m, &energy, &virial);
        sum->energy += energy;
    }
    sum->queued = 0u;
}
#endif

/* Cells that a work-item looks at, at once, where an accepted move updates neighbours: large groups
 * have work-items for all of them. */
#define LJ_UPDATES (LJ_GROUP >= 256 ? 1u : 2u)

/* LJ_AT_ONCE cells are loaded before the first one is used, because with thousands of chains a cell
 * comes from far memory. This loads the cells of shares i, i + stride, ... of a list that ends
 * before `last`: the number of particles in each and the first particle of each. Returns the
 * largest number. */
#define LJ_AT_ONCE (LJ_GROUP >= 128u ? 2u : 4u)
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

/* All pairs of one particle more at `at`; first a look for cores, which most places hit. */
ERGO_INLINE void lj_scan_new(const struct lj_home *home, lj_position at, const struct lj_member *m,
                             struct lj_sum *sum) {
    for (uint cores = 2u; cores > 0u && !sum->overlap; cores--)
        lj_scan(home, at, at, 0u, cores - 1u, 0u, 1u, m, sum);
}

ERGO_INLINE uint lj_cell_count(const struct lj_home *home, uint cell) {
    return home->cells[cell].w;
}

ERGO_INLINE lj_position lj_cell_get(const struct lj_home *home, uint cell, uint s) {
    return lj_position_of(home->cells[cell + s * home->plane]);
}

ERGO_INLINE uint lj_is_full(const struct lj_home *home, lj_position p) {
    return home->cells[lj_cell_of(home, p)].w >= home->slots;
}

#ifdef LJ_ENERGIES
/* The stored pair energy of the particle at p. */
ERGO_INLINE __global long *lj_energy_at(const struct lj_home *home, lj_position p) {
    ulong at = lj_cell_of(home, p);
    for (uint s = 1u; s < home->slots && !lj_same(home->cells[at], p); s++)
        at += home->plane;
    return home->energies + at;
}

/* The slot of the particle at p, and its pair energy. The first slots are loaded at once, because
 * loads that wait for each other are what a lone chain's time goes to. A cell keeps copies of
 * particles beyond its count, with the same or lower slots first. */
#define LJ_SLOTS_AT_ONCE 3u
ERGO_INLINE uint lj_find(const struct lj_home *home, lj_position p, long *energy) {
    const uint cell = lj_cell_of(home, p), count = home->slots;
    uint4 one[LJ_SLOTS_AT_ONCE];
    long energies[LJ_SLOTS_AT_ONCE];
    ERGO_UNROLL
    for (uint s = 0u; s < LJ_SLOTS_AT_ONCE; s++) {
        const ulong at = cell + (s < count ? s : 0u) * home->plane;
        one[s] = home->cells[at];
        energies[s] = home->energies[at];
    }
    uint slot = LJ_SLOTS_AT_ONCE;
    ERGO_UNROLL
    for (uint k = LJ_SLOTS_AT_ONCE; k > 0u; k--)
        if (lj_same(one[k - 1u], p)) {
            slot = k - 1u;
            *energy = energies[k - 1u];
        }
    if (slot < LJ_SLOTS_AT_ONCE)
        return slot;
    while (slot + 1u < count && !lj_same(home->cells[cell + slot * home->plane], p))
        slot++;
    *energy = home->energies[cell + slot * home->plane];
    return slot;
}

/* A particle goes from `old` (has_old) to `new_place` (has_new). Updates the pair energies of its
 * neighbours, and adds this work-item's share of virial and contacts. Who is a neighbour of both
 * places is updated once, as one of the new place. */
ERGO_INLINE void lj_update_neighbours(const struct lj_home *home, lj_position old, uint has_old,
                                      lj_position new_place, uint has_new, uint item,
                                      const struct lj_member *m, long *virial, long *contacts) {
    const struct lj_place a = lj_place_of(home, new_place), b = lj_place_of(home, old);
    const uint split = has_new ? a.count : 0u, last = split + (has_old ? b.count : 0u);
    for (uint i = item; i < last; i += LJ_UPDATES * LJ_GROUP) {
        uint cell[LJ_UPDATES], count[LJ_UPDATES], most = 0u;
        uint4 one[LJ_UPDATES];
        ERGO_UNROLL
        for (uint k = 0u; k < LJ_UPDATES; k++) {
            const uint share = i + k * LJ_GROUP;
            struct lj_place c = a;
            if (share >= split) {
                c = b;
                c.begin -= split;
            }
            cell[k] = share < last ? lj_cell_near(home, &c, share) : 0u;
            one[k] = home->cells[cell[k]];
            count[k] = share < last ? one[k].w : 0u;
            most = count[k] > most ? count[k] : most;
        }
        for (uint s = 0u; s < most; s++) {
            float to_new[LJ_UPDATES], to_old[LJ_UPDATES];
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_UPDATES; k++)
                if (s > 0u && s < count[k])
                    one[k] = home->cells[cell[k] + s * home->plane];
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_UPDATES; k++) {
                const uint of_old = i + k * LJ_GROUP >= split;
                const float new_reach = lj_cutoff2_at(m, one[k], new_place),
                            old_reach = lj_cutoff2_at(m, one[k], old);
                to_new[k] = has_new ? lj_distance2(one[k], new_place, m->scale) : new_reach;
                to_old[k] = has_old ? lj_distance2(one[k], old, m->scale) : old_reach;
                if (s >= count[k] || (has_old && lj_same(one[k], old)) ||
                    of_old == (to_new[k] < new_reach)) {
                    to_new[k] = new_reach;
                    to_old[k] = old_reach;
                }
                if (to_new[k] >= new_reach && to_old[k] >= old_reach)
                    continue;
                /* not before: another work-item may have this particle as a neighbour of the other
                 * place, and write */
                long own = home->energies[cell[k] + s * home->plane], energy, pair_virial, contact;
                if (to_new[k] < new_reach) {
                    lj_pair_at(to_new[k], one[k], new_place, m, &energy, &pair_virial, &contact);
                    own += energy;
                    *virial += pair_virial;
                    *contacts += contact;
                }
                if (to_old[k] < old_reach) {
                    lj_pair_at(to_old[k], one[k], old, m, &energy, &pair_virial, &contact);
                    own -= energy;
                    *virial -= pair_virial;
                    *contacts -= contact;
                }
                home->energies[cell[k] + s * home->plane] = own;
            }
        }
    }
}

/* What an accepted move changes in cells and list. It is read beside the update of the neighbours,
 * which changes pair energies alone. */
struct lj_exchange {
    uint from, slot,
        left;       /* cell and slot that the particle leaves, and particles that were there */
    uint to, there; /* cell to which it goes, and particles there */
    uint4 last, last_listed; /* the last particles of the cell and of the list */
    uint entry;              /* of the list that is written */
};

ERGO_INLINE struct lj_exchange lj_exchange_of(const struct lj_home *home,
                                              const struct lj_move *move, lj_position old,
                                              uint particles) {
    struct lj_exchange e;
    e.from = lj_cell_of(home, old);
    e.to = lj_cell_of(home, move->to);
    e.slot = old.w;
    e.left = home->cells[e.from].w;
    e.there = home->cells[e.to].w;
    e.last = e.last_listed = (uint4)(0u);
    e.entry = move->kind == (uint)LJ_INSERTION ? particles : move->index;
    if (move->kind != (uint)LJ_INSERTION)
        e.last = home->cells[e.from + (e.left - 1u) * home->plane];
    if (move->kind == (uint)LJ_DELETION)
        e.last_listed = home->particles[particles - 1u];
    return e;
}

/* The last particle of a cell takes the place of one that leaves, and the last particle of the list
 * that of a deleted one. energy: the pair energy at the new place. */
ERGO_INLINE void lj_exchange_do(const struct lj_home *home, const struct lj_exchange *e,
                                const struct lj_move *move, long energy) {
    const uint4 to = (uint4)(move->to.x, move->to.y, move->to.z, 0u);
    uint there = e->there;
    if (move->kind != (uint)LJ_INSERTION) {
        __global uint4 *cell = home->cells + e->from;
        __global long *energies = home->energies + e->from;
        cell[e->slot * home->plane] = (uint4)(e->last.x, e->last.y, e->last.z, 0u);
        energies[e->slot * home->plane] = energies[(e->left - 1u) * home->plane];
        cell[0].w = e->left - 1u;
        there -= e->to == e->from ? 1u : 0u;
    }
    if (move->kind != (uint)LJ_DELETION) {
        __global uint4 *cell = home->cells + e->to;
        cell[there * home->plane] = to;
        cell[0].w = there + 1u;
        home->energies[e->to + there * home->plane] = energy;
    }
    home->particles[e->entry] = move->kind == (uint)LJ_DELETION ? e->last_listed : to;
}
#endif

#endif
