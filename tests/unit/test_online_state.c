/* The state of estimates on line: a function of the samples alone, which travels as numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stats/covariance.h"
#include "stats/online.h"
#include "unit/random_series.h"

static double variance_of(const double *m, void *user) {
    return *(double *)user * (m[1] - m[0] * m[0]);
}

enum { STATE_N = 20011 };

static const size_t state_inputs[1][ERGO_STATS_COLUMNS_MAX] = {{0, 1}};
static const size_t state_length = 2;

static double *bits_of(const struct ergo_online *o, size_t *size) {
    *size = ergo_online_size(o->plan, o->count);
    double *bits = numbers(*size);
    assert_true(ergo_online_save(o, bits) == bits + *size);
    return bits;
}

/* Pieces of any length, and a copy by way of a file between them, give the same bits. */
static void pieces(void **state) {
    (void)state;
    struct ergo_online_plan plan;
    double *rows = numbers(3 * STATE_N);
    seed = 31;
    fill_ar1(rows, 3 * STATE_N, 0.7);
    assert_true(ergo_online_plan(&plan, 3, 1, state_inputs, &state_length));
    for (size_t n = 0; n <= STATE_N; n = n < 5 ? n + 1 : n < 1000 ? 1000 : n * 5 / 3) {
        struct ergo_online whole = {.plan = &plan}, cut = {.plan = &plan}, copy;
        assert_true(ergo_online_add(&whole, rows, n));
        for (size_t i = 0; i < n;) {
            size_t count = (size_t)(exp(8 * uniform()));
            count = count < n - i ? count : n - i;
            assert_true(ergo_online_add(&cut, rows + 3 * i, count));
            i += count;
            if (uniform() < 0.3) {
                size_t size;
                double *bits = bits_of(&cut, &size);
                const uint64_t so_far = cut.count;
                ergo_online_free(&cut);
                assert_true(ergo_online_load(&cut, so_far, bits));
                free(bits);
            }
        }
        size_t a_size, b_size;
        double *a = bits_of(&whole, &a_size), *b = bits_of(&cut, &b_size);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a, b, a_size * sizeof *a);
        free(b);
        /* a copy that is finished leaves the state as it was */
        struct ergo_estimate of_copy, of_whole;
        assert_true(ergo_online_copy(&whole, &copy));
        ergo_online_finish(&copy);
        ergo_online_estimate(&copy, 1, &of_copy);
        b = bits_of(&whole, &b_size);
        assert_memory_equal(a, b, a_size * sizeof *a);
        ergo_online_finish(&whole);
        ergo_online_estimate(&whole, 1, &of_whole);
        assert_memory_equal(&of_copy.mean, &of_whole.mean, sizeof of_copy.mean);
        assert_memory_equal(&of_copy.error, &of_whole.error, sizeof of_copy.error);
        free(a);
        free(b);
        ergo_online_free(&whole);
        ergo_online_free(&cut);
        ergo_online_free(&copy);
    }
    ergo_online_plan_free(&plan);
    free(rows);
}

/* Whatever numbers a file has, estimates of them end. */
static void any_numbers(void **state) {
    (void)state;
    static const double odd[] = {0, -1, NAN, INFINITY, 1e308, 5e-324, -INFINITY, 1e-300};
    struct ergo_online_plan plan;
    assert_true(ergo_online_plan(&plan, 3, 1, state_inputs, &state_length));
    for (size_t run = 0; run < 200; run++) {
        const size_t n = run * 37;
        const size_t size = ergo_online_size(&plan, n);
        double *bits = numbers(size), one = 1;
        struct ergo_online online = {.plan = &plan};
        struct ergo_estimate e;
        for (size_t i = 0; i < size; i++)
            bits[i] = uniform() < 0.2 ? odd[(size_t)(8 * uniform())] : normal();
        assert_true(ergo_online_load(&online, n, bits));
        assert_true(ergo_online_add(&online, odd, 2));
        ergo_online_finish(&online);
        ergo_online_estimate(&online, 1, &e);
        ergo_online_derived(&online, state_inputs[0], 2, variance_of, &one, &e);
        (void)ergo_online_drift(&online, 2);
        ergo_online_free(&online);
        free(bits);
    }
    ergo_online_plan_free(&plan);
}

/* Memory and the size in a file: of few samples a few numbers, of many their logarithm. */
static void sizes(void **state) {
    (void)state;
    struct ergo_online_plan plan;
    assert_true(ergo_online_plan(&plan, 3, 1, state_inputs, &state_length));
    assert_int_equal(plan.n_tracks, 4); /* two series alone, one beside another, both together */
    assert_int_equal(ergo_online_size(&plan, 4), 12);
    assert_true(ergo_online_bytes(&plan, 4) <= 200);
    assert_true(ergo_online_bytes(&plan, 1e6) < 400e3);
    assert_true(ergo_online_bytes(&plan, 1e9) < 600e3);
    for (uint64_t n = 2000; n < 2000000; n *= 3)
        assert_true(8.0 * (double)ergo_online_size(&plan, n) < ergo_online_bytes(&plan, (double)n));
    ergo_online_plan_free(&plan);
}

/* Vectors of any width give the same bits. */
static void vectors(void **state) {
    (void)state;
    double room[ERGO_STATS_LAGS + 600], *const v = room + ERGO_STATS_LAGS;
    seed = 51;
    for (size_t n = 0; n <= 600; n = n < 8 ? n + 1 : n * 2 - 1) {
        double a[ERGO_STATS_LAGS + 1], b[ERGO_STATS_LAGS + 1];
        fill_ar1(room, ERGO_STATS_LAGS + n, 0.5);
        for (size_t lag = 0; lag <= ERGO_STATS_LAGS; lag++)
            a[lag] = b[lag] = normal();
        double wanted = a[77];
        for (size_t i = 0; i < n; i++)
            wanted += v[i] * v[(ptrdiff_t)i - 77];
        ergo_stats_correlate(a, v, n);
        ergo_stats_correlate_narrow(b, v, n);
        assert_memory_equal(a, b, sizeof a);
        assert_true(fabs(a[77] - wanted) < 1e-11);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces),
        cmocka_unit_test(any_numbers),
        cmocka_unit_test(sizes),
        cmocka_unit_test(vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
