/*
 * Facilitated dynamics without a device: the Markov operator against the printed table
 * (data/reference/facilitated.md), core.h's functions as C against the plain oracle bit for bit,
 * the closure test, the times of the curves.
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

#include "oracle/facilitated.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

static double field_of(double c) {
    return 0.5 * log((1 - c) / c);
}

static void test_table(void **state) {
    static const struct {
        int side;
        double c;
        bool heat_bath;
        size_t t;
        double phi;
    } table[] = {
        {3, 0.42, false, 1, 0.8409326369},   {3, 0.42, false, 2, 0.7963230823},
        {3, 0.42, false, 5, 0.7373376971},   {3, 0.42, false, 20, 0.6345240449},
        {3, 0.42, false, 100, 0.5713228986}, {3, 0.42, false, 500, 0.5688884627},
        {3, 0.6, true, 1, 0.7577102442},     {3, 0.6, true, 10, 0.4097977726},
        {3, 0.6, true, 100, 0.2919986109},   {4, 0.42, false, 1, 0.8430631478},
        {4, 0.42, false, 3, 0.7726033594},   {4, 0.42, false, 10, 0.6896496044},
    };
    double phi[501], persistence[501];
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct fac_oracle o = {table[i].side,        table[i].side,      3, 2, 0,
                                     field_of(table[i].c), table[i].heat_bath, 0};
        const size_t n = table[i].side == 4 ? 11 : 501;
        if (i == 0 || table[i].side != table[i - 1].side || table[i].c != table[i - 1].c)
            assert_true(fac_oracle_markov(&o, n, phi, persistence));
        assert_true(fabs(phi[0] - 1) < 1e-12 && persistence[0] > 1 - 1e-12);
        assert_true(fabs(phi[table[i].t] - table[i].phi) < 1e-9);
    }
}

/* Weights forwards are functions backwards; what is stationary stays; what is not goes to
 * Boltzmann's weights. */
static void test_master(void **state) {
    enum { TIMES = 6, WAIT = 3 };
    const struct fac_oracle o = {3, 3, 15, 1, -0.2, field_of(0.3), false, 0};
    const struct fac_oracle free = {3, 3, 3, 2, 0, field_of(0.42), false, 0};
    double m[TIMES], same[TIMES], stay[TIMES], later[TIMES], other[TIMES], still[TIMES], energy, up;
    (void)state;
    assert_true(fac_oracle_ageing(&o, 1, 0, TIMES, m, same, stay));
    assert_true(fac_oracle_ageing(&o, 1, WAIT, TIMES, later, other, still));
    assert_true(m[0] == 1 && same[0] == 1 && stay[0] == 1 && same[2] == m[2]);
    for (size_t t = 0; t + WAIT < TIMES; t++)
        assert_true(fabs(later[t] - m[t + WAIT]) < 1e-12);
    assert_true(fabs(other[2] - same[2]) > 0.1 && fabs(still[2] - stay[2]) > 0.01);
    assert_true(fac_oracle_ageing(&free, 0.42, 0, TIMES, m, same, stay));
    assert_true(fac_oracle_ageing(&free, 0.42, WAIT, TIMES, later, other, still));
    for (size_t t = 0; t < TIMES; t++)
        assert_true(fabs(later[t] + 0.16) < 1e-12 && fabs(m[t] + 0.16) < 1e-12 &&
                    fabs(other[t] - same[t]) < 1e-12 && fabs(still[t] - stay[t]) < 1e-12);
    fac_oracle_boltzmann(&o, &energy, &up);
    assert_true(fac_oracle_ageing(&o, 1, 300, 1, m, same, stay));
    assert_true(fabs((1 + m[0]) / 2 - up) < 1e-9);
}

/* The same chain by both: every rule, both methods' lanes, a coupling. */
static void test_chain(void **state) {
    static const struct {
        unsigned directions, needed;
        double j;
        bool heat_bath;
    } cases[] = {{3, 2, 0, false}, {3, 2, 0, true},     {2, 1, 0, false},     {15, 1, 0, false},
                 {15, 2, 0, true}, {15, 3, 0.2, false}, {15, 4, -0.3, false}, {3, 2, 0.5, true}};
    enum { LX = 9, LY = 7, SITES = LX * LY, WORD = 5 };
    const uint64_t stream = UINT64_C(0x123456789abcdef0), step = UINT64_C(0x2fffffffe);
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct fac_oracle o = {LX,
                                     LY,
                                     cases[k].directions,
                                     (int)cases[k].needed,
                                     cases[k].j,
                                     field_of(0.42),
                                     cases[k].heat_bath,
                                     0};
        const struct fac_shape shape = {.lx = LX,
                                        .ly = LY,
                                        .sites = SITES,
                                        .words = 8,
                                        .lanes = 32,
                                        .directions = o.directions,
                                        .needed = cases[k].needed,
                                        .coupled = o.j != 0};
        struct fac_member m = {.key0 = (uint32_t)stream, .key1 = (uint32_t)(stream >> 32)};
        for (int c = 0; c < 10; c++) {
            const double p = fac_oracle_chance(&o, c < 5, c % 5) * 0x1p39 + 0.5;
            if (p >= 0x1p39)
                m.always |= 1u << c;
            else
                m.threshold[c] = (uint64_t)p;
        }
        m.threshold[10] = (uint64_t)(fac_oracle_density(&o) * 0x1p39 + 0.5);
        uint32_t spins[SITES], flipped[SITES] = {0}, first[SITES], raised[SITES], frozen[SITES];
        fac_twin_start(&shape, &m, WORD, 2, spins);
        memcpy(first, spins, sizeof first);
        fac_twin_frozen(&shape, first, raised, frozen);
        fac_twin_attempts(&shape, &m, WORD, step, 0, 6 * SITES, spins, flipped);
        size_t moved = 0, stuck = 0;
        for (int lane = 0; lane < 32; lane++) {
            uint8_t plain[SITES], changed[SITES] = {0}, rigid[SITES];
            fac_oracle_start(&o, stream, WORD, lane, plain);
            fac_oracle_frozen(&o, plain, rigid);
            for (int i = 0; i < SITES; i++)
                assert_int_equal(plain[i], first[i] >> lane & 1);
            for (uint64_t t = 0; t < 6; t++)
                fac_oracle_sweep(&o, stream, WORD, lane, step + t, plain, changed);
            for (int i = 0; i < SITES; i++) {
                assert_int_equal(plain[i], spins[i] >> lane & 1);
                assert_int_equal(changed[i], flipped[i] >> lane & 1);
                assert_int_equal(rigid[i], frozen[i] >> lane & 1);
                assert_false(rigid[i] && changed[i]);
                moved += changed[i];
                stuck += rigid[i];
            }
        }
        assert_true(moved > 20 && (k != 0 || stuck > 0));
        /* one realisation a word is the first of 32 */
        struct fac_shape serial = shape;
        serial.lanes = 1;
        uint32_t alone[SITES], turned[SITES] = {0};
        fac_twin_start(&serial, &m, WORD, 2, alone);
        fac_twin_attempts(&serial, &m, WORD, step, 0, 6 * SITES, alone, turned);
        for (int i = 0; i < SITES; i++)
            assert_int_equal(alone[i], spins[i] & 1);
    }
}

/* Concurrent picks: two sweeps, some realisations of a word, every division. */
static void test_lambda(void **state) {
    enum { SIDE = 64, SITES = SIDE * SIDE, WORD = 3 };
    const uint64_t stream = UINT64_C(0x123456789abcdef0), step = UINT64_C(0x2fffffffe);
    const struct fac_oracle o = {SIDE, SIDE, 3, 2, 0, field_of(0.42), false, 0};
    static uint32_t spins[SITES], flipped[SITES];
    static uint8_t plain[SITES], changed[SITES];
    struct fac_member m = {.key0 = (uint32_t)stream, .key1 = (uint32_t)(stream >> 32)};
    (void)state;
    for (int c = 0; c < 10; c++) {
        const double p = fac_oracle_chance(&o, c < 5, c % 5) * 0x1p39 + 0.5;
        if (p >= 0x1p39)
            m.always |= 1u << c;
        else
            m.threshold[c] = (uint64_t)p;
    }
    m.threshold[10] = (uint64_t)(fac_oracle_density(&o) * 0x1p39 + 0.5);
    for (unsigned division = FAC_SHIFTED; division <= FAC_COLOURED; division++) {
        struct fac_shape shape = {.lx = SIDE,
                                  .ly = SIDE,
                                  .sites = SITES,
                                  .words = 8,
                                  .lanes = 32,
                                  .directions = 3,
                                  .needed = 2,
                                  .lambda = division == FAC_SHIFTED ? 512 : 32};
        shape.division = division;
        fac_twin_start(&shape, &m, WORD, 2, spins);
        memset(flipped, 0, sizeof flipped);
        for (uint32_t half = 0; half < 4; half++)
            assert_true(fac_twin_half(&shape, &m, WORD, step + half / 2, half % 2, spins, flipped));
        for (int lane = 0; lane < 32; lane += 7) {
            memset(changed, 0, sizeof changed);
            fac_oracle_start(&o, stream, WORD, lane, plain);
            for (uint64_t t = 0; t < 2; t++)
                fac_oracle_lambda_sweep(&o, (int)shape.lambda, (enum fac_oracle_division)division,
                                        stream, WORD, lane, step + t, plain, changed);
            for (int i = 0; i < SITES; i++) {
                assert_int_equal(plain[i], spins[i] >> lane & 1);
                assert_int_equal(changed[i], flipped[i] >> lane & 1);
            }
        }
    }
}

static void test_times(void **state) {
    static const double first[] = {0,  1,  2,  3,  4,  5,  6,  8,  10,  12,
                                   15, 20, 25, 30, 40, 50, 60, 80, 100, 120};
    double times[200];
    (void)state;
    assert_int_equal(model_times(130, times), 20);
    assert_memory_equal(times, first, sizeof first);
    assert_int_equal(model_times(1, NULL), 2);
    const size_t n = model_times(UINT64_C(1) << 53, times);
    assert_true(n < 200 && times[n - 1] == 8e15);
    for (size_t i = 1; i < n; i++)
        assert_true(times[i] > times[i - 1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),  cmocka_unit_test(test_master), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_lambda), cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
