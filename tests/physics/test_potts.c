/*
 * Swendsen-Wang through the public API against exact and published values
 * (data/reference/potts.md): 4 x 4 and 6 x 6 by enumeration, Kaufman's formula at q = 2, serial
 * runs at q = 3 and 4; the improved estimator of psi^2 against the same values as the plain one;
 * both phases of a transition of first order.
 *
 * Error budget, set before the first run. Seeds are fixed, nothing is retried. Replicas of a point
 * are averaged; of each such mean |z| < 4.9 (1e-6), at most 90 of them: 1e-4. The chi^2 over
 * energies and over heat capacities of all points in their 99.8% bands from both sides (Wilson and
 * Hilferty): 4e-3.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ergocl/ergocl.h"
#include "physics/run_physics.h"

enum { N_MAX = 90 };
static const double z_max = 4.9;

static struct ergo_context *ctx;
static struct {
    size_t n, kinds[2];
    double worst, chi2[2];
} verdict;

static cJSON *run(const char *name, const char *more) {
    char text[1200];
    snprintf(text, sizeof text, "{'sampler': 'swendsen-wang', %s, 'output': {'snapshots': 0}}",
             more);
    return physics_run(ctx, text, name);
}

/* Mean over the replicas of scan point k, and its error (NULL: a mean without an honest one). */
static double mean_of(const cJSON *tree, int k, int replicas, const char *name, double *error) {
    double mean = 0, variance = 0;
    for (int r = 0; r < replicas; r++) {
        const cJSON *point =
            cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), k * replicas + r);
        const cJSON *o = cJSON_GetObjectItem(cJSON_GetObjectItem(point, "observables"), name);
        const cJSON *found = cJSON_GetObjectItem(o, "error");
        const double e = cJSON_IsNumber(found) ? found->valuedouble : 0;
        if (error)
            assert_null(cJSON_GetObjectItem(o, "too_short"));
        mean += cJSON_GetObjectItem(o, "mean")->valuedouble / replicas;
        variance += e * e / replicas / replicas;
    }
    if (error)
        *error = sqrt(variance);
    return mean;
}

static void compare(const cJSON *tree, const char *what, int k, int replicas, const char *name,
                    double expected, double uncertainty) {
    double error;
    const double mean = mean_of(tree, k, replicas, name, &error);
    const double z = (mean - expected) / hypot(error, uncertainty);
    print_message("  %-24s %d  %-17s %.7f(%.7f), expected %.7f: z = %+.2f\n", what, k, name, mean,
                  error, expected, z);
    verdict.n++;
    verdict.worst = fmax(verdict.worst, fabs(z));
    const int kind = !strcmp(name, "energy") ? 0 : !strcmp(name, "heat_capacity") ? 1 : -1;
    if (kind >= 0) {
        verdict.kinds[kind]++;
        verdict.chi2[kind] += z * z;
    }
    if (!(fabs(z) < z_max))
        fail_msg("%s, point %d: z of %s is %.2f", what, k, name, z);
}

static void test_tables(void **unused) {
    (void)unused;
    static const char *const names[] = {
        "energy",           "heat_capacity", "order_parameter", "order_parameter2",
        "order_parameter4", "psi2",          "psi2_plain",      "psi4",
        "psi4_plain"};
    static const double q2[2][9] = {
        {0.217188106181, 0.783266825929, 0.843860444813, 0.761358908569, 0.665691213267,
         0.761358908569, 0.761358908569, 0.665691213267, 0.665691213267},
        {0.687256935145, 0.240108654843, 0.418179226012, 0.248216233575, 0.128832500149,
         0.248216233575, 0.248216233575, 0.128832500149, 0.128832500149}};
    static const double q3[2][9] = {
        {0.289937724495, 1.511881241902, 0.844236323943, 0.753196062494, 0.645221215761,
         0.762794431467, 0.762794431467, 0.651930400611, 0.651930400611},
        {1.061734383155, 0.192050679214, 0.314633808257, 0.131900452826, 0.038803210656,
         0.157678249101, 0.157678249101, 0.046471858870, 0.046471858870}};
    static const double six[5][2] = {{0.076434572679, 0.611110680174},
                                     {0.163359943650, 1.201481726232},
                                     {0.326264131194, 2.059953072139},
                                     {0.545137562004, 2.123785989179},
                                     {1.076660672478, 0.159425668700}};
    cJSON *tree =
        run("4 x 4, q = 2",
            "'seed': '201', 'replicas': 24, 'system': {'size': [4, 4], 'temperature': 1}, "
            "'run': {'equilibration': 50, 'sweeps': 12000}, "
            "'scan': {'/system/temperature': [1.134592657107, 2]}");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 9; i++)
            compare(tree, "4 x 4, q = 2", k, 24, names[i], q2[k][i], 0);
    cJSON_Delete(tree);
    tree =
        run("4 x 4, q = 3",
            "'seed': '202', 'replicas': 24, 'system': {'q': 3, 'size': [4, 4], 'temperature': 1}, "
            "'tuning': {'path': 2}, 'run': {'equilibration': 50, 'sweeps': 3000}, "
            "'scan': {'/system/temperature': [0.994972861072, 2]}");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 9; i++)
            compare(tree, "4 x 4, q = 3", k, 24, names[i], q3[k][i], 0);
    cJSON_Delete(tree);
    tree = run("6 x 6, q = 3",
               "'seed': '203', 'replicas': 24, 'system': {'q': 3, 'size': [6, 6], 'temperature': "
               "1}, 'run': {'equilibration': 50, 'sweeps': 12000}, 'scan': {'/system/temperature': "
               "[0.7959782889, 0.8954755750, 0.9949728611, 1.0944701472, 2]}");
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++)
            compare(tree, "6 x 6, q = 3", k, 24, names[i], six[k][i], 0);
    cJSON_Delete(tree);
}

/* Points with an exact value in the result: q = 2, also in Ising's units. */
static void test_kaufman(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *job;
        int points, replicas;
    } runs[] = {
        {"33 x 20",
         "'seed': '211', 'replicas': 8, 'system': {'size': [33, 20], 'temperature': 1}, 'run': "
         "{'equilibration': 100, 'sweeps': 4000}, 'scan': {'/system/temperature': [1, "
         "1.134592657107, 1.3]}",
         3, 8},
        {"64 x 64, Ising's units",
         "'seed': '212', 'replicas': 4, 'system': {'size': [64, 64], 'temperature': 2, "
         "'hamiltonian': 'ising', 'start': 'ordered'}, 'run': {'equilibration': 100, 'sweeps': "
         "2500}, 'scan': {'/system/temperature': [2.2, 2.269185314213, 2.4]}",
         3, 4},
        {"128 x 128",
         "'seed': '213', 'replicas': 2, 'system': {'size': [128, 128], 'temperature': "
         "1.134592657107}, 'run': {'equilibration': 100, 'sweeps': 2500}",
         1, 2},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        cJSON *tree = run(runs[i].name, runs[i].job);
        for (int k = 0; k < runs[i].points; k++) {
            const cJSON *point =
                cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), k * runs[i].replicas);
            const cJSON *all = cJSON_GetObjectItem(point, "observables");
            static const char *const names[] = {"energy", "heat_capacity"};
            double plain_error, error;
            for (int n = 0; n < 2; n++)
                compare(
                    tree, runs[i].name, k, runs[i].replicas, names[n],
                    cJSON_GetObjectItem(cJSON_GetObjectItem(all, names[n]), "exact")->valuedouble,
                    0);
            /* the improved estimator is worth its name */
            mean_of(tree, k, runs[i].replicas, "psi2_plain", &plain_error);
            mean_of(tree, k, runs[i].replicas, "psi2", &error);
            assert_true(error < 1.05 * plain_error);
            mean_of(tree, k, runs[i].replicas, "psi4_plain", &plain_error);
            mean_of(tree, k, runs[i].replicas, "psi4", &error);
            assert_true(error < 1.05 * plain_error);
        }
        cJSON_Delete(tree);
    }
}

static void test_serial(void **unused) {
    (void)unused;
    cJSON *tree = run("64 x 64, q = 3",
                      "'seed': '221', 'replicas': 8, 'system': {'q': 3, 'size': [64, 64], "
                      "'temperature': 0.99497286}, 'run': {'equilibration': 300, 'sweeps': 4000}");
    static const char *const names[] = {"energy", "heat_capacity", "order_parameter", "psi2"};
    static const double q3[4][2] = {
        {0.408337, 0.000426}, {7.3751, 0.0607}, {0.59102, 0.00144}, {0.37658, 0.00141}};
    static const double q4[4][2] = {
        {0.428628, 0.000836}, {6.8385, 0.0409}, {0.71345, 0.00105}, {0.54989, 0.00118}};
    for (int i = 0; i < 4; i++)
        compare(tree, "64 x 64, q = 3", 0, 8, names[i], q3[i][0], q3[i][1]);
    cJSON_Delete(tree);
    tree = run("16 x 16, q = 4",
               "'seed': '222', 'replicas': 16, 'system': {'q': 4, 'size': [16, 16], 'temperature': "
               "0.91023923}, 'run': {'equilibration': 300, 'sweeps': 6000}");
    for (int i = 0; i < 4; i++)
        compare(tree, "16 x 16, q = 4", 0, 16, names[i], q4[i][0], q4[i][1]);
    cJSON_Delete(tree);
}

/* q = 20 at its transition: an ordered start stays ordered, a random one disordered, for a long
 * time at 64 x 64; e = 1 - 1/sqrt(q) lies between the phases. */
static void test_first_order(void **unused) {
    (void)unused;
    double energy[2], order[2];
    for (int ordered = 0; ordered < 2; ordered++) {
        char job[400];
        snprintf(job, sizeof job,
                 "'seed': '231', 'system': {'q': 20, 'size': [64, 64], 'temperature': %.12f, "
                 "'start': '%s'}, 'run': {'equilibration': 50, 'sweeps': 500}",
                 1 / log(1 + sqrt(20)), ordered ? "ordered" : "random");
        cJSON *tree = run("q = 20", job);
        energy[ordered] = mean_of(tree, 0, 1, "energy", NULL);
        order[ordered] = mean_of(tree, 0, 1, "order_parameter", NULL);
        cJSON_Delete(tree);
    }
    print_message("  q = 20: e = %.3f and %.3f, m = %.3f and %.3f\n", energy[0], energy[1],
                  order[0], order[1]);
    assert_true(energy[0] > 1 - 1 / sqrt(20) + 0.3 && order[0] < 0.2);
    assert_true(energy[1] < 1 - 1 / sqrt(20) - 0.3 && order[1] > 0.8);
}

static double quantile(double n, double normal) {
    const double a = 2 / (9 * n), q = 1 - a + normal * sqrt(a);
    return n * q * q * q;
}

static void test_together(void **unused) {
    (void)unused;
    assert_true(verdict.n > 0 && verdict.n <= N_MAX);
    print_message("  %zu comparisons, largest |z| %.2f; chi^2 of energies %.1f of %zu, of heat "
                  "capacities %.1f of %zu\n",
                  verdict.n, verdict.worst, verdict.chi2[0], verdict.kinds[0], verdict.chi2[1],
                  verdict.kinds[1]);
    for (int kind = 0; kind < 2; kind++) {
        const double n = (double)verdict.kinds[kind];
        assert_true(verdict.chi2[kind] > quantile(n, -3.09));
        assert_true(verdict.chi2[kind] < quantile(n, 3.09));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),   cmocka_unit_test(test_kaufman),
        cmocka_unit_test(test_serial),   cmocka_unit_test(test_first_order),
        cmocka_unit_test(test_together),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
