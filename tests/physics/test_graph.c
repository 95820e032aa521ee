/*
 * Spins on graphs: each lattice by name and files of each format, of up to 18 spins, against
 * enumeration; and the residual entropy of the triangular antiferromagnet. Error budget:
 * graph_physics.h.
 */
#include "graph_physics.h"
#include "fixture.h"

#define JOB(SYSTEM)                                                                                \
    "{'sampler': 'spin-lattice', 'seed': '7', 'replicas': 32, 'system': {'model': 'graph', " SYSTEM \
    "}, 'run': {'equilibration': 100, 'sweeps': 2400, 'measure_every': 3, 'lowest_every': 100}}"
#define HEAT ", 'dynamics': 'heat-bath'"

static void test_enumeration(void **state) {
    static const char *const jobs[] = {
        JOB("'graph': 'chain', 'size': [9], 'temperature': 1.5, 'couplings': [1, -0.5, 0.25], "
            "'boundary': 'antiperiodic'"),
        JOB("'graph': 'square', 'size': [4, 4], 'temperature': 2.5, 'couplings': [1, 0.25]" HEAT),
        JOB("'graph': 'square', 'size': [3, 5], 'temperature': 2, 'boundary': "
            "['antiperiodic', 'open'], 'field': 0.2"),
        JOB("'graph': 'triangular', 'size': [4, 4], 'temperature': 1, 'coupling': -1" HEAT),
        JOB("'graph': 'honeycomb', 'size': [3, 3], 'temperature': 1.5, 'couplings': [1, 0.2]"),
        JOB("'graph': 'kagome', 'size': [2, 3], 'temperature': 1.2, 'coupling': -1" HEAT),
        JOB("'graph': 'cubic', 'size': [2, 3, 3], 'temperature': 4.5"),
        JOB("'graph': 'bcc', 'size': [2, 2, 2], 'temperature': 9, 'couplings': [1, 0.5]" HEAT),
        JOB("'graph': 'fcc', 'size': [1, 2, 2], 'temperature': 8, 'boundary': 'open', "
            "'coupling': -1" HEAT),
        JOB("'graph': 'diamond', 'size': [1, 1, 2], 'temperature': 2.5, 'boundary': "
            "['periodic', 'periodic', 'open']" HEAT),
        JOB("'graph': 'hypercubic', 'size': [2, 2, 2, 2], 'temperature': 9, 'field': 0.1" HEAT),
        JOB("'graph': 'data/reference/graph-edges.txt', 'temperature': 1.5"),
        JOB("'graph': 'data/reference/graph-maxcut.txt', 'temperature': 1" HEAT),
        JOB("'graph': 'data/reference/graph-qubo.txt', 'temperature': 1.5"),
    };
    struct graph_verdict v = {0};
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        graph_enumerated(ctx, device, jobs[i], &v);
    print_message("enumeration: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (graph_judge(&v))
        fail_msg("%s", graph_judge(&v));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enumeration)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
