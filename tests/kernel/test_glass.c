/*
 * Spin glasses: the kernels against the plain oracle of tests/oracle/glass_serial.c, bit for bit.
 * +-J and Gaussian, two and three dimensions, both rules, both paths, tempering with every number
 * of copies, steps beyond 32 bits. An audit compares measurements with the host's.
 */
#include "glass_bench.h"
#include "fixture.h"

static const struct {
    const char *system;
    bool tiny; /* also where there is little time */
} systems[] = {
    {"\"size\": [4, 6, 4], \"temperature\": 0.9, \"ladder\": 3, \"temperature_max\": 2, "
     "\"swap_every\": 2, \"samples\": 64",
     true},
    /* fewer work-items than slots */
    {"\"size\": [2, 2], \"temperature\": 0.8, \"ladder\": 4, \"temperature_max\": 2, "
     "\"swap_every\": 1, \"dynamics\": \"heat-bath\"",
     true},
    {"\"size\": [6, 4], \"temperature\": 0.8, \"ladder\": 3, \"temperature_max\": 1.5, "
     "\"ladder_spacing\": \"inverse\", \"swap_every\": 2, \"copies\": 4, \"dynamics\": "
     "\"heat-bath\", \"negative_fraction\": 0.3, \"cluster_every\": 1",
     false},
    {"\"size\": [4, 2, 6], \"temperature\": 1.2, \"dynamics\": \"heat-bath\"", false},
    {"\"size\": [12, 4], \"temperature\": 1.2, \"copies\": 1, \"ladder\": 5, "
     "\"temperature_max\": 3, \"swap_every\": 1, \"ladder_spacing\": \"linear\"",
     false},
    {"\"size\": [4, 4, 2], \"temperature\": 0.7, \"ladder\": 2, \"temperature_max\": 1, "
     "\"swap_every\": 2, \"disorder\": \"gaussian\"",
     true},
    {"\"size\": [4, 6, 2], \"temperature\": 1.2, \"copies\": 1, \"ladder\": 6, "
     "\"temperature_max\": 3, \"swap_every\": 2, \"dynamics\": \"heat-bath\"",
     false},
    {"\"size\": [4, 6], \"temperature\": 0.7, \"disorder\": \"gaussian\", \"dynamics\": "
     "\"heat-bath\", \"disorder_seed\": \"5\", \"coupling\": 2",
     false},
    {"\"size\": [4, 4, 2], \"temperature\": 0.9, \"ladder\": 2, \"temperature_max\": 2, "
     "\"swap_every\": 2, \"random_field\": 0.7, \"field\": 0.3, \"cluster_every\": 3",
     true},
    {"\"size\": [6, 4], \"temperature\": 0.8, \"ladder\": 2, \"temperature_max\": 1.5, "
     "\"swap_every\": 1, \"copies\": 4, \"disorder\": \"gaussian\", \"random_field\": 1.2, "
     "\"field_distribution\": \"gaussian\", \"coupling\": 1.5, \"dynamics\": \"heat-bath\"",
     false},
};

static void cases(int path) {
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        char job[600];
        if (small && !systems[i].tiny)
            continue;
        snprintf(job, sizeof job,
                 "{\"sampler\": \"spin-lattice\", \"seed\": \"5\", \"replicas\": %d, \"system\": "
                 "{\"model\": \"spin-glass\", %s}, \"run\": {\"sweeps\": %d}, \"tuning\": "
                 "{\"path\": %d, \"work_group\": 8}}",
                 small ? 1 : 2, systems[i].system, small ? 3 : 6, path);
        glass_bench_case(ctx, device, job, 0);
        if (!small)
            glass_bench_case(ctx, device, job, UINT64_C(0x1fffffffd));
    }
}

static void test_local(void **state) {
    (void)state;
    cases(1);
}

static void test_global(void **state) {
    (void)state;
    cases(3);
}

/* A ladder of a group whose work-items have three sites each, some of them two. */
static void test_ladder(void **state) {
    (void)state;
    if (small)
        skip();
    glass_bench_case(ctx, device,
                     "{\"sampler\": \"spin-lattice\", \"seed\": \"5\", \"system\": {\"model\": "
                     "\"spin-glass\", \"size\": [8, 8, 8], \"temperature\": 0.9, \"ladder\": 10, "
                     "\"temperature_max\": 2, \"swap_every\": 2}, \"run\": {\"sweeps\": 5}, "
                     "\"tuning\": {\"path\": 1}}",
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_global),
        cmocka_unit_test(test_ladder),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
