/*
 * Spins on graphs: the kernels against the plain oracle of tests/oracle/graph_serial.h, bit for
 * bit. Every lattice, sides of 1 and 2, odd sides, all boundaries, further neighbours, files of all
 * formats, both rules, more and fewer members than a group has work-items, annealing, lowest
 * states; by launches for each colour and in local memory. Of ladders, populations
 * and Wang-Landau walks the samples.
 */
#include "graph_bench.h"
#include "fixture.h"

#define SAMPLE "}, 'run': {'sweeps': 6, 'lowest_every': 1"
#define KEEP "}, 'run': {'sweeps': 12, 'lowest_states': 3, 'lowest_every': 1"

static const struct {
    const char *job;
    int replicas;
    bool tiny;  /* also where there is little time */
    bool local; /* also with chains in local memory, as on CPUs and as on GPUs */
} cases[] = {
    {"'graph': 'chain', 'size': [7], 'temperature': 1.5, 'couplings': [1, -0.5, 0.25]" SAMPLE, 2,
     false, false},
    {"'graph': 'square', 'size': [5, 4], 'temperature': 2, 'couplings': [1, 0.5, -0.25], 'field': "
     "0.1, 'boundary': ['antiperiodic', 'open']" SAMPLE,
     2, true, false},
    {"'graph': 'triangular', 'size': [5, 7], 'temperature': 1, 'coupling': -1" SAMPLE, 2, false,
     false},
    {"'graph': 'honeycomb', 'size': [3, 4], 'temperature': 1, 'couplings': [1, 0.2], 'boundary': "
     "'antiperiodic'" SAMPLE,
     2, false, false},
    {"'graph': 'kagome', 'size': [3, 2], 'temperature': 1.2, 'couplings': [-1, 0.3]" SAMPLE, 2,
     false, false},
    {"'graph': 'cubic', 'size': [3, 1, 5], 'temperature': 2.5, 'couplings': [1, 0.5, -0.25], "
     "'boundary': ['periodic', 'open', 'antiperiodic'], 'dynamics': 'heat-bath'" SAMPLE,
     2, false, true},
    {"'graph': 'cubic', 'size': [2, 4, 6], 'temperature': 4" SAMPLE, 40, true, true},
    {"'graph': 'bcc', 'size': [3, 2, 2], 'temperature': 3, 'couplings': [1, 0.4]" SAMPLE, 2, false,
     false},
    {"'graph': 'fcc', 'size': [2, 3, 2], 'temperature': 6, 'coupling': -0.8" SAMPLE, 2, false,
     false},
    {"'graph': 'diamond', 'size': [2, 1, 2], 'temperature': 2, 'couplings': [1, 0.25, 0.1]" SAMPLE,
     2, false, false},
    {"'graph': 'hypercubic', 'size': [3, 2, 4, 3], 'temperature': 5" SAMPLE, 2, false, false},
    {"'graph': 'honeycomb', 'size': [3, 4], 'temperature': 3, 'long_range': 1.5, 'field': 0.1, "
     "'boundary': ['periodic', 'open']" SAMPLE,
     2, false, false},
    {"'graph': 'data/reference/graph-edges.txt', 'temperature': 1" KEEP, 3, true, true},
    {"'graph': 'data/reference/graph-edges.txt', 'temperature': 0.7, 'field': 0.3, 'dynamics': "
     "'heat-bath'" KEEP,
     3, false, false},
    {"'graph': 'data/reference/graph-maxcut.txt', 'temperature': 0.8" KEEP, 3, false, false},
    {"'graph': 'data/reference/graph-qubo.txt', 'temperature': 0.8" KEEP, 3, false, false},
    {"'graph': 'data/reference/graph-maxcut.txt'" KEEP ", 'method': 'anneal', "
     "'temperature_initial': 4, 'temperature_final': 0.25, 'measure_every': 1",
     3, true, false},
    {"'graph': 'data/reference/graph-maxcut-alone.txt'" KEEP ", 'method': 'anneal', "
     "'temperature_initial': 4, 'temperature_final': 0.25, 'measure_every': 1",
     3, true, true},
    {"'graph': 'data/reference/graph-qubo.txt'" KEEP ", 'method': 'anneal', 'schedule': 'linear', "
     "'temperature_initial': 4, 'temperature_final': 0.25, 'measure_every': 1",
     3, false, false},
    {"'graph': 'data/reference/graph-edges.txt', 'dynamics': 'heat-bath'" KEEP
     ", 'method': 'anneal', 'schedule': 'inverse', 'temperature_initial': 4, 'temperature_final': "
     "0.25, 'measure_every': 1",
     35, false, true},
};

/* The job of a case, by a launch for each colour (path 1) or in local memory. */
static void run(size_t i, int path, int work_group) {
    char job[800];
    snprintf(job, sizeof job,
             "{'sampler': 'spin-lattice', 'seed': '5', 'replicas': %d, 'system': {'model': "
             "'graph', %s}, 'tuning': {'path': %d, 'work_group': %d}}",
             small ? 2 : cases[i].replicas, cases[i].job, path, work_group);
    graph_bench_case(ctx, device, job, 0);
    if (!small)
        graph_bench_case(ctx, device, job, UINT64_C(0x1fffffffe));
}

static void test_launches(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!small || cases[i].tiny)
            run(i, 1, i % 2 ? 8 : 0);
}

static void test_local(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (cases[i].local && (!small || cases[i].tiny))
            run(i, 2, 0);
}

/* Kernels of GPUs run on CPUs, too. */
static void test_local_gpu(void **state) {
    const cl_device_type type = device->type;
    device->type = CL_DEVICE_TYPE_GPU;
    test_local(state);
    device->type = type;
}

/* Several chains a member: what is measured of each. */
static void test_chains(void **state) {
    static const char *const runs[] = {
        "'graph': 'data/reference/graph-maxcut.txt'}, 'run': {'method': 'wang-landau', 'sweeps': "
        "24, 'estimates': 2, 'walkers': 3, 'check_every': 2, 'flatness': 0.1",
        "'graph': 'data/reference/graph-edges.txt', 'temperature': 0.8, 'temperature_max': 4, "
        "'ladder': 3, 'swap_every': 2}, 'run': {'sweeps': 12, 'lowest_every': 1",
        "'graph': 'data/reference/graph-maxcut.txt'}, 'run': {'method': 'population-annealing', "
        "'population': 37, 'temperatures': 6, 'sweeps': 12, 'temperature_final': 0.5, "
        "'lowest_every': 1, 'lowest_states': 3, 'target_energy': -12"};
    (void)state;
    for (size_t i = 0; i < (small ? 2 : sizeof runs / sizeof *runs); i++) {
        char job[500];
        snprintf(job, sizeof job,
                 "{'sampler': 'spin-lattice', 'seed': '1', 'replicas': 2, 'system': {'model': "
                 "'graph', %s}}",
                 runs[i]);
        graph_bench_case(ctx, device, job, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches),
                                       cmocka_unit_test(test_chains), cmocka_unit_test(test_local),
                                       cmocka_unit_test(test_local_gpu)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
