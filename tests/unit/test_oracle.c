/*
 * The serial Ising oracle against exact enumeration and against the generator's known answers.
 *
 * Error budget, set beforehand: every |z| < 4 with the seeds below; 60 comparisons, so a right
 * program fails with fewer than one choice of seeds in 250. Power: the same run at a temperature
 * 1% off must fail, as must one whose rows share their random bits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../oracle/derived.h"
#include "../oracle/ising_serial.c"
#include "../oracle/philox_ref.h"

#include "samplers/spin_lattice/exact.h"
#include "stats/stats.h"

enum { SWEEPS = 100000, WARM_UP = 500 };

static void test_philox_known_answers(void **state) {
    (void)state;
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        ergo_oracle_philox(known[i], known[i] + 4, out);
        assert_memory_equal(out, known[i] + 6, sizeof out);
    }
}

static double heat_capacity(const double *means, void *user) {
    const struct ergo_oracle_ising *o = user;
    return o->Lx * o->Ly * (means[1] - means[0] * means[0]) / (o->T * o->T);
}

/* Largest |z| over energy, heat capacity, m, |m|, m2, m4. `at`: parameters of the exact values. */
static double largest_z(struct ergo_oracle_ising *o, const struct ergo_oracle_ising *at,
                        const char *what, bool *too_short) {
    enum { COLUMNS = 6 };
    double *series = malloc(sizeof(double) * COLUMNS * SWEEPS);
    assert_non_null(series);
    const double *column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        column[c] = series + c * SWEEPS;
    uint64_t t = 0;
    while (t < WARM_UP)
        ergo_oracle_ising_sweep(o, t++);
    for (size_t i = 0; i < SWEEPS; i++) {
        ergo_oracle_ising_sweep(o, t++);
        double e = ergo_oracle_ising_energy(o);
        double m = (double)ergo_oracle_ising_magnetization(o) / (o->Lx * o->Ly);
        double values[COLUMNS] = {e, e * e, m, fabs(m), m * m, m * m * m * m};
        for (size_t c = 0; c < COLUMNS; c++)
            series[c * SWEEPS + i] = values[c];
    }
    struct ergo_ising_moments exact;
    assert_true(ergo_ising_enumerate(at->Lx, at->Ly, at->T, at->J, at->B, &exact));
    struct ergo_estimate got[COLUMNS];
    ergo_stats_estimate(column[0], SWEEPS, &got[0]);
    ergo_stats_derived(column, 2, SWEEPS, heat_capacity, o, &got[1]);
    for (int c = 2; c < COLUMNS; c++)
        ergo_stats_estimate(column[c], SWEEPS, &got[c]);
    const double want[COLUMNS] = {exact.energy,         exact.heat_capacity,
                                  exact.magnetization,  exact.abs_magnetization,
                                  exact.magnetization2, exact.magnetization4};
    static const char *const name[COLUMNS] = {"u", "c", "m", "|m|", "m2", "m4"};
    double worst = 0;
    printf("%-28s", what);
    for (int c = 0; c < COLUMNS; c++) {
        double z = (got[c].mean - want[c]) / got[c].error;
        printf(" %s z=%+.2f", name[c], z);
        worst = fmax(worst, fabs(z));
        *too_short = *too_short || got[c].too_short;
    }
    printf("\n");
    free(series);
    return worst;
}

static void check(const char *what, int Lx, int Ly, double J, double B, double T,
                  enum ergo_oracle_dynamics dynamics, ergo_oracle_block block, uint64_t stream) {
    struct ergo_oracle_ising o;
    assert_true(
        ergo_oracle_ising_init(&o, Lx, Ly, J, B, T, dynamics, ERGO_ORACLE_RANDOM, block, stream));
    bool too_short = false;
    assert_true(largest_z(&o, &o, what, &too_short) < 4);
    assert_false(too_short);
    ergo_oracle_ising_free(&o);
}

static void test_exact_philox(void **state) {
    (void)state;
    check("philox 4x4 T=2.5", 4, 4, 1, 0, 2.5, ERGO_ORACLE_METROPOLIS, ergo_oracle_philox, 42);
    check("philox 4x4 T=Tc", 4, 4, 1, 0, 2.269185314213, ERGO_ORACLE_METROPOLIS, ergo_oracle_philox,
          43);
    check("philox 4x4 heat bath T=2.5", 4, 4, 1, 0, 2.5, ERGO_ORACLE_HEAT_BATH, ergo_oracle_philox,
          44);
    check("philox 4x4 B=0.1 T=3", 4, 4, 1, 0.1, 3, ERGO_ORACLE_METROPOLIS, ergo_oracle_philox, 45);
    check("philox 4x4 J=-1 T=2.5", 4, 4, -1, 0, 2.5, ERGO_ORACLE_METROPOLIS, ergo_oracle_philox,
          46);
    check("philox 6x4 J=-1 B=0.5 T=3", 6, 4, -1, 0.5, 3, ERGO_ORACLE_HEAT_BATH, ergo_oracle_philox,
          47);
    /* Heat bath: see test_metropolis_trap. */
    check("philox 2x4 heat bath T=4", 2, 4, 1, 0, 4, ERGO_ORACLE_HEAT_BATH, ergo_oracle_philox,
          UINT64_C(0x123456789abcdef0));
}

static void test_exact_sequential(void **state) {
    (void)state;
    check("sequential 4x4 T=2.5", 4, 4, 1, 0, 2.5, ERGO_ORACLE_METROPOLIS, NULL, 42);
    check("sequential 4x4 heat bath", 4, 4, 1, 0, 2.5, ERGO_ORACLE_HEAT_BATH, NULL, 43);
    check("sequential 6x4 B=-0.2 T=3", 6, 4, 1, -0.2, 3, ERGO_ORACLE_METROPOLIS, NULL, 44);
}

/* Power: 1% in temperature must be seen. */
static void test_wrong_temperature(void **state) {
    (void)state;
    struct ergo_oracle_ising o, at;
    assert_true(ergo_oracle_ising_init(&o, 4, 4, 1, 0, 2.525, ERGO_ORACLE_METROPOLIS,
                                       ERGO_ORACLE_RANDOM, ergo_oracle_philox, 42));
    at = o;
    at.T = 2.5;
    bool too_short = false;
    assert_true(largest_z(&o, &at, "mutant: T 1% too high", &too_short) > 4);
    ergo_oracle_ising_free(&o);
}

/* Power: neighbours whose draws are the same (four words of a block alike) must be seen. */
static void repeat_first_word(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    ergo_oracle_philox(counter, key, out);
    out[1] = out[2] = out[3] = out[0];
}

static void test_wrong_generator(void **state) {
    (void)state;
    struct ergo_oracle_ising o;
    assert_true(ergo_oracle_ising_init(&o, 4, 4, 1, 0, 2.5, ERGO_ORACLE_METROPOLIS,
                                       ERGO_ORACLE_RANDOM, repeat_first_word, 42));
    bool too_short = false;
    assert_true(largest_z(&o, &o, "mutant: rows share bits", &too_short) > 4);
    ergo_oracle_ising_free(&o);
}

/*
 * A property of the method, not of the program: without a field, checkerboard Metropolis is not
 * ergodic. Where every spin has two up and two down neighbours all dE are 0, every spin is flipped
 * in every half-sweep, and it stays so for ever: diagonal stripes ++-- on sides that are multiples
 * of 4. Such states are never entered either. Their weight at T = 4 is 0.7% on 2 x 4, 2e-4 on
 * 4 x 4, and nothing on lattices that anyone simulates; heat bath has no such states.
 */
static void test_metropolis_trap(void **state) {
    (void)state;
    for (int dynamics = 0; dynamics < 2; dynamics++) {
        struct ergo_oracle_ising o;
        assert_true(ergo_oracle_ising_init(&o, 8, 8, 1, 0, 2, (enum ergo_oracle_dynamics)dynamics,
                                           ERGO_ORACLE_UP, ergo_oracle_philox, 1));
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                *site(&o, x, y) = (x + y) % 4 < 2 ? 1 : -1;
        for (uint64_t t = 0; t < 100; t++)
            ergo_oracle_ising_sweep(&o, t);
        bool stripes = true;
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                stripes = stripes && ergo_oracle_ising_spin(&o, x, y) == ((x + y) % 4 < 2 ? 1 : -1);
        assert_int_equal(stripes, dynamics == ERGO_ORACLE_METROPOLIS);
        ergo_oracle_ising_free(&o);
    }
}

/* A block function that shows which counters are asked for. */
static uint32_t seen[64][4];
static size_t n_seen;
static void record(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    assert_int_equal(key[0], 0x55667788);
    assert_int_equal(key[1], 0x11223344);
    if (n_seen < 64)
        memcpy(seen[n_seen++], counter, 16);
    memset(out, 0, 16);
}

/* Counters, and "undecided" by hand: all random bits 0 and p < 1/128, so that every site is. */
static void test_addressing(void **state) {
    (void)state;
    struct ergo_oracle_ising o;
    /* All up, T = 1: dE = 8, p = 3.4e-4, the upper seven bits are 0; W = 1, 6 words, 2 blocks. */
    assert_true(ergo_oracle_ising_init(&o, 6, 6, 1, 0, 1, ERGO_ORACLE_METROPOLIS, ERGO_ORACLE_UP,
                                       record, UINT64_C(0x1122334455667788)));
    assert_int_equal(ergo_oracle_ising_threshold(&o, 1, 4), llround(exp(-8) * 549755813888.0));
    assert_int_equal(ergo_oracle_ising_threshold(&o, 1, 0), INT64_C(1) << 39);
    n_seen = 0;
    ergo_oracle_ising_sweep(&o, UINT64_C(0x0000000700000009));
    /* Block 0 of colour 0: draws 0..6, then 12 sites, one draw function call each. */
    for (uint32_t j = 0; j < 7 + 12; j++) {
        uint32_t draw = j < 7 ? j : 7 + (j - 7) / 4;
        uint32_t want[4] = {0, 9, 7, 1u << 24 | draw};
        assert_memory_equal(seen[j], want, sizeof want);
    }
    assert_int_equal(seen[19][0], 1); /* block 1: the last two words */
    assert_int_equal(seen[19][3], 1u << 24);
    /* u = 0 is below every threshold: colour 0 flips, then colour 1 (all neighbours down). */
    assert_int_equal(ergo_oracle_ising_magnetization(&o), -36);
    ergo_oracle_ising_free(&o);
}

/* Random start: one bit a site, at the stated place. */
static void test_random_start(void **state) {
    (void)state;
    struct ergo_oracle_ising o;
    assert_true(ergo_oracle_ising_init(&o, 70, 6, 1, 0, 1, ERGO_ORACLE_METROPOLIS,
                                       ERGO_ORACLE_RANDOM, ergo_oracle_philox, 5));
    /* x = 69, y = 3: colour 0, k = 34, W = 2, word 7, block 1, lane 3, bit 2. */
    uint32_t counter[4] = {1, 0, 0, 3u << 24}, key[2] = {5, 0}, out[4];
    ergo_oracle_philox(counter, key, out);
    assert_int_equal(ergo_oracle_ising_spin(&o, 69, 3), out[3] >> 2 & 1 ? 1 : -1);
    /* x = 0, y = 5: colour 1, k = 0, word 10, block 2, lane 2, bit 0. */
    uint32_t counter1[4] = {2, 0, 0, 3u << 24 | 1};
    ergo_oracle_philox(counter1, key, out);
    assert_int_equal(ergo_oracle_ising_spin(&o, 0, 5), out[2] & 1 ? 1 : -1);
    ergo_oracle_ising_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers), cmocka_unit_test(test_addressing),
        cmocka_unit_test(test_random_start),         cmocka_unit_test(test_exact_philox),
        cmocka_unit_test(test_exact_sequential),     cmocka_unit_test(test_wrong_temperature),
        cmocka_unit_test(test_wrong_generator),      cmocka_unit_test(test_metropolis_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
