/* Parallel tempering, common/ladder.h and engine/ladder.h: temperatures, pairs, tries, decisions,
 * round trips, rates and their noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/temper.h"

#include "context.h"

/* ---- the job --------------------------------------------------------------------------------- */

static struct ergo_job *job_of(const char *ladder) {
    char text[600];
    struct ergo_job *job = NULL;
    snprintf(
        text, sizeof text,
        "{\"sampler\": \"spin-lattice\", \"seed\": \"4\", \"system\": {\"model\": "
        "\"spin-glass\", \"size\": [4, 4], \"temperature\": 0.5%s}, \"run\": {\"sweeps\": 10}}",
        ladder);
    ergo_error_clear(ctx);
    if (ergo_job_parse(ctx, text, strlen(text), "unit", NULL, 0, &job) != ERGO_OK)
        return NULL;
    return job;
}

static void test_temperatures(void **state) {
    (void)state;
    static const struct {
        const char *ladder;
        uint32_t rungs, every;
        double t[3];
    } jobs[] = {
        {"", 1, 10, {0.5}},
        {", \"ladder\": 3, \"temperature_max\": 2", 3, 10, {0.5, 1, 2}},
        {", \"ladder\": 3, \"temperature_max\": 2, \"ladder_spacing\": \"linear\"",
         3,
         10,
         {0.5, 1.25, 2}},
        {", \"ladder\": 3, \"temperature_max\": 2, \"ladder_spacing\": \"inverse\", "
         "\"swap_every\": 7",
         3,
         7,
         {0.5, 0.8, 2}},
        {", \"ladder\": 3, \"temperature_max\": 2, \"ladder_temperatures\": \" 0.5 , 0.75,\\t2 \"",
         3,
         10,
         {0.5, 0.75, 2}},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct ergo_job *job = job_of(jobs[i].ladder);
        assert_non_null(job);
        const struct ergo_point *point = &job->points[0];
        double t[ERGO_LADDER_MAX];
        assert_int_equal(ergo_ladder_temperatures(point, t), jobs[i].rungs);
        assert_int_equal(ergo_ladder_every(point), jobs[i].every);
        for (uint32_t k = 0; k < jobs[i].rungs; k++) {
            const double above = k + 1 < jobs[i].rungs ? 1 / jobs[i].t[k + 1] : 1 / jobs[i].t[k];
            assert_true(fabs(t[k] - jobs[i].t[k]) < 1e-12);
            assert_true(fabs(ergo_ladder_slope(t, jobs[i].rungs, k, 3) -
                             3 * (1 / jobs[i].t[k] - above)) < 1e-6);
        }
        ergo_job_destroy(job);
    }
    assert_null(job_of(", \"ladder\": 3"));
    assert_null(job_of(", \"ladder\": 3, \"temperature_max\": 0.5"));
    assert_null(job_of(", \"temperature_max\": 2"));
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Each rung but the hottest is the colder one of one pair, and pairs of a parity have no rung in
 * common. */
static void test_pairs(void **state) {
    (void)state;
    for (uint32_t rungs = 1; rungs < 8; rungs++)
        for (uint32_t parity = 0; parity < 2; parity++) {
            uint32_t pairs = 0;
            for (uint32_t t = 0; t < rungs; t++) {
                const uint32_t colder = ergo_ladder_colder(t, rungs, parity);
                assert_int_equal(colder, t % 2 == parity && t + 1 < rungs);
                pairs += colder;
            }
            assert_int_equal(ergo_ladder_pairs(rungs, parity), pairs);
            for (uint32_t first = 0; first + 1 < rungs; first++) /* of a part of the ladder */
                assert_int_equal(
                    ergo_ladder_colder(0, rungs - first, ergo_ladder_own_parity(first, parity)),
                    ergo_ladder_colder(first, rungs, parity));
        }
}

static void test_tries(void **state) {
    (void)state;
    for (uint64_t every = 1; every < 5; every++) {
        uint64_t tries[2] = {0}, next = every;
        for (uint64_t step = 1; step < 40; step++) {
            assert_int_equal(ergo_ladder_due(step, every), step == next);
            if (step == next) { /* pairs (1, 2) are first */
                const uint32_t parity = ergo_ladder_parity(step, every);
                assert_int_equal(parity, (tries[0] + tries[1] + 1) % 2);
                tries[parity]++;
                next += every;
            }
            assert_int_equal(ergo_ladder_next(step, every), next);
            double counts[5] = {0};
            ergo_ladder_count_tries(3, step, every, counts);
            for (uint32_t parity = 0; parity < 2; parity++) {
                assert_int_equal(ergo_ladder_tries(step, every, parity), tries[parity]);
                assert_true(counts[3 + parity] == (double)tries[parity]);
            }
        }
    }
    assert_int_equal(ergo_ladder_counts(3), 5);
    assert_int_equal(ergo_ladder_counts(1), 0);
}

static void test_log(void **state) {
    (void)state;
    double worst = 0;
    for (uint64_t r = 0; r < UINT64_C(1) << 32; r += r < 5000 ? 1 : 7919 + r / 99991) {
        const double exact = -log(((double)r + 0.5) * 0x1p-32);
        worst = fmax(worst, fabs(ergo_minus_log((uint32_t)r) / exact - 1) * fmin(1, exact));
    }
    for (uint64_t k = 0; k < 5000; k++) /* towards u = 1 absolutely: 24 bits of u are seen */
        worst = fmax(worst, fabs(ergo_minus_log(0xffffffffu - (uint32_t)k) +
                                 log1p(-((double)k + 0.5) * 0x1p-32)));
    print_message("-ln u: off by %.2g at most, relative where it is above 1, else absolute\n",
                  worst);
    assert_true(worst < 2e-7);
}

/* The share of all r that are accepted, which are those below a limit. */
static double accepted_share(int64_t worse, float slope) {
    uint64_t low = 0, high = UINT64_C(1) << 32;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (ergo_ladder_accepts(worse, slope, (uint32_t)middle))
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low * 0x1p-32;
}

static void test_decision(void **state) {
    (void)state;
    static const float slopes[] = {0, 0.01f, 0.3f, 2, 3e-8f};
    static const int64_t worse[] = {-5, 0, 1, 2, 7, 100, INT64_C(1) << 26};
    for (size_t i = 0; i < sizeof slopes / sizeof slopes[0]; i++)
        for (size_t k = 0; k < sizeof worse / sizeof worse[0]; k++) {
            const double p = fmin(1, exp(-(double)slopes[i] * (double)worse[k]));
            const double found = accepted_share(worse[k], slopes[i]);
            if (fabs(found - p) > 4e-7 * p + 0x1p-31)
                fail_msg("slope %g, worse %lld: accepted with %.9g, not %.9g", (double)slopes[i],
                         (long long)worse[k], found, p);
        }
    /* by Philox, along each part of the counter and the key */
    enum { DRAWS = 40000 };
    const double p = exp(-0.9);
    for (int part = 0; part < 5; part++) {
        uint32_t yes = 0;
        for (uint32_t n = 0; n < DRAWS; n++) {
            const uint32_t of[5] = {part == 0 ? n : 1, part == 1 ? n : 2, part == 2 ? n : 3,
                                    part == 3 ? n : 4, part == 4 ? n : 5};
            yes += ergo_ladder_decides(3, 0.3f, of[0], of[1] + ((uint64_t)of[2] << 32),
                                       ERGO_DRAW(9, of[3]), of[4], 7);
        }
        const double z = (yes - DRAWS * p) / sqrt(DRAWS * p * (1 - p));
        assert_true(fabs(z) < 4);
    }
}

/* Walkers of 32 samples on 5 rungs, at random, against each walker followed by itself. */
static void test_trips(void **state) {
    (void)state;
    enum { RUNGS = 5, TURNS = 400 };
    const uint32_t samples = 0x7fffffffu; /* one is not in use */
    uint32_t from_hot[RUNGS] = {0}, found[32] = {0}, expected[32] = {0}, all = 0;
    int walker[32][RUNGS], hot[32][RUNGS] = {{0}};
    for (int bit = 0; bit < 32; bit++)
        for (int t = 0; t < RUNGS; t++)
            walker[bit][t] = t;
    for (uint32_t turn = 1; turn <= TURNS; turn++)
        for (uint32_t t = turn % 2; t + 1 < RUNGS; t += 2) {
            const uint32_t accepted =
                ergo_philox_words(t, turn, 0, ERGO_DRAW(1, 0), 11, 0).x & samples;
            const uint32_t arrived =
                ergo_ladder_walk(&from_hot[t], &from_hot[t + 1], accepted, samples, t, RUNGS);
            for (int bit = 0; bit < 31; bit++) {
                int *w = walker[bit], *h = hot[bit];
                if (accepted >> bit & 1) {
                    const int swap = w[t];
                    w[t] = w[t + 1];
                    w[t + 1] = swap;
                }
                if (t == 0 && h[w[0]])
                    expected[bit]++;
                if (t == 0)
                    h[w[0]] = 0;
                if (t + 2 == RUNGS)
                    h[w[RUNGS - 1]] = 1;
                found[bit] += arrived >> bit & 1;
                assert_int_equal(from_hot[t] >> bit & 1, h[w[t]]);
                assert_int_equal(from_hot[t + 1] >> bit & 1, h[w[t + 1]]);
            }
            assert_int_equal((arrived | from_hot[t] | from_hot[t + 1]) & ~samples, 0);
        }
    for (int bit = 0; bit < 32; bit++) {
        assert_int_equal(found[bit], expected[bit]);
        all += found[bit];
    }
    assert_true(all > 31 * 5);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static double uniform(uint32_t a, uint32_t b) {
    return (ergo_philox_words(a, b, 0, ERGO_DRAW(2, 0), 12, 0).x + 0.5) * 0x1p-32;
}

enum { SAMPLES = 16, STEPS = 64 * 50 };

/* A ladder of two rungs, an exchange of pair (0, 1) in every other step, accepted with p = 0.3;
 * `common`: by all samples alike. The variance that is told beside the spread of samples. */
static double hidden(bool common, uint32_t seed, double rates[SAMPLES]) {
    const struct ergo_ladder ladder = {.rungs = 2, .copies = 1, .every = 1, .steps = STEPS};
    const size_t at = 3; /* behind what else there is of a curve */
    struct ergo_curve curve;
    double counts[3 + 4] = {0};
    assert_true(ergo_curve_init(&curve, at + ergo_ladder_counts(2)));
    memset(rates, 0, SAMPLES * sizeof *rates);
    for (uint32_t step = 1; step <= STEPS; step++) {
        for (uint32_t k = 0; k < SAMPLES && ergo_ladder_parity(step, 1) == 0; k++) {
            const bool yes = uniform(common ? 0 : k, seed * STEPS + step) < 0.3;
            rates[k] += yes;
            counts[at] += yes;
        }
        ergo_ladder_count_tries(2, step, 1, counts + at);
        ergo_curve_add(&curve, counts);
    }
    const double variance = ergo_ladder_rates(&ladder, 0, rates, SAMPLES, &curve, at);
    ergo_curve_free(&curve);
    return variance;
}

/* Means over runs of the hidden variance: none if decisions are independent, and the whole one if
 * all samples decide alike; there the spread is 0. */
static void test_rates(void **state) {
    (void)state;
    enum { RUNS = 100 };
    const double tries = 0.5 * STEPS, p = 0.3, one = p * (1 - p) / tries;
    double apart = 0, alike = 0, mean = 0, rates[SAMPLES];
    for (uint32_t run = 0; run < RUNS; run++) {
        apart += hidden(false, run, rates) / RUNS;
        for (int k = 0; k < SAMPLES; k++)
            mean += rates[k] / (SAMPLES * RUNS);
        alike += hidden(true, run, rates) / RUNS;
        for (int k = 1; k < SAMPLES; k++)
            assert_true(rates[k] == rates[0]);
    }
    print_message("acceptance %.5f; hidden variance %.3f and %.3f of a sample's\n", mean,
                  apart / one, alike / one);
    assert_true(fabs(mean - p) < 4 * sqrt(one / (SAMPLES * RUNS)));
    /* one run's is known to some 30%, in units of 1/16 and of 1 */
    assert_true(fabs(apart / one) < 0.02 && fabs(alike / one - 1 + 1.0 / SAMPLES) < 0.15);
}

/* Round trips are told by copy and million steps; nothing has been tried before the first turn. */
static void test_units(void **state) {
    (void)state;
    struct ergo_ladder ladder = {.rungs = 3, .copies = 2, .every = 10, .steps = 1000};
    struct ergo_curve curve;
    assert_true(ergo_curve_init(&curve, ergo_ladder_counts(3)));
    double rates[2] = {10, 40};
    ergo_ladder_rates(&ladder, 0, rates, 2, &curve, 0); /* 50 tries of each copy */
    assert_true(fabs(rates[0] - 0.1) < 1e-12 && fabs(rates[1] - 0.4) < 1e-12);
    rates[0] = 12;
    assert_true(ergo_ladder_rates(&ladder, 2, rates, 1, &curve, 0) == 0);
    assert_true(fabs(rates[0] - 12 / (3 * 2 * 1000 * 1e-6)) < 1e-9);
    ladder.steps = 9;
    rates[0] = 0;
    ergo_ladder_rates(&ladder, 0, rates, 1, &curve, 0);
    assert_true(isnan(rates[0]));
    ergo_curve_free(&curve);
}

/* ---- feedback -------------------------------------------------------------------------------- */

/* 1/T from 1 to 0.25 in parts that are rejected with 0.5, 0.25, 0.25: a third of it each. */
static void test_feedback(void **state) {
    (void)state;
    static const double rejected[3] = {0.5, 0.25, 0.25};
    double t[4] = {1, 1 / 0.75, 2, 4};
    ergo_ladder_feed_back(4, rejected, t);
    assert_true(t[0] == 1 && t[3] == 4);
    assert_true(fabs(1 / t[1] - (1 - 0.25 * 2 / 3)) < 1e-15);
    assert_true(fabs(1 / t[2] - (0.75 - 0.25 * 2 / 3)) < 1e-15);
    /* the same from counts, up to half a try of 3 * 10^6: after 6 * 10^6 exchanges those since half
     * of them, of both parities 1.5 * 10^6, each of two pairs of copies */
    const struct ergo_feedback f = {true, 4, 1, 12000000};
    static const uint64_t accepted[3] = {1500000, 2250000, 2250000};
    double learnt[4] = {1, 1 / 0.75, 2, 4};
    ergo_feedback_learn(&f, 6000000, 2, accepted, learnt);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(1 / learnt[i] - 1 / t[i]) < 1e-6);
    double two[2] = {1, 3};
    ergo_ladder_feed_back(2, rejected, two);
    assert_true(two[0] == 1 && two[1] == 3);
}

/* Equilibration 130, exchanges each 3 sweeps: feedback after 3, 6, 15, 30, 63 sweeps, then never.
 */
static void test_frozen(void **state) {
    (void)state;
    static const char *const text =
        "{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"xy\", \"size\": [4, 4], "
        "\"temperature\": 0.5, \"temperature_max\": 2, \"ladder\": \"auto\"}, "
        "\"run\": {\"equilibration\": 130, \"sweeps\": 1000}}";
    static const uint64_t steps[] = {3, 6, 15, 30, 63};
    struct ergo_job *job = NULL;
    assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "unit", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_ladder_rungs(&job->points[0]), 16);
    struct ergo_feedback f = ergo_feedback_of(&job->points[0]);
    assert_true(f.automatic && f.rungs == 16 && f.every == 10 && f.equilibration == 130);
    f.every = 3;
    for (uint64_t step = 0, k = 0; step < 2000; step++) {
        k += k < 5 && steps[k] == step;
        assert_int_equal(ergo_feedback_since(&f, step), k ? steps[k - 1] : 0);
    }
    /* exchanges 6 to 10 are counted after 30 sweeps: of parity 0 those of 18, 24, 30 */
    assert_int_equal(ergo_feedback_tries(&f, 29, 0), 2);
    assert_int_equal(ergo_feedback_tries(&f, 47, 0), 2);
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temperatures), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_tries),        cmocka_unit_test(test_log),
        cmocka_unit_test(test_decision),     cmocka_unit_test(test_trips),
        cmocka_unit_test(test_rates),        cmocka_unit_test(test_units),
        cmocka_unit_test(test_feedback),     cmocka_unit_test(test_frozen),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
