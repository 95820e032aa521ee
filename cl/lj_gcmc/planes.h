/*
 * Cells in planes, one particle of every cell behind another's, with lists of those within the
 * cutoff, and the particles' pair energies beside them: for GPUs. Part of gather.h.
 */
#ifndef ERGO_CL_LJ_GCMC_PLANES_H
#define ERGO_CL_LJ_GCMC_PLANES_H

/*
 * Cells within the cutoff of a part of a cell: the corner of a half that is nearest the cell's own
 * corner, in LJ_PARTS along each axis; other corners are mirror images. The list of each part
 * begins at .x, has .y offsets, those first .z where a core may be hit; an offset is in units of
 * 2^-32 of the sides, so that what crosses the box's edge comes back by itself.
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

/* The cell of offset i from c. */
ERGO_INLINE uint lj_cell_near(const struct lj_home *home, const struct lj_place *c, uint i) {
    const uint4 by = home->lists[c->begin + i];
    return (mul_hi(c->z + c->sz * by.z, (uint)LJ_NZ) * (uint)LJ_NY +
            mul_hi(c->y + c->sy * by.y, (uint)LJ_NY)) *
               (uint)LJ_NX +
           mul_hi(c->x + c->sx * by.x, (uint)LJ_NX);
}

/* Shares item, item + stride, ... of those cells of the neighbourhood of `at`, LJ_LANES to a cell.
 * LJ_AT_ONCE are asked for before the first is looked at: a cell of a chain among thousands comes
 * from afar. With LJ_OWN the nearest are only asked for a core that is hit, and the rest are all.
 */
#define LJ_AT_ONCE 4u
ERGO_INLINE void lj_scan(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint is_new, uint which, uint item, uint stride,
                         const struct lj_member *m, struct lj_sum *sum) {
    const struct lj_place c = lj_place_of(home, at);
    const uint last = (which == LJ_NEAREST ? c.near : c.count) * LJ_LANES;
#ifdef LJ_OWN
    const uint first = 0u, cores = which == LJ_NEAREST;
#else
    const uint first = which == LJ_REST ? c.near * LJ_LANES : 0u, cores = 0u;
#endif
    for (uint i = first + item; i < last; i += LJ_AT_ONCE * stride) {
        uint cell[LJ_AT_ONCE], count[LJ_AT_ONCE], most = 0u;
        uint4 one[LJ_AT_ONCE];
        ERGO_UNROLL
        for (uint k = 0u; k < LJ_AT_ONCE; k++) {
            const uint share = i + k * stride;
            count[k] = 0u;
            cell[k] = share < last ? lj_cell_near(home, &c, share / LJ_LANES) : 0u;
            one[k] = home->cells[cell[k]];
            count[k] = share < last ? one[k].w : 0u;
            most = count[k] > most ? count[k] : most;
        }
        for (uint t = 0u; t < most; t += LJ_LANES) {
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                const uint s = t + (i + k * stride) % LJ_LANES;
                if (s > 0u && s < count[k])
                    one[k] = home->cells[cell[k] + s * home->plane];
            }
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++)
                if (t + (i + k * stride) % LJ_LANES < count[k])
                    lj_visit(one[k], at, away, has_away, is_new, cores, m, sum);
        }
    }
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

ERGO_INLINE void lj_cell_add(const struct lj_home *home, lj_position p) {
    __global uint4 *cell = home->cells + lj_cell_of(p);
    const uint count = cell[0].w;
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
#ifdef LJ_OWN
    __global long *own = home->own + lj_cell_of(p);
    own[s * home->plane] = own[(count - 1u) * home->plane];
#endif
}

#ifdef LJ_OWN
/* The pair energy of the particle at p. */
ERGO_INLINE __global long *lj_own_at(const struct lj_home *home, lj_position p) {
    ulong at = lj_cell_of(p);
    for (uint s = 1u; s < home->slots && !lj_same(home->cells[at], p); s++)
        at += home->plane;
    return home->own + at;
}

/* A particle comes to (is_new) or leaves `at`: the pair energies of its neighbours, but for the
 * one at `away`, and this work-item's share of the virial and the contacts. */
ERGO_INLINE void lj_tell(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint is_new, uint item, uint items,
                         const struct lj_member *m, long *virial, long *contacts) {
    const struct lj_place c = lj_place_of(home, at);
    const uint last = c.count * LJ_LANES;
    for (uint i = item; i < last; i += LJ_AT_ONCE * items) {
        uint cell[LJ_AT_ONCE], count[LJ_AT_ONCE], most = 0u;
        uint4 one[LJ_AT_ONCE];
        ERGO_UNROLL
        for (uint k = 0u; k < LJ_AT_ONCE; k++) {
            const uint share = i + k * items;
            cell[k] = share < last ? lj_cell_near(home, &c, share / LJ_LANES) : 0u;
            one[k] = home->cells[cell[k]];
            count[k] = share < last ? one[k].w : 0u;
            most = count[k] > most ? count[k] : most;
        }
        for (uint t = 0u; t < most; t += LJ_LANES) {
            float r2[LJ_AT_ONCE];
            long own[LJ_AT_ONCE];
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                const uint s = t + (i + k * items) % LJ_LANES;
                if (s > 0u && s < count[k])
                    one[k] = home->cells[cell[k] + s * home->plane];
            }
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                const uint s = t + (i + k * items) % LJ_LANES;
                r2[k] = lj_distance2(one[k], at, m->scale);
                if (s >= count[k] || (has_away && lj_same(one[k], away)))
                    r2[k] = m->cutoff2;
                own[k] = 0;
                if (r2[k] < m->cutoff2)
                    own[k] = home->own[cell[k] + s * home->plane];
            }
            ERGO_UNROLL
            for (uint k = 0u; k < LJ_AT_ONCE; k++) {
                const uint s = t + (i + k * items) % LJ_LANES;
                long energy, pair_virial;
                if (r2[k] >= m->cutoff2)
                    continue;
                lj_pair(r2[k], m->shift, &energy, &pair_virial);
                home->own[cell[k] + s * home->plane] = own[k] + (is_new ? energy : -energy);
                *virial += is_new ? pair_virial : -pair_virial;
                const long contact = lj_contact(r2[k], m);
                *contacts += is_new ? contact : -contact;
            }
        }
    }
}
#endif

#endif
