/*
 * The neighbours of a trial move, found in one of three ways; which one never changes a sum.
 *
 * LJ_CELLS 0: all particles. Otherwise cells of equal size, LJ_NX x LJ_NY x LJ_NZ, whatever the
 * sides of the box: cell = floor(fraction x cells), so there is no thin last cell. LJ_OFFSETS
 * neighbour offsets, nearest first, made by the host such that every cell within the cutoff comes
 * once, also where the box has few cells. LJ_LANES work-items share a cell.
 *
 * A cell's particles: plane s holds the s-th particle of every cell of every chain; .w of plane 0
 * is their number. With LJ_SLOTTED, for CPUs, a cell's particles are together instead, coordinate
 * by coordinate, and a group of one looks at eight of them at once.
 *
 * With LJ_OWN each particle's pair energy is kept beside its position, as the integer that a sum
 * would give: what a deletion or a displacement takes away is read, not summed. An accepted move
 * tells its neighbours; few are accepted.
 */
#ifndef ERGO_CL_LJ_GCMC_GATHER_H
#define ERGO_CL_LJ_GCMC_GATHER_H

#include "lj_gcmc/core.h"
#include "lj_gcmc/pairs8.h"

#if LJ_CELLS
#define LJ_GRID ((uint)(LJ_NX) * (LJ_NY) * (LJ_NZ))
enum lj_which { LJ_NEAREST, LJ_REST, LJ_ALL }; /* of the cells within the cutoff */
#endif

/* A chain's memory. */
struct lj_home {
    __global uint4 *particles;    /* [capacity] */
    __global uint4 *cells;        /* plane 0; the next is `plane` further */
    __global const uint *offsets; /* LJ_SLOTTED */
    __global const uint4 *lists;  /* else */
    ulong plane;
    uint capacity, slots;
#ifdef LJ_OWN
    __global long *own; /* as the cells: a particle's sum over its pairs */
#endif
};

ERGO_INLINE lj_position lj_position_of(uint4 p) {
    return p;
}

ERGO_INLINE uint lj_same(lj_position a, lj_position b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* One pair. `away` is the place the moving particle has or had: no partner of its own. cores: no
 * sum, only whether a core is hit. */
ERGO_INLINE void lj_visit(lj_position q, lj_position at, lj_position away, uint has_away,
                          uint is_new, uint cores, const struct lj_member *m, struct lj_sum *sum) {
    const float r2 = lj_distance2(q, at, m->scale);
    if (r2 >= (cores ? m->core2 : m->cutoff2) || (has_away && lj_same(q, away)))
        return;
    if (r2 < m->core2) {
        sum->overlap = 1u;
        return;
    }
#ifdef LJ_QUEUE
    if (sum->queued < LJ_QUEUE) {
        sum->queue[LJ_GROUP * sum->queued++] = is_new ? r2 : -r2;
        return;
    }
#endif
    long energy, virial;
    lj_pair(r2, m->shift, &energy, &virial);
    sum->energy += is_new ? energy : -energy;
    sum->virial += is_new ? virial : -virial;
}

#ifdef LJ_QUEUE
/* The pairs that were put aside. */
ERGO_INLINE void lj_visit_queued(const struct lj_member *m, struct lj_sum *sum) {
    for (uint k = 0u; k < sum->queued; k++) {
        const float r2 = sum->queue[LJ_GROUP * k];
        long energy, virial;
        lj_pair(fabs(r2), m->shift, &energy, &virial);
        sum->energy += r2 > 0.0f ? energy : -energy;
        sum->virial += r2 > 0.0f ? virial : -virial;
    }
}
#endif

#if LJ_CELLS
#ifdef LJ_SLOTTED
/* Where a position is in the grid, and, for culling, where in its cell. */
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
#endif

ERGO_INLINE uint lj_cell_of(lj_position p) {
    return (mul_hi(p.z, (uint)LJ_NZ) * (uint)LJ_NY + mul_hi(p.y, (uint)LJ_NY)) * (uint)LJ_NX +
           mul_hi(p.x, (uint)LJ_NX);
}

ERGO_INLINE int lj_wrap(int c, int n) {
    c += c < 0 ? n : 0;
    return c >= n ? c - n : c;
}

#ifdef LJ_SLOTTED
/* Distance from a place to the cell d further along an axis, in cells. */
ERGO_INLINE float lj_gap(int d, float f) {
    return d > 0 ? (float)d - f : d < 0 ? f - (float)(d + 1) : 0.0f;
}

/* The cell of offset i from c; LJ_FAR when it is farther than reach2. */
#define LJ_FAR 0xffffffffu
ERGO_INLINE uint lj_cell_near(const struct lj_home *home, const struct lj_place *c, uint i,
                              float reach2, const struct lj_member *m) {
    const uint packed = home->offsets[i];
    const int dx = (int)(packed << 24) >> 24, dy = (int)(packed << 16) >> 24,
              dz = (int)(packed << 8) >> 24;
#if LJ_CULL
    /* The factor 1.0001 covers the rounding of gaps: it may cost a cell, never a pair. */
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

/* Numbers of particles, behind the words of all cells. */
ERGO_INLINE __global uint *lj_cell_counts(const struct lj_home *home) {
    return (__global uint *)home->cells + (ulong)LJ_GRID * 3UL * home->slots;
}

/* Cells of the neighbourhood of `at`; a group of one. */
ERGO_INLINE void lj_scan(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint is_new, uint which, uint item, uint stride,
                         const struct lj_member *m, struct lj_sum *sum) {
    const struct lj_place c = lj_place_of(at);
    const uint first = (which == LJ_REST ? LJ_NEAR : 0u) + item;
    const uint last = which == LJ_NEAREST ? LJ_NEAR : LJ_OFFSETS;
    const uint slots = home->slots;
    const int8 keep = (int8)(has_away ? 0 : -1);
    struct lj_sum8 eight = {(long8)(0L), (long8)(0L), 0u};
    for (uint i = first; i < last && !eight.overlap; i += stride) {
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

#else

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
 * one at `away`, and this work-item's share of the virial. */
ERGO_INLINE void lj_tell(const struct lj_home *home, lj_position at, lj_position away,
                         uint has_away, uint is_new, uint item, uint items,
                         const struct lj_member *m, long *virial) {
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
            }
        }
    }
}
#endif
#endif
#endif

#ifdef LJ_OWN
#define LJ_OLD_SUMMED 0u
#else
#define LJ_OLD_SUMMED 1u
#endif

/* The sums that a trial move changes, the share of one work-item: phase 0 the nearest cells of the
 * new position, where a core may be hit; phase 1 the rest (with LJ_OWN all), and the old position.
 */
ERGO_INLINE void lj_gather(const struct lj_home *home, const struct lj_move *move, lj_position from,
                           uint particles, uint phase, uint item, uint items,
                           const struct lj_member *m, struct lj_sum *sum) {
    const uint has_old = move->kind != (uint)LJ_INSERTION;
    const uint has_new = move->kind != (uint)LJ_DELETION;
    if (m->ideal || move->idle)
        return;
#if LJ_CELLS
    /* new, then old: one loop around one copy of the code, for compilers that inline everything */
    for (uint side = has_new ? 0u : 1u; side < (has_old && phase && LJ_OLD_SUMMED ? 2u : 1u);
         side++)
        lj_scan(home, side ? from : move->to, from, has_old, 1u - side,
                side    ? LJ_ALL
                : phase ? LJ_REST
                        : LJ_NEAREST,
                item, items, m, sum);
#else
    if (phase == 0u)
        return;
    for (uint j = item; j < particles; j += items) {
        const lj_position q = lj_position_of(home->particles[j]);
        for (uint side = has_new ? 0u : 1u; side < (has_old ? 2u : 1u); side++)
            lj_visit(q, side ? from : move->to, from, has_old, 1u - side, 0u, m, sum);
    }
#endif
}

/* Would the accepted move need more room than there is? LJ_RUNNING: no. */
ERGO_INLINE uint lj_room(const struct lj_home *home, const struct lj_move *move, lj_position from,
                         uint particles) {
    if (move->kind == (uint)LJ_INSERTION && particles >= home->capacity)
        return (uint)LJ_PARTICLES_FULL;
#if LJ_CELLS
    if (move->kind == (uint)LJ_DELETION ||
        (move->kind == (uint)LJ_DISPLACEMENT && lj_cell_of(from) == lj_cell_of(move->to)))
        return (uint)LJ_RUNNING;
    return lj_is_full(home, move->to) ? (uint)LJ_CELL_FULL : (uint)LJ_RUNNING;
#else
    return (uint)LJ_RUNNING;
#endif
}

/* Carry out an accepted move; the last particle fills the place of a deleted one. own: the pair
 * energy at the new place, with LJ_OWN. */
ERGO_INLINE void lj_apply(const struct lj_home *home, const struct lj_move *move, lj_position from,
                          uint particles, long own) {
#ifndef LJ_OWN
    (void)own;
#endif
    const uint4 to = (uint4)(move->to.x, move->to.y, move->to.z, 0u);
#if LJ_CELLS
    if (move->kind != (uint)LJ_INSERTION)
        lj_cell_remove(home, from);
#ifdef LJ_OWN
    if (move->kind != (uint)LJ_DELETION) {
        const uint cell = lj_cell_of(move->to);
        home->own[cell + home->cells[cell].w * home->plane] = own;
    }
#endif
    if (move->kind != (uint)LJ_DELETION)
        lj_cell_add(home, move->to);
#endif
    if (move->kind == (uint)LJ_DELETION)
        home->particles[move->index] = home->particles[particles - 1u];
    else
        home->particles[move->kind == (uint)LJ_INSERTION ? particles : move->index] = to;
}

#endif
