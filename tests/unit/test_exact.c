/* Exact Ising results against the published table, brute force, and each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "samplers/spin_lattice/exact.h"

static double Tc(void) {
    return 2 / log1p(sqrt(2.0));
}

/*
 * Energy per site of the infinite square lattice, J = 1, B = 0 (L. Onsager, Phys. Rev. 65, 117
 * (1944)): -coth 2K [1 + (2/pi)(2 tanh^2 2K - 1) K_1(2t)], K_1(k) = pi / (2 agm(1, k')), t = tanh
 * 2K / cosh 2K, k'^2 = (1 - 2t)(1 + 2t), 1 - 2t = (tanh 2K - 1/cosh 2K)^2. At high temperature the
 * bracket is a small difference: 1 - agm is kept, from 1 - k' = k^2 / (1 + k').
 */
static double onsager(double T) {
    const long double th = tanhl(2 / (long double)T), se = 1 / coshl(2 / (long double)T);
    const long double t = th * se, complement = fabsl(th - se) * sqrtl(1 + 2 * t);
    long double a = 0, b = 4 * t * t / (1 + complement); /* 1 - (the two numbers of the agm) */
    for (int i = 0; i < 64 && b - a > 1e-21L * b; i++) {
        const long double mean = 0.5L * (a + b);
        b = (a + b - a * b) / (1 + sqrtl((1 - a) * (1 - b)));
        a = mean;
    }
    return (double)(-(2 * th * th - a) / (1 - a) / th);
}

/* Absolute: as many digits as are given. */
static void close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) {
        printf("got %.17g want %.17g\n", got, want);
        fail();
    }
}

/* data/reference/ising.md */
static void test_torus_table(void **state) {
    (void)state;
    static const struct {
        int L;
        double T, u, c;
    } table[] = {
        {8, 2.0, -1.745683170293, 0.7141226029},  {8, 0, -1.491589107440, 1.1455592399},
        {8, 2.3, -1.455873591733, 1.1709567697},  {16, 2.0, -1.745530668991, 0.7255087677},
        {16, 0, -1.453064852813, 1.4987049594},   {16, 2.3, -1.406067925600, 1.5449209876},
        {64, 2.0, -1.745564575313, 0.7248714486}, {64, 0, -1.423938389833, 2.1922113931},
        {64, 2.3, -1.355590370536, 2.1250491112}, {128, 2.0, -1.745564575313, 0.7248714486},
        {128, 0, -1.419076272085, 2.5363313351},  {128, 2.3, -1.345130406147, 2.0008413725},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double T = table[i].T > 0 ? table[i].T : Tc();
        struct ergo_ising_exact e;
        assert_true(ergo_ising_exact_torus(table[i].L, table[i].L, T, 1, &e));
        close_to(e.energy, table[i].u, 0.6e-12);
        close_to(e.heat_capacity, table[i].c, 0.6e-10);
    }
}

static void test_enumerated_table(void **state) {
    (void)state;
    static const double table[][7] = {
        {1.5, -1.950642561459, 0.200349872975, 0.986173297816, 0.975302493142, 0.958942519597,
         0.663958703045},
        {2.0, -1.755380288777, 0.605532657210, 0.918943267402, 0.868921681642, 0.804530078689,
         0.644810791188},
        {0, -1.565623787638, 0.783266825929, 0.843860444813, 0.761358908569, 0.665691213267,
         0.617199318412},
        {2.5, -1.379116482259, 0.812515229440, 0.764712393222, 0.654825756937, 0.538318766756,
         0.581527659120},
        {5.0, -0.456135369543, 0.119546188787, 0.342765627554, 0.175199478093, 0.072943894000,
         0.207859765073},
    };
    for (int i = 0; i < 5; i++) {
        struct ergo_ising_moments m;
        double T = table[i][0] > 0 ? table[i][0] : Tc();
        assert_true(ergo_ising_enumerate(4, 4, T, 1, 0, &m));
        const double got[6] = {m.energy,         m.heat_capacity,  m.abs_magnetization,
                               m.magnetization2, m.magnetization4, m.binder};
        for (int k = 0; k < 6; k++)
            close_to(got[k], table[i][k + 1], 0.6e-12);
        close_to(m.magnetization, 0, 1e-15);
    }
}

/* Kaufman's formula against brute force: also sides of 1 and 2, odd sides, J < 0. */
static void test_torus_against_enumeration(void **state) {
    (void)state;
    static const int shapes[][2] = {{2, 2}, {4, 2}, {2, 4}, {4, 4}, {6, 4}, {4, 6},
                                    {2, 8}, {1, 1}, {1, 6}, {3, 3}, {3, 5}, {5, 4}};
    const double temperatures[] = {0.3, 0.5, 1, 1.5, 2, Tc(), 2.5, 5, 100, 1e6};
    double worst_u = 0, worst_c = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int Lx = shapes[s][0], Ly = shapes[s][1];
        for (int i = 0; i < 10; i++) {
            for (int sign = 1; sign >= -1; sign -= 2) {
                double J = 1.25 * sign;
                struct ergo_ising_exact e;
                struct ergo_ising_moments m;
                bool even = Lx % 2 == 0 && Ly % 2 == 0;
                assert_int_equal(ergo_ising_exact_torus(Lx, Ly, temperatures[i], J, &e),
                                 sign > 0 || even);
                if (sign < 0 && !even)
                    continue;
                assert_true(ergo_ising_enumerate(Lx, Ly, temperatures[i], J, 0, &m));
                worst_u = fmax(worst_u, fabs(e.energy - m.energy));
                close_to(e.energy, m.energy, 1e-15 * fabs(m.energy) + 1e-17);
                close_to(e.heat_capacity, m.heat_capacity, 1e-13 * m.heat_capacity + 1e-17);
                worst_c = fmax(worst_c, fabs(e.heat_capacity - m.heat_capacity));
            }
        }
    }
    printf("Kaufman - enumeration: u %.1e, c %.1e at most\n", worst_u, worst_c);
}

/* 60-digit evaluation of Kaufman's Z with numerical derivatives (mpmath). */
static void test_torus_many_digits(void **state) {
    (void)state;
    static const struct {
        int Lx, Ly;
        double T, u, c;
    } table[] = {
        {64, 64, 2.269185314213022, -1.4239383898330106927, 2.1922113931405718443},
        {32, 256, 2.3, -1.3566115266961581225, 1.8115233638030556241},
        {256, 32, 2.3, -1.3566115266961581225, 1.8115233638030556241},
        {128, 128, 2.25, -1.4631113145544454027, 2.0451414517131153944},
        {64, 64, 0.4, -1.9999999835085248851, 8.2462991678280114317e-7},
        {8, 8, 1e5, -0.000020000000003333333334, 2.0000000010000000002e-10},
        {256, 256, 2.269185314213022, -1.4166449541968320535, 2.8797862552025022585},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ergo_ising_exact e;
        assert_true(ergo_ising_exact_torus(table[i].Lx, table[i].Ly, table[i].T, 1, &e));
        close_to(e.energy, table[i].u, 1e-15 * fabs(table[i].u) + 1e-17);
        close_to(e.heat_capacity, table[i].c, 1e-13 * table[i].c);
    }
}

static void test_torus_large_and_extreme(void **state) {
    (void)state;
    struct ergo_ising_exact e, f;
    /* Away from Tc a large torus is the infinite lattice. */
    const double temperatures[] = {1e-4, 0.01, 0.5, 1.5, 2, 2.2, 2.4, 3, 10, 1e4};
    for (int i = 0; i < 10; i++) {
        double T = temperatures[i];
        assert_true(ergo_ising_exact_torus(16384, 16384, T, 1, &e));
        close_to(e.energy, onsager(T), 4e-15 * fabs(e.energy) + 1e-17);
        assert_true(e.heat_capacity >= 0);
        assert_true(ergo_ising_exact_torus(4096, 16384, T, 1, &f));
        close_to(f.heat_capacity, e.heat_capacity, 1e-11 * e.heat_capacity + 1e-17);
    }
    /* At Tc (Ferdinand and Fisher): u = -sqrt 2 - const/L, c = (8/pi) K^2 ln L + const, up to
     * terms of order ln L / L. */
    assert_true(ergo_ising_exact_torus(16384, 16384, Tc(), 1, &e));
    assert_true(ergo_ising_exact_torus(8192, 8192, Tc(), 1, &f));
    close_to((e.energy + sqrt(2)) * 2, f.energy + sqrt(2), 1e-9);
    double K = 1 / Tc();
    close_to(e.heat_capacity - f.heat_capacity, 8 / 3.141592653589793 * K * K * log(2), 1e-4);
    /* Smooth through Tc: c is du/dT by central differences, on both sides. */
    for (int k = -2; k <= 2; k++) {
        double T = Tc() + 1e-4 * k, h = 1e-5;
        struct ergo_ising_exact up, down;
        assert_true(ergo_ising_exact_torus(64, 64, T, 1, &e));
        assert_true(ergo_ising_exact_torus(64, 64, T + h, 1, &up));
        assert_true(ergo_ising_exact_torus(64, 64, T - h, 1, &down));
        close_to((up.energy - down.energy) / (2 * h), e.heat_capacity, 1e-6);
    }
    /* Arguments. */
    assert_true(ergo_ising_exact_torus(8, 8, 2, 0, &e) && e.energy == 0 && e.heat_capacity == 0);
    assert_false(ergo_ising_exact_torus(0, 8, 2, 1, &e));
    assert_true(isnan(e.energy));
    assert_false(ergo_ising_exact_torus(8, 8, 0, 1, &e));
    assert_false(ergo_ising_exact_torus(8, 8, -1, 1, &e));
    assert_false(ergo_ising_exact_torus(8, 8, NAN, 1, &e));
    assert_false(ergo_ising_exact_torus(8, 8, INFINITY, 1, &e));
    assert_false(ergo_ising_exact_torus(8, 8, 1, NAN, &e));
    assert_false(ergo_ising_exact_torus(7, 8, 1, -1, &e));
}

static void test_infinite(void **state) {
    (void)state;
    close_to(Tc(), 2.269185314213, 0.6e-12);
    close_to(onsager(2), -1.745564575312554, 1e-15);
}

/* Free spins in a field; a field on an antiferromagnet by symmetry; limits. */
static void test_enumerate(void **state) {
    (void)state;
    struct ergo_ising_moments m, n;
    double T = 1.7, B = 0.6, t = tanh(B / T);
    assert_true(ergo_ising_enumerate(4, 3, T, 0, B, &m));
    close_to(m.magnetization, t, 1e-15);
    close_to(m.energy, -B * t, 1e-15);
    close_to(m.heat_capacity, B * B / (T * T) * (1 - t * t), 1e-15);
    close_to(m.magnetization2, t * t + (1 - t * t) / 12, 1e-15);
    assert_true(ergo_ising_enumerate(4, 3, T, 1, B, &m));
    assert_true(ergo_ising_enumerate(4, 3, T, 1, -B, &n));
    close_to(m.magnetization, -n.magnetization, 1e-15);
    close_to(m.energy, n.energy, 1e-15);
    assert_true(ergo_ising_enumerate(1, 1, T, 1, B, &m)); /* its own neighbour */
    close_to(m.energy, -2 - B * t, 1e-15);
    assert_true(ergo_ising_enumerate(4, 4, 1e-3, 1, 0, &m)); /* no overflow */
    assert_true(m.energy == -2 && m.heat_capacity == 0 && m.abs_magnetization == 1);
    assert_true(ergo_ising_enumerate(6, 4, 2, 1, 0.1, &m));
    assert_false(ergo_ising_enumerate(5, 5, 2, 1, 0, &m));
    assert_true(isnan(m.energy) && isnan(m.binder));
    assert_false(ergo_ising_enumerate(4, 4, 0, 1, 0, &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torus_table),
        cmocka_unit_test(test_enumerated_table),
        cmocka_unit_test(test_torus_against_enumeration),
        cmocka_unit_test(test_torus_many_digits),
        cmocka_unit_test(test_torus_large_and_extreme),
        cmocka_unit_test(test_infinite),
        cmocka_unit_test(test_enumerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
