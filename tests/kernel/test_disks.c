/* The hard-disk kernels against the serial oracle, bit for bit: boxes from two cells per side on,
 * both kinds of coordinates, all paths, several work-groups, numbers of moves, and the switches. */
#include "kernel/disks_bench.h"

#define REFLECT "\"moves\": \"reflections\""
#define PER_AXIS "\"volume_moves\": \"per-axis\""
#define NPT(pressure, step)                                                                        \
    "\"ensemble\": \"npt\", \"pressure\": " #pressure ", \"max_volume_change\": " #step
static struct disks_bench bench;

static const struct {
    bool small; /* also under Oclgrind */
    const char *system, *tuning;
} cases[] = {
    {true, "\"n\": 2, \"box\": 2.1, \"start\": \"square\"", "\"path\": 1"},
    {false, "\"n\": 3, \"box\": 2.5", "\"path\": 3, \"work_group\": 4"},
    {true, "\"n\": 14, \"packing_fraction\": 0.5", "\"path\": 3, \"work_group\": 1"},
    {false, "\"n\": 14, \"packing_fraction\": 0.6, \"coordinates\": \"packed\"", "\"path\": 1"},
    {false, "\"n\": 64, \"packing_fraction\": 0.7, \"start\": \"random\"",
     "\"path\": 3, \"work_group\": 16"},
    {true, "\"n\": 64, \"packing_fraction\": 0.7", "\"path\": 3, \"work_group\": 16"},
    {true, "\"n\": 64, \"packing_fraction\": 0.72, \"coordinates\": \"packed\"",
     "\"path\": 3, \"work_group\": 32"},
    {false, "\"n\": 64, \"packing_fraction\": 0.75, \"moves_per_cell\": 1", "\"path\": 1"},
    {false, "\"n\": 100, \"packing_fraction\": 0.65, \"moves_per_cell\": 7, \"cells\": 10",
     "\"path\": 3, \"work_group\": 8"},
    {false, "\"n\": 100, \"packing_fraction\": 0.3, \"max_displacement\": 1, \"start\": \"random\"",
     "\"path\": 1"},
    {false, "\"n\": 256, \"packing_fraction\": 0.698, \"moves_per_cell\": 2", "\"path\": 1"},
    {false, "\"n\": 256, \"packing_fraction\": 0.698, \"cells\": 14", "\"path\": 3"}, /* w = 1.21 */
    {false, "\"n\": 200, \"packing_fraction\": 0.7, \"cells\": 12, \"coordinates\": \"packed\"",
     "\"path\": 2"}, /* w = 1.25: crowded cells */
    {true, "\"n\": 64, \"packing_fraction\": 0.7", "\"path\": 2, \"tile\": 4, \"work_group\": 16"},
    {false, "\"n\": 400, \"packing_fraction\": 0.698, \"start\": \"random\"",
     "\"path\": 2, \"tile\": 6, \"work_group\": 8"},
    {false, "\"n\": 400, \"packing_fraction\": 0.5, \"moves_per_cell\": 5", "\"path\": 2"},
    {false, "\"n\": 800, \"packing_fraction\": 0.7, \"cells\": 26",
     "\"path\": 2, \"tile\": 8"}, /* three a cell */
    {false, "\"n\": 400, \"packing_fraction\": 0.72, \"coordinates\": \"packed\"",
     "\"path\": 2, \"tile\": 10"},
    {false, "\"n\": 3, \"box\": 2.5", "\"path\": 2, \"work_group\": 4"},
    {false, "\"n\": 64, \"packing_fraction\": 0.7, \"shuffle_particles\": false", "\"path\": 1"},
    {false, "\"n\": 64, \"packing_fraction\": 0.7, \"shuffle_checkerboard\": false", "\"path\": 3"},
    {false, "\"n\": 64, \"packing_fraction\": 0.6, \"leave_cell\": true", "\"path\": 3"},
    {true, "\"n\": 16, \"packing_fraction\": 0.5, \"leave_cell\": true", "\"path\": 1"},
    {true, REFLECT ", \"n\": 64, \"packing_fraction\": 0.7", "\"path\": 3, \"work_group\": 16"},
    {false, REFLECT ", \"n\": 3, \"box\": 2.5", "\"path\": 1"},
    {false, REFLECT ", \"n\": 256, \"packing_fraction\": 0.698, \"moves_per_cell\": 2",
     "\"path\": 1"},
    {false, REFLECT ", \"n\": 64, \"packing_fraction\": 0.72, \"coordinates\": \"packed\"",
     "\"path\": 3"},
    {false,
     REFLECT ", \"n\": 100, \"packing_fraction\": 0.65, \"moves_per_cell\": 7, \"cells\": 10",
     "\"path\": 3"},
    {false,
     REFLECT ", \"n\": 200, \"packing_fraction\": 0.7, \"cells\": 12, \"coordinates\": \"packed\"",
     "\"path\": 2"},
    {false, REFLECT ", \"n\": 800, \"packing_fraction\": 0.7, \"cells\": 26",
     "\"path\": 2, \"tile\": 8"},
    {false, REFLECT ", \"n\": 64, \"packing_fraction\": 0.3, \"shuffle_particles\": false",
     "\"path\": 1"},
    {true, "\"n\": 14, \"box\": [4.2, 6.1]", "\"path\": 1"}, /* w = 1.05 by 1.02 */
    {false, "\"n\": 64, \"box\": [7.2, 10.5], \"moves_per_cell\": 5", "\"path\": 1"},
    {false, "\"n\": 48, \"box\": [2.8, 20.2], \"start\": \"random\"",
     "\"path\": 3, \"work_group\": 16"}, /* w = 1.4 by 1.01 */
    {false, "\"n\": 90, \"box\": [14, 6.5], \"coordinates\": \"packed\"",
     "\"path\": 2, \"tile\": 4, \"work_group\": 16"},
    {false, "\"n\": 9, \"box\": [5.6, 2.01], \"leave_cell\": true", "\"path\": 3"},
    {false, REFLECT ", \"n\": 60, \"box\": [5.5, 12.1]", "\"path\": 3, \"work_group\": 8"},
    {false, NPT(5, 0.05) ", \"n\": 60, \"box\": [9, 10.9]", "\"path\": 2, \"tile\": 4"},
    {false, REFLECT ", " NPT(5, 0.05) ", \"n\": 60, \"box\": [13, 6.7]", "\"path\": 1"},
    {true, NPT(4, 0.06) ", " PER_AXIS ", \"n\": 14, \"box\": [4.5, 5.4]", "\"path\": 1"},
    {false, NPT(0.3, 0.4) ", " PER_AXIS ", \"n\": 2, \"box\": 2.3", "\"path\": 3"},
    {false, REFLECT ", " NPT(6, 0.03) ", " PER_AXIS ", \"n\": 60, \"box\": [10, 8]",
     "\"path\": 2, \"tile\": 4, \"work_group\": 8"},
    {true, NPT(2.5, 0.03) ", \"n\": 64, \"packing_fraction\": 0.5", "\"path\": 1"},
    {false, NPT(0.3, 0.4) ", \"n\": 2, \"box\": 2.3", "\"path\": 1"},
    {false, NPT(6, 0.02) ", \"n\": 100, \"packing_fraction\": 0.62, \"volume_every\": 3",
     "\"path\": 2, \"tile\": 4, \"work_group\": 8"},
    {false, REFLECT ", " NPT(6, 0.02) ", \"n\": 100, \"packing_fraction\": 0.62",
     "\"path\": 3, \"work_group\": 8"},
    {true, "\"n\": 10, \"box\": [4.2, 4.1], \"walls\": \"y\", \"gravity\": 1.5",
     "\"path\": 1, \"work_group\": 4"},
    {false,
     REFLECT ", \"n\": 60, \"box\": [7.2, 10.5], \"walls\": [\"x\", \"y\"], \"axis\": \"x\", "
             "\"harmonic\": 0.4",
     "\"path\": 3, \"work_group\": 8"},
    /* tuned steps of volume moves */
    {true, NPT(2.5, 0) ", \"n\": 64, \"packing_fraction\": 0.5", "\"path\": 1"},
    {false, NPT(6, 0) ", \"n\": 100, \"packing_fraction\": 0.62, \"volume_every\": 3",
     "\"path\": 3, \"work_group\": 8"},
    {false, NPT(0.3, 0) ", \"n\": 2, \"box\": 2.3", "\"path\": 1"},
    {true, NPT(4, 0) ", " PER_AXIS ", \"n\": 14, \"box\": [4.5, 5.4]", "\"path\": 1"},
};

static void test_chain(void **state) {
    (void)state;
    const bool small = getenv("ERGOCL_TEST_SMALL") != NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[1024];
        if (small && !cases[i].small)
            continue;
        snprintf(job, sizeof job,
                 "{\"sampler\": \"hard-disks\", \"seed\": \"%zu\", \"replicas\": 2, \"system\": "
                 "{%s}, \"run\": {\"equilibration\": %d, \"sweeps\": 100, \"contact_range\": 0.3, "
                 "\"contact_bin\": 0.01}, \"tuning\": {%s}}",
                 i, cases[i].system, small ? 2 : 40, cases[i].tuning);
        disks_run_case(&bench, job, small ? 3 : 60);
    }
}

/* psi_6 where images count: boxes from 2 sigma on, in which a disk sees another one twice and its
 * own images; the longest bonds, too. */
static void test_images(void **state) {
    (void)state;
    static const struct {
        bool small;
        const char *system, *cutoff;
    } boxes[] = {
        {true, "\"n\": 4, \"box\": 2.5, \"start\": \"square\"", "1.5"},
        {false, "\"n\": 4, \"box\": 2.5", "1.99"},
        {false, "\"n\": 2, \"box\": 2.1, \"coordinates\": \"packed\"", "1.7"},
        {false, "\"n\": 2, \"box\": 2", "2"},
        {false, "\"n\": 5, \"box\": 2.7, \"start\": \"random\"", "1.9"},
        {false, "\"n\": 12, \"box\": 4.1", "2"},
        {false, "\"n\": 3, \"box\": [2.8, 2.05]", "1.9"},
        {false, "\"n\": 20, \"box\": 5.1", "1.4"},
        {false, "\"n\": 64, \"packing_fraction\": 0.7", "1.9"},
    };
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        char job[512];
        if (getenv("ERGOCL_TEST_SMALL") && !boxes[i].small)
            continue;
        snprintf(job, sizeof job,
                 "{\"sampler\": \"hard-disks\", \"seed\": \"7\", \"replicas\": 2, \"system\": "
                 "{%s}, \"run\": {\"sweeps\": 1, \"neighbour_cutoff\": %s}}",
                 boxes[i].system, boxes[i].cutoff);
        disks_begin(&bench, job);
        disks_sweeps_compared(&bench, 9);
        disks_psi6_compared(&bench, 1);
        disks_end(&bench);
    }
}

/* Local memory shared by a work-group: barriers between the sub-sweeps and the shift. */
static void test_groups(void **state) {
    (void)state;
    static const char *const groups[] = {"8", "32"};
    for (size_t i = 0; i < 2; i++) {
        char job[512];
        snprintf(job, sizeof job,
                 "{\"sampler\": \"hard-disks\", \"replicas\": 2, \"system\": {\"n\": 100, "
                 "\"packing_fraction\": 0.7}, \"run\": {\"sweeps\": 1, \"gr_max\": 2, "
                 "\"contact_bin\": 0.002}, \"tuning\": {\"path\": 1, \"work_group\": %s}}",
                 groups[i]);
        disks_run_case(&bench, job, getenv("ERGOCL_TEST_SMALL") ? 2 : 40);
    }
}

/* Members with other densities, and so other numbers of cells, side by side. */
static void test_batch(void **state) {
    (void)state;
    for (int path = 1; path <= 3; path++) {
        char job[512];
        snprintf(
            job, sizeof job,
            "{\"sampler\": \"hard-disks\", \"system\": {\"n\": 30, \"packing_fraction\": 0.5}, "
            "\"scan\": {\"/system/packing_fraction\": [0.5, 0.2, 0.6]}, \"run\": {\"sweeps\": "
            "1, \"gr_max\": 3}, \"tuning\": {\"path\": %d}}",
            path);
        disks_run_case(&bench, job, getenv("ERGOCL_TEST_SMALL") ? 2 : 40);
    }
}

/* A state that cannot be is not taken: as an audit would find it that loads it on another device.
 */
static void refused(size_t member, const char *reason) {
    struct ergo_text state = {0};
    DISKS_OK(&bench, bench.model->ops->save(bench.ctx, bench.state, member, &state));
    assert_int_equal(bench.model->ops->load(bench.ctx, bench.state, member, bench.step, state.data,
                                            state.length),
                     ERGO_E_IO);
    if (!strstr(ergo_error_message(bench.ctx), reason))
        fail_msg("refused because: %s", ergo_error_message(bench.ctx));
    ergo_error_clear(bench.ctx);
    ergo_text_free(&state);
}

static void test_states(void **state) {
    (void)state;
    static const char job[] = "{\"sampler\": \"hard-disks\", \"replicas\": 2, \"system\": {\"n\": "
                              "30, \"packing_fraction\": 0.5}, \"run\": {\"sweeps\": 1}}";
    struct ergo_hard_cells config;
    size_t cell = 0;
    disks_begin(&bench, job);
    disks_sweeps_compared(&bench, 3);
    DISKS_OK(&bench, ergo_hard_fetch(bench.ctx, bench.state, 1, &config));
    while (config.count[cell] == 0 || config.count[cell] == DISKS_SLOTS)
        cell++;
    memcpy(ergo_hard_local(&config, cell, config.count[cell]), ergo_hard_local(&config, cell, 0),
           2 * sizeof *config.at);
    config.count[cell]++;
    DISKS_OK(&bench, ergo_hard_store(bench.ctx, bench.state, 1, &config));
    refused(1, "particles");
    size_t other = cell + 1;
    while (config.count[other] == 0)
        other++;
    config.count[other]--;
    DISKS_OK(&bench, ergo_hard_store(bench.ctx, bench.state, 1, &config));
    refused(1, "overlap");
    ergo_hard_free(&config);
    disks_end(&bench);
}

/* A volume that a flipped bit made what no box has: it is fetched and saved as it is, and refused.
 */
static void test_damaged_volume(void **state) {
    (void)state;
    static const char job[] =
        "{\"sampler\": \"hard-disks\", \"system\": {\"n\": 30, "
        "\"packing_fraction\": 0.5, " NPT(4, 0.01) "}, \"run\": {\"sweeps\": 1}}";
    struct disks_size size, damaged;
    disks_begin(&bench, job);
    struct ergo_engine *e = &bench.state->e;
    ergo_engine_begin(e, bench.ctx);
    ergo_engine_read(e, DISKS_SIZES, 0, sizeof size, &size);
    DISKS_OK(&bench, ergo_engine_end(e));
    for (int bit = 40; bit < 64; bit++) {
        damaged = size;
        damaged.volume.size ^= (int64_t)(UINT64_C(1) << bit);
        ergo_engine_begin(e, bench.ctx);
        ergo_engine_write(e, DISKS_SIZES, 0, sizeof damaged, &damaged);
        DISKS_OK(&bench, ergo_engine_end(e));
        refused(0, "volume");
    }
    disks_end(&bench);
}

static int set_up(void **state) {
    (void)state;
    return disks_bench_open(&bench);
}

static int tear_down(void **state) {
    (void)state;
    print_message("%zu cases\n", bench.cases);
    disks_bench_close(&bench);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_batch),  cmocka_unit_test(test_images),
        cmocka_unit_test(test_states), cmocka_unit_test(test_damaged_volume)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
