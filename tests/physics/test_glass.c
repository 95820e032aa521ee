/*
 * Spin glasses against exact values: every moment of small samples by enumeration
 * (glass_physics.h, with the error budget), a 4 x 4 sample from a file, the ferromagnet against
 * Kaufman's formula, tempering against plain chains, and Nishimori's line.
 */
#include "glass_physics.h"

#include "samplers/spin_lattice/exact.h"
#include "fixture.h"

#define JOB(system, run)                                                                           \
    "{'sampler': 'spin-lattice', 'seed': '17', 'system': {'model': 'spin-glass', " system          \
    "}, 'run': {" run "}}"
#define LONG "'equilibration': 200, 'sweeps': 12000, 'measure_every': 4"

static const struct {
    const char *name, *job;
} cases[] = {
    {"4 x 4 from a file, heat bath, tempering",
     JOB("'size': [4, 4], 'disorder_file': 'data/reference/glass-4x4.txt', 'temperature': 0.5, "
         "'ladder': 5, 'temperature_max': 2, 'swap_every': 4, 'dynamics': 'heat-bath'",
         "'equilibration': 200, 'sweeps': 40000, 'measure_every': 4")},
    {"4 x 4 from a file, Metropolis",
     JOB("'size': [4, 4], 'disorder_file': 'data/reference/glass-4x4.txt', 'temperature': 1.5, "
         "'copies': 4",
         "'equilibration': 200, 'sweeps': 40000, 'measure_every': 4")},
    {"2 x 2 x 2, heat bath, tempering",
     JOB("'size': [2, 2, 2], 'temperature': 1, 'ladder': 4, 'temperature_max': 4, 'swap_every': 3, "
         "'dynamics': 'heat-bath', 'samples': 64",
         LONG)},
    {"4 x 2 x 2, heat bath, tempering, 64 samples",
     JOB("'size': [2, 4, 2], 'samples': 64, 'temperature': 1, 'ladder': 3, 'temperature_max': 3, "
         "'swap_every': 2, 'dynamics': 'heat-bath', 'negative_fraction': 0.3",
         LONG)},
    {"4 x 4, Metropolis, four copies",
     JOB("'size': [4, 4], 'temperature': 1.5, 'copies': 4, 'coupling': 1.25, 'samples': 96", LONG)},
    {"4 x 4, clusters of four copies, tempering",
     JOB("'size': [4, 4], 'temperature': 0.8, 'copies': 4, 'ladder': 3, 'temperature_max': 2, "
         "'swap_every': 2, 'cluster_every': 1",
         LONG)},
    {"4 x 4 Gaussian, Metropolis, tempering",
     JOB("'size': [4, 4], 'disorder': 'gaussian', 'temperature': 0.6, 'ladder': 4, "
         "'temperature_max': 2, 'swap_every': 2",
         LONG)},
    {"4 x 4 Gaussian, heat bath",
     JOB("'size': [4, 4], 'disorder': 'gaussian', 'temperature': 1, 'dynamics': 'heat-bath', "
         "'coupling': 0.8",
         LONG)},
    {"4 x 2, +-h and a field, heat bath, tempering",
     JOB("'size': [4, 2], 'copies': 4, 'temperature': 0.9, 'ladder': 3, 'temperature_max': 2.5, "
         "'swap_every': "
         "2, "
         "'random_field': 0.6, 'field': 0.25, 'dynamics': 'heat-bath', 'coupling': 1.25",
         LONG)},
    {"2 x 2 x 2 Gaussian, Gaussian fields, Metropolis",
     JOB("'size': [2, 2, 2], 'temperature': 1.5, 'disorder': 'gaussian', 'random_field': 0.8, "
         "'field_distribution': 'gaussian'",
         LONG)},
    {"4 x 4 and fields from files",
     JOB("'size': [4, 4], 'disorder_file': 'data/reference/glass-4x4.txt', 'field_file': "
         "'data/reference/fields-16.txt', 'random_field': 0.7, 'temperature': 1.2",
         LONG)},
};

static void test_enumeration(void **state) {
    (void)state;
    bool good = true;
    double chi2 = 0;
    size_t dof = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct glass_verdict v = {0};
        glass_physics_job(ctx, device, cases[i].job, &v);
        const char *reason = glass_judge(&v);
        print_message("%-44s %4zu moments, largest |z| %.2f, mean z^2 %.2f; lowest e %.4f, weight "
                      "out of Metropolis' reach %.1e%s%s\n",
                      cases[i].name, v.n, v.worst, v.squares / (double)v.n, v.ground, v.left_out,
                      reason ? ": " : "", reason ? reason : "");
        chi2 += v.chi2;
        dof += v.dof;
        good = good && !reason;
    }
    /* Wilson and Hilferty's approximation of the 99.9% band; the errors' own errors widen it */
    const double width = sqrt(2 / (9.0 * (double)dof)), centre = 1 - width * width;
    const double low = pow(centre - 3.29 * width, 3), high = 1.06 * pow(centre + 3.29 * width, 3);
    print_message(
        "energies at the coldest temperatures: chi^2 / n = %.2f, n = %zu, allowed %.2f to "
        "%.2f\n",
        chi2 / (double)dof, dof, low, high);
    assert_true(chi2 / (double)dof > low && chi2 / (double)dof < high);
    assert_true(good);
}

/* Mean energy and error of a job, at its lowest temperature. */
static void energy_of(const char *quoted, double *mean, double *error) {
    struct ergo_result *result = physics_result(ctx, quoted);
    *mean = result->members[0].observables[0].estimate.mean;
    *error = result->members[0].observables[0].estimate.error;
    ergo_result_destroy(result);
}

static void compare(const char *what, double mean, double error, double other, double other_error) {
    const double z = (mean - other) / sqrt(error * error + other_error * other_error);
    print_message("%s: e = %.6f +- %.6f, %.6f +- %.6f, z = %.2f\n", what, mean, error, other,
                  other_error, z);
    assert_true(fabs(z) < 4);
}

/* Kaufman 1949: all couplings +1, and all -1, on even sides. */
static void test_ferromagnet(void **state) {
    (void)state;
    static const char *const jobs[] = {
        JOB("'size': [16, 16], 'negative_fraction': 0, 'temperature': 2.3, 'ladder': 4, "
            "'temperature_max': 3, 'start': 'up'",
            "'equilibration': 500, 'sweeps': 20000, 'measure_every': 10"),
        JOB("'size': [12, 8], 'negative_fraction': 1, 'temperature': 3",
            "'equilibration': 100, 'sweeps': 10000, 'measure_every': 5")};
    static const double t[2] = {2.3, 3};
    for (int i = 0; i < 2; i++) {
        struct ergo_ising_exact exact;
        double mean, error;
        assert_true(ergo_ising_exact_torus(i ? 12 : 16, i ? 8 : 16, t[i], 1, &exact));
        energy_of(jobs[i], &mean, &error);
        compare(i ? "all couplings -1" : "all couplings +1", mean, error, exact.energy, 0);
    }
}

/* The same samples with and without tempering, where plain chains still move. */
static void test_tempering(void **state) {
    (void)state;
    double mean[2], error[2];
    energy_of(
        JOB("'size': [6, 6, 6], 'temperature': 1.6, 'disorder_seed': '3', 'dynamics': 'heat-bath'",
            "'equilibration': 2000, 'sweeps': 20000, 'measure_every': 10"),
        &mean[0], &error[0]);
    energy_of(JOB("'size': [6, 6, 6], 'temperature': 1.6, 'disorder_seed': '3', 'ladder': 6, "
                  "'temperature_max': 2.6, 'swap_every': 5",
                  "'equilibration': 1000, 'sweeps': 10000, 'measure_every': 10"),
              &mean[1], &error[1]);
    compare("plain heat bath and tempered Metropolis, 6 x 6 x 6, T = 1.6", mean[0], error[0],
            mean[1], error[1]);
}

/*
 * On Nishimori's line, exp(-2/T) = p/(1 - p) for a fraction p of negative couplings, and in any
 * lattice: [e] = -d tanh(1/T), and [<m^2>] = [<q^2>] (H. Nishimori, Prog. Theor. Phys. 66, 1169
 * (1981)). Averages over the disorder: errors from 20 words of 32 samples.
 */
static void test_nishimori(void **state) {
    (void)state;
    static const struct {
        const char *job;
        int d;
        double p;
    } lines[] = {
        {JOB("'size': [6, 6, 6], 'samples': 640, 'negative_fraction': 0.25, 'temperature': "
             "1.8204784532536746",
             "'equilibration': 300, 'sweeps': 1000, 'measure_every': 20"),
         3, 0.25},
        {JOB("'size': [8, 6], 'samples': 640, 'negative_fraction': 0.15, 'temperature': "
             "1.1530028727859343, 'ladder': 3, 'temperature_max': 2.5, 'dynamics': 'heat-bath'",
             "'equilibration': 500, 'sweeps': 1000, 'measure_every': 20"),
         2, 0.15}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct ergo_result *result = physics_result(ctx, lines[i].job);
        const struct ergo_member_result *m = &result->members[0];
        const double t = ergo_point_real(m->point, "/system/temperature");
        double value[2] = {0}, error[2] = {0};
        assert_true(fabs(exp(-2 / t) * (1 - lines[i].p) / lines[i].p - 1) < 1e-12);
        compare(i ? "Nishimori's line, 8 x 6" : "Nishimori's line, 6 x 6 x 6",
                m->curves[CURVE_LADDER_ENERGY].mean[0], m->curves[CURVE_LADDER_ENERGY].error[0],
                -lines[i].d * tanh(1 / t), 0);
        for (size_t k = 0; k < result->job->model->n_observables; k++) {
            const char *name = m->observables[k].observable->name;
            const int at = strcmp(name, "overlap2") == 0 ? 0 : 1;
            if (at && strcmp(name, "glass_magnetization2") != 0)
                continue;
            value[at] = m->observables[k].estimate.mean;
            error[at] = m->observables[k].estimate.error;
        }
        print_message("<q^2> and <m^2>: ");
        compare("there", value[0], error[0], value[1], error[1]);
        ergo_result_destroy(result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_ferromagnet),
        cmocka_unit_test(test_tempering),
        cmocka_unit_test(test_nishimori),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
