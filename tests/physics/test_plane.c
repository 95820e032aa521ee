/*
 * Helium in two dimensions, through the public API, against exact values: a pair whose ground state
 * is known, two helium atoms by finite differences, a Gaussian crystal and a trap, the ideal gas.
 * Error budget, set beforehand: every comparison within 4 standard errors; 40 comparisons, so by
 * chance one test in 400 seeds fails. Errors of the time step are taken away by two steps, as in
 * test_dmc.c. Seeds are fixed.
 */
#include "helium_pairs.h"

#define PI 3.14159265358979323846
#define LAMBDA helium_lambda(4.002602)
#define NO_PAIRS "\"b\": 0, \"potential\": \"lennard-jones\", \"epsilon\": 0, "

static struct ergo_oracle_smooth smooth = {8, 0, 3, 1};

static struct ergo_result *run(const char *sampler, const char *keys, const char *rest) {
    return helium_system(sampler, "1996", "\"dimensions\": 2, ", keys, rest);
}

static const char *make_pair(char keys[512], double height) {
    return helium_pair(&smooth, "0.03125", height, keys);
}

/* psi is the ground state: each walker's local energy is its energy, but for the tables. */
static void an_exact_wave_function_has_no_variance(void **state) {
    (void)state;
    static const char *const samplers[] = {"helium-vmc", "helium-dmc"};
    static const char *const rest[] = {
        "\"walkers\": 64", "\"walkers\": 64, \"time_step\": 0.01, \"forward_steps\": 0"};
    for (int k = 0; k < 2; k++) {
        char keys[512], system[640];
        snprintf(system, sizeof system, "%s, %s", make_pair(keys, 3), rest[k]);
        struct ergo_result *r =
            run(samplers[k], system,
                "\"run\": {\"equilibration\": 50, \"sweeps\": 200, \"structure_every\": 0}");
        const double e = estimate(r, 0, "energy").mean;
        const double sigma = estimate(r, 0, "energy_sigma").mean;
        print_message("  %s: energy %.2g, sigma %.2g\n", samplers[k], e, sigma);
        assert_true(fabs(e) < 1e-4 && sigma < 1e-3);
        assert_true(estimate(r, 0, "potential").error > 1e-3); /* V alone varies */
        ergo_result_destroy(r);
    }
}

/* The same from another trial function. */
static void two_atoms_reach_the_ground_state(void **state) {
    (void)state;
    char keys[512], system[640];
    snprintf(system, sizeof system, "%s, \"walkers\": 512, \"forward_steps\": 64",
             make_pair(keys, 2));
    struct ergo_result *r =
        run("helium-dmc", system,
            "\"scan\": {\"/system/time_step\": [0.02, 0.01]}, \"run\": {\"equilibration\": 200, "
            "\"sweeps\": 3000, \"measure_every\": 2, \"structure_every\": 0}");
    helium_extrapolated(r, "energy", 0, 0);
    helium_extrapolated(r, "energy_growth", 0, 0);
    helium_extrapolated(r, "potential", ergo_oracle_smooth_mean(&smooth, 2), 0);
    helium_extrapolated(r, "potential_pure", ergo_oracle_smooth_mean(&smooth, 3), 0);
    ergo_result_destroy(r);
}

/* HFD-B(HE), cut at half a square of 8 A: 96^2 and 144^2 cells, extrapolated. By the state of two
 * atoms alone, which has to be that of two dimensions: its local energy hardly varies. */
static void two_helium_atoms(void **state) {
    (void)state;
    const struct ergo_oracle_ground exact = helium_two_atoms(2, 96);
    struct ergo_result *r =
        run("helium-dmc",
            "\"n\": 2, \"density\": 0.03125, \"wave_function\": \"two-body\", \"walkers\": 512, "
            "\"forward_steps\": 160",
            "\"scan\": {\"/system/time_step\": [0.004, 0.002]}, \"run\": {\"equilibration\": 400, "
            "\"sweeps\": 5000, \"measure_every\": 4, \"structure_every\": 0}");
    helium_extrapolated(r, "energy", exact.energy, 2e-4);
    helium_extrapolated(r, "energy_growth", exact.energy, 2e-4);
    helium_extrapolated(r, "potential_pure", exact.potential, 5e-4);
    assert_true(estimate(r, 1, "energy_sigma").mean < 2);
    ergo_result_destroy(r);
}

/* psi is a product of Gaussians: <(x - X)^2> = 1/(2c) along each of two axes, T = lambda c, the
 * spreading pressure density T, S(k) = n exp(-k^2/(2c)) + 1 - exp(-k^2/(2c)) at the lattice's
 * vectors. */
static void a_crystal_of_gaussians(void **state) {
    (void)state;
    const double c = 1.5, kinetic = LAMBDA * c;
    struct ergo_result *r =
        run("helium-vmc",
            NO_PAIRS "\"n\": 30, \"one_body\": \"triangular\", \"aspect\": [5, 3], \"density\": "
                     "0.07, \"localisation\": 1.5, \"walkers\": 16, \"displacement\": 0.5",
            "\"run\": {\"equilibration\": 100, \"sweeps\": 6000, \"measure_every\": 4, "
            "\"structure_every\": 4, \"structure_walkers\": 16, \"gr_bins\": 20}");
    helium_agrees(r, 0, "energy", kinetic);
    helium_agrees(r, 0, "kinetic_laplacian", kinetic);
    helium_agrees(r, 0, "kinetic_gradient", kinetic);
    assert_true(fabs(estimate(r, 0, "kinetic").mean - kinetic) < 2e-6);
    assert_true(fabs(estimate(r, 0, "spreading_pressure").mean - 0.07 * kinetic) < 1e-6);
    struct helium_model m;
    helium_model_of(r->members[0].point, &m);
    const double a = helium_nearest_sites(&m);
    assert_true(fabs(a - sqrt(2 / sqrt(3) / 0.07)) < 1e-9);
    helium_agrees(r, 0, "lindemann", sqrt(1 / c) / a);
    const struct ergo_curve_result *spread = curve_of(r, 0, "spread"), *sk = curve_of(r, 0, "sk"),
                                   *profile = curve_of(r, 0, "profile");
    assert_int_equal(spread->size, 2);
    for (size_t k = 0; k < 2; k++)
        helium_check("spread", spread->mean[k], spread->error[k], 0.5 / c);
    const double d = 2 * PI / a, length[2] = {sqrt(4.0 / 3), 2}; /* 10 and 11 */
    int vectors = 0;
    for (int v = 0; v < 2; v++)
        for (size_t i = 0; i < sk->size; i++)
            if (fabs(sk->x[i] / (d * length[v]) - 1) < 1e-6) {
                const double w = exp(-sk->x[i] * sk->x[i] / (2 * c));
                helium_check("S(k)", sk->mean[i], sk->error[i], 30 * w + 1 - w);
                vectors++;
            }
    assert_int_equal(vectors, 2);
    for (size_t i = 1; i < 4; i++) {
        const double r0 = m.half / 20 * (double)i, r1 = m.half / 20 * (double)(i + 1);
        helium_check("profile", profile->mean[i], profile->error[i],
                     (exp(-c * r0 * r0) - exp(-c * r1 * r1)) / (PI * (r1 * r1 - r0 * r0)));
    }
    ergo_result_destroy(r);
}

/* hbar omega = 2 lambda / a^2: N bosons have N hbar omega. With c = 1/a^2 each walker's energy is
 * that; otherwise E = hbar omega / 2 (c a^2 + 1/(c a^2)). rho_1 is a Gaussian. */
static void bosons_in_a_trap(void **state) {
    (void)state;
    const double quantum = 2 * LAMBDA / 4, c = 0.15;
    struct ergo_result *r =
        run("helium-vmc",
            NO_PAIRS "\"n\": 8, \"one_body\": \"trap\", \"density\": 6e-3, \"trap_length\": 2, "
                     "\"walkers\": 64",
            "\"scan\": {\"/system/localisation\": [0.25, 0.15]}, \"run\": {\"equilibration\": 200, "
            "\"sweeps\": 4000, \"measure_every\": 4, \"structure_every\": 20, \"gr_bins\": 10, "
            "\"structure_walkers\": 16, \"density_matrix_points\": 10}");
    const double e = estimate(r, 0, "energy").mean, sigma = estimate(r, 0, "energy_sigma").mean;
    print_message("  energy %.9f, exactly %.9f, sigma %.2g\n", e, quantum, sigma);
    assert_true(fabs(e - quantum) < 2e-6 && sigma < 2e-6);
    helium_agrees(r, 1, "energy", 0.5 * quantum * (0.6 + 1 / 0.6));
    helium_agrees(r, 1, "potential", 0.5 * quantum / 0.6);
    helium_agrees(r, 1, "kinetic_laplacian", 0.5 * quantum * 0.6);
    /* psi(r + d)/psi(r) = exp(-c/2 (2 r d + d^2)), over |psi|^2: exp(-c d^2/4) */
    const struct ergo_curve_result *rho = curve_of(r, 1, "density_matrix");
    for (size_t i = 0; i < 3; i++)
        helium_check("density matrix", rho->mean[i], rho->error[i],
                     exp(-c / 4 * rho->x[i] * rho->x[i]));
    ergo_result_destroy(r);

    struct ergo_result *d =
        run("helium-dmc",
            NO_PAIRS "\"n\": 2, \"one_body\": \"trap\", \"density\": 1e-4, \"trap_length\": 2, "
                     "\"localisation\": 0.18, \"walkers\": 512, \"forward_steps\": 64",
            "\"scan\": {\"/system/time_step\": [0.04, 0.02]}, \"run\": {\"equilibration\": 150, "
            "\"sweeps\": 3000, \"measure_every\": 2, \"structure_every\": 0}");
    helium_extrapolated(d, "energy", quantum, 0);
    helium_extrapolated(d, "energy_growth", quantum, 0);
    helium_extrapolated(d, "potential_pure", 0.5 * quantum, 0);
    ergo_result_destroy(d);
}

/* g = S = 1, and all atoms are in the condensate. */
static void ideal_gas(void **state) {
    (void)state;
    struct ergo_result *r = run(
        "helium-vmc", NO_PAIRS "\"n\": 20, \"aspect\": [3, 2], \"density\": 0.04, \"walkers\": 16",
        "\"run\": {\"equilibration\": 50, \"sweeps\": 1000, \"measure_every\": 5, "
        "\"structure_every\": 2, \"structure_walkers\": 16, \"gr_bins\": 10, \"sk_max\": 1, "
        "\"density_matrix_points\": 2}");
    const char *const names[] = {"gr", "sk"};
    for (int c = 0; c < 2; c++) {
        const struct ergo_curve_result *curve = curve_of(r, 0, names[c]);
        for (size_t i = 0; i < curve->size; i++)
            helium_check(names[c], curve->mean[i], curve->error[i], 1);
    }
    assert_true(fabs(estimate(r, 0, "condensate_fraction").mean - 1) < 1e-6);
    assert_true(fabs(estimate(r, 0, "condensate_plateau").mean - 1) < 1e-6);
    ergo_result_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_wave_function_has_no_variance),
        cmocka_unit_test(two_atoms_reach_the_ground_state),
        cmocka_unit_test(two_helium_atoms),
        cmocka_unit_test(a_crystal_of_gaussians),
        cmocka_unit_test(bosons_in_a_trap),
        cmocka_unit_test(ideal_gas),
    };
    ctx = ergo_context_create();
    smooth.lambda = LAMBDA;
    if (!ctx || !helium_enter())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL) + helium_leave();
    ergo_context_destroy(ctx);
    return failed;
}
