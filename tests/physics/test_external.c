/*
 * External potentials and one-body factors from files, through the public API, against exact
 * values. A function w with V = lambda (lap w + |grad w|^2) makes exp(w) the ground state in V, of
 * energy 0: as psi it has no variance, from another psi diffusion Monte Carlo has to find it. Error
 * budget, set beforehand: every comparison within 4 standard errors; 16 comparisons, so by chance
 * one test in 1,000 seeds fails. Seeds are fixed.
 */
#include "helium_physics.h"
#include "samplers/helium/model.h"

#define PI 3.14159265358979323846
#define LAMBDA helium_lambda(4.002602)
#define NO_PAIRS "\"b\": 0, \"potential\": \"lennard-jones\", \"epsilon\": 0, "

static struct ergo_result *run(const char *sampler, const char *keys, const char *rest) {
    return helium_system(sampler, "1998", NO_PAIRS, keys, rest);
}

/* w, w', w'' of the trap and of the slab, which has no symmetry. */
static void exponent(bool slab, double x, double w[3]) {
    const double a = slab ? 0.2 : 0.1, g = slab ? 0.03 : 0, b = slab ? 0.006 : 0.004;
    w[0] = -x * x * (a / 2 + g / 3 * x + b / 4 * x * x);
    w[1] = -x * (a + g * x + b * x * x);
    w[2] = -(a + 2 * g * x + 3 * b * x * x);
}

/* V whose ground state in so many dimensions is exp(w). */
static double potential(bool slab, int dimensions, double x) {
    double w[3];
    exponent(slab, x, w);
    const double around = slab ? 0 : x > 0 ? (dimensions - 1) * w[1] / x : (dimensions - 1) * w[2];
    return LAMBDA * (w[2] + around + w[1] * w[1]);
}

static void write_tables(bool slab, int dimensions) {
    FILE *v = fopen("./v", "w"), *f = fopen("./w", "w");
    assert_true(v && f);
    for (int i = slab ? -1600 : 0; i <= 1600; i++) {
        double w[3];
        exponent(slab, 0.01 * i, w);
        fprintf(v, "%.17g %.17g\n", 0.01 * i, potential(slab, dimensions, 0.01 * i));
        fprintf(f, "%.17g %.17g\n", 0.01 * i, w[0]);
    }
    assert_int_equal(fclose(v), 0);
    assert_int_equal(fclose(f), 0);
}

/* <V>, and that of any power of x, over |psi|^p. */
static double mean_of(bool slab, int dimensions, int power, double (*at)(bool, int, double)) {
    double sum = 0, all = 0;
    for (int i = slab ? -40000 : 0; i < 40000; i++) {
        double w[3];
        const double x = 4e-4 * (i + 0.5);
        exponent(slab, x, w);
        const double weight = exp(power * w[0]) * (slab ? 1 : pow(x, dimensions - 1));
        sum += weight * at(slab, dimensions, x);
        all += weight;
    }
    return sum / all;
}

static double place(bool slab, int dimensions, double x) {
    (void)slab;
    (void)dimensions;
    return x;
}

static const struct {
    const char *name, *keys;
    bool slab;
    int dimensions;
} systems[] = {
    {"trap", "\"n\": 4, \"one_body\": \"trap\", \"density\": 1.3e-4, \"external\": \"./v\"", false,
     3},
    {"trap in a plane",
     "\"n\": 4, \"dimensions\": 2, \"one_body\": \"trap\", \"density\": 4.1e-3, \"external\": "
     "\"./v\"",
     false, 2},
    {"slab", "\"n\": 4, \"one_body\": \"slab\", \"density\": 1.3e-4, \"external\": \"./v\"", true,
     3}};

static void an_exact_factor_has_no_variance(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        char keys[300];
        write_tables(systems[k].slab, systems[k].dimensions);
        snprintf(keys, sizeof keys, "%s, \"one_body_factor\": \"./w\", \"walkers\": 64",
                 systems[k].keys);
        struct ergo_result *r =
            run("helium-vmc", keys,
                "\"run\": {\"equilibration\": 200, \"sweeps\": 4000, \"measure_every\": 4, "
                "\"structure_every\": 10, \"structure_walkers\": 64, \"gr_bins\": 32}");
        const double e = estimate(r, 0, "energy").mean;
        const double sigma = estimate(r, 0, "energy_sigma").mean;
        print_message("  %s: energy %.2g, sigma %.2g\n", systems[k].name, e, sigma);
        assert_true(fabs(e) < 1e-5 && sigma < 2e-4);
        const struct ergo_estimate v = estimate(r, 0, "potential");
        helium_check("potential", v.mean, v.error,
                     mean_of(systems[k].slab, systems[k].dimensions, 2, potential));
        if (systems[k].slab) { /* its profile is that of both sides, and so its mean */
            const struct ergo_curve_result *p = curve_of(r, 0, "profile");
            double sum = 0, all = 0, square = 0;
            assert_int_equal(p->size, 32);
            assert_true(p->x[0] < -15 && p->x[31] > 15);
            for (size_t i = 0; i < p->size; i++) {
                all += p->mean[i];
                sum += p->mean[i] * p->x[i];
                square += p->mean[i] * p->x[i] * p->x[i];
            }
            /* of 64 walkers of 4 atoms at 100 samples, some ten apart */
            helium_check("mean height", sum / all, sqrt((square / all) / 2560),
                         mean_of(true, 3, 2, place));
        }
        ergo_result_destroy(r);
    }
}

/* A harmonic trap so wide that ln phi without its strength is beyond the fixed point's range:
 * energy 3 lambda c, <x^2> = 1/(2c) along each axis. */
static void test_a_wide_gaussian_is_not_cut(void **state) {
    (void)state;
    const double c = 0.000625;
    FILE *v = fopen("./v", "w");
    assert_non_null(v);
    for (int i = 0; i <= 600; i++)
        fprintf(v, "%.17g %.17g\n", 0.5 * i, LAMBDA * c * c * 0.25 * i * i);
    assert_int_equal(fclose(v), 0);
    struct ergo_result *r =
        run("helium-vmc",
            "\"n\": 4, \"one_body\": \"trap\", \"density\": 2.2e-8, \"external\": \"./v\", "
            "\"localisation\": 0.000625, \"walkers\": 64",
            "\"run\": {\"equilibration\": 200, \"sweeps\": 4000, \"measure_every\": 4, "
            "\"structure_every\": 10, \"structure_walkers\": 64, \"gr_bins\": 32}");
    const double e = estimate(r, 0, "energy").mean, sigma = estimate(r, 0, "energy_sigma").mean;
    print_message("  wide: energy %.6g, sigma %.2g\n", e, sigma);
    assert_true(fabs(e - 3 * LAMBDA * c) < 1e-5 && sigma < 1e-4);
    const struct ergo_curve_result *spread = curve_of(r, 0, "spread");
    for (int k = 0; k < 3; k++)
        helium_check("spread", spread->mean[k], spread->error[k], 0.5 / c);
    ergo_result_destroy(r);
}

/* From a Gaussian in the middle, which is too wide or beside the place. */
static void the_ground_state_is_found(void **state) {
    (void)state;
    static const char *const names[] = {"energy", "energy_growth", "potential_pure"};
    for (size_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        char keys[300];
        write_tables(systems[k].slab, systems[k].dimensions);
        snprintf(keys, sizeof keys,
                 "%s, \"localisation\": 0.2, \"walkers\": 256, \"forward_steps\": 160",
                 systems[k].keys);
        struct ergo_result *r = run(
            "helium-dmc", keys,
            "\"scan\": {\"/system/time_step\": [0.04, 0.02]}, \"run\": {\"equilibration\": 300, "
            "\"sweeps\": 3000, \"measure_every\": 2, \"structure_every\": 0}");
        const double expected[3] = {0, 0,
                                    mean_of(systems[k].slab, systems[k].dimensions, 2, potential)};
        for (int q = 0; q < 3; q++)
            helium_extrapolated(r, names[q], expected[q], 0);
        ergo_result_destroy(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_factor_has_no_variance),
        cmocka_unit_test(test_a_wide_gaussian_is_not_cut),
        cmocka_unit_test(the_ground_state_is_found),
    };
    ctx = ergo_context_create();
    if (!ctx || !helium_enter())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL) + helium_leave();
    ergo_context_destroy(ctx);
    return failed;
}
