/*
 * Models xy, clock and heisenberg against exact values of closed chains (transfer matrices), of the
 * Ising model (clock with two directions, and with four: two Ising models of half the coupling),
 * and against the plain serial program of tests/oracle/vector_serial.h.
 */
#include "physics/vector_physics.h"
#include "fixture.h"
#include "samplers/spin_lattice/exact.h"

#define RUN                                                                                        \
    "}, 'replicas': 32, 'seed': '11', 'run': {'equilibration': 100, 'sweeps': 3000, "              \
    "'measure_every': 2}}"
#define JOB(system) "{'sampler': 'spin-lattice', 'system': {" system RUN

static void judge(const struct vector_verdict *v) {
    print_message("%zu comparisons, largest |z| %.2f: %s\n", v->n, v->worst, v->where);
    if (vector_judge(v))
        fail_msg("%s", vector_judge(v));
}

static void test_rings(void **state) {
    (void)state;
    static const char *const jobs[] = {
        JOB("'model': 'xy', 'size': [6], 'temperature': 0.7, 'field': 0.3, 'step': 0.8, "
            "'over_relaxation': 1"),
        JOB("'model': 'xy', 'size': [2, 2], 'temperature': 1.3"),
        JOB("'model': 'clock', 'q': 5, 'size': [6], 'temperature': 0.6, 'field': -0.2"),
        JOB("'model': 'heisenberg', 'size': [6], 'temperature': 0.6, 'field': 0.3, 'anisotropy': "
            "-0.7"),
        JOB("'model': 'heisenberg', 'size': [2, 2], 'temperature': 0.9, 'dynamics': 'heat-bath', "
            "'over_relaxation': 1, 'field': 0.4"),
    };
    struct vector_verdict v = {0};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        vector_ring(ctx, device, jobs[i], &v);
    judge(&v);
}

/* Spins that feel a random field alone: each as if the field were uniform. */
static void test_random_field(void **state) {
    (void)state;
    static const char *const job =
        JOB("'model': 'heisenberg', 'size': [4, 4], 'temperature': 0.5, 'coupling': 0, "
            "'random_field': 0.8");
    double means[VECTOR_CHAINS][VECTOR_MEANS], expected[VECTOR_MEANS];
    struct vector_verdict v = {0};
    struct vector_oracle o = vector_means(ctx, device, job, means);
    o.b = o.random;
    for (int k = 0; k < VECTOR_MEANS; k++)
        expected[k] = NAN;
    expected[VECTOR_MEAN_ENERGY] = vector_oracle_ring(&o, 4).energy;
    vector_compare(&v, job, means, expected, NULL);
    judge(&v);
}

/* Clock models with random couplings and fields, by enumeration: each replica has its own. */
static void test_disorder(void **state) {
    (void)state;
    static const char *const jobs[] = {
        JOB("'model': 'clock', 'q': 3, 'size': [4, 2], 'temperature': 0.8, 'disorder': 'gaussian', "
            "'random_field': 0.7, 'field_distribution': 'gaussian', 'field': 0.2"),
        JOB("'model': 'clock', 'q': 4, 'size': [6], 'temperature': 0.6, 'disorder': 'bimodal', "
            "'disorder_ratio': 0.25, 'negative_fraction': 0.4, 'random_field': 0.5"),
    };
    struct vector_verdict v = {0};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        double means[VECTOR_CHAINS][VECTOR_MEANS], expected[VECTOR_MEANS];
        char text[800];
        struct ergo_job *job = NULL;
        vector_means(ctx, device, jobs[i], means);
        snprintf(text, sizeof text, "%s", jobs[i]);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        VECTOR_BENCH_OK(ctx, text, ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
        for (size_t m = 0; m < VECTOR_CHAINS; m++) {
            const struct vector_oracle o = vector_bench_oracle(job->batches[0].points[m]);
            double exact[2];
            vector_oracle_enumerate(&o, exact);
            means[m][VECTOR_MEAN_ENERGY] -= exact[0];
            means[m][VECTOR_MEAN_ALONG] -= exact[1];
        }
        for (int k = 0; k < VECTOR_MEANS; k++)
            expected[k] = NAN;
        expected[VECTOR_MEAN_ENERGY] = expected[VECTOR_MEAN_ALONG] = 0;
        vector_compare(&v, jobs[i], means, expected, NULL);
        ergo_job_destroy(job);
    }
    judge(&v);
}

static void test_ising(void **state) {
    (void)state;
    struct vector_verdict v = {0};
    for (int q = 2; q <= 4; q += 2) {
        double means[VECTOR_CHAINS][VECTOR_MEANS], expected[VECTOR_MEANS];
        char job[400];
        struct ergo_ising_exact e;
        snprintf(job, sizeof job,
                 JOB("'model': 'clock', 'q': %d, 'size': [4, 4], 'temperature': 1.8"), q);
        vector_means(ctx, device, job, means);
        for (int k = 0; k < VECTOR_MEANS; k++)
            expected[k] = NAN;
        assert_true(ergo_ising_exact_torus(4, 4, 1.8, 2.0 / q, &e));
        expected[VECTOR_MEAN_ENERGY] = q / 2 * e.energy;
        vector_compare(&v, job, means, expected, NULL);
    }
    judge(&v);
}

/*
 * Means of vector_oracle_run, seed 100 + the row's number, 100 blocks of 1,600,000 / N sweeps; a
 * row takes two to ten minutes. In the order of enum vector_oracle_mean.
 */
static const struct {
    const char *job;
    bool quick; /* in each test; the others with $ERGOCL_TEST_FULL */
    double means[VECTOR_MEANS][2];
} known[] = {
#include "vector_means.h"
};

static void test_serial(void **state) {
    (void)state;
    struct vector_verdict v = {0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double means[VECTOR_CHAINS][VECTOR_MEANS], expected[VECTOR_MEANS], errors[VECTOR_MEANS];
        if (!known[i].quick && !getenv("ERGOCL_TEST_FULL"))
            continue;
        vector_means(ctx, device, known[i].job, means);
        for (int k = 0; k < VECTOR_MEANS; k++) {
            expected[k] = known[i].means[k][0];
            errors[k] = known[i].means[k][1];
        }
        vector_compare(&v, known[i].job, means, expected, errors);
    }
    judge(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),    cmocka_unit_test(test_random_field),
        cmocka_unit_test(test_disorder), cmocka_unit_test(test_ising),
        cmocka_unit_test(test_serial),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
