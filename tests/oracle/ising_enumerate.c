/* See ising_enumerate.h for the definition. */
#include "ising_enumerate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t all_sites(int Lx, int Ly) {
    return (uint32_t)(((uint64_t)1 << (Lx * Ly)) - 1);
}

/* Bit i of the result is the spin at i + r along x. */
static uint32_t along_x(int Lx, int Ly, uint32_t state, int r) {
    uint32_t stays = 0; /* sites with x + r < Lx */
    for (int y = 0; y < Ly; y++)
        stays |= (((uint32_t)1 << (Lx - r)) - 1) << (y * Lx);
    return (state >> r & stays) | (state << (Lx - r) & all_sites(Lx, Ly) & ~stays);
}

static uint32_t along_y(int Lx, int Ly, uint32_t state, int r) {
    return (state >> (r * Lx) | state << ((Ly - r) * Lx)) & all_sites(Lx, Ly);
}

/* sum_i s_i t_i */
static int product(int n, uint32_t s, uint32_t t) {
    return n - 2 * __builtin_popcount(s ^ t);
}

/* The bonds' sum has steps of 2: -2n, -2n + 2, ..., 2n. */
static struct ergo_oracle_level *level_of(const struct ergo_oracle_levels *l, int bonds, int up) {
    const int n = l->Lx * l->Ly;
    return &l->levels[((bonds + 2 * n) / 2) * (n + 1) + up];
}

bool ergo_oracle_levels_init(struct ergo_oracle_levels *l, int Lx, int Ly) {
    *l = (struct ergo_oracle_levels){.Lx = Lx, .Ly = Ly};
    const int n = Lx * Ly;
    if (Lx < 2 || Ly < 2 || n > ERGO_ORACLE_SITES_MAX)
        return false;
    l->levels = calloc((size_t)((2 * n + 1) * (n + 1)), sizeof *l->levels);
    if (!l->levels)
        return false;
    const int reach = Lx < Ly ? Lx / 2 : Ly / 2;
    uint32_t even = 0; /* sites with x + y even */
    for (int i = 0; i < n; i++)
        even |= (uint32_t)((i % Lx + i / Lx) % 2 == 0) << i;
    for (uint32_t state = 0;; state++) {
        int pairs[2][ERGO_ORACLE_REACH_MAX + 1];
        for (int r = 0; r <= reach && r <= ERGO_ORACLE_REACH_MAX; r++) {
            pairs[0][r] = product(n, state, along_x(Lx, Ly, state, r));
            pairs[1][r] = product(n, state, along_y(Lx, Ly, state, r));
        }
        struct ergo_oracle_level *level =
            level_of(l, pairs[0][1] + pairs[1][1], __builtin_popcount(state));
        level->states++;
        const int64_t m = llabs((long long)product(n, state, even));
        level->staggered[0] += (uint64_t)m;
        level->staggered[1] += (uint64_t)(m * m);
        level->staggered[2] += (uint64_t)(m * m * m * m);
        for (int r = 0; r <= reach && r <= ERGO_ORACLE_REACH_MAX; r++) {
            level->pairs[0][r] += pairs[0][r];
            level->pairs[1][r] += pairs[1][r];
        }
        if (state == all_sites(Lx, Ly))
            return true;
    }
}

void ergo_oracle_levels_free(struct ergo_oracle_levels *l) {
    free(l->levels);
    l->levels = NULL;
}

struct ergo_oracle_averages ergo_oracle_average(const struct ergo_oracle_levels *l, double T,
                                                double J, double B) {
    const int n = l->Lx * l->Ly;
    const long double top = (2 * fabsl(J) + fabsl(B)) * n / T; /* no exponent is above it */
    long double z = 0, e1 = 0, e2 = 0, m1 = 0, ma = 0, m2 = 0, m4 = 0;
    long double pairs[2][ERGO_ORACLE_REACH_MAX + 1] = {{0}}, staggered[3] = {0};
    for (int bonds = -2 * n; bonds <= 2 * n; bonds += 2)
        for (int up = 0; up <= n; up++) {
            const struct ergo_oracle_level *level = level_of(l, bonds, up);
            if (!level->states)
                continue;
            const long double e = -(long double)J * bonds - (long double)B * (2 * up - n);
            const long double boltzmann = expl(-e / T - top);
            const long double w = boltzmann * (long double)level->states;
            const long double m = (long double)(2 * up - n) / n;
            z += w;
            e1 += w * e;
            e2 += w * e * e;
            m1 += w * m;
            ma += w * fabsl(m);
            m2 += w * m * m;
            m4 += w * m * m * m * m;
            for (int k = 0; k < 3; k++)
                staggered[k] += boltzmann * (long double)level->staggered[k];
            for (int axis = 0; axis < 2; axis++)
                for (int r = 0; r <= ERGO_ORACLE_REACH_MAX; r++)
                    pairs[axis][r] += boltzmann * (long double)level->pairs[axis][r];
        }
    e1 /= z, e2 /= z, m1 /= z, ma /= z, m2 /= z, m4 /= z;
    struct ergo_oracle_averages out = {
        .energy = (double)(e1 / n),
        .heat_capacity = (double)((e2 - e1 * e1) / ((long double)T * T * n)),
        .magnetization = (double)m1,
        .abs_magnetization = (double)ma,
        .magnetization2 = (double)m2,
        .magnetization4 = (double)m4,
        .susceptibility = (double)(n * (m2 - ma * ma) / T),
        .binder = (double)(1 - m4 / (3 * m2 * m2)),
    };
    for (int k = 0; k < 3; k++)
        out.staggered[k] = (double)(staggered[k] / z / powl(n, k == 0 ? 1 : 2 * k));
    for (int axis = 0; axis < 2; axis++)
        for (int r = 0; r <= ERGO_ORACLE_REACH_MAX; r++)
            out.correlation[axis][r] = (double)(pairs[axis][r] / z / n);
    return out;
}
