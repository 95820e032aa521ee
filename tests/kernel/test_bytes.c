/*
 * Models with a byte per spin: the kernels against the plain oracle of tests/oracle/bytes_serial.h,
 * bit for bit. Every model and rule, one to three dimensions, sides of 2, rows that end within four
 * and within sixteen bytes, one and several rows per work-item, lattices in local memory.
 */
#include "bytes_bench.h"
#include "fixture.h"

static const struct {
    const char *system;
    bool tiny; /* also where there is little time */
    int rows;  /* of a work-item */
} cases[] = {
    {"'model': 'ising', 'size': [38], 'temperature': 2, 'field': 0.3", false, 1},
    {"'model': 'ising', 'size': [12, 4, 6], 'temperature': 4.5, 'couplings': [1, 0.5, -1.25], "
     "'random_field': 0.7, 'field': 0.2",
     true, 2},
    {"'model': 'ising', 'size': [12, 4, 6], 'temperature': 3, 'couplings': [1, 0.5, -1.25], "
     "'random_field': 1.3, 'field_distribution': 'gaussian', 'field': 0.2",
     true, 1},
    {"'model': 'ising', 'size': [70, 6], 'temperature': 2, 'random_field': 0.6, "
     "'field_distribution': 'gaussian', 'dynamics': 'heat-bath'",
     false, 1},
    {"'model': 'ising', 'size': [38], 'temperature': 0.7, 'coupling': -0.3, 'random_field': 2, "
     "'field_distribution': 'gaussian'",
     false, 1},
    {"'model': 'ising', 'size': [4, 2, 2], 'temperature': 2, 'field': -0.1, 'random_field': 1.5, "
     "'field_file': 'data/reference/fields-16.txt'",
     false, 1},
    {"'model': 'ising', 'size': [12, 4, 6], 'temperature': 2, 'couplings': [1, 0.5, -1.25], "
     "'disorder': 'gaussian', 'random_field': 0.5, 'field': 0.2",
     true, 1},
    {"'model': 'ising', 'size': [70, 6], 'temperature': 1, 'disorder': 'bimodal', "
     "'negative_fraction': 0.3, 'disorder_seed': 8",
     false, 1},
    {"'model': 'ising', 'size': [4, 2, 2], 'temperature': 2, 'disorder_file': "
     "'data/reference/bonds-4x2x2.txt', 'field_file': 'data/reference/fields-16.txt', 'dynamics': "
     "'heat-bath'",
     false, 1},
    {"'model': 'ising', 'size': [66, 10], 'temperature': 2.5, 'couplings': [1, 0.5], 'dynamics': "
     "'heat-bath'",
     false, 2},
    {"'model': 'potts', 'q': 3, 'size': [40, 6], 'temperature': 1", false, 2},
    {"'model': 'potts', 'q': 256, 'size': [8, 2, 4], 'temperature': 0.3, 'couplings': [1, 0.5, "
     "-0.25]",
     true, 2},
    {"'model': 'potts', 'q': 5, 'size': [34, 4, 2], 'temperature': 0.8, 'dynamics': 'heat-bath'",
     false, 4},
    {"'model': 'potts', 'q': 256, 'size': [26, 6], 'temperature': 0.2, 'couplings': [1, -0.5], "
     "'dynamics': 'heat-bath'",
     false, 1},
    {"'model': 'potts', 'q': 2, 'size': [10], 'temperature': 1, 'dynamics': 'heat-bath'", true, 1},
    {"'model': 'potts', 'q': 3, 'size': [38, 8], 'temperature': 0.9, 'couplings': [1, -0.5], "
     "'dynamics': 'heat-bath'",
     false, 4},
    {"'model': 'potts', 'q': 3, 'size': [10, 4, 6], 'temperature': 1.1, 'couplings': [1, 0.5, "
     "-0.25], 'dynamics': 'heat-bath'",
     true, 2},
    {"'model': 'potts', 'q': 2, 'size': [34, 4, 2], 'temperature': 1.3, 'dynamics': 'heat-bath'",
     false, 1},
    {"'model': 'blume-capel', 'size': [26], 'temperature': 1, 'crystal_field': 0.7", true, 1},
    {"'model': 'blume-capel', 'size': [38], 'temperature': 1, 'crystal_field': 0.7", false, 1},
    {"'model': 'blume-capel', 'size': [70, 6], 'temperature': 0.8, 'crystal_field': 1.9, 'field': "
     "-0.3",
     false, 2},
    {"'model': 'blume-capel', 'size': [12, 4, 6], 'temperature': 2, 'coupling': -0.8, "
     "'crystal_field': -0.4, 'field': 0.2",
     true, 2},
    /* general terms of potts and blume-capel */
    {"'model': 'potts', 'q': 3, 'size': [38, 6], 'temperature': 1, 'field': -0.4", false, 1},
    {"'model': 'potts', 'q': 5, 'size': [34, 4, 2], 'temperature': 0.8, 'random_field': 0.7, "
     "'field': 0.3, 'couplings': [1, -0.25, 0.5]",
     false, 1},
    {"'model': 'potts', 'q': 3, 'size': [12, 4, 6], 'temperature': 0.9, 'random_field': 0.6, "
     "'field_distribution': 'gaussian', 'disorder': 'gaussian', 'disorder_seed': 3",
     true, 1},
    {"'model': 'potts', 'q': 4, 'size': [4, 2, 2], 'temperature': 0.7, 'field': 0.2, 'field_file': "
     "'data/reference/fields-16x4.txt', 'disorder_file': 'data/reference/bonds-4x2x2.txt'",
     false, 1},
    {"'model': 'potts', 'q': 256, 'size': [26], 'temperature': 0.2, 'disorder': 'bimodal', "
     "'disorder_ratio': 0.25, 'random_field': 1",
     false, 1},
    {"'model': 'blume-capel', 'size': [12, 4, 6], 'temperature': 1.6, 'crystal_field': 1.1, "
     "'field': 0.2, 'random_field': 0.8, 'disorder': 'bimodal', 'disorder_ratio': 0.3, "
     "'negative_fraction': 0.4",
     true, 1},
    {"'model': 'blume-capel', 'size': [70, 6], 'temperature': 0.8, 'coupling': -0.7, "
     "'crystal_field': -0.4, 'random_field': 0.5, 'field_distribution': 'gaussian'",
     false, 1},
    {"'model': 'blume-capel', 'size': [4, 2, 2], 'temperature': 1, 'crystal_field': 0.7, "
     "'field_file': 'data/reference/fields-16.txt', 'disorder': 'gaussian'",
     false, 1},
};

static void run_cases(const char *path) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[700];
        if (small && !cases[i].tiny)
            continue;
        snprintf(job, sizeof job,
                 "{'sampler': 'spin-lattice', 'seed': '5', 'replicas': 2, 'system': {%s}, 'run': "
                 "{'sweeps': %d}, 'tuning': {'tile_rows': %d, %s}}",
                 cases[i].system, small ? 2 : 7, cases[i].rows, path);
        bytes_bench_case(ctx, device, job, 0);
        if (!small)
            bytes_bench_case(ctx, device, job, UINT64_C(0x1fffffffe));
    }
}

static void test_halves(void **state) {
    (void)state;
    run_cases("'path': 3");
}

static void test_local(void **state) {
    (void)state;
    run_cases("'path': 1");
}

/* Random words drawn ahead, where the model allows it. */
static void test_ahead(void **state) {
    (void)state;
    run_cases("'path': 1, 'tile_sweeps': 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves), cmocka_unit_test(test_local),
                                       cmocka_unit_test(test_ahead)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
