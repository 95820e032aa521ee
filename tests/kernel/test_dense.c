/*
 * Fully connected spin glasses: the kernels against the plain oracle of
 * tests/oracle/dense_serial.c, bit for bit. All couplings, both rules, fields, tempering with one
 * and two copies, groups of one and of several work-items, steps beyond 32 bits,
 * measurements.
 */
#include "dense_bench.h"
#include "fixture.h"

static const struct {
    const char *system;
    int group;
    bool tiny; /* also where there is little time */
} systems[] = {
    {"\"model\": \"sherrington-kirkpatrick\", \"n\": 13, \"temperature\": 0.5, \"ladder\": 3, "
     "\"temperature_max\": 1.2, \"swap_every\": 2",
     4, true},
    {"\"model\": \"sherrington-kirkpatrick\", \"n\": 50, \"temperature\": 0.7, \"disorder\": "
     "\"gaussian\", \"field\": 0.3, \"dynamics\": \"heat-bath\"",
     0, false},
    {"\"model\": \"sherrington-kirkpatrick\", \"n\": 70, \"temperature\": 0.4, \"copies\": 1, "
     "\"disorder\": \"gaussian\", \"ladder\": 4, \"temperature_max\": 2, \"swap_every\": 1",
     2, false},
    {"\"model\": \"random-orthogonal\", \"n\": 18, \"temperature\": 0.2, \"ladder\": 2, "
     "\"temperature_max\": 0.5, \"swap_every\": 3, \"disorder_seed\": \"5\"",
     1, true},
    {"\"model\": \"random-orthogonal\", \"n\": 64, \"temperature\": 0.3, \"field\": -0.2, "
     "\"dynamics\": \"heat-bath\"",
     8, false},
};

static void test_oracle(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        char job[600];
        if (small && !systems[i].tiny)
            continue;
        snprintf(job, sizeof job,
                 "{\"sampler\": \"spin-lattice\", \"seed\": \"5\", \"replicas\": %d, \"system\": "
                 "{%s, \"samples\": %d}, \"run\": {\"sweeps\": %d}, \"tuning\": {\"work_group\": "
                 "%d}}",
                 small ? 1 : 2, systems[i].system, small ? 2 : 3, small ? 3 : 12, systems[i].group);
        dense_bench_case(ctx, device, job, 0);
        if (!small)
            dense_bench_case(ctx, device, job, UINT64_C(0x1fffffffd));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
