/*
 * helium-dmc through the public API against exact ground states: of two atoms whose V is made from
 * a known one, of two helium atoms by finite differences (oracle/helium_ground.h), of the ideal
 * gas. Error budget, set beforehand: every comparison within 4 standard errors; 14 comparisons, so
 * by chance one test in 1,100 seeds fails. Errors of the time step are taken away by two steps, tau
 * and tau/2, as they fall with tau^2: (4 E(tau/2) - E(tau)) / 3. Seeds are fixed.
 * $ERGOCL_TEST_FULL: also the order of that error, and eight atoms by oracle/helium_dmc.h.
 */
#include "helium_pairs.h"
#include "oracle/helium_dmc.h"

static struct ergo_oracle_smooth smooth = {8, 0, 3, 0};

static struct ergo_result *run(const char *keys, const char *rest) {
    return helium_system("helium-dmc", "1994", "", keys, rest);
}

/* ---- a known ground state -------------------------------------------------------------------- */

static const char *make_pair(char keys[512], double height) {
    return helium_pair(&smooth, "0.00390625", height, keys);
}

/* psi is the ground state: each walker's local energy is its energy, but for the tables. */
static void an_exact_wave_function_has_no_variance(void **state) {
    (void)state;
    char keys[512], system[640];
    snprintf(system, sizeof system,
             "%s, \"walkers\": 64, \"time_step\": 0.01, "
             "\"forward_steps\": 0",
             make_pair(keys, 3));
    struct ergo_result *r = run(system, "\"run\": {\"equilibration\": 50, \"sweeps\": 200, "
                                        "\"structure_every\": 0}");
    const double e = estimate(r, 0, "energy").mean, growth = estimate(r, 0, "energy_growth").mean;
    const double sigma = estimate(r, 0, "energy_sigma").mean;
    print_message("  energy %.2g, growth %.2g, sigma %.2g\n", e, growth, sigma);
    assert_true(fabs(e) < 1e-4 && fabs(growth) < 1e-4 && sigma < 1e-3);
    assert_true(estimate(r, 0, "potential").error > 1e-3); /* V alone varies */
    ergo_result_destroy(r);
}

/* The same from another trial function. */
static void two_atoms_reach_the_ground_state(void **state) {
    (void)state;
    char keys[512], system[640];
    snprintf(system, sizeof system, "%s, \"walkers\": 512, \"forward_steps\": 64",
             make_pair(keys, 2));
    struct ergo_result *r =
        run(system, "\"scan\": {\"/system/time_step\": [0.02, 0.01]}, \"run\": {\"equilibration\": "
                    "200, \"sweeps\": 4000, \"measure_every\": 2, \"structure_every\": 0}");
    helium_extrapolated(r, "energy", 0, 0);
    helium_extrapolated(r, "energy_growth", 0, 0);
    helium_extrapolated(r, "potential", ergo_oracle_smooth_mean(&smooth, 2), 0);
    helium_extrapolated(r, "potential_pure", ergo_oracle_smooth_mean(&smooth, 3), 0);
    ergo_result_destroy(r);
}

/* Few walkers: a mean over the population comes out too high, by a bias of the order 1/walkers,
 * which the weights of the steps before take away up to order 1/walkers^2. */
static void a_small_population_is_corrected(void **state) {
    (void)state;
    char keys[512], system[640];
    snprintf(system, sizeof system,
             "%s, \"walkers\": 8, \"forward_steps\": 0, \"correction_steps\": 120",
             make_pair(keys, 1));
    struct ergo_result *r =
        run(system, "\"scan\": {\"/system/time_step\": [0.02, 0.01]}, \"run\": {\"equilibration\": "
                    "400, \"sweeps\": 200000, \"measure_every\": 4, \"structure_every\": 0}");
    helium_extrapolated(r, "energy_corrected", 0, 0);
    helium_extrapolated(r, "energy_corrected_half", 0, 0);
    const struct ergo_estimate raw = estimate(r, 1, "energy");
    const struct ergo_estimate corrected = estimate(r, 1, "energy_corrected");
    print_message("  without: %.5f +- %.5f\n", raw.mean, raw.error);
    assert_true(raw.mean - corrected.mean > 4 * corrected.error);
    ergo_result_destroy(r);
}

/* Solve the normal equations of three unknowns, m [3][4], by elimination. */
static void eliminate(double m[3][4]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double factor = k == i ? 0 : m[k][i] / m[i][i];
            for (int c = 0; c < 4; c++)
                m[k][c] -= factor * m[i][c];
        }
    for (int i = 0; i < 3; i++)
        m[i][3] /= m[i][i];
}

/* The splitting is symmetric: E(tau) = c tau^2 + d tau^4 + ... A term b tau beside these is 0, and
 * they are enough. (A first-order algorithm, which measures before the weights, has b = 4 K^2; one
 * standard error of b here is 0.05.) */
static void the_step_is_of_second_order(void **state) {
    (void)state;
    if (!getenv("ERGOCL_TEST_FULL"))
        skip();
    static const double powers[3] = {1, 2, 4};
    char keys[512], system[640];
    snprintf(system, sizeof system, "%s, \"walkers\": 2048, \"forward_steps\": 0",
             make_pair(keys, 2));
    struct ergo_result *r =
        run(system, "\"scan\": {\"/system/time_step\": [0.04, 0.028284, 0.02, 0.014142]}, \"run\": "
                    "{\"equilibration\": 200, \"sweeps\": 20000, \"measure_every\": 2, "
                    "\"structure_every\": 0}");
    double fit[3][4] = {{0}}, inverse[3][4] = {{0}}, chi2 = 0;
    for (size_t m = 0; m < 4; m++) {
        const struct ergo_estimate e = estimate(r, m, "energy");
        const double t = r->members[m].point->scanned[0].value, w = 1 / (e.error * e.error);
        print_message("  tau %.4f: E %.5f +- %.5f\n", t, e.mean, e.error);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++)
                fit[i][k] += w * pow(t, powers[i] + powers[k]);
            fit[i][3] += w * pow(t, powers[i]) * e.mean;
        }
    }
    memcpy(inverse, fit, sizeof fit);
    inverse[0][3] = 1;
    inverse[1][3] = inverse[2][3] = 0;
    eliminate(fit);
    eliminate(inverse);
    const double b = fit[0][3], error = sqrt(inverse[0][3]);
    for (size_t m = 0; m < 4; m++) {
        const struct ergo_estimate e = estimate(r, m, "energy");
        const double t = r->members[m].point->scanned[0].value;
        const double z = (e.mean - b * t - fit[1][3] * t * t - fit[2][3] * pow(t, 4)) / e.error;
        chi2 += z * z;
    }
    print_message("  %.3f +- %.3f K^2 tau + %.2f K^3 tau^2 + %.0f K^5 tau^4, chi^2 %.2f of 1\n", b,
                  error, fit[1][3], fit[2][3], chi2);
    assert_true(error < 0.1 && fabs(b) < 4 * error && chi2 < 16);
    ergo_result_destroy(r);
}

/* ---- helium ---------------------------------------------------------------------------------- */

/* HFD-B(HE), cut at half a box of 8 A. 32^3 and 48^3 cells, extrapolated, are 1e-4 K from 72^3 and
 * 96^3. */
static void two_helium_atoms(void **state) {
    (void)state;
    const struct ergo_oracle_ground exact = helium_two_atoms(3, 32);
    /* a psi that is nearly exact, and one whose energies near the wall are not bounded */
    static const char *const functions[] = {"\"wave_function\": \"two-body\"", "\"b\": 2.8"};
    for (int k = 0; k < (getenv("ERGOCL_TEST_FULL") ? 2 : 1); k++) {
        char keys[256];
        snprintf(keys, sizeof keys,
                 "\"n\": 2, \"density\": 0.00390625, %s, \"walkers\": 512, \"forward_steps\": 160",
                 functions[k]);
        struct ergo_result *r = run(
            keys, "\"scan\": {\"/system/time_step\": [0.004, 0.002]}, \"run\": {\"equilibration\": "
                  "400, \"sweeps\": 6000, \"measure_every\": 4, \"structure_every\": 0}");
        helium_extrapolated(r, "energy", exact.energy, 2e-4);
        helium_extrapolated(r, "energy_growth", exact.energy, 2e-4);
        helium_extrapolated(r, "potential_pure", exact.potential, 5e-4);
        ergo_result_destroy(r);
    }
}

/* Eight atoms by another algorithm, in doubles. Its error is linear in the time step, so two steps
 * are extrapolated. */
static void eight_helium_atoms(void **state) {
    (void)state;
    if (!getenv("ERGOCL_TEST_FULL"))
        skip();
    struct ergo_oracle_dmc job = {.n = 8,
                                  .walkers = 500,
                                  .density = 0.012,
                                  .b = 2.8,
                                  .lambda = helium_lambda(4.002602),
                                  .equilibration = 1,
                                  .time = 20,
                                  .seed = 1982};
    struct ergo_oracle_dmc_energy serial[2];
    for (int k = 0; k < 2; k++) {
        job.time_step = 0.001 / (1 << k);
        serial[k] = ergo_oracle_dmc(&job);
        print_message("  serial, %g/K: %.5f +- %.5f, acceptance %.4f\n", job.time_step,
                      serial[k].energy, serial[k].error, serial[k].acceptance);
        assert_true(serial[k].acceptance > 0.98);
    }
    const double energy = 2 * serial[1].energy - serial[0].energy;
    const double error = hypot(hypot(2 * serial[1].error, serial[0].error), 2e-3);
    struct ergo_result *r =
        run("\"n\": 8, \"density\": 0.012, \"b\": 2.8, \"walkers\": 500, \"forward_steps\": 0, "
            "\"correction_steps\": 200",
            "\"scan\": {\"/system/time_step\": [0.002, 0.001]}, \"run\": {\"equilibration\": 800, "
            "\"sweeps\": 12000, \"measure_every\": 5, \"structure_every\": 0}");
    helium_extrapolated(r, "energy_corrected", energy, error);
    helium_extrapolated(r, "energy_growth", energy, error);
    ergo_result_destroy(r);
}

/* No forces: nothing branches. */
static void ideal_gas(void **state) {
    (void)state;
    FILE *zero = fopen("zero", "w");
    assert_non_null(zero);
    for (double r = 0.3; r < 4.006; r += 0.005)
        fprintf(zero, "%.17g 0\n", r);
    assert_int_equal(fclose(zero), 0);
    struct ergo_result *r = run("\"n\": 8, \"density\": 0.02, \"potential\": \"./zero\", \"b\": 0, "
                                "\"walkers\": 16, \"time_step\": 0.1, \"forward_steps\": 16",
                                "\"run\": {\"equilibration\": 20, \"sweeps\": 400, "
                                "\"structure_every\": 1, \"structure_walkers\": 16, "
                                "\"gr_bins\": 10}");
    assert_true(estimate(r, 0, "energy").mean == 0);
    assert_true(estimate(r, 0, "energy_growth").mean == 0);
    assert_true(estimate(r, 0, "potential_pure").mean == 0);
    assert_true(estimate(r, 0, "effective_walkers").mean == 1);
    for (size_t c = 0; c < 2; c++) { /* g = S = 1 */
        const struct ergo_curve_result *curve = &r->members[0].curves[c];
        for (size_t i = 0; i < curve->size; i++)
            if (!(fabs(curve->mean[i] - 1) < 4.5 * curve->error[i]) && curve->error[i] > 0)
                fail_msg("curve %zu, point %zu: %g +- %g", c, i, curve->mean[i], curve->error[i]);
    }
    ergo_result_destroy(r);
}

/* Errors cover: 24 replicas scatter as they say. chi^2 of 23 has a standard deviation of 6.8, and
 * quoted errors one of a seventh: within 4 of both together. */
static void errors_cover(void **state) {
    (void)state;
    static const char *const names[] = {"energy", "energy_growth", "potential", "potential_pure"};
    char keys[512], system[640];
    snprintf(system, sizeof system,
             "%s, \"walkers\": 32, \"time_step\": 0.02, \"forward_steps\": 16", make_pair(keys, 2));
    struct ergo_result *r = run(system, "\"replicas\": 24, \"run\": {\"equilibration\": 100, "
                                        "\"sweeps\": 1600, \"structure_every\": 0}");
    errors_cover_scatter(r, names, 4, 7.5);
    ergo_result_destroy(r);
}

/* So do those of the energy without the population's bias, where that is large: a covariance with
 * weights of a window that is 30 measurements long, which samples next to each other share. 192
 * replicas: chi^2 of 191 has a standard deviation of 19.5, quoted errors one of a seventh each;
 * errors that are too small by a fifth are 4 of these off. */
static void corrected_errors_cover(void **state) {
    (void)state;
    static const char *const names[] = {"energy", "energy_corrected", "energy_corrected_half",
                                        "potential_pure_corrected"};
    char keys[512], system[640];
    snprintf(system, sizeof system,
             "%s, \"walkers\": 8, \"time_step\": 0.02, \"forward_steps\": 16, "
             "\"correction_steps\": 120",
             make_pair(keys, 1));
    struct ergo_result *r =
        run(system, "\"replicas\": 192, \"run\": {\"equilibration\": 160, \"sweeps\": 4800, "
                    "\"measure_every\": 4, \"structure_every\": 0}");
    errors_cover_scatter(r, names, 4, 20.5);
    ergo_result_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_wave_function_has_no_variance),
        cmocka_unit_test(two_atoms_reach_the_ground_state),
        cmocka_unit_test(a_small_population_is_corrected),
        cmocka_unit_test(the_step_is_of_second_order),
        cmocka_unit_test(two_helium_atoms),
        cmocka_unit_test(eight_helium_atoms),
        cmocka_unit_test(ideal_gas),
        cmocka_unit_test(errors_cover),
        cmocka_unit_test(corrected_errors_cover),
    };
    ctx = ergo_context_create();
    smooth.lambda = helium_lambda(4.002602);
    if (!ctx || !helium_enter())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL) + helium_leave();
    ergo_context_destroy(ctx);
    return failed;
}
