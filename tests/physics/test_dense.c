/*
 * Fully connected spin glasses against exact values: every moment of small realisations by
 * enumeration (dense_physics.h, with the error budget), and two results for averages over the
 * disorder.
 *
 * Gaussian couplings without a field: integration by parts over J_ij gives [e] = -(1 - [<q^2>])/(2
 * T) for any n and T (as for other Gaussian glasses, A. Bray and M. Moore, J. Phys. C 13, L469
 * (1980)). Above T = 1, [<q^2>] = 1/(n (1 - 1/T^2)) up to order 1/n^2, so e = -(1 - that)/(2 T).
 *
 * Random orthogonal: the annealed average, which is right for n = infinity above T = 0.065, is e =
 * -(sqrt(1 + 4/T^2) - 1) T/4. (For one configuration the quadratic form of O s is n (2 B - 1) with
 * B of a beta distribution, B(n/4, n/4); the trace is 0, so that leaving out the diagonal changes
 * nothing.) e(n) differs by order 1/n: 2 e(2 n) - e(n) is compared.
 */
#include "dense_physics.h"
#include "physics_result.h"

#include "fixture.h"

#define JOB(system, run)                                                                           \
    "{'sampler': 'spin-lattice', 'seed': '17', 'system': {" system "}, 'run': {" run               \
    "}, 'output': {'snapshots': 0}}"
#define LONG "'equilibration': 300, 'sweeps': 16000, 'measure_every': 4"

static const struct {
    const char *name, *job;
} cases[] = {
    {"SK +-1, 16 spins, Metropolis, tempering",
     JOB("'model': 'sherrington-kirkpatrick', 'n': 16, 'samples': 4, 'temperature': 0.4, 'ladder': "
         "4, 'temperature_max': 1.6, 'swap_every': 3",
         LONG)},
    {"SK Gaussian, 18 spins in a field, heat bath",
     JOB("'model': 'sherrington-kirkpatrick', 'n': 18, 'samples': 2, 'temperature': 0.8, "
         "'disorder': 'gaussian', 'field': 0.4, 'dynamics': 'heat-bath'",
         LONG)},
    {"random orthogonal, 16 spins, tempering",
     JOB("'model': 'random-orthogonal', 'n': 16, 'samples': 4, 'temperature': 0.25, 'ladder': 4, "
         "'temperature_max': 0.9, 'swap_every': 2",
         LONG)},
};

static void test_enumeration(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dense_verdict v = {0};
        dense_physics_job(ctx, device, cases[i].job, &v);
        const char *reason = dense_judge(&v);
        print_message("%-44s %4zu moments, largest |z| %.2f, mean z^2 %.2f; lowest e %.4f%s%s\n",
                      cases[i].name, v.n, v.worst, v.squares / (double)v.n, v.ground,
                      reason ? ": " : "", reason ? reason : "");
        good = good && !reason;
    }
    assert_true(good);
}

static void judge(const char *what, double mean, double error, double exact) {
    const double z = (mean - exact) / error;
    print_message("%s: %.6f +- %.6f, exact %.6f, z = %.2f\n", what, mean, error, exact, z);
    assert_true(fabs(z) < 4);
}

static void test_gaussian(void **state) {
    (void)state;
    struct ergo_result *result = physics_result(
        ctx, JOB("'model': 'sherrington-kirkpatrick', 'n': 32, 'disorder': 'gaussian', 'samples': "
                 "400, 'temperature': 0.5, 'ladder': 5, 'temperature_max': 2, 'swap_every': 5",
                 "'equilibration': 300, 'sweeps': 900, 'measure_every': 10"));
    const struct ergo_member_result *m = &result->members[0];
    const double *mean_of = m->curves[DENSE_CURVE_SAMPLES].mean;
    const struct dense_shape s = dense_shape_of(m->point);
    const size_t length = dense_row_length(&s);
    double t[ERGO_LADDER_MAX];
    ergo_ladder_temperatures(m->point, t);
    for (uint32_t i = 0; i < s.rungs; i += 2) {
        double mean = 0, squares = 0;
        char what[60];
        for (uint32_t k = 0; k < s.samples; k++) {
            const double *own = mean_of + k * length + i * DENSE_MOMENTS;
            const double x = own[DENSE_E] * 0x1p-28 + (1 - own[DENSE_Q2] * 0x1p-28) / (2 * t[i]);
            mean += x / s.samples;
            squares += x * x / s.samples;
        }
        snprintf(what, sizeof what, "Gaussian SK, T = %.3f, [e] + (1 - [q^2])/2T", t[i]);
        judge(what, mean, sqrt((squares - mean * mean) / (s.samples - 1)), 0);
    }
    ergo_result_destroy(result);
}

static void energy_of(const char *quoted, double *mean, double *error) {
    struct ergo_result *result = physics_result(ctx, quoted);
    *mean = result->members[0].observables[0].estimate.mean;
    *error = result->members[0].observables[0].estimate.error;
    ergo_result_destroy(result);
}

static void test_warm(void **state) {
    (void)state;
    double e[3], error[3];
    energy_of(JOB("'model': 'sherrington-kirkpatrick', 'n': 128, 'samples': 60, 'temperature': 2, "
                  "'copies': 1, 'disorder': 'gaussian'",
                  "'equilibration': 100, 'sweeps': 1000, 'measure_every': 4"),
              &e[0], &error[0]);
    judge("Gaussian SK, T = 2, e", e[0], error[0], -0.25 * (1 - 1 / (128 * 0.75)));
    energy_of(JOB("'model': 'random-orthogonal', 'n': 48, 'samples': 100, 'temperature': 0.7",
                  "'equilibration': 100, 'sweeps': 1500, 'measure_every': 4"),
              &e[1], &error[1]);
    energy_of(JOB("'model': 'random-orthogonal', 'n': 96, 'samples': 80, 'temperature': 0.7",
                  "'equilibration': 100, 'sweeps': 1500, 'measure_every': 4"),
              &e[2], &error[2]);
    judge("random orthogonal, T = 0.7, 2 e(96) - e(48)", 2 * e[2] - e[1],
          hypot(2 * error[2], error[1]), -(sqrt(1 + 4 / 0.49) - 1) * 0.7 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_warm),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
