/*
 * Random starts of hard disks (params.h): trial moves of disks that grow, on the chain's
 * checkerboard with its sets and shifts. All arithmetic is in exact integers. The program is built
 * for the job's kind of coordinates; its grid may differ from the chain's.
 */
#define DISKS_SPACE __global
#include "hard_disks/neighbours.h"

/* Smallest r^2 between (px, py) in a cell and the disks around it. `own` holds the cell's own
 * disks, from which the moved one has been removed. */
ERGO_INLINE ulong disks_nearest_of(__global const DISKS_RAW *cells, struct disks_place place,
                                   struct disks_cell own, float px, float py, ulong ratio) {
    const int x = (int)px, y = (int)py;
    ulong least = ~0UL;
    ERGO_UNROLL
    for (int oy = -1; oy <= 1; oy++) {
        ERGO_UNROLL
        for (int ox = -1; ox <= 1; ox++) {
            struct disks_cell c = own;
            if (ox != 0 || oy != 0)
                c = disks_load(cells, place.second, place.row[oy + 1] + place.col[ox + 1]);
            const float xs[4] = {c.x.s0, c.x.s1, c.x.s2, c.x.s3};
            const float ys[4] = {c.y.s0, c.y.s1, c.y.s2, c.y.s3};
            ERGO_UNROLL
            for (int j = 0; j < 4; j++) { /* the coordinates of an empty slot are out of reach */
                const long dx = (long)((int)xs[j] + ox * DISKS_W - x);
                const long dy = (long)((int)ys[j] + oy * DISKS_W - y);
                const ulong r2 = disks_r2(dx, dy, DISKS_Y ? ratio : DISKS_SQUARE);
                least = r2 < least ? r2 : least;
            }
        }
    }
    return least;
}

/* A cell without one of its disks; that disk is at (*x, *y). */
ERGO_INLINE struct disks_cell disks_without(struct disks_cell c, uint slot, float *x, float *y) {
    const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)slot);
    const float4 mx = select((float4)(0.0f), c.x, me), my = select((float4)(0.0f), c.y, me);
    *x = mx.s0 + mx.s1 + mx.s2 + mx.s3;
    *y = my.s0 + my.s1 + my.s2 + my.s3;
    c.x = select(c.x, (float4)(DISKS_FAR), me);
    return c;
}

/* All cells of set number `sub` in the sweep's order, one work-item per cell. Growth makes
 * overlaps, but a move never does, so moves can only remove them. */
__kernel void disks_start_subsweep(__global DISKS_RAW *all,
                                   __global const struct disks_growth *members, uint sweep,
                                   uint sub, uint second) {
    const uint id = (uint)get_global_id(0);
    __global const struct disks_growth *mine = &members[get_global_id(1)];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = mine->cells[0];
    if (id >= h * v)
        return;
    const uint plan =
        disks_plan_for(DISKS_PURPOSE_START_GRID, mine->key0, mine->key1, sweep, DISKS_W, 1u);
    const uint set = plan >> 2u * sub & 3u;
    const uint cx = 2u * (id % h) + (set & 1u), cy = 2u * (id / h) + (set >> 1);
    __global DISKS_RAW *cells = all + mine->first;
    const struct disks_place place = disks_place_of(h, v, cx, cy, second);
    const uint at = place.row[1] + place.col[1];
    const ulong contact = disks_growth_contact(mine->contact[0], mine->contact[1], sweep);
    struct disks_cell own = disks_load(cells, second, at);
    const uint n = disks_count(own);
    if (n == 0u)
        return;
    ERGO_ROLLED
    for (uint trial = 0u; trial < DISKS_START_MOVES; trial++) {
        const struct ergo_words r = ergo_philox_words(
            cy * m + cx, sweep, 0u, ERGO_DRAW(DISKS_PURPOSE_START_CELL, trial / 2u), mine->key0,
            mine->key1);
        const uint a = trial & 1u ? r.z : r.x, b = trial & 1u ? r.w : r.y;
        float x, y, dx, dy;
        disks_displacement(a, b, mine->step[0], mine->step[DISKS_Y], &dx, &dy);
        const struct disks_cell others = disks_without(own, disks_growth_slot(b, n), &x, &y);
        if (disks_here(x + dx, y + dy) &&
            disks_nearest_of(cells, place, others, x + dx, y + dy, mine->ratio) >= contact) {
            const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)disks_growth_slot(b, n));
            own.x = select(own.x, (float4)(x + dx), me);
            own.y = select(own.y, (float4)(y + dy), me);
        }
    }
    disks_store(cells, second, at, own);
}

/* The shift after the sweep, into a second copy. A start does not record the grid's origin, which
 * has no meaning there. */
__kernel void disks_start_shift(__global const DISKS_RAW *from, __global DISKS_RAW *to,
                                __global const struct disks_growth *members, uint sweep,
                                uint second) {
    const uint id = (uint)get_global_id(0);
    __global const struct disks_growth *mine = &members[get_global_id(1)];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = 2u * h;
    if (id >= m * 2u * v)
        return;
    const uint plan =
        disks_plan_for(DISKS_PURPOSE_START_GRID, mine->key0, mine->key1, sweep, DISKS_W, 1u);
    const uint cx = id % m, cy = id / m;
    disks_store(to + mine->first, second, disks_row(h, v, cy) + disks_col(h, v, cx),
                disks_shifted_cell(from + mine->first, second, h, v, cx, cy, plan));
}

/* Count the disks of each member that overlap another one at their final diameter. */
__kernel void disks_start_overlaps(__global const DISKS_RAW *all,
                                   __global const struct disks_growth *members,
                                   __global uint *overlaps, uint second) {
    const uint id = (uint)get_global_id(0), member = (uint)get_global_id(1);
    __global const struct disks_growth *mine = &members[member];
    const uint h = mine->columns[0], v = mine->columns[DISKS_Y], m = 2u * h;
    if (id >= m * 2u * v)
        return;
    __global const DISKS_RAW *cells = all + mine->first;
    const struct disks_place place = disks_place_of(h, v, id % m, id / m, second);
    const struct disks_cell own = disks_load(cells, second, place.row[1] + place.col[1]);
    const uint n = disks_count(own);
    uint found = 0u;
    for (uint slot = 0u; slot < n; slot++) {
        float x, y;
        const struct disks_cell others = disks_without(own, slot, &x, &y);
        found +=
            (uint)(disks_nearest_of(cells, place, others, x, y, mine->ratio) < mine->contact[1]);
    }
    if (found)
        atomic_add(&overlaps[member], found);
}
