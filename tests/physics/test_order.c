/*
 * Order parameters of Ising and Potts models, through the public API, against sums over all states
 * of small lattices that are written here from the definitions: the staggered magnetization with
 * one coupling, one for each direction and both signs, in fields uniform and random, in one to
 * three dimensions; the structure factor at the wave vector of order; moments of the order
 * parameter, susceptibility and Binder's cumulant of Potts models, of spin-lattice and of
 * swendsen-wang alike. Where states are too many: the antiferromagnet against the ferromagnet, and
 * the two samplers against each other in every observable that both have.
 *
 * Error budget, set before the first run. Seeds are fixed, nothing is retried. Eight replicas of a
 * job are averaged, the error is Wolff's of each. At most 200 comparisons, |z| < 4.9 (1e-6 each):
 * 2e-4 together. One chi^2 over all |z|, which are correlated within a job: no band but 3 for the
 * mean of z^2.
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

enum { REPLICAS = 8, N_MAX = 200 };
static const double z_max = 4.9;

static struct ergo_context *ctx;
static struct {
    size_t n;
    double worst, squares;
} verdict;

static cJSON *run(const char *job) {
    char text[1200];
    snprintf(text, sizeof text, "{%s, 'replicas': 8, 'output': {'snapshots': 0}}", job);
    return physics_run(ctx, text, job);
}

static const cJSON *observable(const cJSON *tree, int replica, const char *name) {
    const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "points"), replica);
    return cJSON_GetObjectItem(cJSON_GetObjectItem(point, "observables"), name);
}

/* Mean over the replicas and its error. False: not there. */
static bool found(const cJSON *tree, const char *name, double *mean, double *error) {
    double variance = 0;
    *mean = 0;
    for (int r = 0; r < REPLICAS; r++) {
        const cJSON *o = observable(tree, r, name), *e = cJSON_GetObjectItem(o, "error");
        if (!o)
            return false;
        if (!cJSON_IsNumber(e))
            fail_msg("no error of %s", name);
        *mean += cJSON_GetObjectItem(o, "mean")->valuedouble / REPLICAS;
        variance += e->valuedouble * e->valuedouble / REPLICAS / REPLICAS;
    }
    *error = sqrt(variance);
    return true;
}

static void judge(const char *job, const char *name, double mean, double error, double expected,
                  double uncertainty) {
    const double z =
        fabs(mean - expected) < 1e-12 ? 0 : (mean - expected) / hypot(error, uncertainty);
    print_message("  %-28s %.6f(%.6f), expected %.6f(%.6f): z = %+.2f\n", name, mean, error,
                  expected, uncertainty, z);
    verdict.n++;
    verdict.squares += z * z;
    verdict.worst = fmax(verdict.worst, fabs(z));
    if (!(fabs(z) < z_max))
        fail_msg("%s: z of %s is %.2f", job, name, z);
}

static void compare(const cJSON *tree, const char *job, const char *name, double expected) {
    double mean, error;
    if (!found(tree, name, &mean, &error))
        fail_msg("%s: no %s", job, name);
    judge(job, name, mean, error, expected, 0);
}

/* ---- all states ------------------------------------------------------------------------------ */

/* q = 0: ising. */
struct model {
    int d, l[3], q;
    double t, j[3], b;
};
enum { MOMENTS = 11 };
struct moments {
    double energy, m, abs_m, m2, m4; /* potts: m of the majority */
    double abs_s, s2, s4, next;      /* staggered; S(Q + k) / N */
    double psi2, psi4;
};

static void add(const struct model *o, const int *s, double weight, double *z,
                struct moments *sum) {
    const int n = o->l[0] * o->l[1] * o->l[2], q = o->q ? o->q : 2,
              stride[3] = {1, o->l[0], o->l[0] * o->l[1]};
    double counts[16] = {0}, waves[16][3] = {{0}}, most = 0, psi = -1, m, s2 = 0, next = 0;
    for (int i = 0; i < n; i++) {
        int turns = 0;
        for (int k = 0; k < o->d; k++)
            turns += o->j[k] < 0 ? i / stride[k] % o->l[k] : 0;
        const double sign = turns % 2 ? -1 : 1;
        const double phase = 2 * acos(-1) * (i / stride[o->d - 1]) / o->l[o->d - 1];
        counts[s[i]] += 1;
        for (int a = 0; a < q; a++) {
            const double own = (s[i] == a) - 1.0 / q;
            waves[a][0] += sign * own;
            waves[a][1] += sign * own * cos(phase);
            waves[a][2] += sign * own * sin(phase);
        }
    }
    for (int a = 0; a < q; a++) {
        most = fmax(most, counts[a]);
        psi += q * counts[a] * counts[a] / n / n;
        s2 += waves[a][0] * waves[a][0] * q / (q - 1) / n / n;
        next += (waves[a][1] * waves[a][1] + waves[a][2] * waves[a][2]) * q / (q - 1) / n / n;
    }
    psi /= q - 1;
    m = o->q ? (q * most / n - 1) / (q - 1) : (counts[1] - counts[0]) / n;
    *z += weight;
    const double values[MOMENTS] = {0,  m,       fabs(m), m * m, m * m * m * m, sqrt(s2),
                                    s2, s2 * s2, next,    psi,   psi * psi};
    double *const to[MOMENTS] = {&sum->energy, &sum->m,     &sum->abs_m, &sum->m2,
                                 &sum->m4,     &sum->abs_s, &sum->s2,    &sum->s4,
                                 &sum->next,   &sum->psi2,  &sum->psi4};
    for (int k = 1; k < MOMENTS; k++)
        *to[k] += weight * values[k];
}

static double energy_of(const struct model *o, const int *s) {
    const int n = o->l[0] * o->l[1] * o->l[2], stride[3] = {1, o->l[0], o->l[0] * o->l[1]};
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < o->d; k++) {
            const int at = i / stride[k] % o->l[k], to = i + ((at + 1) % o->l[k] - at) * stride[k];
            e -=
                o->q ? o->j[k] * ((s[i] == s[to]) - 1) : o->j[k] * (2 * s[i] - 1) * (2 * s[to] - 1);
        }
        e -= o->q ? 0 : o->b * (2 * s[i] - 1);
    }
    return e;
}

static struct moments enumerate(const struct model *o) {
    const int n = o->l[0] * o->l[1] * o->l[2], q = o->q ? o->q : 2;
    int s[16] = {0}, i = 0;
    struct moments sum = {0};
    double z = 0;
    assert_true(n <= 16);
    do {
        const double e = energy_of(o, s), weight = exp(-e / o->t);
        add(o, s, weight, &z, &sum);
        sum.energy += weight * e / n;
        for (i = 0; i < n && ++s[i] == q; i++)
            s[i] = 0;
    } while (i < n);
    double *const all = &sum.energy;
    for (int k = 0; k < MOMENTS; k++)
        all[k] /= z;
    return sum;
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define ISING "'sampler': 'spin-lattice', 'system': {'model': 'ising', "
#define RUN(sweeps) "}, 'run': {'equilibration': 200, 'sweeps': " sweeps ", 'measure_every': 3}"

static void test_antiferromagnets(void **state) {
    (void)state;
    static const struct {
        const char *job;
        struct model model;
    } cases[] = {
        /* a bit per spin */
        {ISING
         "'size': [4, 4], 'temperature': 2.5, 'coupling': -1, 'dynamics': 'heat-bath'" RUN("6000"),
         {2, {4, 4, 1}, 0, 2.5, {-1, -1}, 0}},
        {ISING "'size': [4, 4], 'temperature': 2, 'coupling': -0.8, 'field': 1.1" RUN("6000"),
         {2, {4, 4, 1}, 0, 2, {-0.8, -0.8}, 1.1}},
        /* a byte */
        {ISING "'size': [8], 'temperature': 1, 'coupling': -1, 'field': 0.5" RUN("6000"),
         {1, {8, 1, 1}, 0, 1, {-1}, 0.5}},
        {ISING
         "'size': [4, 2, 2], 'temperature': 4, 'coupling': -1, 'dynamics': 'heat-bath'" RUN("6000"),
         {3, {4, 2, 2}, 0, 4, {-1, -1, -1}, 0}},
        {ISING "'size': [4, 4], 'temperature': 2, 'couplings': [1, -0.7], 'field': 0.3" RUN("6000"),
         {2, {4, 4, 1}, 0, 2, {1, -0.7}, 0.3}},
        {ISING "'size': [2, 4, 2], 'temperature': 3, 'couplings': [-1, 0.5, 0.75], 'dynamics': "
               "'heat-bath'" RUN("6000"),
         {3, {2, 4, 2}, 0, 3, {-1, 0.5, 0.75}, 0}},
        {"'sampler': 'spin-lattice', 'system': {'model': 'potts', 'q': 3, 'size': [4, 2], "
         "'temperature': 1, 'coupling': -1, 'dynamics': 'heat-bath'" RUN("6000"),
         {2, {4, 2, 1}, 3, 1, {-1, -1}, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct model *o = &cases[i].model;
        const char *job = cases[i].job;
        const struct moments e = enumerate(o);
        const double n = o->l[0] * o->l[1] * o->l[2];
        cJSON *tree = run(job);
        print_message("%s\n", job);
        compare(tree, job, "energy", e.energy);
        if (o->q) {
            compare(tree, job, "staggered_order_parameter2", e.s2);
            compare(tree, job, "order_parameter2", e.m2);
            assert_null(observable(tree, 0, "staggered_magnetization2"));
        } else {
            compare(tree, job, "magnetization2", e.m2);
            compare(tree, job, "abs_staggered_magnetization", e.abs_s);
            compare(tree, job, "staggered_magnetization2", e.s2);
            compare(tree, job, "staggered_magnetization4", e.s4);
            compare(tree, job, "staggered_susceptibility", n * (e.s2 - e.abs_s * e.abs_s) / o->t);
            compare(tree, job, "staggered_binder", 1 - e.s4 / (3 * e.s2 * e.s2));
        }
        if (o->d > 1)
            compare(tree, job, "correlation_length",
                    sqrt(e.s2 / e.next - 1) / (2 * sin(acos(-1) / o->l[o->d - 1])));
        cJSON_Delete(tree);
    }
}

/* Even sides and no field: J to -J turns the staggered magnetization into the magnetization. */
static void test_mapping(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"energy", "energy"},
        {"abs_staggered_magnetization", "abs_magnetization"},
        {"staggered_magnetization2", "magnetization2"},
        {"staggered_susceptibility", "susceptibility"},
        {"staggered_binder", "binder"},
        {"correlation_length", "correlation_length"},
    };
    static const char *const systems[][2] = {
        {"'size': [32, 24], 'temperature': 2.5, 'coupling': -1",
         "'size': [32, 24], 'temperature': 2.5, 'coupling': 1"},
        {"'size': [8, 8, 8], 'temperature': 5, 'couplings': [-1, 1, -1]",
         "'size': [8, 8, 8], 'temperature': 5, 'couplings': [1, 1, 1]"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        cJSON *trees[2];
        for (int k = 0; k < 2; k++) {
            char job[400];
            snprintf(job, sizeof job, "'seed': '4%d', " ISING "%s" RUN("6000"), k, systems[i][k]);
            trees[k] = run(job);
        }
        print_message("%s\n", systems[i][0]);
        for (size_t o = 0; o < sizeof names / sizeof names[0]; o++) {
            double mean[2], error[2];
            for (int k = 0; k < 2; k++)
                if (!found(trees[k], names[o][k], &mean[k], &error[k]))
                    fail_msg("%s: no %s", systems[i][k], names[o][k]);
            judge(systems[i][0], names[o][0], mean[0], error[0], mean[1], error[1]);
        }
        assert_null(observable(trees[1], 0, "staggered_magnetization2"));
        cJSON_Delete(trees[0]);
        cJSON_Delete(trees[1]);
    }
}

/* Clusters and single spins, against all states. */
static void test_potts(void **state) {
    (void)state;
    static const char *const samplers[] = {"'swendsen-wang', 'system': {",
                                           "'spin-lattice', 'system': {'model': 'potts', "};
    for (int q = 2; q <= 3; q++) {
        const struct model o = {2, {4, 2, 1}, q, q == 2 ? 1.3 : 1, {1, 1}, 0};
        const struct moments e = enumerate(&o);
        for (int k = 0; k < 2; k++) {
            char job[400];
            snprintf(job, sizeof job,
                     "'sampler': %s'q': %d, 'size': [4, 2], 'temperature': %g" RUN("6000"),
                     samplers[k], q, o.t);
            cJSON *tree = run(job);
            print_message("%s\n", job);
            compare(tree, job, "energy", e.energy);
            compare(tree, job, "order_parameter", e.m);
            compare(tree, job, "order_parameter2", e.m2);
            compare(tree, job, "order_parameter4", e.m4);
            compare(tree, job, "susceptibility", 8 * (e.m2 - e.m * e.m) / o.t);
            compare(tree, job, "binder", 1 - e.m4 / (3 * e.m2 * e.m2));
            if (k == 0) {
                compare(tree, job, "psi2", e.psi2);
                compare(tree, job, "cluster_susceptibility", 8 * e.psi2 / o.t);
                compare(tree, job, "moment_ratio", e.psi2 * e.psi2 / e.psi4);
            }
            cJSON_Delete(tree);
        }
    }
}

/* The job of the difference that was: q = 3, 32^2, both samplers, every name that both have. */
static void test_same_names(void **state) {
    (void)state;
    static const char *const jobs[2] = {
        "'sampler': 'swendsen-wang', 'system': {'q': 3, 'size': [32, 32], 'temperature': 1.05}, "
        "'run': {'equilibration': 200, 'sweeps': 3000}",
        "'sampler': 'spin-lattice', 'system': {'model': 'potts', 'q': 3, 'size': [32, 32], "
        "'temperature': 1.05, 'dynamics': 'heat-bath'}, 'run': {'equilibration': 1000, 'sweeps': "
        "10000, 'measure_every': 10}"};
    cJSON *trees[2] = {run(jobs[0]), run(jobs[1])};
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(trees[0], "points"), 0);
    size_t common = 0;
    for (const cJSON *o = cJSON_GetObjectItem(first, "observables")->child; o; o = o->next) {
        double mean[2], error[2];
        if (!observable(trees[1], 0, o->string))
            continue;
        common++;
        for (int k = 0; k < 2; k++)
            assert_true(found(trees[k], o->string, &mean[k], &error[k]));
        judge(jobs[0], o->string, mean[0], error[0], mean[1], error[1]);
    }
    assert_int_equal(common, 7);
    cJSON_Delete(trees[0]);
    cJSON_Delete(trees[1]);
}

static void test_together(void **state) {
    (void)state;
    assert_true(verdict.n > 0 && verdict.n <= N_MAX);
    print_message("%zu comparisons, largest |z| %.2f, mean of z^2 %.2f\n", verdict.n, verdict.worst,
                  verdict.squares / (double)verdict.n);
    assert_true(verdict.squares < 3 * (double)verdict.n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_antiferromagnets),
        cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_potts),
        cmocka_unit_test(test_same_names),
        cmocka_unit_test(test_together),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
