/*
 * Sweeps of hard spheres in global memory: a launch for each of the eight checkerboard sets, then
 * the shift. SPHERES_SLOTS: of a cell. SPHERES_TEAM: work-items with consecutive numbers that do
 * one cell's trials together; a group has SPHERES_GROUP. SPHERES_LISTED, a multiple of twice them:
 * spheres of a cell and around it that a team keeps at hand, with SPHERES_LOCAL in local memory, as
 * teams of several need. SPHERES_WARP: teams do not cross warps.
 */
#include "hard_spheres/cell.h"

/* Lists are in local memory with SPHERES_LOCAL, and so is what teams share. */
#ifdef SPHERES_LOCAL
#define SPHERES_LIST __local
#else
#define SPHERES_LIST
#endif
#if SPHERES_TEAM > 1
#define SPHERES_MINE __local
#else
#define SPHERES_MINE
#endif

/* Between lists, which end with entries that nobody reads, one for each work-item. Neighbouring
 * teams read the same entries at a time: an odd number of rows apart, these are in other banks of
 * local memory. */
#define SPHERES_APART ((SPHERES_LISTED / SPHERES_TEAM + 1u | 1u) * SPHERES_TEAM)

#if SPHERES_TEAM == 1
#define SPHERES_SYNC(flags)
#elif defined(SPHERES_WARP)
#include "common/warp.h"
#define SPHERES_SYNC(flags) ergo_warp_sync()
#else
#define SPHERES_SYNC(flags) barrier(flags)
#endif

/* Random numbers of four moves: a block for the choice of spheres, two for displacements, and one
 * for fates in a field. */
#ifdef SPHERES_FIELD
#define SPHERES_BLOCKS 4u
#else
#define SPHERES_BLOCKS 3u
#endif

/* Around a cell are two cells beside it along x, and eight rows of three, on two sides: row q is on
 * side q % 2. Of a work-item are so many, of which some are asked for at once. */
#define SPHERES_ROWS (8u / SPHERES_TEAM)
#define SPHERES_AT_ONCE (SPHERES_ROWS < 2u ? 1u : 2u)
#define SPHERES_BESIDE (SPHERES_TEAM > 1u ? 1u : 2u)
ERGO_INLINE int spheres_side(uint q) {
    return q % 2u ? 1 : -1;
}
ERGO_INLINE int spheres_row_y(uint q) {
    return q < 6u ? (int)(q / 2u) - 1 : spheres_side(q);
}
ERGO_INLINE int spheres_row_z(uint q) {
    return q < 6u ? spheres_side(q) : 0;
}

/* What work-items of a team share. */
struct spheres_shared {
    SPHERES_LIST float4 *near;  /* [SPHERES_LISTED]: spheres; w: the square from the origin */
    SPHERES_MINE uint4 *words;  /* [4]: random numbers */
    SPHERES_MINE float4 *moves; /* [4]: displacements; w: of which sphere, as bits */
    SPHERES_MINE uint *count;   /* spheres that were met */
    SPHERES_MINE float *least;  /* [SPHERES_TEAM] */
};

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

/* Room for k more spheres in the list: where the first one goes. */
ERGO_INLINE uint spheres_reserve(SPHERES_MINE uint *count, uint k) {
#if SPHERES_TEAM > 1
    return atomic_add((volatile __local uint *)count, k);
#else
    const uint first = *count;
    *count += k;
    return first;
#endif
}

/* The smallest of a team's. */
ERGO_INLINE float spheres_least(const struct spheres_shared *shared, uint lane, float x) {
#if SPHERES_TEAM == 1
    return x;
#elif defined(SPHERES_WARP)
    return ergo_warp_least(x, SPHERES_TEAM);
#else
    shared->least[lane] = x;
    SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0u; i < SPHERES_TEAM; i++)
        x = fmin(x, shared->least[i]);
    return x;
#endif
}

/* With it r^2 is x^2 + y^2 + z^2 of three differences, along axes with units of their own. */
struct spheres_scale {
    float y, z;
};
ERGO_INLINE float spheres_square(float4 v, struct spheres_scale scale) {
    return fma(v.z, SPHERES_SCALED(v.z, scale.z),
               fma(v.y, SPHERES_SCALED(v.y, scale.y), v.x * v.x));
}

/* A sphere's place from the middle of the team's cell, in whole units and exact; c: where the
 * corner of its cell is, less 2^23. */
ERGO_INLINE float4 spheres_place(ulong sphere, float4 c, struct spheres_scale scale) {
    const uint low = (uint)sphere, high = (uint)(sphere >> 32);
    float4 v = (float4)(as_float(0x4b000000u | (low & SPHERES_AXIS)) + c.x,
                        as_float(0x4b000000u | ((low >> 21 | high << 11) & SPHERES_AXIS)) + c.y,
                        as_float(0x4b000000u | (high >> 10 & SPHERES_AXIS)) + c.z, 0.0f);
    v.w = spheres_square(v, scale);
    return v;
}

/* The corner of the cell that is (ox, oy, oz) away. */
ERGO_INLINE float4 spheres_corner(__global const struct spheres_member *m, int ox, int oy, int oz) {
    const int x = ox * (int)m->width[0] - (int)(m->width[0] / 2u),
              y = oy * (int)m->width[1] - (int)(m->width[1] / 2u),
              z = oz * (int)m->width[2] - (int)(m->width[2] / 2u);
    return (float4)((float)x, (float)y, (float)z, 0.0f) - (float4)(0x1p23f);
}

/* Random numbers of four moves, from move s on. */
ERGO_INLINE void spheres_words(const struct spheres_shared *shared,
                               __global const struct spheres_member *m, uint entity, ulong step,
                               uint purpose, uint s, uint lane) {
    for (uint b = lane; b < SPHERES_BLOCKS; b += SPHERES_TEAM) {
        const uint what =
            b < 3u ? ERGO_DRAW(SPHERES_PURPOSE_CELL + purpose, spheres_draw_choice(s) + b)
                   : ERGO_DRAW(SPHERES_PURPOSE_FIELD + purpose, spheres_draw_field(s));
        const struct ergo_words r =
            ergo_philox_words(entity, (uint)step, (uint)(step >> 32), what, m->key0, m->key1);
        shared->words[b] = (uint4)(r.x, r.y, r.z, r.w);
    }
}

ERGO_INLINE uint spheres_of_four(uint4 words, uint k) {
    return k == 0u ? words.x : k == 1u ? words.y : k == 2u ? words.z : words.w;
}

/* The trials from these, in a cell with n spheres. */
ERGO_INLINE void spheres_trials(const struct spheres_shared *shared,
                                __global const struct spheres_member *m, uint n, uint lane) {
    for (uint t = lane; t < 4u; t += SPHERES_TEAM) {
        const uint4 choices = shared->words[0], moves = shared->words[1u + t / 2u];
        const struct spheres_move d =
            spheres_displacement(t % 2u ? moves.z : moves.x, t % 2u ? moves.w : moves.y, m->step);
        shared->moves[t] = (float4)((float)d.x, (float)d.y, (float)d.z,
                                    as_float(ergo_below(spheres_of_four(choices, t), n)));
    }
}

/* Two slots of a cell: how many spheres they have, and whether others follow. */
ERGO_INLINE uint spheres_of_pair(ulong2 pair) {
    return (uint)(pair.x >> 32 != SPHERES_EMPTY >> 32) + (uint)(pair.x >> 63);
}
ERGO_INLINE uint spheres_has_more(ulong2 pair) {
    return (uint)((pair.x & pair.y) >> 63);
}

/* List one or two spheres. Without branches, because each of a warp's work-items goes another way:
 * what is no sphere, or has no room, goes aside. */
ERGO_INLINE uint spheres_list_pair(const struct spheres_shared *shared, uint i, uint room,
                                   uint aside, ulong2 pair, float4 corner,
                                   struct spheres_scale scale) {
    const uint one = (uint)(pair.x >> 32 != SPHERES_EMPTY >> 32), two = (uint)(pair.x >> 63);
    shared->near[room & one ? i : aside] = spheres_place(pair.x, corner, scale);
    shared->near[room & two ? i + one : aside] = spheres_place(pair.y, corner, scale);
    return i + one + two;
}

/* List what the planes after the first have of the cell at `at`, which is rare. */
ERGO_INLINE void spheres_list_more(const struct spheres_shared *shared,
                                   __global const ulong2 *cells, uint plane, uint at, uint n,
                                   uint aside, float4 corner, struct spheres_scale scale) {
    uint go = 1u;
    for (uint p = 1u; go && p < SPHERES_SLOTS / 2u; p++) {
        const ulong2 pair = cells[(size_t)p * plane + at];
        const uint some = spheres_of_pair(pair), i = n + spheres_reserve(shared->count, some);
        spheres_list_pair(shared, i, (uint)(i + some <= SPHERES_LISTED), aside, pair, corner,
                          scale);
        go = spheres_has_more(pair);
    }
}

/* The first planes of a work-item's rows from row q on; along: where cells of a row are. */
ERGO_INLINE void spheres_ask(__global const ulong2 *cells, __global const struct spheres_member *m,
                             const uint along[3], uint cy, uint cz, uint q,
                             ulong2 pairs[3u * SPHERES_AT_ONCE]) {
#pragma unroll
    for (uint j = 0u; j < SPHERES_AT_ONCE; j++) {
        const uint r = q + j * SPHERES_TEAM;
        const uint row = spheres_at(m, 0u, spheres_beside(cy, spheres_row_y(r), m->cells[1]), 0u) +
                         spheres_at(m, 0u, 0u, spheres_beside(cz, spheres_row_z(r), m->cells[2]));
#pragma unroll
        for (uint k = 0u; k < 3u; k++)
            pairs[3u * j + k] = cells[row + along[k]];
    }
}

/* Does a trial at v overlap any of the listed spheres that this work-item looks at? Exact. */
ERGO_INLINE uint spheres_touches(const struct spheres_shared *shared, struct spheres_metric metric,
                                 float4 v, uint mine, uint lane, uint count) {
    uint touches = 0u;
    for (uint i = lane; i < count; i += SPHERES_TEAM) {
        const float4 u = shared->near[i];
        touches |= (uint)(i != mine && spheres_r2((long)(u.x - v.x), (long)(u.y - v.y),
                                                  (long)(u.z - v.z), metric) < metric.contact);
    }
    return touches;
}

/*
 * All trials of a cell by a team; all of its work-items have the same places, which are integers in
 * floats. The list has the spheres of the cell first, then all around, if there is room for them.
 *
 * r^2 of a pair is x^2 + v^2 - 2 x v. With W the width of the cell, |x| is at most W/2 along an
 * axis, |v| 3 W/2. 12 roundings of at most 2^-24 of what is added up, and two more for each axis
 * with units of its own, are below 2^-18.5 W^2, and W^2 is below twice contact. Where that of the
 * nearest sphere is within SPHERES_MARGIN of contact, integers decide.
 *
 * n: spheres in the cell, 0 for one that is none. Returns accepted moves, plus 2^16 if the cell has
 * spheres.
 */
ERGO_INLINE uint spheres_update(__global ulong2 *cells, __global const struct spheres_member *m,
                                struct spheres_metric metric, uint plane, uint cx, uint cy, uint cz,
                                ulong step, uint purpose, const struct spheres_confined *confined,
                                uint is, uint lane, const struct spheres_shared *shared) {
    const uint at = spheres_at(m, cx, cy, cz), entity = (cz * m->cells[1] + cy) * m->cells[0] + cx;
    const float contact = (float)metric.contact;
    const float4 far = (float4)(0.0f, 0.0f, 0.0f, 0x1p60f);
    const uint aside = SPHERES_LISTED + lane;
    struct spheres_scale scale;
#ifdef SPHERES_PER_AXIS
    scale.y = (float)metric.y * 0x1p-62f;
    scale.z = (float)metric.z * 0x1p-62f;
#else
    scale.y = scale.z = 1.0f;
#endif
    const ulong2 none = (ulong2)(SPHERES_EMPTY, SPHERES_EMPTY);
    ulong2 own_pair = none, beside[SPHERES_BESIDE], pairs[3u * SPHERES_AT_ONCE];
    uint along[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        along[k] = spheres_at(m, spheres_beside(cx, k - 1, m->cells[0]), 0u, 0u);
    if (is) {
        own_pair = cells[at];
#pragma unroll
        for (uint j = 0u; j < SPHERES_BESIDE; j++) {
            const uint q = lane + j;
            beside[j] = q < 2u ? cells[at - along[1] + (q ? along[2] : along[0])] : none;
        }
        spheres_ask(cells, m, along, cy, cz, lane, pairs);
    }
    if (lane == 0u)
        *shared->count = 0u;
    spheres_words(shared, m, entity, step, purpose, 0u, lane);
    SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
    uint n = is ? spheres_of_pair(own_pair) : 0u, accepted = 0u;
    if (n) {
        const float4 corner = spheres_corner(m, 0, 0, 0);
        if (lane == 0u)
            spheres_list_pair(shared, 0u, 1u, aside, own_pair, corner, scale);
        if (spheres_has_more(own_pair))
            SPHERES_EACH_FROM(1u, cells, plane, at, {
                if (lane == 0u)
                    shared->near[n] = spheres_place(sphere, corner, scale);
                n++;
            })
        uint more = 0u; /* cells with more than two spheres, as bits of (x, y, z) + 1 in base 3 */
#pragma unroll
        for (uint j = 0u; j < SPHERES_BESIDE; j++) {
            const uint some = spheres_of_pair(beside[j]),
                       i = n + spheres_reserve(shared->count, some);
            const int ox = spheres_side(lane + j);
            spheres_list_pair(shared, i, (uint)(i + some <= SPHERES_LISTED), aside, beside[j],
                              spheres_corner(m, ox, 0, 0), scale);
            more |= spheres_has_more(beside[j]) << (uint)(13 + ox);
        }
#pragma unroll
        for (uint first = 0u; first < SPHERES_ROWS; first += SPHERES_AT_ONCE) {
            if (first > 0u)
                spheres_ask(cells, m, along, cy, cz, lane + first * SPHERES_TEAM, pairs);
            uint some = 0u;
#pragma unroll
            for (uint j = 0u; j < 3u * SPHERES_AT_ONCE; j++)
                some += spheres_of_pair(pairs[j]);
            uint i = n + spheres_reserve(shared->count, some);
            const uint room = (uint)(i + some <= SPHERES_LISTED);
#pragma unroll
            for (uint j = 0u; j < 3u * SPHERES_AT_ONCE; j++) {
                const uint q = lane + (first + j / 3u) * SPHERES_TEAM;
                const int ox = (int)(j % 3u) - 1, oy = spheres_row_y(q), oz = spheres_row_z(q);
                i = spheres_list_pair(shared, i, room, aside, pairs[j],
                                      spheres_corner(m, ox, oy, oz), scale);
                more |= spheres_has_more(pairs[j]) << (uint)(13 + ox + 3 * oy + 9 * oz);
            }
        }
        ERGO_ROLLED
        for (; more; more &= more - 1u) {
            const int o = 31 - (int)ERGO_CLZ(more & (0u - more));
            const int ox = o % 3 - 1, oy = o / 3 % 3 - 1, oz = o / 9 - 1;
            spheres_list_more(shared, cells, plane,
                              spheres_at(m, spheres_beside(cx, ox, m->cells[0]),
                                         spheres_beside(cy, oy, m->cells[1]),
                                         spheres_beside(cz, oz, m->cells[2])),
                              n, aside, spheres_corner(m, ox, oy, oz), scale);
        }
    }
    spheres_trials(shared, m, n, lane);
    /* all have read the cell, too */
    SPHERES_SYNC(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint met = n + *shared->count, unlisted = (uint)(met > SPHERES_LISTED);
    const uint count = unlisted ? n : met;
    const uint end = (count + 2u * SPHERES_TEAM - 1u) / (2u * SPHERES_TEAM) * 2u * SPHERES_TEAM;
    for (uint i = count + lane; i < end; i += SPHERES_TEAM) /* so that two rows go at a time */
        shared->near[i] = far;
    const float low_x = -(float)(m->width[0] / 2u), high_x = low_x + (float)m->width[0],
                low_y = -(float)(m->width[1] / 2u), high_y = low_y + (float)m->width[1],
                low_z = -(float)(m->width[2] / 2u), high_z = low_z + (float)m->width[2];
    ERGO_ROLLED
    for (uint s = 0u; s < SPHERES_MOVES; s++) {
        if (s % 4u == 0u && s > 0u) {
            spheres_words(shared, m, entity, step, purpose, s, lane);
            SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
            spheres_trials(shared, m, n, lane);
            SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
        }
        const float4 d = shared->moves[s % 4u];
        const uint mine = as_uint(d.w);
        const float4 own = n ? shared->near[mine] : far;
        float4 v = (float4)(own.x + d.x, own.y + d.y, own.z + d.z, 0.0f);
        v.w = spheres_square(v, scale);
        uint good = (uint)(n > 0u && v.x >= low_x && v.x < high_x && v.y >= low_y && v.y < high_y &&
                           v.z >= low_z && v.z < high_z);
        SPHERES_SYNC(CLK_LOCAL_MEM_FENCE); /* all have read it */
        if (n && lane == 0u)
            shared->near[mine] = far;
        SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
#ifdef SPHERES_WALLS
        if (good)
            good =
                spheres_free(confined, (int)(v.x - low_x), (int)(v.y - low_y), (int)(v.z - low_z));
#endif
        float least = 0x1p60f;
        if (good) {
            const float bx = -2.0f * v.x, by = -2.0f * SPHERES_SCALED(v.y, scale.y),
                        bz = -2.0f * SPHERES_SCALED(v.z, scale.z);
            for (uint i = lane; i < end; i += 2u * SPHERES_TEAM) {
                const float4 u = shared->near[i], w = shared->near[i + SPHERES_TEAM];
                least = fmin(least, fma(u.x, bx, fma(u.y, by, fma(u.z, bz, u.w))));
                least = fmin(least, fma(w.x, bx, fma(w.y, by, fma(w.z, bz, w.w))));
            }
            least += v.w;
            if (fabs(least - contact) < SPHERES_MARGIN * contact) /* seldom */
                least = spheres_touches(shared, metric, v, mine, lane, count) ? 0.0f : 0x1p60f;
        }
        good &= (uint)(spheres_least(shared, lane, least) > contact);
        if (good && unlisted) /* seldom */
            good ^= spheres_overlap(cells, m, metric, plane, cx, cy, cz, (int)(v.x - low_x),
                                    (int)(v.y - low_y), (int)(v.z - low_z));
#ifdef SPHERES_FIELD
        if (good) {
            good = ergo_field_accepts(spheres_energy_at(confined, (int)(v.x - low_x),
                                                        (int)(v.y - low_y), (int)(v.z - low_z)) -
                                          spheres_energy_at(confined, (int)(own.x - low_x),
                                                            (int)(own.y - low_y),
                                                            (int)(own.z - low_z)),
                                      spheres_of_four(shared->words[3], s % 4u));
        }
#endif
        if (n && lane == 0u)
            shared->near[mine] = good ? v : own;
        accepted += good;
        SPHERES_SYNC(CLK_LOCAL_MEM_FENCE);
    }
    if (accepted)
        for (uint p = lane; 2u * p < n; p += SPHERES_TEAM) {
            ulong slots[2];
            for (uint k = 0u; k < 2u; k++) {
                const uint i = 2u * p + k;
                const float4 v = shared->near[i < n ? i : 0u];
                slots[k] = (i < n ? spheres_pack((int)(v.x - low_x), (int)(v.y - low_y),
                                                 (int)(v.z - low_z))
                                  : SPHERES_EMPTY) |
                           (i + 1u < n ? SPHERES_NEXT : 0UL);
            }
            cells[(size_t)p * plane + at] = (ulong2)(slots[0], slots[1]);
        }
    return n ? accepted + 0x10000u : 0u;
}

/* All cells of set number `sub` in the sweep's order. */
__kernel __attribute__((reqd_work_group_size(SPHERES_GROUP, 1, 1))) void
spheres_subsweep(__global ulong2 *restrict cells,
                 __global const struct spheres_member *restrict members,
                 __global const ulong *contacts, __global const ulong *plans, __global uint *tally,
                 __global const struct ergo_walls *walls, __global const long *fields,
                 __global const ulong *grid, ulong step, uint k, uint capacity, uint sub, uint note,
                 uint plane, uint purpose) {
    const uint item = (uint)get_local_id(0), lane = item % SPHERES_TEAM, team = item / SPHERES_TEAM;
#ifdef SPHERES_LOCAL
    __local float4 lists[SPHERES_APART * SPHERES_GROUP / SPHERES_TEAM];
    __local float4 *near = lists + SPHERES_APART * team;
#else
    float4 near[SPHERES_APART];
#endif
#if SPHERES_TEAM > 1
    __local uint4 words[4u * SPHERES_GROUP / SPHERES_TEAM];
    __local float4 moves[4u * SPHERES_GROUP / SPHERES_TEAM];
    __local uint counts[SPHERES_GROUP / SPHERES_TEAM];
#ifdef SPHERES_WARP
    __local float *least = 0;
#else
    __local float least[SPHERES_GROUP];
#endif
    const struct spheres_shared shared = {near, words + 4u * team, moves + 4u * team, counts + team,
                                          least + item - lane};
#else
    uint4 words[4];
    float4 moves[4];
    uint counts[1];
    float least[1];
    const struct spheres_shared shared = {near, words, moves, counts, least};
#endif
    const uint id = (uint)get_global_id(0) / SPHERES_TEAM, member = (uint)get_global_id(1);
    __global const struct spheres_member *m = &members[member];
    const uint hx = m->cells[0] / 2u, hy = m->cells[1] / 2u, row = id / hx, z = row / hy;
    const uint is = (uint)(z < m->cells[2] / 2u);
#if SPHERES_TEAM == 1
    if (!is)
        return;
#endif
    const uint set = (uint)(plans[member * capacity + k] >> 3u * sub) & 7u;
    const uint cx = 2u * (id - row * hx) + (set & 1u), cy = 2u * (row - z * hy) + (set >> 1 & 1u),
               cz = 2u * z + (set >> 2);
    const struct spheres_confined confined =
        spheres_confined_of(m, walls, fields, grid, member, cx, cy, cz);
    const uint done =
        spheres_update(cells + m->first, m, spheres_metric_of(contacts, member), plane, cx, cy, cz,
                       step, purpose, &confined, is, lane, &shared);
    if (note & is & (uint)(lane == 0u))
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
    /* the last one or two of n spheres, which are written when others follow */
    ulong one = SPHERES_EMPTY, two = SPHERES_EMPTY;
    uint n = 0u;
    to += m->first + id;
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
            if (moved >= 0 && moved < width && n < SPHERES_SLOTS) {
                if (n % 2u == 0u && n > 0u) {
                    to[(size_t)(n / 2u - 1u) * plane] =
                        (ulong2)(one | SPHERES_NEXT, two | SPHERES_NEXT);
                    two = SPHERES_EMPTY;
                }
                if (n % 2u == 0u)
                    one = spheres_pack(x, y, z);
                else
                    two = spheres_pack(x, y, z);
                n++;
            }
        })
    }
    to[(size_t)(n ? (n - 1u) / 2u : 0u) * plane] =
        (ulong2)(one | (n && n % 2u == 0u ? SPHERES_NEXT : 0UL), two);
    if (id == 0u)
        grid[3u * member + axis] =
            spheres_grid(grid[3u * member + axis], plan, (ulong)width * m->cells[axis]);
}
