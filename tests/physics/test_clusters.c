/*
 * swendsen-wang's unit vectors, by sweeps and by Wolff's clusters: closed chains (transfer
 * matrices), the Ising model (clock with two directions), and a serial program that moves single
 * spins.
 */
#include "physics/cluster_physics.h"
#include "fixture.h"
#include "samplers/spin_lattice/exact.h"

#define RUN                                                                                        \
    "}, 'replicas': 32, 'seed': '12', 'run': {'equilibration': 50, 'sweeps': 1600, "               \
    "'measure_every': 2}}"
#define JOB(system) "{'sampler': 'swendsen-wang', 'system': {" system RUN

static void judge(const struct vector_verdict *v) {
    print_message("%zu comparisons, largest |z| %.2f: %s\n", v->n, v->worst, v->where);
    if (vector_judge(v))
        fail_msg("%s", vector_judge(v));
}

static void test_rings(void **state) {
    (void)state;
    static const char *const jobs[] = {
        JOB("'model': 'xy', 'size': [2, 2], 'temperature': 1.3"),
        JOB("'model': 'clock', 'q': 5, 'size': [2, 2], 'temperature': 1.1, 'update': 'wolff'"),
        JOB("'model': 'heisenberg', 'size': [2, 2], 'temperature': 0.9"),
    };
    struct vector_verdict v = {0};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        cluster_ring(ctx, device, jobs[i], &v);
    judge(&v);
}

static void test_ising(void **state) {
    (void)state;
    static const char job[] = JOB("'model': 'clock', 'q': 2, 'size': [4, 4], 'temperature': 2.3");
    struct vector_verdict v = {0};
    struct cluster_means means;
    double expected[VECTOR_MEANS];
    struct ergo_ising_exact e;
    cluster_run(ctx, device, job, &means);
    for (int k = 0; k < VECTOR_MEANS; k++)
        expected[k] = NAN;
    assert_true(ergo_ising_exact_torus(4, 4, 2.3, 1, &e));
    expected[VECTOR_MEAN_ENERGY] = e.energy;
    vector_compare(&v, job, means.of, expected, NULL);
    judge(&v);
}

static void test_serial(void **state) {
    (void)state;
    static const char *const jobs[] = {
        JOB("'model': 'xy', 'size': [4, 4], 'temperature': 0.9"),
        JOB("'model': 'heisenberg', 'size': [2, 2, 4], 'temperature': 1.6, 'update': 'wolff'"),
        JOB("'model': 'xy', 'size': [3, 6], 'lattice': 'triangular', 'temperature': 1.4, 'update': "
            "'wolff'"),
    };
    struct vector_verdict v = {0};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        cluster_serial(ctx, device, jobs[i], &v);
    judge(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_ising),
        cmocka_unit_test(test_serial),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
