/* Shares of ranks: what jobs say; whole numbers in proportion to weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/shares.h"
#include "engine/slab.h"

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
    assert_true(ergo_share_of_speed(1, 2, 2) == 64 && ergo_share_of_speed(1.01, 2.01, 2) == 64);
    assert_true(ergo_share_of_speed(3, 4, 2) == 96 && ergo_share_of_speed(1, 4, 2) == 32);
    assert_true(ergo_share_of_speed(1, 1000, 4) == 1);
    for (double speed = 0.02; speed < 1; speed += 0.007) {
        const double first = ergo_share_of_speed(speed, 1, 2);
        assert_true(first == floor(first) && fabs(first / 128 - speed) <= 1.0 / 256 + 1e-9);
    }
}

/* What drivers do at a first launch, which takes them seconds, is no speed. */
static enum ergo_status slow_at_first(struct ergo_context *context, void *state) {
    const struct timespec pause = {.tv_nsec = 300000000};
    if (*(unsigned *)state == 0)
        nanosleep(&pause, NULL);
    return sweep(context, state);
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
    assert_int_equal(ergo_shares_try(ctx, s, 5, slow_at_first, &sweeps, &uneven), ERGO_OK);
    assert_true(sweeps > 1 && !uneven && s->weights[0] == 7 && s->compared > 0);
    sweeps = 999999999;
    assert_int_equal(ergo_shares_try(ctx, s, 5, sweep, &sweeps, &uneven), ERGO_E_DEVICE);
    ergo_error_clear(ctx);
    s->busy = 1;
    s->sweeps = 4;
    uneven = true;
    assert_int_equal(ergo_shares_compare(ctx, s, 5, &uneven), ERGO_OK); /* too early */
    assert_true(!uneven && s->sweeps == 4);
    s->compared -= 3;
    uneven = true;
    assert_int_equal(ergo_shares_compare(ctx, s, 5, &uneven), ERGO_OK);
    assert_true(!uneven && s->sweeps == 2 && s->busy == 0.5 && s->weights[0] == 7);
    free(s);
}

/* Comparisons, two seconds each, until two ranks have new shares, at most 1000. They have `share`
 * of the lattice and the rest, and speeds of `speed` and one; a division costs `cost` seconds. */
static unsigned until_divided(struct ergo_shares *s, double share, double speed, double cost) {
    const struct ergo_share_work work[2] = {{share, share / speed, 2, cost},
                                            {1 - share, 1 - share, 2, 99}};
    unsigned n = 1;
    s->weights[0] = 64 * share;
    s->weights[1] = 64 * (1 - share);
    while (n < 1000 && !ergo_shares_judge(s, work))
        n++;
    return n;
}

/* Shares change when the wrong ones have cost what a division does: soon where much is lost, later
 * where little is, never where nothing is or noise would decide. */
static void test_judge(void **unused) {
    (void)unused;
    struct ergo_shares *s = calloc(1, sizeof *s + 2 * sizeof s->weights[0]);
    assert_non_null(s);
    s->ranks = 2;
    assert_int_equal(until_divided(s, 0.5, 1, 1), 1000);
    assert_int_equal(until_divided(s, 0.5, 1.05, 1), 1000); /* a rank waits for 2.4 % */
    s->lost = 0;
    /* 78 : 22 by speeds of 73 : 27: the faster one works 6.4 % longer than it should */
    assert_int_equal(until_divided(s, 0.78, 73.0 / 27, 0), 8);
    assert_true(s->weights[0] == 93 && s->weights[1] == 35 && s->lost == 0);
    assert_int_equal(until_divided(s, 0.78, 73.0 / 27, 0.1), 1);
    assert_int_equal(until_divided(s, 0.78, 73.0 / 27, 10), 79);
    /* one of two equal ranks works at a third of its speed: half of the time is lost */
    assert_int_equal(until_divided(s, 0.5, 3, 1), 2);
    assert_true(s->weights[0] == 96 && s->weights[1] == 32);
    assert_int_equal(until_divided(s, 0.5, 3, 10), 11);
    free(s);
}

/* Layers in a buffer: rounded up to 16 granules, so that slabs of other heights find their kernels
 * built; of large layers by an eighth at most. */
static void test_tall(void **unused) {
    static const struct {
        uint32_t most, granule;
        double bytes;
        uint32_t tall;
    } cases[] = {
        {16, 4, 1000, 64}, {16, 4, 1e6, 24},  {18, 2, 0, 32},
        {18, 2, 1e6, 24},  {62, 2, 1e6, 72},  {94, 2, 1e6, 104},
        {95, 1, 1e6, 104}, {98, 2, 1e6, 112}, {500, 2, 1e9, 512},
    };
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct ergo_slab s = {.granule = cases[k].granule,
                              .most = cases[k].most,
                              .least = cases[k].most,
                              .colours = 2,
                              .per_sweep = 2};
        ergo_slab_deepen(&s, true, 1, 1, cases[k].bytes);
        printf("%u layers and halos of %u: %u\n", s.most, s.halo, s.tall);
        assert_true(s.tall >= s.most + 2 * s.halo && s.tall % s.granule == 0);
        assert_int_equal(s.tall, cases[k].tall);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tall),     cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_division), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_speeds),   cmocka_unit_test(test_judge),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
