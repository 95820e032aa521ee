/*
 * Sweeps of hard spheres in global memory: a launch for each of the eight checkerboard sets, then
 * the shift. SPHERES_SLOTS: of a cell. SPHERES_LISTED: spheres around a cell that a work-item
 * lists, in private memory, or in local memory where a group has SPHERES_GROUP work-items (0:
 * private): lanes of a GPU write different entries at a time, which private memory serves one by
 * one.
 */
#include "hard_spheres/cell.h"

#if SPHERES_GROUP > 0
#define SPHERES_LIST __local uint2 *
#define SPHERES_STRIDE SPHERES_GROUP
#else
#define SPHERES_LIST uint2 *
#define SPHERES_STRIDE 1
#endif

/* Plans of the `count` sweeps that begin at `step`: plans[member][capacity]. */
__kernel void spheres_plans(__global const struct spheres_member *members, __global ulong *plans,
                            ulong step, uint count, uint capacity, uint purpose) {
    const uint k = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct spheres_member *m = &members[member];
    if (k < count)
        plans[member * capacity + k] =
            spheres_plan(SPHERES_PURPOSE_GRID + purpose, m->key0, m->key1, step + k, m->width[0],
                         m->width[1], m->width[2]);
}

ERGO_INLINE struct spheres_metric spheres_metric_of(__global const ulong *contacts, uint member) {
#ifdef SPHERES_PER_AXIS
    const struct spheres_metric m = {contacts[3u * member], contacts[3u * member + 1u],
                                     contacts[3u * member + 2u]};
#else
    const struct spheres_metric m = {contacts[member], ERGO_VOLUME_ONE, ERGO_VOLUME_ONE};
#endif
    return m;
}

/* y^2 of y along an axis with units of its own. */
#ifdef SPHERES_PER_AXIS
#define SPHERES_SCALED(y, square) ((y) * (square))
#else
#define SPHERES_SCALED(y, square) (y)
#endif

/* A listed sphere: its place from the corner of the cells around, in steps of four units, 21 bits
 * an axis. A float of it and 2^23 needs no conversion; a trial, from the middle of the cell,
 * likewise. */
ERGO_INLINE uint2 spheres_listed(uint x, uint y, uint z) {
    x >>= 2;
    y >>= 2;
    z >>= 2;
    return (uint2)(x | y << 21, y >> 11 | z << 10);
}
ERGO_INLINE float spheres_listed_from(float x, float w) {
    return 0x1p23f + 0.25f * (x + 1.5f * w - 1.5f);
}
#define SPHERES_LISTED_X(v) as_float(0x4b000000u | ((v).x & SPHERES_AXIS))
#define SPHERES_LISTED_Y(v) as_float(0x4b000000u | (((v).x >> 21 | (v).y << 11) & SPHERES_AXIS))
#define SPHERES_LISTED_Z(v) as_float(0x4b000000u | (v).y >> 10)

/* Does a sphere at (x, y, z), in units from the cell's corner, overlap one of the cells around? */
ERGO_INLINE uint spheres_overlap(__global const ulong2 *cells,
                                 __global const struct spheres_member *m,
                                 struct spheres_metric metric, uint plane, uint cx, uint cy,
                                 uint cz, int x, int y, int z) {
    for (int o = 0; o < 27; o++) {
        const int ox = o % 3 - 1, oy = o / 3 % 3 - 1, oz = o / 9 - 1;
        const uint at =
            spheres_at(m, spheres_beside(cx, ox, m->cells[0]), spheres_beside(cy, oy, m->cells[1]),
                       spheres_beside(cz, oz, m->cells[2]));
        if (o == 13)
            continue;
        SPHERES_EACH(cells, plane, at, {
            const long dx = (long)spheres_x(sphere) + (long)ox * m->width[0] - x;
            const long dy = (long)spheres_y(sphere) + (long)oy * m->width[1] - y;
            const long dz = (long)spheres_z(sphere) + (long)oz * m->width[2] - z;
            if (spheres_r2(dx, dy, dz, metric) < metric.contact)
                return 1u;
        })
    }
    return 0u;
}

/* What a cell has to know of walls and of the field, where there are any. */
struct spheres_confined {
    __global const struct ergo_walls *walls;
    __global const long *nodes;
    ulong corner[3], side[3];
};

ERGO_INLINE struct spheres_confined spheres_confined_of(__global const struct spheres_member *m,
                                                        __global const struct ergo_walls *walls,
                                                        __global const long *fields,
                                                        __global const ulong *grid, uint member,
                                                        uint cx, uint cy, uint cz) {
    const uint c[3] = {cx, cy, cz};
    struct spheres_confined f;
    f.walls = &walls[member];
    f.nodes = fields + (size_t)member * ERGO_FIELD_NODES;
    for (uint k = 0u; k < 3u; k++) {
        f.side[k] = (ulong)m->width[k] * m->cells[k];
        f.corner[k] = ergo_walls_corner(grid[3u * member + k], c[k], m->width[k], f.side[k]);
    }
    return f;
}

#ifdef SPHERES_WALLS
ERGO_INLINE uint spheres_free(const struct spheres_confined *f, int x, int y, int z) {
    const int at[3] = {x, y, z};
    uint good = 1u;
    for (uint k = 0u; k < 3u; k++) {
        const ulong place = ergo_walls_place(f->corner[k], at[k], f->side[k]);
        good &= (uint)(place >= f->walls->low[k]) & (uint)(place <= f->walls->high[k]);
    }
    return good;
}
#endif

#ifdef SPHERES_FIELD
ERGO_INLINE long spheres_energy_at(const struct spheres_confined *f, int x, int y, int z) {
    const uint axis = f->walls->axis, shift = f->walls->shift;
    const ulong place = ergo_walls_place(axis == 0u   ? f->corner[0]
                                         : axis == 1u ? f->corner[1]
                                                      : f->corner[2],
                                         axis == 0u   ? x
                                         : axis == 1u ? y
                                                      : z,
                                         axis == 0u   ? f->side[0]
                                         : axis == 1u ? f->side[1]
                                                      : f->side[2]);
    return ERGO_FIELD_AT(f->nodes, shift, place);
}
#endif

/*
 * All trials of a cell. Spheres that its own can touch are gathered once, in steps of four units.
 * Near contact a listed sphere and a trial are rounded by 1.5 and 2 units an axis, which together
 * is 2.9e-6 W and so, as W^2 is below twice contact, 8.2e-6 of contact in r^2; fp32 adds 1e-6.
 * Trials with the nearest sphere within 2^-16 of contact, and those where not all spheres are
 * listed, are decided in exact integers. Returns accepted moves, plus 2^16 if the cell has spheres.
 */
ERGO_INLINE uint spheres_update(__global ulong2 *cells, __global const struct spheres_member *m,
                                struct spheres_metric metric, uint plane, uint cx, uint cy, uint cz,
                                ulong step, uint purpose, const struct spheres_confined *confined,
                                SPHERES_LIST near) {
    const uint at = spheres_at(m, cx, cy, cz), entity = (cz * m->cells[1] + cy) * m->cells[0] + cx;
    const float wx = (float)m->width[0], wy = (float)m->width[1], wz = (float)m->width[2];
    float4 own[SPHERES_SLOTS];
    uint n = 0u, count = 0u, unlisted = 0u, accepted = 0u;
#define SPHERES_FROM_MIDDLE(x, y, z)                                                               \
    (float4)((float)spheres_x(sphere) + (x), (float)spheres_y(sphere) + (y),                       \
             (float)spheres_z(sphere) + (z), 0.0f)
    SPHERES_EACH(cells, plane, at,
                 { own[n++] = SPHERES_FROM_MIDDLE(-0.5f * wx, -0.5f * wy, -0.5f * wz); })
    if (n == 0u)
        return 0u;
    const float low = (float)metric.contact * (1.0f - SPHERES_MARGIN),
                high = (float)metric.contact * (1.0f + SPHERES_MARGIN);
#ifdef SPHERES_PER_AXIS
    const float sy = (float)metric.y * 0x1p-62f, sz = (float)metric.z * 0x1p-62f;
#endif
    for (int oz = -1; oz <= 1; oz++) {
        const uint z = spheres_beside(cz, oz, m->cells[2]);
        ulong2 ahead[9]; /* of a layer, asked for at once: one by one a GPU would wait for each */
#pragma unroll
        for (int k = 0; k < 9; k++)
            ahead[k] = cells[spheres_at(m, spheres_beside(cx, k % 3 - 1, m->cells[0]),
                                        spheres_beside(cy, k / 3 - 1, m->cells[1]), z)];
#pragma unroll
        for (int k = 0; k < 9; k++) {
            const int ox = k % 3 - 1, oy = k / 3 - 1;
            const uint next = spheres_at(m, spheres_beside(cx, ox, m->cells[0]),
                                         spheres_beside(cy, oy, m->cells[1]), z);
            if (k == 4 && oz == 0)
                continue;
            SPHERES_EACH_FROM(ahead[k], cells, plane, next, {
                const float4 v = SPHERES_FROM_MIDDLE(
                    ((float)ox - 0.5f) * wx, ((float)oy - 0.5f) * wy, ((float)oz - 0.5f) * wz);
                const float gx = fmax(fabs(v.x) - 0.5f * wx, 0.0f);
                const float gy = fmax(fabs(v.y) - 0.5f * wy, 0.0f);
                const float gz = fmax(fabs(v.z) - 0.5f * wz, 0.0f);
                if (fma(gx, gx, fma(gy, SPHERES_SCALED(gy, sy), gz * SPHERES_SCALED(gz, sz))) <
                    high) {
                    if (count < SPHERES_LISTED)
                        near[SPHERES_STRIDE * count++] =
                            spheres_listed((uint)spheres_x(sphere) + (uint)(ox + 1) * m->width[0],
                                           (uint)spheres_y(sphere) + (uint)(oy + 1) * m->width[1],
                                           (uint)spheres_z(sphere) + (uint)(oz + 1) * m->width[2]);
                    else
                        unlisted = 1u;
                }
            })
        }
    }
    struct ergo_words choices, moves;
    choices.x = moves.x = 0u;
#ifdef SPHERES_FIELD
    struct ergo_words fates;
    fates.x = 0u;
#endif
    for (uint s = 0u; s < SPHERES_MOVES; s++) {
#define SPHERES_WORDS_FOR(what, draw)                                                              \
    ergo_philox_words(entity, (uint)step, (uint)(step >> 32), ERGO_DRAW((what) + purpose, draw),   \
                      m->key0, m->key1)
#define SPHERES_WORDS(draw) SPHERES_WORDS_FOR(SPHERES_PURPOSE_CELL, draw)
        if (s % 4u == 0u)
            choices = SPHERES_WORDS(spheres_draw_choice(s));
        if (s % 2u == 0u)
            moves = SPHERES_WORDS(spheres_draw_move(s));
#ifdef SPHERES_FIELD
        if (s % 4u == 0u)
            fates = SPHERES_WORDS_FOR(SPHERES_PURPOSE_FIELD, spheres_draw_field(s));
#endif
        const uint mine = ergo_below(spheres_word(choices, s % 4u), n);
        const struct spheres_move d =
            spheres_displacement(s % 2u ? moves.z : moves.x, s % 2u ? moves.w : moves.y, m->step);
        const float x = own[mine].x + (float)d.x, y = own[mine].y + (float)d.y,
                    z = own[mine].z + (float)d.z;
        /* the last place in the cell is half a width less one unit from the middle */
        if (fabs(x + 0.5f) > 0.5f * wx || fabs(y + 0.5f) > 0.5f * wy || fabs(z + 0.5f) > 0.5f * wz)
            continue;
#ifdef SPHERES_WALLS
        const int px = (int)(x + 0.5f * wx), py = (int)(y + 0.5f * wy), pz = (int)(z + 0.5f * wz);
        if (!spheres_free(confined, px, py, pz))
            continue;
#endif
        const float bx = spheres_listed_from(x, wx), by = spheres_listed_from(y, wy),
                    bz = spheres_listed_from(z, wz);
        float least = 0.25f * high;
        for (uint i = 0u; i < count; i++) {
            const uint2 v = near[SPHERES_STRIDE * i];
            const float ux = SPHERES_LISTED_X(v) - bx, uy = SPHERES_LISTED_Y(v) - by,
                        uz = SPHERES_LISTED_Z(v) - bz;
            least = fmin(least,
                         fma(uz, SPHERES_SCALED(uz, sz), fma(uy, SPHERES_SCALED(uy, sy), ux * ux)));
        }
        least *= 16.0f;
        for (uint i = 0u; i < n; i++) {
            const float ux = own[i].x - x, uy = own[i].y - y, uz = own[i].z - z;
            if (i != mine)
                least = fmin(least, fma(uz, SPHERES_SCALED(uz, sz),
                                        fma(uy, SPHERES_SCALED(uy, sy), ux * ux)));
        }
        uint good = (uint)(least > low);
        if (good && (least < high || unlisted)) { /* seldom */
            for (uint i = 0u; i < n; i++) {
                const long dx = (long)(own[i].x - x), dy = (long)(own[i].y - y),
                           dz = (long)(own[i].z - z);
                good &= (uint)(i == mine || spheres_r2(dx, dy, dz, metric) >= metric.contact);
            }
            good &= 1u ^ spheres_overlap(cells, m, metric, plane, cx, cy, cz, (int)(x + 0.5f * wx),
                                         (int)(y + 0.5f * wy), (int)(z + 0.5f * wz));
        }
#ifdef SPHERES_FIELD
        if (good)
            good =
                ergo_field_accepts(spheres_energy_at(confined, px, py, pz) -
                                       spheres_energy_at(confined, (int)(own[mine].x + 0.5f * wx),
                                                         (int)(own[mine].y + 0.5f * wy),
                                                         (int)(own[mine].z + 0.5f * wz)),
                                   spheres_word(fates, s % 4u));
#endif
        if (good) {
            own[mine] = (float4)(x, y, z, 0.0f);
            accepted++;
        }
    }
    if (accepted) {
        ulong slots[SPHERES_SLOTS];
        for (uint i = 0u; i < n; i++)
            slots[i] = spheres_pack((int)(own[i].x + 0.5f * wx), (int)(own[i].y + 0.5f * wy),
                                    (int)(own[i].z + 0.5f * wz));
        spheres_store(cells, plane, at, slots, n);
    }
    return accepted + 0x10000u;
}

/* All cells of set number `sub` in the sweep's order; the third dimension has planes of all
 * members.
 */
__kernel void spheres_subsweep(__global ulong2 *cells,
                               __global const struct spheres_member *members,
                               __global const ulong *contacts, __global const ulong *plans,
                               __global uint *tally, __global const struct ergo_walls *walls,
                               __global const long *fields, __global const ulong *grid, ulong step,
                               uint k, uint capacity, uint sub, uint note, uint plane, uint layers,
                               uint n_members, uint purpose) {
#if SPHERES_GROUP > 0
    __local uint2 lists[SPHERES_LISTED * SPHERES_GROUP];
    SPHERES_LIST near =
        lists + ((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
                 get_local_id(0));
#else
    uint2 near[SPHERES_LISTED];
#endif
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint z = (uint)get_global_id(2) % layers, member = (uint)get_global_id(2) / layers;
    if (member >= n_members)
        return;
    __global const struct spheres_member *m = &members[member];
    if (2u * x >= m->cells[0] || 2u * y >= m->cells[1] || 2u * z >= m->cells[2])
        return;
    const uint set = (uint)(plans[member * capacity + k] >> 3u * sub) & 7u;
    const uint cx = 2u * x + (set & 1u), cy = 2u * y + (set >> 1 & 1u), cz = 2u * z + (set >> 2);
    const struct spheres_confined confined =
        spheres_confined_of(m, walls, fields, grid, member, cx, cy, cz);
    const uint done = spheres_update(cells + m->first, m, spheres_metric_of(contacts, member),
                                     plane, cx, cy, cz, step, purpose, &confined, near);
    if (note)
        tally[m->first + spheres_at(m, cx, cy, cz)] = done;
}

/* Shift the grid, into a second copy of the cells. grid: the place of cell (0, 0, 0), in units.
 * Spheres that stay in a cell keep their order, and those that enter it come after them. */
__kernel void spheres_shift(__global const ulong2 *from, __global ulong2 *to,
                            __global const struct spheres_member *members,
                            __global const ulong *plans, __global ulong *grid, uint k,
                            uint capacity, uint plane) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct spheres_member *m = &members[member];
    const uint nx = m->cells[0], ny = m->cells[1], nz = m->cells[2];
    if (id >= nx * ny * nz)
        return;
    const ulong plan = plans[member * capacity + k];
    const uint axis = (uint)(plan >> SPHERES_PLAN_AXIS) & 3u;
    const uint up = (uint)(plan >> SPHERES_PLAN_UP) & 1u;
    const int distance = (int)(plan >> SPHERES_PLAN_DISTANCE), width = (int)m->width[axis];
    /* in the order of memory: set, z, y, x */
    const uint quarter = nx / 2u * (ny / 2u) * (nz / 2u), set = id / quarter,
               in = id - set * quarter;
    const uint cx = 2u * (in % (nx / 2u)) + (set & 1u);
    const uint cy = 2u * (in / (nx / 2u) % (ny / 2u)) + (set >> 1 & 1u);
    const uint cz = 2u * (in / (nx / 2u) / (ny / 2u)) + (set >> 2);
    const int sense = up ? 1 : -1;
    const uint other = spheres_at(m, axis == 0u ? spheres_beside(cx, sense, nx) : cx,
                                  axis == 1u ? spheres_beside(cy, sense, ny) : cy,
                                  axis == 2u ? spheres_beside(cz, sense, nz) : cz);
    ulong slots[SPHERES_SLOTS];
    uint n = 0u;
    for (uint part = 0u; part < 2u; part++) {
        const int add = sense * ((part ? width : 0) - distance);
        SPHERES_EACH(from + m->first, plane, part ? other : id, {
            int x = spheres_x(sphere);
            int y = spheres_y(sphere);
            int z = spheres_z(sphere);
            const int moved = (axis == 0u ? x : axis == 1u ? y : z) + add;
            x = axis == 0u ? moved : x;
            y = axis == 1u ? moved : y;
            z = axis == 2u ? moved : z;
            if (moved >= 0 && moved < width && n < SPHERES_SLOTS)
                slots[n++] = spheres_pack(x, y, z);
        })
    }
    spheres_store(to + m->first, plane, id, slots, n);
    if (id == 0u)
        grid[3u * member + axis] =
            spheres_grid(grid[3u * member + axis], plan, (ulong)width * m->cells[axis]);
}
