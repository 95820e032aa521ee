/*
 * Critical points of a fluid (src/analyse/critical.c), of independent samples of a joint
 * distribution of N and E with a known one:
 *
 *     M = N - s E = A m + const, p(m) ~ exp(-m^4 + c m^2), E = SIGMA y + const, y ~ normal(K m^2,
 * 1),
 *
 * c such that <m^4>/<m^2>^2 is the Ising model's. Elsewhere p(m) is exp(-m^4 + (c + u SIGMA K) m^2
 * + v A m), y ~ normal(K m^2 + u SIGMA, 1), v = ln(z/z_c) and u = s v - (1/T - 1/T_c).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse_results.h"

enum { GRID = 2000 };
static const double A = 30, SIGMA = 60, K = -0.5, S = -0.05, LOG_Z = -2.8, T_INFINITE = 1.2;
static const double M_0 = 60, E_0 = -150, SHIFT = -1.5; /* of T: SHIFT L^-2.417 */

static double at_grid(int i) {
    return -3 + 6 * (i + 0.5) / GRID;
}

static double moment(double c, int power) {
    double sum = 0, all = 0;
    for (int i = 0; i < GRID; i++) {
        const double m = at_grid(i), w = exp(-pow(m, 4) + c * m * m);
        all += w;
        sum += w * pow(m, power);
    }
    return sum / all;
}

static double critical_c(void) {
    double low = -1, high = 4;
    for (int i = 0; i < 60; i++) {
        const double c = (low + high) / 2;
        *(moment(c, 4) / pow(moment(c, 2), 2) > 3 * (1 - 0.46548) ? &low : &high) = c;
    }
    return low;
}

static double critical_temperature(double side) {
    return T_INFINITE + SHIFT * pow(side, -0.83 - 1 / 0.62997);
}

static void fill(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    double sides[3], sum = 0, below[GRID];
    ergo_point_sides(point, sides);
    const double v = ergo_point_real(point, "/system/beta_mu") - LOG_Z;
    const double u = S * v - (1 / ergo_point_real(point, "/system/temperature") -
                              1 / critical_temperature(sides[0]));
    const double c = critical_c();
    seed = point->stream;
    for (int i = 0; i < GRID; i++) {
        const double m = at_grid(i);
        below[i] = sum += exp(-pow(m, 4) + (c + u * SIGMA * K) * m * m + v * A * m);
    }
    for (size_t s = 0; s < n; s++) {
        const double rest = uniform() * sum;
        int low = 0;
        for (int step = 1024; step; step /= 2)
            low += low + step < GRID && below[low + step - 1] < rest ? step : 0;
        const double m = at_grid(low) + (uniform() - 0.5) * 6 / GRID;
        const double energy = E_0 + SIGMA * (K * m * m + u * SIGMA + normal());
        rows[s * n_columns] = M_0 + A * m + S * energy;
        rows[s * n_columns + 1] = energy;
    }
}

static struct ergo_result *make(unsigned of, const char *system, const char *scan) {
    char text[700];
    snprintf(
        text, sizeof text,
        "{\"sampler\":\"lj-gcmc\",\"seed\":\"%u\",\"system\":{%s},\"run\":{\"equilibration\":0,"
        "\"sweeps\":6000,\"measure_every\":1,\"curve_every\":0},\"output\":{\"series\":\"full\"}%"
        "s}",
        of, system, scan);
    return make_result(text, fill);
}

static double expected_density(double side) {
    const double e = E_0 + SIGMA * K * moment(critical_c(), 2);
    return (M_0 + S * e) / pow(side, 3);
}

/* Where it is, and how often within one error. */
static void test_errors(void **state) {
    enum { SEEDS = 24 };
    const struct ergo_analyse_options o = {.critical = true};
    unsigned inside = 0;
    double sum[4] = {0};
    (void)state;
    for (unsigned k = 0; k < SEEDS; k++) {
        struct ergo_result *r =
            make(k + 1, "\"box\":6,\"temperature\":1.185,\"beta_mu\":-2.81", "");
        struct ergo_analysis *a = analyse(&r, 1, &o, ERGO_OK);
        const struct ergo_critical *c = a->criticals;
        assert_true(a->n_criticals == 1 && !c->why_not && a->critical_sizes == 1);
        const struct ergo_valued *found[] = {&c->temperature, &c->log_activity, &c->density,
                                             &c->mixing};
        const double truth[] = {critical_temperature(6), LOG_Z, expected_density(6), S};
        for (int i = 0; i < 4; i++) {
            const double z = (found[i]->value - truth[i]) / found[i]->error;
            assert_true(fabs(z) < 4.5);
            inside += fabs(z) < 1;
            sum[i] += z / sqrt(SEEDS);
        }
        ergo_analysis_destroy(a);
    }
    printf("within one error %.3f; z of means %.2f %.2f %.2f %.2f\n", inside / (4.0 * SEEDS),
           sum[0], sum[1], sum[2], sum[3]);
    assert_in_range(inside, 50, 82); /* of 96; 66 expected, and those of a sample are correlated */
    for (int i = 0; i < 4; i++)
        assert_true(fabs(sum[i]) < 4);
}

/* Boxes whose temperatures go as they should. */
static void test_infinite(void **state) {
    const struct ergo_analyse_options o = {.critical = true};
    (void)state;
    struct ergo_result *r =
        make(7, "\"box\":5,\"temperature\":1.19,\"beta_mu\":-2.8",
             ",\"scan\":{\"/system/box\":[5,6,8],\"/system/temperature\":[1.17,1.19]}");
    struct ergo_analysis *a = analyse(&r, 1, &o, ERGO_OK);
    assert_int_equal(a->critical_sizes, 3);
    const struct ergo_valued *t = &a->critical_temperature;
    assert_true(t->error > 1e-4 && t->error < 0.01);
    assert_near(t->value, T_INFINITE, 4 * t->error);
    assert_true(a->critical_chi2[0] < 14);
    char *text = NULL;
    assert_int_equal(ergo_analysis_table(ctx, a, &text), ERGO_OK);
    assert_non_null(strstr(text, "infinite"));
    free(text);
    assert_int_equal(ergo_analysis_json(ctx, a, &text), ERGO_OK);
    assert_non_null(strstr(text, "\"critical_infinite\""));
    free(text);
    assert_int_equal(ergo_analysis_csv(ctx, a, &text), ERGO_OK);
    assert_non_null(strstr(text, "critical_infinite,"));
    free(text);
    ergo_analysis_destroy(a);
}

static void fill_nothing(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    (void)point;
    for (size_t i = 0; i < n * n_columns; i++)
        rows[i] = (double)(i % 7);
}

static void refused(const char *text, const char *why) {
    struct ergo_result *r = make_result(text, fill_nothing);
    ergo_analysis_destroy(
        analyse(&r, 1, &(struct ergo_analyse_options){.critical = true}, ERGO_E_JOB));
    assert_non_null(strstr(ergo_error_message(ctx), why));
}

#define FLUID(system)                                                                              \
    "{\"sampler\":\"lj-fluid\",\"seed\":\"5\",\"system\":{" system                                 \
    "},\"run\":{\"sweeps\":1000,\"equilibration\":0,\"measure_every\":5}}"

static void test_refused(void **state) {
    const struct ergo_analyse_options o = {.critical = true};
    (void)state;
    refused(FLUID("\"ensemble\":\"muvt\",\"box\":[6,6,7],\"temperature\":1.2,\"activity\":0.06"),
            "is no cube");
    refused(FLUID("\"ensemble\":\"muvt\",\"box\":[6,6,6],\"temperature\":1.2,\"activity\":0.06,"
                  "\"species\":{\"names\":\"A "
                  "B\",\"epsilon\":[1,0.5],\"sigma\":[1,1],\"activity\":[1,1]}"),
            "/system/species");
    refused(FLUID("\"box\":[8,8,8],\"temperature\":1.5,\"particles\":100"), "muvt");
    /* all samples at one side */
    struct ergo_result *r = make(3, "\"box\":6,\"temperature\":1.25,\"beta_mu\":-2.85", "");
    struct ergo_analysis *a = analyse(&r, 1, &o, ERGO_OK);
    assert_non_null(a->criticals[0].why_not);
    assert_int_equal(a->critical_sizes, 0);
    ergo_analysis_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_infinite),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
