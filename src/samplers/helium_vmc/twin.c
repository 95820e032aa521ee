/*
 * The chain in serial C, one atom after the other, with 64-bit sums. It has no groups, vectors or
 * local memory, so a compiler that translates those wrongly gives other results. Shared with the
 * kernels is the arithmetic of distances, cubic pieces and random numbers (core.h as C).
 */
#include <string.h>

#include "helium_vmc/core.h"

#include "samplers/helium_vmc/helium.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

/* a minus the position of atom j, to the nearest image, in 2^-32 of the sides. */
static void difference(const struct helium_twin *t, const uint32_t a[3], uint32_t j, float d[3]) {
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->place[k * t->n + j]);
}

static float distance2(const struct helium_twin *t, const float d[3]) {
    const float *scale = t->member->scale;
    return helium_distance2(d[0] * scale[0], d[1] * scale[1], d[2] * scale[2]);
}

static int64_t u_of(const struct helium_twin *t, float x) {
    const float y = helium_clamp(x, t->member->low);
    const uint32_t base = (127 - t->binades) << HELIUM_U_PIECES;
    return (int32_t)helium_poly(piece(t->u_table, helium_piece(y, HELIUM_U_PIECES) - base),
                                helium_within(y, HELIUM_U_PIECES));
}

static void place_of(const struct helium_twin *t, uint32_t i, uint32_t a[3]) {
    for (uint32_t k = 0; k < 3; k++)
        a[k] = (uint32_t)t->place[k * t->n + i];
}

/* Sum of u over the pairs of atom i, if it were at a. */
static int64_t sum_at(const struct helium_twin *t, const uint32_t a[3], uint32_t i) {
    int64_t sum = 0;
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        difference(t, a, j, d);
        sum += j == i ? 0 : u_of(t, distance2(t, d));
    }
    return sum;
}

int64_t helium_twin_atom(const struct helium_twin *t, uint32_t i) {
    uint32_t a[3];
    place_of(t, i, a);
    return sum_at(t, a, i);
}

int64_t helium_twin_ln_psi(const struct helium_twin *t) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        sum += helium_twin_atom(t, i);
    return sum;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Atom i is placed at site i S / n of a lattice of S sites, at most a tenth of the site's width
 * away from its middle. */
void helium_twin_start(const struct helium_shape *shape, struct helium_twin *t) {
    const uint32_t *sites = shape->sites;
    const uint64_t all = (uint64_t)sites[0] * sites[1] * sites[2];
    for (uint32_t i = 0; i < t->n; i++) {
        const uint64_t site = i * all / t->n;
        const uint64_t at[3] = {site % sites[0], site / sites[0] % sites[1],
                                site / sites[0] / sites[1]};
        const struct ergo_words w =
            ergo_philox_words(t->walker * t->n + i, 0, 0, ERGO_DRAW(HELIUM_PURPOSE_START, 0),
                              t->member->key0, t->member->key1);
        const uint32_t words[3] = {w.x, w.y, w.z};
        for (uint32_t k = 0; k < 3; k++) {
            const uint64_t width = UINT64_C(0x100000000) / sites[k];
            const uint64_t away = (width / 5 * (words[k] >> 16) >> 16) - width / 10;
            t->place[k * t->n + i] = (int32_t)(uint32_t)(at[k] * width + width / 2 + away);
        }
    }
}

/* Accepted if |psi'/psi|^2 >= uniform, that is if 2 (ln psi' - ln psi) >= ln(uniform). */
bool helium_twin_trial(const struct helium_twin *t, uint32_t i, uint64_t step, int32_t to[3],
                       int64_t *change) {
    const helium_cubic *random = (const helium_cubic *)(const void *)t->random;
    const struct helium_move move =
        helium_draw(random, t->member, t->factor, t->walker * t->n + i, step);
    const uint32_t by[3] = {(uint32_t)move.dx, (uint32_t)move.dy, (uint32_t)move.dz};
    uint32_t old[3], new[3];
    place_of(t, i, old);
    for (uint32_t k = 0; k < 3; k++)
        new[k] = old[k] + by[k];
    const int64_t gain = sum_at(t, new, i) - sum_at(t, old, i);
    const bool accepted = gain >= move.bound;
    for (uint32_t k = 0; k < 3; k++)
        to[k] = (int32_t)(accepted ? new[k] : old[k]);
    *change = accepted ? gain : 0;
    return accepted;
}

void helium_twin_steps(struct helium_twin *t, uint64_t step, uint64_t steps) {
    for (uint64_t s = step; s < step + steps; s++)
        for (uint32_t i = 0; i < t->n; i++) {
            int32_t to[3];
            int64_t change;
            t->accepted += helium_twin_trial(t, i, s, to, &change);
            t->ln_psi += change;
            for (uint32_t k = 0; k < 3; k++)
                t->place[k * t->n + i] = to[k];
        }
}

/* Change the factor in proportion to the deviation of the acceptance, by at most a quarter. */
uint32_t helium_twin_factor(const struct helium_member *member, uint32_t factor, uint64_t accepted,
                            uint64_t tried) {
    const int64_t f = factor, wrong = (int64_t)(accepted * 65536 / tried) - (int64_t)member->target;
    int64_t next = f + f * wrong / 65536;
    next = next < f * 3 / 4 ? f * 3 / 4 : next > f * 5 / 4 ? f * 5 / 4 : next;
    return (uint32_t)(next < 64 ? 64 : next > 16 * 65536 ? 16 * 65536 : next);
}

/* ---- energies -------------------------------------------------------------------------------- */

/* f: V and sqrt(lambda) u'/r with their derivatives at x = (r / half)^2. Returns the clamped x. */
static float pair_of(const struct helium_twin *t, float x, struct helium_slope f[2]) {
    const struct helium_member *m = t->member;
    const float y = helium_clamp(x, m->low), within = helium_within(y, HELIUM_E_PIECES);
    const uint32_t base = (127 - t->binades) << HELIUM_E_PIECES;
    const uint32_t pieces = helium_energy_pieces(t->binades);
    const bool beyond = ergo_as_uint(y) - m->kink < m->kink_width;
    const uint32_t k = beyond ? pieces - 1 : helium_piece(y, HELIUM_E_PIECES) - base;
    f[0] = helium_quartic_slope(piece(t->e_table, k), within);
    f[1] = helium_cubic_slope(piece(t->e_table, pieces + k), within);
    return y;
}

/* Floating-point sums depend on their order. It is that of the kernels: partners by number, first
 * within a block. For all but the gradient the pairs of two blocks count twice for one of them. */
static void atom_energies(const struct helium_twin *t, uint32_t i, float share[HELIUM_E_KINDS]) {
    enum { POTENTIAL, VIRIAL, FORCE, SLOPE, X, Y, Z, SHARES };
    const uint32_t blocks = (t->n + HELIUM_E_BLOCK - 1) / HELIUM_E_BLOCK, mine = i / HELIUM_E_BLOCK;
    const float *length = t->member->length;
    float all[SHARES] = {0}, run[SHARES] = {0}, gradient[3];
    uint32_t a[3];
    place_of(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        difference(t, a, j, d);
        const float x = distance2(t, d);
        if (j != i && x < 1) {
            struct helium_slope f[2];
            const float y = pair_of(t, x, f);
            run[POTENTIAL] += f[0].value;
            run[VIRIAL] = fmaf(y, f[0].slope, run[VIRIAL]);
            run[FORCE] += f[1].value;
            run[SLOPE] = fmaf(y, f[1].slope, run[SLOPE]);
            for (int k = 0; k < 3; k++)
                run[X + k] = fmaf(f[1].value, d[k], run[X + k]);
        }
        if (j % HELIUM_E_BLOCK != HELIUM_E_BLOCK - 1 && j + 1 != t->n)
            continue;
        const uint32_t ahead = (j / HELIUM_E_BLOCK + blocks - mine) % blocks;
        const float times = ahead == 0                                             ? 1
                            : ahead < blocks - ahead                               ? 2
                            : ahead == blocks - ahead && j / HELIUM_E_BLOCK > mine ? 2
                                                                                   : 0;
        for (int k = 0; k < SHARES; k++) {
            if (k >= X || times > 0)
                all[k] += k < X ? times * run[k] : run[k];
            run[k] = 0;
        }
    }
    for (int k = 0; k < 3; k++)
        gradient[k] = all[X + k] * length[k];
    share[0] = all[POTENTIAL];
    share[1] = 2 * all[VIRIAL];
    share[2] = -t->member->root * fmaf(2, all[SLOPE], 3 * all[FORCE]);
    share[3] =
        fmaf(gradient[0], gradient[0], fmaf(gradient[1], gradient[1], gradient[2] * gradient[2]));
}

void helium_twin_energies(const struct helium_twin *t, uint32_t last, struct helium_sums *sums) {
    int64_t total[HELIUM_E_KINDS] = {0};
    uint64_t marks = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        float share[HELIUM_E_KINDS];
        atom_energies(t, i, share);
        for (int k = 0; k < HELIUM_E_KINDS; k++)
            if (fabsf(share[k]) < t->member->limit[k])
                total[k] += (int64_t)(share[k] * t->member->unit[k]);
            else
                marks |= UINT64_C(1) << k;
    }
    *sums = (struct helium_sums){.ln_psi = 2 * t->ln_psi,
                                 .potential = total[0],
                                 .virial = total[1],
                                 .laplacian = total[2],
                                 .gradient = total[3],
                                 .accepted = (int64_t)(last | marks << HELIUM_BEYOND)};
}
