/*
 * Lennard-Jones kernels against the oracle ("bits ...", or "job" and a job) or by statistics alone
 * ("small", "ideal"): test_lj CASE [JOB]. What kills a mutant of kind "lj" or "oracle".
 */
#include "kernel/lj_bench.h"
#include "physics/adsorbent_physics.h"
#include "physics/fluid_physics.h"
#include "physics/gibbs_physics.h"
#include "physics/mixture_physics.h"
#include "physics/slit_physics.h"

static const char *chosen, *given;

#define HEAD "{'sampler': 'lj-gcmc', 'seed': '7', 'replicas': 2, 'system': {"
#define RUN                                                                                        \
    "}, 'run': {'equilibration': 4096, 'sweeps': 1000, 'measure_every': 2, 'curve_every': 3}"

static const struct {
    const char *name, *job;
} bits[] = {
    {"bits-micro", HEAD "'box': [7.3, 7.3, 7.3], 'temperature': 2, 'activity': 0.5, 'particles': "
                        "100" RUN ", 'tuning': {'slots': 1, 'work_group': 8}}"},
    {"bits-eight",
     HEAD "'box': [9.3, 8.3, 7.7], 'temperature': 1.5, 'activity': 0.15, 'particles': "
          "150" RUN "}"},
    {"bits-eight-large", HEAD "'box': [12, 11, 11.5], 'temperature': 1.5, 'activity': 0.15, "
                              "'particles': 500" RUN "}"},
    {"bits-cells", HEAD "'box': [7.3, 12.05, 9], 'temperature': 1.35, 'activity': 0.12, "
                        "'particles': 300" RUN ", 'tuning': {'work_group': 8, 'capacity': 301}}"},
    {"bits-large", HEAD "'box': [16, 15, 14.5], 'temperature': 1.35, 'activity': 0.12, "
                        "'particles': 1200" RUN ", 'tuning': {'microcell': 75, 'work_group': 8}}"},
    {"bits-teams", HEAD "'box': [7.3, 6, 6.5], 'temperature': 1.5, 'activity': 0.9, 'particles': "
                        "60, 'max_displacement': 0.4, 'tune_steps': 4096" RUN
                        ", 'tuning': {'slots': 1, 'work_group': 32, 'teams': 8}}"},
    {"bits-rounds", HEAD "'box': [7.3, 7, 6.5], 'temperature': 2, 'activity': 0.4, 'particles': "
                         "90" RUN ", 'tuning': {'slots': 1, 'work_group': 32, 'teams': 8}}"},
    {"bits-npt",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'ensemble': 'npt', "
     "'box': [7.3, 7.6, 7.2], 'temperature': 2, 'particles': 60, 'pressure': 2, "
     "'volume_every': 1, 'max_volume_change': 0.4}, 'run': {'equilibration': 4096, "
     "'sweeps': 1000, 'insertions': 20}, 'tuning': {'slots': 1, 'work_group': 8}}"},
    {"bits-whole",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'ensemble': 'npt', "
     "'box': [7.3, 7.6, 7.2], 'temperature': 2, 'particles': 100, 'pressure': 2, 'volume_every': "
     "5, 'max_volume_change': 0.2, 'max_displacement': 0.3}, 'run': {'equilibration': 4096, "
     "'sweeps': 1000, 'insertions': 20}, 'tuning': {'slots': 1, 'work_group': 4, 'all_pairs': "
     "1}}"},
    {"bits-gibbs",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'ensemble': 'gibbs', "
     "'box': [6.1, 6.3, 6.2], 'temperature': 1.5, 'particles': 70, 'second_particles': 20, "
     "'second_volume': 300, 'volume_every': 3, 'transfers': 5, 'max_volume_change': 0.3}, 'run': "
     "{'equilibration': 4096, 'sweeps': 1000, 'insertions': 20}, 'tuning': {'slots': 1, "
     "'work_group': 16, 'teams': 4}}"},
    /* samples so near to each other that a box runs out of room right after one */
    {"bits-stops",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 4, 'system': {'ensemble': 'gibbs', "
     "'box': [6.1, 6.3, 6.2], 'temperature': 2, 'particles': 40, 'second_particles': 40, "
     "'volume_every': 1, 'transfers': 6, 'max_volume_change': 0.3}, 'run': {'equilibration': "
     "4, 'sweeps': 12, 'insertions': 20}, 'tuning': {'slots': 1, 'work_group': 8}}"},
    {"bits-slit",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'ensemble': 'muvt', 'box': "
     "[5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.1, 'particles': 20, " LJ_SLIT_KEYS
     "}, 'run': {'equilibration': 4096, 'sweeps': 1000, 'curve_every': 3}, 'tuning': {'slots': 1, "
     "'work_group': 8}}"},
    {"bits-slit-ghosts",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'box': [5, 5.5, 6.6], "
     "'temperature': 1.3, 'particles': 40, " LJ_SLIT_KEYS
     "}, 'run': {'equilibration': 4096, 'sweeps': 1000, 'curve_every': 3, 'insertions': 40}}"},
    {"bits-frozen",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'ensemble': 'muvt', 'box': "
     "[5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.1, 'particles': 20, 'cutoff': 1.6, "
     "'shifted': true, " LJ_FROZEN_KEYS
     "}, 'run': {'equilibration': 4096, 'sweeps': 1000, 'curve_every': 3}, "
     "'tuning': {'slots': 1, 'work_group': 8}}"},
    {"bits-field",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'box': [5, 5.5, 6.6], "
     "'temperature': 1.3, 'particles': 15, 'potential': 'mie', 'repulsive_exponent': 13, "
     "'attractive_exponent': 7, 'field': 'data/reference/lj-field.cube', " LJ_FROZEN_KEYS
     ", " LJ_SLIT_KEYS "}, 'run': {'equilibration': 4096, 'sweeps': 1000, 'curve_every': 3, "
     "'insertions': 40}}"},
    {"bits-table",
     "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {'box': [5, 5.5, 6.6], "
     "'temperature': 1.3, 'particles': 80, 'potential': '" TABLE_FILE
     "'}, 'run': {'equilibration': 4096, "
     "'sweeps': 1000, 'curve_every': 0, 'insertions': 10}}"},
    {"bits-board", HEAD "'box': [8.3, 9.2, 8.9], 'cutoff': 2, 'temperature': 1.4, 'activity': "
                        "0.4, 'particles': 90, 'max_displacement': 0.5, 'decomposition': "
                        "'checkerboard', 'cell_trials': 9}, 'run': {'equilibration': 100, "
                        "'sweeps': 1000, 'curve_every': 0}, 'tuning': {'slots': 1}}"},
};

static void test_case(void **state) {
    (void)state;
    if (given) {
        struct lj_bench b;
        assert_int_equal(lj_bench_open(&b), 0);
        lj_compare(&b, given, 6, strstr(given, "checkerboard") ? 3 : 300);
        ergo_device_close(b.device);
        ergo_context_destroy(b.ctx);
        return;
    }
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        struct lj_bench b;
        if (strcmp(chosen, bits[i].name) != 0)
            continue;
        assert_int_equal(lj_bench_open(&b), 0);
        const bool file = strstr(chosen, "table") != NULL; /* others name files from here */
        struct table_file table;
        if (file)
            table = table_enter(table_bump, 0.01);
        lj_compare(&b, bits[i].job, 6,
                   strstr(chosen, "board")   ? 15
                   : strstr(chosen, "stops") ? 2
                                             : 700);
        if (file)
            table_leave(&table);
        ergo_device_close(b.device);
        ergo_context_destroy(b.ctx);
        return;
    }
    struct lj_run r;
    assert_int_equal(lj_run_open(&r), 0);
    if (strcmp(chosen, "small") == 0)
        lj_expect_small_n(&r, "", chosen);
    else if (strcmp(chosen, "ideal") == 0)
        lj_expect_ideal(&r, "", chosen);
    else if (strcmp(chosen, "shares") == 0)
        lj_expect_ideal(&r, ", 'moves': {'displacement': 0, 'insertion': 1, 'deletion': 2}",
                        chosen);
    else if (strcmp(chosen, "board") == 0)
        lj_expect_board(&r, ", 'max_displacement': 0.9", chosen);
    else if (strcmp(chosen, "board-tail") == 0)
        lj_expect_board_tail(&r, chosen);
    else if (strcmp(chosen, "dense") == 0)
        lj_expect_dense(&r, "", chosen, 200000);
    else if (strcmp(chosen, "fluid-ideal") == 0)
        fluid_expect_ideal(&r, chosen);
    else if (strcmp(chosen, "fluid-pressure") == 0)
        fluid_expect_pressure(&r, chosen);
    else if (strcmp(chosen, "fluid-tail") == 0)
        fluid_expect_two(&r, true, chosen);
    else if (strcmp(chosen, "fluid-insertion") == 0)
        fluid_expect_insertion(&r, true, chosen);
    else if (strcmp(chosen, "fluid-mie") == 0)
        fluid_expect_mie(&r, 15, 8, chosen);
    else if (strcmp(chosen, "mixture") == 0)
        mixture_expect_few(&r, true, 0.4, chosen);
    else if (strcmp(chosen, "mixture-insertion") == 0)
        mixture_expect_insertions(&r, true, 0, chosen);
    else if (strcmp(chosen, "mixture-gibbs") == 0)
        mixture_expect_gibbs(&r, chosen);
    else if (strcmp(chosen, "slit-ideal") == 0)
        slit_expect(&r, chosen, 0);
    else if (strcmp(chosen, "adsorbent") == 0)
        adsorbent_expect(&r, chosen, 0);
    else if (strcmp(chosen, "fluid-table") == 0)
        fluid_expect_table(&r, chosen);
    else if (strcmp(chosen, "fluid-rises") == 0)
        fluid_expect_matrix(&r, false, chosen);
    else if (strcmp(chosen, "gibbs-ideal") == 0)
        gibbs_expect_ideal(&r, chosen);
    else if (strcmp(chosen, "gibbs-tail") == 0)
        gibbs_expect_two(&r, true, chosen);
    else if (strcmp(chosen, "fluid-falls") == 0)
        fluid_expect_matrix(&r, true, chosen);
    lj_judge(&r);
    ergo_device_close(r.device);
    ergo_context_destroy(r.ctx);
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3)
        return 2;
    chosen = argv[1];
    given = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_case)};
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
