/* The Mie potential without a device: arithmetic of kernels and oracle, and what the host derives
 * from the exponents. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LJ_MIE_N 15u
#define LJ_MIE_M 8u
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/tables.h"
#include "oracle/lj_chain.h"

#include "context.h"

static enum ergo_status parse(const char *keys, struct ergo_job **job) {
    char text[600];
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {'box': [9, 9, 9], 'temperature': 1.3, 'epsilon': "
             "0.7, 'sigma': 1.1, 'cutoff': 2.9, 'particles': 10, 'tail_correction': true%s}, "
             "'run': {'sweeps': 100}}",
             keys);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "mie", NULL, 0, job);
}

static struct lj_system system_of(const char *keys) {
    struct ergo_job *job = NULL;
    assert_int_equal(parse(keys, &job), ERGO_OK);
    const struct lj_system s = lj_system_of(&job->points[0]);
    ergo_job_destroy(job);
    return s;
}

/* pressure_corrected of ten particles in 729 without a virial, less the ideal gas's, over rho^2. */
static double usual_tail(const char *keys) {
    struct ergo_job *job = NULL;
    double columns[LJ_COLUMNS] = {0};
    columns[LJ_COLUMN_PARTICLES] = 10;
    assert_int_equal(parse(keys, &job), ERGO_OK);
    const double p = lj_pressure_corrected(&job->points[0], columns);
    ergo_job_destroy(job);
    return (p - 10 * 1.3 / 729) * 729 * 729 / 100;
}

#define MIE(n, m) ", 'potential': 'mie', 'repulsive_exponent': " #n ", 'attractive_exponent': " #m

/* Pairs of core.h and of the oracle are the same words, and those of the definition. */
static void test_pairs(void **state) {
    (void)state;
    const struct lj_member m = {.core2 = 0.5f, .exponents = LJ_MIE_N | LJ_MIE_M << 8};
    for (double r2 = 0.6; r2 < 9; r2 *= 1.01) {
        lj_long energy, virial;
        struct lj_oracle_sums sums = {0};
        const double x = 1 / sqrt((double)(float)r2), a = pow(x, 15), b = pow(x, 8);
        lj_pair((float)r2, &m, &energy, &virial);
        lj_oracle_pair(&m, (float)r2, 1, &sums);
        assert_true(energy == sums.energy && virial == sums.virial);
        assert_true(fabs((double)energy * 0x1p-30 - (a - b)) < 4e-6 * (a + b) + 4e-9);
        assert_true(fabs((double)virial * 0x1p-25 - (15 * a - 8 * b)) <
                    4e-6 * (15 * a + 8 * b) + 1e-7);
    }
    assert_true(lj_power(0.7f, 0, 12) == 0.7f * 0.7f * 0.7f * (0.7f * 0.7f * 0.7f));
}

/* The depth is epsilon; a core is where u = 100 T; tails of energy and pressure are the integrals
 * beyond the cutoff. */
static void test_derived(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        double n, m;
    } cases[] = {{MIE(12, 6), 12, 6}, {MIE(15, 8), 15, 8}, {MIE(48, 4), 48, 4}, {MIE(9, 8), 9, 8}};
    const struct lj_system lj = system_of("");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct lj_system s = system_of(cases[i].keys);
        const double n = cases[i].n, m = cases[i].m;
        double least = 0, tail = 0, force = 0;
        for (double r = 0.9; r < 3; r += 1e-4)
            least = fmin(least, s.unit * (pow(s.sigma / r, n) - pow(s.sigma / r, m)));
        assert_true(fabs(least + s.epsilon) < 1e-6);
        const double core = s.sigma * sqrt(lj_core2(&s));
        assert_true(fabs(s.unit * (pow(s.sigma / core, n) - pow(s.sigma / core, m)) /
                             (100 * s.temperature) -
                         1) < 1e-6);
        /* w = r_c/r: the integral of u r^2 from r_c on is one from 0 to 1 */
        for (double w = 5e-5; w < 1; w += 1e-4) {
            const double r = s.cutoff / w;
            tail += s.unit * (pow(s.sigma / r, n) - pow(s.sigma / r, m)) * r * r * s.cutoff /
                    (w * w) * 1e-4;
            force += s.unit * (n * pow(s.sigma / r, n) - m * pow(s.sigma / r, m)) * r * r *
                     s.cutoff / (w * w) * 1e-4;
        }
        assert_true(fabs(usual_tail(cases[i].keys) / (2 * 3.14159265358979323846 / 3 * force) - 1) <
                    1e-5);
        assert_true(fabs(lj_tail_coefficient(&s) / (2 * 3.14159265358979323846 * tail) - 1) < 1e-5);
        if (i == 0) {
            const double x3 = pow(1.1 / 2.9, 3);
            assert_true(fabs(usual_tail("") / (16 * 3.14159265358979323846 / 3 * 0.7 * pow(1.1, 3) *
                                               (2. / 3 * x3 * x3 * x3 - x3)) -
                             1) < 1e-12);
            assert_true(fabs(s.unit / lj.unit - 1) < 1e-14);
            assert_true(fabs(lj_core2(&s) / lj_core2(&lj) - 1) < 1e-12);
            assert_true(fabs(lj_tail_coefficient(&s) / lj_tail_coefficient(&lj) - 1) < 1e-14);
            assert_true(fabs(lj_virial_of(&s, 6) / lj_virial_of(&lj, 32) - 1) < 1e-12);
        }
    }
}

static void refused(const char *keys, const char *why) {
    struct ergo_job *job = NULL;
    assert_int_not_equal(parse(keys, &job), ERGO_OK);
    if (!strstr(ergo_error_message(ctx), why))
        fail_msg("\"%s\" is not in: %s", why, ergo_error_message(ctx));
}

static void test_refused(void **state) {
    (void)state;
    refused(MIE(6, 6), "/system/attractive_exponent, 6");
    refused(", 'repulsive_exponent': 14", "with potential mie");
    refused(MIE(12, 3), "/system/attractive_exponent");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("mie", tests, context_open, context_close);
}
