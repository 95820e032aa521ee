/* The triplet factor of helium: xi, tables, the chain's integers and energies (helium_chain.h)
 * against ln psi in doubles and its numerical derivatives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helium/density.h"
#include "helium/triplet.h"
#include "helium_vmc/core.h"
#include "oracle/helium_chain.h"
#include "oracle/helium_triplet.h"
#include "samplers/helium_vmc/helium.h"

enum { N = 27 };

static void close_to(const char *what, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g within %.2g", what, found, expected, tolerance);
}

/* Atoms near the sites of a lattice in an unequal box, the model, and what kernels get of it. */
struct scene {
    double r[3 * N];
    int32_t place[3 * N], field[6 * N];
    struct helium_model model;
    struct helium_member member;
    struct helium_triplet triplet;
    struct helium_cubic_host *u, *e, *t;
    struct ergo_oracle_triplet oracle;
    struct helium_oracle chain;
};

static void set_up(struct scene *s, uint32_t dimensions, double strength, double range) {
    const int plane = dimensions == 2, cells[3] = {3, plane ? 9 : 3, plane ? 1 : 3};
    memset(s, 0, sizeof *s);
    struct helium_model *m = &s->model;
    *m = (struct helium_model){.n = N,
                               .dimensions = dimensions,
                               .density = 0.02,
                               .b = 2.9,
                               .lambda = helium_lambda(4.002602)};
    m->half = 100;
    for (int k = 0; k < 3; k++) {
        m->side[k] = 3.7 * cells[k] + 0.5 * k;
        m->half = k < 3 - plane ? fmin(m->half, m->side[k] / 2) : m->half;
    }
    if (plane)
        m->side[2] = 2 * m->half;
    m->core = 0.5;
    m->kink = 1.4826 * 2.963;
    m->triplet = (struct helium_triplet_model){
        .strength = strength, .centre = 1.9, .width = 1.5, .range = range > 0 ? range : m->half};
    assert_true(helium_triplet_bits(&m->triplet, N));
    helium_model_core(m);
    int kind;
    double most, usual;
    assert_true(helium_fixed_point(m, &kind, &most, &usual));

    const unsigned binades = helium_model_binades(m);
    s->member.low = helium_model_low(m);
    s->member.root = (float)sqrt(m->lambda);
    s->member.dimensions = (float)dimensions;
    helium_model_kink(m, &s->member.kink, &s->member.kink_width);
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        s->member.unit[k] = (float)ldexp(1, m->bits[k]);
        s->member.limit[k] = (float)(ldexp(1, 62 - m->bits[k]) / N);
    }
    for (int k = 0; k < 3; k++) {
        s->member.scale[k] = (float)(m->side[k] / (2 * m->half) * 0x1p-31);
        s->member.length[k] = (float)(m->side[k] * 0x1p-32);
    }
    helium_triplet_fill(m, &s->member, &s->triplet);
    s->u = calloc((size_t)binades << HELIUM_U_PIECES, sizeof *s->u);
    s->t = calloc((size_t)2 * binades << HELIUM_U_PIECES, sizeof *s->t);
    s->e = calloc(2 * (size_t)helium_energy_pieces(binades), sizeof *s->e);
    assert_true(s->u && s->t && s->e);
    helium_table_u(m, binades, s->u);
    helium_table_energy(m, binades, s->e);
    helium_table_triplet(m, binades, s->t);

    for (int i = 0; i < N; i++) {
        const int site[3] = {i % 3, i / 3 % cells[1], i / 9}, step[3] = {3, 5, 7};
        for (int k = 0; k < 3 - plane; k++) {
            const double a = m->side[k] / cells[k];
            s->place[N * k + i] = (int32_t)(uint32_t)llround(
                (site[k] + 0.3 + 0.15 * sin(k + 1 + step[k] * i)) * a / m->side[k] * 0x1p32);
            s->r[3 * i + k] = (double)(uint32_t)s->place[N * k + i] * 0x1p-32 * m->side[k];
        }
    }
    s->oracle =
        (struct ergo_oracle_triplet){.pairs = {.n = N, .b = m->b, .position = s->r, .plane = plane},
                                     .strength = m->triplet.strength,
                                     .centre = m->triplet.centre,
                                     .width = m->triplet.width,
                                     .range = m->triplet.range};
    for (int k = 0; k < 3; k++)
        s->oracle.pairs.side[k] = m->side[k];
    s->chain = (struct helium_oracle){.member = &s->member,
                                      .u_table = s->u,
                                      .e_table = s->e,
                                      .binades = binades,
                                      .n = N,
                                      .place = s->place,
                                      .triplet = &s->triplet,
                                      .t_table = s->t,
                                      .field = s->field,
                                      .next_field = s->field + 3 * N};
    helium_oracle_fields(&s->chain);
}

static void tear_down(struct scene *s) {
    free(s->u);
    free(s->e);
    free(s->t);
}

/* xi and the terms of two atoms: derivatives by differences; 0 with two derivatives at the end. */
static void xi_has_its_derivatives(void **state) {
    (void)state;
    const struct helium_triplet_model t = {
        .strength = -0.7, .centre = 2.1, .width = 1.4, .range = 6.5};
    for (double r = 0.8; r < 7; r += 0.37) {
        const double h = 1e-4;
        double x[3][3], u[3][3] = {{0}};
        for (int k = 0; k < 3; k++) {
            helium_triplet_xi(&t, r + h * (k - 1), x[k]);
            helium_triplet_pairs(&t, r + h * (k - 1), u[k]);
        }
        for (int d = 0; d < 2; d++) {
            close_to("xi", x[1][d + 1], (x[2][d] - x[0][d]) / (2 * h), 1e-7);
            close_to("pairs", u[1][d + 1], (u[2][d] - u[0][d]) / (2 * h), 1e-7);
        }
    }
    double end[3];
    helium_triplet_xi(&t, 6.5 - 1e-6, end);
    for (int d = 0; d < 3; d++)
        close_to("xi at its end", end[d], 0, 1e-6);
}

/* ln psi of the chain, from scratch, is that of doubles in both forms. */
static void ln_psi_is_the_oracles(void **state) {
    (void)state;
    static const double rows[][2] = {{-3, 0}, {2, 0}, {-3, 5}, {-3, 0}};
    for (int row = 0; row < 4; row++) {
        struct scene s;
        set_up(&s, row < 3 ? 3 : 2, rows[row][0], rows[row][1]);
        const double expected = ergo_oracle_triplet_ln_psi(&s.oracle);
        close_to("by triples", ergo_oracle_triplet_by_triples(&s.oracle), expected, 1e-10);
        close_to("ln psi", (double)helium_oracle_ln_psi(&s.chain) * 0x1p-22, expected, 2e-5);
        s.oracle.strength = 0;
        if (!(fabs(ergo_oracle_triplet_ln_psi(&s.oracle) - expected) >
              1e-3)) /* far above what is resolved */
            fail_msg("the triplet factor is too weak to be seen");
        tear_down(&s);
    }
}

/* Gradient and laplacian of all atoms are those of ln psi by numerical differentiation. */
static void energies_are_derivatives_of_ln_psi(void **state) {
    (void)state;
    static const double rows[][2] = {{-3, 0}, {2, 0}, {-3, 5}, {-3, 0}};
    for (int row = 0; row < 4; row++) {
        struct scene s;
        double square, laplacian;
        set_up(&s, row < 3 ? 3 : 2, rows[row][0], rows[row][1]);
        const struct helium_sums sums = helium_oracle_energies(&s.chain);
        const struct helium_energies e = helium_energies_of(&s.model, &sums);
        ergo_oracle_triplet_derivatives(&s.oracle, &square, &laplacian);
        const double lambda = s.model.lambda / N;
        close_to("gradient", e.gradient, lambda * square, 2e-5 * lambda * square);
        close_to("laplacian", e.laplacian, -lambda * laplacian, 2e-5 * lambda * fabs(laplacian));
        tear_down(&s);
    }
}

/* A move changes ln psi by what it is afterwards less what it was, to the last bit; and so do all
 * fields. */
static void moves_change_what_they_should(void **state) {
    (void)state;
    struct scene s;
    set_up(&s, 3, -0.8, 0);
    s.chain.random = calloc(2 * HELIUM_R_SIZE, sizeof(struct helium_cubic_host));
    assert_non_null(s.chain.random);
    helium_table_random((struct helium_cubic_host *)(uintptr_t)s.chain.random);
    s.chain.factor = HELIUM_FACTOR_ONE;
    for (int k = 0; k < 3; k++)
        s.member.step[k] = (float)(0.3 / s.model.side[k] * 0x1p32);
    const int64_t before = helium_oracle_ln_psi(&s.chain);
    helium_oracle_steps(&s.chain, 0, 4);
    assert_true(s.chain.accepted > 10);
    assert_int_equal(before + 2 * s.chain.ln_psi, helium_oracle_ln_psi(&s.chain));
    int32_t kept[3 * N];
    memcpy(kept, s.field, sizeof kept);
    helium_oracle_fields(&s.chain);
    assert_memory_equal(kept, s.field, sizeof kept);
    free((void *)(uintptr_t)s.chain.random);
    tear_down(&s);
}

/* Units of G: fine for few atoms, coarser for many, refused where no integer holds G. */
static void units_hold_any_configuration(void **state) {
    (void)state;
    struct helium_triplet_model t = {.strength = -10, .centre = 3, .width = 5, .range = 7};
    assert_true(helium_triplet_bits(&t, 64));
    assert_true(t.bits == 20);
    assert_true(helium_triplet_bits(&t, 2048));
    assert_true(t.bits < 20 && t.bits >= 11);
    t.strength = -1e12;
    assert_false(helium_triplet_bits(&t, 2048));
}

/* The sum of ratios of an atom after the other that is displaced: the oracle's ln psi, moved and
 * not. Displacements go out along one direction, then anywhere. */
static void displaced_in(uint32_t dimensions) {
    enum { POINTS = 6 };
    struct scene s;
    set_up(&s, dimensions, -3, 0);
    s.chain.walker = 3;
    s.member.key0 = 17;
    const double before = ergo_oracle_triplet_ln_psi(&s.oracle);
    double ratios[2 * POINTS] = {0};
    for (uint32_t p = 0; p < 2 * POINTS; p++) {
        uint32_t d[3];
        double by[3], length = 0;
        helium_displacement(&s.member, 3, 5, p, POINTS, 1.0f / POINTS, d);
        for (int k = 0; k < 3; k++) {
            by[k] = (int32_t)d[k] * 0x1p-32 * s.model.side[k];
            length += by[k] * by[k];
        }
        assert_true(dimensions == 3 || d[2] == 0);
        if (p < POINTS)
            close_to("distance", sqrt(length), s.model.half * (p + 1) / POINTS, 1e-5);
        for (int i = 0; i < N; i++) {
            double old[3];
            memcpy(old, s.r + 3 * i, sizeof old);
            for (int k = 0; k < 3; k++) {
                const double x = old[k] + by[k], side = s.model.side[k];
                s.r[3 * i + k] = x - side * floor(x / side);
            }
            ratios[p] += exp(fmin(15, ergo_oracle_triplet_ln_psi(&s.oracle) - before));
            memcpy(s.r + 3 * i, old, sizeof old);
        }
        close_to("ratios", (double)helium_oracle_displaced(&s.chain, 5, p, POINTS) * 0x1p-24,
                 ratios[p], 1e-4 * (1 + ratios[p]));
    }
    tear_down(&s);
}

static void displaced_atoms_are_the_oracles(void **state) {
    (void)state;
    displaced_in(3);
    displaced_in(2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(displaced_atoms_are_the_oracles),
        cmocka_unit_test(xi_has_its_derivatives),
        cmocka_unit_test(ln_psi_is_the_oracles),
        cmocka_unit_test(energies_are_derivatives_of_ln_psi),
        cmocka_unit_test(moves_change_what_they_should),
        cmocka_unit_test(units_hold_any_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
