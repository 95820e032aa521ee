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

/* Feedback from a ladder whose coldest pair never exchanges: all pairs do it equally often in the
 * end. The result has the temperatures, as x of the curves too. */
static void test_feedback(void **state) {
    (void)state;
    static const char *const job =
        "{'sampler': 'spin-lattice', 'seed': '3', 'system': {'model': 'ising', 'size': [12, 12], "
        "'temperature': 1.6, 'temperature_max': 4, 'ladder': 7, 'ladder_spacing': '%s', "
        "'swap_every': 2}, 'run': {'equilibration': 3000, 'sweeps': 2000, 'measure_every': 10}, "
        "'output': {'snapshots': 0}}";
    double least[2], most[2];
    for (int fed = 0; fed < 2; fed++) {
        char text[500];
        snprintf(text, sizeof text, job, fed ? "auto" : "geometric");
        cJSON *result = physics_run(ctx, text, "feedback");
        const cJSON *swaps = curve_of(result, "ladder_swaps", "mean"),
                    *t = curve_of(result, "ladder_temperatures", "mean"),
                    *x = curve_of(result, "ladder_energy", "x");
        least[fed] = 1, most[fed] = 0;
        for (int i = 0; i < 6; i++) {
            least[fed] = fmin(least[fed], number(swaps, i));
            most[fed] = fmax(most[fed], number(swaps, i));
            assert_true(number(t, i) < number(t, i + 1));
            assert_true(number(t, i) == number(x, i));
        }
        assert_true(number(t, 0) == 1.6 && number(t, 6) == 4);
        print_message("%s: exchanges from %.3f to %.3f\n", fed ? "auto" : "geometric", least[fed],
                      most[fed]);
        cJSON_Delete(result);
    }
    /* rates of 900 tries: 0.03 */
    assert_true(least[1] > least[0] + 0.03);
    assert_true(most[1] - least[1] < 0.15);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_feedback)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
