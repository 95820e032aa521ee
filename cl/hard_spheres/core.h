/*
 * Hard spheres in checkerboard cells (after Anderson, Jankowski, Grubb, Engel, Glotzer, J. Comput.
 * Phys. 254, 27 (2013), with eight sets): the random choices of a sweep as pure functions, in C and
 * in OpenCL C.
 */
#ifndef ERGO_CL_HARD_SPHERES_CORE_H
#define ERGO_CL_HARD_SPHERES_CORE_H

#include "common/rng.h"
#include "hard_spheres/params.h"

/* The plan of a sweep. Any order of the sets leaves the equilibrium as it is, so the bias of 1e-5
 * among the 8! does no harm; and both senses of a shift are equally likely at every distance. */
ERGO_INLINE ulong spheres_plan(uint purpose, uint key0, uint key1, ulong step, uint wx, uint wy,
                               uint wz) {
    const struct ergo_words r =
        ergo_philox_words(0u, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, 0), key0, key1);
    uint order = 0xFAC688u; /* 0, 1, 2, ..., 7 */
    uint k = ergo_below(r.x, 40320u);
    for (uint i = 7u; i > 0u; i--) { /* Fisher-Yates, all of it from one number below 8! */
        const uint j = k % (i + 1u);
        const uint change = ((order >> 3u * i) ^ (order >> 3u * j)) & 7u;
        k /= i + 1u;
        order ^= (change << 3u * i) | (change << 3u * j); /* if i == j, change is 0 */
    }
    const uint axis = ergo_below(r.y, 3u);
    const uint width = axis == 0u ? wx : axis == 1u ? wy : wz;
    return order | axis << SPHERES_PLAN_AXIS | (r.z >> 31) << SPHERES_PLAN_UP |
           (ulong)ergo_below(r.w, width / 2u) << SPHERES_PLAN_DISTANCE;
}

/* Along one axis: uniform in whole units from -step to step, from 21 random bits. The sign has a
 * bit of its own, so d and -d have exactly the same probability. Detailed balance asks no more. */
ERGO_INLINE int spheres_along(uint bits, uint step) {
    const int size = (int)ergo_below((bits >> 1) << 12, step + 1u);
    return bits & 1u ? size : -size;
}

struct spheres_move {
    int x, y, z;
};

/* A displacement uniform in a cube, from 63 of 64 bits. */
ERGO_INLINE struct spheres_move spheres_displacement(uint a, uint b, uint step) {
    const struct spheres_move d = {
        spheres_along(a & SPHERES_AXIS, step),
        spheres_along((a >> 21 | b << 11) & SPHERES_AXIS, step),
        spheres_along((b >> 10) & SPHERES_AXIS, step),
    };
    return d;
}

/* The draws of move s of a cell: which of its spheres, and where to. */
ERGO_INLINE uint spheres_draw_choice(uint s) {
    return 3u * (s / 4u);
}
/* In a field word s mod 4 decides whether it is accepted. */
ERGO_INLINE uint spheres_draw_field(uint s) {
    return s / 4u;
}

/* One coordinate of the grid's origin after a shift; `side` of the box, in units. */
ERGO_INLINE ulong spheres_grid(ulong origin, ulong plan, ulong side) {
    const ulong distance = plan >> SPHERES_PLAN_DISTANCE;
    const ulong moved = plan >> SPHERES_PLAN_UP & 1u ? origin + distance : origin + side - distance;
    return moved >= side ? moved - side : moved;
}

/* r^2 of contact, and the squared ratios of units; see params.h. */
struct spheres_metric {
    ulong contact, y, z;
};

ERGO_INLINE ulong spheres_r2(ergo_long dx, ergo_long dy, ergo_long dz, struct spheres_metric m) {
    return ergo_volume_add_square(ergo_volume_add_square((ulong)(dx * dx), dy, m.y), dz, m.z);
}

/* The metric at that volume, but for contact. */
ERGO_INLINE struct spheres_metric spheres_metric_at(struct ergo_volume volume) {
    const struct spheres_metric m = {0UL, ergo_volume_ratio(2L * volume.stretch[0]),
                                     ergo_volume_ratio(2L * volume.stretch[1])};
    return m;
}

/* What the move of that step proposes. */
ERGO_INLINE struct ergo_volume spheres_volume_tried(uint key0, uint key1, struct ergo_volume volume,
                                                    ulong step) {
    return ergo_volume_proposed(
        volume, ergo_volume_words(key0, key1, step, SPHERES_PURPOSE_VOLUME, 0u), 3u, 1u);
}

/* What cells allow of contact there: none narrower than sigma, none as wide as sqrt(2) sigma. */
ERGO_INLINE struct ergo_volume_rules spheres_rules_at(struct ergo_volume_rules rules, uint wx,
                                                      uint wy, uint wz, struct spheres_metric m) {
    const ulong x2 = (ulong)wx * wx, y2 = ergo_volume_add_square(0UL, (ergo_long)wy, m.y),
                z2 = ergo_volume_add_square(0UL, (ergo_long)wz, m.z);
    const ulong low = x2 < y2 ? x2 : y2, high = x2 > y2 ? x2 : y2;
    rules.contact[0] = (high > z2 ? high : z2) / 2UL + 1UL;
    rules.contact[1] = low < z2 ? low : z2;
    return rules;
}

/* r^2 of contact in a sweep of a random start: linear, and below 2^43, so no product overflows. */
ERGO_INLINE ulong spheres_growth(ulong first, ulong last, uint sweep) {
    const uint grown = sweep < SPHERES_START_MELT ? 0u : sweep - SPHERES_START_MELT;
    return grown < SPHERES_START_GROW ? first + (last - first) * grown / SPHERES_START_GROW : last;
}

#endif
