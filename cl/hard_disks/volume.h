/* Volume moves at constant pressure: the closest pair, and what a move changes (common/volume.h).
 * DISKS_SPACE as in cell.h. */
#ifndef ERGO_CL_HARD_DISKS_VOLUME_H
#define ERGO_CL_HARD_DISKS_VOLUME_H

#include "common/least.h"
#include "hard_disks/cell.h"

/* The smaller of `least` and r^2 of a disk at (px, py) to disks `from` to n - 1 of a cell (ox, oy)
 * cells away. */
ERGO_INLINE ulong disks_closest_to(ulong least, float px, float py, struct disks_cell c, uint from,
                                   uint n, int ox, int oy, ulong ratio) {
    const float xs[4] = {c.x.s0, c.x.s1, c.x.s2, c.x.s3};
    const float ys[4] = {c.y.s0, c.y.s1, c.y.s2, c.y.s3};
    for (uint j = from; j < n; j++) {
        const long dx = (long)((int)xs[j] + ox * DISKS_W - (int)px);
        const long dy = (long)((int)ys[j] + oy * DISKS_W - (int)py);
        least = min(least, disks_r2(dx, dy, DISKS_Y ? ratio : DISKS_SQUARE));
    }
    return least;
}

/* (w_y/w_x)^2 for that. */
ERGO_INLINE ulong disks_closest_ratio(__global const struct disks_member *member,
                                      __global const struct disks_rules *rules,
                                      __global const struct disks_size *size, ulong step) {
#ifdef DISKS_PER_AXIS
    return disks_ratio_tried(member->key0, member->key1, *rules, size->volume, step);
#else
    return member->ratio;
#endif
}

/* The same of all pairs of a cell's disks and of its disks and those of four neighbours, so that
 * each pair of cells comes once. Disks of others are farther apart than contact ever is. */
ERGO_INLINE ulong disks_closest_of(DISKS_SPACE const DISKS_RAW *cells, uint second,
                                   __global const struct disks_member *member, ulong ratio, uint cx,
                                   uint cy, ulong least) {
    const uint h = member->columns[0], v = member->columns[DISKS_Y], m = 2u * h, rows = 2u * v;
    const struct disks_cell own =
        disks_load(cells, second, disks_row(h, v, cy) + disks_col(h, v, cx));
    const uint n = disks_count(own);
    const float xs[4] = {own.x.s0, own.x.s1, own.x.s2, own.x.s3};
    const float ys[4] = {own.y.s0, own.y.s1, own.y.s2, own.y.s3};
    for (int o = 4; o < 9 && n > 0u; o++) {
        const int ox = o % 3 - 1, oy = o / 3 - 1;
        const uint nx = ox < 0 ? (cx ? cx - 1u : m - 1u) : cx + (uint)ox < m ? cx + (uint)ox : 0u;
        const uint ny = cy + (uint)oy < rows ? cy + (uint)oy : 0u;
        const struct disks_cell c =
            disks_load(cells, second, disks_row(h, v, ny) + disks_col(h, v, nx));
        const uint others = disks_count(c);
        for (uint i = 0u; i < n; i++)
            least = disks_closest_to(least, xs[i], ys[i], c, o == 4 ? i + 1u : 0u, others, ox, oy,
                                     ratio);
    }
    return least;
}

/* The move after the sweep of that step: of the member's size, and of its parameters with it. */
ERGO_INLINE void disks_volume_move(__global struct disks_member *member,
                                   __global const struct disks_rules *of_member,
                                   __global struct disks_size *size, ulong step, ulong least) {
    struct ergo_volume volume = size->volume;
    ulong contact = size->contact;
    const struct disks_member before = *member;
    const struct disks_rules rules = *of_member;
    struct ergo_volume_rules now = rules.volume;
#ifdef DISKS_PER_AXIS
    now = disks_rules_at(now, DISKS_W,
                         disks_ratio_tried(before.key0, before.key1, rules, volume, step));
#endif
    ergo_volume_move(now, before.key0, before.key1, step, DISKS_PURPOSE_VOLUME, 2u,
                     (uint)rules.per_axis, least, &volume, &contact);
    const struct disks_size after = disks_size_at(rules, volume);
    *size = after;
    *member = disks_resized(before, rules, after);
}

#endif
