/* What a run makes of its series: estimates after equilibration, exact values, drifts, what is
 * slow. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

enum { N = 4000, LEAD = 100 };

static double column[LEAD + N], *columns[1] = {column};
static double exact_value;

static double sample(const struct ergo_point *point, const double *values) {
    (void)point;
    return values[0];
}
static double exact(const struct ergo_point *point, const char *name) {
    (void)point, (void)name;
    return exact_value;
}
static const char *slow(const struct ergo_point *point) {
    (void)point;
    return "it keeps its sign";
}

static struct ergo_observable observable;
static struct ergo_observable_result estimated;
static char warned[1024]; /* the warnings, one after the other */

/* One chain whose series is in column. */
static const struct ergo_observable_result *estimate(size_t lead, size_t n, bool is_slow) {
    static struct ergo_key key = {.pointer = "/run/observables", .type = ERGO_KEY_STRING};
    static const struct ergo_key *const keys[] = {&key};
    static struct ergo_value all = {.present = true, .text = "all"};
    static const struct ergo_sampler sampler = {.name = "toy", .step_name = "sweep"};
    static const struct ergo_model model = {
        .observables = &observable, .n_observables = 1, .n_columns = 1, .exact = exact};
    struct ergo_job job = {
        .sampler = &sampler, .model = &model, .n_keys = 1, .keys = keys, .n_points = 1};
    struct ergo_point point = {.job = &job, .values = &all};
    struct ergo_member_result member = {.point = &point,
                                        .measure_every = 1,
                                        .observables = &estimated,
                                        .series = columns,
                                        .n_samples = lead + n,
                                        .n_equilibration = lead};
    struct ergo_result result = {
        .job = &job, .status = "complete", .n_members = 1, .members = &member};
    struct ergo_context *ctx = ergo_context_create();
    observable = (struct ergo_observable){
        .name = "energy", .unit = "J", .sample = sample, .slow = is_slow ? slow : NULL};
    job.points = &point;
    assert_true(ergo_measured_create(&point, &result.measured));
    member.measured = result.measured;
    member.online.plan = &result.measured->plan;
    assert_int_equal(ergo_result_evaluate(ctx, &result), ERGO_OK);
    ergo_online_free(&member.online);
    ergo_measured_destroy(result.measured);
    *warned = '\0';
    for (size_t w = 0; w < result.n_warnings; w++) {
        strncat(warned, result.warnings[w], sizeof warned - strlen(warned) - 1);
        free(result.warnings[w]);
    }
    free(result.warnings);
    free(result.means);
    free(result.comparison);
    ergo_context_destroy(ctx);
    return &estimated;
}

/* Uniform in (-1, 1), after what an equilibration may leave. */
static void fill(double before) {
    uint64_t z = 7;
    for (size_t i = 0; i < LEAD; i++)
        column[i] = before;
    for (size_t i = LEAD; i < LEAD + N; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        column[i] = (double)(int64_t)z * 0x1p-63;
    }
}

static void equilibration_does_not_count(void **state) {
    (void)state;
    exact_value = 0.01;
    fill(50);
    const struct ergo_observable_result *r = estimate(LEAD, N, false);
    assert_int_equal(r->trust, ERGO_TRUST_FULL);
    assert_int_equal(r->estimate.samples, N);
    assert_true(fabs(r->estimate.mean) < 0.05 && fabs(r->estimate.error - 0.0091) < 0.001);
    assert_true(r->drift < 4);
    assert_true(fabs(r->z - (r->estimate.mean - 0.01) / r->estimate.error) < 1e-12);
}

/* A series that never changed cannot have seen what has a weight below 1/n. */
static void frozen_chains_and_exact_values(void **state) {
    (void)state;
    for (size_t i = 0; i < LEAD + N; i++)
        column[i] = 2;
    exact_value = 2 + 1e-5;
    assert_true(estimate(0, N, false)->z == 0);
    exact_value = 2.01;
    assert_true(estimate(0, N, false)->z == -INFINITY);
    exact_value = 1.99;
    assert_true(estimate(0, N, false)->z == INFINITY);
    exact_value = NAN;
    assert_true(isnan(estimate(0, N, false)->z));
    assert_int_equal(estimated.trust, ERGO_TRUST_CONSTANT);
}

/* A beginning that is off by six errors has no error; nor has one that is slow by its physics. */
static void beginnings_that_are_off(void **state) {
    (void)state;
    exact_value = NAN;
    fill(0);
    for (size_t i = 0; i < N / 5; i++)
        column[LEAD + i] += 0.15;
    const struct ergo_observable_result *r = estimate(LEAD, N, false);
    assert_true(r->drift > 5 && r->drift < 12);
    assert_int_equal(r->trust, ERGO_TRUST_DRIFT);
    assert_true(isnan(r->estimate.error) && isfinite(r->estimate.mean));
    assert_int_equal(estimate(LEAD, N, true)->trust, ERGO_TRUST_SLOW);
}

/* A chain that is on its way all the time: it says so, and from where to where. Not where the error
 * stands, nor of a chain that is slow by its physics. */
static void ways_that_do_not_end(void **state) {
    (void)state;
    exact_value = NAN;
    fill(50);
    for (size_t i = 0; i < N; i++)
        column[LEAD + i] = 0.01 * column[LEAD + i] - 3.0 * (double)i / N;
    const struct ergo_observable_result *r = estimate(LEAD, N, false);
    assert_int_equal(r->trust, ERGO_TRUST_SHORT);
    assert_true(r->one_way && fabs(r->first + 0.3) < 0.01 && fabs(r->last + 2.7) < 0.01);
    assert_non_null(strstr(warned, "energy went one way all the time, energy from -0."));
    assert_non_null(strstr(warned, " in the first fifth of what was measured to -2."));
    assert_false(estimate(LEAD, N, true)->one_way);
    fill(50);
    assert_false(estimate(LEAD, N, false)->one_way);
    assert_null(strstr(warned, "one way"));
    for (size_t i = 0; i < N; i++)
        column[LEAD + i] -= 3.0 * (double)i / N + (i < N / 5 ? 3 : 0); /* there and back */
    assert_false(estimate(LEAD, N, false)->one_way);
    assert_null(strstr(warned, "one way"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibration_does_not_count),
        cmocka_unit_test(frozen_chains_and_exact_values),
        cmocka_unit_test(beginnings_that_are_off),
        cmocka_unit_test(ways_that_do_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
