/*
 * Parallel tempering of all models of spin-lattice that the engine tempers, against exact values at
 * each temperature; that exchanges leave what single temperatures have is the same question. And
 * what feedback finds.
 */
#include "physics/tempering_physics.h"
#include "physics/run_physics.h"
#include "fixture.h"

#define RUN(equilibration)                                                                         \
    "}, 'replicas': 32, 'seed': '21', 'run': {'equilibration': " equilibration                     \
    ", 'sweeps': 400, 'measure_every': 4}}"
#define JOB(system) "{'sampler': 'spin-lattice', 'system': {'swap_every': 4, " system RUN("200")

static void test_exact(void **state) {
    (void)state;
    static const char *const jobs[] = {
        /* a bit per spin */
        JOB("'model': 'ising', 'size': [4, 4], 'field': 0.3, 'temperature': 1.8, "
            "'temperature_max': 4.5, 'ladder': 4"),
        JOB("'model': 'ising', 'size': [4, 2], 'random_field': 0.8, 'couplings': [1, -0.6], "
            "'temperature': 1.1, 'temperature_max': 3, 'ladder': 4, 'ladder_spacing': 'auto'"),
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 0.7, 'temperature_max': 1.8, "
            "'ladder': 4, 'ladder_spacing': 'auto'"),
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 0.7, 'temperature_max': 1.8, "
            "'ladder': 4, 'field': 0.3, 'disorder': 'gaussian', 'random_field': 0.5"),
        JOB("'model': 'blume-capel', 'size': [4, 2], 'crystal_field': 1.1, 'field': 0.1, "
            "'temperature': 0.7, 'temperature_max': 1.8, 'ladder': 4, 'ladder_spacing': 'linear'"),
        JOB("'model': 'clock', 'q': 5, 'size': [6], 'field': -0.2, 'temperature': 0.3, "
            "'temperature_max': 1.4, 'ladder': 3"),
        JOB("'model': 'xy', 'size': [6], 'field': 0.3, 'over_relaxation': 1, 'temperature': 0.15, "
            "'temperature_max': 1.5, 'ladder': 4, 'ladder_spacing': 'auto'"),
        JOB("'model': 'heisenberg', 'size': [6], 'anisotropy': 0.7, 'field': 0.3, 'temperature': "
            "0.2, 'temperature_max': 1.5, 'ladder': 4"),
    };
    struct tempering_verdict v = {0};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        tempering_job(ctx, device, jobs[i], &v);
    print_message("%zu comparisons, largest |z| %.2f: %s\n", v.n, v.worst, v.where);
    if (tempering_judge(&v))
        fail_msg("%s", tempering_judge(&v));
}

static const cJSON *curve_of(const cJSON *result, const char *name, const char *part) {
    const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(result, "points"), 0);
    const cJSON *curve = cJSON_GetObjectItem(cJSON_GetObjectItem(point, "curves"), name);
    const cJSON *numbers = cJSON_GetObjectItem(curve, part);
    if (!numbers)
        fail_msg("no %s of the curve %s", part, name);
    return numbers;
}

static double number(const cJSON *array, int i) {
    return cJSON_GetArrayItem(array, i)->valuedouble;
}

/* Feedback from a ladder whose coldest pairs seldom exchange: all pairs do it equally often in the
 * end, and as often in a run that is given the temperatures. The result has them, as x of curves
 * too. */
static void test_feedback(void **state) {
    (void)state;
    static const char *const job =
        "{'sampler': 'spin-lattice', 'seed': '%d', 'system': {'model': 'ising', 'size': [12, 12], "
        "'temperature': 1.6, 'temperature_max': 4, 'ladder': 7, '%s': '%s', "
        "'swap_every': 2}, 'run': {'equilibration': 3000, 'sweeps': 2000, 'measure_every': 10}, "
        "'output': {'snapshots': 0}}";
    double rates[3][6];
    char found[300] = "";
    for (int run = 0; run < 3; run++) {
        char text[800];
        snprintf(text, sizeof text, job, 3 + run,
                 run < 2 ? "ladder_spacing" : "ladder_temperatures",
                 run == 0   ? "geometric"
                 : run == 1 ? "auto"
                            : found);
        cJSON *result = physics_run(ctx, text, "feedback");
        const cJSON *swaps = curve_of(result, "ladder_swaps", "mean"),
                    *t = curve_of(result, "ladder_temperatures", "mean"),
                    *x = curve_of(result, "ladder_energy", "x");
        for (int i = 0; i < 6; i++) {
            rates[run][i] = number(swaps, i);
            assert_true(number(t, i) < number(t, i + 1));
            assert_true(number(t, i) == number(x, i));
        }
        assert_true(number(t, 0) == 1.6 && number(t, 6) == 4);
        for (int i = 0; i < 7 && run == 1; i++) {
            const size_t length = strlen(found);
            snprintf(found + length, sizeof found - length, "%s%.17g", i ? ", " : "", number(t, i));
        }
        cJSON_Delete(result);
    }
    /* rates of 900 tries: standard deviations of 0.02, some more with correlations */
    for (int i = 0; i < 6; i++) {
        print_message("pair %d: geometric %.3f, auto %.3f, given %.3f\n", i, rates[0][i],
                      rates[1][i], rates[2][i]);
        assert_true(fabs(rates[1][i] - 0.33) < 0.08);
        assert_true(fabs(rates[2][i] - 0.33) < 0.08);
    }
    assert_true(rates[0][2] < 0.2); /* from 2.17 to 2.53, around the heat capacity's maximum */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_feedback)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
