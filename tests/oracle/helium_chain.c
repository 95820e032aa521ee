/* A walker: ln psi, moves, energies, displaced atoms. */
#include "oracle/helium_chain.h"

#include "helium/density.h"
#include "helium_vmc/core.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

void helium_oracle_place(const struct helium_oracle *t, uint32_t i, uint32_t a[3]) {
    for (uint32_t k = 0; k < 3; k++)
        a[k] = (uint32_t)t->place[k * t->n + i];
}

/* From atom j to a, to the nearest image, in 2^-32 of the sides. Returns the square in units of the
 * cut. */
static float apart(const struct helium_oracle *t, const uint32_t a[3], uint32_t j, float d[3]) {
    const float *scale = t->member->scale;
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->place[k * t->n + j]);
    return helium_distance2(d[0] * scale[0], d[1] * scale[1], d[2] * scale[2]);
}

/* The piece of u and of the triplet factor for x, and where x is in it. */
static uint32_t find(const struct helium_oracle *t, float x, float *y, float *within) {
    *y = helium_clamp(x, t->member->low);
    *within = helium_within(*y, HELIUM_U_PIECES);
    return helium_piece(*y, HELIUM_U_PIECES) - ((127 - t->binades) << HELIUM_U_PIECES);
}

/* ---- sites ----------------------------------------------------------------------------------- */

static void from_site(const struct helium_oracle *t, uint32_t i, const uint32_t a[3], float d[3]) {
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->sites[k * t->n + i]);
}

/* Cubic k of a one-body table. */
static helium_cubic one_cubic(const struct helium_oracle *t, uint32_t k) {
    helium_cubic c;
    memcpy(&c, t->sites + 3 * (size_t)t->n + 4 * (size_t)k, sizeof c);
    return c;
}

int32_t helium_oracle_site(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]) {
    const struct helium_member *m = t->member;
    float d[3];
    if (!t->sites)
        return 0;
    from_site(t, i, a, d);
    if (m->site_kind < HELIUM_ONE_TRAP)
        return helium_site_u(d, m);
    const struct helium_one_place at = helium_one_find(d, m->site_kind == HELIUM_ONE_SLAB, m);
    return helium_one_u(one_cubic(t, HELIUM_ONE_PIECES + at.piece), at.t, m);
}

void helium_oracle_one(const struct helium_oracle *t, uint32_t i, float share[4], float raw[3]) {
    const struct helium_member *m = t->member;
    const uint32_t slab = m->site_kind == HELIUM_ONE_SLAB;
    float d[3];
    uint32_t a[3];
    helium_oracle_place(t, i, a);
    from_site(t, i, a, d);
    if (m->site_kind < HELIUM_ONE_TRAP) {
        const float r2 = helium_site2(d, m);
        share[0] = fmaf(m->site_v, r2, share[0]);
        share[1] = fmaf(m->site_v, r2, share[1]);
        share[2] += m->site_mean;
        for (int k = 0; k < 3; k++)
            raw[k] = fmaf(m->site_force[k], d[k], raw[k]);
        return;
    }
    const struct helium_one_place at = helium_one_find(d, slab, m);
    const struct helium_one_share s = helium_one_share_of(
        at, d, one_cubic(t, at.piece), one_cubic(t, 2 * HELIUM_ONE_PIECES + at.piece), slab, m);
    share[0] += s.potential;
    share[1] += s.virial;
    share[2] += s.force;
    share[3] += s.slope;
    for (int k = 0; k < 3; k++)
        raw[k] += s.g[k];
}

/* ---- the triplet factor ---------------------------------------------------------------------- */

static struct helium_vector vector(const struct helium_oracle *t, const int32_t *field,
                                   uint32_t i) {
    return (struct helium_vector){field[i], field[t->n + i], field[2 * t->n + i]};
}

/* Add a vector to an atom's, or take it away. */
static void add(const struct helium_oracle *t, int32_t *field, uint32_t i, struct helium_vector g,
                int32_t times) {
    field[i] += times * g.x;
    field[t->n + i] += times * g.y;
    field[2 * t->n + i] += times * g.z;
}

/* What atom j adds to G of an atom at a. */
static struct helium_vector part(const struct helium_oracle *t, const uint32_t a[3], uint32_t j) {
    float d[3], y, within;
    const float x = apart(t, a, j, d);
    const uint32_t k = find(t, x, &y, &within);
    const float value = helium_poly(piece(t->t_table, k), within);
    return x < 1 ? helium_triplet_part(value, d, t->member) : (struct helium_vector){0, 0, 0};
}

void helium_oracle_fields(struct helium_oracle *t) {
    if (!t->triplet)
        return;
    memset(t->field, 0, 12 * (size_t)t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t a[3];
        helium_oracle_place(t, i, a);
        for (uint32_t j = 0; j < t->n; j++)
            if (j != i)
                add(t, t->field, i, part(t, a, j), 1);
    }
}

/* ln psi of these G. */
static int64_t of_fields(const struct helium_oracle *t, const int32_t *field) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n && t->triplet; i++)
        sum -= t->triplet->sign * helium_triplet_square(vector(t, field, i), t->triplet->shift);
    return sum;
}

/* next_field: G if atom i goes to a. */
static void move_fields(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]) {
    uint32_t old[3];
    helium_oracle_place(t, i, old);
    memcpy(t->next_field, t->field, 12 * (size_t)t->n);
    for (uint32_t j = 0; j < t->n; j++) {
        if (j == i)
            continue;
        const struct helium_vector from = part(t, old, j), to = part(t, a, j);
        add(t, t->next_field, i, from, -1);
        add(t, t->next_field, i, to, 1);
        add(t, t->next_field, j, from, 1);
        add(t, t->next_field, j, to, -1);
    }
}

/* ---- ln psi and moves ------------------------------------------------------------------------ */

int64_t helium_oracle_u(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]) {
    int64_t sum = helium_oracle_site(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3], y, within;
        const uint32_t k = find(t, apart(t, a, j, d), &y, &within);
        sum += j == i ? 0 : (int32_t)helium_poly(piece(t->u_table, k), within);
    }
    return sum;
}

int64_t helium_oracle_ln_psi(const struct helium_oracle *t) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t a[3];
        helium_oracle_place(t, i, a);
        sum += helium_oracle_u(t, i, a) + helium_oracle_site(t, i, a);
    }
    return sum + 2 * of_fields(t, t->field);
}

/* What ln psi changes by if atom i goes to a. */
static int64_t change(const struct helium_oracle *t, uint32_t i, const uint32_t a[3]) {
    uint32_t old[3];
    helium_oracle_place(t, i, old);
    const int64_t pairs = helium_oracle_u(t, i, a) - helium_oracle_u(t, i, old);
    if (!t->triplet)
        return pairs;
    move_fields(t, i, a);
    return pairs + of_fields(t, t->next_field) - of_fields(t, t->field);
}

/* Accepted if |psi'/psi|^2 >= uniform, that is if 2 (ln psi' - ln psi) >= ln(uniform). */
static void trial(struct helium_oracle *t, uint32_t i, uint64_t step) {
    const helium_cubic *random = (const helium_cubic *)(const void *)t->random;
    const struct helium_move move =
        helium_draw(random, t->member, t->factor, t->walker * t->n + i, step);
    const uint32_t by[3] = {(uint32_t)move.dx, (uint32_t)move.dy, (uint32_t)move.dz};
    uint32_t to[3];
    helium_oracle_place(t, i, to);
    for (uint32_t k = 0; k < 3; k++)
        to[k] += by[k];
    const int64_t gain = change(t, i, to);
    if (gain < move.bound)
        return;
    if (t->triplet)
        memcpy(t->field, t->next_field, 12 * (size_t)t->n);
    for (uint32_t k = 0; k < 3; k++)
        t->place[k * t->n + i] = (int32_t)to[k];
    t->ln_psi += gain;
    t->last++;
}

void helium_oracle_steps(struct helium_oracle *t, uint64_t step, uint64_t steps) {
    for (uint64_t s = step; s < step + steps; s++) {
        t->last = 0;
        for (uint32_t i = 0; i < t->n; i++)
            trial(t, i, s);
        t->accepted += t->last;
    }
}

/* ---- energies -------------------------------------------------------------------------------- */

/* f: V and sqrt(lambda) u'/r with their derivatives at x = (r / half)^2. Returns the clamped x. */
static float pair_of(const struct helium_oracle *t, float x, struct helium_slope f[2]) {
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

/* Add the factor's gradient of atom i to `raw`; returns its share of the laplacian's slope. */
static float triplet_share(const struct helium_oracle *t, uint32_t i, float raw[3]) {
    struct helium_triplet_sums run = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const uint32_t size = t->binades << HELIUM_U_PIECES;
    uint32_t a[3];
    helium_oracle_place(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3], y, within;
        const float x = apart(t, a, j, d);
        const uint32_t k = find(t, x, &y, &within);
        if (j != i && x < 1)
            helium_triplet_pair(y, d, piece(t->t_table, k), piece(t->t_table, size + k),
                                vector(t, t->field, i), vector(t, t->field, j), t->member, &run);
    }
    return helium_triplet_add(&run, t->triplet, raw);
}

/* How often the pairs of an atom of block `mine` with those of block `other` count for it. */
static float times_of(uint32_t mine, uint32_t other, uint32_t blocks) {
    const uint32_t ahead = (other + blocks - mine) % blocks, behind = blocks - ahead;
    return ahead == 0 ? 1 : ahead < behind || (ahead == behind && mine < other) ? 2 : 0;
}

/* Floating-point sums depend on their order. It is that of the kernels: partners by number, first
 * within a block. For all but the gradient the pairs of two blocks count twice for one of them. */
void helium_oracle_share(const struct helium_oracle *t, uint32_t i, float share[HELIUM_E_KINDS],
                         float raw[3]) {
    enum { POTENTIAL, VIRIAL, FORCE, SLOPE, X, SHARES = X + 3 };
    const uint32_t blocks = (t->n + HELIUM_E_BLOCK - 1) / HELIUM_E_BLOCK;
    float all[SHARES] = {0}, run[SHARES] = {0}, g[3];
    uint32_t a[3];
    helium_oracle_place(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        const float x = apart(t, a, j, d);
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
        const float times = times_of(i / HELIUM_E_BLOCK, j / HELIUM_E_BLOCK, blocks);
        for (int k = 0; k < SHARES; k++) {
            all[k] += k < X ? times * run[k] : run[k];
            run[k] = 0;
        }
    }
    if (t->sites)
        helium_oracle_one(t, i, all, all + X);
    memcpy(raw, all + X, 3 * sizeof *raw);
    if (t->triplet)
        all[SLOPE] += triplet_share(t, i, raw);
    for (int k = 0; k < 3; k++)
        g[k] = raw[k] * t->member->length[k];
    share[0] = all[POTENTIAL];
    share[1] = 2 * all[VIRIAL];
    share[2] = -t->member->root * fmaf(2, all[SLOPE], t->member->dimensions * all[FORCE]);
    share[3] = fmaf(g[0], g[0], fmaf(g[1], g[1], g[2] * g[2]));
}

void helium_oracle_add(const struct helium_member *m, const float share[HELIUM_E_KINDS],
                       struct helium_sums *sums) {
    int64_t add[HELIUM_E_KINDS];
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        const bool fits = fabsf(share[k]) < m->limit[k];
        add[k] = fits ? (int64_t)(share[k] * m->unit[k]) : 0;
        sums->accepted |= (int64_t)!fits << (HELIUM_BEYOND + k);
    }
    sums->potential += add[0];
    sums->virial += add[1];
    sums->laplacian += add[2];
    sums->gradient += add[3];
}

struct helium_sums helium_oracle_energies(const struct helium_oracle *t) {
    struct helium_sums sums = {.ln_psi = 2 * t->ln_psi, .accepted = t->last};
    for (uint32_t i = 0; i < t->n; i++) {
        float share[HELIUM_E_KINDS], raw[3];
        helium_oracle_share(t, i, share, raw);
        helium_oracle_add(t->member, share, &sums);
    }
    return sums;
}

/* ---- displaced atoms ------------------------------------------------------------------------- */

int64_t helium_oracle_displaced(const struct helium_oracle *t, uint64_t step, uint32_t p,
                                uint32_t points) {
    uint32_t d[3], to[3];
    int64_t sum = 0;
    helium_displacement(t->member, t->walker, step, p, points, 1.0f / (float)points, d);
    for (uint32_t i = 0; i < t->n; i++) {
        helium_oracle_place(t, i, to);
        for (int k = 0; k < 3; k++)
            to[k] += d[k];
        sum += helium_ratio(change(t, i, to));
    }
    return sum;
}
