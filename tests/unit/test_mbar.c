/* Weights of samples of several states, and fits: exact two-state and harmonic systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stats/fit.h"
#include "stats/mbar.h"

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

static double *numbers(size_t n) {
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* A system of n_values values with degeneracies exp(log_g), and for each state exactly as many
 * samples of each value as theory expects: then f is exact. */
struct exact {
    struct ergo_mbar m;
    double *x, *count, *n, *f;
};

static struct exact make(size_t n_values, const double *x, const double *log_g, size_t n_states,
                         const double *a, double samples) {
    struct exact e = {.x = numbers(n_values),
                      .count = numbers(n_values),
                      .n = numbers(n_states),
                      .f = numbers(n_states)};
    memcpy(e.x, x, n_values * sizeof *x);
    memset(e.count, 0, n_values * sizeof *e.count);
    for (size_t k = 0; k < n_states; k++) {
        double most = -INFINITY, sum = 0;
        for (size_t u = 0; u < n_values; u++)
            most = fmax(most, log_g[u] + a[k] * x[u]);
        for (size_t u = 0; u < n_values; u++)
            sum += exp(log_g[u] + a[k] * x[u] - most);
        e.f[k] = -(most + log(sum));
        e.n[k] = samples * (1 + (double)k);
        for (size_t u = 0; u < n_values; u++)
            e.count[u] += e.n[k] * exp(log_g[u] + a[k] * x[u] + e.f[k]);
    }
    e.m = (struct ergo_mbar){1, n_states, n_values, e.x, a, e.n, e.count};
    return e;
}

static void unmake(struct exact *e) {
    free(e->x);
    free(e->count);
    free(e->n);
    free(e->f);
}

/* f, from zeros, and the mean of x at another state. */
static void check(const struct exact *e, double at, double mean, double tolerance) {
    double *f = numbers(e->m.n_states), *log_sum = numbers(e->m.n_values);
    double *weight = numbers(e->m.n_values), sum = 0, all = 0;
    memset(f, 0, e->m.n_states * sizeof *f);
    assert_true(ergo_mbar_solve(&e->m, f, log_sum));
    for (size_t k = 0; k < e->m.n_states; k++)
        assert_near(f[k], e->f[k] - e->f[0], tolerance * fmax(1, fabs(e->f[k])));
    (void)ergo_mbar_weights(&e->m, log_sum, &at, weight);
    for (size_t u = 0; u < e->m.n_values; u++) {
        sum += e->count[u] * weight[u] * e->x[u];
        all += e->count[u] * weight[u];
    }
    assert_near(all, 1, 1e-12);
    assert_near(sum, mean, tolerance * fmax(1, fabs(mean)));
    free(f);
    free(log_sum);
    free(weight);
}

/* Energy 0 or 1 (three times): <x> = 3 e^a / (1 + 3 e^a). */
static void test_two_states(void **state) {
    const double x[] = {0, 1}, log_g[] = {0, log(3)}, a[] = {-2, 0.3, 1};
    struct exact e = make(2, x, log_g, 3, a, 1000);
    (void)state;
    assert_near(e.f[1] - e.f[0], -log((1 + 3 * exp(0.3)) / (1 + 3 * exp(-2))), 1e-12);
    check(&e, -0.5, 3 * exp(-0.5) / (1 + 3 * exp(-0.5)), 1e-8);
    unmake(&e);
}

/* U = x^2/2 on a fine grid of U with density of states 1/sqrt(U): Z = sqrt(2 pi / beta), so that f
 * differ by ln(beta)/2 and <U> = 1/(2 beta). Coefficients of -beta, and f of thousands (U is far
 * from 0). */
static void test_harmonic(void **state) {
    enum { N = 40000 };
    const double a[] = {-1, -1.5, -2.5, -4}, shift = 5000;
    double *x = numbers(N), *log_g = numbers(N);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        const double q = 10 * ((double)i + 0.5) / N; /* uniform in the coordinate */
        x[i] = shift + q * q / 2;
        log_g[i] = 0;
    }
    struct exact e = make(N, x, log_g, 4, a, 1000);
    for (size_t k = 1; k < 4; k++)
        assert_near(e.f[k] - e.f[0] - shift * (a[0] - a[k]), log(a[k] / a[0]) / 2, 1e-6);
    check(&e, -2, shift + 0.25, 1e-8);
    unmake(&e);
    free(x);
    free(log_g);
}

/* A start by mean values is near, and states without overlap are told by their overlap. */
static void test_overlap(void **state) {
    enum { N = 2001 };
    const double near[] = {-0.01, 0, 0.01}, far[] = {-0.3, 0.3};
    double *x = numbers(N), *log_g = numbers(N), overlap[9], f[3], log_sum[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i - 1000;
        log_g[i] = -x[i] * x[i] / (2 * 100 * 100); /* <x> = 10^4 a */
    }
    struct exact e = make(N, x, log_g, 3, near, 100);
    const double means[] = {-100, 0, 100};
    ergo_mbar_start(&e.m, means, f);
    assert_near(f[2], e.f[2] - e.f[0], 1e-6); /* exact for a Gaussian */
    assert_true(ergo_mbar_solve(&e.m, f, log_sum));
    assert_true(ergo_mbar_overlap(&e.m, f, overlap));
    for (size_t k = 0; k < 3; k++)
        assert_near(overlap[3 * k] + overlap[3 * k + 1] + overlap[3 * k + 2], 1, 1e-9);
    assert_true(overlap[1] > 0.1 && overlap[2] < overlap[1]);
    unmake(&e);
    e = make(N, x, log_g, 2, far, 100); /* 60 standard deviations apart */
    memset(f, 0, sizeof f);
    if (ergo_mbar_solve(&e.m, f, log_sum)) {
        assert_true(ergo_mbar_overlap(&e.m, f, overlap));
        assert_true(overlap[1] < 1e-6);
    }
    unmake(&e);
    free(x);
    free(log_g);
}

/* ---- fits ------------------------------------------------------------------------------------ */

static void line(const double *p, double *predicted, void *user) {
    const double *x = user;
    for (size_t i = 0; i < 4; i++)
        predicted[i] = p[0] + p[1] * x[i];
}

/* Against the formulas of a straight line; with equal correlations of all data, which change the
 * error of the constant alone. */
static void test_line(void **state) {
    double x[] = {-3, -1, 1, 3}, matrix[16];
    const double y[] = {1, 2, 2, 3}, error[] = {0.5, 0.5, 0.5, 0.5};
    struct ergo_fit fit = {.value = {0, 0}};
    (void)state;
    assert_true(ergo_fit_least_squares(line, x, y, error, NULL, 4, 2, &fit));
    assert_near(fit.value[0], 2, 1e-7);
    assert_near(fit.value[1], 0.3, 1e-7);
    assert_near(fit.error[0], 0.25, 1e-6);
    assert_near(fit.error[1], 0.5 / sqrt(20), 1e-6);
    assert_near(fit.chi2, 0.2 / 0.25, 1e-7);
    assert_int_equal(fit.dof, 2);
    /* the same correlations as a piece that all share: what is left of chi^2 is 0.6 of its mean */
    double owed[4][5] = {{0}};
    for (size_t i = 0; i < 4; i++) {
        owed[i][i] = sqrt(0.15);
        owed[i][4] = sqrt(0.1);
    }
    assert_true(ergo_fit_share(line, x, error, owed[0], 4, 5, 2, &fit));
    assert_near(fit.error[0], sqrt(0.15 / 4 + 0.1), 1e-6);
    assert_near(fit.error[1], sqrt(0.15 / 20), 1e-6);
    assert_near(fit.tail, exp(-0.8 / 0.6 / 2), 1e-5);
    for (size_t i = 0; i < 16; i++)
        matrix[i] = 0.1 + (i % 5 == 0 ? 0.15 : 0);
    fit = (struct ergo_fit){.value = {0, 0}};
    assert_true(ergo_fit_least_squares(line, x, y, NULL, matrix, 4, 2, &fit));
    assert_near(fit.error[0], sqrt(0.15 / 4 + 0.1), 1e-6);
    assert_near(fit.error[1], sqrt(0.15 / 20), 1e-6);
    assert_false(ergo_fit_least_squares(line, x, y, error, NULL, 1, 2, &fit));
}

static void power_law(const double *p, double *predicted, void *user) {
    const double *x = user;
    for (size_t i = 0; i < 6; i++)
        predicted[i] = p[0] + p[1] * pow(x[i], -p[2]);
}

static void test_power_law(void **state) {
    double x[] = {1, 1.5, 2, 3, 4, 6}, y[6], error[6];
    const double truth[] = {2.269, 0.5, 1.75};
    struct ergo_fit fit = {.value = {2, 1, 1}};
    (void)state;
    power_law(truth, y, x);
    for (size_t i = 0; i < 6; i++)
        error[i] = 1e-3;
    assert_true(ergo_fit_least_squares(power_law, x, y, error, NULL, 6, 3, &fit));
    for (size_t k = 0; k < 3; k++)
        assert_near(fit.value[k], truth[k], 1e-5);
    assert_true(fit.chi2 < 1e-3);
}

static void test_polynomial(void **state) {
    const double x[] = {1, 2, 4, 5, 7}, error[] = {1, 2, 1, 0.5, 1};
    double weight[5], y[2] = {0, 0};
    (void)state;
    assert_true(ergo_fit_polynomial(x, error, 5, 3, 3.3, weight));
    for (size_t i = 0; i < 5; i++) {
        y[0] += weight[i];
        y[1] += weight[i] * (2 - x[i] + 0.5 * x[i] * x[i] * x[i]);
    }
    assert_near(y[0], 1, 1e-9);
    assert_near(y[1], 2 - 3.3 + 0.5 * 3.3 * 3.3 * 3.3, 1e-8);
    assert_false(ergo_fit_polynomial(x, error, 3, 3, 3.3, weight));
}

/* Abramowitz and Stegun, table 26.8. */
static void test_tail(void **state) {
    (void)state;
    assert_near(ergo_fit_tail(3.84146, 1), 0.05, 1e-5);
    assert_near(ergo_fit_tail(18.3070, 10), 0.05, 1e-5);
    assert_near(ergo_fit_tail(124.342, 100), 0.05, 1e-5);
    assert_near(ergo_fit_tail(3, 0), 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_states), cmocka_unit_test(test_harmonic),
        cmocka_unit_test(test_overlap),    cmocka_unit_test(test_line),
        cmocka_unit_test(test_power_law),  cmocka_unit_test(test_polynomial),
        cmocka_unit_test(test_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
