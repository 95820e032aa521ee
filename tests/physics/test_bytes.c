/*
 * Models with a byte per spin: enumeration of 2 x 2 x 2, 4 x 2 x 2 and others (Blume-Capel: all 3^8
 * states); chains against their
 * transfer matrices; the 3D Ising model against its low-temperature series; Potts q = 3 and 10 by
 * the tables of data/reference/potts.md. The error budget is in bytes_physics.h.
 */
#include "bytes_physics.h"
#include "fixture.h"

#define JOB(system, run)                                                                           \
    "{'sampler': 'spin-lattice', 'seed': '31', 'replicas': 32, 'system': {" system                 \
    "}, 'run': {'equilibration': 100, " run "}}"
#define LONG "'sweeps': 6000, 'measure_every': 3"

static void test_enumerated(void **state) {
    static const char *const jobs[] = {
        JOB("'model': 'ising', 'size': [2, 2, 2], 'temperature': 4.5", LONG),
        JOB("'model': 'ising', 'size': [4], 'temperature': 1", LONG),
        JOB("'model': 'ising', 'size': [8], 'temperature': 1, 'coupling': -1", LONG),
        JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 5, 'dynamics': 'heat-bath'", LONG),
        JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 3, 'couplings': [1, -0.5, 0.75], "
            "'field': 0.4",
            LONG),
        JOB("'model': 'ising', 'size': [6, 2], 'temperature': 2, 'couplings': [1, 0.3], 'field': "
            "-0.2, 'dynamics': 'heat-bath'",
            LONG),
        JOB("'model': 'potts', 'q': 2, 'size': [12], 'temperature': 0.6", LONG),
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 1.2", LONG),
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 1.2, 'dynamics': 'heat-bath'",
            LONG),
        JOB("'model': 'potts', 'q': 4, 'size': [2, 2, 2], 'temperature': 1.5, 'couplings': [1, "
            "0.5, -0.25]",
            LONG),
        JOB("'model': 'potts', 'q': 5, 'size': [6], 'temperature': 0.7, 'dynamics': 'heat-bath'",
            LONG),
        JOB("'model': 'potts', 'q': 4, 'size': [2, 2, 2], 'temperature': 1.5, 'couplings': [1, "
            "0.5, -0.25], 'dynamics': 'heat-bath'",
            LONG),
    };
    struct bytes_verdict v = {0};
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        bytes_enumerated(ctx, device, jobs[i], &v);
    bytes_enumerated_fields(
        ctx, device,
        JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 4, 'random_field': 1.5", LONG),
        &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 4, "
                                "'random_field': 1.5, 'field_distribution': 'gaussian'",
                                LONG),
                            &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [6, 2], 'temperature': 1.5, "
                                "'couplings': [0.5, -0.3], 'random_field': 0.8, 'field': 0.2, "
                                "'field_distribution': 'gaussian', 'dynamics': 'heat-bath'",
                                LONG),
                            &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 3, "
                                "'field_file': 'data/reference/fields-16.txt'",
                                LONG),
                            &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [4, 4], 'temperature': 2, 'disorder': "
                                "'bimodal', 'dynamics': 'heat-bath'",
                                LONG),
                            &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 3, "
                                "'disorder': 'gaussian', 'random_field': 0.7",
                                LONG),
                            &v);
    bytes_enumerated_fields(ctx, device,
                            JOB("'model': 'ising', 'size': [4, 2, 2], 'temperature': 2.5, "
                                "'disorder_file': 'data/reference/bonds-4x2x2.txt', 'field': 0.3",
                                LONG),
                            &v);
    print_message("enumeration: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

/* Both fields, both signs of the coupling, spins that are mostly 0 and hardly ever. */
static void test_blume_capel(void **state) {
    static const char *const jobs[] = {
        JOB("'model': 'blume-capel', 'size': [2, 2, 2], 'temperature': 3, 'crystal_field': 2.5",
            LONG),
        JOB("'model': 'blume-capel', 'size': [4, 2], 'temperature': 1.5, 'crystal_field': 1.9, "
            "'field': 0.3",
            LONG),
        JOB("'model': 'blume-capel', 'size': [4, 2], 'temperature': 2, 'coupling': -1, "
            "'crystal_field': -0.5, 'field': -0.7",
            LONG),
        JOB("'model': 'blume-capel', 'size': [8], 'temperature': 0.9, 'crystal_field': 0.6", LONG),
    };
    struct bytes_verdict v = {0};
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        bytes_enumerated(ctx, device, jobs[i], &v);
    print_message("blume-capel: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

/* Potts and blume-capel with fields and random couplings of all kinds. */
static void test_disorder(void **state) {
    static const char *const jobs[] = {
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 1.2, 'random_field': 0.9, "
            "'field': 0.3",
            LONG),
        JOB("'model': 'potts', 'q': 3, 'size': [4, 2], 'temperature': 1, 'random_field': 0.6, "
            "'field_distribution': 'gaussian', 'disorder': 'bimodal', 'disorder_ratio': 0.25",
            LONG),
        JOB("'model': 'blume-capel', 'size': [4, 2], 'temperature': 1.3, 'crystal_field': 1.2, "
            "'field': 0.2, 'random_field': 0.8, 'disorder': 'gaussian'",
            LONG),
        JOB("'model': 'potts', 'q': 4, 'size': [2, 2, 2], 'temperature': 1.5, 'disorder': "
            "'gaussian', 'couplings': [1, 0.5, -0.75]",
            LONG),
        JOB("'model': 'blume-capel', 'size': [2, 2, 2], 'temperature': 2, 'crystal_field': 0.5, "
            "'disorder': 'bimodal', 'negative_fraction': 0.3, 'disorder_ratio': 0",
            LONG),
    };
    struct bytes_verdict v = {0};
    (void)state;
    bytes_enumerated(
        ctx, device,
        JOB("'model': 'potts', 'q': 3, 'size': [8], 'temperature': 0.9, 'field': 0.4", LONG), &v);
    /* of the last two only with time: programs of their own */
    const size_t n = sizeof jobs / sizeof jobs[0], most = getenv("ERGOCL_TEST_FULL") ? n : n - 2;
    for (size_t i = 0; i < most; i++)
        bytes_enumerated_fields(ctx, device, jobs[i], &v);
    print_message("disorder: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

static void test_chains(void **state) {
    static const char *const jobs[] = {
        JOB("'model': 'ising', 'size': [64], 'temperature': 1.5, 'field': 0.1",
            "'sweeps': 3000, 'measure_every': 3"),
        JOB("'model': 'ising', 'size': [50], 'temperature': 2, 'coupling': -1, 'field': 0.5",
            "'sweeps': 3000, 'measure_every': 3"),
        JOB("'model': 'potts', 'q': 7, 'size': [64], 'temperature': 0.6",
            "'sweeps': 3000, 'measure_every': 3")};
    struct bytes_verdict v = {0};
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        double means[BYTES_MEANS][BYTES_CHAINS];
        struct bytes_oracle o;
        struct ergo_job *job = bytes_run(ctx, device, jobs[i], means, &o);
        const struct ergo_point *point = &job->points[0];
        bytes_compare(&v, jobs[i], "energy", means[0], ergo_point_exact(point, "energy"));
        if (o.q == 0)
            bytes_compare(&v, jobs[i], "magnetization", means[1],
                          ergo_point_exact(point, "magnetization"));
        ergo_job_destroy(job);
        /* the formula itself, against enumeration */
        if (o.q == 0 || o.q == 7) {
            struct bytes_oracle few = o;
            few.l[0] = o.q == 0 ? 10 : 6;
            char text[300], *end;
            snprintf(text, sizeof text, "%s", jobs[i]);
            end = strchr(text, '[');
            end[1] = few.l[0] == 10 ? '1' : '0';
            end[2] = few.l[0] == 10 ? '0' : '6';
            if (few.l[0] == 6)
                memcpy(end + 1, "6 ", 2);
            for (char *c = text; *c; c++)
                *c = *c == '\'' ? '"' : *c;
            BYTES_BENCH_OK(ctx, text,
                           ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job));
            const struct bytes_oracle_means exact = bytes_oracle_enumerate(&few, NULL);
            assert_true(fabs(ergo_point_exact(&job->points[0], "energy") - exact.energy) < 1e-9);
            if (o.q == 0)
                assert_true(fabs(ergo_point_exact(&job->points[0], "magnetization") - exact.order) <
                            1e-9);
            ergo_job_destroy(job);
        }
    }
    print_message("chains: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

/*
 * Low-temperature series of the simple cubic lattice, Z^(1/N) = e^(3K) (1 + u^3 + 3 u^5 - 3 u^6 +
 * ...), u = e^(-4K): A. J. Guttmann and I. G. Enting, J. Phys. A 26, 807 (1993). At T = 2.2 its
 * terms fall by 0.53 each; the last one changes the energy by 3e-7.
 */
static double series_energy(double t) {
    static const double terms[] = {1,      0,     0,       1,      0,        3,       -3,
                                   15,     -30,   101,     -261,   807,      -2308,   7065,
                                   -21171, 65337, -200934, 627249, -1962034, 6192066, -19610346};
    const double u = exp(-4 / t);
    double sum = 0, slope = 0;
    for (int n = 20; n >= 0; n--) {
        sum += terms[n] * pow(u, n);
        slope += n * terms[n] * pow(u, n);
    }
    return -3 + 4 * slope / sum; /* -d ln Z / dK */
}

static void test_cubic(void **state) {
    struct bytes_verdict v = {0};
    double means[BYTES_MEANS][BYTES_CHAINS];
    struct bytes_oracle o;
    static const char text[] = JOB("'model': 'ising', 'size': [16, 16, 16], 'temperature': 2.2, "
                                   "'start': 'up'",
                                   "'sweeps': 1500, 'measure_every': 5");
    (void)state;
    struct ergo_job *job = bytes_run(ctx, device, text, means, &o);
    ergo_job_destroy(job);
    bytes_compare(&v, text, "energy", means[0], series_energy(2.2));
    print_message("%s\n", v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

/* data/reference/potts.md: 4 x 4 and 6 x 6, exact. */
static void test_potts(void **state) {
    struct bytes_verdict v = {0};
    double means[BYTES_MEANS][BYTES_CHAINS];
    struct bytes_oracle o;
    static const struct {
        const char *job;
        double energy, order;
    } table[] = {
        {JOB("'model': 'potts', 'q': 3, 'size': [4, 4], 'temperature': 0.9949728611", LONG),
         0.289937724495, 0.844236323943},
        {JOB("'model': 'potts', 'q': 3, 'size': [4, 4], 'temperature': 2, 'dynamics': 'heat-bath'",
             LONG),
         1.061734383155, 0.314633808257},
        {JOB("'model': 'potts', 'q': 3, 'size': [6, 6], 'temperature': 1.0944701472", LONG),
         0.545137562004, NAN},
        {JOB("'model': 'potts', 'q': 3, 'size': [6, 6], 'temperature': 0.9949728611, 'dynamics': "
             "'heat-bath'",
             LONG),
         0.326264131194, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ergo_job *job = bytes_run(ctx, device, table[i].job, means, &o);
        ergo_job_destroy(job);
        bytes_compare(&v, table[i].job, "energy", means[0], table[i].energy);
        if (!isnan(table[i].order))
            bytes_compare(&v, table[i].job, "order", means[1], table[i].order);
    }
    print_message("potts: %zu comparisons, largest |z| %.2f (%s)\n", v.n, v.worst, v.where);
    if (bytes_judge(&v))
        fail_msg("%s", bytes_judge(&v));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumerated), cmocka_unit_test(test_blume_capel),
        cmocka_unit_test(test_disorder),   cmocka_unit_test(test_chains),
        cmocka_unit_test(test_cubic),      cmocka_unit_test(test_potts),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
