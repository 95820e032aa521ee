/*
 * The host's twin of the kernels: cl/helium_vmc/core.h compiled as C, one atom after the other and
 * 64-bit sums throughout. Nothing of groups, chunks, vectors or local memory is in it, so it finds
 * a compiler that gets any of those wrong.
 */
#include "helium_vmc/core.h"

#include "samplers/helium_vmc/helium.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

static int64_t twin_u(const struct helium_twin *t, const uint32_t a[3], uint32_t j) {
    const struct helium_member *m = t->member;
    float d[3];
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->place[k * t->n + j]) * m->scale[k];
    const float x = helium_clamp(helium_distance2(d[0], d[1], d[2]), m->low);
    const uint32_t base = (127 - t->binades) << HELIUM_U_PIECES;
    return (int32_t)helium_poly(piece(t->u_table, helium_piece(x, HELIUM_U_PIECES) - base),
                                helium_within(x, HELIUM_U_PIECES));
}

static int64_t twin_sum(const struct helium_twin *t, const uint32_t a[3], uint32_t i) {
    int64_t sum = 0;
    for (uint32_t j = 0; j < t->n; j++)
        sum += j == i ? 0 : twin_u(t, a, j);
    return sum;
}

int64_t helium_twin_ln_psi(const struct helium_twin *t) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t a[3] = {(uint32_t)t->place[i], (uint32_t)t->place[t->n + i],
                               (uint32_t)t->place[2 * t->n + i]};
        sum += twin_sum(t, a, i);
    }
    return sum;
}

void helium_twin_steps(struct helium_twin *t, uint64_t step, uint64_t steps) {
    const uint32_t n = t->n;
    const helium_cubic *random = (const helium_cubic *)(const void *)t->random;
    for (uint64_t s = step; s < step + steps; s++)
        for (uint32_t i = 0; i < n; i++) {
            const struct helium_move move =
                helium_draw(random, t->member, t->factor, t->walker * n + i, s);
            const uint32_t old[3] = {(uint32_t)t->place[i], (uint32_t)t->place[n + i],
                                     (uint32_t)t->place[2 * n + i]};
            const uint32_t new[3] = {old[0] + (uint32_t)move.dx, old[1] + (uint32_t)move.dy,
                                     old[2] + (uint32_t)move.dz};
            const int64_t change = twin_sum(t, new, i) - twin_sum(t, old, i);
            if (!helium_accepts(change, move.bound))
                continue;
            for (uint32_t k = 0; k < 3; k++)
                t->place[k * n + i] = (int32_t) new[k];
            t->ln_psi += change;
            t->accepted++;
        }
}
