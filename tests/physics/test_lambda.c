/*
 * Facilitated dynamics by concurrent picks (method lambda) against the exact order.
 *
 * Error budget, set before the first run: north-east at c = 0.42, 64 x 64, 40 groups of 32 each:
 * phi, persistence and density at the curve's times, |z| < 5 of the difference with some 40 degrees
 * of freedom: 1e-5 each, together below 1e-3, for few picks at a time. Many must differ: the test
 * has to see what the calibration of Levy, Cohen, Rabani 2010 (Fig. 5) shows, |z| > 8. With a
 * coupling, in equilibrium: the coloured variant has the energy of the exact order (its unequal
 * bonds, by the up spins and the equal ones), concurrent picks as such have not.
 */
#include "facilitated_physics.h"
#include "fixture.h"

/* Largest |z| between two jobs' curves. */
static double compare(const char *one, const char *other) {
    struct fac_curves a[1], b[1];
    struct ergo_job *job_a = NULL, *job_b = NULL;
    struct fac_verdict v = {0};
    double worst = 0;
    fac_run(ctx, device, one, &job_a, a, 1, &v);
    fac_run(ctx, device, other, &job_b, b, 1, &v);
    assert_int_equal(a->n, b->n);
    assert_int_equal(v.broken, 0); /* whatever is picked, what is frozen stays */
    for (size_t c = CURVE_PHI; c <= CURVE_UP_DENSITY; c++)
        for (size_t i = 0; i < a->n; i++) {
            const double error = hypot(a->error[c][i], b->error[c][i]);
            const double z = error > 0 ? (a->mean[c][i] - b->mean[c][i]) / error : 0;
            worst = fabs(z) > fabs(worst) ? z : worst;
        }
    ergo_job_destroy(job_a);
    ergo_job_destroy(job_b);
    return worst;
}

static double against_exact(const char *system, const char *lambda, int sweeps) {
    char one[600], other[600];
    snprintf(one, sizeof one,
             "{'sampler': 'spin-lattice', 'seed': '21', 'system': {'size': [64, 64], "
             "'realisations': 1280, %s, 'method': 'lambda', %s}, 'run': {'sweeps': %d}}",
             system, lambda, sweeps);
    snprintf(other, sizeof other,
             "{'sampler': 'spin-lattice', 'seed': '22', 'system': {'size': [64, 64], "
             "'realisations': 1280, %s}, 'run': {'sweeps': %d}}",
             system, sweeps);
    const double z = compare(one, other);
    print_message("%s, %d sweeps: largest z %.2f\n", lambda, sweeps, z);
    return z;
}

#define NORTH_EAST "'model': 'north-east', 'up_density': 0.42"
#define COUPLED                                                                                    \
    "'model': 'fredrickson-andersen', 'temperature': 1, 'coupling': -0.3, 'field': 0.1, 'start': " \
    "'up', 'waiting_time': 60"

static void test_few(void **state) {
    (void)state;
    assert_true(fabs(against_exact(NORTH_EAST, "'lambda': 4", 50)) < 5);
    assert_true(fabs(against_exact(NORTH_EAST, "'lambda': 4, 'sublattices': 'fixed'", 20)) < 5);
    assert_true(fabs(against_exact(NORTH_EAST, "'lambda': 4, 'sublattices': 'coloured'", 20)) < 5);
}

static void test_many(void **state) {
    (void)state;
    assert_true(fabs(against_exact(NORTH_EAST, "'lambda': 512", 20)) > 8);
    assert_true(fabs(against_exact(NORTH_EAST, "'lambda': 256, 'sublattices': 'coloured'", 20)) >
                8);
}

/* One time only, long after the start: the density, which is not that of the uncoupled model. */
static void test_balance(void **state) {
    struct fac_curves curves[3];
    static const char *const how[] = {
        "'method': 'exact'", "'method': 'lambda', 'lambda': 256, 'sublattices': 'coloured'",
        "'method': 'lambda', 'lambda': 256"};
    double z[2];
    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[600];
        struct ergo_job *job = NULL;
        struct fac_verdict v = {0};
        snprintf(text, sizeof text,
                 "{'sampler': 'spin-lattice', 'seed': '2%d', 'system': {'size': [64, 64], "
                 "'realisations': 1280, " COUPLED ", %s}, 'run': {'sweeps': 61}}",
                 i, how[i]);
        fac_run(ctx, device, text, &job, &curves[i], 1, &v);
        ergo_job_destroy(job);
    }
    for (int i = 0; i < 2; i++)
        z[i] =
            (curves[i + 1].mean[CURVE_UP_DENSITY][0] - curves[0].mean[CURVE_UP_DENSITY][0]) /
            hypot(curves[i + 1].error[CURVE_UP_DENSITY][0], curves[0].error[CURVE_UP_DENSITY][0]);
    print_message("density with a coupling %.5f(%.5f): coloured z %.2f, not coloured z %.2f\n",
                  curves[0].mean[CURVE_UP_DENSITY][0], curves[0].error[CURVE_UP_DENSITY][0], z[0],
                  z[1]);
    assert_true(fabs(z[0]) < 5 && fabs(z[1]) > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_balance),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
