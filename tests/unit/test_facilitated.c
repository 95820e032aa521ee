/*
 * Facilitated dynamics without a device: the Markov operator against the printed table
 * (data/reference/facilitated.md), the closure test against the plain oracle, the times of the
 * curves.
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

/* Sites that can never flip, for every rule, of one realisation a word and of 32. */
static void test_frozen(void **state) {
    static const struct {
        unsigned directions, needed;
    } rules[] = {{3, 2}, {2, 1}, {15, 1}, {15, 2}, {15, 3}, {15, 4}};
    enum { LX = 9, LY = 7, SITES = LX * LY, WORD = 5 };
    const uint64_t stream = UINT64_C(0x123456789abcdef0);
    (void)state;
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        const struct fac_oracle o = {
            LX, LY, rules[k].directions, (int)rules[k].needed, 0, field_of(0.42), false, 0};
        struct fac_shape shape = {.lx = LX,
                                  .ly = LY,
                                  .sites = SITES,
                                  .lanes = 32,
                                  .directions = o.directions,
                                  .needed = rules[k].needed};
        uint8_t plain[32][SITES], rigid[SITES];
        uint32_t spins[SITES] = {0}, raised[SITES], frozen[SITES];
        size_t stuck = 0;
        for (int lane = 0; lane < 32; lane++) {
            fac_oracle_start(&o, stream, WORD, lane, plain[lane]);
            for (int i = 0; i < SITES; i++)
                spins[i] |= (uint32_t)plain[lane][i] << lane;
        }
        fac_closure(&shape, spins, raised, frozen);
        for (int lane = 0; lane < 32; lane++) {
            fac_oracle_frozen(&o, plain[lane], rigid);
            for (int i = 0; i < SITES; i++) {
                assert_int_equal(rigid[i], frozen[i] >> lane & 1);
                stuck += rigid[i];
            }
        }
        assert_true(k != 0 || stuck > 0);
        shape.lanes = 1;
        for (int i = 0; i < SITES; i++)
            spins[i] &= 1;
        fac_closure(&shape, spins, raised, frozen);
        fac_oracle_frozen(&o, plain[0], rigid);
        for (int i = 0; i < SITES; i++)
            assert_int_equal(rigid[i], frozen[i]);
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
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_master),
        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
