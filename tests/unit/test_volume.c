/* Volume moves in whole numbers (cl/common/volume.h) against doubles, and a chain of them against
 * the exact ensemble. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "samplers/isobaric.h"

static int64_t fixed(double x) {
    return (int64_t)rint(x * 0x1p36);
}

static void test_exp(void **state) {
    (void)state;
    for (double x = -44; x < 44; x += 0.0371) {
        const struct ergo_scaled e = ergo_volume_exp(fixed(x));
        const double found = ldexp((double)e.mantissa, (int)e.exponent - 62);
        assert_true(e.mantissa >> 62 == 1);
        assert_true(fabs(found / exp((double)fixed(x) * 0x1p-36) - 1) < 1e-14);
    }
    assert_int_equal(ergo_volume_whole(ergo_volume_exp(0), 20), 1 << 20);
    assert_int_equal(ergo_volume_whole(ergo_volume_exp(fixed(-40)), 20), 0);
    assert_int_equal(ergo_volume_high(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    assert_int_equal(ergo_volume_high(UINT64_C(0x123456789abcdef0), UINT64_C(1) << 60),
                     UINT64_C(0x0123456789abcdef));
}

static void test_divided(void **state) {
    (void)state;
    uint64_t random = 1;
    for (uint32_t i = 1; i <= 24; i++)
        for (uint64_t k = 0; k < 20000; k++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            const uint64_t any = random >> 2, most = UINT64_C(1) << 62;
            assert_true(ergo_volume_divided(any, i) == any / i);
            const uint64_t whole = any - any % i; /* and where the quotient steps */
            assert_true(ergo_volume_divided(whole, i) == whole / i);
            assert_true(ergo_volume_divided(whole + i - 1, i) == whole / i);
            assert_true(ergo_volume_divided(most - k, i) == (most - k) / i);
        }
}

static void test_log(void **state) {
    (void)state;
    for (double v = 1e-12; v < 1e19; v *= 3.7)
        assert_true(fabs((double)ergo_volume_log(v) * 0x1p-36 - log(v)) < 4e-11);
}

static void test_contact(void **state) {
    (void)state;
    /* 8 times the volume: half of sigma in units, in three dimensions; in two sigma / sqrt(8) */
    const int64_t scale = ergo_volume_log(4e12), eight = ergo_volume_log(8);
    assert_true(fabs((double)ergo_volume_contact(scale, eight, 3) / 1e12 - 1) < 1e-10);
    assert_true(fabs((double)ergo_volume_contact(scale, eight, 2) / 0.5e12 - 1) < 1e-10);
    assert_int_equal(ergo_volume_contact(0, 0, 3), 1); /* whole already: not rounded up */
}

static void test_exponent(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        const double volume = exp(0.6 * i), change = 0.03 * (i % 7 - 3);
        const double pressure = 3.0 * (1 + i) / volume;
        const struct ergo_volume_rules rules = {.n = (uint64_t)i + 2,
                                                .pressure = ergo_volume_log(pressure)};
        const double expected = (i + 3) * change - pressure * volume * (exp(change) - 1);
        const int64_t found = ergo_volume_exponent(rules, ergo_volume_log(volume), fixed(change));
        assert_true(fabs((double)found * 0x1p-20 - expected) < 4e-6);
    }
}

static void test_accepts(void **state) {
    static const double exponents[] = {-0.01, -0.5, -1, -3};
    enum { N = 40000 };
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double p = exp(exponents[k]);
        size_t n = 0;
        for (uint32_t i = 0; i < N; i++)
            n += ergo_volume_accepts((int64_t)rint(exponents[k] * 0x1p20),
                                     ergo_philox_words(i, 0, 0, 0, 1, 2));
        assert_true(fabs((double)n / N - p) < 4.2 * sqrt(p * (1 - p) / N));
    }
    assert_true(ergo_volume_accepts(0, (struct ergo_words){~0U, ~0U, 0, 0}));
    assert_false(ergo_volume_accepts(-(INT64_C(50) << 20), (struct ergo_words){0, 0, 0, 0}));
}

/* An ideal gas: the volume has the weight V^N exp(-beta P V), so beta P <V> = N + 1. Error by
 * blocks; |z| < 4.2. Without the Jacobian it would be N. */
static void test_ideal(void **state) {
    enum { N = 3, BLOCKS = 40, EACH = 2000 };
    const struct ergo_volume_rules rules = {.n = N,
                                            .pressure = ergo_volume_log(0.5),
                                            .scale = ergo_volume_log(1e12),
                                            .step = (uint64_t)1 << 36,
                                            .contact = {0, UINT64_MAX}};
    struct ergo_volume volume = {.size = ergo_volume_log(8)};
    uint64_t contact = 0;
    double sum = 0, square = 0;
    uint32_t step = 0;
    (void)state;
    for (int b = -1; b < BLOCKS; b++) {
        double mean = 0;
        for (int i = 0; i < EACH; i++, step++) {
            ergo_volume_trial(rules, ergo_philox_words(step, 0, 0, 0, 3, 4),
                              ergo_philox_words(step, 0, 0, 1, 3, 4), 3, 0, UINT64_MAX, &volume,
                              &contact);
            mean += 0.5 * exp((double)volume.size * 0x1p-36) / EACH;
        }
        sum += b < 0 ? 0 : mean;
        square += b < 0 ? 0 : mean * mean;
    }
    const double mean = sum / BLOCKS;
    const double error = sqrt((square / BLOCKS - mean * mean) / (BLOCKS - 1));
    print_message("beta P <V> = %.4f(%.4f), exactly %d\n", mean, error, N + 1);
    assert_true(error < 0.05 && fabs(mean - (N + 1)) < 4.2 * error);
    assert_int_equal(contact, ergo_volume_contact(rules.scale, volume.size, 3));
}

/* Moves that are accepted with exp(-x / 0.001): 2/7 are in the end, with the step that moves
 * farthest, 3.4 times 0.001, whatever the first one was. */
static void test_tuned(void **state) {
    (void)state;
    for (int k = -3; k <= 3; k++) {
        const struct ergo_volume_rules rules = {.tuned = 2000, .most = (uint64_t)1 << 35};
        struct ergo_volume volume = {.step = 17 * (uint64_t)(0.0034 * 0x1p36 / 17 * pow(4, k))};
        double mean = 0;
        for (uint32_t step = 0; step < 2000; step++)
            for (uint32_t trial = 0; trial < 4; trial++) {
                const struct ergo_words r =
                    ergo_philox_words(step, (uint32_t)k + 9, trial, 0, 5, 6);
                const double s = (double)volume.step * 0x1p-36;
                volume.accepted = r.x * 0x1p-32 < exp(r.y * -0x1p-32 * s / 0.001);
                volume.step = ergo_volume_tuned(volume.step, rules.most, step, 5, volume.accepted);
                assert_true(volume.step && volume.step % ERGO_VOLUME_UNIT == 0);
                mean += step < 1000 ? 0 : log(s / 0.0034) / 4000;
            }
        assert_true(fabs(mean) < 0.1); /* its standard deviation is 0.01 to 0.02, its bias 0.02 */
    }
    assert_int_equal(ergo_volume_tuned(986, 1000, 0, 5, 1), 986);
}

/* A start in the last state of a chain that was tuned, or was not: with the step of this one. */
static void test_carried(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bool axes = k & 4;
        const struct ergo_volume_rules from = {.step = 51, .tuned = k & 1, .most = 99},
                                       to = {.step = 34, .tuned = k & 2, .most = 99};
        struct ergo_volume volume = {.size = -7, .trace = 8, .stretch = {axes ? 5 : 0}, .step = 68};
        struct ergo_text one = {0}, own = {0}, expected = {0};
        ergo_isobaric_append(&one, &from, 2, axes, &volume);
        ergo_text_append(&one, "rest");
        ergo_isobaric_carried(&own, &to, 2, axes, one.data, one.length, 4);
        volume.step = to.step;
        ergo_isobaric_append(&expected, &to, 2, axes, &volume);
        ergo_text_append(&expected, "rest");
        assert_int_equal(own.length, expected.length);
        assert_memory_equal(own.data, expected.data, own.length);
        ergo_text_free(&one);
        ergo_text_free(&own);
        ergo_text_free(&expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),      cmocka_unit_test(test_divided),
        cmocka_unit_test(test_log),      cmocka_unit_test(test_contact),
        cmocka_unit_test(test_exponent), cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_ideal),    cmocka_unit_test(test_tuned),
        cmocka_unit_test(test_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
