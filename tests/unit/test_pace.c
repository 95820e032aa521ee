/* Lengths of launches and blocks from timings, engine/pace.h: on devices as fast as guessed, a
 * hundred times slower or faster, that compile at first, that slow down. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/pace.h"

/* A device of which a launch costs `fixed` seconds and a step `step`. The longest of `launches`
 * launches that are all timed; *settled: how many until they settle. */
static double longest(double guess, double fixed, double step, unsigned launches, unsigned *settled,
                      struct ergo_pace *pace) {
    double most = 0;
    *settled = 0;
    ergo_pace_start(pace, guess);
    for (unsigned i = 0; i < launches; i++) {
        const double seconds = fixed + step * (double)pace->now;
        most = fmax(most, seconds);
        *settled += !pace->settled;
        ergo_pace_note(pace, pace->now, seconds);
    }
    return most;
}

static void test_devices(void **state) {
    static const double guesses[] = {1, 30, 1e3, 1e5, 1e9};
    struct ergo_pace pace;
    unsigned settled = 0;
    (void)state;
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        for (double slower = 1e-3; slower < 2e3; slower *= 10) {
            const double step = 0.1 / guesses[i] * slower;
            const double most = longest(guesses[i], 1e-5, step, 20, &settled, &pace);
            /* a hundredth of the guess at first, and never less than a step */
            const double first = fmax(fmax(1, floor(guesses[i] / 100)) * step, 0.1);
            assert_true(most <= 1.01 * first + 2e-5);
            assert_true(slower > 101 || most < 2 || step > 2);
            assert_true(settled >= 2 && settled <= 8);
            if (step < 0.01) /* whole steps */
                assert_true(step * (double)pace.now > 0.08 && step * (double)pace.now <= 0.1001);
            assert_true(pace.now == 1 || step * (double)pace.now <= 0.1001);
        }
}

/* Few launches, all of them short, and so whole runs of a fraction of a second lose nothing. */
static void test_few_launches(void **state) {
    struct ergo_pace pace;
    unsigned settled = 0;
    (void)state;
    longest(1e4, 1e-5, 1e-5, 20, &settled, &pace);
    assert_in_range(settled, 2, 4);
    assert_in_range(pace.now, 9990, 10000);
}

static void test_start(void **state) {
    struct ergo_pace pace;
    (void)state;
    ergo_pace_start(&pace, 5e4);
    assert_int_equal(pace.now, 500);
    ergo_pace_start(&pace, 0);
    assert_int_equal(pace.now, 1);
    ergo_pace_start(&pace, INFINITY);
    assert_true(pace.now >= 1 && pace.now <= 1000000000000000);
    assert_false(pace.settled);
}

/* What a first launch lasts because its kernel is compiled does not decide. */
static void test_compiler(void **state) {
    struct ergo_pace pace;
    (void)state;
    ergo_pace_start(&pace, 1e4);
    ergo_pace_note(&pace, 100, 0.1);
    assert_int_equal(pace.now, 100);
    assert_false(pace.settled);
    for (int i = 0; i < 3; i++)
        ergo_pace_note(&pace, pace.now, 1e-5 * (double)pace.now);
    assert_in_range(pace.now, 9990, 10000);
}

/* Settled lengths shrink at once and grow slowly. */
static void test_later(void **state) {
    struct ergo_pace pace;
    unsigned settled = 0;
    (void)state;
    longest(1e4, 0, 1e-5, 8, &settled, &pace);
    assert_true(pace.settled);
    ergo_pace_note(&pace, pace.now, 10);
    assert_in_range(pace.now, 90, 100);
    const uint64_t before = pace.now;
    ergo_pace_note(&pace, pace.now, 1e-4);
    assert_int_equal(pace.now, 2 * before);
    /* a launch of a half of that may be timed too */
    ergo_pace_note(&pace, before, 1e-4);
    assert_int_equal(pace.now, 4 * before);
    /* a clock that stands still, or goes back */
    ergo_pace_note(&pace, pace.now, 0);
    assert_int_equal(pace.now, 8 * before);
    ergo_pace_note(&pace, pace.now, -1);
    assert_int_equal(pace.now, 16 * before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices), cmocka_unit_test(test_few_launches),
        cmocka_unit_test(test_start),   cmocka_unit_test(test_compiler),
        cmocka_unit_test(test_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
