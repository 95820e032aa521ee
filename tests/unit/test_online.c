/*
 * Estimates on line against the direct formulas: means of pairs and sums over the whole series, as
 * ergo_stats_estimate made them before there were sums that grow (Wolff 2004; Flyvbjerg and
 * Petersen 1989). Budget: rounding, 1e-9 of an error; of a series that hides behind another 1e5
 * times its size, 1e-6.
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

#include "oracle/derived.h"
#include "stats/covariance.h"
#include "stats/online.h"
#include "unit/random_series.h"

/* ---- the direct formulas ----------------------------------------------------------------------
 */

struct direct {
    double variance, doubt, length, gamma0, tau_doubt;
    bool settled;
};

static struct direct direct_gamma(double *d, size_t n, double shortest) {
    struct direct out = {.gamma0 = ergo_stats_covariance(d, n, 0)};
    size_t m = n;
    for (double joined = 1;; joined *= 2, m = ergo_stats_join_pairs(d, m)) {
        if (shortest > joined * 8 && m >= 1024)
            continue;
        const double g0 = ergo_stats_covariance(d, m, 0);
        const size_t limit = m / 2 < 128 ? m / 2 : 128;
        double c = g0, tau = 0.5;
        size_t window = 0;
        bool found = false;
        while (!found && window < limit && g0 > 0) {
            window++;
            c += 2 * ergo_stats_covariance(d, m, window);
            tau = c / (2 * g0);
            const double decay = 1.5 / log1p(1 / fmax(fabs(tau - 0.5), 1e-12));
            const double w = (double)window;
            found = w * joined >= shortest && exp(-w / decay) < decay / sqrt(w * (double)m);
        }
        if (!found && limit == 128 && m >= 1024)
            continue;
        if (c <= 0) {
            c = g0;
            window = 0;
        }
        const double w = (double)window, length = (double)m;
        out.variance = c * (1 + (2 * w + 1) / length) / length;
        out.doubt = sqrt((2 * w + 1) / (2 * length));
        out.length = w * joined;
        out.settled = found;
        out.tau_doubt = 2 * sqrt(fmax(w + 0.5 - tau, 0.5) / length);
        return out;
    }
}

static struct direct direct_binning(double *d, size_t n) {
    struct direct out = {.variance = 0};
    double first = 0, length = 1;
    for (size_t m = n; m >= 4; m = ergo_stats_join_pairs(d, m), length *= 2) {
        const double mean = ergo_stats_mean(d, m), bins = (double)m;
        double sum = 0;
        for (size_t i = 0; i < m; i++)
            sum += (d[i] - mean) * (d[i] - mean);
        struct direct now = {.variance = sum / (bins * (bins - 1)),
                             .doubt = 1 / sqrt(2 * (bins - 1)),
                             .length = length};
        if (out.settled && fabs(sqrt(now.variance / out.variance) - 1) < 2 * out.doubt)
            return out;
        if (length == 1.0)
            first = now.variance;
        const double ratio = fmax(1, now.variance / first);
        now.settled = length * length * length > 2 * (double)n * ratio * ratio;
        out = now;
    }
    return out;
}

static double apart(const struct direct *gamma, const struct direct *bins) {
    return fabs(1 - sqrt(bins->variance / gamma->variance)) / hypot(gamma->doubt, bins->doubt);
}

static void direct_estimate(const double *x, size_t n, struct ergo_estimate *e) {
    double *d = numbers(n), scale = 0;
    ergo_stats_estimate_none(n, e);
    e->mean = ergo_stats_mean(x, n);
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(x[i] - e->mean));
#define DEVIATIONS                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
        d[i] = (x[i] - e->mean) / scale;
    DEVIATIONS
    const struct direct bins = direct_binning(d, n);
    DEVIATIONS
    struct direct gamma = direct_gamma(d, n, 1);
    if (bins.settled && apart(&gamma, &bins) > 4) {
        DEVIATIONS
        gamma = direct_gamma(d, n, bins.length / 2);
    }
    free(d);
    e->error = scale * sqrt(gamma.variance);
    e->error_binning = scale * sqrt(bins.variance);
    e->tau = gamma.variance * (double)n / (2 * (gamma.gamma0 + gamma.variance));
    e->tau_error = e->tau * gamma.tau_doubt;
    e->apart = apart(&gamma, &bins) > 4;
    e->too_short =
        (double)n < 100 * fmax(e->tau, 0.5) || !gamma.settled || !bins.settled || e->apart;
}

static void same(const struct ergo_estimate *a, const struct ergo_estimate *b, double part) {
    assert_true(fabs(a->mean - b->mean) <= part * b->error + 1e-15 * fabs(b->mean));
    assert_true(fabs(a->error - b->error) <= part * b->error);
    assert_true(fabs(a->error_binning - b->error_binning) <= part * b->error_binning);
    assert_true(fabs(a->tau - b->tau) <= part * b->tau);
    assert_true(fabs(a->tau_error - b->tau_error) <= part * b->tau_error);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->too_short, b->too_short);
    assert_int_equal(a->apart, b->apart);
}

static void agrees(const double *x, size_t n, double part) {
    struct ergo_estimate a, b;
    ergo_stats_estimate(x, n, &a);
    direct_estimate(x, n, &b);
    same(&a, &b, part);
}

static void direct_formulas(void **state) {
    (void)state;
    static const double phis[] = {0, 0.5, 0.9, 0.99, 0.999, -0.5, -0.9};
    static const size_t lengths[] = {4,    5,    100,  1023, 1024,  1025,  1535,
                                     1536, 2047, 2048, 3001, 50000, 99999, 131072};
    seed = 1;
    double *x = numbers(131072), *y = numbers(131072);
    for (size_t p = 0; p < sizeof phis / sizeof *phis; p++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            fill_ar1(x, lengths[l], phis[p]);
            agrees(x, lengths[l], 1e-9);
        }
    /* so long that a level gets one value at a time */
    enum { LONG = 700001 };
    double *z = numbers(LONG);
    fill_ar1(z, LONG, 0.9995);
    agrees(z, LONG, 1e-9);
    free(z);
    /* far from zero, large and small, and where the first samples are unlike the rest */
    fill_ar1(x, 50000, 0.9);
    for (size_t i = 0; i < 50000; i++)
        y[i] = x[i] + 1e8;
    agrees(y, 50000, 1e-7);
    for (size_t i = 0; i < 50000; i++)
        y[i] = x[i] * 1e200;
    agrees(y, 50000, 1e-9);
    agrees(y, 1000, 1e-9);
    for (size_t i = 0; i < 50000; i++)
        y[i] = x[i] * 1e-200;
    agrees(y, 50000, 1e-9);
    for (size_t i = 0; i < 50000; i++)
        y[i] = i < 1500 ? 3 : 3 + x[i] * 1e-6;
    agrees(y, 50000, 1e-7);
    for (size_t i = 0; i < 50000; i++)
        y[i] = i < 2000 ? x[i] * 1e-150 : x[i] * 1e-50;
    agrees(y, 50000, 1e-9);
    for (size_t i = 0; i < 50000; i++)
        y[i] = i < 1100 ? 1000 + x[i] : x[i];
    agrees(y, 50000, 1e-9);
    for (size_t i = 0; i < 20001; i++)
        y[i] = (i % 2 ? 1 : -1) + 0.01 * x[i];
    agrees(y, 20001, 1e-9);
    free(x);
    free(y);
}

static void special_series(void **state) {
    (void)state;
    double *x = numbers(5000);
    struct ergo_estimate e;
    for (size_t n = 4; n <= 5000; n = n < 20 ? n + 1 : n < 100 ? 4999 : n + 1) {
        for (size_t i = 0; i < n; i++)
            x[i] = 0.1;
        ergo_stats_estimate(x, n, &e);
        assert_true(e.constant && e.mean == 0.1 && e.error == 0 && e.tau == 0.5 && !e.too_short);
        x[n - 1] = INFINITY;
        ergo_stats_estimate(x, n, &e);
        assert_true(isnan(e.mean) && isnan(e.error) && e.too_short && !e.constant);
        x[n - 1] = 0.1;
        x[n / 2] = NAN;
        ergo_stats_estimate(x, n, &e);
        assert_true(isnan(e.mean) && isnan(e.error) && e.too_short && !e.constant);
    }
    for (size_t n = 0; n < 4; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (double)i;
        ergo_stats_estimate(x, n, &e);
        assert_true(isnan(e.error) && e.samples == n && e.too_short);
        assert_true(n ? e.mean == 0.5 * (double)(n - 1) : isnan(e.mean));
    }
    for (size_t i = 0; i < 5000; i++)
        x[i] = i % 2 ? 1 : -1;
    ergo_stats_estimate(x, 5000, &e);
    assert_true(e.mean == 0 && !e.constant && fabs(e.error - 1 / sqrt(5000)) < 1e-5);
    /* the last sample of many is the only other one */
    for (size_t i = 0; i < 5000; i++)
        x[i] = i == 4999;
    ergo_stats_estimate(x, 5000, &e);
    assert_true(!e.constant && e.error > 0 && fabs(e.mean - 1 / 5000.0) < 1e-18);
    free(x);
}

/* ---- functions of means -----------------------------------------------------------------------
 */

static double variance_of(const double *m, void *user) {
    return *(double *)user * (m[1] - m[0] * m[0]);
}

static double covariance_of(const double *m, void *user) {
    (void)user;
    return (m[2] - m[0] * m[1]) / (m[3] - m[0] * m[0]);
}

/* The projected series, made once the gradient is known; it is found by differences, which are
 * exact to 1e-10 of it only, so it is taken from there. The mean is not compared: the blocks of the
 * jackknife are whole bins. */
static void agrees_projected(const struct ergo_estimate *got, const double *const *columns,
                             size_t n_columns, size_t n, ergo_stats_function function, void *user,
                             double part) {
    struct ergo_estimate want;
    double means[ERGO_STATS_COLUMNS_MAX], *p = numbers(n);
    memset(p, 0, n * sizeof *p);
    for (size_t a = 0; a < n_columns; a++)
        means[a] = ergo_stats_mean(columns[a], n);
    for (size_t a = 0; a < n_columns; a++) {
        double squares = 0;
        for (size_t i = 0; i < n; i++)
            squares += (columns[a][i] - means[a]) * (columns[a][i] - means[a]);
        const double gradient =
            ergo_stats_derivative(function, user, means, a, sqrt(squares) / (double)n);
        for (size_t i = 0; i < n; i++)
            p[i] += gradient * (columns[a][i] - means[a]);
    }
    direct_estimate(p, n, &want);
    want.mean = got->mean;
    same(got, &want, part);
    free(p);
}

/* The energy of a lattice of 10^10 sites: e and e^2 are the same series but for a part in 10^5. */
static void a_small_difference(void **state) {
    (void)state;
    enum { N = 40000 };
    static const double sizes[] = {1, 1e-3, 1e-5};
    double *e = numbers(N), *e2 = numbers(N);
    for (size_t k = 0; k < 3; k++) {
        struct ergo_estimate got;
        double factor = 1 / (sizes[k] * sizes[k]);
        seed = 3 + k;
        fill_ar1(e, N, 0.8);
        for (size_t i = 0; i < N; i++) {
            e[i] = -1.4 + sizes[k] * e[i];
            e2[i] = e[i] * e[i];
        }
        const double *columns[2] = {e, e2};
        const double mean = ergo_stats_mean(e, N), mean2 = ergo_stats_mean(e2, N);
        ergo_stats_derived(columns, 2, N, variance_of, &factor, &got);
        agrees_projected(&got, columns, 2, N, variance_of, &factor, 1e-6);
        struct ergo_estimate few; /* a series that is still there as it is */
        ergo_stats_derived(columns, 2, 900, variance_of, &factor, &few);
        agrees_projected(&few, columns, 2, 900, variance_of, &factor, 1e-6);
        assert_true(fabs(got.mean - factor * (mean2 - mean * mean)) < 0.1 * got.error);
    }
    free(e);
    free(e2);
}

/* Four series in one list, of which shorter lists are parts; each series by itself. */
static void lists_of_series(void **state) {
    (void)state;
    enum { N = 30000 };
    static const size_t inputs[3][ERGO_STATS_COLUMNS_MAX] = {{0, 3}, {0, 1, 2, 3}, {4, 1}};
    static const size_t lengths[3] = {2, 4, 2};
    struct ergo_online_plan plan;
    double *rows = numbers(5 * N), *x = numbers(N), *columns[5], one = 1;
    struct ergo_estimate got, want;
    seed = 11;
    for (size_t s = 0; s < 5; s++)
        columns[s] = numbers(N);
    fill_ar1(x, N, 0.9);
    for (size_t i = 0; i < N; i++) {
        const double u = 0.5 * x[i] + normal();
        rows[5 * i] = 100 + x[i];
        rows[5 * i + 1] = u;
        rows[5 * i + 2] = rows[5 * i] * u;
        rows[5 * i + 3] = rows[5 * i] * rows[5 * i];
        rows[5 * i + 4] = normal();
    }
    assert_true(ergo_online_plan(&plan, 5, 3, inputs, lengths));
    assert_int_equal(plan.n_groups, 2);
    struct ergo_online online = {.plan = &plan};
    assert_true(ergo_online_add(&online, rows, N));
    ergo_online_finish(&online);
    for (size_t s = 0; s < 5; s++) {
        for (size_t i = 0; i < N; i++)
            columns[s][i] = rows[5 * i + s];
        double rho[129], wanted[129];
        direct_estimate(columns[s], N, &want);
        ergo_online_estimate(&online, s, &got);
        assert_true(ergo_online_autocorrelation(&online, s, 0, rho, 129));
        assert_true(ergo_stats_autocorrelation(columns[s], N, wanted, 129));
        for (size_t lag = 0; lag < 129; lag++)
            assert_true(fabs(rho[lag] - wanted[lag]) < 1e-10);
        memcpy(x, columns[s], N * sizeof *x);
        assert_true(ergo_stats_autocorrelation(x, ergo_stats_join_pairs(x, N), wanted, 50));
        assert_true(ergo_online_autocorrelation(&online, s, 1, rho, 50));
        for (size_t lag = 0; lag < 50; lag++)
            assert_true(fabs(rho[lag] - wanted[lag]) < 1e-10);
        assert_false(ergo_online_autocorrelation(&online, s, 10, rho, 50));
        same(&got, &want, 1e-9);
    }
    ergo_online_derived(&online, inputs[1], 4, covariance_of, NULL, &got);
    agrees_projected(&got, (const double *const *)columns, 4, N, covariance_of, NULL, 1e-8);
    assert_true(fabs(got.mean - 0.5) < 4 * got.error);
    const double *const two[2] = {columns[0], columns[3]};
    ergo_online_derived(&online, inputs[0], 2, variance_of, &one, &got);
    agrees_projected(&got, two, 2, N, variance_of, &one, 1e-8);
    for (size_t s = 0; s < 5; s++)
        free(columns[s]);
    ergo_online_free(&online);
    ergo_online_plan_free(&plan);
    free(rows);
    free(x);
}

/* One input is constant, or all are, or one is a multiple of another. */
static void without_a_difference(void **state) {
    (void)state;
    enum { N = 4000 };
    double *x = numbers(N), *y = numbers(N), one = 1;
    const double *columns[2] = {x, y};
    struct ergo_estimate e;
    seed = 5;
    for (size_t i = 0; i < N; i++) {
        x[i] = uniform() < 0.5 ? -1 : 1;
        y[i] = x[i] * x[i];
    }
    ergo_stats_derived(columns, 2, N, variance_of, &one, &e);
    assert_true(fabs(e.mean - 1) < 5e-3 && e.error < 2e-3 && isfinite(e.tau) && !e.constant);
    for (size_t i = 0; i < N; i++)
        x[i] = 0.3;
    ergo_stats_derived(columns, 2, N, variance_of, &one, &e);
    assert_true(e.constant && e.error == 0 && fabs(e.mean - 0.91) < 1e-15);
    y[7] = NAN;
    ergo_stats_derived(columns, 2, N, variance_of, &one, &e);
    assert_true(isnan(e.mean) && isnan(e.error) && e.too_short);
    free(x);
    free(y);
}

/* The jackknife removes the bias of a variance, var/n, whatever the bins; and leaves a linear
 * function alone. */
static double line(const double *m, void *user) {
    (void)user;
    return 3 * m[0] - m[1];
}

static void bias(void **state) {
    (void)state;
    enum { RUNS = 400 };
    static const size_t lengths[] = {600, 1500, 5000};
    double *x = numbers(5000), *y = numbers(5000), one = 1;
    const double *columns[2] = {x, y};
    seed = 21;
    for (size_t l = 0; l < 3; l++) {
        const size_t n = lengths[l];
        double shift = 0, naive = 0, wanted = 0;
        struct ergo_estimate e;
        for (size_t r = 0; r < RUNS; r++) {
            fill_ar1(x, n, 0.5);
            for (size_t i = 0; i < n; i++)
                y[i] = x[i] * x[i];
            const double mean = ergo_stats_mean(x, n), square = ergo_stats_mean(y, n);
            ergo_stats_derived(columns, 2, n, variance_of, &one, &e);
            shift += (e.mean - (square - mean * mean)) / RUNS;
            wanted += mean * mean / RUNS; /* what the plain value lacks */
            naive += fabs(e.mean - (square - mean * mean)) / RUNS;
            ergo_stats_derived(columns, 2, n, line, NULL, &e);
            assert_true(fabs(e.mean - (3 * mean - square)) < 1e-13);
        }
        /* 3 / n on average; both are known to some 7% from 400 runs */
        assert_true(fabs(wanted * (double)n / 3 - 1) < 0.25);
        assert_true(fabs(shift * (double)n / 3 - 1) < 0.25 && naive > 0);
    }
    free(x);
    free(y);
}

/* n deviations from 0 that have no beginning: exponential tails of tails, or normal. */
static void fill_kind(double *x, size_t n, int kind) {
    fill_ar1(x, n, kind == 1 ? 0 : 0.8);
    for (size_t i = 0; i < n && kind == 2; i++)
        x[i] = exp(2.5 * x[i]);
}

static double drift_of(const double *x, size_t n) {
    struct ergo_online_plan plan = {.n_series = 1, .n_tracks = 1};
    struct ergo_online online = {.plan = &plan};
    assert_true(ergo_online_add(&online, x, n));
    ergo_online_finish(&online);
    const double z = ergo_online_drift(&online, 0);
    ergo_online_free(&online);
    return z;
}

/*
 * A drift is a normal number where there is none, correlated or not, and of tails as heavy as those
 * of weights of insertions: exp(-16 / 2) of RUNS series, 0.7, are to be beyond 4; P(> 6) = 1e-5, of
 * the third kind with twice as many 1e-3. It is found where the beginning is off by as much as the
 * error of the mean and more, be it a fiftieth of the series; and one value alone is none, wherever
 * it falls.
 */
static void drift(void **state) {
    enum { N = 2000, RUNS = 2000 };
    double *x = numbers(10 * N);
    (void)state;
    seed = 41;
    for (int kind = 0; kind < 3; kind++) {
        size_t beyond = 0, missed = 0;
        double squares = 0;
        for (size_t r = 0; r < RUNS; r++) {
            fill_kind(x, N, kind);
            const double z = drift_of(x, N);
            squares += z * z / RUNS;
            beyond += fabs(z) > 4;
            x[N / 50 + r % (N / 6)] += kind == 2 ? 0 : 1000;
            if (kind < 2 && r < 400)
                beyond += fabs(drift_of(x, N)) > 4;
            if (kind == 2 || r >= 400)
                continue;
            fill_kind(x, 3 * N, kind);
            for (size_t i = 0; i < 3 * N; i++)
                x[i] += 10 * exp(-(double)i / (0.02 * 3 * N));
            missed += drift_of(x, 3 * N) < 4;
        }
        print_message("kind %d: <z^2> %.3f, beyond 4: %zu, missed %zu\n", kind, squares, beyond,
                      missed);
        assert_true(beyond <= 6 && missed <= 8);
        assert_true(kind == 2 || fabs(squares - 1) < 0.15);
    }
    for (int r = 0; r < 40; r++) { /* 10.7 of the true error; of t with some 50 degrees 7.6 */
        fill_ar1(x, 10 * N, 0.8);
        for (size_t i = 0; i < 2 * N; i++)
            x[i] += 0.6;
        assert_true(drift_of(x, 10 * N) > 4.5 && drift_of(x, 10 * N) < 11);
        assert_true(ergo_stats_drift(x, 10 * N) > 4.5);
    }
    for (size_t i = 0; i < 10 * N; i++) /* a slow trend that the last half shows too */
        x[i] = (double)i;
    assert_true(drift_of(x, 10 * N) == 0 && ergo_stats_drift(x, 3) == 0);
    free(x);
}

/* What goes one way all through, by samples and by bins; not what only begins elsewhere, comes
 * back, or scatters as much as it goes; never what has no trend (400 series of 400 tau). */
static void one_way(void **state) {
    (void)state;
    enum { N = 20000, RUNS = 400 };
    struct ergo_online_plan plan = {.n_series = 1, .n_tracks = 1};
    static const struct {
        double ramp, back, step, tau, noise;
        bool goes;
    } cases[] = {{.ramp = 10, .goes = true},
                 {.ramp = -10, .goes = true},
                 {.tau = 8000, .goes = true},
                 {.ramp = 10, .back = 10},
                 {.step = 10},
                 {.ramp = 1, .noise = 2},
                 {.ramp = 10, .noise = 2, .goes = true}};
    double *x = numbers(N), first = 0, last = 0;
    seed = 43;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] + RUNS; c++) {
        const bool free_of = c >= sizeof cases / sizeof cases[0];
        struct ergo_online online = {.plan = &plan};
        fill_ar1(x, N, 0.96);
        for (size_t i = 0; i < N && !free_of; i++) {
            const double t = (double)i / N;
            x[i] = x[i] * (0.02 + cases[c].noise) / sqrt((1 + 0.96) / (1 - 0.96)) + 5 +
                   cases[c].ramp * t + cases[c].step * (i < N / 5) +
                   (cases[c].tau > 0 ? exp(-(double)i / cases[c].tau) : 0) -
                   2 * cases[c].back * (t > 0.5 ? t - 0.5 : 0);
        }
        assert_true(ergo_online_add(&online, x, N));
        ergo_online_finish(&online);
        const bool goes = !free_of && cases[c].goes;
        assert_true(ergo_stats_one_way(x, N, &first, &last) == goes);
        if (goes && cases[c].ramp != 0)
            assert_true(fabs(first - 5 - 0.1 * cases[c].ramp) < 0.5 &&
                        fabs(last - 5 - 0.9 * cases[c].ramp) < 0.5);
        assert_true(ergo_online_one_way(&online, 0, &first, &last) == goes);
        if (goes && cases[c].ramp != 0)
            assert_true(fabs(first - 5 - 0.1 * cases[c].ramp) < 0.5 &&
                        fabs(last - 5 - 0.9 * cases[c].ramp) < 0.5);
        ergo_online_free(&online);
    }
    for (size_t i = 0; i < 20; i++)
        x[i] = (double)(i / 4);
    assert_true(ergo_stats_one_way(x, 20, &first, &last) && first == 0 && last == 4);
    assert_false(ergo_stats_one_way(x, 19, &first, &last));
    x[7] = NAN;
    assert_false(ergo_stats_one_way(x, 20, &first, &last));
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_formulas),
        cmocka_unit_test(special_series),
        cmocka_unit_test(a_small_difference),
        cmocka_unit_test(lists_of_series),
        cmocka_unit_test(without_a_difference),
        cmocka_unit_test(bias),
        cmocka_unit_test(drift),
        cmocka_unit_test(one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
