/*
 * The Gibbs ensemble of lj-fluid against exact values of the ideal gas and of two particles, a
 * serial program (oracle/gibbs_serial.c), and NIST's saturation tables. Error budget: lj_physics.h.
 */
#include "physics/gibbs_physics.h"

static struct lj_run run;

static void test_exact(void **state) {
    (void)state;
    gibbs_expect_ideal(&run, "ideal gas, Gibbs");
    gibbs_expect_two(&run, false, "two particles, Gibbs");
    gibbs_expect_two(&run, true, "the same, with tails");
}

/* Means of a serial run, with errors of its blocks. */
enum { SERIAL = 4, BLOCKS = 16 };
struct serial {
    double mean[SERIAL], error[SERIAL];
};

static struct serial run_serial(size_t moves) {
    struct ergo_oracle_gibbs g = {.box = {{.temperature = 1.3, .cutoff = 1.6, .tail = true}},
                                  .step = 0.4,
                                  .change = 0.3,
                                  .smallest = 64 * 0.512};
    struct serial s = {{0}, {0}};
    double sums[BLOCKS][SERIAL] = {{0}};
    assert_true(ergo_oracle_gibbs_start(&g, (size_t[]){20, 4}, (double[]){64, 64}, 5));
    for (size_t i = 0; i < moves / 10; i++)
        ergo_oracle_gibbs_move(&g);
    for (size_t i = 0; i < moves; i++) {
        ergo_oracle_gibbs_move(&g);
        if (i % 8)
            continue;
        double v[2], n[2];
        for (int b = 0; b < 2; b++) {
            v[b] = ergo_oracle_gibbs_volume(&g, b);
            n[b] = (double)g.box[b].n;
        }
        const int liquid = n[1] / v[1] > n[0] / v[0];
        const double values[SERIAL] = {n[liquid] / v[liquid], n[!liquid] / v[!liquid], n[liquid],
                                       v[liquid]};
        for (int k = 0; k < SERIAL; k++)
            sums[i * BLOCKS / moves][k] += values[k] * 8 * BLOCKS / (double)moves;
    }
    for (int k = 0; k < SERIAL; k++) {
        double square = 0;
        for (int b = 0; b < BLOCKS; b++)
            s.mean[k] += sums[b][k] / BLOCKS;
        for (int b = 0; b < BLOCKS; b++)
            square += (sums[b][k] - s.mean[k]) * (sums[b][k] - s.mean[k]);
        s.error[k] = sqrt(square / BLOCKS / (BLOCKS - 1));
    }
    ergo_oracle_gibbs_free(&g);
    return s;
}

/* 24 particles that share 128 sigma^3 at T* = 1.3, r_c = 1.6, with tails. */
static void test_serial(void **state) {
    (void)state;
    struct lj_series s = {0};
    const struct serial expected = run_serial(400000);
    lj_run_job(&run,
               "{'sampler': 'lj-fluid', 'seed': '73', 'replicas': 4, 'system': {'ensemble': "
               "'gibbs', 'box': [4, 4, 4], 'temperature': 1.3, 'cutoff': 1.6, 'tail_correction': "
               "true, 'particles': 20, 'second_particles': 4, 'volume_every': 10, 'transfers': 10, "
               "'max_volume_change': 0.3, 'max_displacement': 0.4}, 'run': {'equilibration': "
               "10000, 'sweeps': 40000, 'measure_every': 40, 'insertions': 0}}",
               &s);
    const lj_function functions[SERIAL] = {gibbs_density, gibbs_vapour_density, gibbs_particles,
                                           gibbs_volume};
    static const char *const names[SERIAL] = {"<N/V>", "<N/V>, vapour", "<N>", "<V>"};
    for (int k = 0; k < SERIAL; k++)
        lj_expect(&run, &s, 0, "24 particles, serial", names[k], functions[k], NULL,
                  expected.mean[k], expected.error[k]);
    lj_series_free(&s);
}

/* r_c = 3, with tails (data/reference/lj.md). A short run of few
 * particles tells the liquid's density to 1%; the long one is for people. */
static void test_nist(void **state) {
    (void)state;
    struct lj_series s = {0};
    lj_run_job(&run,
               getenv("ERGOCL_TEST_FULL")
                   ? "{'sampler': 'lj-fluid', 'seed': '74', 'replicas': 2, 'system': {'ensemble': "
                     "'gibbs', 'box': [9, 9, 9], 'temperature': 1, 'cutoff': 3, "
                     "'tail_correction': true, 'particles': 510, 'second_particles': 90, "
                     "'second_volume': 3000, 'volume_every': 400, 'transfers': 600, "
                     "'max_volume_change': 0.02, 'max_displacement': 0.2}, 'run': "
                     "{'equilibration': 200000, 'sweeps': 2000000, 'measure_every': 400, "
                     "'insertions': 0}}"
                   : "{'sampler': 'lj-fluid', 'seed': '74', 'replicas': 1, 'system': {'ensemble': "
                     "'gibbs', 'box': [6.6, 6.6, 6.6], 'temperature': 1, 'cutoff': 3, "
                     "'tail_correction': true, 'particles': 200, 'second_particles': 30, "
                     "'second_volume': 1000, 'volume_every': 200, 'transfers': 200, "
                     "'max_volume_change': 0.04, 'max_displacement': 0.25}, 'run': "
                     "{'equilibration': 30000, 'sweeps': 60000, 'measure_every': 200, "
                     "'insertions': 0}}",
               &s);
    lj_expect(&run, &s, 0, "NIST, T* = 1", "<N/V>", gibbs_density, NULL, 0.70094, 6.3e-5);
    lj_expect(&run, &s, 0, "NIST, T* = 1", "<N/V>, vapour", gibbs_vapour_density, NULL, 0.029556,
              3.5e-6);
    lj_expect(&run, &s, 0, "NIST, T* = 1", "P", gibbs_pressure, NULL, 0.024950, 1.7e-6);
    lj_series_free(&s);
}

static void test_verdict(void **state) {
    (void)state;
    lj_judge(&run);
}

int main(void) {
    if (lj_run_open(&run) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_serial),
                                       cmocka_unit_test(test_nist), cmocka_unit_test(test_verdict)};
    return lj_run_close(&run, cmocka_run_group_tests_name("Gibbs ensemble", tests, NULL, NULL));
}
