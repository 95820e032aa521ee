/*
 * lj-gcmc against what is known: exact weights of small N, the ideal gas, the virial expansion, a
 * serial double-precision program at T* = 2, and NIST's transition-matrix data with tail
 * corrections (all in data/reference/lj.md). Error budget: lj_physics.h.
 */
#include "lj_physics.h"

static struct lj_run run;

static void test_exact(void **state) {
    (void)state;
    lj_expect_small_n(&run, "", "small N");
    lj_expect_small_n(&run, ", 'max_displacement': 1", "small N, in steps");
    lj_expect_small_n(&run, ", 'moves': {'displacement': 0.2, 'insertion': 0.5, 'deletion': 0.3}",
                      "small N, unequal shares");
    lj_expect_ideal(&run, "", "ideal gas");
    lj_expect_ideal(&run, ", 'moves': {'displacement': 0, 'insertion': 1, 'deletion': 2}",
                    "ideal gas, unequal shares");
}

/* rho = z + 2 b2 z^2 + 3 b3 z^3, b2 = -B2, b3 = 2 B2^2 - B3/2; U/V = -z^2 dB2/dbeta... to second
 * order U/N = rho dB2/dbeta. z = 0.005: the next terms are below 1e-4 of rho, 1% of U/N. */
static void test_virial(void **state) {
    (void)state;
    struct lj_series s = {0};
    const double b2 = 2.157519477, b3 = 2 * b2 * b2 - 2.448722 / 2, z = 0.005;
    lj_run_job(&run,
               "{'sampler': 'lj-gcmc', 'seed': '34', 'replicas': 4, 'system': {'box': [10, 9, 11], "
               "'temperature': 1.5, 'activity': 0.005}, 'run': {'equilibration': 4000, 'sweeps': "
               "500000, 'measure_every': 20, 'curve_every': 0}}",
               &s);
    const double rho = z + 2 * b2 * z * z + 3 * b3 * z * z * z;
    lj_expect(&run, &s, 0, "virial expansion", "<N>", lj_particles, NULL, 990 * rho,
              990 * rho * 1e-4);
    lj_expect(&run, &s, 0, "virial expansion", "<U>/<N>", lj_energy, lj_particles,
              rho * -7.04686315, 0.01 * rho * 7.04686315);
    lj_series_free(&s);
}

static void test_dense(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_expect_dense(&run, "", "T* = 2, z = 0.2", 500000);
    lj_run_job(&run,
               "{'sampler': 'lj-gcmc', 'seed': '35', 'replicas': 4, 'system': {'box': [8, 8, 8], "
               "'temperature': 2, 'activity': 0.05, 'particles': 28}, 'run': {'equilibration': "
               "10000, 'sweeps': 400000, 'measure_every': 100, 'curve_every': 0}}",
               &s);
    lj_expect(&run, &s, 0, "T* = 2, z = 0.05", "<N>", lj_particles, NULL, 28.5115, 0.0181);
    lj_expect(&run, &s, 0, "T* = 2, z = 0.05", "<U>/<N>", lj_energy, lj_particles, -0.34570,
              0.00030);
    lj_expect(&run, &s, 0, "T* = 2, z = 0.05", "P", lj_pressure, NULL, 0.10538, 0.00011);
    lj_series_free(&s);
}

/* The pressure with a jump at the cutoff, small and large, and without. */
static void test_two(void **state) {
    (void)state;
    lj_expect_two(&run, 2.5, 1.35, false, "two particles");
    lj_expect_two(&run, 1.3, 1.5, false, "two particles, r_c = 1.3");
    lj_expect_two(&run, 1.6, 1.5, true, "two particles, shifted");
}

/* NIST's values have no errors: half a unit of the last digit. Pressures within two errors. */
static void test_tail(void **state) {
    (void)state;
    static const struct {
        const char *beta_mu, *what;
        int particles, sweeps;
        double n, energy, p, p_error; /* n 0: not known */
    } states[] = {{"-2.5", "NIST, ln z = -2.5", 90, 400000, 90.010, -1.28270, 0.16905, 5e-6},
                  {"-2", "NIST, ln z = -2", 260, 400000, 0, 0, 0.4396, 5e-5}};
    for (int i = 0; i < 2; i++) {
        struct lj_series s = {0};
        char job[600];
        snprintf(job, sizeof job,
                 "{'sampler': 'lj-gcmc', 'seed': '36', 'replicas': 6, 'system': {'box': [8, 8, 8], "
                 "'temperature': 1.5, 'beta_mu': %s, 'cutoff': 3, 'tail_correction': true, "
                 "'particles': %d}, 'run': {'equilibration': 20000, 'sweeps': %d, "
                 "'measure_every': 200, 'curve_every': 0}}",
                 states[i].beta_mu, states[i].particles, states[i].sweeps);
        lj_run_job(&run, job, &s);
        if (states[i].n > 0) {
            lj_expect(&run, &s, 0, states[i].what, "<N>", lj_particles, NULL, states[i].n, 0.0005);
            lj_expect(&run, &s, 0, states[i].what, "<U>/<N>", lj_energy, lj_particles,
                      states[i].energy, 5e-6);
        }
        assert_true(fabs(lj_expect(&run, &s, 0, states[i].what, "P", lj_pressure, NULL, states[i].p,
                                   states[i].p_error)) < 2);
        lj_series_free(&s);
    }
}

/* The checkerboard against the same numbers. Smallest box for r_c = 2.5 and gaps of four
 * cells: 7.5. */
static void test_board(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_expect_board(&run, "", "checkerboard");
    lj_expect_board(&run,
                    ", 'max_displacement': 0.9, 'moves': {'displacement': 2, 'insertion': 2, "
                    "'deletion': 1}",
                    "checkerboard, in steps");
    lj_expect_board_tail(&run, "checkerboard, tail");
    static const char *const activity[3] = {"0.05", "0.2", "0.5"};
    static const double known[3][6] = {{28.5115, 0.0181, -0.34570, 0.00030, 0.10538, 0.00011},
                                       {141.6706, 0.1104, -1.63571, 0.00144, 0.48940, 0.00059},
                                       {257.2204, 0.1427, -2.89838, 0.00177, 1.21767, 0.00188}};
    for (int i = 0; i < 3; i++) {
        char job[600], what[60];
        snprintf(what, sizeof what, "checkerboard, z = %s", activity[i]);
        snprintf(job, sizeof job,
                 "{'sampler': 'lj-gcmc', 'seed': '39', 'replicas': 4, 'system': {'box': [8, 8, 8], "
                 "'temperature': 2, 'activity': %s, 'particles': %d, 'gap_cells': 4, "
                 "'cell_trials': 40" LJ_BOARD "}, 'run': {'equilibration': 600, 'sweeps': 7000, "
                 "'measure_every': 1, 'curve_every': 0}}",
                 activity[i], (int)known[i][0]);
        lj_run_job(&run, job, &s);
        lj_expect(&run, &s, 0, what, "<N>", lj_particles, NULL, known[i][0], known[i][1]);
        lj_expect(&run, &s, 0, what, "<U>/<N>", lj_energy, lj_particles, known[i][2], known[i][3]);
        lj_expect(&run, &s, 0, what, "P", lj_pressure, NULL, known[i][4], known[i][5]);
        lj_series_free(&s);
    }
}

static void test_verdict(void **state) {
    (void)state;
    lj_judge(&run);
}

int main(void) {
    if (lj_run_open(&run) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),  cmocka_unit_test(test_virial),
                                       cmocka_unit_test(test_dense),  cmocka_unit_test(test_two),
                                       cmocka_unit_test(test_tail),   cmocka_unit_test(test_board),
                                       cmocka_unit_test(test_verdict)};
    return lj_run_close(&run, cmocka_run_group_tests_name("lj-gcmc", tests, NULL, NULL));
}
