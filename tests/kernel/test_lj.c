/*
 * The Lennard-Jones kernels against the oracle, bit for bit: states, sums, samples. Boxes whose
 * sides fit no cell size, boxes with fewer cells than the cutoff spans, cutoffs from below 1 to
 * half the box, cells as wide as the cutoff (a work-group of one on CPUs) and microcells (others),
 * and cells and lists that fill up at the same time.
 */
#include "lj_bench.h"

static struct lj_bench bench;

#define HEAD "{'sampler': 'lj-gcmc', 'seed': '7', 'replicas': 2, "
#define RUN "'run': {'equilibration': 4096, 'sweeps': 1000, 'measure_every': 2, 'curve_every': 3}"

static const struct {
    const char *system, *tuning;
    bool small; /* also under Oclgrind */
} cases[] = {
    {"'box': [7.3, 7.3, 7.3], 'temperature': 2, 'activity': 0.5, 'particles': 100", "", true},
    {"'box': [12.05, 7.3, 9], 'temperature': 1.35, 'activity': 0.12, 'particles': 300",
     "'work_group': 8", false},
    {"'box': [5, 5.5, 12], 'temperature': 2, 'activity': 0.5, 'cutoff': 2.5, 'particles': 60",
     "'slots': 1, 'capacity': 61", false},
    {"'box': [4, 4, 4], 'temperature': 2, 'activity': 0.4, 'cutoff': 0.8, 'particles': 20",
     "'work_group': 4, 'teams': 4", true},
    {"'box': [10, 10, 10], 'temperature': 1.5, 'beta_mu': -2.5, 'cutoff': 4.4, "
     "'tail_correction': true, 'particles': 100",
     "'microcell': 63", false},
    {"'box': [7, 8, 9], 'temperature': 1, 'mu': -3, 'lambda': 0.9, 'shifted': true, 'particles': "
     "90, 'max_displacement': 0.4, 'tune_steps': 4096",
     "'work_group': 2, 'slots': 2", false},
    {"'box': [9, 9, 9], 'sigma': 1.3, 'epsilon': 0.7, 'cutoff': 3.1, 'temperature': 1.2, "
     "'activity': 0.1, 'moves': {'displacement': 1, 'insertion': 2, 'deletion': 3}",
     "'microcell': 200", false},
    {"'box': [6, 6, 6], 'epsilon': 0, 'temperature': 1, 'activity': 0.9", "'slots': 1", false},
    {"'box': [6, 6, 6], 'temperature': 1, 'particles': 120, 'max_displacement': 0.2, 'moves': "
     "{'displacement': 1, 'insertion': 0, 'deletion': 0}",
     "'work_group': 16, 'teams': 8", false},
    {"'box': [6.5, 7.5, 7], 'temperature': 3, 'activity': 0.3, 'particles': 60, "
     "'max_displacement': "
     "0.3, 'tune_steps': 4096",
     "'work_group': 64, 'teams': 2, 'slots': 1", false},
};

/* Two boxes. A cell that is full, and lists that are, in one box at a time: the other one waits. */
static const struct {
    const char *system, *tuning;
    bool small;
} pairs[] = {
    {"'box': [6, 6.3, 5.9], 'temperature': 1.2, 'particles': 90, 'second_particles': 10, "
     "'second_volume': 600, 'volume_every': 7, 'transfers': 6, 'tail_correction': true",
     "", true},
    {"'box': [5.5, 5, 5.7], 'temperature': 2, 'cutoff': 2.2, 'particles': 50, 'second_particles': "
     "50, "
     "'volume_every': 3, 'transfers': 9, 'max_volume_change': 0.3, 'tune_steps': 2048",
     "'work_group': 8, 'slots': 1, 'capacity': 50, 'teams': 2", false},
    {"'box': [4, 4, 4], 'temperature': 1, 'epsilon': 0, 'cutoff': 1, 'particles': 0, "
     "'second_particles': 7, 'second_volume': 50, 'volume_every': 1, 'transfers': 2",
     "'slots': 1, 'work_group': 4", false},
};
/* All pairs of a constant number of particles: groups of one and more, more pairs than a work-item
 * keeps, cells that are full at once, volumes that change, a box without particles, a slit. */
static const struct {
    const char *system, *run, *tuning;
    bool small;
} wholes[] = {
    {"'ensemble': 'npt', 'box': [7.3, 7.6, 7.2], 'temperature': 2, 'particles': 100, 'pressure': "
     "2, 'volume_every': 5, 'max_displacement': 0.3, "
     "'tail_correction': true",
     ", 'insertions': 8", "'slots': 1, 'work_group': 4", true},
    {"'box': [6, 6.3, 5.9], 'temperature': 1.2, 'cutoff': 2.2, 'particles': 130",
     ", 'insertions': 8, 'measure_every': 2, 'curve_every': 3", "'work_group': 32", false},
    {"'ensemble': 'muvt', 'box': [5, 5, 5], 'temperature': 1, 'cutoff': 1, 'particles': 0, "
     "'activity': 0.1",
     ", 'insertions': 8, 'method': 'transition-matrix'", "'work_group': 1", false},
    {"'box': [5.2, 5, 6.5], 'temperature': 1.3, 'particles': 40, 'max_displacement': "
     "0.4, " LJ_SLIT_KEYS,
     ", 'insertions': 8", "'slots': 1, 'work_group': 16", false},
};

/* A job of lj-fluid with these keys. */
static void compare_fluid(const char *system, const char *run, const char *tuning) {
    const bool few = bench.device->quirks.loop_limit != 0;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    char job[1000];
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '7', 'replicas': 2, 'system': {%s}, 'run': "
             "{'equilibration': 4096, 'sweeps': 1000%s}, 'tuning': {%s}}",
             system, run, tuning);
    lj_compare(&bench, job, small ? 2 : 6, small ? 8 : few ? 30 : 300);
}

/* Mixtures: cells of the cutoff, microcells with teams that judge moves again, all pairs; volumes,
 * insertions of each species, also tried ones, changes of species; tails and jumps of each pair; a
 * pair that does not interact; ideal gases. Each is a program or two of its own: the first two
 * always. */
#define TWO                                                                                        \
    "'species': {'names': 'A B', 'epsilon': [1, 0.5], 'sigma': [1, 0.88], 'pair_epsilon': [1.5], " \
    "'pair_sigma': [0.8], 'cutoff_in_sigma': true"
#define THREE "'species': {'names': 'A B C', 'epsilon': [1, 0.6, 1.3], 'sigma': [1, 1.15, 0.9]"
static const struct {
    const char *system, *tuning;
    bool small;
} mixtures[] = {
    {"'ensemble': 'muvt', 'box': [6.3, 6, 6.5], 'temperature': 1.5, 'cutoff': 2.2, "
     "'tail_correction': true, 'activity': 0.3, " THREE
     ", 'activity': [1, 0.5, 2], 'identity_changes': 0.3}",
     "'slots': 1, 'work_group': 32, 'teams': 8", false},
    {"'ensemble': 'npt', 'box': [6.3, 6, 6.5], 'temperature': 2, 'cutoff': 1.7, 'particles': 80, "
     "'pressure': 1.5, 'volume_every': 5, 'max_volume_change': 0.2, 'tail_correction': true, " TWO
     ", 'fractions': [0.5, 0.5]}",
     "'slots': 1, 'all_pairs': 1, 'work_group': 8", false},
    {"'ensemble': 'gibbs', 'box': [6, 6.3, 5.9], 'temperature': 1.2, 'cutoff': 2.2, 'particles': "
     "90, 'second_particles': 20, 'second_volume': 400, 'volume_every': 7, 'transfers': 6, " THREE
     ", 'fractions': [0.2, 0.3, 0.5]}",
     "'slots': 1, 'work_group': 16, 'teams': 4", false},
    {"'box': [5.2, 5, 5.4], 'temperature': 1.3, 'particles': 90, " TWO ", 'fractions': [0.8, 0.2]}",
     "'work_group': 4", true},
    {"'box': [5.2, 5, 5.4], 'temperature': 1.3, 'particles': 90, " TWO ", 'fractions': [0.8, 0.2]}",
     "'all_pairs': 1, 'work_group': 16", false},
    {"'ensemble': 'muvt', 'box': [6.3, 6, 6.5], 'temperature': 1.5, 'cutoff': 2.2, "
     "'tail_correction': true, 'activity': 0.3, 'particles': 40, " THREE
     ", 'fractions': [0.2, 0.3, 0.5], 'activity': [1, 0.5, 2], 'identity_changes': 0.3}",
     "", true},
    {"'ensemble': 'muvt', 'box': [6.3, 6, 6.5], 'temperature': 2, 'cutoff': 2, 'activity': 0.6, "
     "'shifted': true, 'max_displacement': 0.4, 'tune_steps': 4096, 'species': {'names': 'A B', "
     "'epsilon': [1, 0.3], 'sigma': [0.9, 1.2], 'pair_epsilon': [0], 'activity': [2, 1]}",
     "'slots': 1, 'work_group': 64, 'teams': 4", false},
    {"'ensemble': 'npt', 'box': [6.3, 6, 6.5], 'temperature': 2, 'cutoff': 2.1, 'particles': 80, "
     "'pressure': 1.5, 'volume_every': 5, 'max_volume_change': 0.2, 'tail_correction': true, "
     "'species': {'names': 'A B C D', 'epsilon': [1, 0.8, 0.6, 0.4], 'sigma': [1, 0.9, 0.8, "
     "1.1], 'fractions': [0.25, 0.25, 0.25, 0.25]}",
     "'slots': 1, 'work_group': 8", false},
    {"'ensemble': 'muvt', 'box': [4, 4, 4], 'temperature': 1, 'cutoff': 1, 'activity': 0.5, "
     "'species': {'names': 'A B', 'epsilon': [0, 0], 'sigma': [1, 1], 'activity': [1, 0.3], "
     "'identity_changes': 0.5}",
     "'slots': 1, 'work_group': 4", false},
};

static void test_mixtures(void **state) {
    (void)state;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    const bool full = getenv("ERGOCL_TEST_FULL") != NULL;
    for (size_t i = 0; i < sizeof mixtures / sizeof mixtures[0]; i++)
        if (small ? mixtures[i].small : full || i < 2)
            compare_fluid(mixtures[i].system,
                          strstr(mixtures[i].system, "muvt") ? ""
                          : small                            ? ", 'insertions': 2"
                                                             : ", 'insertions': 8",
                          mixtures[i].tuning);
}

static void test_whole(void **state) {
    (void)state;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    const uint64_t grown = bench.grown;
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        char tuning[200];
        if (small && !wholes[i].small)
            continue;
        snprintf(tuning, sizeof tuning, "'all_pairs': 1, %s", wholes[i].tuning);
        compare_fluid(wholes[i].system, wholes[i].run, tuning);
    }
    assert_true(small || bench.grown > grown);
}

static void test_gibbs(void **state) {
    (void)state;
    const bool few = bench.device->quirks.loop_limit != 0;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    const uint64_t grown = bench.grown;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char system[600];
        if (small && !pairs[i].small)
            continue;
        snprintf(system, sizeof system, "'ensemble': 'gibbs', %s", pairs[i].system);
        compare_fluid(system, ", 'insertions': 8",
                      small && !*pairs[i].tuning ? "'work_group': 4" : pairs[i].tuning);
    }
    assert_true(small || few || bench.grown >= grown + 3);
}

static void test_chains(void **state) {
    (void)state;
    /* Mesa's loops end by themselves (src/device/quirks.c): launches of a few moves */
    const bool few = bench.device->quirks.loop_limit != 0;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[1000];
        if (small && !cases[i].small)
            continue;
        snprintf(job, sizeof job, HEAD "'system': {%s}, " RUN ", 'tuning': {%s}}", cases[i].system,
                 small && !*cases[i].tuning ? "'work_group': 16" : cases[i].tuning);
        lj_compare(&bench, job, small ? 2 : 6, small ? 10 : few ? 60 : 700);
    }
    print_message("%llu moves compared; room was made %llu times\n",
                  (unsigned long long)bench.moves, (unsigned long long)bench.grown);
    assert_true(small || few || bench.grown >= 6);
    assert_true(bench.pairs > 0);
}

/* Slits and potentials from a file. The first always, the others with
 * ERGOCL_TEST_FULL, because each is a program of its own. */
static const struct {
    const char *system, *run, *tuning;
} fields[] = {
    {"'ensemble': 'muvt', 'box': [5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.1, 'particles': "
     "20, 'potential': '" TABLE_FILE "', " LJ_SLIT_KEYS,
     "", "'work_group': 8"},
    {"'ensemble': 'muvt', 'box': [5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.1, 'particles': "
     "20, 'potential': '" TABLE_FILE "', " LJ_SLIT_KEYS,
     "", ""},
    {"'box': [5.2, 5, 6.5], 'temperature': 1.3, 'particles': 40, 'max_displacement': "
     "0.4, " LJ_SLIT_KEYS,
     ", 'insertions': 20", "'work_group': 16, 'slots': 1"},
    {"'ensemble': 'muvt', 'box': [5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.02, 'epsilon': "
     "0, " LJ_SLIT_KEYS,
     "", "'work_group': 8, 'slots': 1"},
    {"'ensemble': 'gibbs', 'box': [6, 6.3, 5.9], 'temperature': 1.2, 'potential': '" TABLE_FILE
     "', "
     "'particles': 70, 'second_particles': 10, 'second_volume': 600, 'volume_every': 7, "
     "'transfers': 6",
     ", 'insertions': 8", "'work_group': 8"},
};

/* Atoms that do not move, with work-items that share runs of them; all kinds of fields at once, in
 * groups that keep pairs for later, and in those of CPUs. */
static const struct {
    const char *system, *run, *tuning;
} adsorbents[] = {
    {"'ensemble': 'muvt', 'box': [5, 5.5, 6.6], 'temperature': 1.3, 'activity': 0.1, 'particles': "
     "20, 'cutoff': 1.6, 'shifted': true, " LJ_FROZEN_KEYS,
     ", 'measure_every': 2, 'curve_every': 3, 'profile_axis': 'x'",
     "'slots': 1, 'work_group': 8, 'teams': 4"},
    {"'box': [5, 5.5, 6.6], 'temperature': 1.3, 'particles': 15, 'max_displacement': 0.4, 'field': "
     "'data/reference/lj-field.cube', " LJ_FROZEN_KEYS ", " LJ_SLIT_KEYS,
     ", 'insertions': 8", "'work_group': 64, 'teams': 2"},
    {"'box': [5, 5.5, 6.6], 'temperature': 1.3, 'particles': 0, 'max_displacement': 0.4, 'field': "
     "'data/reference/lj-field.cube', " LJ_FROZEN_KEYS ", " LJ_SLIT_KEYS,
     ", 'insertions': 70", "'work_group': 64, 'teams': 2"},
    {"'box': [5, 5.5, 6.6], 'temperature': 1.3, 'particles': 15, 'potential': 'mie', "
     "'repulsive_exponent': 13, 'attractive_exponent': 7, " LJ_FROZEN_KEYS,
     "", "'work_group': 1"},
};

static void test_fields(void **state) {
    (void)state;
    const bool full = getenv("ERGOCL_TEST_FULL") != NULL;
    const struct table_file table = table_enter(table_bump, 0.01);
    for (size_t i = 0; i < (full ? sizeof fields / sizeof fields[0] : 1); i++)
        compare_fluid(fields[i].system, fields[i].run, fields[i].tuning);
    table_leave(&table);
    for (size_t i = 0; i < (full ? sizeof adsorbents / sizeof adsorbents[0] : 1); i++)
        compare_fluid(adsorbents[i].system, adsorbents[i].run, adsorbents[i].tuning);
}

static const struct {
    const char *system, *tuning;
    bool small;
} boards[] = {
    {"'box': [10.3, 12.1, 15.6], 'cutoff': 2.5, 'temperature': 1.35, 'activity': 0.12, "
     "'particles': 1000, 'cell_trials': 20",
     "", false},
    {"'box': [5.3, 6.2, 4.9], 'cutoff': 1.2, 'temperature': 2, 'activity': 0.4, 'particles': 60, "
     "'cell_trials': 7, 'gap_cells': 3, 'max_displacement': 0.4, 'tune_steps': 40",
     "'slots': 1, 'tile': 32, 'capacity': 61", false},
    {"'box': [4.2, 4.3, 4.1], 'cutoff': 1, 'temperature': 1.1, 'activity': 0.5, 'particles': 30, "
     "'cell_trials': 3, 'shifted': true",
     "'work_group': 4", true},
    {"'box': [4.2, 4.3, 4.1], 'cutoff': 1, 'temperature': 0.9, 'activity': 0.1, 'particles': 30, "
     "'cell_trials': 3, 'tail_correction': true",
     "'work_group': 4", false},
    {"'box': [8.7, 9, 8.5], 'sigma': 0.9, 'cutoff': 2, 'temperature': 1.2, 'activity': 0.3, "
     "'particles': 200, 'moves': {'displacement': 1, 'insertion': 2, 'deletion': 3}",
     "'work_group': 4, 'tile': 64", false},
    {"'box': [6, 6, 6], 'cutoff': 1.4, 'epsilon': 0, 'temperature': 1, 'activity': 0.9",
     "'slots': 1", false},
};

static void test_boards(void **state) {
    (void)state;
    const bool few = bench.device->quirks.loop_limit != 0;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    const uint64_t grown = bench.grown;
    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
        char job[1000];
        if (small && !boards[i].small)
            continue;
        snprintf(job, sizeof job,
                 HEAD "'system': {%s, 'decomposition': 'checkerboard'}, 'run': {'equilibration': "
                      "40, 'sweeps': 1000, 'curve_every': 3}, 'tuning': {%s}}",
                 boards[i].system, boards[i].tuning);
        lj_compare(&bench, job, small ? 2 : 6, small ? 2 : few ? 4 : 20);
    }
    assert_true(small || few || bench.grown >= grown + 4);
}

/* Without pairs nothing bounds the density: cells hold a few particles all the same, because each
 * accepted move searches one. */
static void test_dense_ideal(void **state) {
    (void)state;
    const struct ergo_sampler_ops *ops = ergo_sampler_find("lj-gcmc")->models[0]->ops;
    static const char text[] = "{\"sampler\": \"lj-gcmc\", \"seed\": \"7\", \"system\": {\"box\": "
                               "[5, 5, 5], \"temperature\": 2, \"activity\": 80, \"epsilon\": 0}, "
                               "\"run\": {\"sweeps\": 100}}";
    struct ergo_job *job = NULL;
    void *lj = NULL;
    LJ_OK(&bench, text, ergo_job_parse(bench.ctx, text, strlen(text), "case", NULL, 0, &job));
    LJ_OK(&bench, text, ergo_sampler_create(bench.ctx, ops, &job->batches[0], bench.device, &lj));
    assert_true(((struct lj_state *)lj)->grid.cells > 80 * 125 / 4);
    ergo_engine_destroy(lj);
    ergo_job_destroy(job);
}

/* A flipped bit of a displacement that is tuned makes another chain of legal states: who saves the
 * state finds it, at once and after it was saved before; while it is tuned it may be any. */
static void test_step_size(void **state) {
    (void)state;
    const struct ergo_sampler_ops *ops = ergo_sampler_find("lj-gcmc")->models[0]->ops;
    static const char format[] =
        "{\"sampler\": \"lj-gcmc\", \"seed\": \"7\", \"system\": {\"box\": [5, 5, 5], "
        "\"temperature\": 2, \"activity\": 0.5, \"particles\": 30, \"max_displacement\": 0.3, "
        "\"tune_steps\": %d}, \"run\": {\"equilibration\": 2048, \"sweeps\": 100}}";
    for (int tune = 0; tune < 2048; tune += 1024)
        for (int seen = 0; seen < 2; seen++) {
            char text[512];
            struct ergo_job *job = NULL;
            struct ergo_text saved = {0};
            void *lj = NULL;
            snprintf(text, sizeof text, format, tune);
            LJ_OK(&bench, text,
                  ergo_job_parse(bench.ctx, text, strlen(text), "case", NULL, 0, &job));
            LJ_OK(&bench, text,
                  ergo_sampler_create(bench.ctx, ops, &job->batches[0], bench.device, &lj));
            LJ_OK(&bench, text, ops->init(bench.ctx, lj));
            LJ_OK(&bench, text, ergo_sampler_advance(bench.ctx, ops, lj, 0, 0, 1500, 0));
            if (seen)
                LJ_OK(&bench, text, ops->save(bench.ctx, lj, 0, &saved));
            struct lj_state *s = lj;
            struct lj_chain chain;
            ergo_engine_begin(&s->e, bench.ctx);
            ergo_engine_read(&s->e, LJ_CHAINS, 0, sizeof chain, &chain);
            chain.step_size ^= 256;
            ergo_engine_write(&s->e, LJ_CHAINS, 0, sizeof chain, &chain);
            LJ_OK(&bench, text, ergo_engine_end(&s->e));
            assert_int_equal(ops->save(bench.ctx, lj, 0, &saved),
                             tune && !seen ? ERGO_OK : ERGO_E_AUDIT);
            ergo_error_clear(bench.ctx);
            ergo_text_free(&saved);
            ergo_engine_destroy(lj);
            ergo_job_destroy(job);
        }
}

int main(void) {
    if (lj_bench_open(&bench) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),   cmocka_unit_test(test_whole),
        cmocka_unit_test(test_gibbs),    cmocka_unit_test(test_boards),
        cmocka_unit_test(test_fields),   cmocka_unit_test(test_dense_ideal),
        cmocka_unit_test(test_mixtures), cmocka_unit_test(test_step_size)};
    const int failed = cmocka_run_group_tests_name("lj-gcmc kernels", tests, NULL, NULL);
    ergo_device_close(bench.device);
    ergo_context_destroy(bench.ctx);
    return failed ? 1 : 0;
}
