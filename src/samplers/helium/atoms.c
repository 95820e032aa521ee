/*
 * The energies and the gradient of an atom in serial C, as cl/helium/atom.h finds them: no groups,
 * vectors or local memory, so a compiler that translates those wrongly gives other results.
 */
#include "helium/core.h"
#include "samplers/helium/liquid.h"

static helium_cubic piece(const struct helium_cubic_host *table, uint32_t k) {
    return (helium_cubic){table[k].c[0], table[k].c[1], table[k].c[2], table[k].c[3]};
}

/* a minus the position of atom j, to the nearest image, in 2^-32 of the sides. */
void helium_atoms_difference(const struct helium_atoms *t, const uint32_t a[3], uint32_t j,
                             float d[3]) {
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->place[k * t->n + j]);
}

float helium_atoms_distance2(const struct helium_atoms *t, const float d[3]) {
    const float *scale = t->member->scale;
    return helium_distance2(d[0] * scale[0], d[1] * scale[1], d[2] * scale[2]);
}

void helium_atoms_place(const struct helium_atoms *t, uint32_t i, uint32_t a[3]) {
    for (uint32_t k = 0; k < 3; k++)
        a[k] = (uint32_t)t->place[k * t->n + i];
}

/* f: V and sqrt(lambda) u'/r with their derivatives at x = (r / half)^2. Returns the clamped x. */
static float pair_of(const struct helium_atoms *t, float x, struct helium_slope f[2]) {
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

static void from_site(const struct helium_atoms *t, uint32_t i, const uint32_t a[3], float d[3]) {
    for (uint32_t k = 0; k < 3; k++)
        d[k] = (float)(int32_t)(a[k] - (uint32_t)t->sites[k * t->n + i]);
}

/* Cubic k of a one-body table. */
static helium_cubic one_cubic(const struct helium_atoms *t, uint32_t k) {
    helium_cubic c;
    memcpy(&c, t->sites + 3 * (size_t)t->n + 4 * (size_t)k, sizeof c);
    return c;
}

int32_t helium_atoms_site(const struct helium_atoms *t, uint32_t i, const uint32_t a[3]) {
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

static int64_t u_of(const struct helium_atoms *t, float x) {
    const float y = helium_clamp(x, t->member->low);
    const uint32_t base = (127 - t->binades) << HELIUM_U_PIECES;
    return (int32_t)helium_poly(piece(t->u_table, helium_piece(y, HELIUM_U_PIECES) - base),
                                helium_within(y, HELIUM_U_PIECES));
}

int64_t helium_atoms_u(const struct helium_atoms *t, uint32_t i, const uint32_t a[3]) {
    int64_t sum = helium_atoms_site(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        helium_atoms_difference(t, a, j, d);
        sum += j == i ? 0 : u_of(t, helium_atoms_distance2(t, d));
    }
    return sum;
}

void helium_atoms_one(const struct helium_atoms *t, uint32_t i, float share[4], float slope[3]) {
    const struct helium_member *m = t->member;
    float d[3];
    uint32_t a[3];
    helium_atoms_place(t, i, a);
    from_site(t, i, a, d);
    if (m->site_kind >= HELIUM_ONE_TRAP) {
        const uint32_t slab = m->site_kind == HELIUM_ONE_SLAB;
        const struct helium_one_place at = helium_one_find(d, slab, m);
        const struct helium_one_share s = helium_one_share_of(
            at, d, one_cubic(t, at.piece), one_cubic(t, 2 * HELIUM_ONE_PIECES + at.piece), slab, m);
        share[0] += s.potential;
        share[1] += s.virial;
        share[2] += s.force;
        share[3] += s.slope;
        for (int k = 0; k < 3; k++)
            slope[k] += s.g[k];
        return;
    }
    const float r2 = helium_site2(d, m);
    share[0] = fmaf(m->site_v, r2, share[0]);
    share[1] = fmaf(m->site_v, r2, share[1]);
    share[2] += m->site_mean;
    for (int k = 0; k < 3; k++)
        slope[k] = fmaf(m->site_force[k], d[k], slope[k]);
}

/* Floating-point sums depend on their order. It is that of the kernels: partners by number, first
 * within a block. For all but the gradient the pairs of two blocks count twice for one of them. */
void helium_atoms_share(const struct helium_atoms *t, uint32_t i, float share[HELIUM_E_KINDS],
                        float raw[3]) {
    enum { POTENTIAL, VIRIAL, FORCE, SLOPE, X, Y, Z, SHARES };
    const uint32_t blocks = (t->n + HELIUM_E_BLOCK - 1) / HELIUM_E_BLOCK, mine = i / HELIUM_E_BLOCK;
    const float *length = t->member->length;
    float all[SHARES] = {0}, run[SHARES] = {0}, gradient[3];
    uint32_t a[3];
    helium_atoms_place(t, i, a);
    for (uint32_t j = 0; j < t->n; j++) {
        float d[3];
        helium_atoms_difference(t, a, j, d);
        const float x = helium_atoms_distance2(t, d);
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
    if (t->sites)
        helium_atoms_one(t, i, all, all + X);
    for (int k = 0; k < 3; k++)
        raw[k] = all[X + k];
    if (t->triplet)
        all[SLOPE] += helium_atoms_triplet_share(t, i, raw);
    for (int k = 0; k < 3; k++)
        gradient[k] = raw[k] * length[k];
    share[0] = all[POTENTIAL];
    share[1] = 2 * all[VIRIAL];
    share[2] = -t->member->root * fmaf(2, all[SLOPE], t->member->dimensions * all[FORCE]);
    share[3] =
        fmaf(gradient[0], gradient[0], fmaf(gradient[1], gradient[1], gradient[2] * gradient[2]));
}

void helium_atoms_sums(const struct helium_atoms *t, struct helium_sums *sums) {
    int64_t total[HELIUM_E_KINDS] = {0};
    uint64_t marks = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        float share[HELIUM_E_KINDS], raw[3];
        helium_atoms_share(t, i, share, raw);
        helium_atoms_add(t->member, share, total, &marks);
    }
    helium_atoms_total(total, marks, sums);
}

void helium_atoms_add(const struct helium_member *member, const float share[HELIUM_E_KINDS],
                      int64_t total[HELIUM_E_KINDS], uint64_t *marks) {
    for (int k = 0; k < HELIUM_E_KINDS; k++)
        if (fabsf(share[k]) < member->limit[k])
            total[k] += (int64_t)(share[k] * member->unit[k]);
        else
            *marks |= UINT64_C(1) << k;
}

void helium_atoms_total(const int64_t total[HELIUM_E_KINDS], uint64_t marks,
                        struct helium_sums *sums) {
    *sums = (struct helium_sums){.potential = total[0],
                                 .virial = total[1],
                                 .laplacian = total[2],
                                 .gradient = total[3],
                                 .accepted = (int64_t)(marks << HELIUM_BEYOND)};
}

/* The sums of V and r V' contain each pair twice. Factors in brackets leave the loop over walkers:
 * it has no divisions. */
struct helium_energies helium_energies_of(const struct helium_model *model,
                                          const struct helium_sums *sums) {
    const double n = model->n;
    return (struct helium_energies){
        .potential = (double)sums->potential * (0.5 * model->unit[0] / n) + model->tail_potential,
        .virial = (double)sums->virial * (0.5 * model->unit[1] / n) + model->tail_virial,
        .laplacian = (double)sums->laplacian * (model->unit[2] / n),
        .gradient = (double)sums->gradient * (model->unit[3] / n)};
}
