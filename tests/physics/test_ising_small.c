/*
 * Small lattices against every one of their states, by an enumeration that shares nothing with the
 * engine (tests/oracle/ising_enumerate.h): both dynamics, both signs of the coupling, with and
 * without a field, below, at and above Tc; energy, moments of m and, of antiferromagnets, of the
 * staggered m, heat capacity, susceptibilities, Binder's cumulants, correlations along each axis.
 *
 * Such small lattices have Metropolis only in a field (src/samplers/spin_lattice/ergodic.h).
 *
 * Error budget, set before the first run. Seeds are fixed, nothing is retried. The four replicas of
 * a scan point are averaged. Of each such mean |z| < 4.94, at most 640 comparisons: below 8e-7 each
 * where the error is Wolff's. Errors of curves come from 32 to 64 bins a chain: Student's t with at
 * least 124 degrees of freedom, below 3e-6 each. Together below 1.1e-3. Two chi^2 in their 99.9%
 * bands (ising_physics.h): 2e-3. A right program fails with one choice of seeds in 300.
 */
#include "ising_physics.h"
#include "oracle/ising_enumerate.h"

#include "context.h"

enum { REPLICAS = 4, KINDS = 17 };

#define TC "2.269185314213022"
#define LENGTH                                                                                     \
    "'run': {'equilibration': 1000, 'sweeps': 100000, 'measure_every': 4, 'correlation_every': "   \
    "1},"
#define SIGNS "'scan': {'/system/coupling': [1, -1], '/system/temperature': "

/* Fields stand apart for Metropolis: one point with a field in a batch, and all of it runs in the
 * kernel that can do fields. */
static const struct run {
    const char *name, *job; /* what follows the sampler */
} runs[] = {
    {"4x4 Metropolis in a field",
     "'seed': '105', 'replicas': 4, 'system': {'size': [4, 4], 'temperature': 1, 'start': 'up', "
     "'field': 0.7}, " LENGTH SIGNS "[1.7, " TC ", 4]}"},
    {"4x4 heat bath",
     "'seed': '102', 'replicas': 4, 'system': {'size': [4, 4], 'temperature': 1, "
     "'dynamics': 'heat-bath'}, " LENGTH SIGNS "[1.7, " TC ", 4], '/system/field': [0, 0.7]}"},
    {"4x6 Metropolis in a field",
     "'seed': '106', 'replicas': 4, 'system': {'size': [4, 6], 'temperature': 1, 'start': 'up', "
     "'field': 0.7}, " LENGTH SIGNS "[" TC ", 3]}"},
    {"6x4 heat bath",
     "'seed': '104', 'replicas': 4, 'system': {'size': [6, 4], 'temperature': 1, "
     "'dynamics': 'heat-bath'}, " LENGTH SIGNS "[" TC ", 3], '/system/field': [0, 0.7]}"},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static struct physics_verdict verdict;

/* All chains together, by kind: a small common bias adds up. */
static struct {
    const char *name;
    double sum;
    size_t n;
} pools[KINDS];

static void pool(const char *name, double z) {
    size_t k = 0;
    while (pools[k].name && strcmp(pools[k].name, name) != 0)
        assert_true(++k < KINDS);
    pools[k].name = name;
    pools[k].sum += z;
    pools[k].n++;
}

static void compare(const char *where, const char *name, double mean, double error, double tau,
                    size_t samples, double exact) {
    physics_compare(&verdict, where, name, mean, error, tau, samples, exact);
    pool(name, (mean - exact) / error);
}

/* Mean over the replicas, its error, the largest tau; `points`: the replicas' entries. */
static void compare_observable(const char *where, const cJSON *const *points, const char *name,
                               double exact) {
    double mean = 0, variance = 0, tau = 0, samples = 0;
    for (int r = 0; r < REPLICAS; r++) {
        const cJSON *o = cJSON_GetObjectItem(cJSON_GetObjectItem(points[r], "observables"), name);
        const cJSON *error = cJSON_GetObjectItem(o, "error");
        if (!cJSON_IsNumber(error))
            fail_msg("%s: no error of %s", where, name);
        mean += cJSON_GetObjectItem(o, "mean")->valuedouble / REPLICAS;
        variance += error->valuedouble * error->valuedouble / REPLICAS / REPLICAS;
        samples = cJSON_GetObjectItem(o, "samples")->valuedouble;
        tau = fmax(tau, cJSON_GetObjectItem(o, "tau")->valuedouble);
    }
    compare(where, name, mean, sqrt(variance), tau, (size_t)samples, exact);
}

static void compare_curve(const char *where, const cJSON *const *points, int axis,
                          const double *exact) {
    static const char *const curves[] = {"correlation_x", "correlation_y"};
    static const char *const names[2][3] = {{"", "s(0) s(1) along x", "s(0) s(2) along x"},
                                            {"", "s(0) s(1) along y", "s(0) s(2) along y"}};
    for (int i = 0; i < 3; i++) {
        double mean = 0, variance = 0;
        for (int r = 0; r < REPLICAS; r++) {
            const cJSON *curve =
                cJSON_GetObjectItem(cJSON_GetObjectItem(points[r], "curves"), curves[axis]);
            const cJSON *means = cJSON_GetObjectItem(curve, "mean");
            const double error =
                cJSON_GetArrayItem(cJSON_GetObjectItem(curve, "error"), i)->valuedouble;
            assert_int_equal(cJSON_GetArraySize(means), 3);
            mean += cJSON_GetArrayItem(means, i)->valuedouble / REPLICAS;
            variance += error * error / REPLICAS / REPLICAS;
        }
        if (i == 0) /* a spin with itself */
            assert_true(mean == 1 && variance == 0);
        else
            compare(where, names[axis][i], mean, sqrt(variance), 0.5, 10000, exact[i]);
    }
}

static void compare_point(const char *name, const struct ergo_point *point,
                          const struct ergo_oracle_levels *levels, const cJSON *const *found) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    const double b = ergo_point_real(point, "/system/field");
    const struct ergo_oracle_averages exact = ergo_oracle_average(levels, t, j, b);
    char where[120];
    snprintf(where, sizeof where, "%s, T = %.4g, J = %g, B = %g", name, t, j, b);
    compare_observable(where, found, "energy", exact.energy);
    compare_observable(where, found, "heat_capacity", exact.heat_capacity);
    compare_observable(where, found, "abs_magnetization", exact.abs_magnetization);
    compare_observable(where, found, "magnetization2", exact.magnetization2);
    compare_observable(where, found, "magnetization4", exact.magnetization4);
    compare_observable(where, found, "susceptibility", exact.susceptibility);
    compare_observable(where, found, "binder", exact.binder);
    if (b != 0 || j < 0) /* else m changes sign too rarely at the lower temperatures */
        compare_observable(where, found, "magnetization", exact.magnetization);
    if (j < 0) {
        const double *m = exact.staggered, n = levels->Lx * levels->Ly;
        compare_observable(where, found, "abs_staggered_magnetization", m[0]);
        compare_observable(where, found, "staggered_magnetization2", m[1]);
        compare_observable(where, found, "staggered_magnetization4", m[2]);
        compare_observable(where, found, "staggered_susceptibility", n * (m[1] - m[0] * m[0]) / t);
        compare_observable(where, found, "staggered_binder", 1 - m[2] / (3 * m[1] * m[1]));
    }
    compare_curve(where, found, 0, exact.correlation[0]);
    compare_curve(where, found, 1, exact.correlation[1]);
}

static void compare_run(const struct run *run) {
    struct ergo_job *job = NULL;
    cJSON *tree = physics_run(ctx, run->name, run->job, &job);
    const struct ergo_value *size = ergo_point_value(&job->points[0], "/system/size");
    struct ergo_oracle_levels levels;
    assert_true(ergo_oracle_levels_init(&levels, (int)size->size[0], (int)size->size[1]));
    const cJSON *entry = cJSON_GetObjectItem(tree, "points")->child;
    for (size_t p = 0; p < job->n_points; p += REPLICAS) {
        const cJSON *found[REPLICAS];
        for (int r = 0; r < REPLICAS; r++, entry = entry->next)
            found[r] = entry;
        compare_point(run->name, &job->points[p], &levels, found);
    }
    print_message("%s: %zu points of %d chains\n", run->name, job->n_points / REPLICAS, REPLICAS);
    ergo_oracle_levels_free(&levels);
    cJSON_Delete(tree);
    ergo_job_destroy(job);
}

static void test_enumerated(void **state) {
    (void)state;
    for (size_t i = 0; i < RUNS; i++)
        compare_run(&runs[i]);
    for (size_t k = 0; k < KINDS; k++) {
        const double z = pools[k].sum / sqrt((double)pools[k].n);
        print_message("%-20s %3zu comparisons, all together z = %+.2f\n", pools[k].name, pools[k].n,
                      z);
        verdict.n++;
        if (fabs(z) > verdict.worst) {
            verdict.worst = fabs(z);
            snprintf(verdict.where, sizeof verdict.where, "%s of all points together",
                     pools[k].name);
        }
    }
    print_message("%zu comparisons, largest |z| %.2f (%s), chi^2 of energy %.1f / %zu, of heat "
                  "capacity %.1f / %zu\n",
                  verdict.n, verdict.worst, verdict.where, verdict.chi2[0], verdict.chains[0],
                  verdict.chi2[1], verdict.chains[1]);
    const char *reason = physics_judge(&verdict);
    if (reason)
        fail_msg("%s", reason);
}

/* The enumeration against the engine's own one, which goes through the states by a Gray code. */
static void test_two_enumerations(void **state) {
    (void)state;
    static const struct {
        int Lx, Ly;
        double T, J, B;
    } cases[] = {{4, 4, 2.3, 1, 0}, {4, 6, 1.5, -1, 0.8}, {2, 6, 3, 1, -0.5}, {6, 2, 0.7, 2, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_oracle_levels levels;
        struct ergo_ising_moments m;
        assert_true(ergo_oracle_levels_init(&levels, cases[i].Lx, cases[i].Ly));
        const double T = cases[i].T, J = cases[i].J, B = cases[i].B;
        const struct ergo_oracle_averages a = ergo_oracle_average(&levels, T, J, B);
        assert_true(ergo_ising_enumerate(cases[i].Lx, cases[i].Ly, T, J, B, &m));
        const double pairs[][2] = {
            {a.energy, m.energy},
            {a.heat_capacity, m.heat_capacity},
            {a.magnetization, m.magnetization},
            {a.abs_magnetization, m.abs_magnetization},
            {a.magnetization2, m.magnetization2},
            {a.magnetization4, m.magnetization4},
            {a.binder, m.binder},
            /* bonds are correlations at distance 1 */
            {-J * (a.correlation[0][1] + a.correlation[1][1]) - B * a.magnetization, m.energy}};
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
            assert_true(fabs(pairs[k][0] - pairs[k][1]) < 1e-12);
        /* without a field the order of the antiferromagnet is that of the ferromagnet */
        const struct ergo_oracle_averages f = ergo_oracle_average(&levels, T, J, 0);
        const struct ergo_oracle_averages g = ergo_oracle_average(&levels, T, -J, 0);
        assert_true(fabs(f.staggered[0] - g.abs_magnetization) < 1e-12);
        assert_true(fabs(f.staggered[1] - g.magnetization2) < 1e-12);
        assert_true(fabs(f.staggered[2] - g.magnetization4) < 1e-12);
        ergo_oracle_levels_free(&levels);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_enumerations),
        cmocka_unit_test(test_enumerated),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
