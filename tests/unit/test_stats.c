/*
 * Statistics of correlated series, on AR(1) series x' = phi x + sqrt(1 - phi^2) g, whose
 * autocorrelation is phi^t and tau = (1 + phi) / (2 (1 - phi)).
 *
 * Fixed seeds, no retries. Budgets, set beforehand: fractions within 3.5 binomial standard
 * deviations, means of estimates within the tolerance written beside them. Power: every check of an
 * error is also made of the naive error, or of one 10% off, and must fail there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "oracle/derived.h"
#include "stats/covariance.h"
#include "stats/stats.h"
#include "unit/random_series.h"

/* of this process's processor: others may be busy */
static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void test_special_cases(void **state) {
    (void)state;
    struct ergo_estimate e;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = 0.1;
    ergo_stats_estimate(x, 1000, &e);
    assert_true(e.constant && e.mean == 0.1 && e.error == 0 && e.error_binning == 0 &&
                e.tau == 0.5);
    assert_true(e.tau_error == 0 && e.samples == 1000 && !e.too_short);
    ergo_stats_estimate(x, 0, &e);
    assert_true(isnan(e.mean) && isnan(e.error) && e.too_short && e.samples == 0);
    for (size_t n = 1; n <= 3; n++) {
        x[0] = 1;
        x[1] = 2;
        x[2] = 3;
        ergo_stats_estimate(x, n, &e);
        assert_true(e.mean == (double)(n + 1) / 2 && isnan(e.error) && isnan(e.tau));
        assert_true(isnan(e.error_binning) && e.too_short && e.samples == n);
    }
    for (size_t n = 4; n <= 40; n++) { /* nothing breaks at small n */
        for (size_t i = 0; i < n; i++)
            x[i] = normal();
        ergo_stats_estimate(x, n, &e);
        assert_true(e.error > 0 && isfinite(e.error) && e.error_binning > 0 && e.tau > 0);
        assert_true(e.too_short);
    }
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        x[500] = bad[i];
        ergo_stats_estimate(x, 1000, &e);
        assert_true(isnan(e.mean) && isnan(e.error) && isnan(e.tau) && e.too_short);
    }
    /* Alternating: the error is never understated; the mean is exact. */
    for (int i = 0; i < 1000; i++)
        x[i] = i % 2 ? 1 : -1;
    ergo_stats_estimate(x, 1000, &e);
    assert_true(e.mean == 0 && e.error > 0 && isfinite(e.error) && isfinite(e.tau));
}

static void test_scale(void **state) {
    (void)state;
    enum { N = 5000 };
    double *x = numbers(N), *y = numbers(N);
    seed = 1;
    fill_ar1(x, N, 0.5);
    struct ergo_estimate a, b;
    ergo_stats_estimate(x, N, &a);
    const double scales[] = {0x1p-900, 0x1p900, -0x1p-3};
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < N; i++)
            y[i] = scales[s] * x[i];
        ergo_stats_estimate(y, N, &b);
        assert_true(fabs(b.error / (fabs(scales[s]) * a.error) - 1) < 1e-12);
        assert_true(fabs(b.tau / a.tau - 1) < 1e-12 && a.too_short == b.too_short);
    }
    /* A large offset costs digits, not sense. */
    for (int i = 0; i < N; i++)
        y[i] = 1e9 + x[i];
    ergo_stats_estimate(y, N, &b);
    assert_true(fabs(b.error / a.error - 1) < 1e-6 && fabs(b.tau / a.tau - 1) < 1e-6);
    free(x);
    free(y);
}

/* Fractions of |mean| > k error over many series; error and tau on average. */
struct coverage {
    double one, two, one_binning, one_naive, one_larger;
    double error, error_binning, tau, tau_spread, tau_error, flagged;
};

static struct coverage cover(size_t runs, size_t n, double phi) {
    struct coverage c = {0};
    double *x = numbers(n), tau2 = 0;
    double w = 1.0 / (double)runs;
    for (size_t r = 0; r < runs; r++) {
        struct ergo_estimate e;
        fill_ar1(x, n, phi);
        ergo_stats_estimate(x, n, &e);
        double naive = e.error / sqrt(2 * e.tau);
        c.one += w * (fabs(e.mean) > e.error);
        c.two += w * (fabs(e.mean) > 2 * e.error);
        c.one_binning += w * (fabs(e.mean) > e.error_binning);
        c.one_naive += w * (fabs(e.mean) > naive);
        c.one_larger += w * (fabs(e.mean) > 1.25 * e.error);
        c.error += w * e.error;
        c.error_binning += w * e.error_binning;
        c.tau += w * e.tau;
        tau2 += w * e.tau * e.tau;
        c.tau_error += w * e.tau_error;
        c.flagged += w * e.too_short;
    }
    c.tau_spread = sqrt(tau2 - c.tau * c.tau);
    free(x);
    return c;
}

static void test_coverage(void **state) {
    (void)state;
    enum { RUNS = 1000 };
    static const struct {
        double phi;
        size_t n;
    } cases[] = {{0, 2000}, {0.5, 4000}, {0.9, 10000}, {-0.4, 4000}};
    const double p1 = 0.317310507863, p2 = 0.045500263896;
    const double d1 = 3.5 * sqrt(p1 * (1 - p1) / RUNS), d2 = 3.5 * sqrt(p2 * (1 - p2) / RUNS);
    seed = 20240101;
    for (int i = 0; i < 4; i++) {
        double phi = cases[i].phi, n = (double)cases[i].n;
        double tau = (1 + phi) / (2 * (1 - phi));
        double exact = sqrt(2 * tau / n - 2 * phi / (n * n * (1 - phi) * (1 - phi)));
        struct coverage c = cover(RUNS, cases[i].n, phi);
        printf("phi %+.1f n %5.0f: >1 %.3f (binning %.3f, naive %.3f) >2 %.3f | error/exact %.4f "
               "binning %.4f | tau/exact %.4f spread %.4f stated %.4f | flagged %.3f\n",
               phi, n, c.one, c.one_binning, c.one_naive, c.two, c.error / exact,
               c.error_binning / exact, c.tau / tau, c.tau_spread, c.tau_error, c.flagged);
        assert_true(fabs(c.one - p1) < d1);
        assert_true(fabs(c.two - p2) < d2);
        assert_true(fabs(c.one_binning - p1) < d1 + 0.01); /* binning's bias: 2% in the error */
        assert_true(fabs(c.error / exact - 1) < 0.02);
        assert_true(fabs(c.error_binning / exact - 1) < 0.04);
        assert_true(fabs(c.tau / tau - 1) < 0.03);
        assert_true(fabs(c.tau_spread / c.tau_error - 1) < 0.35);
        assert_true(c.flagged < 0.03);
        /* Power: without tau, or 25% off, the same check fails. */
        if (phi != 0)
            assert_true(fabs(c.one_naive - p1) > d1);
        assert_true(fabs(c.one_larger - p1) > d1);
    }
}

/* Nearly alternating (tau = 0.013): never understated, and not by much too large. */
static void test_alternating(void **state) {
    (void)state;
    seed = 19;
    const double phi = -0.95, exact = sqrt((1 + phi) / (1 - phi) / 10000);
    struct coverage c = cover(300, 10000, phi);
    printf("phi -0.95: error/exact %.4f binning %.4f naive %.4f\n", c.error / exact,
           c.error_binning / exact, 1 / (100 * exact));
    assert_true(c.error / exact > 0.98 && c.error / exact < 1.2);
    assert_true(c.flagged < 0.05);
}

static void test_too_short(void **state) {
    (void)state;
    seed = 7;
    /* 20 tau: flagged nearly always; 400 tau: hardly ever. */
    assert_true(cover(300, 190, 0.9).flagged > 0.95);
    assert_true(cover(300, 3800, 0.9).flagged < 0.05);
    /* A drift: no plateau, or the two disagree. */
    double x[4000];
    for (int i = 0; i < 4000; i++)
        x[i] = 1e-3 * i + normal();
    struct ergo_estimate e;
    ergo_stats_estimate(x, 4000, &e);
    assert_true(e.too_short);
    /* A single jump. */
    for (int i = 0; i < 4000; i++)
        x[i] = (i < 1700 ? 0 : 1) + 0.2 * normal();
    ergo_stats_estimate(x, 4000, &e);
    assert_true(e.too_short);
}

/* A slow part of small weight, which hides from the automatic window. Exact: sum of both. */
static void test_slow_part(void **state) {
    (void)state;
    enum { N = 100000, RUNS = 40 };
    const double phi = 0.95, weight = 0.03;
    double *x = numbers(N), *y = numbers(N), *z = numbers(N);
    seed = 11;
    double tau = (1 - weight) * 0.5 + weight * (1 + phi) / (2 * (1 - phi));
    double exact = sqrt(2 * tau / N), error = 0, naive = 0, flagged = 0;
    for (int r = 0; r < RUNS; r++) {
        struct ergo_estimate e;
        fill_ar1(y, N, phi);
        fill_ar1(z, N, 0);
        for (int i = 0; i < N; i++)
            x[i] = sqrt(weight) * y[i] + sqrt(1 - weight) * z[i];
        ergo_stats_estimate(x, N, &e);
        error += e.error / RUNS;
        naive += e.error / sqrt(2 * e.tau) / RUNS;
        flagged += (double)e.too_short / RUNS;
    }
    printf("slow part: error/exact %.4f naive/exact %.4f flagged %.3f\n", error / exact,
           naive / exact, flagged);
    assert_true(fabs(error / exact - 1) < 0.05);
    assert_true(naive / exact < 0.9);
    assert_true(flagged < 0.1);
    free(x);
    free(y);
    free(z);
}

/* Long series, short and long tau: right, and in linear time. */
static void test_long(void **state) {
    (void)state;
    enum { N = 1000000 };
    double *x = numbers(N);
    seed = 3;
    const double phis[] = {0, 0.9, 0.99, 0.9995};
    for (int i = 0; i < 4; i++) {
        double phi = phis[i], tau = (1 + phi) / (2 * (1 - phi));
        fill_ar1(x, N, phi);
        struct ergo_estimate e;
        double t0 = seconds();
        ergo_stats_estimate(x, N, &e);
        double t1 = seconds();
        printf("n 1e6 tau %7.1f: %7.1f +- %.1f, error %.5f binning %.5f, %.3f s\n", tau, e.tau,
               e.tau_error, e.error, e.error_binning, t1 - t0);
        assert_true(fabs(e.tau - tau) < 3.5 * e.tau_error);
        assert_true(e.tau_error < 0.35 * tau);
        assert_false(e.too_short);
        assert_true(t1 - t0 < 10); /* 0.2 s, with sanitizers more; O(n^2) would take minutes */
    }
    free(x);
}

/* ---- derived --------------------------------------------------------------------------------- */

static double variance_of(const double *m, void *user) {
    return (m[1] - m[0] * m[0]) * *(const double *)user;
}

static double log_variance(const double *m, void *user) {
    (void)user;
    return log(m[1] - m[0] * m[0]);
}

static double identity(const double *m, void *user) {
    (void)user;
    return m[0];
}

static double ratio(const double *m, void *user) {
    (void)user;
    return 1 - m[1] / (3 * m[0] * m[0]);
}

static double not_finite(const double *m, void *user) {
    (void)user;
    (void)m;
    return NAN;
}

/* Heat capacity of a large lattice: e2 - e^2 is 1e-5, then 1e-8, of e2. The error must be that of
 * the projection with the analytic gradient. */
static void test_derived_cancellation(void **state) {
    (void)state;
    enum { N = 20000 };
    double *e = numbers(N), *e2 = numbers(N), *p = numbers(N);
    const double widths[] = {3e-3, 1e-4};
    for (int w = 0; w < 2; w++) {
        seed = 21;
        fill_ar1(e, N, 0.8);
        double factor = 16384.0 * 16384 / 5.15;
        for (int i = 0; i < N; i++) {
            e[i] = -1.4 + widths[w] * e[i];
            e2[i] = e[i] * e[i];
        }
        const double *columns[] = {e, e2};
        double me = ergo_stats_mean(e, N), me2 = ergo_stats_mean(e2, N);
        for (int i = 0; i < N; i++)
            p[i] = factor * ((e2[i] - me2) - 2 * me * (e[i] - me));
        struct ergo_estimate got, want;
        ergo_stats_derived(columns, 2, N, variance_of, &factor, &got);
        ergo_stats_estimate(p, N, &want);
        double tolerance = w == 0 ? 1e-6 : 1e-3;
        printf("derived, e2-e^2 = %.0e e2: error off by %.1e, tau by %.1e\n",
               widths[w] * widths[w] / 2, got.error / want.error - 1, got.tau / want.tau - 1);
        assert_true(fabs(got.error / want.error - 1) < tolerance);
        assert_true(fabs(got.tau / want.tau - 1) < tolerance);
        assert_true(fabs(got.mean / (factor * widths[w] * widths[w]) - 1) <
                    4 * got.error / got.mean);
        /* f finite only for small steps. */
        ergo_stats_derived(columns, 2, N, log_variance, NULL, &got);
        assert_true(fabs(got.error / (want.error / (factor * (me2 - me * me))) - 1) < 1e-2);
    }
    free(e);
    free(e2);
    free(p);
}

static void test_derived_bias(void **state) {
    (void)state;
    enum { N = 600, RUNS = 4000 };
    double *x = numbers(N), *x2 = numbers(N), one = 1;
    const double *columns[] = {x, x2};
    const double phi = 0.6, tau = (1 + phi) / (2 * (1 - phi));
    double plain = 0, corrected = 0, squares = 0, inside = 0;
    seed = 5;
    for (int r = 0; r < RUNS; r++) {
        fill_ar1(x, N, phi);
        for (int i = 0; i < N; i++)
            x2[i] = x[i] * x[i];
        struct ergo_estimate e;
        ergo_stats_derived(columns, 2, N, variance_of, &one, &e);
        double m = ergo_stats_mean(x, N);
        plain += (ergo_stats_mean(x2, N) - m * m - 1) / RUNS;
        corrected += (e.mean - 1) / RUNS;
        squares += (e.mean - 1) * (e.mean - 1) / RUNS;
        inside += (double)(fabs(e.mean - 1) > e.error) / RUNS;
    }
    double noise = sqrt(squares / RUNS), bias = -2 * tau / N;
    printf("variance of an AR(1) series: bias expected %.5f, without correction %.5f, with %.5f, "
           "+- %.5f; |z| > 1: %.3f\n",
           bias, plain, corrected, noise, inside);
    assert_true(fabs(plain - bias) < 4 * noise);
    assert_true(fabs(plain) > 4 * noise); /* power */
    assert_true(fabs(corrected) < 3.5 * noise);
    /* The estimate is skewed and n only 300 tau: 3.5 binomial sigma and 0.02. */
    assert_true(fabs(inside - 0.3173) < 3.5 * sqrt(0.3173 * 0.6827 / RUNS) + 0.02);
    free(x);
    free(x2);
}

static double covariance_of(const double *means, void *user) {
    (void)user;
    return means[2] - means[0] * means[1];
}

/* A covariance with a sum over a window of the past: shorter blocks share what it remembers. The
 * means' product costs W/N; blocks of 150 samples leave a tenth of that, those of the projected
 * series, of 10, five sixths. */
static void test_derived_memory(void **state) {
    (void)state;
    enum { W = 30, N = 3600, RUNS = 4000 };
    double *x = numbers(N + W), *sums = numbers(N), *products = numbers(N);
    const double *columns[] = {x + W - 1, sums, products};
    double mean = 0, squares = 0, plain = 0;
    seed = 11;
    for (int r = 0; r < RUNS; r++) {
        fill_ar1(x, N + W, 0);
        double sum = 0;
        for (int i = 0; i < W - 1; i++)
            sum += x[i];
        for (int i = 0; i < N; i++) {
            sum += x[i + W - 1];
            sums[i] = sum;
            products[i] = sum * x[i + W - 1];
            sum -= x[i];
        }
        struct ergo_estimate e;
        ergo_stats_derived(columns, 3, N, covariance_of, NULL, &e);
        const double means[] = {ergo_stats_mean(x + W - 1, N), ergo_stats_mean(sums, N),
                                ergo_stats_mean(products, N)};
        plain += (covariance_of(means, NULL) - 1) / RUNS;
        mean += (e.mean - 1) / RUNS;
        squares += (e.mean - 1) * (e.mean - 1) / RUNS;
    }
    const double noise = sqrt(squares / RUNS), bias = -(double)W / N;
    printf("covariance with a window: bias expected %.5f, without correction %.5f, with %.5f, +- "
           "%.5f\n",
           bias, plain, mean, noise);
    assert_true(fabs(plain - bias) < 4 * noise);
    assert_true(fabs(plain) > 4 * noise); /* power */
    assert_true(fabs(mean) < 3.5 * noise);
    free(x);
    free(sums);
    free(products);
}

static void test_derived_other(void **state) {
    (void)state;
    enum { N = 20000 };
    double *x = numbers(N), *m2 = numbers(N), *m4 = numbers(N), *p = numbers(N);
    seed = 9;
    fill_ar1(x, N, 0.7);
    const double *columns[] = {x};
    struct ergo_estimate a, b;
    ergo_stats_estimate(x, N, &a);
    ergo_stats_derived(columns, 1, N, identity, NULL, &b);
    assert_true(fabs(a.mean - b.mean) < 1e-12 && fabs(a.error / b.error - 1) < 1e-9);
    assert_true(fabs(a.tau / b.tau - 1) < 1e-9 && a.too_short == b.too_short);
    /* Binder's ratio. */
    for (int i = 0; i < N; i++) {
        m2[i] = x[i] * x[i];
        m4[i] = m2[i] * m2[i];
    }
    const double *moments[] = {m2, m4};
    double a2 = ergo_stats_mean(m2, N), a4 = ergo_stats_mean(m4, N);
    for (int i = 0; i < N; i++)
        p[i] = 2 * a4 / (3 * a2 * a2 * a2) * (m2[i] - a2) - (m4[i] - a4) / (3 * a2 * a2);
    ergo_stats_derived(moments, 2, N, ratio, NULL, &a);
    ergo_stats_estimate(p, N, &b);
    assert_true(fabs(a.error / b.error - 1) < 1e-6);
    assert_true(fabs(a.mean) < 4 * a.error); /* U4 = 0 for a Gaussian */
    /* Special cases. */
    ergo_stats_derived(columns, 1, N, not_finite, NULL, &a);
    assert_true(isnan(a.mean) && isnan(a.error) && a.too_short);
    ergo_stats_derived(columns, 1, 3, identity, NULL, &a);
    assert_true(isfinite(a.mean) && isnan(a.error) && a.too_short && a.samples == 3);
    ergo_stats_derived(columns, 0, N, identity, NULL, &a);
    assert_true(isnan(a.mean) && a.too_short);
    x[7] = NAN;
    ergo_stats_derived(columns, 1, N, identity, NULL, &a);
    assert_true(isnan(a.mean) && isnan(a.error) && a.too_short);
    for (int i = 0; i < N; i++)
        m2[i] = m4[i] = 1;
    ergo_stats_derived(moments, 2, N, ratio, NULL, &a);
    assert_true(a.mean == 1 - 1.0 / 3 && a.error == 0 && !a.too_short);
    free(x);
    free(m2);
    free(m4);
    free(p);
}

/* ---- autocorrelation, curves ----------------------------------------------------------------- */

static void test_autocorrelation(void **state) {
    (void)state;
    enum { N = 200000, LAGS = 20 };
    double *x = numbers(N), rho[LAGS];
    seed = 13;
    fill_ar1(x, N, 0.8);
    assert_true(ergo_stats_autocorrelation(x, N, rho, LAGS));
    assert_true(rho[0] == 1);
    for (int t = 1; t < LAGS; t++)
        assert_true(fabs(rho[t] - pow(0.8, t)) < 0.03); /* 4 of sqrt(2 tau / n) = 0.0067 */
    for (int i = 0; i < N; i++)                         /* about another mean: the same */
        x[i] += 100;
    assert_true(ergo_stats_autocorrelation(x, N, rho, LAGS));
    for (int t = 1; t < LAGS; t++)
        assert_true(fabs(rho[t] - pow(0.8, t)) < 0.03);
    assert_true(ergo_stats_autocorrelation(x, 5, rho, LAGS));
    assert_true(rho[5] == 0 && rho[LAGS - 1] == 0);
    double c[4] = {2, 2, 2, 2};
    assert_true(ergo_stats_autocorrelation(c, 4, rho, 4) && rho[0] == 1 && rho[1] == 0);
    c[2] = NAN;
    assert_false(ergo_stats_autocorrelation(c, 4, rho, 4));
    assert_true(isnan(rho[0]) && isnan(rho[3]));
    assert_false(ergo_stats_autocorrelation(c, 0, rho, 4));
    free(x);
}

/* Covariances of a short series: every pair counts once. */
static void test_covariance(void **state) {
    static const double d[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    assert_true(ergo_stats_covariance(d, 6, 0) == 91.0 / 6);
    assert_true(ergo_stats_covariance(d, 6, 1) == 70.0 / 5);
    assert_true(ergo_stats_covariance(d, 6, 3) == 32.0 / 3);
    assert_true(ergo_stats_covariance(d, 6, 5) == 6);
}

static void test_curve(void **state) {
    (void)state;
    enum { SIZE = 3, N = 5000 };
    double *x = numbers(SIZE * N);
    seed = 17;
    for (int i = 0; i < N; i++) {
        x[SIZE * i] = i;
        x[SIZE * i + 1] = normal();
        x[SIZE * i + 2] = 4;
    }
    struct ergo_curve curve, copy;
    assert_true(ergo_curve_init(&curve, SIZE));
    assert_true(ergo_curve_init(&copy, SIZE));
    double mean[SIZE], error[SIZE];
    ergo_curve_result(&curve, mean, error);
    assert_true(isnan(mean[0]) && isnan(error[0]));
    uint64_t length = 1;
    for (uint64_t i = 0; i < N; i++) {
        ergo_curve_add(&curve, x + SIZE * i);
        while ((i + 1) > ERGO_CURVE_BINS * length)
            length *= 2;
        assert_int_equal(curve.bin_length, length);
        assert_int_equal(curve.count, i + 1);
        if (i == 0) {
            ergo_curve_result(&curve, mean, error);
            assert_true(mean[2] == 4 && isnan(error[2]));
        }
        if (i == 1) {
            ergo_curve_result(&curve, mean, error);
            assert_true(mean[0] == 0.5 && fabs(error[0] - 0.5) < 1e-15);
        }
        if (i == 1234) { /* a checkpoint: three numbers and the bins */
            copy.count = curve.count;
            copy.bin_length = curve.bin_length;
            memcpy(copy.bins, curve.bins, sizeof(double) * SIZE * ERGO_CURVE_BINS);
        }
        if (i > 1234)
            ergo_curve_add(&copy, x + SIZE * i);
    }
    assert_memory_equal(copy.bins, curve.bins, sizeof(double) * SIZE * ERGO_CURVE_BINS);
    /* 300 samples together are three bins of 128: 13 of these, of 39 full ones */
    ergo_curve_result_joined(&curve, 300, mean, error);
    assert_true(mean[0] == (N - 1) / 2.0 && error[2] == 0);
    /* of a line 182 squares, 140 products of neighbours */
    assert_true(fabs(error[0] - 384 * sqrt((182 + 2 * 140) / (13 * 12.0))) < 1e-9);
    ergo_curve_result(&curve, mean, error);
    assert_true(mean[0] == (N - 1) / 2.0 && mean[2] == 4 && error[2] == 0);
    /* 39 full bins of 128: the same by hand. */
    double centre = 0, squares = 0, bins[39];
    for (int b = 0; b < 39; b++) {
        bins[b] = 0;
        for (int i = 0; i < 128; i++)
            bins[b] += x[SIZE * (128 * b + i) + 1] / 128;
        centre += bins[b] / 39;
    }
    for (int b = 0; b < 39; b++)
        squares += (bins[b] - centre) * (bins[b] - centre);
    assert_true(fabs(error[1] - sqrt(squares / (39 * 38))) < 1e-12);
    assert_true(fabs(error[1] * sqrt(N) - 1) < 0.4 && fabs(mean[1]) < 4 * error[1]);
    ergo_curve_free(&curve);
    ergo_curve_free(&copy);
    assert_true(ergo_curve_init(&curve, 0));
    ergo_curve_add(&curve, x);
    ergo_curve_free(&curve);
    /* kept as a sum: a mean, and no error */
    assert_true(ergo_curve_init_sum(&curve, SIZE));
    ergo_curve_add_sum(&curve, x, 3);
    ergo_curve_add_sum(&curve, x, 1);
    ergo_curve_result(&curve, mean, error);
    assert_true(curve.count == 4 && mean[0] == (x[0] + x[0]) / 4 && isnan(error[0]));
    ergo_curve_free(&curve);
    free(x);
}

/* Errors of a curve whose stretches are some tau long: by plain bins too small by a quarter, by
 * joined ones within a tenth. A spread of 400 is known to 3.5%. */
static void test_curve_joined(void **state) {
    (void)state;
    enum { SERIES = 400, N = 12000 }; /* 120 tau */
    double squares = 0, plain = 0, joined = 0, *x = numbers(N);
    struct ergo_curve curve;
    seed = 23;
    for (int k = 0; k < SERIES; k++) {
        double mean, error;
        fill_ar1(x, N, 0.99);
        assert_true(ergo_curve_init(&curve, 1));
        for (int i = 0; i < N; i++)
            ergo_curve_add(&curve, x + i);
        ergo_curve_result(&curve, &mean, &error);
        plain += error * error / SERIES;
        assert_true(ergo_curve_result_joined(&curve, 796, &mean, &error));
        joined += error * error / SERIES;
        squares += mean * mean / SERIES;
        assert_false(ergo_curve_result_joined(&curve, 2000, &mean, &error)); /* five of 2048 */
        ergo_curve_free(&curve);
    }
    print_message("curve: spread over error %.3f of bins, %.3f of joined ones\n",
                  sqrt(squares / plain), sqrt(squares / joined));
    assert_true(sqrt(squares / plain) > 1.12 && fabs(sqrt(squares / joined) - 1) < 0.14);
    free(x);
}

/* A sample that is not 0 at one point only. */
static void test_curve_at(void **state) {
    (void)state;
    enum { SIZE = 5, N = 1000 };
    struct ergo_curve dense, sparse;
    assert_true(ergo_curve_init(&dense, SIZE) && ergo_curve_init(&sparse, SIZE));
    for (size_t i = 0; i < N; i++) {
        double sample[SIZE + 1] = {0};
        const size_t at = i % (SIZE + 1); /* SIZE: beyond the curve, yet a sample */
        sample[at] = 0.25;
        ergo_curve_add(&dense, sample);
        ergo_curve_add_at(&sparse, at, 0.25);
    }
    assert_true(dense.count == N && sparse.count == N && sparse.bin_length == dense.bin_length);
    assert_memory_equal(dense.bins, sparse.bins, sizeof(double) * SIZE * ERGO_CURVE_BINS);
    ergo_curve_free(&dense);
    ergo_curve_free(&sparse);
}

static double ratio_of_curve(const double *mean, size_t size, void *user) {
    (void)user;
    assert_int_equal(size, 2);
    return mean[0] / mean[1];
}

/* <a>/<b> of a curve of two points, b about 1 with a spread of 1: the truth is 2, the error covers
 * it as a normal one does, and the jackknife takes the bias of the ratio off. */
static double root_of_curve(const double *mean, size_t size, void *user) {
    (void)size, (void)user;
    return mean[0] > mean[1] ? sqrt(mean[0] / mean[1] - 1) : NAN;
}

static void test_curve_derived(void **state) {
    (void)state;
    enum { SERIES = 400, N = 4000 };
    struct ergo_curve curve;
    struct ergo_estimate e;
    double squares = 0, sum = 0, tau = 0;
    int drifts = 0, slow = 0;
    seed = 20261121;
    for (int k = 0; k < SERIES; k++) {
        assert_true(ergo_curve_init(&curve, 2));
        for (int i = 0; i < N; i++) {
            const double b = 1 + normal(), sample[2] = {2 * b + normal(), b};
            ergo_curve_add(&curve, sample);
        }
        ergo_curve_derived(&curve, ratio_of_curve, NULL, &e);
        drifts += fabs(e.drift) > 3;
        slow += e.slow;
        assert_false(e.too_short);
        assert_int_equal(e.samples, N);
        /* error of the ratio: sigma(a - 2b) / sqrt(N) = 1/sqrt(N); 62 bins know it to 9% */
        assert_true(fabs(e.error_binning * sqrt(N) - 1) < 0.4 && e.error >= e.error_binning);
        sum += (e.mean - 2) / e.error_binning;
        tau += e.tau / (double)curve.bin_length / SERIES;
        squares += (e.mean - 2) * (e.mean - 2) / (e.error_binning * e.error_binning);
        ergo_curve_free(&curve);
    }
    /* 400 of chi^2_1, broadened by the error's own error: 1.05 +- 0.075; the mean 0 +- 0.05 */
    assert_true(fabs(squares / SERIES - 1.05) < 0.25);
    assert_true(fabs(sum / SERIES) < 0.17);
    assert_true(fabs(tau - 0.5) < 0.1); /* of bins that are independent, in samples */
    assert_true(drifts <= 7);           /* exp(-3^2 / 2) of 400 are 4.4 */
    assert_true(ergo_curve_init(&curve, 2));
    for (int i = 0; i < N; i++)
        ergo_curve_add(&curve, (const double[2]){normal() + (i < N / 5 ? 0.6 : 0), 1});
    ergo_curve_derived(&curve, ratio_of_curve, NULL, &e);
    assert_true(e.drift > 4.5 && e.slow && slow <= 2);
    ergo_curve_free(&curve);

    assert_true(ergo_curve_init(&curve, 2));
    ergo_curve_derived(&curve, ratio_of_curve, NULL, &e);
    assert_true(isnan(e.mean) && e.too_short);
    for (int i = 0; i < 3; i++)
        ergo_curve_add(&curve, (const double[2]){4, 2});
    ergo_curve_derived(&curve, ratio_of_curve, NULL, &e);
    assert_true(e.mean == 2 && isnan(e.error) && e.too_short);
    ergo_curve_free(&curve);

    /* sqrt(a/b - 1) is known of all bins, but not without the one that lifts a above b */
    assert_true(ergo_curve_init(&curve, 2));
    for (int i = 0; i < 8; i++)
        ergo_curve_add(&curve, (const double[2]){i ? 0.9 : 3, 1});
    ergo_curve_derived(&curve, root_of_curve, NULL, &e);
    assert_true(fabs(e.mean - sqrt((3 + 7 * 0.9) / 8 - 1)) < 1e-12);
    assert_true(isnan(e.error) && isnan(e.error_binning) && isnan(e.tau) && e.too_short);
    ergo_curve_free(&curve);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_cases), cmocka_unit_test(test_scale),
        cmocka_unit_test(test_coverage),      cmocka_unit_test(test_alternating),
        cmocka_unit_test(test_too_short),     cmocka_unit_test(test_slow_part),
        cmocka_unit_test(test_long),          cmocka_unit_test(test_derived_cancellation),
        cmocka_unit_test(test_derived_bias),  cmocka_unit_test(test_derived_memory),
        cmocka_unit_test(test_derived_other), cmocka_unit_test(test_autocorrelation),
        cmocka_unit_test(test_covariance),    cmocka_unit_test(test_curve),
        cmocka_unit_test(test_curve_at),      cmocka_unit_test(test_curve_derived),
        cmocka_unit_test(test_curve_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
