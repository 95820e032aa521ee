/* Shares of ranks: what jobs say; whole numbers in proportion to weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/shares.h"

#include "context.h"

static const char ladder[] = "\"model\": \"spin-glass\", \"ladder\": 8, \"temperature_max\": 2, ";

/* The weight of the only rank here, or 0: refused. */
static double weight_of(const char *sampler, const char *shares) {
    struct ergo_job *job = NULL;
    char text[512];
    double weight = 0;
    snprintf(text, sizeof text,
             "{\"sampler\": \"%s\", \"system\": {%s\"size\": [8, 8], \"temperature\": 1%s}, "
             "\"run\": {\"sweeps\": 1}}",
             sampler, strcmp(sampler, "spin-lattice") ? "" : ladder, shares);
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) == ERGO_OK) {
        struct ergo_shares *s = ergo_shares_create(ctx, job->batches[0].points[0]);
        assert_non_null(s);
        assert_int_equal(s->ranks, 1);
        assert_false(s->measured); /* one rank has nothing to compare with */
        weight = s->weights[0];
        free(s);
        ergo_job_destroy(job);
    }
    ergo_error_clear(ctx);
    return weight;
}

static void test_jobs(void **unused) {
    (void)unused;
    static const char *const samplers[] = {"swendsen-wang", "spin-lattice"};
    static const struct {
        const char *shares;
        double weight;
    } cases[] = {
        {"", 1},   {"measured", 1}, {"equal", 1}, {"3,1.5,2", 3}, {"0.5", 0.5}, {"3,,1", 0},
        {"-1", 0}, {"1;2", 0},      {"3,0", 0},   {"1,", 0},      {"1e10", 0},  {"nan", 0},
    };
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            char text[64] = "";
            if (cases[k].shares[0])
                snprintf(text, sizeof text, ", \"shares\": \"%s\"", cases[k].shares);
            assert_true(weight_of(samplers[m], text) == cases[k].weight);
        }
}

/* Everybody has something, all of it is dealt out, and nobody is off by more than one where that
 * is possible. */
static void test_division(void **unused) {
    (void)unused;
    double weights[9];
    for (size_t n = 1; n <= 9; n++)
        for (uint64_t length = n; length < 200; length += 1 + length / 8)
            for (unsigned unlike = 0; unlike < 4; unlike++) {
                double all = 0, sum = 0;
                for (size_t k = 0; k < n; k++) {
                    weights[k] = unlike == 3 && k == 0 ? 1e6 : (double)(1 + unlike * (k % 3));
                    all += weights[k];
                }
                assert_int_equal(ergo_share_before(length, weights, n, 0), 0);
                assert_int_equal(ergo_share_before(length, weights, n, n), length);
                for (size_t k = 0; k < n; k++) {
                    const uint64_t end = ergo_share_before(length, weights, n, k + 1);
                    assert_true(end > ergo_share_before(length, weights, n, k));
                    sum += weights[k];
                    if (unlike < 3 && length > 20 * n)
                        assert_true(fabs((double)end - (double)length * sum / all) <= 0.5);
                }
            }
    const double uneven[2] = {9, 1};
    assert_int_equal(ergo_share_before(3200, uneven, 2, 1), 2880);
}

/* ---- speeds ---------------------------------------------------------------------------------- */

static enum ergo_status sweep(struct ergo_context *context, void *state) {
    unsigned *sweeps = state;
    if (++*sweeps < 1000000000)
        return ERGO_OK;
    return ERGO_FAIL(context, ERGO_E_DEVICE, "a sweep failed");
}

/* Whole numbers, which speeds that differ little share; a slow rank keeps a part. */
static void test_weights(void **unused) {
    (void)unused;
    assert_true(ergo_share_of_speed(1, 2, 2) == 32 && ergo_share_of_speed(1.02, 2.01, 2) == 32);
    assert_true(ergo_share_of_speed(3, 4, 2) == 48 && ergo_share_of_speed(1, 4, 2) == 16);
    assert_true(ergo_share_of_speed(1, 1000, 4) == 1);
    for (double speed = 0.02; speed < 1; speed += 0.007) {
        const double first = ergo_share_of_speed(speed, 1, 2);
        assert_true(first == floor(first) && fabs(first / 64 - speed) <= 1.0 / 128 + 1e-9);
    }
}

/* One rank alone is never uneven; a sweep that fails ends the trial. */
static void test_speeds(void **unused) {
    (void)unused;
    struct ergo_shares *s = calloc(1, sizeof *s + sizeof s->weights[0]);
    unsigned sweeps = 0;
    bool uneven = true;
    assert_non_null(s);
    s->ranks = 1;
    s->weights[0] = 7;
    assert_int_equal(ergo_shares_try(ctx, s, 5, sweep, &sweeps, &uneven), ERGO_OK);
    assert_true(sweeps > 0 && !uneven && s->weights[0] == 7 && s->compared > 0);
    sweeps = 1000000000;
    assert_int_equal(ergo_shares_try(ctx, s, 5, sweep, &sweeps, &uneven), ERGO_E_DEVICE);
    ergo_error_clear(ctx);
    s->busy = 1;
    s->sweeps = 4;
    uneven = true;
    assert_int_equal(ergo_shares_compare(ctx, s, 5, &uneven), ERGO_OK); /* too early */
    assert_true(!uneven && s->sweeps == 4);
    s->compared -= 3;
    s->cost = 1; /* that would be a quarter of the time */
    assert_int_equal(ergo_shares_compare(ctx, s, 5, &uneven), ERGO_OK);
    assert_true(!uneven && s->sweeps == 4);
    s->compared -= 8;
    uneven = true;
    assert_int_equal(ergo_shares_compare(ctx, s, 5, &uneven), ERGO_OK);
    assert_true(!uneven && s->sweeps == 0 && s->weights[0] == 7);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_speeds),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
