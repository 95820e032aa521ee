/*
 * lj-fluid against what is known: exact values of one and two particles and of the ideal gas, the
 * serial program of data/reference/lj.md at T* = 2 (there at constant activity: NVT = NPT = muVT),
 * and NIST's canonical Monte Carlo. Error budget: lj_physics.h.
 */
#include "physics/adsorbent_physics.h"
#include "physics/fluid_physics.h"
#include "physics/slit_physics.h"

static struct lj_run run;

static void test_exact(void **state) {
    (void)state;
    fluid_expect_insertion(&run, false, "insertion beside one");
    fluid_expect_insertion(&run, true, "the same, with tails");
    fluid_expect_mie(&run, 15, 8, "insertion beside one, Mie 15-8");
    fluid_expect_matrix(&run, false, "transition matrix");
    fluid_expect_matrix(&run, true, "transition matrix");
    fluid_expect_ideal(&run, "ideal gas, NPT");
    fluid_expect_two(&run, false, "two particles, NPT");
    fluid_expect_pressure(&run, "32 particles, NPT");
    fluid_expect_two(&run, true, "the same, with tails");
}

static void test_slits(void **state) {
    (void)state;
    slit_expect(&run, "slit", 400000);
    slit_expect_gas(&run, "rare gas in a slit");
    if (getenv("ERGOCL_TEST_FULL")) {
        slit_expect_insertion(&run, "slit, insertions");
        fluid_expect_table(&run, "two particles, from a file");
    }
}

static void test_adsorbents(void **state) {
    (void)state;
    adsorbent_expect(&run, "atom and field", 200000);
}

/* T* = 2: at z = 0.2 <N> is 141.6706(1104) and its variance 148.480. So with N = 141 there is z_N =
 * 0.2 exp((141.5 - 141.6706)/148.5) = 0.19977, but for the skewness of P(N) and the error of <N>:
 * 0.002 of ln z. The same state is at P = 0.48940(59), where d ln z/dP = 1/(rho T) = 1.8. At
 * constant pressure (N + 1)/<V exp(-dU/T)> has no error of order 1/N, as the ideal gas shows, where
 * it is beta P. The mean of the pressure is the pressure that was given, exactly. */
static void test_ensembles(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_run_job(&run,
               "{'sampler': 'lj-fluid', 'seed': '64', 'replicas': 4, 'system': {'box': [8, 8, 8], "
               "'temperature': 2, 'particles': 141, 'max_displacement': 0.6}, 'run': "
               "{'equilibration': 20000, 'sweeps': 240000, 'measure_every': 200, 'curve_every': 0, "
               "'insertions': 100}}",
               &s);
    lj_expect(&run, &s, 0, "NVT, T* = 2", "<exp(-dU/T)>", fluid_weight, NULL,
              142 / (512 * 0.2 * exp((141.5 - 141.6706) / 148.48)), 0.002 * 142 / (512 * 0.2));
    lj_expect(&run, &s, 0, "NVT, T* = 2", "P", lj_pressure, NULL, 0.48940 * 141 / 141.6706, 0.0012);
    lj_series_free(&s);
    lj_run_job(&run,
               "{'sampler': 'lj-fluid', 'seed': '65', 'replicas': 4, 'system': {'ensemble': 'npt', "
               "'box': [8, 8, 8], 'temperature': 2, 'particles': 141, 'max_displacement': 0.6, "
               "'pressure': 0.4894, 'volume_every': 60, 'max_volume_change': 0.2}, 'run': "
               "{'equilibration': 30000, 'sweeps': 240000, 'measure_every': 200, 'insertions': "
               "100}}",
               &s);
    lj_expect(&run, &s, 0, "NPT, T* = 2", "P", lj_pressure, NULL, 0.4894, 0);
    lj_expect(&run, &s, 0, "NPT, T* = 2", "<V exp(-dU/T)>", fluid_weight_volume, NULL, 142 / 0.2,
              0.0011 * 142 / 0.2);
    lj_series_free(&s);
}

/* NIST's pressure has g = 1 beyond the cutoff. */
static double nist_pressure(const struct ergo_point *point, const double *c) {
    const struct ergo_model *model = point->job->model;
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, "pressure_corrected") == 0 &&
            ergo_observable_shown(&model->observables[o], point))
            return ergo_observable_sample(&model->observables[o], point, c);
    return NAN;
}

/* 500 particles, r_c = 3, with tails (data/reference/lj.md). */
static void test_nist(void **state) {
    (void)state;
    static const struct {
        double temperature, density, energy, energy_error, pressure, pressure_error, step;
        int equilibration, sweeps;
        const char *what;
    } known[] = {
        {0.85, 0.009, -0.093973, 1.29e-4, 0.0071641, 2.24e-6, 8, 100, 250, "NIST, T* = 0.85, gas"},
        {0.9, 0.776, -5.4689, 4.20e-4, 0.24056, 2.74e-3, 0.3, 400, 200, "NIST, T* = 0.9, liquid"}};
    for (int i = 0; i < 2; i++) {
        struct lj_series s = {0};
        char job[700];
        const double side = cbrt(500 / known[i].density);
        const int sweeps = getenv("ERGOCL_TEST_FULL") ? 20 * known[i].sweeps : known[i].sweeps;
        snprintf(job, sizeof job,
                 "{'sampler': 'lj-fluid', 'seed': '66', 'replicas': 1, 'system': {'box': [%.12g, "
                 "%.12g, %.12g], 'temperature': %g, 'particles': 500, 'cutoff': 3, "
                 "'tail_correction': true, 'max_displacement': %g}, 'run': {'equilibration': "
                 "%d, 'sweeps': %d, 'measure_every': 500, 'curve_every': 0, 'insertions': 0}}",
                 side, side, side, known[i].temperature, known[i].step,
                 500 * known[i].equilibration, 500 * sweeps);
        lj_run_job(&run, job, &s);
        lj_expect(&run, &s, 0, known[i].what, "U/N", lj_energy, lj_particles, known[i].energy,
                  known[i].energy_error);
        lj_expect(&run, &s, 0, known[i].what, "P", nist_pressure, NULL, known[i].pressure,
                  known[i].pressure_error);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact), cmocka_unit_test(test_ensembles),
        cmocka_unit_test(test_slits), cmocka_unit_test(test_adsorbents),
        cmocka_unit_test(test_nist),  cmocka_unit_test(test_verdict)};
    return lj_run_close(&run, cmocka_run_group_tests_name("lj-fluid", tests, NULL, NULL));
}
