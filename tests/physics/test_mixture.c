/*
 * Mixtures of lj-fluid against what is known: ideal gases, weights of few particles, two particles
 * at constant volume and pressure, equal species that are one; the serial program at constant
 * activities, whose state the other ensembles have as well; published energies of liquids
 * (data/reference/lj.md). Error budget: lj_physics.h.
 */
#include "physics/fluid_physics.h"
#include "physics/mixture_physics.h"

static struct lj_run run;

static void test_exact(void **state) {
    (void)state;
    mixture_expect_ideal(&run, "ideal gases");
    mixture_expect_few(&run, false, 0, "few particles");
    mixture_expect_few(&run, true, 0.4, "the same, tails, changes");
    mixture_expect_two(&run, "two unlike particles");
    mixture_expect_volume(&run, "the same, NPT, with tails");
    mixture_expect_pressure(&run, "40 particles, NPT");
    mixture_expect_gibbs(&run, "two unlike, Gibbs");
}

/* Two equal species are one: N as lj_expect_dense has it at z = 0.2, and of N particles N_A has a
 * binomial distribution, here of the probability 0.7: <N_A> = 0.7 <N>, <N_A N_B> = 0.21 <N (N -
 * 1)>. */
static double pairs_of(const struct ergo_point *point, const double *c) {
    return lj_particles_squared(point, c) - lj_particles(point, c);
}

static void test_equal(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_run_job(&run,
               "{'sampler': 'lj-fluid', 'seed': '75', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'box': [8, 8, 8], 'temperature': 2, 'activity': 0.2, 'particles': 140, "
               "'species': {'names': 'A B', 'epsilon': [1, 1], 'sigma': [1, 1], 'fractions': [0.7, "
               "0.3], 'activity': [0.7, 0.3], 'identity_changes': 0.5}}, 'run': {'equilibration': "
               "20000, 'sweeps': 200000, 'measure_every': 200, 'curve_every': 0}}",
               &s);
    const char *what = "equal species, T* = 2";
    lj_expect(&run, &s, 0, what, "<N>", lj_particles, NULL, 141.6706, 0.1104);
    lj_expect(&run, &s, 0, what, "<U>/<N>", lj_energy, lj_particles, -1.63571, 0.00144);
    lj_expect(&run, &s, 0, what, "P", lj_pressure, NULL, 0.48940, 0.00059);
    lj_expect(&run, &s, 0, what, "<N_A>/<N>", mixture_a, lj_particles, 0.7, 0);
    lj_expect(&run, &s, 0, what, "<N_A N_B>/<N(N-1)>", mixture_ab, pairs_of, 0.21, 0);
    lj_series_free(&s);
}

#define SERIAL                                                                                     \
    "'box': [6.4, 6, 6.2], 'temperature': 1.8, 'species': {'names': 'A B', 'epsilon': [1, 0.6], "  \
    "'sigma': [1, 1.15]"

/* The serial program of data/reference/lj.md. */
#define SERIAL_A 41.1988, 0.0548
#define SERIAL_B 12.0402, 0.0104
#define SERIAL_U -69.084, 0.149
#define SERIAL_P 0.38924, 0.00066

static void test_serial(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_run_job(&run,
               "{'sampler': 'lj-fluid', 'seed': '76', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'activity': 0.01, " SERIAL
               ", 'activity': [12, 5], 'identity_changes': 0.3}}, 'run': {'equilibration': 10000, "
               "'sweeps': 200000, 'measure_every': 50, 'curve_every': 0}}",
               &s);
    lj_expect(&run, &s, 0, "serial program, muVT", "<N_A>", mixture_a, NULL, SERIAL_A);
    lj_expect(&run, &s, 0, "serial program, muVT", "<N_B>", mixture_b, NULL, SERIAL_B);
    lj_expect(&run, &s, 0, "serial program, muVT", "<U>", lj_energy, NULL, SERIAL_U);
    lj_expect(&run, &s, 0, "serial program, muVT", "P, virial", lj_virial_pressure, NULL, SERIAL_P);
    lj_series_free(&s);
}

/* U/N of a liquid with pairs of its own, of 500 particles and tails beyond r_c = 4; published
 * without a size (data/reference/lj.md). */
static void test_published(void **state) {
    (void)state;
    struct lj_series s = {0};
    char job[800];
    const double side = cbrt(500 / 0.6);
    const int sweeps = getenv("ERGOCL_TEST_FULL") ? 4000 : 200;
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '78', 'replicas': 1, 'system': {'box': [%.12g, "
             "%.12g, %.12g], 'temperature': 1.6438, 'particles': 500, 'cutoff': 4, "
             "'tail_correction': true, 'max_displacement': 0.3, 'species': {'names': 'A B', "
             "'epsilon': [1, 1.3702], 'sigma': [1, 1.064], 'pair_epsilon': [1.1523], 'pair_sigma': "
             "[1.0339], 'fractions': [0.5, 0.5]}}, 'run': {'equilibration': 75000, 'sweeps': %d, "
             "'measure_every': 500, 'curve_every': 0}}",
             side, side, side, 500 * sweeps);
    lj_run_job(&run, job, &s);
    lj_expect(&run, &s, 0, "published, T* = 1.6438", "U/N", lj_energy, lj_particles, -5.1883,
              0.0006);
    lj_series_free(&s);
}

static void test_gr(void **state) {
    (void)state;
    mixture_expect_counts(&run);
    mixture_expect_gr(&run, "g(r) of two unlike particles");
}

static void test_insertions(void **state) {
    (void)state;
    mixture_expect_insertions(&run, true, 0, "insertions beside B");
    mixture_expect_insertions(&run, true, 0.02, "the same, NPT");
    mixture_expect_tracers(&run);
    mixture_expect_state(&run);
    lj_judge(&run); /* a mutant runs this test alone */
}

static void test_verdict(void **state) {
    (void)state;
    lj_judge(&run);
}

int main(void) {
    if (lj_run_open(&run) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),  cmocka_unit_test(test_equal),
        cmocka_unit_test(test_serial), cmocka_unit_test(test_published),
        cmocka_unit_test(test_gr),     cmocka_unit_test(test_insertions),
        cmocka_unit_test(test_verdict)};
    return lj_run_close(&run, cmocka_run_group_tests_name("lj-fluid mixtures", tests, NULL, NULL));
}
