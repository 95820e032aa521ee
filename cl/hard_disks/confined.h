/* Walls and a field, in a cell's update. DISKS_WALLS: the job has walls or a field; DISKS_FIELD: it
 * has a field. */
#ifndef ERGO_CL_HARD_DISKS_CONFINED_H
#define ERGO_CL_HARD_DISKS_CONFINED_H

#include "common/walls.h"
#include "hard_disks/cell.h"

/* What a cell has to know of them; nothing of this is used without. */
struct disks_confined {
    __global const struct ergo_walls *walls;
    __global const long *nodes;
    ulong corner[2], side[2];
};

/* grid: where cell (0, 0) is. */
ERGO_INLINE struct disks_confined disks_confined_of(__global const struct disks_member *m,
                                                    __global const struct ergo_walls *walls,
                                                    __global const long *fields, uint member,
                                                    ulong grid_x, ulong grid_y, uint cx, uint cy) {
    struct disks_confined f;
    f.walls = walls + member;
    f.nodes = fields + (size_t)member * ERGO_FIELD_NODES;
    f.side[0] = (ulong)DISKS_W * m->cells[0];
    f.side[1] = (ulong)DISKS_W * m->cells[DISKS_Y];
    f.corner[0] = ergo_walls_corner(grid_x, cx, DISKS_W, f.side[0]);
    f.corner[1] = ergo_walls_corner(grid_y, cy, DISKS_W, f.side[1]);
    return f;
}

ERGO_INLINE uint disks_free_of_walls(const struct disks_confined *f, float x, float y) {
    const ulong px = ergo_walls_place(f->corner[0], (int)x, f->side[0]);
    const ulong py = ergo_walls_place(f->corner[1], (int)y, f->side[1]);
    return (uint)(px >= f->walls->low[0]) & (uint)(px <= f->walls->high[0]) &
           (uint)(py >= f->walls->low[1]) & (uint)(py <= f->walls->high[1]);
}

ERGO_INLINE long disks_energy_at(const struct disks_confined *f, float x, float y) {
    const uint axis = f->walls->axis, shift = f->walls->shift;
    const ulong place = ergo_walls_place(f->corner[axis], (int)(axis ? y : x), f->side[axis]);
    return ERGO_FIELD_AT(f->nodes, shift, place);
}

/* Makes `good`, of a move in the cell from (fx, fy) to (px, py), false where walls or, with that
 * random word, the field do not let it happen. */
#ifdef DISKS_FIELD
#define DISKS_LET(good, confined, fx, fy, px, py, word)                                            \
    if (good)                                                                                      \
    good = disks_free_of_walls(confined, px, py) &&                                                \
           ergo_field_accepts(                                                                     \
               disks_energy_at(confined, px, py) - disks_energy_at(confined, fx, fy), word)
#elif defined(DISKS_WALLS)
#define DISKS_LET(good, confined, fx, fy, px, py, word)                                            \
    if (good)                                                                                      \
    good = disks_free_of_walls(confined, px, py)
#else
#define DISKS_LET(good, confined, fx, fy, px, py, word)
#endif

#endif
