/*
 * The Ising kernels against the serial oracle, bit for bit, through the sampler's own operations:
 * every shape that packs its bits differently, on every path, with and without vectors of eight.
 *
 * A case is a lattice, a physics and a launch. With ERGOCL_TEST_FULL=1 each shape meets each path
 * and each physics meets each path (200 cases, 10 minutes of compiling with PoCL); otherwise some
 * 40 of them, and with ERGOCL_TEST_SMALL=1 (Oclgrind) the smallest.
 */
#include "ising_bench.h"

static struct ising_bench bench;

/* ---- cases ----------------------------------------------------------------------------------- */

/* Physics by name. T from frozen (threshold 1 of 2^39) to nearly infinite. */
static const char *const physics[] = {
    /* classes of two, thresholds from the member buffer */
    "\"system\": {%s, \"temperature\": 1}, "
    "\"scan\": {\"/system/temperature\": [2.269185314213, 0.3, 7000, 1.2, 4]}",
    /* thresholds compiled in */
    "\"system\": {%s, \"temperature\": 2.4, \"start\": \"up\"}, \"replicas\": 3",
    "\"system\": {%s, \"temperature\": 1.7, \"coupling\": -1, \"start\": \"down\"}, "
    "\"replicas\": 2",
    /* ten classes */
    "\"system\": {%s, \"temperature\": 2.2, \"field\": 0.25}, "
    "\"scan\": {\"/system/temperature\": [2.2, 0.3, 50]}",
    "\"system\": {%s, \"temperature\": 2.5, \"dynamics\": \"heat-bath\"}, \"replicas\": 2",
    "\"system\": {%s, \"temperature\": 2, \"coupling\": -0.7, \"field\": -0.3, "
    "\"dynamics\": \"heat-bath\", \"start\": \"down\"}, "
    "\"scan\": {\"/system/temperature\": [0.3, 3, 7000]}",
    /* both signs of J in one batch; and fields that include zero */
    "\"system\": {%s, \"temperature\": 2.1}, \"scan\": {\"/system/coupling\": [1, -1, 0.5]}",
    "\"system\": {%s, \"temperature\": 2.1}, \"scan\": {\"/system/field\": [0, -0.5, 3]}",
    /* nearly every flip accepted */
    "\"system\": {%s, \"temperature\": 70, \"coupling\": 0.01}",
};
enum { PHYSICS = sizeof physics / sizeof physics[0] };

struct launch {
    int path, group, lanes, tile_sweeps, tile_rows;
};

static struct ising_state *begin(int lx, int ly, size_t what, struct launch l, int curves) {
    char size[64], system[512], job[1024];
    snprintf(size, sizeof size, "\"size\": [%d, %d]", lx, ly);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(system, sizeof system, physics[what], size);
#pragma GCC diagnostic pop
    snprintf(job, sizeof job,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"18446744073709551557\", %s, \"run\": "
             "{\"sweeps\": 1, \"correlation_every\": %d, \"correlation_max\": 4096}, \"tuning\": "
             "{\"path\": %d, \"work_group\": %d, \"lanes\": %d, \"tile_sweeps\": %d, "
             "\"tile_rows\": %d}}",
             system, curves, l.path, l.group, l.lanes, l.tile_sweeps, l.tile_rows);
    ising_begin(&bench, job);
    struct ising_state *s = bench.state;
    /* what was asked for, not what was thought better */
    assert_int_equal(s->launch.path, l.path);
    assert_int_equal(s->launch.lanes, l.lanes == 1 && bench.cpu);
    /* a group smaller than asked for holds the whole lattice; of lanes it is one work-item */
    if (l.group && !(l.path == ISING_PATH_LOCAL && l.lanes == 1))
        assert_true(s->launch.group == (uint32_t)l.group || s->launch.group >= s->shape.blocks);
    return s;
}

/* The measuring kernels, which are the same on every path, in every third case: each is compiled
 * anew. */
static void check(int lx, int ly, size_t what, struct launch l) {
    const bool measure = bench.full || what % 3 == 0;
    begin(lx, ly, what % PHYSICS, l, measure ? 2 : 0);
    ising_run_case(&bench);
    ising_end(&bench);
}

/* In each run, and in the full one only: compiling a case costs some seconds of PoCL's. */
enum often { ALWAYS, FULL };

static const struct shape {
    int lx, ly;
    /* local, global, lanes local, lanes global */
    enum often often[4];
} shapes[] = {
    /* one word a row: pairs of the same neighbours, blocks that are not whole */
    {2, 2, {ALWAYS, FULL, ALWAYS, FULL}},
    {4, 4, {FULL, ALWAYS, FULL, FULL}},
    {4, 2, {FULL, FULL, FULL, FULL}},
    {2, 4, {FULL, FULL, FULL, FULL}},
    {6, 10, {ALWAYS, FULL, FULL, FULL}},
    {6, 66, {FULL, FULL, FULL, FULL}},
    {48, 48, {FULL, FULL, FULL, FULL}},
    {62, 6, {FULL, FULL, FULL, FULL}},
    /* no padding, and blocks end within a chunk of lanes */
    {64, 24, {FULL, FULL, ALWAYS, FULL}},
    /* two: a tail of one bit, full rows, an odd number of blocks */
    {66, 6, {ALWAYS, FULL, FULL, ALWAYS}},
    {66, 42, {ALWAYS, FULL, FULL, FULL}},
    {100, 12, {FULL, FULL, FULL, FULL}},
    {128, 128, {FULL, ALWAYS, FULL, ALWAYS}},
    {126, 2, {FULL, FULL, ALWAYS, FULL}},
    /* three: blocks that span rows */
    {130, 6, {ALWAYS, FULL, ALWAYS, FULL}},
    {130, 22, {ALWAYS, FULL, FULL, FULL}},
    {192, 4, {FULL, FULL, FULL, FULL}},
    /* whole blocks a row: full, and tails of 1, 4, 31 bits */
    {194, 18, {FULL, ALWAYS, FULL, FULL}},
    {200, 20, {FULL, FULL, FULL, FULL}},
    {254, 18, {FULL, FULL, FULL, FULL}},
    {256, 24, {FULL, FULL, FULL, FULL}},
    {512, 6, {FULL, FULL, FULL, FULL}},
    /* nine and seventeen words */
    {514, 8, {FULL, FULL, FULL, FULL}},
    {1026, 4, {FULL, FULL, FULL, FULL}},
    {2048, 32, {FULL, FULL, ALWAYS, FULL}},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool chosen(size_t i, int kind) {
    /* the scalar local kernel is not used for few blocks on PoCL, which compiles it for hours */
    const int words = (shapes[i].lx / 2 + 31) / 32 * shapes[i].ly;
    if (kind == 0 && bench.pocl && (words + 3) / 4 < 16)
        return false;
    if (bench.full)
        return true;
    if (bench.small && shapes[i].lx * shapes[i].ly > 400)
        return false;
    if (bench.mesa && kind >= 2 && shapes[i].ly != 6) /* two of them, on each path one */
        return false;
    return shapes[i].often[kind] == ALWAYS;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_local(void **state) {
    (void)state;
    static const int groups[] = {1, 8, 32, 64, 128};
    for (size_t i = 0; i < SHAPES; i++)
        if (chosen(i, 0))
            check(shapes[i].lx, shapes[i].ly, i, (struct launch){1, groups[i % 5], 2, 0, 0});
}

static void test_global(void **state) {
    (void)state;
    static const int groups[] = {32, 8, 128, 1, 64};
    for (size_t i = 0; i < SHAPES; i++)
        if (chosen(i, 1))
            check(shapes[i].lx, shapes[i].ly, i + 3, (struct launch){3, groups[i % 5], 2, 0, 0});
}

static void test_lanes(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES && bench.cpu; i++) {
        if (chosen(i, 2))
            check(shapes[i].lx, shapes[i].ly, i + 4, (struct launch){1, 0, 1, 0, 0});
        if (chosen(i, 3))
            check(shapes[i].lx, shapes[i].ly, i + 6, (struct launch){3, i % 2 ? 4 : 0, 1, 0, 0});
    }
}

/* Rows of whole blocks only, with lanes whole chunks. Stripes that divide the lattice and that do
 * not, a stripe larger than the lattice, halos up to almost the whole of it, more work-items than
 * blocks. */
static void test_tile(void **state) {
    (void)state;
    static const struct {
        int lx, ly;
        struct launch launch;
        enum often often;
    } cases[] = {
        {194, 18, {2, 64, 2, 4, 16}, FULL},   {194, 18, {2, 128, 2, 1, 5}, ALWAYS},
        {200, 20, {2, 8, 2, 2, 7}, FULL},     {254, 18, {2, 1, 2, 3, 4}, FULL},
        {256, 24, {2, 32, 2, 4, 8}, FULL},    {256, 24, {2, 64, 2, 5, 32}, ALWAYS},
        {450, 10, {2, 64, 2, 2, 3}, FULL},    {512, 6, {2, 32, 2, 1, 6}, FULL},
        {2048, 32, {2, 128, 2, 2, 16}, FULL}, {2048, 32, {2, 64, 2, 7, 1}, FULL},
        {256, 24, {2, 0, 1, 2, 8}, ALWAYS},   {2048, 32, {2, 0, 1, 4, 20}, ALWAYS},
        {128, 64, {2, 0, 1, 3, 16}, FULL},    {512, 48, {2, 0, 1, 1, 32}, FULL},
        {64, 64, {2, 0, 1, 5, 64}, FULL},     {256, 24, {2, 0, 1, 7, 16}, FULL},
    };
    for (size_t i = 0; i < (bench.mesa || !bench.cpu ? 10 : sizeof cases / sizeof cases[0]); i++)
        if (bench.full || (cases[i].often == ALWAYS && (!bench.small || i == 1 || i == 10)))
            check(cases[i].lx, cases[i].ly, i, cases[i].launch);
}

/* Random bits drawn ahead of one to three sweeps; there is no such kernel with a field, nor where
 * loops end early. */
static void test_ahead(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        const struct launch l = {1, 0, 2, 1 + (int)i % 3, 0};
        if (!chosen(i, 0))
            continue;
        for (size_t what = i % 3; what < PHYSICS; what += bench.full ? 1 : 3) {
            const struct ising_state *s =
                begin(shapes[i].lx, shapes[i].ly, what, l, what % 3 ? 0 : 2);
            const bool none = s->launch.field || s->e.device->quirks.loop_limit;
            assert_int_equal(s->launch.ahead, none ? 0 : l.tile_sweeps);
            ising_run_case(&bench);
            ising_end(&bench);
        }
    }
}

/* One shape with every physics on every path: what the rotation above could leave out. */
static void test_every_physics(void **state) {
    (void)state;
    for (size_t p = 0; p < PHYSICS && bench.full; p++) {
        check(194, 18, p, (struct launch){1, 8, 2, 0, 0});
        check(194, 18, p, (struct launch){2, 8, 2, 1, 4});
        check(194, 18, p, (struct launch){3, 8, 2, 0, 0});
        check(194, 18, p, (struct launch){1, 0, 1, 0, 0});
        check(194, 18, p, (struct launch){3, 8, 1, 0, 0});
    }
}

/* 20 sweeps as one launch or as many, with or without measurements between: one state. */
static void test_splits(void **state) {
    (void)state;
    static const struct launch launches[] = {{1, 8, 2, 0, 0}, {2, 8, 2, 2, 4}, {3, 8, 2, 0, 0},
                                             {1, 0, 1, 0, 0}, {3, 8, 1, 0, 0}, {1, 0, 2, 4, 0}};
    static const int parts[][6] = {{20}, {1, 19}, {7, 6, 5, 2}, {3, 3, 3, 3, 3, 5}};
    for (size_t l = 0; l < 6; l++) {
        if ((bench.small && l > 0) || (bench.mesa && launches[l].lanes == 1))
            continue;
        for (size_t p = 0; p < 4; p++) {
            struct ising_state *s = begin(194, 18, 1, launches[l], 0);
            for (size_t i = 0; i < 6 && parts[p][i]; i++) {
                s->launch.launch_sweeps = 1 + (i + p) % 4; /* launches of the local path */
                if (i % 2 == 0) {
                    ising_sweeps(&bench, (uint64_t)parts[p][i]);
                    continue;
                }
                const struct ising_block block = {(unsigned)i / 2 % 2, (size_t)parts[p][i], 1, 0};
                ising_enqueue(&bench, &block);
                ising_collect_block(&bench, &block);
            }
            ising_compare_states(&bench);
            assert_int_equal(bench.step, 20);
            ising_end(&bench);
        }
    }
}

/* The sweep number is 64 bits: from just below 2^32 and 2^40 on. */
static void test_large_steps(void **state) {
    (void)state;
    static const struct launch launches[] = {
        {1, 8, 2, 0, 0}, {3, 8, 2, 0, 0}, {2, 8, 2, 2, 4}, {1, 0, 1, 0, 0}, {3, 8, 1, 0, 0}};
    static const uint64_t from[] = {UINT64_C(0xfffffffd), UINT64_C(0xfffffffffd)};
    for (size_t l = 0; l < 5; l++) {
        if ((bench.small && l > 1) || (bench.mesa && launches[l].lanes == 1))
            continue;
        struct ising_state *s = begin(194, 18, 1, launches[l], 0);
        for (size_t k = 0; k < 2; k++) {
            s->e.step = from[k];
            /* Oclgrind takes parts of what a loaded state wrote for uninitialised (2026-11-21) */
            for (size_t m = 0; m < bench.batch->count && !bench.small; m++) {
                size_t length;
                uint8_t *rows = ising_oracle_rows(&bench.oracles[m], &length);
                ISING_OK(&bench, bench.job->model->ops->load(bench.ctx, bench.state, m, from[k],
                                                             rows, length));
                free(rows);
            }
            bench.step = from[k];
            ising_sweeps(&bench, 7);
        }
        ising_end(&bench);
    }
}

/* Kernels that only GPUs get, where rows are one or two words, run on this device all the same.
 * (Not with PoCL, which compiles them for hours.) */
static void test_narrow(void **state) {
    (void)state;
    static const int narrow[][2] = {{2, 4}, {62, 8}, {64, 4}, {66, 6}, {126, 2}, {128, 4}};
    const cl_device_type type = bench.device->type;
    bench.device->type = CL_DEVICE_TYPE_GPU;
    for (size_t i = 0; i < 6 && !bench.pocl; i++) {
        if (bench.small && i % 2)
            continue;
        struct ising_state *s =
            begin(narrow[i][0], narrow[i][1], i, (struct launch){3, 2, 2, 0, 0}, 0);
        assert_int_equal(s->launch.narrow, narrow[i][0] <= 64 ? 1 : 2);
        ising_sweeps(&bench, 4);
        ising_end(&bench);
    }
    bench.device->type = type;
}

/* Enough blocks for several partial sums per member, and samples across several launches. */
static void test_partial_sums(void **state) {
    (void)state;
    for (int lanes = bench.mesa ? 2 : 1; lanes <= 2; lanes++) {
        struct ising_state *s = begin(bench.small ? 66 : 130, bench.small ? 30 : 258, 1,
                                      (struct launch){3, 1, lanes, 0, 0}, 1);
        assert_true(s->launch.measure_groups > 1);
        const struct ising_block block = {1, 2, 1, 4};
        ising_enqueue(&bench, &block);
        ising_collect_block(&bench, &block);
        ising_end(&bench);
    }
}

/* 7 work-items are no group; the reason is the job's, before any device. */
static void test_refused_groups(void **state) {
    (void)state;
    static const char job[] = "{\"sampler\": \"spin-lattice\", \"system\": {\"size\": [4, 4], "
                              "\"temperature\": 2}, \"run\": {\"sweeps\": 1}, \"tuning\": "
                              "{\"work_group\": 7}}";
    struct ergo_job *parsed = NULL;
    assert_int_equal(ergo_job_parse(bench.ctx, job, strlen(job), "j", NULL, 0, &parsed),
                     ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(bench.ctx), "/tuning/work_group"));
    ergo_error_clear(bench.ctx);
}

static int set_up(void **state) {
    (void)state;
    return ising_bench_open(&bench);
}

static int tear_down(void **state) {
    (void)state;
    print_message("%zu cases, %.3g spin updates compared\n", bench.cases, bench.sites);
    ising_bench_close(&bench);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_groups), cmocka_unit_test(test_local),
        cmocka_unit_test(test_ahead),          cmocka_unit_test(test_global),
        cmocka_unit_test(test_lanes),          cmocka_unit_test(test_tile),
        cmocka_unit_test(test_every_physics),  cmocka_unit_test(test_splits),
        cmocka_unit_test(test_large_steps),    cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_partial_sums),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
